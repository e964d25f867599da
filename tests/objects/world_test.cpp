// kma/objects: every creation gives an object that is nobody else's, do-alls meet each that was there exactly once, and what tells of blocks is
// right at rest.
#include <algorithm>
#include <cstdio>
#include <set>
#include <type_traits>
#include <utility>

#include "catch.hpp"
#include "own_names.hpp"
#include "support.hpp"

using namespace test;

namespace {

static_assert(!std::is_copy_constructible_v<kma::World>); // two would each count turns of one list
constexpr std::uint32_t group_size = 64; // PoCL compiles a kernel for each size of groups
const std::vector<std::string> nothing;
const kma::DoAllOptions any;

// The flavours of this run.
Flavours ways()
{
    Flavours all = flavours();
    if (first_flavour_only())
        all.resize(1);
    return all;
}

kma::Schema schema()
{
    kma::Schema schema;
    schema.add_abstract("Thing", {"uint owner", "uint number"});
    schema.add("Small", {}, "Thing");
    schema.add("Large", {"ulong weight", "float4 place[3]"}, "Thing");
    schema.add("Huge", {"uint more[40]", "Small friend"}, "Large");
    schema.parallel_new("Small", "init_small", "uint first").parallel_new("Large", "init_large").parallel_new("Huge", "init_huge");
    schema.do_all("Thing", "visit", "uint by", {nothing, nothing});
    schema.do_all("Large", "visit", "uint by", {nothing, nothing, false});
    schema.do_all("Small", "replace", "", {{{"Small"}}, nothing});
    schema.do_all("Small", "look_around", "global ulong *sums", {nothing, {{"Thing"}}});
    schema.do_all("Large", "thin", "", {{{"Large"}}, nothing});
    return schema;
}

kma::World world(const Flavour &flavour, std::uint64_t bytes, int debug = 0)
{
    kma::WorldOptions options;
    options.work_group = group_size;
    options.program.options = flavour.options;
    options.program.debug = debug;
    return kma::World(device(), schema(), {program_source("world.cl")}, bytes, options);
}

std::vector<std::string> sound(const kma::World &world)
{
    std::vector<std::string> wrong = world.check();
    for (const kma::ErrorCode code : {kma::ErrorCode::double_free, kma::ErrorCode::invalid_free, kma::ErrorCode::damaged})
        if (world.error_count(code) != 0)
            wrong.push_back(world.error_text());
    return wrong;
}

struct Counts {
    cl_uint created, deleted, refused, wrong;
};

Counts churn(kma::World &world, std::uint32_t items, cl_uint rounds, cl_uint seed, cl_uint classes)
{
    const Array<cl_uint> counts(4, 0);
    world.run("churn", items, any, rounds, seed, classes, counts.buffer());
    const std::vector<cl_uint> read = counts.read();
    return {read[0], read[1], read[2], read[3]};
}

} // namespace

TEST_CASE("objects of three classes come and go in a world with room, in all flavours", "[world]")
{
    std::printf("lanes that meet: %u\n", path().lanes_met);
    for (const Flavour &flavour : ways()) {
        INFO(flavour.name);
        kma::World w = world(flavour, 32 << 20);
        std::uint64_t alive = 0;
        for (cl_uint seed = 0; seed < 3; seed++) {
            const Counts counts = churn(w, 1024, static_cast<cl_uint>(scaled(60, 20)), seed, 3);
            alive += counts.created - counts.deleted;
            CHECK(counts.wrong == 0);
            CHECK(counts.refused == 0);
            CHECK(counts.deleted > 1000);
            CHECK(w.count("Thing") == alive);
            CHECK(sound(w) == nothing);
        }
        CHECK(w.count("Large") == w.stats().classes[1].objects + w.stats().classes[2].objects);
        CHECK(w.count("Huge") == w.stats().classes[2].objects);
        w.reset();
        CHECK(w.count("Thing") == 0);
        CHECK(w.stats().free_blocks == w.blocks());
    }
}

// Blocks change from class to class all the time.
TEST_CASE("objects come and go in a world that is nearly full", "[world]")
{
    for (const Flavour &flavour : widths()) {
        INFO(flavour.name);
        kma::World w = world(flavour, 400 << 10);
        std::uint64_t alive = 0, refused = 0;
        for (cl_uint seed = 0; seed < 6; seed++) {
            const Counts counts = churn(w, 1024, static_cast<cl_uint>(scaled(40, 20)), 100 + seed, 3);
            alive += counts.created - counts.deleted;
            refused += counts.refused;
            CHECK(counts.wrong == 0);
            CHECK(w.count("Thing") == alive);
            CHECK(w.error_count(kma::ErrorCode::out_of_memory) == refused);
            CHECK(sound(w) == nothing);
        }
        CHECK(refused > 0);
        CHECK(w.error_text().find("out of memory: an object was not created") != std::string::npos);
    }
}

TEST_CASE("ten million creations and deletions, counted", "[world][long]")
{
    kma::World w = world(ways().front(), 64 << 20);
    std::uint64_t created = 0, deleted = 0;
    for (cl_uint seed = 0; created + deleted < scaled(20'000'000, 100'000); seed++) {
        const Counts counts = churn(w, 4096, 500, 1000 + seed, 3);
        REQUIRE(counts.wrong == 0);
        REQUIRE(counts.refused == 0);
        created += counts.created;
        deleted += counts.deleted;
        REQUIRE(w.count("Thing") == created - deleted);
    }
    CHECK(sound(w) == nothing);
}

TEST_CASE("a world gives all its slots, one after the other gets one that is free, and a double deletion changes nothing", "[world]")
{
    for (const Flavour &flavour : widths()) {
        INFO(flavour.name);
        kma::World w = world(flavour, 300 << 10);
        for (cl_uint cls = 0; cls < 3; cls++) {
            w.reset();
            const std::uint32_t slots = w.blocks() * w.layout().classes[cls].objects;
            const std::uint32_t each = slots / 512 + 2;
            const Array<cl_uint> all(std::size_t{512} * each, 7);
            w.run("fill", 512, any, cls, cl_uint{each}, all.buffer());
            std::vector<cl_uint> references = all.read();
            std::erase(references, 0u);
            CHECK(references.size() == slots);
            CHECK(std::set(references.begin(), references.end()).size() == slots);
            CHECK(w.count("Thing") == slots);
            CHECK(w.stats().free_blocks == 0);
            CHECK(sound(w) == nothing);
            // One goes, and another comes, for whoever asks: of the same class.
            for (std::size_t i = 0; i < references.size(); i += references.size() / 7) {
                w.run("delete_one", 1, any, cls, references[i]);
                CHECK(w.count("Thing") == slots - 1);
                const Array<cl_uint> one(group_size, 7);
                w.run("fill", 1, any, cls, cl_uint{1}, one.buffer());
                const std::vector<cl_uint> got = one.read();
                CHECK(group_size - std::count(got.begin(), got.end(), 0u) == 1);
                CHECK(std::ranges::find(got, references[i]) != got.end());
            }
            w.clear_errors();
            // Not of that class, no object any more, no slot, no block.
            w.run("delete_one", 1, any, (cls + 1) % 3, references[0]);
            CHECK(w.error_count(kma::ErrorCode::invalid_free) == 1);
            w.run("delete_one", 1, any, cls, references[0]);
            w.run("delete_one", 1, any, cls, references[0]);
            CHECK(w.error_count(kma::ErrorCode::double_free) == 1);
            w.run("delete_one", 1, any, cls, cl_uint{(w.blocks() + 5) << 6});
            w.run("delete_one", 1, any, cls, cl_uint{0});
            CHECK(w.error_count(kma::ErrorCode::invalid_free) == 2);
            CHECK(w.error_text().find("double deletion") != std::string::npos);
            CHECK(w.count("Thing") == slots - 1);
            CHECK(w.check() == nothing);
        }
    }
}

TEST_CASE("a reference that is no object's is recorded, and nothing is written", "[world]")
{
    for (const int debug : {0, 1}) {
        INFO("KMA_DEBUG " << debug);
        kma::World w = world(ways().front(), 1 << 20, debug);
        w.parallel_new("Small", 70, "init_small", cl_uint{0});
        w.parallel_new("Huge", 5, "init_huge");
        const cl_uint gone = w.snapshot("Small").references()[3], first_beyond = (w.blocks() + 1) << 6, last_free = w.blocks() << 6;
        w.run("delete_one", 1, any, cl_uint{0}, gone);
        const Array<cl_uint> told(2, 7);
        for (const cl_uint wild : {1u, 5u, 63u, 64u + 63, gone, last_free, first_beyond, 0x7fffffffu, 0x80000000u, 0xffffffc0u, 0xffffffffu}) {
            INFO("reference " << wild);
            if (w.snapshot("Thing").row(wild) != w.count("Thing"))
                continue;
            w.clear_errors();
            w.run("use_wild", 1, any, wild, told.buffer());
            const bool is_in_a_block = wild >= 64 && wild < first_beyond; // whose class is told without KMA_DEBUG
            CHECK(((debug == 0 && is_in_a_block) || told.read() == std::vector<cl_uint>{0, 0}));
            const std::uint64_t twice = w.error_count(kma::ErrorCode::double_free), bad = w.error_count(kma::ErrorCode::invalid_free);
            CHECK(twice + bad == (debug == 0 ? 4 : 4 + 8 + 4));
            CHECK(w.error_text().find("reference " + std::to_string(wild) + ",") != std::string::npos);
            CHECK(w.check() == nothing);
            CHECK(w.count("Small") == 69);
            for (const cl_uint owner : w.snapshot("Thing").column<cl_uint>("owner"))
                CHECK(owner < 70);
            for (const cl_ulong weight : w.snapshot("Huge").column<cl_ulong>("weight"))
                CHECK((weight >= 1000 && weight < 1005));
        }
        w.clear_errors();
        w.run("use_wild", 1, any, cl_uint{0}, told.buffer()); // none: only fields need an object
        CHECK(told.read() == std::vector<cl_uint>{0, 0});
        CHECK(w.error_count(kma::ErrorCode::invalid_free) == (debug == 0 ? 0 : 4));
    }
}

TEST_CASE("a do-all meets each object that there was, once, and none that was created meanwhile", "[world]")
{
    for (const Flavour &flavour : ways()) {
        INFO(flavour.name);
        kma::World w = world(flavour, 8 << 20, 1);
        w.parallel_new("Small", 3000, "init_small", cl_uint{0});
        w.parallel_new("Large", 500, "init_large");
        w.parallel_new("Huge", 300, "init_huge");
        CHECK(w.count("Large") == 800);
        w.parallel_do("Thing", "visit", cl_uint{1});
        w.parallel_do("Large", "visit", cl_uint{10}); // no Huge
        const auto numbers_of = [&](const char *cls) {
            const std::vector<cl_uint> numbers = w.snapshot(cls, {"number"}).column<cl_uint>("number");
            return std::multiset<cl_uint>(numbers.begin(), numbers.end());
        };
        CHECK(numbers_of("Small").count(1) == 3000);
        CHECK(numbers_of("Large").count(11) == 500);
        CHECK(numbers_of("Large").count(1) == 300);
        CHECK(numbers_of("Huge").count(1) == 300);
        for (cl_uint round = 0; round < 3; round++) {
            w.parallel_do("Small", "replace");
            CHECK(w.count("Small") == 1500u << (round + 1)); // the even ones, and as many children, all even
            CHECK(sound(w) == nothing);
        }
        const kma::WorldSnapshot all = w.snapshot("Small");
        const auto owners = all.column<cl_uint>("owner"), numbers = all.column<cl_uint>("number");
        CHECK(all.size() == 12000);
        for (std::size_t i = 0; i < all.size(); i++) {
            REQUIRE((owners[i] & 1) == 0);
            // Of the first ones each was visited once and replaced three times; of the children each as often as there were rounds left.
            REQUIRE(((owners[i] >> 31) != 0 ? numbers[i] >= 100 && numbers[i] <= 102 : numbers[i] == 4));
            REQUIRE(all.row(all.references()[i]) == i);
        }
        CHECK(all.row(0) == all.size());
        CHECK(w.error_text() == "");
        kma::World moved = std::move(w); // with the do-alls that it has launched before
        moved.parallel_do("Thing", "visit", cl_uint{1});
        CHECK(moved.count("Small") == 12000);
        CHECK(sound(moved) == nothing);
    }
}

TEST_CASE("loops over all objects of a class and its subclasses", "[world]")
{
    for (const Flavour &flavour : ways()) {
        INFO(flavour.name);
        kma::World w = world(flavour, 8 << 20);
        const Array<cl_ulong> sums(7 * 10, 77);
        const auto all_saw = [&](const std::vector<cl_ulong> &what) {
            w.parallel_do("Small", "look_around", sums.buffer());
            const std::vector<cl_ulong> read = sums.read();
            for (std::size_t i = 0; i < 10; i++)
                CHECK(std::vector(read.begin() + 7 * i, read.begin() + 7 * i + 7) == what);
        };
        w.parallel_new("Small", 10, "init_small", cl_uint{0});
        all_saw({0, 0, 5, 0, 0, 0, 0});
        w.parallel_new("Large", 700, "init_large");
        w.parallel_new("Huge", 50, "init_huge");
        cl_ulong weights = 700 * 699 / 2 + 50 * 1000 + 50 * 49 / 2;
        all_saw({weights, 750, 5, 25, 50 * 49, weights, 750});
        w.parallel_do("Large", "thin");
        cl_ulong objects = 0, huge = 0, even = 0;
        weights = 0;
        for (cl_ulong i = 0; i < 750; i++) {
            const cl_ulong weight = i < 700 ? i : 1000 + i - 700;
            if (weight % 8 < 3 || weight % 8 == 6)
                continue;
            objects++;
            weights += weight;
            huge += i >= 700;
            even += i >= 700 && (i - 700) % 2 == 0;
        }
        all_saw({weights, objects, 5, even, huge * (huge - 1), weights, objects});
    }
}

TEST_CASE("a snapshot has what is in the fields, arrays and vectors too", "[world]")
{
    for (const Flavour &flavour : widths()) {
        INFO(flavour.name);
        kma::World w = world(flavour, 8 << 20);
        const Counts counts = churn(w, 256, 30, 5, 3);
        CHECK(counts.wrong == 0);
        const kma::WorldSnapshot all = w.snapshot("Large", {"owner", "weight", "place"}), huge = w.snapshot("Huge");
        const auto owners = all.column<cl_uint>("owner");
        const auto weights = all.column<cl_ulong>("weight");
        const auto places = all.column<cl_float4>("place");
        REQUIRE(all.size() == w.count("Large"));
        REQUIRE(places.size() == 3 * all.size());
        CHECK(all.size() > 100);
        for (std::size_t i = 0; i < all.size(); i++) {
            REQUIRE(weights[i] >> 32 == owners[i]);
            for (std::size_t k = 0; k < 3; k++) {
                REQUIRE(places[3 * i + k].s[0] == static_cast<float>(k));
                REQUIRE(places[3 * i + k].s[1] == static_cast<float>(owners[i] & 255));
            }
        }
        const auto more = huge.column<cl_uint>("more"), huge_owners = huge.column<cl_uint>("owner");
        REQUIRE(more.size() == 40 * huge.size());
        for (std::size_t i = 0; i < more.size(); i++)
            REQUIRE(more[i] == huge_owners[i / 40] + i % 40);
    }
}

// One word of what tells of blocks at a time is changed, as by a kernel that writes outside its objects.
TEST_CASE("check says what is wrong", "[world]")
{
    kma::World w = world(ways().front(), 1 << 20);
    const Array<cl_uint> some(group_size * 40, 0); // of few work-items, which fill some blocks
    w.run("fill", group_size, any, cl_uint{0}, cl_uint{40}, some.buffer());
    REQUIRE(w.check() == nothing);
    cl_ulong states = 0, trees = 0; // behind the header of 2,472 bytes
    device().queue().enqueueReadBuffer(w.buffer(), CL_TRUE, 2472, 8, &states);
    device().queue().enqueueReadBuffer(w.buffer(), CL_TRUE, 2480, 8, &trees);
    const std::vector<cl_uchar> before = [&] {
        std::vector<cl_uchar> bytes(w.buffer().getInfo<CL_MEM_SIZE>());
        device().queue().enqueueReadBuffer(w.buffer(), CL_TRUE, 0, bytes.size(), bytes.data());
        return bytes;
    }();
    const auto check_with = [&](std::uint64_t at, cl_uint word, const std::string &expected) {
        INFO(expected);
        device().queue().enqueueWriteBuffer(w.buffer(), CL_TRUE, at, 4, &word);
        const std::vector<std::string> wrong = w.check();
        std::string all;
        for (const std::string &one : wrong)
            all += one + "\n";
        CAPTURE(all);
        CHECK(all.find(expected) != std::string::npos);
        device().queue().enqueueWriteBuffer(w.buffer(), CL_TRUE, at, 4, before.data() + at);
        REQUIRE(w.check() == nothing);
    };
    std::uint32_t used = 0; // a full block of class Small
    while (used < w.blocks() && (*reinterpret_cast<const cl_uint *>(&before[states + 32 * used + 16]) != 1 ||
                                 *reinterpret_cast<const cl_ulong *>(&before[states + 32 * used]) != ~0ull))
        used++;
    std::uint32_t unused = 0;
    while (unused < w.blocks() && *reinterpret_cast<const cl_uint *>(&before[states + 32 * unused + 16]) != 0)
        unused++;
    REQUIRE(used < w.blocks());
    REQUIRE(unused < w.blocks());
    check_with(0, 1, "the world's mark is 1, should be");
    check_with(2472 + 24, 5, "the world's number of blocks is 5");
    check_with(states + 32 * used + 16, 9, "has type 9, and there are 3 classes");
    check_with(states + 32 * used + 16, 0, "has type 0, and is not in the tree of free blocks");
    check_with(states + 32 * used, 0xfffffffe, "of class Small has room, and is not in the tree of such");
    check_with(states + 32 * unused, 5, "is free, and its state is not all ones but");
    check_with(trees + 4 * (unused / 32), 0, "has type 0, and is not in the tree of free blocks");
    std::uint32_t root = 0; // of the free blocks' tree: what is in front of it
    for (std::uint32_t words = (w.blocks() + 31) / 32; words > 1; words = (words + 31) / 32)
        root += words;
    check_with(trees + 4 * root, 0, "the tree of free blocks hides word 0 of level");
}

TEST_CASE("with debug a do-all that changes what it does not say is refused", "[world]")
{
    kma::Schema lying = schema();
    lying.do_all("Large", "grow", "", {nothing, nothing});
    kma::WorldOptions options;
    options.work_group = group_size;
    options.program.debug = 1;
    const kma::Source more{"grow.cl", "static inline void grow(global kma_world *w, Large self) { if (Large_owner(w, self) == 3) Small_new(w); }\n"};
    kma::World w(device(), lying, {program_source("world.cl"), more}, 4 << 20, options);
    w.parallel_new("Large", 2, "init_large");
    w.parallel_do("Large", "grow");
    w.parallel_new("Large", 5, "init_large");
    CHECK_THROWS_WITH(w.parallel_do("Large", "grow"), contains("grow made 1 objects of class Small of 0"));
}

// Behind the units come kernels that the library writes, and in front of them what the options define.
TEST_CASE("a world's program may have macros of any name of kma's", "[world]")
{
    kma::Schema schema;
    schema.add("Body", {"float X", "float Y[3]"}).add("Star", {}, "Body");
    schema.parallel_new("Body", "MAKE").do_all("Body", "MOVE", "float BY");
    std::set<std::string> names = own_names();
    names.insert("T");
    kma::WorldOptions options;
    options.work_group = group_size;
    options.program.options = "-Dself=1 -Dn=2 -Dkey=3 -Dsize=4 -DT=float";
    const std::string unit = R"(
static inline void MAKE(global kma_world *W, Body B, uint I) { Body_X(W, B) = I; Body_Y(W, B, 2) = 1; }
static inline void MOVE(global kma_world *W, Body B, float BY)
{
    Body_for_each(W, O) { Body_X(W, B) += BY * Body_Y(W, O, 2); }
    Body_for_each_run(W, R) { Body_Y(W, B, 0) = 1; }
    if (Star_is(W, B) || Star_as(W, B) != 0)
        Body_delete(W, B);
}
)";
    kma::World w(device(), schema, {{"body.cl", "#undef T\n" + macros_of(names) + unit}}, 1 << 20, options);
    w.parallel_new("Body", 10, "MAKE");
    w.parallel_do("Body", "MOVE", 1.0f);
    std::vector<float> xs = w.snapshot("Body").column<float>("X");
    std::ranges::sort(xs);
    CHECK(xs == std::vector<float>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
    CHECK(w.error_text() == "");
}
