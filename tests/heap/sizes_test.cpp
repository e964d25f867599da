// How large heaps and superblocks are: what is chosen, what is refused, and what suffices.
#include <algorithm>
#include <bit>

#include "catch.hpp"
#include "heap/slab/plan.hpp"
#include "heap_support.hpp"

using kma::BlockDemand;
using kma::Heap;
using kma::HeapKind;
using test::atomic_widths;
using test::device;
using test::frame_bytes;
using test::Kernels;
using test::slabs;
using test::superblocks;

namespace {

using Demand = std::vector<BlockDemand>;

constexpr std::uint64_t largest_by_ref = (1ull << 36) - 32;

std::string refusal(std::uint64_t bytes, const kma::HeapOptions &options)
{
    return message_of<kma::Error>([&] { Heap(device(), bytes, options); });
}

std::vector<cl_ulong> sizes_of(const Demand &demand)
{
    std::vector<cl_ulong> sizes;
    for (const BlockDemand &one : demand)
        sizes.insert(sizes.end(), one.size == 0 ? 0 : one.count, one.size);
    return sizes;
}

// That a heap for these blocks serves them, three times in another order.
void check_suffices(const kma::HeapOptions &options, const Demand &demand)
{
    const Heap heap(device(), Heap::bytes_for(options, demand), options);
    const Kernels kernels(heap);
    std::vector<cl_ulong> sizes = sizes_of(demand);
    for (int round = 0; round < 3 && !sizes.empty(); round++) {
        CAPTURE(round);
        // What was freed lies in the quarantine of a guarded heap, which one empties: a crowd may find it half empty.
        const auto refs = kernels.allocate(sizes, round == 1 || (options.debug >= 2 && round != 0));
        CHECK(std::ranges::count(refs, kma::Ref{0}) == 0);
        CHECK(heap.stats().blocks == sizes.size());
        kernels.free(refs);
        std::ranges::reverse(sizes);
    }
    CHECK(heap.check().empty());
}

// So many of one size for each of another: side by side, so that lanes together want both.
Demand mixed(std::uint64_t times, BlockDemand these, BlockDemand those)
{
    Demand all;
    for (; times != 0; times--)
        all.insert(all.end(), {these, those});
    return all;
}

} // namespace

TEST_CASE("superblock sizes are powers of two from 4 KiB to 2 MiB", "[sizes]")
{
    for (const std::uint64_t bad : {1ull, 2048ull, 4095ull, 4097ull, 12288ull, 1ull << 22, ~0ull, 1ull << 63}) {
        const std::string said = "superblock.bytes = " + std::to_string(bad);
        CHECK_THAT(refusal(1 << 24, superblocks(bad)),
                   contains(said) && contains("power of two from 4096 to 2097152, or 0"));
        CHECK_THAT(message_of<kma::Error>([&] { Heap::bytes_for(superblocks(bad), 1); }), contains(said));
    }
    for (std::uint64_t size = 4096; size <= 2 << 20; size *= 2) {
        const Heap heap(device(), 8 << 20, superblocks(size));
        CHECK(heap.stats().superblock_bytes == size);
        CHECK(heap.stats().superblocks < (8 << 20) / size);
        CHECK(heap.stats().superblocks > (8 << 20) / size * 97 / 100 - 2);
        CHECK(heap.options().superblock.bytes == size);
        CHECK(heap.check().empty());
    }
}

TEST_CASE("without a wish, superblocks are chosen for what a heap begins with and what it may become", "[sizes]")
{
    struct {
        std::uint64_t bytes, max_bytes, chosen;
    } const cases[] = {
        // the power of two not above 1/128; if the heap may grow, of max_bytes, and 1/32 of its first size
        {20000, 0, 4096},            {1 << 20, 0, 8192},        {(1 << 20) - 1, 0, 4096},   {(2 << 20) - 1, 0, 8192},
        {(2 << 20) + 1, 0, 16384},   {16 << 20, 0, 128 << 10},  {50 << 20, 0, 256 << 10},   {256 << 20, 0, 2 << 20},
        {600 << 20, 0, 2 << 20},     {1 << 20, 1 << 20, 8192},  {1 << 20, 4 << 20, 32768},  {1 << 20, 32 << 20, 32768},
        {8 << 20, 256 << 20, 1 << 18}, {70 << 20, 256 << 20, 2 << 20}};
    for (const auto &[bytes, max_bytes, chosen] : cases) {
        CAPTURE(bytes, max_bytes);
        kma::HeapOptions options = superblocks(0);
        options.max_bytes = max_bytes;
        const Heap heap(device(), bytes, options);
        CHECK(heap.options().superblock.bytes == chosen);
        CHECK(heap.stats().superblock_bytes == chosen);
    }
}

TEST_CASE("superblock and slab heaps of impossible sizes are refused", "[sizes]")
{
    std::vector<kma::HeapOptions> all;
    for (const std::string &width : atomic_widths)
        for (const std::uint64_t size : {0, 4096, 65536, 2 << 20})
            all.push_back(superblocks(size, width));
    for (const int debug : {0, 1, 2})
        for (const std::uint64_t max_bytes : {0ull, 50ull << 20})
            all.push_back(slabs(kma::Storage::buffer, debug, max_bytes));
    for (const kma::HeapOptions &options : all) {
        const bool is_slab = options.kind == HeapKind::slab;
        const std::uint64_t least = Heap::bytes_for(options, 1),
                            superblock = std::max(options.superblock.bytes, std::uint64_t{4096});
        const std::string need =
            is_slab ? "its metadata and 8192 bytes for blocks need " + std::to_string(least) +
                          "; Heap::bytes_for says what your blocks need"
                    : "one superblock of " + std::to_string(superblock) + " bytes need " + std::to_string(least);
        CAPTURE(is_slab, options.superblock.bytes, options.build_options, options.debug, options.max_bytes);
        for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{15}, least - 1})
            CHECK_THAT(refusal(bytes, options),
                       contains("a heap of " + std::to_string(bytes) + " bytes is too small") && contains(need));
        const Heap smallest(device(), least, options);
        CHECK(smallest.stats().superblocks == 1);
        CHECK(smallest.check().empty());
        const std::uint64_t largest = is_slab ? frame_bytes - (options.debug >= 2 ? 64 : 0) : superblock;
        CHECK(Kernels(smallest).allocate(1, largest)[0] != 0);
        if (options.max_bytes == 0)
            for (const std::uint64_t bytes : {largest_by_ref + 1, ~std::uint64_t{0}})
                CHECK_THAT(refusal(bytes, options), contains("too large") && contains("references"));
    }
    const std::uint64_t largest = device().max_buffer_bytes();
    if (largest < largest_by_ref)
        CHECK_THAT(refusal(largest + 1, superblocks(0)), contains("too large") && contains(std::to_string(largest)));
}

TEST_CASE("more superblocks than 32-bit atomics number are refused with a size that would do", "[sizes]")
{
    const std::string &narrow = atomic_widths[1];
    const std::uint64_t most = Heap::bytes_for(superblocks(4096), 65534 * 4096ull);
    const std::uint64_t more = Heap::bytes_for(superblocks(4096), 65535 * 4096ull);
    if (device().max_buffer_bytes() < 1ull << 30)
        return;
    CHECK_THAT(refusal(more, superblocks(4096, narrow)),
               contains("room for 65535 superblocks of 4096 bytes") &&
                   contains("without 64-bit atomics there can be 65534: superblock.bytes = 8192 would do"));
    CHECK(refusal(more, superblocks(8192, narrow)) == "no error");
    CHECK(refusal(more, superblocks(0, narrow)) == "no error");
    CHECK_THAT(refusal(600 << 20, superblocks(4096, narrow)), contains("superblock.bytes = 16384 would do"));
    // The most there can be, to the last one.
    const Heap heap(device(), most, superblocks(4096, narrow));
    const Kernels kernels(heap);
    CHECK(heap.stats().superblocks == 65534);
    const auto refs = kernels.allocate(65534, 4096);
    CHECK(std::ranges::count(refs, kma::Ref{0}) == 0);
    CHECK(heap.stats().superblocks_full + heap.stats().superblocks_partial == 65534);
    CHECK(heap.check().empty());
    kernels.free(refs);
    CHECK(heap.check().empty());
}

TEST_CASE("bytes_for leaves the payload in superblocks and frames too, and no more", "[sizes]")
{
    for (const std::uint64_t size : {0, 4096, 65536, 2 << 20})
        for (const std::uint64_t payload :
             {0ull, 1ull, 4096ull, 4097ull, 2ull << 20, (2ull << 20) + 1, 5000000ull, 33333333ull}) {
            const kma::HeapOptions options = superblocks(size);
            CAPTURE(size, payload);
            const kma::HeapStats stats = Heap(device(), Heap::bytes_for(options, payload), options).stats();
            CHECK(stats.capacity >= payload);
            if (size != 0)
                CHECK(stats.superblocks == std::max<std::uint64_t>((payload + size - 1) / size, 1));
        }
    CHECK(Heap::bytes_for(HeapKind::superblock, 5000000) == Heap::bytes_for(superblocks(0), 5000000));
    CHECK(Heap::bytes_for(superblocks(4096), ~0ull) > largest_by_ref);
    CHECK(Heap::bytes_for(superblocks(0), ~0ull) > largest_by_ref);
    CHECK(Heap::bytes_for(superblocks(0), 1ull << 37) > 1ull << 37);
    CHECK(Heap::bytes_for(HeapKind::bump, ~0ull) > largest_by_ref);

    for (const int debug : {0, 2}) // by the plan: no device need have such buffers
        for (const std::uint64_t payload : {0ull, 1ull, 8192ull, 8193ull, 1ull << 20, 33333333ull, 5ull << 30}) {
            CAPTURE(debug, payload);
            kma::HeapOptions options = slabs(kma::Storage::buffer, debug);
            const auto frames_in = [&](std::uint64_t bytes) { return kma::slab_plan::plan(options, bytes, 16).frames; };
            const std::uint64_t frames = std::max<std::uint64_t>((payload + frame_bytes - 1) / frame_bytes, 1);
            const std::uint64_t bytes = Heap::bytes_for(options, payload);
            CHECK(frames_in(bytes) == frames);
            if (frames > 1)
                CHECK(frames_in(bytes - 1) == frames - 1);
            options.max_bytes = 2 * bytes;
            const std::uint64_t growing = Heap::bytes_for(options, payload);
            CHECK(growing >= bytes);
            CHECK(frames_in(growing) == frames);
        }
    CHECK(Heap::bytes_for(slabs(), ~0ull) == ~0ull);
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

TEST_CASE("slab heaps have cursors by a divisor of the compute units near to 16", "[sizes]")
{
    const std::pair<std::uint32_t, std::uint32_t> cases[] = {{0, 16},  {1, 16},   {7, 16},   {8, 8},
                                                             {17, 17}, {20, 20},  {22, 11},  {64, 16},
                                                             {78, 13}, {108, 18}, {132, 12}, {144, 16}};
    for (const auto &[units, cursors] : cases)
        CHECK(kma::slab_plan::cursors_for(units) == cursors);
    for (std::uint32_t units = 1; units < 1000; units++) {
        const std::uint32_t chosen = kma::slab_plan::cursors_for(units);
        const auto distance = [](std::uint32_t n) { return n > 16 ? n - 16 : 16 - n; };
        for (std::uint32_t n = 8; n <= KMA_SLAB_CURSORS; n++)
            if (units % n == 0 && (units % chosen != 0 || distance(n) < distance(chosen)))
                FAIL_CHECK(units << " compute units have " << chosen << " cursors, and " << n << " would be better");
    }
    CHECK(kma::slab_plan::plan(slabs(), 64 << 20, 12).cursors == 12);
    CHECK(kma::slab_plan::plan(slabs(), 2 << 20, 12).cursors == 3); // 64 frames for each at least
    CHECK(kma::slab_plan::plan(slabs(), 100000, 12).cursors == 1);
}

TEST_CASE("bytes_for blocks suffices for them, whatever their order", "[sizes]")
{
    const std::vector<Demand> of_all_kinds = {
        {{1, 1}},
        {{16, 256}, {16, 1}},
        {{8, 5000}, {24, 3000}},
        {{16, 1000}, {48, 1000}, {100, 1000}, {1000, 100}, {4096, 20}},
        {{4096, 300}},
        {{1, 100}, {2, 100}, {16, 100}, {17, 100}, {0, 100}},
    };
    std::vector<Demand> of_superblocks = of_all_kinds, of_slabs = {
        {{1025, 500}}, // lines of their own
        {{4097, 100}, {16, 100}},
        {{5000, 700}},
        {{8192, 50}, {8193, 50}, {16, 1000}}, // a frame, and a line more
        {{40000, 100}},
        {{70000, 40}},
        {{200000, 30}},
        {{3000000, 3}},
        {{16, 2000}, {300, 100}, {3000000, 3}},
        {{513, 50}, {100000, 3}, {1, 100}},
        {{98313, 28}, {1870124, 1}}, // shorter ones lie at random places
        {{79737, 22}, {73, 841}, {622091, 2}, {201386, 14}},
        {{42974, 24}, {8268, 128}, {70493, 29}, {6426, 36}},
        {{80, 3000}},
        {{1200, 2000}, {8192, 300}, {20, 5000}},
        mixed(300, {16, 7}, {2048, 1}),
        mixed(100, {16, 31}, {2048, 1}),
        mixed(100, {16, 15}, {4096, 1}), // in a slab with 4 KiB 16 bytes take 64
        mixed(50, {100, 3}, {20000, 1}),
    };
    of_slabs.insert(of_slabs.begin(), of_all_kinds.begin(), of_all_kinds.end());
    of_superblocks.insert(of_superblocks.end(), {{}, {{0, 1000}}});
    for (const std::string &width : atomic_widths)
        for (const std::uint64_t size : {0, 4096, 65536, 2 << 20})
            for (const Demand &demand : of_superblocks)
                check_suffices(superblocks(size, width), demand);
    for (const int debug : {0, 2})
        for (std::size_t number = 0; number < of_slabs.size(); number++) {
            CAPTURE(debug, number);
            check_suffices(slabs(kma::Storage::buffer, debug), of_slabs[number]);
        }
    for (const int debug : {2, 3})
        for (const std::uint64_t size : {0, 4096}) {
            kma::HeapOptions options = superblocks(size);
            options.debug = debug;
            check_suffices(options, {{8, 500}, {100, 300}, {4032, 5}});
            options.superblock.bytes = 4096;
            CHECK_THAT(message_of<kma::Error>([&] { Heap::bytes_for(options, {{4033, 1}}); }),
                       contains("4096 bytes here, less 64 that KMA_DEBUG puts around"));
        }
}

TEST_CASE("bytes_for blocks counts as the bump heap does", "[sizes]")
{
    for (const int debug : {0, 1, 2, 3}) {
        const kma::HeapOptions options{.kind = HeapKind::bump, .debug = debug};
        const std::uint64_t around = debug >= 2 ? 64 : 16 * static_cast<std::uint64_t>(debug);
        const Demand demand = {{8, 50}, {0, 7}, {100, 3}};
        const std::uint64_t bytes = Heap::bytes_for(options, demand);
        CHECK(bytes == Heap::bytes_for(options, 50 * 16 + 3 * 112 + 53 * around));
        const Heap heap(device(), bytes, options);
        CHECK(std::ranges::count(Kernels(heap).allocate(sizes_of(demand)), kma::Ref{0}) == 0);
        CHECK(heap.stats().available() == 0);
    }
    CHECK(Heap::bytes_for({.kind = HeapKind::bump}, {{1ull << 40, 1ull << 40}}) == ~0ull);
    CHECK(Heap::bytes_for({.kind = HeapKind::bump}, {{~0ull, 1}, {16, ~0ull}}) == ~0ull);
}

TEST_CASE("numbers that are no KMA_DEBUG and no kind are refused", "[sizes]")
{
    for (const int debug : {-1, 4}) {
        const kma::HeapOptions options{.debug = debug};
        const std::string what = "HeapOptions::debug = " + std::to_string(debug) + " is no KMA_DEBUG";
        CHECK_THAT(refusal(1 << 20, options), contains(what));
        CHECK_THAT(message_of<kma::Error>([&] { Heap::bytes_for(options, 100); }), contains(what));
        CHECK_THAT(message_of<kma::Error>([&] {
                       kma::Program(device(), {{"mine.cl", "kernel void f() {}\n"}}, {.debug = debug});
                   }),
                   contains("ProgramOptions::debug = " + std::to_string(debug) + " is no KMA_DEBUG"));
    }
    CHECK_THAT(refusal(1 << 20, {.kind = static_cast<HeapKind>(77)}), contains("no heap kind number 77"));
}

TEST_CASE("blocks that no superblock holds are refused, and bytes_for saturates", "[sizes]")
{
    const auto message = [](std::uint64_t superblock, std::uint64_t block) {
        const std::vector<kma::BlockDemand> blocks = {{16, 1}, {block, 1}, {32, 1}};
        return message_of<kma::Error>([&] { Heap::bytes_for(superblocks(superblock), blocks); });
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
    CHECK(Heap::bytes_for(slabs(), {{64, ~0ull}, {1 << 20, ~0ull}}) == ~0ull);
    CHECK(Heap::bytes_for(slabs(), {{1ull << 36, 1}}) > (1ull << 36));
    // Blocks of which there are none may have any size.
    CHECK(Heap::bytes_for(superblocks(4096), {{4097, 0}, {16, 1}}) == Heap::bytes_for(superblocks(4096), {{16, 1}}));
    CHECK(Heap::bytes_for(slabs(), {{64, 0}, {0, 5}}) == Heap::bytes_for(slabs(), 1));
    // A large block makes large superblocks, and the heap large enough to choose them.
    const Heap heap(device(), Heap::bytes_for(superblocks(0), {{100000, 3}}), superblocks(0));
    CHECK(heap.options().superblock.bytes == 131072);
    CHECK(std::ranges::count(Kernels(heap).allocate(3, 100000), kma::Ref{0}) == 0);
}
