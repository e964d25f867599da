// The memory layout of declared types, and the OpenCL C generated for them.
#include "kma/types.hpp"

#include <algorithm>

#include "objects/c_fields.hpp"
#include "kma/error.hpp"
#include "kma/snapshot.hpp"
#include "heap/common/layout.hpp"
#include "support/say.hpp"

namespace kma {
namespace {

using c_fields::Field;

Field parse_field(const std::string &type, const std::string &text)
{
    const std::optional<Field> field = c_fields::parse(text);
    if (!field || (field->is_atomic && !field->is_pointer))
        throw Error(say("type ", type, ": \"", text,
                        "\" is no field; a field is \"TYPE NAME\", \"TYPE NAME[COUNT]\" or a "
                        "reference \"TYPE *NAME\", such as \"uint key\" or \"Node *left\""));
    const std::uint32_t bytes = field->is_pointer ? sizeof(Ref) : c_fields::bytes_of(field->type);
    if (bytes == 0 || bytes > KMA_UNIT)
        throw Error(say("type ", type, ": field ", field->name, " has type ", field->type,
                        ", which is no scalar or vector type of OpenCL C of at most ", KMA_UNIT,
                        " bytes; use one, or a reference \"", field->type, " *", field->name,
                        "\""));
    return *field;
}

std::uint32_t field_bytes(const Field &field)
{
    return field.is_pointer ? sizeof(Ref) : c_fields::bytes_of(field.type);
}

// The field's type in OpenCL C.
std::string c_type(const Field &field)
{
    return !field.is_pointer ? field.type : field.is_atomic ? "kma_atomic_ref" : "kma_ref";
}

} // namespace

Types &Types::add(const std::string &name, const std::vector<std::string> &fields)
{
    return add(Declared{name, fields, true});
}

Types &Types::add_element(const std::string &name, const std::string &element)
{
    return add(Declared{name, {element + " element"}, false});
}

Types &Types::add(Declared added)
{
    if (!c_fields::is_identifier(added.name) || c_fields::bytes_of(added.name) != 0 ||
        added.name == "void")
        throw Error(
            say("\"", added.name,
                "\" cannot name a type: it must be an identifier of C, and no type of OpenCL C"));
    if (std::ranges::find(types_, added.name, &Declared::name) != types_.end())
        throw Error(say("type ", added.name, " is declared twice; rename one"));
    if (types_.size() == KMA_TYPES_MOST)
        throw Error(say("type ", added.name, " is one too many: a collector has ", KMA_TYPES_MOST,
                        " types at most; make one of several that are alike"));
    if (added.fields.empty())
        throw Error(say("type ", added.name, " has no fields; give it one"));
    std::vector<std::string> names;
    for (const std::string &field : added.fields)
        names.push_back(parse_field(added.name, field).name);
    std::ranges::sort(names);
    if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
        throw Error(say("type ", added.name, " has two fields ", *twice, "; rename one"));
    types_.push_back(std::move(added));
    return *this;
}

std::uint32_t Types::number_of(const std::string &owner, const std::string &target) const
{
    if (target == "void")
        return 0;
    const auto found = std::ranges::find(types_, target, &Declared::name);
    if (found == types_.end())
        throw Error(say(
            "type ", owner, " has a reference to ", target,
            ", which is not declared; declare it by add(), or let the reference be a \"void *\""));
    return static_cast<std::uint32_t>(found - types_.begin()) + 1;
}

std::vector<Types::Type> Types::layout() const
{
    std::vector<Type> made;
    for (const Declared &type : types_) {
        std::uint32_t end = 0, align = 1;
        Type is{type.name, 0, {}};
        for (const std::string &text : type.fields) { // laid out as a struct of C
            const Field field = parse_field(type.name, text);
            const std::uint32_t bytes = field_bytes(field);
            end = (end + bytes - 1) / bytes * bytes;
            align = std::max(align, bytes);
            for (std::uint32_t i = 0; i < field.elements && field.is_pointer; i++)
                is.references.push_back({end + i * bytes, number_of(type.name, field.type)});
            end += bytes * field.elements;
        }
        is.bytes = (end + align - 1) / align * align;
        made.push_back(std::move(is));
    }
    return made;
}

std::string Types::text() const
{
    const std::vector<Type> made = layout();
    std::string text = "// Generated from a kma::Types: its types, for the program "
                       "behind.\n#include \"kma/collect/typed.cl\"\n";
    for (std::size_t i = 0; i < types_.size(); i++) {
        const Declared &type = types_[i];
        text += type.is_struct ? say("\ntypedef struct ", type.name, " {\n") : "\n";
        for (const std::string &declared : type.fields) {
            const Field field = parse_field(type.name, declared);
            const std::string comment = field.is_pointer ? say(" // ", field.type) : "";
            if (type.is_struct)
                text +=
                    say("    ", c_type(field), " ", field.name,
                        field.is_array ? say("[", field.elements, "]") : "", ";", comment, "\n");
            else
                text += say("typedef ", c_type(field), " ", type.name, ";", comment, "\n");
        }
        text += type.is_struct ? say("} ", type.name, ";\n") : "";
        text += say("KMA_TYPED(", type.name, ", ", i + 1, "u, ", made[i].bytes, "u)\n");
    }
    return text;
}

std::uint32_t Types::hash() const
{
    std::uint32_t hash = 2166136261u; // FNV-1a
    for (const char c : text())
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return hash;
}

} // namespace kma
