// Statistics, leaks and snapshots of superblock heaps: exact, and as text.
#include <algorithm>
#include <map>

#include "catch.hpp"
#include "heap_support.hpp"

using kma::Heap;
using kma::HeapKind;
using test::device;
using test::Kernels;
using test::superblocks;
using test::Town;

namespace {

constexpr std::uint64_t block_bytes(std::uint64_t asked) // as size_class.cl rounds
{
    if (asked <= 64)
        return (asked + 15) / 16 * 16;
    const std::uint64_t power = std::bit_floor(asked - 1);
    return (asked + power / 4 - 1) / (power / 4) * (power / 4);
}
static_assert(block_bytes(65) == 80 && block_bytes(128) == 128 && block_bytes(129) == 160 && block_bytes(4000) == 4096);

void for_all(const auto &test)
{
    for (const kma::Storage storage : test::storages())
        for (const std::string &width : test::widths)
            for (const int debug : {0, 1}) {
                kma::HeapOptions options = superblocks(4096, width);
                options.storage = storage;
                options.debug = debug;
                CAPTURE(width, debug);
                test(options);
            }
}

} // namespace

TEST_CASE("the statistics of a superblock heap are exact", "[leaks]")
{
    for_all([](const kma::HeapOptions &options) {
        Town town(options);
        const kma::HeapStats stats = town.heap.stats();
        CHECK(stats.kind == HeapKind::superblock);
        CHECK(stats.debug == options.debug);
        CHECK(stats.bytes == Heap::bytes_for(superblocks(4096), 16 * 4096));
        CHECK(stats.capacity == 16 * 4096);
        CHECK(stats.used == 67 * 64 + 33 * 128);
        CHECK(stats.available() == stats.capacity - stats.used);
        CHECK(stats.blocks == 100);
        CHECK(stats.superblock_bytes == 4096);
        CHECK(stats.superblocks == 16);
        CHECK(stats.superblocks_free == 12);
        CHECK(stats.superblocks_partial == 3);
        CHECK(stats.superblocks_full == 1);
        CHECK(stats.errors == decltype(stats.errors){});
        town.heap.reset();
        CHECK(town.heap.stats().superblocks_free == 16);
        CHECK(town.heap.stats().used == 0);
        CHECK(town.heap.check().empty());
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

TEST_CASE("leaks are exactly the blocks that live", "[leaks]")
{
    for_all([](const kma::HeapOptions &options) {
        Town town(options);
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
        CHECK(town.heap.leaks().blocks == 0);
        CHECK(town.heap.leaks().bytes == 0);
        CHECK(town.heap.leaks().sizes.empty());
        CHECK(town.heap.leaks().first.empty());
        CHECK(town.heap.check().empty());
    });
}

TEST_CASE("leaks of work-items that allocate and free at once", "[leaks]")
{
    for (const std::string &width : test::widths)
        for (const std::uint64_t size : {4096, 65536, 2 << 20}) {
            CAPTURE(width, size);
            const Heap heap(device(), std::max<std::uint64_t>(16 << 20, 80 * size), superblocks(size, width));
            const Kernels kernels(heap);
            const Kernels::Kept kept = kernels.churn(1000, 77, 4000);
            std::map<kma::Ref, std::uint64_t> living;
            std::map<std::uint64_t, std::uint64_t> sizes;
            std::uint64_t bytes = 0;
            for (std::size_t i = 0; i < kept.refs.size(); i++) {
                if (kept.refs[i] == 0)
                    continue;
                living[kept.refs[i]] = block_bytes(kept.sizes[i]);
                sizes[block_bytes(kept.sizes[i])]++;
                bytes += block_bytes(kept.sizes[i]);
            }
            REQUIRE(living.size() > 1000);
            const kma::LeakReport report = heap.leaks(1 << 20);
            CHECK(report.blocks == living.size());
            CHECK(report.bytes == bytes);
            CHECK(heap.stats().blocks == living.size());
            CHECK(heap.stats().used == bytes);
            CHECK(std::ranges::equal(report.first, living, [](const auto &block, const auto &one) {
                return block.ref == one.first && block.bytes == one.second;
            }));
            CHECK(std::ranges::equal(report.sizes, sizes, [](const auto &a, const auto &b) {
                return a.block_bytes == b.first && a.count == b.second;
            }));
        }
}

TEST_CASE("leaks as text", "[leaks]")
{
    Town town(superblocks(4096));
    const std::string first = std::to_string(town.refs[0]);
    CHECK(kma::to_text(town.heap.leaks(1)) == "blocks handed out: 100, 8512 bytes\n  67 of 64 bytes\n"
                                              "  33 of 128 bytes\nthe first 1:\n  ref " +
                                                  first + ", 64 bytes\n");
    CHECK_THAT(kma::to_text(town.heap.leaks(0)), !contains("the first"));
    CHECK(kma::to_text(kma::LeakReport()) == "no block is handed out\n");
    const Heap bump(device(), 4096, {.kind = HeapKind::bump});
    CHECK_THAT(message_of<kma::Error>([&] { bump.leaks(); }),
               contains("does not know which of its blocks live") && contains("HeapKind::slab"));
}

TEST_CASE("with KMA_DEBUG leaks have the sizes that were asked for, and tell who took them", "[leaks][long]")
{
    struct Case {
        HeapKind kind;
        int debug;
    };
    for (const Case &one : {Case{HeapKind::bump, 1}, Case{HeapKind::bump, 2}, Case{HeapKind::bump, 3},
                            Case{HeapKind::superblock, 2}, Case{HeapKind::superblock, 3}, Case{HeapKind::slab, 2},
                            Case{HeapKind::slab, 3}}) {
        CAPTURE(kma::name_of(one.kind), one.debug);
        const Heap heap(device(), 1 << 20, {.kind = one.kind, .debug = one.debug});
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
            CHECK(block.work_item.has_value() == (one.debug >= 2));
            CHECK(block.work_item.value_or(owner) == owner);
            CHECK(block.where.starts_with("heap_support.cl:") == (one.debug == 3));
        }
        CHECK(report.places.size() == (one.debug == 3 ? 1 : 0));
        const std::string text = kma::to_text(heap.leaks(1));
        CHECK_THAT(text, contains("blocks handed out: 4, 234 bytes\n"));
        if (one.debug == 3)
            CHECK_THAT(text, contains("\n  4 taken at heap_support.cl:") && contains(", 234 bytes\nthe first 1:\n") &&
                                 contains("bytes, taken by work-item ") && contains(" at heap_support.cl:"));
        kernels.free({refs[0], refs[1], refs[3], refs[4]});
        CHECK(heap.leaks().blocks == 0);
        CHECK(heap.check().empty());
        CHECK(heap.error_text() == "");
    }
}

TEST_CASE("a snapshot has the superblocks in use", "[leaks]")
{
    for_all([](const kma::HeapOptions &options) {
        Town town(options);
        const std::uint64_t begin = town.refs[0] * kma::ref_unit;
        CHECK(begin % 4096 == 0);
        const auto apart = town.kernels.allocate(256, 4096, true); // all that is left
        town.kernels.free({apart.begin(), apart.begin() + 5});
        town.kernels.free({apart.begin() + 6, apart.begin() + 11});
        {
            kma::MappedRange range = town.heap.map(town.refs[99], 128);
            std::ranges::fill(range.as<cl_uint>(), 99);
        }
        const kma::Snapshot snapshot = town.heap.snapshot();
        // Of the single blocks, the sixth is left, and the last.
        REQUIRE(snapshot.extents().size() == 3);
        CHECK(snapshot.extents()[0].offset == begin);
        CHECK(snapshot.extents()[0].bytes.size() == 4 * 4096);
        CHECK(snapshot.extents()[1].offset == apart[5] * kma::ref_unit);
        CHECK(snapshot.extents()[2].offset == begin + 15 * 4096);
        CHECK(snapshot.copied_bytes() == 6 * 4096);
        CHECK(*snapshot.deref<std::array<cl_uint, 32>>(town.refs[99]) == [] {
            std::array<cl_uint, 32> all;
            all.fill(99);
            return all;
        }());
        CHECK(snapshot.deref<char>(apart[5]) != nullptr);
        CHECK_THROWS_AS(snapshot.deref<char>(apart[4]), kma::Error);
        CHECK_THROWS_AS(snapshot.deref<char>(apart[6]), kma::Error);
        CHECK_THROWS_AS(snapshot.deref<char>(static_cast<kma::Ref>(begin / 16 - 1)), kma::Error);
        CHECK_THROWS_AS(town.heap.map(static_cast<kma::Ref>(begin / 16 - 1), 16), kma::Error);
    });
}

TEST_CASE("a snapshot of a large heap with little in it is small", "[leaks]")
{
    const Heap heap(device(), 256 << 20, superblocks(0));
    CHECK(heap.snapshot().extents().empty());
    CHECK(heap.snapshot().end() == 0);
    test::Kernels(heap).allocate(100, 100);
    const kma::HeapStats stats = heap.stats();
    const std::uint64_t in_use = stats.superblocks - stats.superblocks_free;
    CHECK(heap.snapshot().copied_bytes() == in_use * stats.superblock_bytes);
    CHECK(in_use >= 1);
    CHECK(in_use <= 2); // who comes at once may open a second one
}
