// Worlds of objects that the host knows by their numbers, whatever references they have.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "support.hpp"

namespace worlds {

using namespace test;

constexpr std::uint32_t group_size = 64; // PoCL compiles a kernel for each size of groups
constexpr std::uint32_t references = 8; // edges of an object; those that it has beyond are the same
inline const std::vector<std::string> nothing;

/// All flavours, or the first.
Flavours ways();

kma::WorldOptions world_options(const std::string &build_options, int debug = 0);

struct Class {
    std::string name, base;
    std::vector<std::string> fields;
};

/// Classes below Thing, whose fields all are stamped by an object's number, and the program that
/// does so. Types in capitals are classes.
struct Town {
    std::vector<std::string> of_all; ///< fields of Thing; number first
    std::vector<Class> classes;
    std::uint32_t block_bytes = 0;

    struct Field {
        std::string name, target; ///< target: of a reference
        std::uint32_t elements;
        bool is_array;
    };
    std::vector<Field> fields_of(const std::string &cls) const;
    kma::Schema schema() const;
    std::string program() const;
};

/// All that a world holds, with numbers of objects in place of references.
struct Image {
    static constexpr cl_uint none = ~0u;

    struct Object {
        std::map<std::string, std::vector<unsigned char>> fields; ///< by Class.name
        std::vector<cl_uint> to;
        bool operator==(const Object &) const = default;
    };
    std::map<cl_uint, Object> objects;
    std::vector<cl_uint> table; ///< Subject::table(); ~1u: refers to no object
    bool operator==(const Image &) const = default;
};

class Subject {
public:
    Subject(const Town &town, std::uint64_t bytes,
            const std::string &build_options = flavours().front().options);

    kma::World &world() { return world_; }
    /// References by number, those of objects that are gone 0; and 0.
    const Array<cl_uint> &table() const { return *table_; }
    cl_uint count() const { return count_; }

    /// Makes `each` objects of each class: numbers go on from class to class.
    void make(cl_uint each);
    /// Deletes of a hundred `percent`.
    void thin(cl_uint percent, cl_uint seed) { world_.parallel_do("Thing", "thin", seed, percent); }
    /// Sets all references to these numbers, `references` for each object; count(): none. Those to
    /// objects of other classes are none.
    void link(const std::vector<cl_uint> &edges);
    void link_by_chance(cl_uint seed);
    /// All of that.
    void fill(cl_uint each, cl_uint percent, cl_uint seed);

    /// Throws if a reference is to no object.
    Image image() const;

private:
    Town town_;
    kma::World world_;
    std::optional<Array<cl_uint>> table_;
    cl_uint count_ = 0;
};

} // namespace worlds
