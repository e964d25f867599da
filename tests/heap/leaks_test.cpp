// Statistics, leaks and snapshots of superblock and slab heaps: exact, and as text.
#include <algorithm>
#include <array>

#include "catch.hpp"
#include "heap_support.hpp"

using kma::Heap;
using kma::HeapKind;
using test::device;
using test::findings;
using test::frame_bytes;
using test::Kernels;
using test::slabs;
using test::Street;
using test::superblocks;
using test::Town;

namespace {

template <class Test> void for_towns(const Test &test)
{
    for (const kma::Storage storage : test::storages())
        for (const std::string &width : test::atomic_widths)
            for (const int debug : {0, 1}) {
                CAPTURE(width, static_cast<int>(storage), debug);
                Town town({HeapKind::superblock, storage, debug, {4096}, {}, width});
                test(town);
            }
}

template <class Test> void for_streets(const Test &test)
{
    for (const kma::Storage storage : test::storages())
        for (const int debug : {0, 1}) {
            CAPTURE(static_cast<int>(storage), debug);
            Street street(slabs(storage, debug));
            test(street);
        }
}

// The statistics of a heap of sixteen superblocks or frames.
kma::HeapStats check_stats(const Heap &heap, std::uint64_t part_bytes, std::uint64_t used, std::uint64_t blocks)
{
    const kma::HeapStats stats = heap.stats();
    CHECK(stats.kind == heap.options().kind);
    CHECK(stats.debug == heap.options().debug);
    CHECK(stats.bytes == heap.bytes());
    CHECK(stats.capacity == 16 * part_bytes);
    CHECK(stats.used == used);
    CHECK(stats.available() == stats.capacity - used);
    CHECK(stats.blocks == blocks);
    CHECK(stats.superblock_bytes == part_bytes);
    CHECK(stats.superblocks == 16);
    CHECK(stats.superblocks_free + stats.superblocks_partial + stats.superblocks_full == 16);
    CHECK(stats.errors == decltype(stats.errors){});
    CHECK(findings(heap) == "");
    return stats;
}

void check_no_leaks(const Heap &heap)
{
    const kma::LeakReport report = heap.leaks();
    CHECK(report.blocks == 0);
    CHECK(report.bytes == 0);
    CHECK(report.sizes.empty());
    CHECK(report.first.empty());
    CHECK(findings(heap) == "");
}

} // namespace

TEST_CASE("the statistics of superblock and slab heaps are exact", "[leaks][long]")
{
    for_towns([](Town &town) {
        const kma::HeapStats stats = check_stats(town.heap, 4096, 67 * 64 + 33 * 128, 100);
        CHECK(stats.superblocks_free == 12);
        CHECK(stats.superblocks_partial == 3);
        CHECK(stats.superblocks_full == 1);
        town.heap.reset();
        CHECK(check_stats(town.heap, 4096, 0, 0).superblocks_free == 16);
    });
    for_streets([](Street &street) {
        CHECK(check_stats(street.heap, frame_bytes, Street::used, 20).superblocks_free >= 10);
        street.kernels.free(street.refs);
        check_stats(street.heap, frame_bytes, 0, 0);
        street.heap.reset();
        CHECK(check_stats(street.heap, frame_bytes, 0, 0).superblocks_free == 16);
    });
}

TEST_CASE("statistics as text", "[leaks]")
{
    Town town(superblocks(4096));
    town.kernels.allocate(3, 5000);
    const std::string text = kma::to_text(town.heap.stats());
    CHECK_THAT(text, contains("superblock heap:\n  ") && contains("\n  100 blocks handed out (0 where") &&
                         contains("\n  65536 bytes of it for blocks\n") && contains("\n  8512 bytes in blocks") &&
                         contains("\n  12 superblocks that serve any size\n") &&
                         contains("\n  3 x request too large: "));
    CHECK(std::ranges::count(text, '\n') == 1 + 9 + 1);
    const Heap bump(device(), 4096, {.kind = HeapKind::bump, .debug = 1});
    CHECK_THAT(kma::to_text(bump.stats()), contains("bump heap with KMA_DEBUG 1:\n  4096 bytes in the whole buffer\n"));
}

TEST_CASE("leaks are exactly the blocks that live, and as text", "[leaks]") // conformance looks at each block
{
    for_towns([](Town &town) {
        const std::string text = "blocks handed out: 100, 8512 bytes\n  67 of 64 bytes\n  33 of 128 bytes\n";
        const std::string first = "the first 1:\n  ref " + std::to_string(town.refs[0]) + ", 64 bytes\n";
        CHECK(kma::to_text(town.heap.leaks(0)) == text);
        CHECK(kma::to_text(town.heap.leaks(1)) == text + first);
        CHECK(town.heap.leaks().first.size() == 100);
        REQUIRE(town.heap.leaks(68).first.size() == 68);
        CHECK(town.heap.leaks(68).first[67].ref == town.refs[67]);
        town.kernels.free(town.refs);
        check_no_leaks(town.heap);
    });
    for_streets([](Street &street) {
        const kma::LeakReport report = street.heap.leaks();
        CHECK(report.blocks == 20);
        CHECK(report.bytes == Street::used);
        CHECK_THAT(kma::to_text(report), contains("blocks handed out: 20, 33536 bytes\n  16 of 64 bytes\n"
                                                  "  3 of 4096 bytes\n  1 of 20224 bytes\nthe first 20:\n"));
        std::vector<kma::Ref> refs = street.refs;
        std::ranges::sort(refs);
        CHECK(std::ranges::equal(report.first, refs, {}, &kma::LeakReport::Block::ref));
        CHECK(street.heap.leaks(7).first.size() == 7);
        street.kernels.free(street.refs);
        check_no_leaks(street.heap);
    });
    CHECK(kma::to_text(kma::LeakReport()) == "no block is handed out\n");
    const Heap bump(device(), 4096, {.kind = HeapKind::bump});
    CHECK_THAT(message_of<kma::Error>([&] { bump.leaks(); }),
               contains("does not know which of its blocks live") && contains("HeapKind::slab"));
}

TEST_CASE("with KMA_DEBUG leaks tell the work-item that took them, as text", "[leaks]")
{
    const Heap heap(device(), 1 << 20, slabs(kma::Storage::buffer, 3));
    const Kernels kernels(heap);
    const std::vector<kma::Ref> refs = kernels.allocate({1, 100, 17, 100, 33});
    kernels.free({refs[2]});
    CHECK_THAT(kma::to_text(heap.leaks(1)),
               contains("blocks handed out: 4, 234 bytes\n") && contains("\n  4 taken at heap_support.cl:") &&
                   contains(", 234 bytes\nthe first 1:\n") && contains("bytes, taken by work-item ") &&
                   contains(" at heap_support.cl:"));
    for (const kma::LeakReport::Block &block : heap.leaks().first) {
        CHECK(block.work_item == std::uint64_t(std::ranges::find(refs, block.ref) - refs.begin()));
        CHECK(block.where.starts_with("heap_support.cl:"));
    }
    kernels.free({refs[0], refs[1], refs[3], refs[4]});
    check_no_leaks(heap);
    CHECK(heap.error_text() == "");
    const Heap bump(device(), 1 << 20, {.kind = HeapKind::bump, .debug = 1});
    Kernels(bump).allocate(1, 100);
    CHECK(kma::to_text(bump.leaks(1)).ends_with(", 100 bytes\n")); // and no work-item
}

TEST_CASE("a snapshot has the superblocks, or the lines, in use", "[leaks]")
{
    for_towns([](Town &town) {
        const std::uint64_t begin = town.refs[0] * kma::ref_unit;
        CHECK(begin % 4096 == 0);
        const auto apart = town.kernels.allocate(256, 4096, true); // all that is left
        town.kernels.free({apart.begin(), apart.begin() + 5});
        town.kernels.free({apart.begin() + 6, apart.begin() + 11});
        std::ranges::fill(town.heap.map(town.refs[99], 128).as<cl_uint>(), 99);
        const kma::Snapshot snapshot = town.heap.snapshot();
        // Of the single blocks, the sixth is left, and the last.
        REQUIRE(snapshot.extents().size() == 3);
        CHECK(snapshot.extents()[0].offset == begin);
        CHECK(snapshot.extents()[0].bytes.size() == 4 * 4096);
        CHECK(snapshot.extents()[1].offset == apart[5] * kma::ref_unit);
        CHECK(snapshot.extents()[2].offset == begin + 15 * 4096);
        CHECK(snapshot.copied_bytes() == 6 * 4096);
        std::array<cl_uint, 32> written;
        written.fill(99);
        CHECK(*snapshot.deref<std::array<cl_uint, 32>>(town.refs[99]) == written);
        CHECK(snapshot.deref<char>(apart[5]) != nullptr);
        for (const kma::Ref outside : {apart[4], apart[6], static_cast<kma::Ref>(begin / 16 - 1)})
            CHECK_THROWS_AS(snapshot.deref<char>(outside), kma::Error);
        CHECK_THROWS_AS(town.heap.map(static_cast<kma::Ref>(begin / 16 - 1), 16), kma::Error);
    });
    for_streets([](Street &street) {
        const kma::Ref longest = street.refs[19];
        std::ranges::fill(street.heap.map(longest, 20000).as<cl_uint>(), 99);
        const kma::Snapshot snapshot = street.heap.snapshot();
        // Two slabs of 64-byte blocks have room for twelve more.
        CHECK(snapshot.copied_bytes() >= Street::used);
        CHECK(snapshot.copied_bytes() <= Street::used + 16 * 64 + 256);
        const auto last = static_cast<kma::Ref>(longest + 20000 / kma::ref_unit - 1);
        CHECK(*snapshot.deref<cl_uint>(last) == 99);
        street.kernels.free({longest});
        CHECK_THROWS_AS(street.heap.snapshot().deref<cl_uint>(last), kma::Error);
    });
}

TEST_CASE("a snapshot of a large heap with little in it is small", "[leaks]")
{
    for (const HeapKind kind : {HeapKind::superblock, HeapKind::slab}) {
        const Heap heap(device(), 256 << 20, {.kind = kind});
        CHECK(heap.snapshot().extents().empty());
        CHECK(heap.snapshot().end() == 0);
        Kernels(heap).allocate(kind == HeapKind::slab ? 1 : 100, 100);
        const kma::HeapStats stats = heap.stats();
        const std::uint64_t in_use = stats.superblocks - stats.superblocks_free;
        CHECK(heap.snapshot().copied_bytes() <= in_use * stats.superblock_bytes);
        if (kind == HeapKind::superblock)
            CHECK(heap.snapshot().copied_bytes() == in_use * stats.superblock_bytes);
        CHECK(in_use >= 1);
        CHECK(in_use <= 2); // callers that come together may open a second superblock
    }
}
