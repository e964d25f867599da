// Declares the types of garbage-collected objects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kma {

/// Declares types of objects with references to one another, and generates the OpenCL C for them. A
/// Collector frees such objects when they become unreachable. A value: copies are independent.
///
///     kma::Types types;
///     types.add("Tree", {"float value", "Tree *left", "Tree *right"});
///     types.add("Task", {"atomic Task *next", "Tree *of", "Floats *results"});
///     types.add_element("Floats", "float");
///
/// A field is one of
///
/// - "TYPE NAME" or "TYPE NAME[COUNT]": TYPE is a scalar or vector type of OpenCL C of at most 16
///   bytes, kma_atomic_u32, or, on devices with 64-bit atomics, kma_atomic_u64;
/// - "TYPE *NAME" or "TYPE *NAME[COUNT]", a reference: TYPE is a declared type, or void for any
///   declared type;
/// - "atomic TYPE *NAME", a reference that several work-items write.
///
/// In a kernel a type is a struct, a reference a kma_ref, an atomic reference a kma_atomic_ref. A
/// reference to an array refers to its first element.
class Types {
public:
    /// Declares a struct. Types of references may be declared later. Throws Error if the name is no
    /// identifier of C or is declared already, for invalid fields, for two fields of one name, and
    /// for more than 127 types.
    Types &add(const std::string &name, const std::vector<std::string> &fields);

    /// Declares a name for array elements that are no structs: "float", "uint4", …, or references,
    /// "Expression *". Throws Error as add().
    Types &add_element(const std::string &name, const std::string &element);

    /// Generates the text that precedes the user's program: structs, and for each type T the
    /// functions T_new(heap), T_new_array(heap, n) and T_at(heap, ref) of kma/collect/typed.cl.
    /// Throws Error if the type of a reference is not declared.
    std::string text() const;

    /// A reference in a type.
    struct Reference {
        std::uint32_t offset; ///< offset in the object, in bytes
        std::uint32_t target; ///< number of the type it refers to; 0: any type
    };
    /// The layout of a type. Its number is its index in layout() plus 1.
    struct Type {
        std::string name;                  ///< as declared
        std::uint32_t bytes;               ///< bytes of an object, and of each element of an array
        /// all references of an object, each element of an array separately
        std::vector<Reference> references;
    };
    /// The layout of all types. Throws as text() does.
    std::vector<Type> layout() const;

    /// A hash of the types (32-bit FNV-1a of text()).
    std::uint32_t hash() const;

private:
    struct Declared {
        std::string name;
        std::vector<std::string> fields;
        bool is_struct;
    };
    Types &add(Declared added);
    std::uint32_t number_of(const std::string &owner, const std::string &target) const;

    std::vector<Declared> types_;
};

} // namespace kma
