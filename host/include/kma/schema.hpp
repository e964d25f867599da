// The classes of an object store's objects, and the do-alls over them, as the host declares them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kma {

/// What may be said of a do-all, or of another kernel. What is not said costs time, never
/// correctness: then anything is supposed.
struct DoAllOptions {
    /// Classes of which the function creates or deletes objects; of each its subclasses too. Not
    /// given: any. If a class is missing here, later do-alls miss objects that were created, and
    /// meet some that are none any more. (With ProgramOptions::debug 1 or more a world looks after
    /// each launch whether the other classes have as many objects as before.)
    std::optional<std::vector<std::string>> changes = std::nullopt;
    /// Classes over whose objects the function loops (`Fish_for_each(w, fish)`). Not given: any.
    std::optional<std::vector<std::string>> loops_over = std::nullopt;
    /// Whether a do-all is for objects of subclasses, too.
    bool subclasses = true;
};

/// Declares classes and do-alls, and generates the OpenCL C for them. A value: copies are
/// independent.
///
///     kma::Schema schema;
///     schema.add_abstract("Agent", {"uint cell", "uchar age"});
///     schema.add("Fish", {}, "Agent");
///     schema.add("Shark", {"uchar energy", "Fish last_meal", "float path[4]"}, "Agent");
///     schema.parallel_new("Fish", "Fish_init", "global const uint *cells");
///     schema.do_all("Fish", "Fish_swim", "uint step");
///
/// A field is "TYPE NAME" or, an array, "TYPE NAME[COUNT]"; TYPE is a scalar or vector type of
/// OpenCL C of 1 to 128 bytes, or a class, which stands for a reference to an object of it (a uint;
/// 0: none). What several work-items write at once is a kma_atomic_u32, a kma_atomic_u64, or
/// "atomic CLASS", a reference. References in fields of other types are unknown to
/// World::defragment.
class Schema {
public:
    /// Declares a class, of which `base`, if not empty, was declared before. Names are identifiers
    /// of C, and no two classes have the same; nor have two fields of a class and its bases. Throws
    /// Error if not, for fields that are none, and for more than 64 classes of which there can be
    /// objects. Classes named as fields' types may be declared later.
    Schema &add(const std::string &name, const std::vector<std::string> &fields,
                const std::string &base = {});
    /// The same, a class of which there are no objects, only of its subclasses.
    Schema &add_abstract(const std::string &name, const std::vector<std::string> &fields,
                         const std::string &base = {});

    /// Declares that `function(w, self, index, parameters…)`, of the user's program, is what
    /// World::parallel_new(cls, n, function, …) calls for each new object. `parameters` are those
    /// behind index, as in a kernel's head; cls itself is always among what it changes. Throws
    /// Error if there is no such class, or it is abstract, and if a parameter has no name.
    Schema &parallel_new(const std::string &cls, const std::string &function,
                         const std::string &parameters = {}, const DoAllOptions &options = {});

    /// Declares that `function(w, self, parameters…)` is what World::parallel_do(cls, function, …)
    /// calls for each object. Throws as parallel_new does, and if options name a class that there
    /// is not.
    Schema &do_all(const std::string &cls, const std::string &function,
                   const std::string &parameters = {}, const DoAllOptions &options = {});

    /// The least bytes of a block, 0 by default. A block has the larger of 64 times the smallest
    /// class and one object of the largest, rounded up to 128 bytes, and never less than this. So
    /// classes larger than the smallest have fewer than 64 objects in a block, unless this is 64
    /// times their size: then all of them keep neighbouring work-items in one block busy, and the
    /// smaller ones waste some memory. Throws Error above 2^24.
    Schema &block_bytes(std::uint32_t least);

    /// What stands in front of the user's program: types, accessors, new and delete. `slots` is 64,
    /// or 32 for programs without 64-bit atomics. Throws Error if a field's type is no type, or if
    /// two names in it would be the same.
    std::string accessors(std::uint32_t slots = 64) const;
    /// What stands behind it: a kernel for each do_all and parallel_new, and those of
    /// kma/objects/world_kernels.cl.
    std::string kernels() const;
    /// A program of its own, which World builds when it first follows references: for each class a
    /// function that visits the references of an object and one that copies its fields, and the
    /// kernels of kma/objects/reference_kernels.cl.
    std::string visitors(std::uint32_t slots = 64) const;

    /// A field as it is in a block, where element i of an object in slot s is at begin + (i *
    /// objects + s) * bytes.
    struct Column {
        /// as OpenCL C has it; "uint" for references, "kma_atomic_u32" for atomic ones
        std::string type;
        std::string name;       ///< as declared
        std::string target;     ///< the class that a reference leads to, or empty
        std::uint32_t elements; ///< of the array; 1 if it is none
        std::uint32_t bytes;    ///< of one element
        std::uint32_t begin;    ///< bytes from the block's begin
        std::uint32_t align;    ///< in bytes
        bool is_array;          ///< whether declared with [COUNT]
        bool is_atomic;         ///< whether an atomic reference
    };
    /// A class of which there can be objects, as it is in a block; inherited fields first.
    struct Concrete {
        std::string name;            ///< as declared
        std::uint32_t objects;       ///< in a block
        std::uint32_t bytes;         ///< of one: all its fields
        std::vector<Column> columns; ///< its fields
    };
    /// All of them; a class is followed by its subclasses. Number i of these is the class number i
    /// of cl/kma/objects.
    struct Layout {
        std::uint32_t block_bytes;     ///< of each block
        std::vector<Concrete> classes; ///< by number
    };
    /// Throws as accessors() does.
    Layout layout(std::uint32_t slots = 64) const;

    /// Numbers [first, last] in Layout::classes of a class and its subclasses. first > last: an
    /// abstract class without any.
    struct Range {
        std::uint32_t first; ///< the class itself, or its first subclass if it is abstract
        std::uint32_t last;  ///< inclusive
    };
    /// Throws Error if there is no such class.
    Range range(const std::string &cls) const;

    /// All fields of a class, inherited ones first; where they begin depends on the subclass
    /// (Layout). Throws Error if there is no such class.
    std::vector<Column> columns(const std::string &cls) const;

    /// A do_all or parallel_new.
    struct Launch {
        std::string cls;                ///< over whose objects
        std::string function;           ///< that is called for each
        std::string parameters;         ///< behind those that each such function has
        std::vector<std::string> names; ///< of the parameters
        DoAllOptions options;           ///< as declared
        bool is_new;                    ///< whether a parallel_new
        std::string kernel_name() const; ///< of the kernel in kernels()
    };
    /// All that were declared.
    const std::vector<Launch> &launches() const noexcept { return launches_; }
    /// Throws Error if it was not declared.
    const Launch &launch(const std::string &cls, const std::string &function, bool is_new) const;

private:
    struct Class {
        std::string name, base;
        bool is_abstract;
        std::vector<std::string> fields;
    };
    Schema &add(Class added);
    Schema &add(Launch added);
    const Class *find(const std::string &name) const;
    std::vector<Column> own_columns(const Class &cls) const;
    std::vector<Column> all_columns(const Class &cls) const;
    void collect(const std::string &base, std::vector<const Class *> &into) const;
    std::vector<const Class *> concretes() const;
    void check_names() const;
    std::string head(const Layout &layout, std::uint32_t slots) const;
    bool is_a(const Class &cls, const std::string &base) const;

    std::vector<Class> classes_;
    std::vector<Launch> launches_;
    std::uint32_t least_block_bytes_ = 0;
};

} // namespace kma
