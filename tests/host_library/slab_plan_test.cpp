// How large slab heaps are, and where everything is in them: what fits, what is refused, and what suffices.
#include <algorithm>

#include "catch.hpp"
#include "heap_support.hpp"
#include "slab_plan.hpp"

using kma::BlockDemand;
using kma::Heap;
using kma::HeapKind;
using test::device;
using namespace kma::layout;

namespace {

constexpr std::uint64_t chunk_bytes = 16384;

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

// That each part of the metadata begins behind the one before, as the picture in slab_layout.cl has it.
void check_parts(const kma_sl_plan &plan, int debug)
{
    const auto units = [](std::uint64_t words) { return (words * 4 + KMA_UNIT - 1) / KMA_UNIT; };
    CHECK(plan.heads * std::uint64_t{KMA_UNIT} >= sizeof(kma_slab));
    CHECK(plan.used >= plan.heads + units(kma_sl_heads(plan.places)));
    CHECK(plan.rooms >= plan.used + units(plan.room));
    CHECK(plan.pins >= plan.rooms + units((std::uint64_t{plan.room} + 31) / 32));
    CHECK(plan.marks >= plan.pins + units(plan.room));
    CHECK(plan.trees >= plan.marks + units(std::uint64_t{plan.room} * 4));
    const std::uint64_t behind = plan.trees + units(std::uint64_t{plan.tree_words} * KMA_SL_CLASSES);
    CHECK(plan.tree_words >= (plan.room + 31) / 32);
    CHECK((plan.guard != 0) == (debug >= 2));
    CHECK(plan.words >= (debug >= 2 ? plan.guard + sizeof(kma_guard) / KMA_UNIT : behind));
    if (debug >= 2)
        CHECK(plan.guard >= behind);
    CHECK(plan.begin >= plan.words + units(std::uint64_t{plan.room} * 32));
    CHECK(plan.begin % (4096 / KMA_UNIT) == 0);
    CHECK(plan.limit == plan.begin + plan.chunks * (chunk_bytes / KMA_UNIT));
}

} // namespace

TEST_CASE("a slab heap has the most chunks that fit, behind its metadata", "[slab]")
{
    for (const int debug : {0, 2})
        for (std::uint64_t bytes = 60000; bytes < 1ull << 36; bytes = bytes * 9 / 8 + 16) {
            CAPTURE(debug, bytes);
            const kma_sl_plan plan = kma::slab_plan::plan(slabs(debug), bytes, 16);
            ulong end;
            CHECK(kma_sl_plan_of(plan.chunks, 16, debug, &end).begin == plan.begin);
            CHECK(end <= bytes / KMA_UNIT);
            kma_sl_plan_of(plan.chunks + 1, 16, debug, &end);
            CHECK(end > bytes / KMA_UNIT);
            CHECK(plan.room == plan.chunks);
            check_parts(plan, debug);
            CHECK(plan.begin * std::uint64_t{KMA_UNIT} < bytes / 100000 * 994 + 65536); // 1 % at most: slab_layout.cl
        }
}

TEST_CASE("a slab heap that grows has metadata for all that it may become", "[slab]")
{
    for (const int debug : {0, 3})
        for (const std::uint64_t max_bytes : {1ull << 20, 77ull << 20, 1ull << 32}) {
            const kma_sl_plan largest = kma::slab_plan::plan(slabs(debug), max_bytes, 16);
            for (const std::uint64_t part : {1, 3, 50}) {
                CAPTURE(debug, max_bytes, part);
                const kma_sl_plan plan = kma::slab_plan::plan(slabs(debug, max_bytes), max_bytes / 2 + part * 4000, 16);
                check_parts(plan, debug);
                CHECK(plan.room == largest.chunks);
                CHECK(plan.begin == largest.begin);
                CHECK(plan.chunks == (max_bytes / 2 + part * 4000 - plan.begin * 16ull) / chunk_bytes);
            }
        }
}

TEST_CASE("slab heaps too small for a chunk are refused with what would do", "[slab]")
{
    for (const int debug : {0, 1, 2})
        for (const std::uint64_t max_bytes : {0ull, 50ull << 20}) {
            const kma::HeapOptions options = slabs(debug, max_bytes);
            const std::uint64_t least = Heap::bytes_for(options, 1);
            for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{15}, least - 1})
                CHECK(refusal(bytes, options) ==
                      "a heap of " + std::to_string(bytes) +
                          " bytes is too small: its metadata and 16384 bytes for blocks need " + std::to_string(least) +
                          "; Heap::bytes_for says what your blocks need");
            CHECK(kma::slab_plan::plan(options, least, 16).chunks == 1);
            const Heap smallest(device(), least, options);
            CHECK(smallest.stats().superblocks == 1);
            CHECK(smallest.check().empty());
            CHECK(test::Kernels(smallest).allocate(1, chunk_bytes - (debug >= 2 ? 64 : 0))[0] != 0);
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
        for (std::uint32_t n = 8; n <= KMA_SL_CURSORS; n++)
            if (units % n == 0 && (units % chosen != 0 || distance(n) < distance(chosen)))
                FAIL_CHECK(units << " compute units have " << chosen << " cursors, and " << n << " would be better");
    }
    CHECK(kma::slab_plan::plan(slabs(), 64 << 20, 12).cursors == 12);
    CHECK(kma::slab_plan::plan(slabs(), 4 << 20, 12).cursors == 3); // 64 chunks for each at least
    CHECK(kma::slab_plan::plan(slabs(), 100000, 12).cursors == 1);
}

TEST_CASE("bytes_for leaves the payload in a slab heap, and no chunk more", "[slab]")
{
    for (const int debug : {0, 2})
        for (const std::uint64_t payload : {0ull, 1ull, 16384ull, 16385ull, 1ull << 20, 33333333ull, 5ull << 30}) {
            CAPTURE(debug, payload);
            const std::uint64_t chunks = std::max<std::uint64_t>((payload + chunk_bytes - 1) / chunk_bytes, 1);
            const std::uint64_t bytes = Heap::bytes_for(slabs(debug), payload);
            CHECK(kma::slab_plan::plan(slabs(debug), bytes, 16).chunks == chunks);
            if (chunks > 1)
                CHECK(kma::slab_plan::plan(slabs(debug), bytes - 1, 16).chunks == chunks - 1);
            const std::uint64_t growing = Heap::bytes_for(slabs(debug, 2 * bytes), payload);
            CHECK(growing >= bytes);
            CHECK(kma::slab_plan::plan(slabs(debug, 2 * bytes), growing, 16).chunks == chunks);
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
        {{4096, 300}},
        {{4097, 100}, {16, 100}},
        {{5000, 700}},
        {{40000, 100}},
        {{70000, 40}},
        {{200000, 30}},
        {{3000000, 3}},
        {{513, 50}, {100000, 3}, {1, 100}},
        {{1, 100}, {2, 100}, {16, 100}, {17, 100}, {0, 100}},
        {{80, 3000}},                    // eight of them leave three eighths of their slab
        mixed(300, {16, 7}, {2048, 1}),  // together nine lines for little more than four
        mixed(100, {16, 31}, {2048, 1}), // sizes up to 64 bytes are 64 beside one of 2 KiB
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
