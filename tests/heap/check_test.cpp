// Heap::check(): silent where all is well, and a sentence for each invariant that is broken.
#include <algorithm>
#include <filesystem>
#include <functional>

#include "catch.hpp"
#include "heap_support.hpp"

using kma::Heap;
using kma::HeapKind;
using test::Kernels;
using test::Town;

namespace {

constexpr cl_uint kept = 0x80000000, none = 0xffffffff;
constexpr cl_uint of_64 = 3, of_128 = 7; // classes

std::string joined(const std::vector<std::string> &sentences)
{
    std::string text;
    for (const std::string &sentence : sentences)
        text += sentence + "\n";
    return text;
}

struct Damage {
    std::function<void(const Kernels &)> act;
    std::vector<std::string> named; ///< what the sentences contain
};

// One damage with three numbers.
Damage damage(const std::string &what, cl_uint a, cl_uint b, cl_uint c, const std::vector<std::string> &named)
{
    return {[=](const Kernels &kernels) { kernels.damage(what, a, b, c); }, named};
}

void check_named(const std::vector<Damage> &damages)
{
    for (const std::string &width : test::widths)
        for (const Damage &one : damages) {
            Town town(test::superblocks(4096, width));
            REQUIRE(joined(town.heap.check()) == "");
            one.act(town.kernels);
            const std::string text = joined(town.heap.check());
            CAPTURE(width);
            CHECK(text != "");
            for (const std::string &sentence : one.named)
                CHECK_THAT(text, contains(sentence));
        }
}

} // namespace

TEST_CASE("check finds nothing in a heap that kernels have used", "[check]")
{
    for (const kma::Storage storage : test::storages())
        for (const std::string &width : test::widths)
            for (const std::uint64_t size : {4096, 65536, 2 << 20}) {
                kma::HeapOptions options = test::superblocks(size, width);
                options.storage = storage;
                options.debug = size == 65536 ? 3 : 0;
                CAPTURE(width, size);
                Heap heap(test::device(), std::max<std::uint64_t>(40 << 20, 80 * size), options);
                const Kernels kernels(heap);
                CHECK(joined(heap.check()) == "");
                std::vector<kma::Ref> all;
                for (cl_uint seed = 1; seed <= 3; seed++) {
                    const Kernels::Kept some = kernels.churn(2000, seed * 1000000, 4096);
                    all.insert(all.end(), some.refs.begin(), some.refs.end());
                    CHECK(joined(heap.check()) == "");
                    CHECK(heap.error_text() == "");
                }
                kernels.free(all);
                CHECK(joined(heap.check()) == "");
                CHECK(heap.stats().blocks == 0);
                kernels.allocate(5000, 48);
                heap.reset();
                CHECK(joined(heap.check()) == "");
                CHECK(heap.stats().superblocks_free == heap.stats().superblocks);
            }
}

namespace {

void poke(const Heap &heap, std::uint64_t offset, char value)
{
    test::device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, offset, 1, &value);
}

std::vector<cl_uint> words_of(const Heap &heap)
{
    std::vector<cl_uint> words(heap.stats().bytes / sizeof(cl_uint));
    test::device().queue().enqueueReadBuffer(heap.buffer(), CL_TRUE, 0, words.size() * sizeof(cl_uint), words.data());
    return words;
}

// The place of the quarantine that has come to hold `ref`: where it lies. (Memory that nobody has written may have it by chance.)
std::uint64_t place_of(const Heap &heap, kma::Ref ref, const std::vector<cl_uint> &before)
{
    const std::vector<cl_uint> words = words_of(heap);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < words.size(); i++)
        if (words[i] == ref && before[i] != ref)
            found.push_back(i);
    REQUIRE(found.size() == 1);
    return found[0] * sizeof(cl_uint);
}

} // namespace

TEST_CASE("check names damage to guarded blocks and to the quarantine", "[check]")
{
    for (const std::string &width : test::widths)
        for (const HeapKind kind : {HeapKind::bump, HeapKind::superblock, HeapKind::slab}) {
            const kma::HeapOptions options{.kind = kind, .debug = 2, .build_options = width};
            CAPTURE(width, kma::name_of(kind));
            Heap heap(test::device(), 1 << 17, options);
            const Kernels kernels(heap);
            const std::vector<kma::Ref> refs = kernels.allocate(12, 100);
            kernels.free({refs[10], refs[11]});
            CHECK(joined(heap.check()) == "");
            poke(heap, refs[0] * kma::ref_unit + 100, 1);
            poke(heap, refs[1] * kma::ref_unit - 1, 1);
            poke(heap, refs[2] * kma::ref_unit - 40, 1); // the state
            poke(heap, refs[10] * kma::ref_unit + 50, 1);
            const std::string text = joined(heap.check());
            CHECK_THAT(text, contains("block at ref " + std::to_string(refs[0]) +
                                      ", 100 bytes, which work-item 0 took, was written over behind its end: byte 100 "
                                      "from its start is 0x01, should be 0xfd"));
            CHECK_THAT(text, contains("block at ref " + std::to_string(refs[1]) +
                                      ", 100 bytes, which work-item 1 took, was written over in front: byte -1 from "));
            CHECK_THAT(text,
                       contains("the guard of the block in the units of 16 bytes " + std::to_string(refs[2] - 3)));
            CHECK_THAT(text, contains("the freed block at ref " + std::to_string(refs[10]) +
                                      ", 100 bytes, which "
                                      "work-item 10 took, was written to after the free: byte 50 "));
            CHECK(heap.check().size() == 4);
            if (kind == HeapKind::bump) // it has no quarantine
                continue;
            heap.reset();
            const std::vector<kma::Ref> others = kernels.allocate(3, 100);
            const std::vector<cl_uint> before = words_of(heap);
            kernels.free({others[0], others[1]});
            const std::uint64_t place = place_of(heap, others[0], before);
            poke(heap, place + 3, 5);
            const std::string lost = joined(heap.check());
            CHECK_THAT(lost, contains("of the quarantine holds ref " + std::to_string(others[0] | 5u << 24) +
                                      ", which is no freed block, or in it twice"));
            CHECK_THAT(lost, contains("the freed block at ref " + std::to_string(others[0]) +
                                      " is not in the quarantine, and so will not come back"));
            // Where it is emptied, for want of memory, nobody follows such a ref.
            kernels.allocate(1000, 200);
            CHECK(heap.error_count(kma::ErrorCode::damaged) == 1);
        }
}

TEST_CASE("a heap with damaged blocks can be saved and looked at elsewhere", "[check]")
{
    const std::string path = "guarded.heap";
    Heap heap(test::device(), 1 << 17, {.debug = 3});
    const Kernels kernels(heap);
    const std::vector<kma::Ref> refs = kernels.allocate(3, 30);
    kernels.free({refs[1]});
    poke(heap, refs[2] * kma::ref_unit + 30, 1);
    heap.save(path);
    const Heap copy = Heap::load(test::device(), path);
    std::filesystem::remove(path);
    CHECK(joined(copy.check()) == joined(heap.check()));
    CHECK_THAT(joined(copy.check()), contains("was written over behind its end") && contains(" at heap_support.cl:"));
    CHECK(kma::to_text(copy.leaks()) == kma::to_text(heap.leaks()));
    CHECK(kma::to_text(copy.stats()) == kma::to_text(heap.stats()));
    CHECK(copy.leaks().blocks == 2);
}

TEST_CASE("check finds nothing in a heap that is full", "[check]")
{
    for (const std::string &width : test::widths) {
        const Heap heap(test::device(), 1 << 20, test::superblocks(0, width));
        const Kernels kernels(heap);
        for (const cl_ulong size : {16, 4096, 100, 16})
            kernels.allocate(50000, size);
        CHECK(heap.stats().available() < 4096);
        CHECK(joined(heap.check()) == "");
    }
}

TEST_CASE("check names wrong sums and keepers of superblocks", "[check]")
{
    const std::string partial = "superblock 0, of the class of 64-byte blocks, ";
    const std::string offered = "superblock 1, of the class of 64-byte blocks, ";
    const std::string full = "superblock 2, of the class of 128-byte blocks, ";
    check_named({
        damage("credit", 0, kept | 5, 0, {partial + "has 64 blocks, but 61 are taken, 0 on offer and 5 on credit"}),
        damage("credit", 0, 3, 0, {partial + "is in the partial set, but its credit says that nobody keeps it"}),
        damage("credit", 0, kept, 0, {partial + "is in the partial set, but has 0 blocks on credit"}),
        damage("credit", 1, 0, 0, {offered + "is on offer, but its credit says that nobody keeps it"}),
        damage("credit", 2, kept, 0,
               {full + "is neither free, on offer nor in the partial set, but its credit says that somebody keeps it"}),
        damage("credit", 2, 2, 0,
               {full + "has 32 blocks, but 32 are taken, 0 on offer and 2 on credit",
                full + "has 2 blocks on credit, but is neither on offer nor in the partial set"}),
        damage("clear bit", 1, 0, 0, {offered + "has 64 blocks, but 5 are taken, 58 on offer and 0 on credit"}),
        damage("set bit", 0, 64, 0, {partial + "has 1 bits set behind the last of its 64 blocks"}),
        damage("content", 0, 77, 0, {"superblock 0 holds blocks of class 77, but there are 28 classes"}),
        damage("content", 2, of_64, 0,
               {"superblock 2, of the class of 64-byte blocks, has 64 blocks, but 32 are taken"}),
        {[](const Kernels &kernels) {
             for (cl_uint bit = 0; bit < 64; bit++)
                 kernels.damage("clear bit", 0, bit);
             kernels.damage("credit", 0, kept | 64);
         },
         {partial + "is in the partial set, but all its 64 blocks are free: it should be back in the free queue"}},
    });
}

TEST_CASE("check names wrong free superblocks", "[check]")
{
    check_named({
        damage("credit", 5, kept | 1, 0, {"superblock 5 is free and so has no credit, but it says 1"}),
        damage("credit", 5, 0, 0,
               {"superblock 5 is free and so has no credit, but it says 0 and that nobody keeps it"}),
        damage("set bit", 5, 9, 0, {"superblock 5 is free, but 1 bits of its bitmap are set"}),
        damage("content", 5, of_64, 0, {"superblock 5 is in the free queue, but is of the class of 64-byte blocks"}),
        damage("content", 2, of_128 | 0x100, 0, {"superblock 2 is free, but not in the free queue"}),
    });
}

TEST_CASE("check names wrong partial sets", "[check]")
{
    const std::string set = "the partial set of the class of 64-byte blocks ";
    check_named({
        damage("set count", of_64, 7, 0, {set + "counts 7 superblocks, and holds 1"}),
        damage("take out of set", of_64, 0, 0,
               {set + "counts 1 superblocks, and holds 0",
                "superblock 0, of the class of 64-byte blocks, is neither free, on offer nor in the partial set"}),
        damage("put in set", of_64, 1, 0,
               {set + "counts 1 superblocks, and holds 2",
                "superblock 1, of the class of 64-byte blocks, is both on offer and in the partial set"}),
        damage("put in set", of_64, 2, 0, {set + "holds superblock 2, which is of the class of 128-byte blocks"}),
        damage("put in set", of_64, 5, 0, {set + "holds superblock 5, which is free"}),
        damage("put in set", of_64, 20, 0, {set + "holds superblock 20, but there are 16"}),
    });
}

TEST_CASE("check names wrong offers", "[check]")
{
    const std::string cls = "the class of 64-byte blocks ";
    check_named({
        damage("slots", of_64, 9, 0, {cls + "has 9 blocks to a superblock, should be 64"}),
        damage("offer", of_64, 100, 0, {cls + "offers blocks of superblock 100, but there are 16"}),
        damage("offer", of_64, none, 60, {cls + "offers 4 blocks of no superblock"}),
        damage("offer", of_64, 5, 0, {cls + "has superblock 5 on offer, which is free"}),
        damage("offer", of_64, 3, 0, {cls + "has superblock 3 on offer, which is of the class of 128-byte blocks"}),
        damage("offer", of_64, 1, 7, {"but 6 are taken, 57 on offer and 0 on credit"}),
    });
}

TEST_CASE("check names draws beyond where 32-bit atomics stop", "[check]")
{
    Town town(test::superblocks(4096, test::widths[1]));
    town.kernels.damage("offer", of_64 + 1, none, 51 + 2); // 80-byte blocks, of which nobody had any
    CHECK(joined(town.heap.check()) == "");
    town.kernels.damage("offer", of_64 + 1, none, 51 + 3);
    CHECK(joined(town.heap.check()) ==
          "the class of 80-byte blocks has counted 54 draws from its offer, and stops at 53\n");
}

TEST_CASE("check names what only running kernels have", "[check]")
{
    check_named({
        damage("moves", 0, 0x70002, 0,
               {"the heap counts 2 superblocks in hand, about to be offered or given back, should be 0"}),
        damage("helpers", of_64, 1, 0, {"the class of 64-byte blocks counts 1 helpers at its offer, should be 0"}),
    });
}

TEST_CASE("check names wrong error logs", "[check]")
{
    constexpr cl_uint count = 128 / 4, first = 168 / 4, record = 32 / 4, written = 20 / 4; // words of the header
    constexpr cl_uint too_large = 1;
    const std::string mark = "the error log's mark for record ";
    check_named({
        damage("header", count + too_large, 1, 0,
               {mark + "0 of \"request too large\" is 0, should be 1 after 1 such errors"}),
        damage("header", first + written, 1, 0,
               {mark + "0 of \"out of memory\" is 1, should be 0 after 0 such errors"}),
        {[](const Kernels &kernels) {
             kernels.allocate(3, 5000);
             kernels.damage("header", first + (too_large * 8 + 2) * record + written, 77);
         },
         {mark + "2 of \"request too large\" is 77, should be 1 after 3 such errors"}},
    });
    Town town(test::superblocks(4096));
    for (const std::size_t errors : {7, 1, 1, 100}) { // the marks end at 8
        town.kernels.allocate(errors, 5000);
        CHECK(joined(town.heap.check()) == "");
    }
    town.heap.clear_errors();
    CHECK(joined(town.heap.check()) == "");
}

TEST_CASE("check names wrong queues", "[check]")
{
    check_named({
        damage("next", 6, 99, 0, {"the free queue's node 6 leads to node 99, but there are 17"}),
        damage("next", 6, 4, 0, {"the free queue is a circle after 3 nodes: its node 6 leads back to node 4"}),
        damage("next", 6, 6, 0, {"the free queue is a circle after 3 nodes: its node 6 leads back to node 6"}),
        damage("next", 6, none, 0,
               {"the free queue's tail is node 16, but its last is node 6",
                "superblock 6 is free, but not in the free queue", "superblock 15 is free, but not in the free queue"}),
        damage("next", 16, 0, 0, {"the free queue is a circle after 17 nodes: its node 3 leads back to node 4"}),
        damage("item", 6, 99, 0,
               {"node 6 of the free queue holds superblock 99, but there are 16",
                "superblock 5 is free, but not in the free queue"}),
        damage("item", 7, 5, 0, {"superblock 5 is in the free queue twice"}),
        damage("item", 7, 2, 0, {"superblock 2 is in the free queue, but is of the class of 128-byte blocks"}),
        damage("head", 0, 99, 0, {"the free queue's head leads to node 99, but there are 17"}),
        damage("head", 0, none, 0, {"the free queue's head leads to node ", ", but there are 17"}),
        damage("head", 0, 5, 0,
               {"superblock 4 is free, but not in the free queue",
                "queue node 4 is neither in the free queue nor any superblock's"}),
        damage("tail", 0, 6, 0, {"the free queue's tail is node 6, but its last is node 16"}),
        damage("tail", 0, none, 0, {"the free queue's tail is node ", ", but its last is node 16"}),
        damage("queue capacity", 0, 3, 0, {"the free queue's capacity is 3, should be 16"}),
        damage("carrier", 0, 50, 0,
               {"superblock 0 has queue node 50, but there are 17",
                "queue node 0 is neither in the free queue nor any superblock's"}),
        damage("carrier", 0, 6, 0, {"superblock 0, outside the free queue, has node 6, which is in the queue"}),
        damage("carrier", 0, 1, 0,
               {"superblocks 0 and 1 have the same queue node 1",
                "queue node 0 is neither in the free queue nor any superblock's"}),
    });
}

TEST_CASE("check names wrong headers and plans", "[check]")
{
    check_named({
        damage("header", 0, 1, 0, {"the header's magic number is 1, should be 1885433195"}),
        damage("header", 1, 1, 0, {"the header's layout is 1, should be 8"}),
        damage("header", 2, 9, 0, {"the header's kind is 9, should be 2"}),
        damage("header", 3, 1, 0, {"the header's debug is 1, should be 0"}),
        damage("header", 4, 4096, 0, {"the header's size in bytes is 4096, should be "}),
        damage("header", 6, 3, 0, {"the header's begin of the blocks, in units of 16 bytes, is 3, should be "}),
        damage("header", 7, 3, 0, {"the header's limit of the blocks, in units of 16 bytes, is 3, should be "}),
        damage("header", 12, 5, 0, {"the header's ref of a collector is 5, should be 0"}),
        damage("header", 8, 7, 0, {"the header's atomic64 is 7, should be "}),
        damage("header", 10, 7, 0, {"the header's largest size in bytes is 7, should be "}),
        damage("plan", 0, 17, 0, {"the plan's number of superblocks is 17, should be 16"}),
        damage("plan", 1, 9, 0, {"the plan's shift, log2 of a superblock's units of 16 bytes, is 9, should be 8"}),
        damage("plan", 2, 1, 0, {"the plan's number of size classes is 1, should be 28"}),
        damage("plan", 3, 9, 0, {"the plan's words of a partial set is 9, should be 1"}),
        damage("plan", 4, 9, 0, {"the plan's words of a bitmap is 9, should be 8"}),
        damage("plan", 5, 9, 0, {"the plan's place of the states"}),
        damage("plan", 6, 9, 0, {"the plan's place of the partial sets"}),
        damage("plan", 7, 9, 0, {"the plan's place of the free queue"}),
        damage("plan", 8, 9, 0, {"the plan's place of the bitmaps"}),
        damage("plan", 9, 9, 0, {"the plan's begin of the superblocks"}),
        damage("plan", 10, 9, 0, {"the plan's end of the superblocks"}),
        damage("plan", 12, 17, 0, {"the plan's room for superblocks is 17, should be 16"}),
    });
}

TEST_CASE("what relies on metadata that are damaged says so", "[check]")
{
    Town town(test::superblocks(4096));
    town.kernels.damage("plan", 0, 17);
    const auto refuses = [](const auto &action) {
        CHECK_THAT(message_of<kma::Error>(action), contains("damaged") && contains("number of superblocks is 17"));
    };
    refuses([&] { town.heap.stats(); });
    refuses([&] { town.heap.errors(); });
    refuses([&] { town.heap.leaks(); });
    refuses([&] { town.heap.snapshot(); });
    refuses([&] { town.heap.reset(); });
    refuses([&] { town.heap.save(KMA_SCRATCH_DIR "/damaged.kma"); });
}

TEST_CASE("statistics and leaks survive damage that they do not rely on", "[check]")
{
    for (const std::string &width : test::widths) {
        Town town(test::superblocks(4096, width));
        town.kernels.damage("content", 0, 0x12345);
        town.kernels.damage("slots", of_64, 0xffffffff);
        town.kernels.damage("offer", of_128, 0xfffff, 0);
        town.kernels.damage("next", 6, 0xfff0);
        CHECK(town.heap.check().size() > 4);
        CHECK_NOTHROW(town.heap.stats());
        CHECK_NOTHROW(town.heap.leaks());
        CHECK_NOTHROW(town.heap.snapshot());
    }
}

TEST_CASE("check gives ten sentences of a kind and counts the rest", "[check]")
{
    Town town(test::superblocks(4096));
    for (cl_uint sb = 4; sb < 16; sb++)
        town.kernels.damage("credit", sb, kept | 9);
    const std::vector<std::string> sentences = town.heap.check();
    REQUIRE(sentences.size() == 11);
    CHECK(sentences.front() == "superblock 4 is free and so has no credit, but it says 9");
    CHECK(sentences.back() == "there are 2 more credits of free superblocks");
}

TEST_CASE("check names what is wrong in a bump heap", "[check]")
{
    for (const std::string &width : test::widths)
        for (const int debug : {0, 1}) {
            kma::HeapOptions options{.kind = HeapKind::bump, .debug = debug, .build_options = width};
            const std::uint64_t begin = Heap::bytes_for(HeapKind::bump, 0) / 16;
            const auto named = [&](cl_ulong offset, cl_ulong value) {
                Heap heap(test::device(), Heap::bytes_for(HeapKind::bump, 1024), options);
                const Kernels kernels(heap);
                CHECK(joined(heap.check()) == "");
                kernels.allocate(200, 16);
                CHECK(joined(heap.check()) == "");
                heap.reset();
                CHECK(joined(heap.check()) == "");
                test::device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, offset, 8, &value);
                CHECK_THROWS_AS(heap.stats(), kma::Error);
                return joined(heap.check());
            };
            const cl_ulong head = 2560; // kma_bump's
            const std::string end = std::to_string(begin + 64);
            CHECK_THAT(named(head, begin - 1), contains("the head is at " + std::to_string(begin - 1) +
                                                        ", outside the heap's blocks, which begin at " +
                                                        std::to_string(begin) + " and end at " + end));
            CHECK_THAT(named(head, begin + 65), contains("the head is at " + std::to_string(begin + 65)));
            CHECK_THAT(named(head, 1ull << 40), contains("the head is at 1099511627776"));
            CHECK_THAT(named(16, 5), contains("the header's size in bytes is 5"));
            CHECK_THAT(named(0, 5), contains("magic number is 5") && contains("layout is 0"));
            const Heap heap(test::device(), 1 << 20, options);
            const cl_uint errors = 1;
            test::device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, 128, sizeof errors, &errors);
            CHECK_THAT(joined(heap.check()), contains("record 0 of \"out of memory\" is 0, should be 1"));
        }
}
