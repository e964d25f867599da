// How large heaps and superblocks are: what is chosen, what is refused, and what suffices.
#include <algorithm>
#include <bit>

#include "catch.hpp"
#include "heap_support.hpp"

using kma::BlockDemand;
using kma::Heap;
using kma::HeapKind;
using test::device;
using test::superblocks;

namespace {

std::string refusal(std::uint64_t bytes, const kma::HeapOptions &options)
{
    return message_of<kma::Error>([&] { Heap(device(), bytes, options); });
}

constexpr std::uint64_t largest_by_ref = (1ull << 36) - 32;

} // namespace

TEST_CASE("superblock sizes are powers of two from 4 KiB to 2 MiB", "[sizes]")
{
    for (const std::uint64_t bad : {1ull, 2048ull, 4095ull, 4097ull, 12288ull, 1ull << 22, ~0ull, 1ull << 63}) {
        const std::string said = "superblock_bytes = " + std::to_string(bad);
        CHECK_THAT(refusal(1 << 24, superblocks(bad)),
                   contains(said) && contains("power of two from 4096 to 2097152, or 0"));
        CHECK_THAT(message_of<kma::Error>([&] { Heap::bytes_for(superblocks(bad), 1); }), contains(said));
    }
    for (std::uint64_t size = 4096; size <= 2 << 20; size *= 2) {
        const Heap heap(device(), 8 << 20, superblocks(size));
        CHECK(heap.stats().superblock_bytes == size);
        CHECK(heap.stats().superblocks < (8 << 20) / size);
        CHECK(heap.stats().superblocks > (8 << 20) / size * 97 / 100 - 2);
        CHECK(heap.options().superblock_bytes == size);
        CHECK(heap.check().empty());
    }
}

TEST_CASE("without a wish, superblocks are the power of two not above 1/128 of the heap", "[sizes]")
{
    struct {
        std::uint64_t bytes, chosen;
    } const cases[] = {{20000, 4096},         {1 << 20, 8192},        {(1 << 20) - 1, 4096},
                       {(2 << 20) - 1, 8192}, {(2 << 20) + 1, 16384}, {16 << 20, 128 << 10},
                       {50 << 20, 256 << 10}, {256 << 20, 2 << 20},   {600 << 20, 2 << 20}};
    for (const auto &one : cases) {
        const Heap heap(device(), one.bytes, superblocks(0));
        CHECK(heap.options().superblock_bytes == one.chosen);
        CHECK(heap.stats().superblock_bytes == one.chosen);
    }
}

TEST_CASE("superblock heaps of impossible sizes are refused", "[sizes]")
{
    for (const std::string &width : test::widths)
        for (const std::uint64_t size : {0, 4096, 65536, 2 << 20}) {
            const kma::HeapOptions options = superblocks(size, width);
            const std::uint64_t least = Heap::bytes_for(options, 1);
            for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{15}, least - 1})
                CHECK_THAT(refusal(bytes, options),
                           contains("a heap of " + std::to_string(bytes) + " bytes is too small") &&
                               contains("one superblock of " + std::to_string(size ? size : 4096) + " bytes need " +
                                        std::to_string(least)));
            const Heap smallest(device(), least, options);
            CHECK(smallest.stats().superblocks == 1);
            CHECK(smallest.check().empty());
            CHECK(test::Kernels(smallest).allocate(1, size ? size : 4096)[0] != 0);
            CHECK_THAT(refusal(largest_by_ref + 1, options), contains("too large") && contains("references"));
            CHECK_THAT(refusal(~0ull, options), contains("too large"));
        }
    const std::uint64_t largest = device().max_buffer_bytes();
    if (largest < largest_by_ref)
        CHECK_THAT(refusal(largest + 1, superblocks(0)), contains("too large") && contains(std::to_string(largest)));
}

TEST_CASE("more superblocks than 32-bit atomics number are refused with a size that would do", "[sizes]")
{
    const std::uint64_t most = Heap::bytes_for(superblocks(4096), 65534 * 4096ull);
    const std::uint64_t more = Heap::bytes_for(superblocks(4096), 65535 * 4096ull);
    if (device().max_buffer_bytes() < 1ull << 30)
        return;
    const std::string message = refusal(more, superblocks(4096, test::widths[1]));
    CHECK_THAT(message, contains("room for 65535 superblocks of 4096 bytes") &&
                            contains("without 64-bit atomics there can be 65534: superblock_bytes = 8192 would do"));
    CHECK(refusal(more, superblocks(8192, test::widths[1])) == "no error");
    CHECK(refusal(more, superblocks(0, test::widths[1])) == "no error");
    CHECK_THAT(refusal(600 << 20, superblocks(4096, test::widths[1])), contains("superblock_bytes = 16384 would do"));
    // The most there can be, to the last one.
    const Heap heap(device(), most, superblocks(4096, test::widths[1]));
    const test::Kernels kernels(heap);
    CHECK(heap.stats().superblocks == 65534);
    const auto refs = kernels.allocate(65534, 4096);
    CHECK(std::ranges::count(refs, kma::Ref{0}) == 0);
    CHECK(heap.stats().superblocks_full + heap.stats().superblocks_partial == 65534);
    CHECK(heap.check().empty());
    kernels.free(refs);
    CHECK(heap.check().empty());
}

TEST_CASE("a heap may have more superblocks than 16 bits number", "[sizes]")
{
    const kma::HeapOptions options = superblocks(4096);
    const std::uint64_t bytes = Heap::bytes_for(options, 66000 * 4096ull);
    if (device().max_buffer_bytes() < bytes)
        return;
    Heap heap(device(), bytes, options);
    const test::Kernels kernels(heap);
    CHECK(heap.stats().superblocks == 66000);
    auto refs = kernels.allocate(66000, 4096);
    CHECK(std::ranges::count(refs, kma::Ref{0}) == 0);
    CHECK(kernels.allocate(1, 16)[0] == 0);
    CHECK(heap.check().empty());
    CHECK(heap.leaks().blocks == 66000);
    std::ranges::sort(refs);
    CHECK(heap.leaks(66000).first.back().ref == refs.back());
    kernels.free(refs);
    CHECK(heap.stats().blocks == 0);
    CHECK(heap.check().empty());
    heap.reset();
    CHECK(heap.stats().superblocks_free == 66000);
}

TEST_CASE("bytes_for leaves the payload in superblocks too", "[sizes]")
{
    for (const std::uint64_t size : {0, 4096, 65536, 2 << 20})
        for (const std::uint64_t payload :
             {0ull, 1ull, 4096ull, 4097ull, 2ull << 20, (2ull << 20) + 1, 5000000ull, 33333333ull}) {
            const kma::HeapOptions options = superblocks(size);
            CAPTURE(size, payload);
            const Heap heap(device(), Heap::bytes_for(options, payload), options);
            const kma::HeapStats stats = heap.stats();
            CHECK(stats.capacity >= payload);
            if (size != 0)
                CHECK(stats.superblocks == std::max<std::uint64_t>((payload + size - 1) / size, 1));
        }
    CHECK(Heap::bytes_for(HeapKind::superblock, 5000000) == Heap::bytes_for(superblocks(0), 5000000));
    CHECK(Heap::bytes_for(superblocks(4096), ~0ull) > largest_by_ref);
    CHECK(Heap::bytes_for(superblocks(0), ~0ull) > largest_by_ref);
    CHECK(Heap::bytes_for(superblocks(0), 1ull << 37) > 1ull << 37);
    CHECK(Heap::bytes_for(HeapKind::bump, ~0ull) > largest_by_ref);
}

TEST_CASE("bytes_for chooses the superblocks that the heap will choose", "[sizes]")
{
    std::uint64_t before = 0;
    for (std::uint64_t payload = 1; payload < 1ull << 36; payload = payload * 21 / 20 + 1) {
        const std::uint64_t bytes = Heap::bytes_for(superblocks(0), payload);
        CHECK(bytes > payload);
        CHECK(bytes >= before);
        const std::uint64_t chosen = std::bit_floor(std::clamp<std::uint64_t>(bytes / 128, 4096, 2 << 20));
        CHECK(bytes >= Heap::bytes_for(superblocks(chosen), payload));
        if (payload > 10 << 20)
            CHECK(bytes < payload * 1.02 + 2 * chosen);
        before = bytes;
    }
}

TEST_CASE("bytes_for blocks suffices for them, whatever their order", "[sizes]")
{
    const std::vector<std::vector<BlockDemand>> demands = {
        {},
        {{0, 1000}},
        {{1, 1}},
        {{16, 256}, {16, 1}},
        {{8, 5000}, {24, 3000}},
        {{16, 1000}, {48, 1000}, {100, 1000}, {1000, 100}, {4096, 20}},
        {{4096, 300}},
        {{1, 100}, {2, 100}, {16, 100}, {17, 100}, {0, 100}},
    };
    for (const std::string &width : test::widths)
        for (const std::uint64_t size : {0, 4096, 65536, 2 << 20})
            for (const auto &demand : demands) {
                const kma::HeapOptions options = superblocks(size, width);
                const Heap heap(device(), Heap::bytes_for(options, demand), options);
                const test::Kernels kernels(heap);
                std::vector<cl_ulong> sizes;
                for (const BlockDemand &one : demand)
                    sizes.insert(sizes.end(), one.size == 0 ? 0 : one.count, one.size);
                for (int round = 0; round < 3 && !sizes.empty(); round++) {
                    const auto refs = kernels.allocate(sizes, round == 1);
                    CHECK(std::ranges::count(refs, kma::Ref{0}) == 0);
                    CHECK(heap.stats().blocks == sizes.size());
                    kernels.free(refs);
                    std::ranges::reverse(sizes);
                }
                CHECK(heap.check().empty());
            }
}

TEST_CASE("bytes_for blocks counts as the bump heap does", "[sizes]")
{
    for (const int debug : {0, 1, 2, 3}) {
        const kma::HeapOptions options{.kind = HeapKind::bump, .debug = debug};
        const std::uint64_t around = debug >= 2 ? 64 : 16 * static_cast<std::uint64_t>(debug);
        const std::vector<BlockDemand> demand = {{8, 50}, {0, 7}, {100, 3}};
        const std::uint64_t bytes = Heap::bytes_for(options, demand);
        CHECK(bytes == Heap::bytes_for(options, 50 * 16 + 3 * 112 + 53 * around));
        const Heap heap(device(), bytes, options);
        std::vector<cl_ulong> sizes(50, 8);
        sizes.insert(sizes.end(), 3, 100);
        CHECK(std::ranges::count(test::Kernels(heap).allocate(sizes), kma::Ref{0}) == 0);
        CHECK(heap.stats().available() == 0);
    }
    CHECK(Heap::bytes_for({.kind = HeapKind::bump}, {{1ull << 40, 1ull << 40}}) == ~0ull);
    CHECK(Heap::bytes_for({.kind = HeapKind::bump}, {{~0ull, 1}, {16, ~0ull}}) == ~0ull);
}

TEST_CASE("bytes_for blocks knows what KMA_DEBUG puts around them", "[sizes]")
{
    for (const int debug : {2, 3})
        for (const std::uint64_t size : {0, 4096}) {
            kma::HeapOptions options = superblocks(size);
            options.debug = debug;
            const std::vector<BlockDemand> demand = {{8, 500}, {100, 300}, {4032, 5}};
            const Heap heap(device(), Heap::bytes_for(options, demand), options);
            std::vector<cl_ulong> sizes(500, 8);
            sizes.insert(sizes.end(), 300, 100);
            sizes.insert(sizes.end(), 5, 4032);
            CHECK(std::ranges::count(test::Kernels(heap).allocate(sizes), kma::Ref{0}) == 0);
            CHECK(heap.check().empty());
            options.superblock_bytes = 4096;
            CHECK_THAT(message_of<kma::Error>([&] {
                           Heap::bytes_for(options, {{4033, 1}});
                       }),
                       contains("4096 bytes here, less 64 that KMA_DEBUG puts around"));
        }
}

TEST_CASE("a number that is no KMA_DEBUG is refused", "[sizes]")
{
    for (const int debug : {-1, 4}) {
        kma::HeapOptions options;
        options.debug = debug;
        const std::string what = "HeapOptions::debug = " + std::to_string(debug) + " is no KMA_DEBUG";
        CHECK_THAT(refusal(1 << 20, options), contains(what));
        CHECK_THAT(message_of<kma::Error>([&] { Heap::bytes_for(options, 100); }), contains(what));
        kma::ProgramOptions program;
        program.debug = debug;
        CHECK_THAT(message_of<kma::Error>([&] {
                       kma::Program(device(), {{"mine.cl", "kernel void f() {}\n"}}, program);
                   }),
                   contains("ProgramOptions::debug = " + std::to_string(debug) + " is no KMA_DEBUG"));
    }
}

TEST_CASE("blocks that no superblock holds are refused", "[sizes]")
{
    const auto message = [](std::uint64_t superblock, std::uint64_t block) {
        return message_of<kma::Error>([&] {
            Heap::bytes_for(superblocks(superblock), {{16, 1}, {block, 1}, {32, 1}});
        });
    };
    CHECK(message(4096, 4096) == "no error");
    CHECK(message(0, 2 << 20) == "no error");
    CHECK_THAT(message(4096, 4097),
               contains("no blocks of 4097 bytes") && contains("4096 bytes here, 2097152 at most"));
    CHECK_THAT(message(0, (2 << 20) + 1), contains("no blocks of 2097153 bytes") && contains("2097152 bytes here"));
    // Beyond any heap: a number, not an error, so that it can be compared with what a device has.
    CHECK(Heap::bytes_for(superblocks(0), {{64, ~0ull}, {64, ~0ull}}) > largest_by_ref);
    CHECK(Heap::bytes_for(superblocks(4096), {{64, 1ull << 36}}) > largest_by_ref);
    CHECK(Heap::bytes_for(superblocks(2 << 20), {{5 << 18, ~0ull}, {2 << 20, 1}}) == ~0ull);
    // Blocks of which there are none may have any size.
    CHECK(Heap::bytes_for(superblocks(4096), {{4097, 0}, {16, 1}}) == Heap::bytes_for(superblocks(4096), {{16, 1}}));
    // A large block makes large superblocks, and the heap large enough to choose them.
    const Heap heap(device(), Heap::bytes_for(superblocks(0), {{100000, 3}}), superblocks(0));
    CHECK(heap.options().superblock_bytes == 131072);
    CHECK(std::ranges::count(test::Kernels(heap).allocate(3, 100000), kma::Ref{0}) == 0);
}

TEST_CASE("requests of 4 GiB and more are refused, not cut to 32 bits", "[sizes]")
{
    for (const std::string &width : test::widths)
        for (const HeapKind kind : {HeapKind::bump, HeapKind::superblock}) {
            const Heap heap(device(), 1 << 20, {.kind = kind, .build_options = width});
            const std::vector<cl_ulong> sizes = {1ull << 32, (1ull << 32) + 16, (1ull << 36) + 16, ~0ull - 14, ~0ull};
            CHECK(test::Kernels(heap).allocate(sizes, true) == std::vector<kma::Ref>(sizes.size(), 0));
            REQUIRE(heap.errors().size() == sizes.size());
            for (std::size_t i = 0; i < sizes.size(); i++) {
                CHECK(heap.errors()[i].code == kma::ErrorCode::too_large);
                CHECK(heap.errors()[i].size == sizes[i]);
            }
            CHECK(heap.stats().used == 0);
            CHECK(heap.check().empty());
        }
}

TEST_CASE("a number that is no kind is refused", "[sizes]")
{
    CHECK_THAT(refusal(1 << 20, {.kind = static_cast<HeapKind>(77)}), contains("no heap kind number 77"));
}
