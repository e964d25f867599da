// kma/objects: every creation gives an object that no other work-item has, do-alls meet each that
// was there exactly once, and metadata of blocks is right at rest.
#include <algorithm>
#include <cstdio>
#include <set>
#include <type_traits>
#include <utility>

#include "worlds.hpp"

using namespace worlds;
using kma::ErrorCode;

namespace {

static_assert(!std::is_copy_constructible_v<kma::World>); // two would each count turns of one list
const kma::DoAllOptions any;

kma::Schema schema()
{
    kma::Schema schema;
    schema.add_abstract("Thing", {"uint owner", "uint number"})
        .add("Small", {}, "Thing")
        .add("Large", {"ulong weight", "float4 place[3]"}, "Thing")
        .add("Huge", {"uint more[40]", "Small friend"}, "Large");
    schema.parallel_new("Small", "init_small")
        .parallel_new("Large", "init_large")
        .parallel_new("Huge", "init_large");
    schema.do_all("Thing", "visit", {nothing, nothing})
        .do_all("Large", "visit", {nothing, nothing, false})
        .do_all("Small", "replace", {{{"Small"}}, nothing})
        .do_all("Small", "look_around", {nothing, {{"Thing"}}});
    return schema.do_all("Large", "thin", {{{"Large"}}, nothing});
}

kma::World world_of(const Flavour &flavour, std::uint64_t bytes, int debug = 0)
{
    return {device(),
            schema(),
            {program_source("world.cl")},
            bytes,
            world_options(flavour.options, debug)};
}

// Checks metadata of blocks, and that no error but a lack of memory was recorded.
void check(const kma::World &world)
{
    CHECK(world.check() == nothing);
    for (const ErrorCode code :
         {ErrorCode::double_free, ErrorCode::invalid_free, ErrorCode::damaged})
        CHECK(world.error_count(code) == 0);
}

// Work-items create and delete objects for some rounds; checks the counts.
struct Churn {
    kma::World world;
    std::uint64_t created = 0, deleted = 0, refused = 0;

    void run(std::uint32_t items, std::size_t rounds, cl_uint seed)
    {
        const Array<cl_uint> counts(4, 0);
        const char *const kernel = seed % 2 == 0 ? "churn" : "churn_many";
        world.run(kernel, items, any, cl_uint(rounds), seed, cl_uint{3}, counts.buffer());
        const std::vector<cl_uint> read = counts.read();
        created += read[0];
        deleted += read[1];
        refused += read[2];
        REQUIRE(read[3] == 0); // wrong
        REQUIRE(world.count("Thing") == created - deleted);
        CHECK(world.error_count(ErrorCode::out_of_memory) == refused);
        check(world);
        for (const kma::ClassStats &cls : world.stats().classes)
            CHECK((cls.active <= cls.blocks &&
                   (cls.active == 0) == (cls.objects == cls.slots)));
    }
};

template <class T>
std::multiset<T> values(const kma::World &world, const char *cls, const char *field)
{
    const std::vector<T> all = world.snapshot(cls, {field}).column<T>(field);
    return {all.begin(), all.end()};
}

} // namespace

TEST_CASE("objects of three classes come and go in a world with room, in all flavours", "[world]")
{
    std::printf("lanes that meet: %u\n", path().lanes_met);
    for (const Flavour &flavour : ways()) {
        INFO(flavour.name);
        Churn churn{world_of(flavour, 32 << 20)};
        for (cl_uint seed = 0; seed < 3; seed++)
            churn.run(1024, scaled(60, 20), seed);
        CHECK(churn.refused == 0);
        CHECK(churn.deleted > 3000);
        kma::World &w = churn.world;
        const kma::WorldStats stats = w.stats();
        CHECK(w.count("Large") == stats.classes[1].objects + stats.classes[2].objects);
        CHECK(w.count("Huge") == stats.classes[2].objects);
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
        Churn churn{world_of(flavour, 400 << 10)};
        for (cl_uint seed = 0; seed < 6; seed++)
            churn.run(1024, scaled(40, 20), 100 + seed);
        CHECK(churn.refused > 0);
        CHECK_THAT(churn.world.error_text(), contains("out of memory: an object was not created"));
        kma::World &w = churn.world;
        for (cl_uint cls = 0; cls < 3; cls++) { // 512 work-items get each slot once
            w.reset();
            const std::uint32_t slots = w.blocks() * w.layout().classes[cls].objects;
            const Array<cl_uint> all(512 * (slots / 512 + 2), 7);
            w.run("fill", 512, any, cls, cl_uint(all.size() / 512), all.buffer());
            const std::vector<cl_uint> got = all.read();
            CHECK(std::ranges::count(got, 0u) == std::ptrdiff_t(got.size() - slots));
            CHECK(std::set(got.begin(), got.end()).size() == slots + 1); // and 0
            CHECK(w.stats().free_blocks == 0);
            CHECK(w.stats().classes[cls].active == 0);
        }
        w.reset();
        const Array<cl_uint> none(512, 7); // of a class that there is not
        w.run("fill", 512, any, cl_uint{3}, cl_uint{1}, none.buffer());
        CHECK(std::ranges::count(none.read(), 0u) == 512);
        CHECK(w.count("Thing") == 0);
    }
}

TEST_CASE("ten million creations and deletions, counted", "[world][long]")
{
    Churn churn{world_of(ways().front(), 64 << 20)};
    for (cl_uint seed = 0; churn.created + churn.deleted < scaled(20'000'000, 100'000); seed++)
        churn.run(4096, 500, 1000 + seed);
    CHECK(churn.refused == 0);
}

TEST_CASE("a reference that is no object's is recorded, and nothing is written", "[world][long]")
{
    for (const int debug : {0, 1}) {
        INFO("KMA_DEBUG " << debug);
        kma::World w = world_of(ways().front(), 1 << 20, debug);
        w.parallel_new("Small", 70, "init_small", cl_uint{0});
        w.parallel_new("Huge", 5, "init_large", cl_uint{1000});
        const cl_uint gone = w.snapshot("Small").references()[3];
        const cl_uint last_free = w.blocks() << 6, first_beyond = last_free + 64;
        w.run("delete_one", 1, any, cl_uint{1}, gone); // as of another class
        CHECK(w.error_count(ErrorCode::invalid_free) == 1);
        for (int times = 0; times < 2; times++)
            w.run("delete_one", 1, any, cl_uint{0}, gone);
        CHECK_THAT(w.error_text(), contains("double deletion"));
        const Array<cl_uint> told(2, 7);
        for (const cl_uint wild : {1u, 5u, 63u, 64u + 63, gone, last_free, first_beyond,
                                   0x7fffffffu, 0x80000000u, 0xffffffc0u, 0xffffffffu}) {
            INFO("reference " << wild);
            if (w.snapshot("Thing").row(wild) != w.count("Thing"))
                continue;
            w.clear_errors();
            w.run("use_wild", 1, any, wild, told.buffer());
            // Without KMA_DEBUG the class of a block is told.
            if (debug != 0 || wild < 64 || wild >= first_beyond)
                CHECK(told.read() == std::vector<cl_uint>{0, 0});
            CHECK(w.error_count(ErrorCode::double_free) + w.error_count(ErrorCode::invalid_free) ==
                  (debug == 0 ? 4 : 4 + 8 + 4));
            CHECK_THAT(w.error_text(), contains("reference " + std::to_string(wild) + ","));
            CHECK(w.check() == nothing);
            CHECK(w.count("Small") == 69);
            CHECK(*values<cl_uint>(w, "Thing", "owner").rbegin() < 70);
            CHECK(values<cl_ulong>(w, "Huge", "weight") ==
                  std::multiset<cl_ulong>{1000, 1001, 1002, 1003, 1004});
        }
        w.clear_errors();
        w.run("use_wild", 1, any, cl_uint{0}, told.buffer()); // none: only fields need an object
        CHECK(told.read() == std::vector<cl_uint>{0, 0});
        CHECK(w.error_count(ErrorCode::invalid_free) == (debug == 0 ? 0 : 4));
    }
}

TEST_CASE("a do-all meets each object that there was, once, and none that was created meanwhile",
          "[world]")
{
    for (const Flavour &flavour : ways()) {
        INFO(flavour.name);
        kma::World w = world_of(flavour, 8 << 20, 1);
        w.parallel_new("Small", 3000, "init_small", cl_uint{0});
        w.parallel_new("Large", 500, "init_large", cl_uint{0});
        w.parallel_new("Huge", 300, "init_large", cl_uint{1000});
        CHECK(w.count("Large") == 800);
        w.parallel_do("Thing", "visit", cl_uint{1});
        w.parallel_do("Large", "visit", cl_uint{10}); // no Huge
        CHECK(values<cl_uint>(w, "Small", "number").count(1) == 3000);
        CHECK(values<cl_uint>(w, "Large", "number").count(11) == 500);
        CHECK(values<cl_uint>(w, "Large", "number").count(1) == 300);
        CHECK(values<cl_uint>(w, "Huge", "number").count(1) == 300);
        for (cl_uint round = 0; round < 3; round++) {
            w.parallel_do("Small", "replace");
            CHECK(w.count("Small") == 1500u << (round + 1)); // the even ones, and their children
            check(w);
        }
        const kma::WorldSnapshot all = w.snapshot("Small");
        const auto owners = all.column<cl_uint>("owner"), numbers = all.column<cl_uint>("number");
        CHECK(all.size() == 12000);
        for (std::size_t i = 0; i < all.size(); i++) {
            REQUIRE((owners[i] & 1) == 0);
            // The first ones were visited once and replaced three times, a child as often as there
            // were rounds left.
            if (owners[i] >> 31 != 0)
                REQUIRE((numbers[i] >= 100 && numbers[i] <= 102));
            else
                REQUIRE(numbers[i] == 4);
            REQUIRE(all.row(all.references()[i]) == i);
        }
        CHECK(all.row(0) == all.size());
        CHECK(w.error_text() == "");
        kma::World moved = std::move(w); // with the do-alls that it has launched before
        moved.parallel_do("Thing", "visit", cl_uint{1});
        CHECK(moved.count("Small") == 12000);
        check(moved);
    }
}

TEST_CASE("loops over all objects of a class and its subclasses", "[world]")
{
    for (const Flavour &flavour : ways()) {
        INFO(flavour.name);
        kma::World w = world_of(flavour, 8 << 20);
        const Array<cl_ulong> sums(7 * 10, 77);
        const auto all_saw = [&](std::vector<cl_ulong> what) {
            w.parallel_do("Small", "look_around", sums.buffer());
            const std::vector<cl_ulong> read = sums.read();
            for (std::size_t i = 0; i < 10; i++)
                CHECK(std::vector(&read[7 * i], &read[7 * i] + 7) == what);
        };
        w.parallel_new("Small", 10, "init_small", cl_uint{0});
        all_saw({0, 0, 5, 0, 0, 0, 0});
        w.parallel_new("Large", 700, "init_large", cl_uint{0});
        w.parallel_new("Huge", 50, "init_large", cl_uint{1000});
        for (const bool thins : {false, true}) {
            cl_ulong objects = 0, weights = 0, huge = 0, even = 0;
            for (cl_ulong i = 0; i < 750; i++) {
                const cl_ulong weight = i < 700 ? i : 1000 + i - 700;
                if (thins && (weight % 8 < 3 || weight % 8 == 6))
                    continue;
                objects++;
                weights += weight;
                huge += i >= 700;
                even += i >= 700 && i % 2 == 0;
            }
            if (thins)
                w.parallel_do("Large", "thin");
            all_saw({weights, objects, 5, even, huge * (huge - 1), weights, objects});
        }
    }
}

TEST_CASE("a snapshot has what is in the fields, arrays and vectors too", "[world]")
{
    for (const Flavour &flavour : widths()) {
        INFO(flavour.name);
        Churn churn{world_of(flavour, 8 << 20)};
        churn.run(256, 30, 5);
        const kma::WorldSnapshot all = churn.world.snapshot("Large", {"owner", "weight", "place"}),
                                 huge = churn.world.snapshot("Huge");
        const auto owners = all.column<cl_uint>("owner");
        const auto weights = all.column<cl_ulong>("weight");
        const auto places = all.column<cl_float4>("place");
        REQUIRE(all.size() == churn.world.count("Large"));
        REQUIRE(places.size() == 3 * all.size());
        CHECK(all.size() > 100);
        for (std::size_t i = 0; i < places.size(); i++) {
            REQUIRE(weights[i / 3] >> 32 == owners[i / 3]);
            REQUIRE(places[i].s[0] == static_cast<float>(i % 3));
            REQUIRE(places[i].s[1] == static_cast<float>(owners[i / 3] & 255));
        }
        const auto more = huge.column<cl_uint>("more"), of_huge = huge.column<cl_uint>("owner");
        REQUIRE(more.size() == 40 * huge.size());
        for (std::size_t i = 0; i < more.size(); i++)
            REQUIRE(more[i] == of_huge[i / 40] + i % 40);
    }
}

// One word of metadata at a time is changed, as by a kernel that writes outside its objects.
TEST_CASE("check says what is wrong", "[world]")
{
    kma::World w = world_of(ways().front(), 1 << 20);
    const Array<cl_uint> some(group_size * 40, 0); // of few work-items, which fill some blocks
    w.run("fill", group_size, any, cl_uint{0}, cl_uint{40}, some.buffer());
    w.run("delete_one", 1, any, cl_uint{0}, some.read()[0]); // its block has room
    REQUIRE(w.check() == nothing);
    const cl::CommandQueue queue = device().queue();
    std::vector<cl_uint> words(w.buffer().getInfo<CL_MEM_SIZE>() / 4);
    queue.enqueueReadBuffer(w.buffer(), CL_TRUE, 0, words.size() * 4, words.data());
    const std::uint64_t header = 2472; // its bytes; four offsets of 64 bits follow
    const cl_uint states = words[header / 4], trees = words[header / 4 + 2];
    const auto check_with = [&](std::uint64_t at, cl_uint word, const std::string &expected) {
        INFO(expected);
        queue.enqueueWriteBuffer(w.buffer(), CL_TRUE, at, 4, &word);
        std::string all;
        for (const std::string &one : w.check())
            all += one + "\n";
        CHECK_THAT(all, contains(expected));
        queue.enqueueWriteBuffer(w.buffer(), CL_TRUE, at, 4, &words[at / 4]);
        REQUIRE(w.check() == nothing);
    };
    // The first block of this type, with room or without.
    const auto block_of = [&](cl_uint type, bool is_full) {
        cl_uint at = states;
        while (words.at(at / 4 + 4) != type ||
               is_full != ((words[at / 4] & words[at / 4 + 1]) == ~0u))
            at += 32;
        REQUIRE(at < states + 32 * w.blocks());
        return at;
    };
    const cl_uint used = block_of(1, true), roomy = block_of(1, false), unused = block_of(0, true);
    const cl_uint of_small = trees + 4 * words[header / 4 + 9]; // after the tree of free blocks
    check_with(0, 1, "the world's mark is 1, should be");
    check_with(header + 32, 5, "the world's number of blocks is 5");
    check_with(used + 16, 9, "has type 9, and there are 3 classes");
    check_with(used + 16, 0, "has type 0, and is not in the tree of free blocks");
    check_with(of_small + (roomy - states) / 1024 * 4, 0,
               "of class Small has room, and is not in the tree of such");
    check_with(unused, 5, "is free, and its state is not all ones but");
    check_with(trees + (unused - states) / 1024 * 4, 0,
               "has type 0, and is not in the tree of free blocks");
    std::uint32_t root = 0; // of the free blocks' tree: what is in front of it
    for (std::uint32_t level = (w.blocks() + 31) / 32; level > 1; level = (level + 31) / 32)
        root += level;
    check_with(trees + 4 * root, 0, "the tree of free blocks hides word 0 of level");
}

TEST_CASE("with debug a do-all that changes what it does not say is refused", "[world][long]")
{
    kma::Schema lying = schema();
    lying.do_all("Large", "grow", {nothing, nothing});
    const kma::Source more{"grow.cl", R"(
static inline void grow(global kma_world *w, Large self)
{
    if (Large_owner(w, self) == 3)
        Small_new(w);
})"};
    kma::World w(device(), lying, {program_source("world.cl"), more}, 4 << 20,
                 world_options("", 1));
    w.parallel_new("Large", 2, "init_large", cl_uint{0});
    w.parallel_do("Large", "grow");
    w.parallel_new("Large", 5, "init_large", cl_uint{0});
    CHECK_THROWS_WITH(w.parallel_do("Large", "grow"),
                      contains("grow made 1 objects of class Small of 0"));
}
