// The OpenCL C that is generated from a schema.
#include <algorithm>
#include <set>

#include "kma/error.hpp"
#include "kma/schema.hpp"
#include "say.hpp"

namespace kma {
namespace {

// A number for each class, as an expression of T.
template <class Number> std::string by_class(const Schema::Layout &layout, Number number)
{
    std::string text = "(";
    for (std::size_t i = 0; i < layout.classes.size(); i++)
        text += say("(T) == ", i, "u ? ", number(layout.classes[i]), "u : ");
    return text + "0u)";
}

const Schema::Column *find(const Schema::Concrete &cls, const std::string &field)
{
    for (const Schema::Column &column : cls.columns)
        if (column.name == field)
            return &column;
    return nullptr;
}

// Where a field begins in blocks of classes that have it, as the body of a function: `begin` and, of arrays, `objects`.
std::string place_of(const Schema::Layout &layout, Schema::Range range, const Schema::Column &column)
{
    const Schema::Concrete &first = layout.classes[range.first];
    bool alike = true;
    std::string begins, objects;
    for (std::uint32_t i = range.first; i <= range.last; i++) {
        const Schema::Concrete &cls = layout.classes[i];
        const std::uint32_t begin = find(cls, column.name)->begin;
        alike = alike && begin == find(first, column.name)->begin && (!column.is_array || cls.objects == first.objects);
        begins += i < range.last ? say("type == ", i + 1, "u ? ", begin, "u : ") : say(begin, "u");
        objects += i < range.last ? say("type == ", i + 1, "u ? ", cls.objects, "u : ") : say(cls.objects, "u");
    }
    if (alike) {
        begins = say(find(first, column.name)->begin, "u");
        objects = say(first.objects, "u");
    }
    std::string text = alike ? "" : "    const uint type = kma_world_type_of_living(w, self);\n";
    text += say("    const uint begin = ", begins, ";\n");
    if (column.is_array)
        text += say("    const uint objects = ", objects, ";\n");
    return text;
}

std::string accessor(const std::string &cls, const Schema::Layout &layout, Schema::Range range, const Schema::Column &column)
{
    const std::string at = say(cls, "_", column.name, "_at"), type = column.target.empty() ? column.type : column.target;
    const char *index = column.is_array ? ", i" : "";
    std::string text = say("static inline global ", type, " *", at, "(global kma_world *w, ", cls, " self", column.is_array ? ", uint i" : "", ")\n{\n",
                           "    KMA_WORLD_RETURN_NOWHERE_UNLESS(w, ", range.first, "u, ", range.last, "u, self);\n", place_of(layout, range, column),
                           "    return (global ", type, " *)kma_world_field(w, self, begin",
                           column.is_array ? say(" + i * objects * ", column.bytes, "u") : "", ", ", column.bytes, "u);\n}\n");
    if (!column.type.starts_with("kma_atomic"))
        text += say("#define ", cls, "_", column.name, "(w, self", index, ") (*", at, "(w, self", index, "))\n");
    return text;
}

std::string functions(const std::string &cls, Schema::Range range, bool is_abstract)
{
    std::string text;
    const std::uint32_t first = range.first, last = range.last;
    if (!is_abstract)
        text += say("static inline ", cls, " ", cls, "_new(global kma_world *w)\n{\n    return kma_world_new(w, ", first, "u);\n}\n");
    text += say("static inline void ", cls, "_delete(global kma_world *w, ", cls, " self)\n{\n");
    if (first != last)
        text += "    const uint type = kma_world_type(w, self);\n";
    for (std::uint32_t i = first; i <= last; i++)
        text += i == last ? say("    ", first != last ? "else\n        " : "", "kma_world_delete(w, ", i, "u, self);\n}\n")
                          : say("    ", i == first ? "" : "else ", "if (type == ", i + 1, "u)\n        kma_world_delete(w, ", i, "u, self);\n");
    text += say("static inline bool ", cls, "_is(global kma_world *w, uint ref)\n{\n    return kma_world_is(w, ", first, "u, ", last, "u, ref);\n}\n");
    text += say("static inline ", cls, " ", cls, "_as(global kma_world *w, uint ref)\n{\n    return ", cls, "_is(w, ref) ? ref : 0;\n}\n");
    text += say("#define ", cls, "_for_each(w, object) KMA_WORLD_FOR_EACH(w, ", first, "u, ", last, "u, object)\n");
    text += say("#define ", cls, "_for_each_run(w, run) KMA_WORLD_FOR_EACH_RUN(w, ", first, "u, ", last, "u, run)\n");
    return text;
}

} // namespace

// Throws Error if two of the names that are made of classes and fields are the same.
void Schema::check_names() const
{
    std::set<std::string> names;
    const auto use = [&names](const std::string &name) {
        if (!names.insert(name).second)
            throw Error(say("the name ", name, " would stand for two things in the schema's program; rename a field or a class"));
    };
    for (const Class &cls : classes_) {
        use(cls.name);
        for (const char *function : {"new", "delete", "is", "as", "for_each", "for_each_run"})
            use(cls.name + "_" + function);
        for (const Column &column : all_columns(cls)) {
            use(cls.name + "_" + column.name);
            use(cls.name + "_" + column.name + "_at");
        }
    }
}

std::string Schema::accessors(std::uint32_t slots) const
{
    const Layout made = layout(slots);
    check_names();
    std::string text = "// Generated from a kma::Schema: its classes, for the program behind.\n//\n";
    for (std::size_t i = 0; i < made.classes.size(); i++) {
        const Concrete &cls = made.classes[i];
        text += say("// ", i, " ", cls.name, ": ", cls.objects, " in a block of ", made.block_bytes, " bytes\n");
        for (const Column &column : cls.columns)
            text += say("//     at ", column.begin, ": ", column.target.empty() ? column.type : column.target, " ", column.name,
                        column.is_array ? say("[", column.elements, "]") : "", "\n");
    }
    text += say("#define KMA_WORLD_CLASSES ", made.classes.size(), "u\n#define KMA_WORLD_BLOCK_BYTES ", made.block_bytes, "u\n");
    text += say("#define KMA_WORLD_SLOTS(T) ", by_class(made, [](const Concrete &cls) { return cls.objects; }), "\n");
    text += say("#define KMA_WORLD_OBJECT_BYTES(T) ", by_class(made, [](const Concrete &cls) { return cls.bytes; }), "\n");
    text += say("#include \"kma/objects/world.cl\"\n#if KMA_HAS_ATOMIC64 ", slots == 64 ? "== 0" : "!= 0",
                "\n#error \"the schema was laid out for ", slots,
                " objects in a block: Schema::accessors(64) is for programs with 64-bit atomics, accessors(32) for those without\"\n#endif\n\n");
    for (const Class &cls : classes_)
        text += say("typedef uint ", cls.name, ";\n");
    for (const Class &cls : classes_) {
        const Range its = range(cls.name);
        if (its.first > its.last)
            continue;
        text += say("\n// ", cls.name, "\n", functions(cls.name, its, cls.is_abstract));
        for (const Column &column : all_columns(cls))
            text += accessor(cls.name, made, its, column);
    }
    return text;
}

std::string Schema::kernels() const
{
    std::string text = "#include \"kma/kernels/world_kernels.cl\"\n";
    for (const Launch &launch : launches_) {
        std::string arguments;
        for (const std::string &name : launch.names)
            arguments += ", " + name;
        const std::string parameters = launch.names.empty() ? "" : ", " + launch.parameters;
        const Range its = range(launch.cls);
        text += say("\nkernel void ", launch.kernel_name(), "(global kma_world *kma_w", launch.is_new ? ", uint kma_n" : "", parameters, ")\n{\n");
        if (launch.is_new) {
            text += say("    const kma_world_share kma_share = KMA_WORLD_SHARE(kma_n);\n"
                        "    for (uint kma_i = kma_share.kma_at; kma_i < kma_share.kma_end; kma_i += kma_share.kma_step) {\n        const ", launch.cls,
                        " kma_self = ", launch.cls, "_new(kma_w);\n        if (kma_self != 0)\n            ", launch.function, "(kma_w, kma_self, kma_i", arguments, ");\n    }\n");
        } else {
            for (std::uint32_t i = its.first; i <= (launch.options.subclasses ? its.last : its.first) && its.first <= its.last; i++)
                text += say("    const kma_world_share kma_share_", i, " = KMA_WORLD_SHARE(kma_world_listed(kma_w, ", i, "u) * KMA_WORLD_SLOTS(", i,
                            "u));\n    for (uint kma_i = kma_share_", i, ".kma_at; kma_i < kma_share_", i, ".kma_end; kma_i += kma_share_", i,
                            ".kma_step) {\n        const uint kma_self = kma_world_listed_object(kma_w, ", i, "u, KMA_WORLD_SLOTS(", i,
                            "u), kma_i);\n        if (kma_self != 0)\n            ", launch.function, "(kma_w, kma_self", arguments, ");\n    }\n");
        }
        text += "}\n";
    }
    return text;
}

} // namespace kma
