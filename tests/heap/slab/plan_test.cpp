// How large slab heaps are, and where everything is in them: what fits, what is refused, and what suffices.
#include <algorithm>

#include "catch.hpp"
#include "heap_support.hpp"
#include "heap/slab/plan.hpp"

using kma::BlockDemand;
using kma::Heap;
using kma::HeapKind;
using test::device;
using namespace kma::layout;

namespace {

constexpr std::uint64_t frame_bytes = 8192;

kma::HeapOptions slabs(int debug = 0, std::uint64_t max_bytes = 0)
{
    kma::HeapOptions options;
    options.kind = HeapKind::slab;
    options.debug = debug;
    options.max_bytes = max_bytes;
    return options;
}

std::string refusal(std::uint64_t bytes, const kma::HeapOptions &options)
{
    return message_of<kma::Error>([&] { kma::slab_plan::plan(options, bytes, 16); });
}

// That each part of the metadata begins behind the one before, as the picture in slab/layout.cl has it.
void check_parts(const kma_slab_plan &plan, int debug)
{
    const auto units = [](std::uint64_t words) { return (words * 4 + KMA_UNIT - 1) / KMA_UNIT; };
    CHECK(plan.current * std::uint64_t{KMA_UNIT} >= sizeof(kma_slab));
    CHECK(plan.used >= plan.current + units(std::uint64_t{plan.shards} * KMA_SLAB_PAGE_CLASSES));
    CHECK(plan.trees >= plan.used + units(plan.room));
    const std::uint64_t behind = plan.trees + units(std::uint64_t{plan.tree_words} * KMA_SLAB_TREES);
    CHECK(plan.tree_words >= (plan.room + 31) / 32);
    CHECK((plan.guard != 0) == (debug >= 2));
    CHECK(plan.words >= (debug >= 2 ? plan.guard + sizeof(kma_guard) / KMA_UNIT : behind));
    if (debug >= 2)
        CHECK(plan.guard >= behind);
    CHECK(plan.begin >= plan.words + units(std::uint64_t{plan.room} * KMA_SLAB_FRAME_LINES));
    CHECK(plan.begin % (4096 / KMA_UNIT) == 0);
    CHECK(plan.limit == plan.begin + plan.frames * (frame_bytes / KMA_UNIT));
}

} // namespace

TEST_CASE("a slab heap has the most frames that fit, behind its metadata", "[slab]")
{
    for (const int debug : {0, 2})
        for (std::uint64_t bytes = 60000; bytes < 1ull << 36; bytes = bytes * 9 / 8 + 16) {
            CAPTURE(debug, bytes);
            const kma_slab_plan plan = kma::slab_plan::plan(slabs(debug), bytes, 16);
            ulong end;
            CHECK(kma_slab_plan_of(plan.frames, 16, debug, &end).begin == plan.begin);
            CHECK(end <= bytes / KMA_UNIT);
            kma_slab_plan_of(plan.frames + 1, 16, debug, &end);
            CHECK(end > bytes / KMA_UNIT);
            CHECK(plan.room == plan.frames);
            check_parts(plan, debug);
            CHECK(plan.begin * std::uint64_t{KMA_UNIT} < bytes / 10000 * 181 + 32768); // slab/layout.cl: 1.80 %
        }
}

TEST_CASE("a slab heap that grows has metadata for all that it may become", "[slab]")
{
    for (const int debug : {0, 3})
        for (const std::uint64_t max_bytes : {1ull << 20, 77ull << 20, 1ull << 32}) {
            const kma_slab_plan largest = kma::slab_plan::plan(slabs(debug), max_bytes, 16);
            for (const std::uint64_t part : {1, 3, 50}) {
                CAPTURE(debug, max_bytes, part);
                const kma_slab_plan plan = kma::slab_plan::plan(slabs(debug, max_bytes), max_bytes / 2 + part * 4000, 16);
                check_parts(plan, debug);
                CHECK(plan.room == largest.frames);
                CHECK(plan.begin == largest.begin);
                CHECK(plan.frames == (max_bytes / 2 + part * 4000 - plan.begin * 16ull) / frame_bytes);
            }
        }
}

TEST_CASE("slab heaps too small for a frame are refused with what would do", "[slab]")
{
    for (const int debug : {0, 1, 2})
        for (const std::uint64_t max_bytes : {0ull, 50ull << 20}) {
            const kma::HeapOptions options = slabs(debug, max_bytes);
            const std::uint64_t least = Heap::bytes_for(options, 1);
            for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{15}, least - 1})
                CHECK(refusal(bytes, options) ==
                      "a heap of " + std::to_string(bytes) +
                          " bytes is too small: its metadata and 8192 bytes for blocks need " + std::to_string(least) +
                          "; Heap::bytes_for says what your blocks need");
            CHECK(kma::slab_plan::plan(options, least, 16).frames == 1);
            const Heap smallest(device(), least, options);
            CHECK(smallest.stats().superblocks == 1);
            CHECK(smallest.check().empty());
            CHECK(test::Kernels(smallest).allocate(1, frame_bytes - (debug >= 2 ? 64 : 0))[0] != 0);
        }
}

TEST_CASE("cursors are a divisor of the compute units near to 16", "[slab]")
{
    const struct {
        std::uint32_t units, cursors;
    } cases[] = {{0, 16},  {1, 16},  {7, 16},  {8, 8},    {16, 16},  {17, 17}, {20, 20},
                 {22, 11}, {64, 16}, {78, 13}, {108, 18}, {132, 12}, {144, 16}};
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

TEST_CASE("bytes_for leaves the payload in a slab heap, and no frame more", "[slab]")
{
    for (const int debug : {0, 2})
        for (const std::uint64_t payload : {0ull, 1ull, 8192ull, 8193ull, 1ull << 20, 33333333ull, 5ull << 30}) {
            CAPTURE(debug, payload);
            const std::uint64_t frames = std::max<std::uint64_t>((payload + frame_bytes - 1) / frame_bytes, 1);
            const std::uint64_t bytes = Heap::bytes_for(slabs(debug), payload);
            CHECK(kma::slab_plan::plan(slabs(debug), bytes, 16).frames == frames);
            if (frames > 1)
                CHECK(kma::slab_plan::plan(slabs(debug), bytes - 1, 16).frames == frames - 1);
            const std::uint64_t growing = Heap::bytes_for(slabs(debug, 2 * bytes), payload);
            CHECK(growing >= bytes);
            CHECK(kma::slab_plan::plan(slabs(debug, 2 * bytes), growing, 16).frames == frames);
        }
    CHECK(Heap::bytes_for(slabs(), ~0ull) == ~0ull);
    CHECK(Heap::bytes_for(slabs(), {{64, ~0ull}, {1 << 20, ~0ull}}) == ~0ull);
    CHECK(Heap::bytes_for(slabs(), {{1ull << 36, 1}}) > (1ull << 36));
    CHECK(Heap::bytes_for(slabs(), {{64, 0}, {0, 5}}) == Heap::bytes_for(slabs(), 1));
}

// So many of one size for each of another: side by side, so that lanes together want both.
static std::vector<BlockDemand> mixed(std::uint64_t times, BlockDemand these, BlockDemand those)
{
    std::vector<BlockDemand> all;
    for (; times != 0; times--) {
        all.push_back(these);
        all.push_back(those);
    }
    return all;
}

TEST_CASE("bytes_for blocks suffices for them in a slab heap, whatever their order", "[slab]")
{
    const std::vector<std::vector<BlockDemand>> demands = {
        {{1, 1}},
        {{16, 256}, {16, 1}},
        {{8, 5000}, {24, 3000}},
        {{16, 1000}, {48, 1000}, {100, 1000}, {1000, 100}, {4096, 20}},
        {{1025, 500}}, // lines of their own
        {{4096, 300}},
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
        {{1, 100}, {2, 100}, {16, 100}, {17, 100}, {0, 100}},
        {{80, 3000}},
        {{1200, 2000}, {8192, 300}, {20, 5000}},
        mixed(300, {16, 7}, {2048, 1}),
        mixed(100, {16, 31}, {2048, 1}),
        mixed(100, {16, 15}, {4096, 1}), // in a slab with 4 KiB 16 bytes take 64
        mixed(50, {100, 3}, {20000, 1}),
    };
    for (const int debug : {0, 2})
        for (std::size_t number = 0; number < demands.size(); number++) {
            CAPTURE(debug, number);
            const Heap heap(device(), Heap::bytes_for(slabs(debug), demands[number]), slabs(debug));
            const test::Kernels kernels(heap);
            std::vector<cl_ulong> sizes;
            for (const BlockDemand &one : demands[number])
                sizes.insert(sizes.end(), one.size == 0 ? 0 : one.count, one.size);
            for (int round = 0; round < 3; round++) {
                CAPTURE(round);
                // What was freed lies in the quarantine of a guarded heap, which one empties: a crowd may find it half empty.
                const auto refs = kernels.allocate(sizes, round == 1 || (debug >= 2 && round != 0));
                CHECK(std::ranges::count(refs, kma::Ref{0}) == 0);
                CHECK(heap.stats().blocks == sizes.size());
                kernels.free(refs);
                std::ranges::reverse(sizes);
            }
            CHECK(heap.check().empty());
        }
}
