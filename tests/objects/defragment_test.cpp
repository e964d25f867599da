// Defragmentation: each object is there afterwards, with its fields, and whatever referred to it
// does.
#include <algorithm>
#include <cmath>

#include "heap/common/layout.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

// Fields of all kinds, classes of many, few and one object in a block.
const Town common_town{
    {"uint number", "Thing friend"},
    {{"Small", "Thing", {"uchar tag"}},
     {"Large", "Thing", {"float3 place", "atomic Thing others[3]", "ulong weights[5]"}},
     {"Larger",
      "Large",
      {"atomic Small pet", "ushort odd[7]", "double2 pair", "kma_atomic_u32 sum"}},
     {"Huge", "Thing", {"float16 much[30]", "Huge next[4]"}}}};

// The largest fragmentation of a class: as it is, and as small as it can be.
std::pair<double, double> worst_and_least(const kma::World &world)
{
    double worst = 0, least = 0;
    const kma::WorldStats stats = world.stats();
    for (std::size_t i = 0; i < stats.classes.size(); i++) {
        worst = std::max(worst, stats.classes[i].fragmentation());
        const std::uint64_t objects = stats.classes[i].objects;
        const std::uint64_t slots = world.layout().classes[i].objects;
        const std::uint64_t needed = (objects + slots - 1) / slots * slots;
        if (needed != 0)
            least = std::max(least, 1 - double(objects) / double(needed));
    }
    return {worst, least};
}

void check_defragmentation(Subject &subject, double fragmentation)
{
    kma::World &world = subject.world();
    const kma::WorldRoot root = world.root(subject.table().buffer(), "Thing");
    REQUIRE(world.check(true) == nothing);
    const Image before = subject.image();
    const kma::WorldStats stats = world.stats();
    const std::string errors = world.error_text(); // objects for which there was no room
    const kma::Defragmentation done = world.defragment("Thing", {.fragmentation = fragmentation});
    CHECK(world.check(true) == nothing);
    CHECK(world.error_text() == errors);
    for (const kma::ErrorCode code :
         {kma::ErrorCode::double_free, kma::ErrorCode::invalid_free, kma::ErrorCode::damaged})
        CHECK(world.error_count(code) == 0);
    CHECK((subject.image() == before));
    const auto [worst, least] = worst_and_least(world);
    CHECK(worst <= std::max(fragmentation, least) + 1e-9);
    CHECK(world.stats().free_blocks == stats.free_blocks + done.blocks);
    CHECK(done.after <= done.before);
}

} // namespace

// tests/host has the plans of small worlds.
TEST_CASE("a plan of a large world keeps the fullest blocks, as few as asked", "[defragment]")
{
    using namespace kma::layout;
    std::mt19937 random(7);
    for (int round = 0; round < 10000; round++) {
        const std::uint32_t slots = 1 + random() % 64;
        std::vector<std::uint32_t> fills(KMA_DEFRAGMENT_FILLS, 0);
        for (std::uint32_t n = 1; n <= slots; n++)
            fills[n] = random() % 3 == 0 ? random() % (1 << 19) : 0;
        const auto share = std::uint32_t(random() % 3 == 0 ? random() % KMA_DEFRAGMENT_SHARE : 0);
        const kma_defragment_plan plan =
            kma_defragment_plan_of(fills.data(), slots, {share, 0, ~0u});
        std::uint64_t blocks = 0, objects = 0, moved = 0, sources = 0;
        for (std::uint32_t n = 1; n <= slots; n++) {
            const std::uint32_t emptied = n < plan.limit    ? fills[n]
                                          : n == plan.limit ? plan.extra
                                                            : 0;
            blocks += fills[n];
            objects += std::uint64_t{n} * fills[n];
            sources += emptied;
            moved += std::uint64_t{n} * emptied;
        }
        const auto empty = [&](std::uint64_t of) {
            return of == 0 ? 0 : 1 - double(objects) / (double(of) * slots);
        };
        REQUIRE(std::abs(plan.before - empty(blocks) * 1e6) <= 1);
        REQUIRE(std::abs(plan.after - empty(blocks - sources) * 1e6) <= 1);
        REQUIRE(plan.sources == sources);
        REQUIRE(plan.objects == moved);
        REQUIRE((blocks - sources) * slots >= objects);
        REQUIRE(empty(blocks - sources) <=
                std::max(share / 1e6, empty((objects + slots - 1) / slots)) + 1e-9);
    }
}

TEST_CASE("a defragmented world has each object, its fields, and all references to it",
          "[defragment][long]")
{
    for (const Flavour &flavour : ways()) {
        Subject subject(common_town, 8 << 20, flavour.options);
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
    Subject subject(common_town, 8 << 20);
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
    Subject full(common_town,
                 kma::World::bytes_for(device(), common_town.schema(), {{"Huge", blocks}}));
    full.make(640); // as many as there is room for: lanes leave blocks half empty
    full.thin(30, 8);
    full.link_by_chance(9);
    REQUIRE(full.world().stats().free_blocks < blocks / 2);
    check_defragmentation(full, 0.05);
}

// For oclgrind, which sees each access.
TEST_CASE("a small world is defragmented", "[defragment][long]")
{
    const Town town{{"uint number", "Thing friend"},
                    {{"One", "Thing", {"ushort tags[3]"}}, {"Two", "Thing", {"atomic One one"}}}};
    Subject subject(town,
                    kma::World::bytes_for(device(), town.schema(), {{"One", 300}, {"Two", 300}}));
    subject.fill(150, 70, 5);
    check_defragmentation(subject, 0);
}

TEST_CASE("a defragmentation moves as many objects as it may, and the next one goes on",
          "[defragment]")
{
    Subject subject(common_town, 8 << 20);
    subject.fill(640, 60, 4);
    const auto before = subject.image().objects;
    std::uint32_t calls = 0;
    for (std::uint64_t moved = 1; moved != 0; calls++) {
        moved = subject.world().defragment("Small", {.fragmentation = 0.1, .objects = 40}).objects;
        CHECK(moved <= 40);
        CHECK(subject.world().check(true) == nothing);
        REQUIRE(calls < 100);
    }
    CHECK(calls > 2);
    CHECK((subject.image().objects == before));
    CHECK(subject.world().stats().classes[0].fragmentation() <= 0.1 + 64.0 / 256);
}

TEST_CASE("check tells of references to what is no object", "[defragment]")
{
    Subject subject(common_town, 8 << 20);
    kma::World &world = subject.world();
    subject.fill(64, 0, 4);
    const cl::Buffer table = subject.table().buffer();
    {
        const kma::WorldRoot root = world.root(table, "Thing", 64, 64);
        CHECK(world.check(true) == nothing);
        subject.thin(40, 1);
        CHECK(world.check() == nothing);
        const std::vector<std::string> wrong = world.check(true);
        const auto has = [&](const std::string &part, const std::string &end) {
            return std::ranges::any_of(wrong, [&](const std::string &one) {
                return one.find(part) != one.npos && one.ends_with(end);
            });
        };
        CHECK((has(".friend of object ", ", which is no object of class Thing") ||
               has(".others[", ", which is no object of class Thing") ||
               has(".next[", ", which is no object of class Huge") ||
               has(".pet of object ", ", which is no object of class Small")));
        const cl_uint first = subject.table().read()[64];
        const kma::WorldSnapshot there = world.snapshot("Thing", {"number"});
        CHECK(has("reference ", " of a root is " + std::to_string(first) +
                                    ", which is no object of class Thing") ==
              (there.row(first) == there.size()));
        CHECK(has("there are ", " more references in fields"));
    }
    CHECK(std::ranges::none_of(
        world.check(true), [](const std::string &one) { return one.find("root") != one.npos; }));
    CHECK_THROWS_WITH(world.root(table, "Thing", subject.count() + 1, 1),
                      contains("the buffer has"));
    CHECK_THROWS_WITH(world.root(table, "Nobody"), contains("no class \"Nobody\""));
    CHECK_THROWS_WITH(world.defragment("Thing", {.fragmentation = 1.5}), contains("is no share"));
    CHECK_THROWS_WITH(world.defragment_when(0), contains("give a share above 0"));
}

TEST_CASE("a world defragments itself before do-alls", "[defragment]")
{
    Subject subject(common_town, 8 << 20);
    subject.fill(1280, 0, 4);
    subject.world().defragment_when(0.5, {"Small"});
    for (cl_uint round = 0; round < 12; round++)
        subject.thin(10, round);
    for (int round = 0; round < 40; round++) {
        subject.world().changed();
        subject.world().parallel_do("Thing", "idle");
        device().queue().finish();
    }
    const kma::WorldStats stats = subject.world().stats();
    REQUIRE(stats.classes[0].objects > 64);
    CHECK(stats.classes[0].fragmentation() <= 0.5);
    CHECK(stats.classes[1].fragmentation() > 0.5);
    CHECK(subject.world().check() == nothing);
    subject.world().defragment_when(1);
}

TEST_CASE("random schemas and worlds are defragmented", "[defragment][long]")
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
        Town town{{"uint number"}, {}, std::uint32_t(random() % 2 * (random() % 8192))};
        const unsigned classes = 1 + random() % 5;
        const auto name = [](unsigned i) { return "C" + std::to_string(i); };
        for (unsigned i = 0; i < classes; i++) {
            const unsigned base = random() % (i + 1);
            Class cls{name(i), base == i ? "Thing" : name(base), {}};
            for (unsigned f = random() % 6; f != 0; f--) {
                const bool is_reference = random() % 2 == 0;
                std::string text =
                    is_reference ? (random() % 2 ? "atomic " : "") +
                                       (random() % 4 == 0 ? "Thing" : name(random() % classes))
                                 : types[random() % types.size()];
                text += " f" + std::to_string(i) + "_" + std::to_string(f);
                if (random() % 3 == 0)
                    text += "[" + std::to_string(1 + random() % 6) + "]";
                cls.fields.push_back(text);
            }
            town.classes.push_back(cls);
        }
        Subject subject(town, 4 << 20, flavours()[random() % flavours().size()].options);
        for (unsigned fill = 0; fill < fills; fill++) {
            INFO("seed " << seed + round << ", fill " << fill << ":\n" << town.program());
            subject.world().reset();
            subject.fill(1 + random() % 400, random() % 101, random());
            check_defragmentation(subject, static_cast<double>(random() % 100) / 100);
        }
    }
}
