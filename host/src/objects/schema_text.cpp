// Generates OpenCL C from a schema, by templates.
#include <algorithm>
#include <set>

#include "kma/error.hpp"
#include "kma/schema.hpp"
#include "support/say.hpp"
#include "device/template.hpp"

namespace kma {
namespace {

constexpr std::string_view head_template =
    R"(// Generated from a kma::Schema: its classes, for the program behind.
//
$outline$$numbers$#define KMA_WORLD_CLASSES $classes$u
#define KMA_WORLD_BLOCK_BYTES $block_bytes$u
#define KMA_WORLD_SLOTS(T) ($slots_of$0u)
#define KMA_WORLD_OBJECT_BYTES(T) ($bytes_of$0u)
#include "kma/objects/world.cl"
#if KMA_HAS_ATOMIC64 $other$
#error "the schema was laid out for $slots$ objects in a block: Schema::accessors(64) is for programs with 64-bit atomics, accessors(32) for those without"
#endif

)";

constexpr std::string_view new_template = R"(static inline $class$ $class$_new(global kma_world *w)
{
    return kma_world_new(w, $first$);
}
static inline uint $class$_new_many(global kma_world *w, uint count, $class$ *refs)
{
    return kma_world_new_many(w, $first$, count, refs);
}
)";

constexpr std::string_view new_as_template =
    R"(static inline $class$ $class$_new_as(global kma_world *w, uint cls)
{
    return cls >= $first$ && cls <= $last$ ? kma_world_new(w, cls) : 0;
}
)";

constexpr std::string_view delete_template =
    R"(static inline void $class$_delete(global kma_world *w, $class$ self)
{
    kma_world_delete(w, $first$, self);
}
)";

constexpr std::string_view delete_derived_template =
    R"(static inline void $class$_delete(global kma_world *w, $class$ self)
{
    const uint type = kma_world_type(w, self);
    kma_world_delete(w, type > $first$ && type <= $last$ ? type - 1 : $last$, self);
}
)";

constexpr std::string_view class_template =
    R"(static inline bool $class$_is(global kma_world *w, uint ref)
{
    return kma_world_is(w, $first$, $last$, ref);
}
static inline $class$ $class$_as(global kma_world *w, uint ref)
{
    return $class$_is(w, ref) ? ref : 0;
}
#define $class$_for_each(w, object) KMA_WORLD_FOR_EACH(w, $first$, $last$, object)
#define $class$_for_each_run(w, run) KMA_WORLD_FOR_EACH_RUN(w, $first$, $last$, run)
)";

// $i_parameter$ and $i$: for arrays only.
constexpr std::string_view field_template =
    R"(static inline global $type$ *
$class$_$field$_at(global kma_world *w, $class$ self$i_parameter$)
{
    KMA_WORLD_RETURN_NOWHERE_UNLESS(w, $first$, $last$, self);
$place$    return (global $type$ *)kma_world_field(w, self, begin$element$, $bytes$u);
}
)";

constexpr std::string_view value_template =
    R"(#define $class$_$field$(w, self$i$) (*$class$_$field$_at(w, self$i$))
)";

constexpr std::string_view atomic_template =
    R"(static inline $target$ $class$_$field$_load(global kma_world *w, $class$ self$i_parameter$)
{
    return kma_load_u32($class$_$field$_at(w, self$i$), KMA_ACQUIRE);
}
static inline void
$class$_$field$_store(global kma_world *w, $class$ self$i_parameter$, $target$ value)
{
    kma_store_u32($class$_$field$_at(w, self$i$), value, KMA_RELEASE);
}
static inline $target$
$class$_$field$_cas(global kma_world *w, $class$ self$i_parameter$, $target$ expected,
                    $target$ value)
{
    return kma_cas_u32($class$_$field$_at(w, self$i$), expected, value, KMA_ACQ_REL);
}
)";

constexpr std::string_view kernel_template = R"(
kernel void $kernel$(global kma_world *kma_w$parameters$)
{
$loops$}
)";

constexpr std::string_view new_loop_template =
    R"(    const kma_world_share kma_share = KMA_WORLD_SHARE(kma_n);
    for (uint kma_i = kma_share.kma_at; kma_i < kma_share.kma_end; kma_i += kma_share.kma_step) {
        const $class$ kma_self = $class$_new(kma_w);
        if (kma_self != 0)
            $function$(kma_w, kma_self, kma_i$arguments$);
    }
)";

constexpr std::string_view one_loop_template =
    R"(    const uint kma_slots = KMA_WORLD_SLOTS($last$u);
    const kma_world_share kma_share =
        KMA_WORLD_SHARE(kma_world_listed(kma_w, $last$u) * kma_slots);
    for (uint kma_i = kma_share.kma_at; kma_i < kma_share.kma_end; kma_i += kma_share.kma_step) {
        const uint kma_self = kma_world_listed_object(kma_w, $last$u, kma_slots, kma_i);
        if (kma_self != 0)
            $function$(kma_w, kma_self$arguments$);
    }
)";

// One loop over the objects of several classes: work-items that have no object of one class begin
// with the next.
constexpr std::string_view do_loop_template =
    R"($spans$    const kma_world_share kma_share = KMA_WORLD_SHARE(kma_span_$last$.kma_end);
    for (uint kma_i = kma_share.kma_at; kma_i < kma_share.kma_end; kma_i += kma_share.kma_step) {
        uint kma_self = 0;
$objects$        if (kma_self != 0)
            $function$(kma_w, kma_self$arguments$);
    }
)";
constexpr std::string_view span_template =
    "    const kma_world_span kma_span_$i$ =\n"
    "        kma_world_span_of(kma_w, $i$u, KMA_WORLD_SLOTS($i$u), $before$);\n";
constexpr std::string_view object_template =
    "        $else$if (kma_i < kma_span_$i$.kma_end)\n"
    "            kma_self = kma_world_span_object(kma_w, $i$u, KMA_WORLD_SLOTS($i$u), "
    "kma_span_$i$, kma_i);\n";

constexpr std::string_view visitors_template = R"(#include "kma/objects/visit.cl"
$functions$
// Visits the references of an object of class number `cls`.
static inline void kma_world_visit(global kma_world *w, kma_visit visit, uint cls, uint self)
{
    switch (cls) {
$visit_cases$    default:
        break;
    }
}

// Copies the fields of an object of class number `cls` to a slot of its class.
static inline void kma_world_copy(global kma_world *w, uint cls, uint from, uint to)
{
    switch (cls) {
$copy_cases$    default:
        break;
    }
}

#define KMA_WORLD_HAS_VISITORS 1
#include "kma/objects/reach_kernels.cl" // and reference_kernels.cl
)";

constexpr std::string_view visitor_template = R"(
// Visits each reference that a $class$ has.
static inline void $class$_visit(global kma_world *w, kma_visit visit, uint self)
{
$fields$}

// Copies the fields of a $class$.
static inline void $class$_copy(global kma_world *w, uint from, uint to)
{
$copies$}
)";

constexpr std::string_view visit_field_template =
    "    kma_visit_field(w, visit, self, $number$u, $begin$u, $elements$u, $objects$u, $first$u, "
    "$last$u); // $field$\n";
// Reads all fields before writing any: the reads do not wait for one another.
constexpr std::string_view load_template =
    "    const $unit$ kma_$number$ = KMA_WORLD_UNIT($unit$, w, from, $begin$u); // $field$\n";
constexpr std::string_view store_template =
    "    KMA_WORLD_UNIT($unit$, w, to, $begin$u) = kma_$number$;\n";
constexpr std::string_view load_array_template = R"(    $unit$ kma_$number$[$elements$]; // $field$
    for (uint i = 0; i < $elements$u; i++)
        kma_$number$[i] = KMA_WORLD_UNIT($unit$, w, from, $begin$u + i * $step$u);
)";
constexpr std::string_view store_array_template = R"(    for (uint i = 0; i < $elements$u; i++)
        KMA_WORLD_UNIT($unit$, w, to, $begin$u + i * $step$u) = kma_$number$[i];
)";
constexpr std::string_view copy_array_template =
    R"(    for (uint i = 0; i < $elements$u; i++) // $field$, too long for registers
        KMA_WORLD_UNIT($unit$, w, to, $begin$u + i * $step$u) =
            KMA_WORLD_UNIT($unit$, w, from, $begin$u + i * $step$u);
)";
constexpr std::string_view case_template = R"(    case $number$:
        $class$_$call$;
        break;
)";

std::string number_of(const Schema::Layout &layout, std::uint32_t cls)
{
    return "KMA_CLASS_" + layout.classes[cls].name;
}

// An expression that yields a number for each class.
template <class Number> std::string by_class(const Schema::Layout &layout, Number number)
{
    std::string text;
    for (std::uint32_t i = 0; i < layout.classes.size(); i++)
        text += say("(T) == ", i, "u ? ", number(layout.classes[i]), "u : ");
    return text;
}

const Schema::Column *find(const Schema::Concrete &cls, const std::string &field)
{
    const auto found = std::ranges::find(cls.columns, field, &Schema::Column::name);
    return found == cls.columns.end() ? nullptr : &*found;
}

// The type of a field's elements: an atomic word, a reference of a class, or a plain value.
const std::string &pointee(const Schema::Column &column)
{
    return column.is_atomic || column.target.empty() ? column.type : column.target;
}

// An unsigned type of OpenCL C of `bytes` bytes, a power of two up to 128.
std::string unit_of(std::uint32_t bytes)
{
    const char *const types[] = {"uchar",  "ushort", "uint",   "ulong",
                                 "ulong2", "ulong4", "ulong8", "ulong16"};
    std::size_t i = 0;
    while (1u << i < bytes)
        i++;
    return types[i];
}

// The body of a function that yields a field's offset in blocks of the classes that have it:
// `begin` and, for arrays, `objects`.
std::string place_of(const Schema::Layout &layout, Schema::Range range,
                     const Schema::Column &column)
{
    const Schema::Concrete &first = layout.classes[range.first];
    bool alike = true;
    std::string begins, objects;
    for (std::uint32_t i = range.first; i <= range.last; i++) {
        const Schema::Concrete &cls = layout.classes[i];
        const std::uint32_t begin = find(cls, column.name)->begin;
        alike = alike && begin == find(first, column.name)->begin &&
                (!column.is_array || cls.objects == first.objects);
        const std::string condition = i < range.last
                                          ? say("type == ", number_of(layout, i), " + 1 ? ")
                                          : "",
                          rest = i < range.last ? " : " : "";
        begins += say(condition, begin, "u", rest);
        objects += say(condition, cls.objects, "u", rest);
    }
    std::string text = alike ? "" : "    const uint type = kma_world_type_of_living(w, self);\n";
    text +=
        say("    const uint begin = ", alike ? say(find(first, column.name)->begin, "u") : begins,
            ";\n");
    if (column.is_array)
        text += say("    const uint objects = ", alike ? say(first.objects, "u") : objects, ";\n");
    return text;
}

std::string field_text(const std::string &cls, const Schema::Layout &layout, Schema::Range range,
                       const Schema::Column &column)
{
    const auto fill = [&](std::string_view text) {
        return fill_template(
            text, {{"class", cls},
                   {"field", column.name},
                   {"type", pointee(column)},
                   {"target", column.target},
                   {"first", number_of(layout, range.first)},
                   {"last", number_of(layout, range.last)},
                   {"place", place_of(layout, range, column)},
                   {"element", column.is_array ? say(" + i * objects * ", column.bytes, "u") : ""},
                   {"bytes", say(column.bytes)},
                   {"i_parameter", column.is_array ? ", uint i" : ""},
                   {"i", column.is_array ? ", i" : ""}});
    };
    const bool is_plain = !column.type.starts_with("kma_atomic");
    return fill(field_template) + (is_plain           ? fill(value_template)
                                   : column.is_atomic ? fill(atomic_template)
                                                      : "");
}

std::string class_text(const std::string &cls, const Schema::Layout &layout, Schema::Range range,
                       bool is_abstract)
{
    const auto fill = [&](std::string_view text) {
        return fill_template(text, {{"class", cls},
                                    {"first", number_of(layout, range.first)},
                                    {"last", number_of(layout, range.last)}});
    };
    return say("\n// ", cls, "\n", is_abstract ? "" : fill(new_template),
               range.first >= range.last ? "" : fill(new_as_template),
               fill(range.first >= range.last ? delete_template : delete_derived_template),
               fill(class_template));
}

// The layout of blocks, as comments.
std::string outline(const Schema::Layout &layout)
{
    std::string text;
    for (const Schema::Concrete &cls : layout.classes) {
        text += say("// ", cls.name, ": ", cls.objects, " in a block of ", layout.block_bytes,
                    " bytes\n");
        for (const Schema::Column &column : cls.columns)
            text += say("//     at ", column.begin, ": ", column.is_atomic ? "atomic " : "",
                        column.target.empty() ? column.type : column.target, " ", column.name,
                        column.is_array ? say("[", column.elements, "]") : "", "\n");
    }
    return text;
}

// The statements that copy an object's fields.
std::string copy_text(const Schema::Concrete &cls)
{
    // bytes of the longest array that is copied in registers
    constexpr std::uint64_t longest_in_registers = 128;
    std::string loads, stores;
    for (std::uint32_t i = 0; i < cls.columns.size(); i++) {
        const Schema::Column &column = cls.columns[i];
        const std::map<std::string_view, std::string> values{
            {"unit", unit_of(column.bytes)},
            {"number", say(i)},
            {"begin", say(column.begin)},
            {"elements", say(column.elements)},
            {"step", say(cls.objects * column.bytes)},
            {"field", column.name}};
        if (column.elements * column.bytes > longest_in_registers) {
            stores += fill_template(copy_array_template, values);
            continue;
        }
        loads += fill_template(column.is_array ? load_array_template : load_template, values);
        stores += fill_template(column.is_array ? store_array_template : store_template, values);
    }
    return loads + stores;
}

} // namespace

// Throws Error if two names generated from classes and fields are the same.
void Schema::check_names() const
{
    std::set<std::string> names;
    const auto use = [&names](const std::string &name) {
        if (!names.insert(name).second)
            throw Error(say(
                "the name ", name,
                " would stand for two things in the schema's program; rename a field or a class"));
    };
    for (const Class &cls : classes_) {
        use(cls.name);
        for (const char *function :
             {"new", "new_many", "new_as", "delete", "is", "as", "for_each", "for_each_run"})
            use(cls.name + "_" + function);
        for (const Column &column : all_columns(cls)) {
            use(cls.name + "_" + column.name);
            use(cls.name + "_" + column.name + "_at");
            for (const char *function : {"_load", "_store", "_cas"})
                if (column.is_atomic)
                    use(cls.name + "_" + column.name + function);
        }
    }
}

// Generates the schema's constants.
std::string Schema::head(const Layout &made, std::uint32_t slots) const
{
    std::string numbers;
    for (std::uint32_t i = 0; i < made.classes.size(); i++)
        numbers += say("#define ", number_of(made, i), " ", i, "u\n");
    return fill_template(
        head_template,
        {{"outline", outline(made)},
         {"numbers", numbers},
         {"classes", say(made.classes.size())},
         {"block_bytes", say(made.block_bytes)},
         {"slots_of", by_class(made, [](const Concrete &cls) { return cls.objects; })},
         {"bytes_of", by_class(made, [](const Concrete &cls) { return cls.bytes; })},
         {"other", slots == 64 ? "== 0" : "!= 0"},
         {"slots", say(slots)}});
}

std::string Schema::accessors(std::uint32_t slots) const
{
    const Layout made = layout(slots);
    check_names();
    std::string text = head(made, slots);
    for (const Class &cls : classes_)
        text += say("typedef uint ", cls.name, ";\n");
    for (const Class &cls : classes_) {
        const Range its = range(cls.name);
        if (its.first > its.last)
            continue;
        text += class_text(cls.name, made, its, cls.is_abstract);
        for (const Column &column : all_columns(cls))
            text += field_text(cls.name, made, its, column);
    }
    return text;
}

std::string Schema::visitors(std::uint32_t slots) const
{
    const Layout made = layout(slots);
    std::string functions, visit_cases, copy_cases;
    for (std::uint32_t c = 0; c < made.classes.size(); c++) {
        const Concrete &cls = made.classes[c];
        std::string fields;
        for (std::uint32_t i = 0; i < cls.columns.size(); i++) {
            const Column &column = cls.columns[i];
            if (column.target.empty())
                continue;
            const Range to = range(column.target);
            fields += fill_template(visit_field_template, {{"number", say(i)},
                                                           {"begin", say(column.begin)},
                                                           {"elements", say(column.elements)},
                                                           {"objects", say(cls.objects)},
                                                           {"first", say(to.first)},
                                                           {"last", say(to.last)},
                                                           {"field", column.name}});
        }
        functions +=
            fill_template(visitor_template,
                          {{"class", cls.name}, {"fields", fields}, {"copies", copy_text(cls)}});
        const auto fill_case = [&](const std::string &call) {
            return fill_template(
                case_template,
                {{"number", number_of(made, c)}, {"class", cls.name}, {"call", call}});
        };
        visit_cases += fields.empty() ? "" : fill_case("visit(w, visit, self)");
        copy_cases += fill_case("copy(w, from, to)");
    }
    return head(made, slots) + fill_template(visitors_template, {{"functions", functions},
                                                                 {"visit_cases", visit_cases},
                                                                 {"copy_cases", copy_cases}});
}

std::string Schema::kernels() const
{
    std::string text = "#include \"kma/objects/world_kernels.cl\"\n";
    for (const Launch &launch : launches_) {
        std::string arguments, spans, objects;
        for (const std::string &name : launch.names)
            arguments += ", " + name;
        const Range its = range(launch.cls);
        const std::uint32_t last = launch.options.subclasses ? its.last : its.first;
        for (std::uint32_t i = its.first; i <= last && its.first <= its.last; i++) {
            const bool is_first = i == its.first;
            const std::map<std::string_view, std::string> values{
                {"i", say(i)},
                {"before", is_first ? "0" : say("kma_span_", i - 1, ".kma_end")},
                {"else", is_first ? "" : "else "}};
            spans += fill_template(span_template, values);
            objects += fill_template(object_template, values);
        }
        const std::string_view loop = launch.is_new      ? new_loop_template
                                      : spans.empty()     ? "" // a class without subclasses
                                      : its.first == last ? one_loop_template
                                                          : do_loop_template;
        const std::string loops = fill_template(loop, {{"class", launch.cls},
                                                       {"function", launch.function},
                                                       {"arguments", arguments},
                                                       {"spans", spans},
                                                       {"objects", objects},
                                                       {"last", say(last)}});
        const std::string parameters = launch.names.empty() ? "" : ", " + launch.parameters;
        text += fill_template(kernel_template,
                              {{"kernel", launch.kernel_name()},
                               {"parameters", (launch.is_new ? ", uint kma_n" : "") + parameters},
                               {"loops", loops}});
    }
    return text;
}

} // namespace kma
