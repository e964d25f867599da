// Defragmentation: each object is there afterwards, with its fields, and whatever referred to it
// does. Each object has a number of its own, by which the host knows it before and after.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "catch.hpp"
#include "heap/common/layout.hpp"
#include "support.hpp"

using namespace test;

namespace {

constexpr std::uint32_t group_size = 64; // PoCL compiles a kernel for each size of groups

struct Field {
    std::string text, name, type;
    std::uint32_t elements = 1;
    bool is_array = false;
    std::string target = ""; // of a reference
};

struct Class {
    std::string name, base;
    std::vector<Field> fields;
};

// Classes whose fields all are stamped by an object's number, and the program that does so.
struct Town {
    std::vector<Class> classes;
    std::uint32_t block_bytes = 0;

    std::vector<Field> fields_of(const std::string &cls) const
    {
        const auto its = std::ranges::find(classes, cls, &Class::name);
        std::vector<Field> all = its->base.empty() ? std::vector<Field>{} : fields_of(its->base);
        std::ranges::copy(its->fields, std::back_inserter(all));
        return all;
    }

    bool is_a(const std::string &cls, const std::string &base) const
    {
        return cls == base ||
               (cls != "Thing" && is_a(std::ranges::find(classes, cls, &Class::name)->base, base));
    }

    kma::Schema schema() const
    {
        const std::vector<std::string> none;
        kma::Schema made;
        for (const Class &cls : classes) {
            std::vector<std::string> fields;
            for (const Field &field : cls.fields)
                fields.push_back(field.text);
            cls.name == "Thing" ? made.add_abstract(cls.name, fields)
                                : made.add(cls.name, fields, cls.base);
        }
        for (const Class &cls : classes)
            if (cls.name != "Thing") {
                made.parallel_new(cls.name, cls.name + "_begin", "uint first");
                made.do_all(cls.name, cls.name + "_link",
                            "global const uint *table, uint count, uint seed", {none, none, false});
            }
        made.do_all("Thing", "thin", "uint seed, uint percent")
            .do_all("Thing", "tell", "global uint *table", {none, none});
        made.do_all("Thing", "nothing", "", {none, none});
        return made.block_bytes(block_bytes);
    }

    std::string program() const
    {
        std::string text = R"(
static inline void thin(global kma_world *w, uint self, uint seed, uint percent)
{
    if (kma_mix32(Thing_number(w, self) * 31u + seed) % 100u < percent)
        Thing_delete(w, self);
}
static inline void tell(global kma_world *w, uint self, global uint *table)
{
    table[Thing_number(w, self)] = self;
}
static inline void nothing(global kma_world *w, uint self) {}
static inline uchar stamp_of(uint number, uint field, uint i, uint byte)
{
    return (uchar)kma_mix32(number * 65537u + field * 4099u + i * 257u + byte);
}
)";
        for (const Class &cls : classes) {
            if (cls.name == "Thing")
                continue;
            std::string begin, link;
            const std::vector<Field> fields = fields_of(cls.name);
            for (std::size_t f = 0; f < fields.size(); f++) {
                const Field &field = fields[f];
                const std::string at =
                    cls.name + "_" + field.name + "_at(w, self" + (field.is_array ? ", i)" : ")");
                const std::string loop =
                    "    for (uint i = 0; i < " + std::to_string(field.elements) + "u; i++)\n";
                if (field.name == "number")
                    continue;
                if (field.target.empty())
                    begin += loop + "        for (uint b = 0; b < sizeof(*" + at +
                             "); b++)\n            ((global uchar *)" + at +
                             ")[b] = stamp_of(number, " + std::to_string(f) + "u, i, b);\n";
                else {
                    begin += loop + "        *(global uint *)" + at + " = 0;\n";
                    link += loop + "        *(global uint *)" + at + " = " + field.target +
                            "_as(w, table[kma_mix32(number * 7u + " + std::to_string(f) +
                            "u + i * 131u + seed) % count]);\n";
                }
            }
            text += "static inline void " + cls.name +
                    "_begin(global kma_world *w, uint self, uint index, uint first)\n{\n    const "
                    "uint number = first + index;\n    Thing_number(w, self) = number;\n" +
                    begin + "}\nstatic inline void " + cls.name +
                    "_link(global kma_world *w, uint self, global const uint *table, uint count, "
                    "uint seed)\n{\n    const uint number = Thing_number(w, self);\n" +
                    link + "}\n";
        }
        return text;
    }
};

Field field(const std::string &type, const std::string &name, std::uint32_t elements = 0,
            bool is_reference = false)
{
    const std::string plain = type.starts_with("atomic ") ? type.substr(7) : type;
    return {type + " " + name + (elements != 0 ? "[" + std::to_string(elements) + "]" : ""),
            name,
            type,
            std::max(elements, 1u),
            elements != 0,
            is_reference ? plain : ""};
}

// Fields of all kinds, classes of many, few and one object in a block.
Town common_town()
{
    return {{{"Thing", "", {field("uint", "number"), field("Thing", "friend", 0, true)}},
             {"Small", "Thing", {field("uchar", "tag")}},
             {"Large",
              "Thing",
              {field("float3", "place"), field("atomic Thing", "others", 3, true),
               field("ulong", "weights", 5)}},
             {"Larger",
              "Large",
              {field("atomic Small", "pet", 0, true), field("ushort", "odd", 7),
               field("double2", "pair"), field("kma_atomic_u32", "sum")}},
             {"Huge", "Thing", {field("float16", "much", 30), field("Huge", "next", 4, true)}}},
            0};
}

template <std::size_t bytes>
std::vector<std::vector<unsigned char>> values(const kma::WorldSnapshot &snapshot,
                                               const Field &field)
{
    using Value = std::array<unsigned char, bytes>;
    std::vector<std::vector<unsigned char>> rows(snapshot.size());
    const std::vector<Value> column = snapshot.column<Value>(field.name);
    for (std::size_t i = 0; i < column.size(); i++)
        rows[i / field.elements].insert(rows[i / field.elements].end(), column[i].begin(),
                                        column[i].end());
    return rows;
}

std::vector<std::vector<unsigned char>> values(const kma::WorldSnapshot &snapshot,
                                               const Field &field, std::uint32_t bytes)
{
    switch (bytes) {
    case 1:
        return values<1>(snapshot, field);
    case 2:
        return values<2>(snapshot, field);
    case 4:
        return values<4>(snapshot, field);
    case 8:
        return values<8>(snapshot, field);
    case 16:
        return values<16>(snapshot, field);
    case 32:
        return values<32>(snapshot, field);
    case 64:
        return values<64>(snapshot, field);
    default:
        return values<128>(snapshot, field);
    }
}

// All that a world holds, with numbers of objects in place of references.
using Image = std::map<cl_uint, std::map<std::string, std::vector<unsigned char>>>;

class Subject {
public:
    Subject(const Town &town, const Flavour &flavour, std::uint64_t bytes, int debug = 0)
        : town_(town), world_(make(town, flavour, bytes, debug))
    {
    }

    kma::World &world() { return world_; }

    // Makes `each` objects of each class, deletes of a hundred `percent`, and lets those that are
    // left refer to one another.
    void fill(cl_uint each, cl_uint percent, cl_uint seed)
    {
        count_ = 0;
        for (const Class &cls : town_.classes)
            if (cls.name != "Thing") {
                world_.parallel_new(cls.name, each, cls.name + "_begin", count_);
                count_ += each;
            }
        thin(percent, seed);
        link(seed);
    }

    void thin(cl_uint percent, cl_uint seed) { world_.parallel_do("Thing", "thin", seed, percent); }

    // Lets all refer to one another.
    void link(cl_uint seed)
    {
        table_.emplace(std::vector<cl_uint>(std::max<std::size_t>(count_, 1), 0));
        world_.parallel_do("Thing", "tell", table_->buffer());
        for (const Class &cls : town_.classes)
            if (cls.name != "Thing")
                world_.parallel_do(cls.name, cls.name + "_link", table_->buffer(),
                                   std::max(count_, 1u), seed);
    }

    const Array<cl_uint> &table() const { return *table_; }

    // Throws if a reference is to no object.
    Image image() const
    {
        std::map<cl_uint, cl_uint> numbers{{0, ~0u}}; // by reference
        const kma::WorldSnapshot all = world_.snapshot("Thing", {"number"});
        const std::vector<cl_uint> of_all = all.column<cl_uint>("number");
        for (std::size_t row = 0; row < all.size(); row++)
            numbers[all.references()[row]] = of_all[row];
        Image made;
        for (const Class &cls : town_.classes) {
            if (cls.name == "Thing")
                continue;
            const kma::WorldSnapshot snapshot = world_.snapshot(cls.name);
            const std::vector<cl_uint> number = snapshot.column<cl_uint>("number");
            const std::vector<kma::Schema::Column> columns = world_.schema().columns(cls.name);
            for (const Field &field : town_.fields_of(cls.name)) {
                const auto rows = values(
                    snapshot, field,
                    std::ranges::find(columns, field.name, &kma::Schema::Column::name)->bytes);
                for (std::size_t row = 0; row < rows.size(); row++) {
                    std::vector<unsigned char> value = rows[row];
                    for (std::size_t at = 0; !field.target.empty() && at < value.size();
                         at += sizeof(cl_uint)) {
                        cl_uint reference;
                        std::memcpy(&reference, &value[at], sizeof reference);
                        std::memcpy(&value[at], &numbers.at(reference), sizeof reference);
                    }
                    made[number[row]][cls.name + "." + field.name] = value; // of subclasses twice
                }
            }
        }
        for (const cl_uint reference : table_ ? table_->read() : std::vector<cl_uint>{})
            in_table_.push_back(numbers.count(reference) ? numbers.at(reference) : ~1u);
        return made;
    }

    // What image() found in the table, by numbers; and forgets it.
    std::vector<cl_uint> in_table() const { return std::exchange(in_table_, {}); }

private:
    static kma::World make(const Town &town, const Flavour &flavour, std::uint64_t bytes, int debug)
    {
        kma::WorldOptions options;
        options.work_group = group_size;
        options.program.options = flavour.options;
        options.program.debug = debug;
        return kma::World(device(), town.schema(), {{"town.cl", town.program()}}, bytes, options);
    }

    Town town_;
    kma::World world_;
    std::optional<Array<cl_uint>> table_; // references by number
    cl_uint count_ = 0;
    mutable std::vector<cl_uint> in_table_;
};

double worst(const kma::World &world)
{
    double worst = 0;
    for (const kma::ClassStats &cls : world.stats().classes)
        worst = std::max(worst, cls.fragmentation());
    return worst;
}

// The least fragmentation that there can be, of the class for which that is the largest.
double least(const kma::World &world)
{
    double worst = 0;
    for (std::size_t i = 0; i < world.layout().classes.size(); i++) {
        const std::uint64_t objects = world.stats().classes[i].objects,
                            slots = world.layout().classes[i].objects;
        const std::uint64_t blocks = (objects + slots - 1) / slots;
        if (blocks != 0)
            worst = std::max(worst, 1 - static_cast<double>(objects) /
                                            static_cast<double>(blocks * slots));
    }
    return worst;
}

void check_defragmentation(Subject &subject, double fragmentation)
{
    const kma::WorldRoot root = subject.world().root(subject.table().buffer(), "Thing");
    REQUIRE(subject.world().check(true) == std::vector<std::string>{});
    const Image before = subject.image();
    const std::vector<cl_uint> in_table = subject.in_table();
    const kma::WorldStats stats = subject.world().stats();
    const std::string errors = subject.world().error_text(); // objects for which there was no room
    const kma::Defragmentation done =
        subject.world().defragment("Thing", {.fragmentation = fragmentation});
    CHECK(subject.world().check(true) == std::vector<std::string>{});
    CHECK(subject.world().error_text() == errors);
    for (const kma::ErrorCode code :
         {kma::ErrorCode::double_free, kma::ErrorCode::invalid_free, kma::ErrorCode::damaged})
        CHECK(subject.world().error_count(code) == 0);
    CHECK(subject.image() == before);
    CHECK(subject.in_table() == in_table);
    CHECK(worst(subject.world()) <= std::max(fragmentation, least(subject.world())) + 1e-9);
    CHECK(subject.world().stats().free_blocks == stats.free_blocks + done.blocks);
    CHECK(done.after <= done.before);
}

} // namespace

TEST_CASE("a plan keeps the fullest blocks, as few as asked, with room for all objects",
          "[defragment]")
{
    using namespace kma::layout;
    std::mt19937 random(7);
    for (int round = 0; round < 20000; round++) {
        const std::uint32_t slots = 1 + static_cast<std::uint32_t>(random() % 64),
                            most = round % 2 ? 100 : 1 << 19;
        std::vector<std::uint32_t> fills(KMA_DEFRAGMENT_FILLS, 0);
        for (std::uint32_t n = 1; n <= slots; n++)
            fills[n] = random() % 3 == 0 ? static_cast<std::uint32_t>(random() % most) : 0;
        const kma_defragment_order order{
            random() % 3 == 0 ? static_cast<std::uint32_t>(random() % KMA_DEFRAGMENT_SHARE) : 0,
            static_cast<std::uint32_t>(random() % 11) * (KMA_DEFRAGMENT_SHARE / 10),
            random() % 3 == 0 ? static_cast<std::uint32_t>(random() % 500) : ~0u};
        const kma_defragment_plan plan = kma_defragment_plan_of(fills.data(), slots, order);
        std::uint64_t blocks = 0, objects = 0, moved = 0, sources = 0, targets = 0, room = 0;
        for (std::uint32_t n = 1; n <= slots; n++) {
            const std::uint32_t emptied = n < plan.limit    ? fills[n]
                                          : n == plan.limit ? plan.extra
                                                            : 0;
            blocks += fills[n];
            objects += std::uint64_t{n} * fills[n];
            sources += emptied;
            moved += std::uint64_t{n} * emptied;
            targets += n < slots ? fills[n] - emptied : 0;
            room += std::uint64_t{slots - n} * (fills[n] - emptied);
        }
        const auto empty = [&](std::uint64_t of) {
            return of == 0 ? 0
                           : 1 - static_cast<double>(objects) / (static_cast<double>(of) * slots);
        };
        const double share = order.share / 1e6,
                     least = std::max(share, empty((objects + slots - 1) / slots));
        REQUIRE(std::abs(plan.before - empty(blocks) * 1e6) <= 1);
        REQUIRE(std::abs(plan.after - empty(blocks - sources) * 1e6) <= 1);
        REQUIRE(plan.sources == sources);
        REQUIRE(plan.objects == moved);
        REQUIRE(moved <= room);
        REQUIRE(moved <= order.objects);
        if (sources != 0)
            REQUIRE(plan.targets == targets);
        if (order.objects > objects && plan.before > order.worse)
            REQUIRE(empty(blocks - sources) <= least + 1e-9);
        if (share == 1 || fills[slots] == blocks || plan.before <= order.worse)
            REQUIRE(sources == 0);
    }
}

TEST_CASE("a defragmented world has each object, its fields, and all references to it",
          "[defragment]")
{
    Flavours ways = flavours();
    if (first_flavour_only())
        ways.resize(1);
    for (const Flavour &flavour : ways) {
        Subject subject(common_town(), flavour, 8 << 20);
        cl_uint seed = 0;
        for (const cl_uint percent : {0, 10, 50, 90, 100})
            for (cl_uint n = 1; n <= 10; n += n >= 2 && n < 10 && percent != 50 ? 8 : 1) {
                INFO(flavour.name << ", " << percent << " % deleted, n = " << n);
                subject.world().reset();
                subject.fill(scaled(700, 300), percent, ++seed);
                CHECK(subject.world().error_text() == ""); // there is room
                check_defragmentation(subject, percent == 50 && n == 10 ? 0 : 1.0 / (n + 1));
            }
    }
}

TEST_CASE("worlds of one block, empty ones and full ones are defragmented", "[defragment]")
{
    Subject subject(common_town(), flavours()[0], 8 << 20);
    CHECK(subject.world().defragment("Thing").objects == 0);
    for (const cl_uint each : {0u, 1u, 2u, 33u}) {
        INFO(each << " of each class");
        subject.world().reset();
        subject.fill(each, each == 33 ? 60 : 0, each);
        check_defragmentation(subject, 0);
    }
    std::uint64_t blocks = 0;
    for (const kma::Schema::Concrete &cls : subject.world().layout().classes)
        blocks += (640 + cls.objects - 1) / cls.objects;
    Subject full(common_town(), flavours()[0],
                 kma::World::bytes_for(device(), common_town().schema(), {{"Huge", blocks}}));
    full.fill(640, 0, 3); // as many as there is room for: lanes leave blocks half empty
    full.thin(30, 8);
    full.link(9);
    REQUIRE(full.world().stats().free_blocks < blocks / 2);
    check_defragmentation(full, 0.05);
}

// For oclgrind, which sees each access.
TEST_CASE("a small world is defragmented", "[defragment]")
{
    const Town town{{{"Thing", "", {field("uint", "number"), field("Thing", "friend", 0, true)}},
                     {"One", "Thing", {field("ushort", "tags", 3)}},
                     {"Two", "Thing", {field("atomic One", "one", 0, true)}}},
                    0};
    Subject subject(town, flavours()[0],
                    kma::World::bytes_for(device(), town.schema(), {{"One", 300}, {"Two", 300}}));
    subject.fill(150, 70, 5);
    check_defragmentation(subject, 0);
}

TEST_CASE("a defragmentation moves as many objects as it may, and the next one goes on",
          "[defragment]")
{
    Subject subject(common_town(), flavours()[0], 8 << 20);
    subject.fill(640, 60, 4);
    const Image before = subject.image();
    std::uint32_t calls = 0;
    for (std::uint64_t moved = 1; moved != 0; calls++) {
        const kma::Defragmentation done =
            subject.world().defragment("Small", {.fragmentation = 0.1, .objects = 40});
        moved = done.objects;
        CHECK(moved <= 40);
        CHECK(subject.world().check(true) == std::vector<std::string>{});
        REQUIRE(calls < 100);
    }
    CHECK(calls > 2);
    CHECK(subject.image() == before);
    CHECK(subject.world().stats().classes[0].fragmentation() <= 0.1 + 64.0 / 256);
}

TEST_CASE("check tells of references to what is no object", "[defragment]")
{
    Subject subject(common_town(), flavours()[0], 8 << 20);
    subject.fill(64, 0, 4);
    const std::vector<cl_uint> table = subject.table().read();
    {
        const kma::WorldRoot root = subject.world().root(subject.table().buffer(), "Thing", 64, 64);
        CHECK(subject.world().check(true) == std::vector<std::string>{});
        subject.thin(40, 1);
        CHECK(subject.world().check() == std::vector<std::string>{});
        const std::vector<std::string> wrong = subject.world().check(true);
        const auto has = [&](const std::string &part, const std::string &end) {
            return std::ranges::any_of(wrong, [&](const std::string &one) {
                return one.find(part) != one.npos && one.ends_with(end);
            });
        };
        CHECK((has(".friend of object ", ", which is no object of class Thing") ||
               has(".others[", ", which is no object of class Thing") ||
               has(".next[", ", which is no object of class Huge") ||
               has(".pet of object ", ", which is no object of class Small")));
        CHECK(has("reference ", " of a root is " + std::to_string(table[64]) +
                                    ", which is no object of class Thing") ==
              (std::ranges::find(subject.world().snapshot("Thing", {"number"}).references(),
                                 table[64]) ==
               subject.world().snapshot("Thing", {"number"}).references().end()));
        CHECK(has("there are ", " more references in fields"));
    }
    CHECK(std::ranges::none_of(subject.world().check(true), [](const std::string &one) {
        return one.find("root") != one.npos;
    }));
    CHECK_THROWS_WITH(subject.world().root(subject.table().buffer(), "Thing", table.size(), 1),
                      contains("the buffer has"));
    CHECK_THROWS_WITH(subject.world().root(subject.table().buffer(), "Nobody"),
                      contains("no class \"Nobody\""));
    CHECK_THROWS_WITH(subject.world().defragment("Thing", {.fragmentation = 1.5}),
                      contains("is no share"));
    CHECK_THROWS_WITH(subject.world().defragment_when(0), contains("give a share above 0"));
}

TEST_CASE("a world defragments itself before do-alls", "[defragment]")
{
    Subject subject(common_town(), flavours()[0], 8 << 20);
    subject.fill(1280, 0, 4);
    subject.world().defragment_when(0.5, {"Small"});
    for (cl_uint round = 0; round < 12; round++)
        subject.thin(10, round);
    for (int round = 0; round < 40; round++) {
        subject.world().changed();
        subject.world().parallel_do("Thing", "nothing");
        device().queue().finish();
    }
    const kma::WorldStats stats = subject.world().stats();
    REQUIRE(stats.classes[0].objects > 64);
    CHECK(stats.classes[0].fragmentation() <= 0.5);
    CHECK(stats.classes[1].fragmentation() > 0.5);
    CHECK(subject.world().check() == std::vector<std::string>{});
    subject.world().defragment_when(1);
}

TEST_CASE("random schemas and worlds are defragmented", "[defragment]")
{
    static const std::vector<std::string> types = {"uchar",          "short3", "uint", "float",
                                                   "ulong",          "float4", "int8", "double16",
                                                   "kma_atomic_u32", "half"};
    const auto wanted = [](const char *name, unsigned otherwise) {
        const char *const text = std::getenv(name);
        return text ? static_cast<unsigned>(std::stoul(text)) : otherwise;
    };
    const unsigned schemas = wanted("KMA_TEST_SCHEMAS", 2), fills = wanted("KMA_TEST_FILLS", 3);
    const unsigned seed = wanted("KMA_TEST_SEED", 3);
    for (unsigned round = 0; round < schemas; round++) {
        std::mt19937 random(seed + round);
        Town town{{{"Thing", "", {field("uint", "number")}}},
                  static_cast<std::uint32_t>(random() % 2 * (random() % 8192))};
        const std::uint32_t classes = 1 + random() % 5;
        for (std::uint32_t i = 0; i < classes; i++) {
            Class cls{
                "C" + std::to_string(i), town.classes[random() % town.classes.size()].name, {}};
            for (std::uint32_t f = random() % 6; f != 0; f--) {
                const std::string name = "f" + std::to_string(i) + "_" + std::to_string(f);
                const std::uint32_t elements = random() % 3 == 0 ? 1 + random() % 6 : 0;
                const bool is_reference = random() % 2 == 0;
                const std::string target =
                    random() % 4 == 0 ? "Thing" : "C" + std::to_string(random() % classes);
                cls.fields.push_back(field(is_reference ? (random() % 2 ? "atomic " : "") + target
                                                        : types[random() % types.size()],
                                           name, elements, is_reference));
            }
            town.classes.push_back(cls);
        }
        Subject subject(town, flavours()[random() % flavours().size()], 4 << 20);
        for (unsigned fill = 0; fill < fills; fill++) {
            INFO("seed " << seed + round << ", fill " << fill << ":\n" << town.program());
            subject.world().reset();
            subject.fill(1 + random() % 400, random() % 101, random());
            check_defragmentation(subject, static_cast<double>(random() % 100) / 100);
        }
    }
}
