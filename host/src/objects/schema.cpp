// Declarations of a schema, and the layout of fields in blocks.
#include "kma/schema.hpp"

#include <algorithm>

#include "objects/c_fields.hpp"
#include "objects/function_head.hpp"
#include "kma/error.hpp"
#include "heap/common/layout.hpp"
#include "support/say.hpp"

namespace kma {
namespace {

using c_fields::bytes_of, c_fields::is_identifier;

c_fields::Field parse(const std::string &cls, const std::string &text)
{
    const std::optional<c_fields::Field> field = c_fields::parse(text);
    if (!field || field->is_pointer)
        throw Error(say("class ", cls, ": \"", text,
                        "\" is no field; a field is \"TYPE NAME\" or \"TYPE NAME[COUNT]\", such as "
                        "\"float mass\""));
    return *field;
}

// Lays out columns for `objects` objects in a block; returns the end.
std::uint64_t place(std::vector<Schema::Column> &columns, std::uint32_t objects)
{
    std::uint64_t end = 0;
    for (Schema::Column &column : columns) {
        column.begin =
            static_cast<std::uint32_t>((end + column.align - 1) / column.align * column.align);
        end = column.begin + std::uint64_t{column.bytes} * column.elements * objects;
    }
    return end;
}

} // namespace

const Schema::Class *Schema::find(const std::string &name) const
{
    const auto found = std::ranges::find(classes_, name, &Class::name);
    return found == classes_.end() ? nullptr : &*found;
}

Schema &Schema::add(const std::string &name, const std::vector<std::string> &fields,
                    const std::string &base)
{
    return add(Class{name, base, false, fields});
}

Schema &Schema::add_abstract(const std::string &name, const std::vector<std::string> &fields,
                             const std::string &base)
{
    return add(Class{name, base, true, fields});
}

Schema &Schema::add(Class added)
{
    if (!is_identifier(added.name) || bytes_of(added.name) != 0)
        throw Error(
            say("\"", added.name,
                "\" cannot name a class: it must be an identifier of C, and no type of OpenCL C"));
    if (find(added.name))
        throw Error(say("class ", added.name, " is declared twice; rename one"));
    if (!added.base.empty() && !find(added.base))
        throw Error(say("class ", added.name, " has the base ", added.base,
                        ", which is not declared; declare bases first"));
    if (!added.is_abstract && concretes().size() == KMA_WORLD_CLASSES_MOST)
        throw Error(say("class ", added.name, " is one too many: a schema has ",
                        KMA_WORLD_CLASSES_MOST,
                        " at most of which there can be objects; declare those without objects of "
                        "their own by add_abstract()"));
    std::vector<std::string> names;
    for (const std::string &field : added.fields)
        names.push_back(parse(added.name, field).name);
    for (const Class *base = find(added.base); base; base = find(base->base))
        for (const std::string &field : base->fields)
            names.push_back(parse(base->name, field).name);
    std::ranges::sort(names);
    if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
        throw Error(say("class ", added.name, " has two fields ", *twice,
                        ", its own or inherited; rename one"));
    classes_.push_back(std::move(added));
    return *this;
}

Schema &Schema::parallel_new(const std::string &cls, const std::string &function,
                             const DoAllOptions &options)
{
    Launch added{cls, function, {}, {}, options, true};
    if (added.options.changes)
        added.options.changes->push_back(cls);
    return add(std::move(added));
}

Schema &Schema::do_all(const std::string &cls, const std::string &function,
                       const DoAllOptions &options)
{
    return add(Launch{cls, function, {}, {}, options, false});
}

Schema &Schema::read_heads(const std::vector<Source> &program)
{
    for (Launch &launch : launches_) {
        FunctionHead head = function_head(program, launch.function, launch.is_new ? 3 : 2);
        launch.parameters = std::move(head.parameters);
        launch.names = std::move(head.names);
    }
    return *this;
}

Schema &Schema::add(Launch added)
{
    range(added.cls);
    if (added.is_new && find(added.cls)->is_abstract)
        throw Error(say("class ", added.cls, " is abstract: create objects of its subclasses"));
    if (!added.is_new && !added.options.subclasses && find(added.cls)->is_abstract)
        throw Error(say("class ", added.cls, " is abstract: without its subclasses ",
                        added.function, " is for no object; let DoAllOptions::subclasses be true"));
    for (const auto &some : {added.options.changes, added.options.loops_over})
        for (const std::string &cls : some.value_or(std::vector<std::string>{}))
            range(cls);
    if (!is_identifier(added.function))
        throw Error(say("\"", added.function,
                        "\" is no name of a function; give that of one in your program, without "
                        "its parameters"));
    for (const Launch &other : launches_)
        if (other.kernel_name() == added.kernel_name())
            throw Error(say("the ", added.is_new ? "parallel_new" : "do_all", " of ",
                            added.function, " for class ", added.cls,
                            " is declared twice; once is enough for all calls"));
    launches_.push_back(std::move(added));
    return *this;
}

Schema &Schema::block_bytes(std::uint32_t least)
{
    if (least > 1u << 24)
        throw Error(say("Schema::block_bytes = ", least,
                        " is too large: 2^24 is the most; give no more than that"));
    least_block_bytes_ = least;
    return *this;
}

std::string Schema::Launch::kernel_name() const
{
    return say("kma_", is_new ? "new" : "do", "_", cls, "_", function);
}

const Schema::Launch &Schema::launch(const std::string &cls, const std::string &function,
                                     bool is_new) const
{
    for (const Launch &launch : launches_)
        if (launch.is_new == is_new && launch.cls == cls && launch.function == function)
            return launch;
    std::string there;
    for (const Launch &launch : launches_)
        if (launch.is_new == is_new)
            there += say(" ", launch.cls, "/", launch.function);
    throw Error(say("the schema declares no ", is_new ? "parallel_new" : "do_all", " of ", function,
                    " for class ", cls, "; it has:", there.empty() ? " none" : there));
}

std::vector<Schema::Column> Schema::own_columns(const Class &cls) const
{
    std::vector<Column> columns;
    for (const std::string &field : cls.fields) {
        const c_fields::Field is = parse(cls.name, field);
        const bool is_reference = find(is.type) != nullptr;
        if (is.is_atomic && !is_reference)
            throw Error(say("class ", cls.name, ": field ", is.name, " is atomic and has type ",
                            is.type,
                            ", which is no class of the schema; a number that several work-items "
                            "write is a kma_atomic_u32 or kma_atomic_u64"));
        const std::uint32_t bytes = is_reference ? 4 : bytes_of(is.type);
        if (bytes == 0)
            throw Error(say("class ", cls.name, ": field ", is.name, " has type ", is.type,
                            ", which is no scalar or vector type of OpenCL C and no class of the "
                            "schema; correct it, or declare that class"));
        const std::string type = is.is_atomic ? "kma_atomic_u32" : is_reference ? "uint" : is.type;
        columns.push_back({type, is.name, is_reference ? is.type : "", is.elements, bytes, 0, bytes,
                           is.is_array, is.is_atomic});
    }
    std::ranges::stable_sort(columns, std::ranges::greater(), &Column::align);
    return columns;
}

std::vector<Schema::Column> Schema::all_columns(const Class &cls) const
{
    std::vector<Column> columns;
    if (!cls.base.empty())
        columns = all_columns(*find(cls.base));
    std::ranges::copy(own_columns(cls), std::back_inserter(columns));
    return columns;
}

std::vector<Schema::Column> Schema::columns(const std::string &cls) const
{
    range(cls);
    return all_columns(*find(cls));
}

// Depth first, each class before its subclasses.
void Schema::collect(const std::string &base, std::vector<const Class *> &into) const
{
    for (const Class &cls : classes_) {
        if (cls.base != base)
            continue;
        if (!cls.is_abstract)
            into.push_back(&cls);
        collect(cls.name, into);
    }
}

std::vector<const Schema::Class *> Schema::concretes() const
{
    std::vector<const Class *> all;
    collect("", all);
    return all;
}

bool Schema::is_a(const Class &cls, const std::string &base) const
{
    return cls.name == base || (!cls.base.empty() && is_a(*find(cls.base), base));
}

Schema::Range Schema::range(const std::string &cls) const
{
    if (!find(cls))
        throw Error(say("the schema has no class \"", cls,
                        "\"; correct the name, or declare it by add() first"));
    const std::vector<const Class *> all = concretes();
    Range found{1, 0};
    for (std::uint32_t i = 0; i < all.size(); i++) {
        if (!is_a(*all[i], cls))
            continue;
        if (found.first > found.last)
            found.first = i;
        found.last = i;
    }
    return found;
}

Schema::Layout Schema::layout(std::uint32_t slots) const
{
    Layout made{least_block_bytes_, {}};
    std::uint64_t smallest = ~std::uint64_t{0}, largest = 0;
    std::string smallest_name, largest_name;
    for (const Class *cls : concretes()) {
        Concrete concrete{cls->name, 0, 0, all_columns(*cls)};
        for (const Column &column : concrete.columns)
            concrete.bytes += column.bytes * column.elements;
        if (concrete.bytes < 4) // a moved object must have space for its new reference
            concrete.bytes = 4;
        const std::uint64_t full =
            std::max<std::uint64_t>(place(concrete.columns, slots), std::uint64_t{4} * slots);
        if (full < smallest) {
            smallest = full;
            smallest_name = cls->name;
        }
        if (const std::uint64_t one = place(concrete.columns, 1); one > largest) {
            largest = one;
            largest_name = cls->name;
        }
        made.classes.push_back(std::move(concrete));
    }
    if (made.classes.empty())
        throw Error("the schema has no class of which there can be objects; declare one by add()");
    if (std::max(smallest, largest) > std::uint64_t{1} << 24)
        throw Error(say("class ", largest > smallest ? largest_name : smallest_name,
                        " needs blocks of ", std::max(smallest, largest),
                        " bytes, and 2^24 is the most; give it fewer fields or shorter arrays"));
    made.block_bytes = static_cast<std::uint32_t>(
        layout::kma_world_up(std::max<std::uint64_t>({smallest, largest, made.block_bytes})));
    for (Concrete &concrete : made.classes) {
        for (concrete.objects = slots;
             place(concrete.columns, concrete.objects) > made.block_bytes;)
            concrete.objects--; // at least one fits
    }
    return made;
}

} // namespace kma
