// Statistics, leaks and snapshots of superblock and slab heaps: exact, and as text.
#include <algorithm>
#include <array>
#include <bit>
#include <map>

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

// As size_class.cl rounds.
constexpr std::uint64_t block_bytes(std::uint64_t asked)
{
    if (asked <= 64)
        return (asked + 15) / 16 * 16;
    const std::uint64_t power = std::bit_floor(asked - 1);
    return (asked + power / 4 - 1) / (power / 4) * (power / 4);
}
static_assert(block_bytes(65) == 80 && block_bytes(128) == 128 && block_bytes(129) == 160 && block_bytes(4000) == 4096);

template <class Test> void for_towns(const Test &test)
{
    for (const kma::Storage storage : test::storages())
        for (const std::string &width : test::atomic_widths)
            for (const int debug : {0, 1}) {
                kma::HeapOptions options = superblocks(4096, width);
                options.storage = storage;
                options.debug = debug;
                CAPTURE(width, static_cast<int>(storage), debug);
                Town town(options);
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

TEST_CASE("the statistics of superblock and slab heaps are exact", "[leaks]")
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
                         contains("\n  12 superblocks that serve any size\n") && contains("\n  3 x request too large: "));
    CHECK(std::ranges::count(text, '\n') == 1 + 9 + 1);
    const Heap bump(device(), 4096, {.kind = HeapKind::bump, .debug = 1});
    CHECK_THAT(kma::to_text(bump.stats()), contains("bump heap with KMA_DEBUG 1:\n  4096 bytes in the whole buffer\n"));
}

TEST_CASE("leaks are exactly the blocks that live", "[leaks]")
{
    for_towns([](Town &town) {
        const kma::LeakReport report = town.heap.leaks();
        CHECK(report.blocks == 100);
        CHECK(report.bytes == 67 * 64 + 33 * 128);
        REQUIRE(report.sizes.size() == 2);
        CHECK(report.sizes[0].block_bytes == 64);
        CHECK(report.sizes[0].count == 67);
        CHECK(report.sizes[1].block_bytes == 128);
        CHECK(report.sizes[1].count == 33);
        REQUIRE(report.first.size() == 100);
        for (std::size_t i = 0; i < 100; i++) { // taken in the order of the heap
            CHECK(report.first[i].ref == town.refs[i]);
            CHECK(report.first[i].bytes == (i < 67 ? 64 : 128));
        }
        CHECK(town.heap.leaks(0).first.empty());
        CHECK(town.heap.leaks(0).blocks == 100);
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
        CHECK(street.heap.leaks(0).first.empty());
        CHECK(street.heap.leaks(7).first.size() == 7);
        street.kernels.free(street.refs);
        check_no_leaks(street.heap);
    });
}

TEST_CASE("check and leaks of a heap in which many allocate and free at once", "[leaks]")
{
    std::vector<kma::HeapOptions> all;
    for (const kma::Storage storage : test::storages()) {
        for (const std::string &width : test::atomic_widths)
            for (const std::uint64_t size : {4096, 65536, 2 << 20}) {
                all.push_back(superblocks(size, width));
                all.back().storage = storage;
                all.back().debug = size == 65536 ? 3 : 0;
            }
        for (const int debug : {0, 3})
            all.push_back(slabs(storage, debug));
    }
    for (const kma::HeapOptions &options : all) {
        const bool is_slab = options.kind == HeapKind::slab;
        CAPTURE(is_slab, static_cast<int>(options.storage), options.debug, options.superblock.bytes, options.build_options);
        Heap heap(device(), std::max<std::uint64_t>(40 << 20, 80 * options.superblock.bytes), options);
        const Kernels kernels(heap);
        CHECK(findings(heap) == "");
        std::map<kma::Ref, cl_ulong> living; // and bytes asked for
        for (cl_uint seed = 1; seed <= 3; seed++) {
            const Kernels::Kept kept = kernels.churn(2000, seed * 1000000, is_slab ? 9000 : 4096);
            for (std::size_t i = 0; i < kept.refs.size(); i++)
                if (kept.refs[i] != 0)
                    CHECK(living.emplace(kept.refs[i], kept.sizes[i]).second);
            CHECK(findings(heap) == "");
            CHECK(heap.error_text() == "");
        }
        REQUIRE(living.size() > 5000);
        const kma::LeakReport report = heap.leaks(1 << 20);
        CHECK(report.blocks == living.size());
        CHECK(heap.stats().blocks == living.size());
        // In a slab heap the sizes are near each other, and lanes together take one of them.
        const auto is_block = [&](const kma::LeakReport::Block &block, const auto &one) {
            const cl_ulong asked = one.second, bytes = options.debug == 3 ? asked : block_bytes(asked);
            return block.ref == one.first &&
                   (is_slab && options.debug == 0 ? block.bytes >= asked && block.bytes <= asked + 15 + asked / 8 + 256
                                                  : block.bytes == bytes);
        };
        CHECK(std::ranges::equal(report.first, living, is_block));
        std::map<std::uint64_t, std::uint64_t> sizes;
        std::uint64_t bytes = 0;
        for (const kma::LeakReport::Block &block : report.first) {
            sizes[block.bytes]++;
            bytes += block.bytes;
        }
        CHECK(report.bytes == bytes);
        if (options.debug == 0)
            CHECK(heap.stats().used == bytes);
        CHECK(std::ranges::equal(report.sizes, sizes, [](const auto &a, const auto &b) {
            return a.block_bytes == b.first && a.count == b.second;
        }));
        std::vector<kma::Ref> refs;
        for (const auto &[ref, asked] : living)
            refs.push_back(ref);
        kernels.free(refs);
        CHECK(findings(heap) == "");
        CHECK(heap.stats().blocks == 0);
        kernels.allocate(5000, 48);
        heap.reset();
        CHECK(findings(heap) == "");
        CHECK(heap.stats().superblocks_free == heap.stats().superblocks);
    }
}

TEST_CASE("leaks as text", "[leaks]")
{
    Town town(superblocks(4096));
    CHECK(kma::to_text(town.heap.leaks(1)) ==
          "blocks handed out: 100, 8512 bytes\n  67 of 64 bytes\n  33 of 128 bytes\nthe first 1:\n  ref " +
              std::to_string(town.refs[0]) + ", 64 bytes\n");
    CHECK_THAT(kma::to_text(town.heap.leaks(0)), !contains("the first"));
    CHECK(kma::to_text(kma::LeakReport()) == "no block is handed out\n");
    const Heap bump(device(), 4096, {.kind = HeapKind::bump});
    CHECK_THAT(message_of<kma::Error>([&] { bump.leaks(); }),
               contains("does not know which of its blocks live") && contains("HeapKind::slab"));
}

TEST_CASE("with KMA_DEBUG leaks have the sizes that were asked for, and tell who took them", "[leaks][long]")
{
    for (const auto &[kind, debug] : {std::pair(HeapKind::bump, 1), {HeapKind::superblock, 2}, {HeapKind::slab, 3}}) {
        CAPTURE(kma::name_of(kind), debug);
        const Heap heap(device(), 1 << 20, {.kind = kind, .debug = debug});
        const Kernels kernels(heap);
        CHECK(kma::to_text(heap.leaks()) == "no block is handed out\n");
        const std::vector<cl_ulong> sizes = {1, 100, 17, 100, 33};
        const std::vector<kma::Ref> refs = kernels.allocate(sizes);
        kernels.free({refs[2]});
        const kma::LeakReport report = heap.leaks();
        CHECK(report.blocks == 4);
        CHECK(report.bytes == 1 + 100 + 100 + 33);
        REQUIRE(report.sizes.size() == 3);
        CHECK(report.sizes[2].block_bytes == 100);
        CHECK(report.sizes[2].count == 2);
        REQUIRE(report.first.size() == 4);
        for (const kma::LeakReport::Block &block : report.first) {
            const std::size_t owner = std::ranges::find(refs, block.ref) - refs.begin();
            REQUIRE(owner < refs.size());
            CHECK(block.bytes == sizes[owner]);
            CHECK(block.work_item.has_value() == (debug >= 2));
            CHECK(block.work_item.value_or(owner) == owner);
            CHECK(block.where.starts_with("heap_support.cl:") == (debug == 3));
        }
        CHECK(report.places.size() == (debug == 3 ? 1 : 0));
        const std::string text = kma::to_text(heap.leaks(1));
        CHECK_THAT(text, contains("blocks handed out: 4, 234 bytes\n"));
        if (debug == 3)
            CHECK_THAT(text, contains("\n  4 taken at heap_support.cl:") && contains(", 234 bytes\nthe first 1:\n") &&
                                 contains("bytes, taken by work-item ") && contains(" at heap_support.cl:"));
        kernels.free({refs[0], refs[1], refs[3], refs[4]});
        CHECK(heap.leaks().blocks == 0);
        CHECK(heap.check().empty());
        CHECK(heap.error_text() == "");
    }
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
