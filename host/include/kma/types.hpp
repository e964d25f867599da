// The types of objects that a collector frees, as the host declares them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kma {

/// Declares types of objects with references to one another, and generates the OpenCL C for them. A
/// value: copies are independent. A Collector frees such objects when nothing leads to them any
/// more.
///
///     kma::Types types;
///     types.add("Tree", {"float value", "Tree *left", "Tree *right"});
///     types.add("Task", {"atomic Task *next", "Tree *of", "Floats *results"});
///     types.add_element("Floats", "float");
///
/// A field is "TYPE NAME" or "TYPE NAME[COUNT]", where TYPE is a scalar or vector type of OpenCL C
/// of at most 16 bytes, a kma_atomic_u32, or a kma_atomic_u64 for devices with 64-bit atomics; or a
/// reference, "TYPE *NAME" or "TYPE *NAME[COUNT]", where TYPE is one of these types, or void for
/// any of them; "atomic TYPE *NAME" if several work-items write it. In a kernel a type is an
/// ordinary struct, a reference a kma_ref, an atomic one a kma_atomic_ref. A reference to an array
/// is one to its first element.
class Types {
public:
    /// Declares a struct. Types named by references may be declared later. Throws Error if the name
    /// is no identifier of C, or is there already, for fields that are none, for two of one name,
    /// and for more than 127 types.
    Types &add(const std::string &name, const std::vector<std::string> &fields);

    /// Declares a name for elements of arrays that are no structs: of "float", "uint4", …, or of
    /// references, "Expression *". Throws Error as add().
    Types &add_element(const std::string &name, const std::string &element);

    /// What stands in front of the user's program: structs, and for each type T the functions
    /// T_new(heap), T_new_array(heap, n) and T_at(heap, ref) of kma/collect/typed.cl. Throws Error
    /// if a type that a reference names is not declared.
    std::string text() const;

    /// A reference in a type.
    struct Reference {
        std::uint32_t offset; ///< bytes from the object's begin
        std::uint32_t target; ///< number of the type that it may lead to; 0: any
    };
    /// A type as it is in memory. Its number is its index plus 1.
    struct Type {
        std::string name;                  ///< as declared
        std::uint32_t bytes;               ///< of an object, and of each element of an array
        std::vector<Reference> references; ///< all of an object, elements of arrays one by one
    };
    /// All of them. Throws as text() does.
    std::vector<Type> layout() const;

    /// A number that differs, but for chance, if the types do.
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
