// Heap::check(): a sentence for each invariant that is broken. Conformance has that it is silent where all is well,
// damage/ that nothing crashes or goes on for ever in a heap or file damaged at random, and that reset mends it.
#include <algorithm>
#include <filesystem>

#include "catch.hpp"
#include "heap/common/layout.hpp"
#include "heap_support.hpp"

using kma::Heap;
using kma::HeapKind;
using test::atomic_widths;
using test::device;
using test::findings;
using test::image_of;
using test::Kernels;
using test::superblocks;
using test::Town;
using test::write_words;

namespace {

constexpr cl_uint kept = 0x80000000, none = 0xffffffff;
constexpr cl_uint of_64 = 3, of_128 = 7;                              // classes
constexpr cl_uint errors = 128 / 4, first_record = 168 / 4;           // words of the header
constexpr cl_uint record_words = 32 / 4, written = 20 / 4;            // of a record
constexpr cl_uint too_large = 1, third_too_large = too_large * 8 + 2; // a code, and the number of a record

// What Kernels::damage does, and what the sentences contain.
struct Damage {
    std::string what;
    cl_uint a, b, c;
    std::vector<std::string> named;
};

const std::string partial = "superblock 0, of the class of 64-byte blocks, ";
const std::string offered = "superblock 1, of the class of 64-byte blocks, ";
const std::string full = "superblock 2, of the class of 128-byte blocks, ";
const std::string set = "the partial set of the class of 64-byte blocks ";
const std::string cls = "the class of 64-byte blocks ";
const std::string mark = "the error log's mark for record ";
const std::string no_node_0 = "queue node 0 is neither in the free queue nor any superblock's";

const std::vector<Damage> damages = {
    // Sums and keepers of superblocks.
    {"credit", 0, kept | 5, 0, {partial + "has 64 blocks, but 61 are taken, 0 on offer and 5 on credit"}},
    {"credit", 0, 3, 0, {partial + "is in the partial set, but its credit says that nobody keeps it"}},
    {"credit", 0, kept, 0, {partial + "is in the partial set, but has 0 blocks on credit"}},
    {"credit", 1, 0, 0, {offered + "is on offer, but its credit says that nobody keeps it"}},
    {"credit", 2, kept, 0,
     {full + "is neither free, on offer nor in the partial set, but its credit says that somebody keeps it"}},
    {"credit", 2, 2, 0,
     {full + "has 32 blocks, but 32 are taken, 0 on offer and 2 on credit",
      full + "has 2 blocks on credit, but is neither on offer nor in the partial set"}},
    {"clear bit", 1, 0, 0, {offered + "has 64 blocks, but 5 are taken, 58 on offer and 0 on credit"}},
    {"set bit", 0, 64, 0, {partial + "has 1 bits set behind the last of its 64 blocks"}},
    {"content", 0, 77, 0, {"superblock 0 holds blocks of class 77, but there are 28 classes"}},
    {"content", 2, of_64, 0, {"superblock 2, of the class of 64-byte blocks, has 64 blocks, but 32 are taken"}},
    // Free superblocks.
    {"credit", 5, kept | 1, 0, {"superblock 5 is free and so has no credit, but it says 1"}},
    {"credit", 5, 0, 0, {"superblock 5 is free and so has no credit, but it says 0 and that nobody keeps it"}},
    {"set bit", 5, 9, 0, {"superblock 5 is free, but 1 bits of its bitmap are set"}},
    {"content", 5, of_64, 0, {"superblock 5 is in the free queue, but is of the class of 64-byte blocks"}},
    {"content", 2, of_128 | 0x100, 0, {"superblock 2 is free, but not in the free queue"}},
    // Partial sets.
    {"set count", of_64, 7, 0, {set + "counts 7 superblocks, and holds 1"}},
    {"take out of set", of_64, 0, 0,
     {set + "counts 1 superblocks, and holds 0", partial + "is neither free, on offer nor in the partial set"}},
    {"put in set", of_64, 1, 0,
     {set + "counts 1 superblocks, and holds 2", offered + "is both on offer and in the partial set"}},
    {"put in set", of_64, 2, 0, {set + "holds superblock 2, which is of the class of 128-byte blocks"}},
    {"put in set", of_64, 5, 0, {set + "holds superblock 5, which is free"}},
    {"put in set", of_64, 20, 0, {set + "holds superblock 20, but there are 16"}},
    // Offers.
    {"slots", of_64, 9, 0, {cls + "has 9 blocks to a superblock, should be 64"}},
    {"offer", of_64, 100, 0, {cls + "offers blocks of superblock 100, but there are 16"}},
    {"offer", of_64, none, 60, {cls + "offers 4 blocks of no superblock"}},
    {"offer", of_64, 5, 0, {cls + "has superblock 5 on offer, which is free"}},
    {"offer", of_64, 3, 0, {cls + "has superblock 3 on offer, which is of the class of 128-byte blocks"}},
    {"offer", of_64, 1, 7, {"but 6 are taken, 57 on offer and 0 on credit"}},
    // What only running kernels have.
    {"moves", 0, 0x70002, 0, {"the heap counts 2 superblocks in hand, about to be offered or given back, should be 0"}},
    {"helpers", of_64, 1, 0, {cls + "counts 1 helpers at its offer, should be 0"}},
    // Error logs.
    {"header", errors + too_large, 1, 0, {mark + "0 of \"request too large\" is 0, should be 1 after 1 such errors"}},
    {"header", first_record + written, 1, 0, {mark + "0 of \"out of memory\" is 1, should be 0 after 0 such errors"}},
    // Queues.
    {"next", 6, 99, 0, {"the free queue's node 6 leads to node 99, but there are 17"}},
    {"next", 6, 4, 0, {"the free queue is a circle after 3 nodes: its node 6 leads back to node 4"}},
    {"next", 6, 6, 0, {"the free queue is a circle after 3 nodes: its node 6 leads back to node 6"}},
    {"next", 6, none, 0,
     {"the free queue's tail is node 16, but its last is node 6", "superblock 6 is free, but not in the free queue",
      "superblock 15 is free, but not in the free queue"}},
    {"next", 16, 0, 0, {"the free queue is a circle after 17 nodes: its node 3 leads back to node 4"}},
    {"item", 6, 99, 0,
     {"node 6 of the free queue holds superblock 99, but there are 16",
      "superblock 5 is free, but not in the free queue"}},
    {"item", 7, 5, 0, {"superblock 5 is in the free queue twice"}},
    {"item", 7, 2, 0, {"superblock 2 is in the free queue, but is of the class of 128-byte blocks"}},
    {"head", 0, 99, 0, {"the free queue's head leads to node 99, but there are 17"}},
    {"head", 0, none, 0, {"the free queue's head leads to node ", ", but there are 17"}},
    {"head", 0, 5, 0,
     {"superblock 4 is free, but not in the free queue",
      "queue node 4 is neither in the free queue nor any superblock's"}},
    {"tail", 0, 6, 0, {"the free queue's tail is node 6, but its last is node 16"}},
    {"tail", 0, none, 0, {"the free queue's tail is node ", ", but its last is node 16"}},
    {"queue capacity", 0, 3, 0, {"the free queue's capacity is 3, should be 16"}},
    {"carrier", 0, 50, 0, {"superblock 0 has queue node 50, but there are 17", no_node_0}},
    {"carrier", 0, 6, 0, {"superblock 0, outside the free queue, has node 6, which is in the queue"}},
    {"carrier", 0, 1, 0, {"superblocks 0 and 1 have the same queue node 1", no_node_0}},
    // The header and the plan.
    {"header", 0, 1, 0, {"the header's magic number is 1, should be 1885433195"}},
    {"header", 1, 1, 0, {"the header's layout is 1, should be 8"}},
    {"header", 2, 9, 0, {"the header's kind is 9, should be 2"}},
    {"header", 3, 1, 0, {"the header's debug is 1, should be 0"}},
    {"header", 4, 4096, 0, {"the header's size in bytes is 4096, should be "}},
    {"header", 6, 3, 0, {"the header's begin of the blocks, in units of 16 bytes, is 3, should be "}},
    {"header", 7, 3, 0, {"the header's limit of the blocks, in units of 16 bytes, is 3, should be "}},
    {"header", 12, 5, 0, {"the header's ref of a collector is 5, should be 0"}},
    {"header", 8, 7, 0, {"the header's atomic64 is 7, should be "}},
    {"header", 10, 7, 0, {"the header's largest size in bytes is 7, should be "}},
    {"plan", 0, 17, 0, {"the plan's number of superblocks is 17, should be 16"}},
    {"plan", 1, 9, 0, {"the plan's shift, log2 of a superblock's units of 16 bytes, is 9, should be 8"}},
    {"plan", 2, 1, 0, {"the plan's number of size classes is 1, should be 28"}},
    {"plan", 3, 9, 0, {"the plan's words of a partial set is 9, should be 1"}},
    {"plan", 4, 9, 0, {"the plan's words of a bitmap is 9, should be 8"}},
    {"plan", 5, 9, 0, {"the plan's place of the states"}},
    {"plan", 6, 9, 0, {"the plan's place of the partial sets"}},
    {"plan", 7, 9, 0, {"the plan's place of the free queue"}},
    {"plan", 8, 9, 0, {"the plan's place of the bitmaps"}},
    {"plan", 9, 9, 0, {"the plan's begin of the superblocks"}},
    {"plan", 10, 9, 0, {"the plan's end of the superblocks"}},
    {"plan", 12, 17, 0, {"the plan's room for superblocks is 17, should be 16"}},
};

// Words of which every bit matters. Of words with tags, the index as far as it goes with 32-bit atomics; of 64-bit
// offers, what is drawn.
struct Place {
    std::string what;
    cl_uint a, bits;
};

std::vector<Place> places(bool grows)
{
    constexpr cl_uint index = 16;
    std::vector<Place> all = {{"set", of_64, 32},        {"set count", of_64, 32},  {"slots", of_64, 32},
                              {"offer word", of_64, 32}, {"head word", 0, index},   {"tail word", 0, index},
                              {"item", 6, 32},           {"queue capacity", 0, 32}, {"moves", 0, 16},
                              {"helpers", of_64, 32},    {"next word", 6, index},   {"next word", 16, index}};
    for (const cl_uint sb : {0, 1, 2, 5})
        all.insert(all.end(), {{"credit", sb, 32}, {"content", sb, 32}, {"bitmap", sb, 256}});
    for (cl_uint sb = 0; sb < 4; sb++)
        all.push_back({"carrier", sb, 32});
    for (cl_uint word = 0; word < 12; word++)
        all.push_back({"header", word, 32});
    for (cl_uint word = 0; word < 13; word++)
        all.push_back({"plan", word, 32});
    if (grows) // of superblocks to come
        all.insert(all.end(), {{"credit", 20, 32}, {"content", 20, 32}, {"bitmap", 20, 256},
                               {"carrier", 20, 32}, {"item", 21, 32}, {"next word", 21, index}});
    return all;
}

void poke(const Heap &heap, std::uint64_t offset, char value)
{
    device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, offset, 1, &value);
}

// The place of the quarantine that has come to hold `ref`: where it lies. (Memory that nobody has written may have it
// by chance.)
std::uint64_t place_of(const Heap &heap, kma::Ref ref, const std::vector<cl_uint> &before)
{
    const std::vector<cl_uint> words = image_of(heap);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < words.size(); i++)
        if (words[i] == ref && before[i] != ref)
            found.push_back(i);
    REQUIRE(found.size() == 1);
    return found[0] * sizeof(cl_uint);
}

} // namespace

TEST_CASE("check names what is wrong in a superblock heap", "[check][long]")
{
    for (const std::string &width : atomic_widths) {
        Town town(superblocks(4096, width));
        const std::vector<cl_uint> image = image_of(town.heap);
        REQUIRE(findings(town.heap) == "");
        const auto check_named = [&](const std::vector<std::string> &named) {
            const std::string text = findings(town.heap);
            for (const std::string &sentence : named)
                CHECK_THAT(text, contains(sentence));
            write_words(town.heap, image);
        };
        for (const Damage &one : damages) {
            CAPTURE(width, one.what, one.a, one.b, one.c);
            town.kernels.damage(one.what, one.a, one.b, one.c);
            check_named(one.named);
        }
        for (cl_uint bit = 0; bit < 64; bit++)
            town.kernels.damage("clear bit", 0, bit);
        town.kernels.damage("credit", 0, kept | 64);
        check_named(
            {partial + "is in the partial set, but all its 64 blocks are free: it should be back in the free queue"});
        town.kernels.allocate(3, 5000);
        town.kernels.damage("header", first_record + third_too_large * record_words + written, 77);
        check_named({mark + "2 of \"request too large\" is 77, should be 1 after 3 such errors"});
        for (cl_uint sb = 4; sb < 16; sb++) // ten sentences of a kind, and the rest are counted
            town.kernels.damage("credit", sb, kept | 9);
        const std::vector<std::string> sentences = town.heap.check();
        REQUIRE(sentences.size() == 11);
        CHECK(sentences.front() == "superblock 4 is free and so has no credit, but it says 9");
        check_named({"there are 2 more credits of free superblocks"});

        for (const std::size_t count : {7, 1, 1, 100}) { // the marks end at 8
            town.kernels.allocate(count, 5000);
            CHECK(findings(town.heap) == "");
        }
        town.heap.clear_errors();
        CHECK(findings(town.heap) == "");
    }
    const Town town(superblocks(4096, atomic_widths[1]));
    town.kernels.damage("offer", of_64 + 1, none, 51 + 2); // 80-byte blocks, of which nobody had any
    CHECK(findings(town.heap) == "");
    town.kernels.damage("offer", of_64 + 1, none, 51 + 3); // beyond where 32-bit atomics stop
    CHECK(findings(town.heap) == "the class of 80-byte blocks has counted 54 draws from its offer, and stops at 53\n");
}

TEST_CASE("check notices every single bit that matters", "[check][long]")
{
    const std::uint64_t max_bytes = GENERATE(0, test::bytes_for_superblocks(24, 0)); // 0: fixed
    for (const std::string &width : atomic_widths) {
        kma::HeapOptions options = superblocks(4096, width);
        options.max_bytes = max_bytes;
        const Town town(options);
        for (const Place &place : places(max_bytes != 0))
            for (cl_uint bit = 0; bit < place.bits; bit++) {
                town.kernels.flip(place.what, place.a, bit);
                if (town.heap.check().empty())
                    FAIL_CHECK("nothing about bit " << bit << " of " << place.what << " " << place.a << ", " << width);
                town.kernels.flip(place.what, place.a, bit);
            }
        CHECK(town.heap.check().empty());
    }
}

TEST_CASE("check names damage to the quarantine", "[check][long]") // conformance has guards
{
    for (const std::string &width : atomic_widths)
        for (const HeapKind kind : {HeapKind::superblock, HeapKind::slab}) {
            CAPTURE(width, kma::name_of(kind));
            const Heap heap(device(), 1 << 17, {.kind = kind, .debug = 2, .build_options = width});
            const Kernels kernels(heap);
            const std::vector<kma::Ref> refs = kernels.allocate(3, 100);
            const std::vector<cl_uint> before = image_of(heap);
            kernels.free({refs[0], refs[1]});
            poke(heap, place_of(heap, refs[0], before) + 3, 5);
            CHECK_THAT(findings(heap), contains("of the quarantine holds ref " + std::to_string(refs[0] | 5u << 24) +
                                                ", which is no freed block, or in it twice"));
            CHECK_THAT(findings(heap), contains("the freed block at ref " + std::to_string(refs[0]) +
                                                " is not in the quarantine, and so will not come back"));
            // Where it is emptied, for want of memory, nothing follows such a ref.
            kernels.allocate(1000, 200);
            CHECK(heap.error_count(kma::ErrorCode::damaged) == 1);
        }
}

TEST_CASE("a heap with damaged blocks can be saved and looked at elsewhere", "[check][long]")
{
    const std::string path = "guarded.heap";
    const Heap heap(device(), 1 << 17, {.debug = 3});
    const Kernels kernels(heap);
    const std::vector<kma::Ref> refs = kernels.allocate(3, 30);
    kernels.free({refs[1]});
    poke(heap, refs[2] * kma::ref_unit + 30, 1);
    heap.save(path);
    const Heap copy = Heap::load(device(), path);
    std::filesystem::remove(path);
    CHECK(findings(copy) == findings(heap));
    CHECK_THAT(findings(copy), contains("was written over behind its end") && contains(" at heap_support.cl:"));
    CHECK(kma::to_text(copy.leaks()) == kma::to_text(heap.leaks()));
    CHECK(kma::to_text(copy.stats()) == kma::to_text(heap.stats()));
    CHECK(copy.leaks().blocks == 2);
}

TEST_CASE("what relies on metadata that are damaged says so", "[check]")
{
    Town town(superblocks(4096));
    town.kernels.damage("plan", 0, 17);
    const auto refuses = [](const auto &action) {
        CHECK_THAT(message_of<kma::Error>(action), contains("damaged") && contains("number of superblocks is 17"));
    };
    refuses([&] { town.heap.stats(); });
    refuses([&] { town.heap.errors(); });
    refuses([&] { town.heap.error_text(); });
    refuses([&] { town.heap.leaks(); });
    refuses([&] { town.heap.snapshot(); });
    refuses([&] { town.heap.reset(); });
    refuses([&] { town.heap.save(KMA_SCRATCH_DIR "/damaged.kma"); });
}

TEST_CASE("statistics and leaks survive damage that they do not rely on", "[check]")
{
    for (const std::string &width : atomic_widths) {
        Town town(superblocks(4096, width));
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

TEST_CASE("check names what is wrong in a bump heap", "[check][long]")
{
    const std::uint64_t begin = Heap::bytes_for(HeapKind::bump, 0) / 16;
    constexpr std::uint64_t head = 2560; // kma_bump's
    const std::string at = "the head is at ", begins = std::to_string(begin), ends = std::to_string(begin + 64);
    const struct {
        std::uint64_t offset, value;
        std::string named;
    } cases[] = {
        {head, begin - 1, at + std::to_string(begin - 1) + ", outside the heap's blocks, which begin at " + begins +
                              " and end at " + ends},
        {head, begin + 65, at + std::to_string(begin + 65)},
        {head, 1ull << 40, at + "1099511627776"},
        {16, 5, "the header's size in bytes is 5"},
        {0, 5, "magic number is 5"},
        {0, 5, "layout is 0"},
        {8, 99, "the header's kind is 99"},
        {28, 3, "the header's limit of the blocks, in units of 16 bytes, is 3"},
    };
    for (const std::string &width : atomic_widths)
        for (const int debug : {0, 1}) {
            const kma::HeapOptions options{.kind = HeapKind::bump, .debug = debug, .build_options = width};
            Heap heap(device(), Heap::bytes_for(HeapKind::bump, 1024), options);
            CHECK(findings(heap) == "");
            Kernels(heap).allocate(200, 16);
            CHECK(findings(heap) == "");
            heap.reset();
            CHECK(findings(heap) == "");
            const std::vector<cl_uint> image = image_of(heap);
            for (const auto &[offset, value, named] : cases) {
                write_words(heap, {static_cast<cl_uint>(value), static_cast<cl_uint>(value >> 32)}, offset / 4);
                CHECK_THAT(message_of<kma::Error>([&] { heap.stats(); }), contains("damaged"));
                if (offset < head) {
                    CHECK_THROWS_AS(heap.errors(), kma::Error);
                    CHECK_THROWS_AS(heap.error_text(), kma::Error);
                }
                CHECK_THROWS_AS(heap.snapshot(), kma::Error);
                CHECK_THAT(findings(heap), contains(named));
                write_words(heap, image);
            }
            write_words(heap, {1}, errors + too_large);
            CHECK_THAT(findings(heap), contains("record 0 of \"request too large\" is 0, should be 1"));
        }
}

TEST_CASE("check names every single bit of a slab heap's constants", "[check][long]")
{
    const test::Street street(test::slabs());
    const std::vector<cl_uint> image = image_of(street.heap);
    constexpr std::size_t first = offsetof(kma::layout::kma_slab, plan) / 4;
    for (std::size_t word = first; word < first + sizeof(kma::layout::kma_slab_plan) / 4; word++) {
        const cl_uint wrong = image[word] ^ 1u << word % 32;
        write_words(street.heap, {wrong}, word);
        CHECK_THAT(findings(street.heap),
                   contains("the plan's ") &&
                       contains(" is " + std::to_string(wrong) + ", should be " + std::to_string(image[word]) + "\n"));
        CHECK_THROWS_AS(street.heap.stats(), kma::Error);
        write_words(street.heap, {image[word]}, word);
    }
    CHECK(findings(street.heap) == "");
}

TEST_CASE("check names a freed block that a slab heap's metadata still have", "[check]")
{
    const Heap heap(device(), 1 << 20, test::slabs(kma::Storage::buffer, 2));
    const Kernels kernels(heap);
    const std::vector<kma::Ref> refs = kernels.allocate(8, 60, true);
    kernels.free({refs[5]});
    const std::vector<cl_uint> before = image_of(heap);
    kernels.free(kernels.allocate(1100, 3000, true)); // which push it out of the quarantine
    const std::vector<cl_uint> now = image_of(heap);
    kma::layout::kma_slab_plan plan;
    std::copy_n(&now[offsetof(kma::layout::kma_slab, plan) / 4], sizeof plan / 4, reinterpret_cast<cl_uint *>(&plan));
    std::size_t word = plan.words * 4 + (refs[5] - plan.begin) / KMA_SLAB_FRAME_UNITS * KMA_SLAB_FRAME_LINES;
    for (const std::size_t behind = word + KMA_SLAB_FRAME_LINES; word < behind && before[word] == now[word];)
        word++; // of the page's lines the one that has the block
    REQUIRE(before[word] != now[word]);
    REQUIRE((before[word] & now[word]) == now[word]);
    CHECK(findings(heap) == "");
    write_words(heap, {before[word]}, word);
    CHECK(findings(heap) == "the freed block at ref " + std::to_string(refs[5]) +
                                " is not in the quarantine, and so will not come back\n");
}
