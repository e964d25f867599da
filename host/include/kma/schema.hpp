// Declares the classes of an object store and the do-alls over their objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kma/source.hpp"

namespace kma {

/// What a do-all or another kernel does. Unspecified members cost time, never correctness: the
/// library then assumes the worst.
struct DoAllOptions {
    /// Classes, with their subclasses, of which the function creates or deletes objects. Not given:
    /// any class. If a class is missing here, later do-alls omit created objects and visit deleted
    /// ones. With ProgramOptions::debug 1 or more a world checks after each launch that the other
    /// classes have as many objects as before.
    std::optional<std::vector<std::string>> changes = std::nullopt;
    /// Classes that the function loops over (`Fish_for_each(w, fish)`). Not given: any class.
    std::optional<std::vector<std::string>> loops_over = std::nullopt;
    /// Whether a do-all includes objects of subclasses.
    bool subclasses = true;
};

/// Declares classes and do-alls, and generates the OpenCL C for them. A value: copies are
/// independent.
///
///     kma::Schema schema;
///     schema.add_abstract("Agent", {"uint cell", "uchar age"});
///     schema.add("Fish", {}, "Agent");
///     schema.add("Shark", {"uchar energy", "Fish last_meal", "float path[4]"}, "Agent");
///     schema.parallel_new("Fish", "Fish_init");
///     schema.do_all("Fish", "Fish_swim");
///
/// A field is "TYPE NAME" or, for an array, "TYPE NAME[COUNT]". TYPE is one of
///
/// - a scalar or vector type of OpenCL C of 1 to 128 bytes;
/// - a class: the field is a reference to an object of it (a uint; 0: none);
/// - kma_atomic_u32, kma_atomic_u64, or "atomic CLASS", an atomic reference, for fields that
///   several work-items write at once.
///
/// World::defragment and World::collect do not find references in fields of other types.
class Schema {
public:
    /// Declares a class. `base` is empty or a class declared before; classes in fields' types may
    /// be declared later. Names are identifiers of C, unique among the classes, and among the
    /// fields of a class and its bases. Throws Error otherwise, for invalid fields, and for more
    /// than 64 classes that are not abstract.
    Schema &add(const std::string &name, const std::vector<std::string> &fields,
                const std::string &base = {});
    /// Declares an abstract class, as add(): only its subclasses have objects.
    Schema &add_abstract(const std::string &name, const std::vector<std::string> &fields,
                         const std::string &base = {});

    /// Declares the function `function(w, self, index, …)` of the user's program, which
    /// World::parallel_new(cls, n, function, …) calls for each new object. World reads the further
    /// parameters from the function's head. DoAllOptions::changes always includes `cls`. Throws
    /// Error if the class does not exist or is abstract.
    Schema &parallel_new(const std::string &cls, const std::string &function,
                         const DoAllOptions &options = {});

    /// Declares the function `function(w, self, …)` of the user's program, which
    /// World::parallel_do(cls, function, …) calls for each object. Throws Error as parallel_new(),
    /// and if `options` name a class that does not exist.
    Schema &do_all(const std::string &cls, const std::string &function,
                   const DoAllOptions &options = {});

    /// Sets the minimal bytes of a block; 0 by default. Throws Error above 2^24. A block has the
    /// larger of 64 objects of the smallest class and one object of the largest, rounded up to 128
    /// bytes, but at least this. With 64 times the size of a larger class, a block holds 64 objects
    /// of that class too: adjacent work-items then find objects in one block, and smaller classes
    /// waste some memory.
    Schema &block_bytes(std::uint32_t least);

    /// Generates the text that precedes the user's program: types, accessors, new and delete.
    /// `slots` is 64, or 32 for programs without 64-bit atomics. Throws Error if a field's type is
    /// no type, or if two generated names are the same.
    std::string accessors(std::uint32_t slots = 64) const;
    /// Reads the parameters of all declared functions from their definitions in `program`, as World
    /// does with its sources. Throws Error if a function is missing there, has too few parameters,
    /// or one without a name. Preprocessor conditions are not evaluated.
    Schema &read_heads(const std::vector<Source> &program);
    /// Generates the text after the user's program, after read_heads(): a kernel for each do_all
    /// and parallel_new, and those of kma/objects/world_kernels.cl.
    std::string kernels() const;
    /// Generates the program that World builds before it first follows references: for each class a
    /// function that visits the references of an object and one that copies its fields, and the
    /// kernels of kma/objects/reference_kernels.cl.
    std::string visitors(std::uint32_t slots = 64) const;

    /// The layout of a field in a block: element i of the object in slot s is at byte begin + (i *
    /// objects + s) * bytes.
    struct Column {
        /// the type in OpenCL C; "uint" for references, "kma_atomic_u32" for atomic ones
        std::string type;
        std::string name;       ///< as declared
        std::string target;     ///< the class of a reference, else empty
        std::uint32_t elements; ///< elements of an array, else 1
        std::uint32_t bytes;    ///< bytes of one element
        std::uint32_t begin;    ///< offset in the block, in bytes
        std::uint32_t align;    ///< alignment in bytes
        bool is_array;          ///< whether it was declared with [COUNT]
        bool is_atomic;         ///< whether it is an atomic reference
    };
    /// The layout of a class that is not abstract; inherited fields first.
    struct Concrete {
        std::string name;            ///< as declared
        std::uint32_t objects;       ///< objects in a block
        std::uint32_t bytes;         ///< bytes of an object's fields
        std::vector<Column> columns; ///< its fields
    };
    /// The layout of all classes that are not abstract, each followed by its subclasses. An index
    /// into `classes` is the class number in cl/kma/objects.
    struct Layout {
        std::uint32_t block_bytes;     ///< bytes of a block
        std::vector<Concrete> classes; ///< by number
    };
    /// Computes the layout. Throws as accessors() does.
    Layout layout(std::uint32_t slots = 64) const;

    /// The class numbers (indices into Layout::classes) of a class and its subclasses. first >
    /// last: an abstract class without subclasses.
    struct Range {
        std::uint32_t first; ///< the class itself, or its first subclass if it is abstract
        std::uint32_t last;  ///< inclusive
    };
    /// The class numbers of `cls`. Throws Error if there is no such class.
    Range range(const std::string &cls) const;

    /// All fields of a class, inherited ones first, without offsets, which depend on the subclass
    /// (Layout). Throws Error if there is no such class.
    std::vector<Column> columns(const std::string &cls) const;

    /// A declared do_all or parallel_new.
    struct Launch {
        std::string cls;                ///< class of the objects
        std::string function;           ///< the function called for each object
        /// its parameters, without the first ones that all such functions have; see read_heads()
        std::string parameters;
        std::vector<std::string> names; ///< names of the parameters
        DoAllOptions options;           ///< as declared
        bool is_new;                    ///< whether it is a parallel_new
        std::string kernel_name() const; ///< name of its kernel in kernels()
    };
    /// All declared do-alls and parallel_news.
    const std::vector<Launch> &launches() const noexcept { return launches_; }
    /// The declared do-all or parallel_new. Throws Error if there is none.
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
