#include "worlds.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <regex>

namespace worlds {

Flavours ways()
{
    Flavours all = flavours();
    if (first_flavour_only())
        all.resize(1);
    return all;
}

kma::WorldOptions world_options(const std::string &build_options, int debug)
{
    return {.program = {.options = build_options, .debug = debug}, .work_group = group_size};
}

std::vector<Town::Field> Town::fields_of(const std::string &cls) const
{
    static const std::regex declaration(R"((?:atomic )?(\w+) (\w+)(?:\[(\d+)\])?)");
    const auto its = std::ranges::find(classes, cls, &Class::name);
    std::vector<Field> all = its == classes.end() ? std::vector<Field>{} : fields_of(its->base);
    for (const std::string &text : its == classes.end() ? of_all : its->fields) {
        std::smatch match;
        REQUIRE(std::regex_match(text, match, declaration));
        const std::string type = match[1];
        const bool is_array = match[3].matched;
        all.push_back({match[2], std::isupper(type[0]) ? type : "",
                       is_array ? cl_uint(std::stoul(match[3])) : 1, is_array});
    }
    return all;
}

kma::Schema Town::schema() const
{
    kma::Schema made;
    made.add_abstract("Thing", of_all);
    for (const Class &cls : classes)
        made.add(cls.name, cls.fields, cls.base);
    for (const Class &cls : classes)
        made.parallel_new(cls.name, cls.name + "_begin")
            .do_all(cls.name, cls.name + "_link", {nothing, nothing, false});
    made.do_all("Thing", "thin").do_all("Thing", "tell", {nothing, nothing});
    return made.do_all("Thing", "idle", {nothing, nothing}).block_bytes(block_bytes);
}

std::string Town::program() const
{
    std::string text = R"(
#define STAMP(at, field, count)                                                                   \
    for (uint i = 0; i < count; i++)                                                              \
        for (uint b = 0; b < sizeof(*at); b++)                                                    \
            ((global uchar *)at)[b] =                                                             \
                (uchar)kma_mix32(number * 65537u + field * 4099u + i * 257u + b);
#define REFER(at, target, count)                                                                  \
    for (uint i = 0; i < count; i++)                                                              \
        *(global uint *)at = edges ? target##_as(w, table[edges[edge++ % 8u]]) : 0;
static inline void thin(global kma_world *w, uint self, uint seed, uint percent)
{
    if (kma_mix32(Thing_number(w, self) * 31u + seed) % 100u < percent)
        Thing_delete(w, self);
}
static inline void tell(global kma_world *w, uint self, global uint *table)
{
    table[Thing_number(w, self)] = self;
}
static inline void idle(global kma_world *w, uint self) {}
)";
    for (const Class &cls : classes) {
        std::string begin, link;
        const std::vector<Field> fields = fields_of(cls.name);
        for (std::size_t f = 1; f < fields.size(); f++) { // behind the number
            const Field &field = fields[f];
            const std::string at =
                cls.name + "_" + field.name + "_at(w, self" + (field.is_array ? ", i), " : "), ");
            const std::string count = ", " + std::to_string(field.elements) + "u)\n";
            if (field.target.empty())
                begin += "STAMP(" + at + std::to_string(f) + "u" + count;
            else
                link += "REFER(" + at + field.target + count;
        }
        text += "static inline void " + cls.name + R"(_link(global kma_world *w, uint self,
    global const uint *table, global const uint *edges)
{
    uint edge = 0;
    edges = edges ? edges + Thing_number(w, self) * 8u : 0;
)" + link + "}\nstatic inline void " +
                cls.name + R"(_begin(global kma_world *w, uint self, uint index, uint first)
{
    const uint number = first + index;
    Thing_number(w, self) = number;
    )" + cls.name +
                "_link(w, self, 0, 0);\n" + begin + "}\n";
    }
    return text;
}

namespace {

// The bytes of a field of all objects.
template <std::size_t... sizes>
std::vector<unsigned char> bytes_of(const kma::WorldSnapshot &snapshot, const std::string &field,
                                    std::size_t bytes, std::index_sequence<sizes...>)
{
    std::vector<unsigned char> all;
    const auto read = [&]<std::size_t size>(std::integral_constant<std::size_t, size>) {
        if (size == bytes)
            for (const auto &one : snapshot.column<std::array<unsigned char, size>>(field))
                all.insert(all.end(), one.begin(), one.end());
    };
    (read(std::integral_constant<std::size_t, sizes>{}), ...);
    return all;
}

} // namespace

Subject::Subject(const Town &town, std::uint64_t bytes, const std::string &build_options)
    : town_(town), world_(device(), town.schema(), {{"town.cl", town.program()}}, bytes,
                          world_options(build_options))
{
}

void Subject::make(cl_uint each)
{
    count_ = 0;
    for (const Class &cls : town_.classes) {
        world_.parallel_new(cls.name, each, cls.name + "_begin", count_);
        count_ += each;
    }
}

void Subject::link(const std::vector<cl_uint> &edges)
{
    const Array<cl_uint> all(edges.empty() ? std::vector<cl_uint>(1) : edges);
    table_.emplace(count_ + 1, 0);
    world_.parallel_do("Thing", "tell", table_->buffer());
    for (const Class &cls : town_.classes)
        world_.parallel_do(cls.name, cls.name + "_link", table_->buffer(), all.buffer());
}

void Subject::link_by_chance(cl_uint seed)
{
    std::mt19937 random(seed);
    std::vector<cl_uint> edges(std::size_t{count_} * references);
    for (cl_uint &to : edges)
        to = random() % count_;
    link(edges);
}

void Subject::fill(cl_uint each, cl_uint percent, cl_uint seed)
{
    make(each);
    thin(percent, seed);
    link_by_chance(seed);
}

Image Subject::image() const
{
    std::map<cl_uint, cl_uint> numbers{{0, Image::none}}; // by reference
    const kma::WorldSnapshot all = world_.snapshot("Thing", {"number"});
    const std::vector<cl_uint> of_all = all.column<cl_uint>("number");
    for (std::size_t row = 0; row < all.size(); row++)
        numbers[all.references()[row]] = of_all[row];
    Image made;
    for (const Class &cls : town_.classes) {
        const kma::WorldSnapshot snapshot = world_.snapshot(cls.name);
        const std::vector<cl_uint> number = snapshot.column<cl_uint>("number");
        const std::vector<kma::Schema::Column> columns = world_.schema().columns(cls.name);
        for (const Town::Field &field : town_.fields_of(cls.name)) {
            const auto column = std::ranges::find(columns, field.name, &kma::Schema::Column::name);
            const std::size_t bytes = std::size_t{column->bytes} * field.elements;
            const auto values = bytes_of(snapshot, field.name, column->bytes,
                                         std::index_sequence<1, 2, 4, 8, 16, 32, 64, 128>{});
            REQUIRE(values.size() == bytes * number.size());
            for (std::size_t row = 0; row < number.size(); row++) {
                Image::Object &object = made.objects[number[row]];
                const auto begin = values.begin() + row * bytes, end = begin + bytes;
                if (field.target.empty())
                    object.fields[cls.name + "." + field.name].assign(begin, end);
                for (auto at = begin; !field.target.empty() && at != end; at += sizeof(cl_uint)) {
                    cl_uint reference;
                    std::memcpy(&reference, &*at, sizeof reference);
                    object.to.push_back(numbers.at(reference)); // of subclasses twice
                }
            }
        }
    }
    for (const cl_uint reference : table_ ? table_->read() : std::vector<cl_uint>{})
        made.table.push_back(numbers.count(reference) ? numbers.at(reference) : ~1u);
    return made;
}

} // namespace worlds
