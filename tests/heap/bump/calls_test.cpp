// kma/heap/bump.cl's calls besides malloc.
#include <numeric>

#include "catch.hpp"
#include "heap_blocks.hpp"

using namespace test;
using kma::ErrorCode;

TEST_CASE("calloc clears memory that was used before", "[bump][calls]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const kma::Program kernels = program("heap/bump/calls.cl", flavour.options);
    std::vector<cl_ulong> counts, sizes;
    for (cl_ulong i = 0; i < 128; i++) {
        counts.push_back(i % 13);
        sizes.push_back(i);
    }
    const std::size_t product_sum = 128 * 13 * 144;
    kma::Heap heap = bump_heap(product_sum);
    launch(kernels, "soil", {1, 1}, heap, cl_ulong{product_sum});
    REQUIRE(heap.stats().available() == 0);
    heap.reset();
    const Array<cl_uint> refs(128, 0), dirty(128, 0);
    launch(kernels, "call_calloc", {128, 64}, heap, Array<cl_ulong>(counts), Array<cl_ulong>(sizes), refs, dirty);
    CHECK(dirty.read() == std::vector<cl_uint>(128, 0));
    const std::vector<cl_uint> places = refs.read();
    for (std::size_t i = 0; i < places.size(); i++)
        CHECK((places[i] != 0) == (counts[i] * sizes[i] != 0));
    CHECK(heap.error_text() == "");
}

TEST_CASE("calloc refuses a product that overflows", "[bump][calls]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const kma::Program kernels = program("heap/bump/calls.cl", flavour.options);
    const kma::Heap heap = bump_heap(4096);
    const cl_ulong most = ~cl_ulong{0};
    const std::vector<cl_ulong> counts = {1ull << 32, most, 2, 3, (1ull << 60) + 1};
    const std::vector<cl_ulong> sizes = {1ull << 32, 2, most, most / 3 + 1, 16};
    const Array<cl_uint> refs(5, 9), dirty(5, 0);
    launch(kernels, "call_calloc", {5, 5}, heap, Array<cl_ulong>(counts), Array<cl_ulong>(sizes), refs, dirty);
    CHECK(served(refs.read()) == 0);
    CHECK(count_of(heap.stats(), ErrorCode::too_large) == 5);
    CHECK(heap.stats().used == 0);
}

TEST_CASE("aligned_alloc aligns", "[bump][calls]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    const int debug = GENERATE(0, 1);
    INFO(flavour.name << ", KMA_DEBUG " << debug);
    std::vector<cl_ulong> aligns, sizes;
    std::uint64_t payload = 0;
    for (cl_ulong i = 0; i < 105; i++) { // 21 alignments, five of each
        aligns.push_back(1ull << i % 21);
        sizes.push_back(i % 5 * 30 + 1);
        payload += aligns.back() + 160;
    }
    const kma::Heap heap = bump_heap(payload, debug);
    const Array<cl_uint> refs(105, 0);
    const Array<cl_ulong> pointers(105, 0);
    launch(program("heap/bump/calls.cl", flavour.options, debug), "call_aligned_alloc", {105, 35}, heap,
           Array<cl_ulong>(aligns), Array<cl_ulong>(sizes), refs, pointers);
    const std::vector<cl_uint> places = refs.read();
    const std::vector<cl_ulong> addresses = pointers.read();
    REQUIRE(places[0] != 0);
    const cl_ulong base = addresses[0] - places[0] * kma::ref_unit;
    std::size_t refused = 0;
    for (std::size_t i = 0; i < places.size(); i++) {
        INFO("alignment " << aligns[i] << " in a heap at " << base);
        const bool can = base % aligns[i] == 0;
        refused += can ? 0 : 1;
        CHECK((places[i] != 0) == can);
        CHECK(places[i] * kma::ref_unit % std::max<cl_ulong>(aligns[i], 16) == 0);
        CHECK(addresses[i] % std::max<cl_ulong>(aligns[i], 16) == 0);
        sizes[i] = can ? sizes[i] : 0;
    }
    CHECK(lie_apart(heap.stats(), places, sizes));
    CHECK(count_of(heap.stats(), ErrorCode::bad_alignment) == refused);
}

TEST_CASE("aligned_alloc refuses what is no alignment", "[bump][calls]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const std::vector<cl_ulong> aligns = {0, 3, 24, 1ull << 32, ~cl_ulong{0}};
    const kma::Heap heap = bump_heap(4096);
    const Array<cl_uint> refs(5, 9);
    const Array<cl_ulong> pointers(5, 9);
    launch(program("heap/bump/calls.cl", flavour.options), "call_aligned_alloc", {5, 5}, heap, Array<cl_ulong>(aligns),
           Array<cl_ulong>(5, 32), refs, pointers);
    CHECK(served(refs.read()) == 0);
    CHECK(heap.stats().used == 0);
    CHECK(count_of(heap.stats(), ErrorCode::bad_alignment) == 5);
    std::vector<cl_ulong> reported;
    for (const kma::ErrorRecord &record : heap.errors()) {
        CHECK(record.code == ErrorCode::bad_alignment);
        reported.push_back(record.size);
    }
    std::ranges::sort(reported);
    CHECK(reported == aligns);

    // A good alignment that the heap has no room for.
    launch(program("heap/bump/calls.cl", flavour.options), "call_aligned_alloc", {1, 1}, heap, Array<cl_ulong>(1, 128),
           Array<cl_ulong>(1, 4096 - 16), refs, pointers);
    CHECK(refs.read()[0] == 0);
    CHECK(count_of(heap.stats(), ErrorCode::too_large) == 1);
}

TEST_CASE("realloc_sized grows, shrinks, makes and frees", "[bump][calls]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    const int debug = GENERATE(0, 1);
    INFO(flavour.name << ", KMA_DEBUG " << debug);
    const std::vector<cl_ulong> old_sizes = {100, 100, 100, 1, 1, 16, 0, 0, 50, 4000};
    const std::vector<cl_ulong> sizes = {1000, 112, 113, 16, 17, 15, 40, 0, 0, 1};
    const kma::Heap heap = bump_heap(16384, debug);
    const Array<cl_uint> old_refs(10, 0), refs(10, 0), wrong(10, 0);
    launch(program("heap/bump/calls.cl", flavour.options, debug), "call_realloc_sized", {10, 10}, heap,
           Array<cl_ulong>(old_sizes), Array<cl_ulong>(sizes), old_refs, refs, wrong);
    CHECK(wrong.read() == std::vector<cl_uint>(10, 0));
    const std::vector<cl_uint> before = old_refs.read(), after = refs.read();
    for (std::size_t i = 0; i < sizes.size(); i++) {
        INFO(old_sizes[i] << " to " << sizes[i]);
        CHECK((after[i] != 0) == (sizes[i] != 0));
        if (sizes[i] != 0 && old_sizes[i] != 0)
            CHECK((after[i] == before[i]) == (sizes[i] <= rounded(old_sizes[i])));
    }
    CHECK(heap.error_text() == "");
}

TEST_CASE("realloc_sized that fails leaves the block alone", "[bump][calls]")
{
    const kma::Heap heap = bump_heap(1024);
    const Array<cl_uint> old_refs(1, 0), refs(1, 9), wrong(1, 0);
    launch(program("heap/bump/calls.cl"), "call_realloc_sized", {1, 1}, heap, Array<cl_ulong>(1, 800),
           Array<cl_ulong>(1, 850), old_refs, refs, wrong);
    CHECK(refs.read()[0] == 0);
    CHECK(count_of(heap.stats(), ErrorCode::out_of_memory) == 1);
    const kma::Snapshot snapshot = heap.snapshot();
    const auto *bytes = snapshot.deref<std::array<cl_uchar, 800>>(old_refs.read()[0]);
    REQUIRE(bytes);
    for (std::size_t i = 0; i < 800; i++)
        REQUIRE((*bytes)[i] == static_cast<cl_uchar>(i));
}

TEST_CASE("malloc(0) and free(NULL) do nothing and record nothing", "[bump][calls]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    const int debug = GENERATE(0, 1);
    INFO(flavour.name << ", KMA_DEBUG " << debug);
    const kma::Heap heap = bump_heap(256, debug);
    const Array<cl_uint> results(6, 0);
    launch(program("heap/bump/calls.cl", flavour.options, debug), "do_nothing_calls", {1, 1}, heap, results);
    CHECK(results.read() == std::vector<cl_uint>(6, 1));
    CHECK(heap.stats().used == 0);
    CHECK(heap.error_text() == "");
}

TEST_CASE("KMA_STD_NAMES gives C's names", "[bump][calls]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    const int debug = GENERATE(0, 1);
    INFO(flavour.name << ", KMA_DEBUG " << debug);
    const kma::Heap heap = bump_heap(64 * 2048, debug);
    const Array<cl_uint> results(64, 0);
    launch(program("heap/bump/std_names.cl", flavour.options + " -DKMA_STD_NAMES", debug), "std_names", {64, 64}, heap,
           results);
    CHECK(results.read() == std::vector<cl_uint>(64, debug ? 3 : 2));
    CHECK(heap.error_text() == "");
}

TEST_CASE("KMA_NEW aligns to what the type needs", "[bump]")
{
    const Flavours all = flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    const int debug = GENERATE(0, 1);
    INFO(flavour.name << ", debug " << debug);
    constexpr std::size_t work_items = 100;
    kma::Heap heap(device(), 1 << 20, {.kind = kma::HeapKind::bump, .debug = debug});
    const Array<cl_uint> refs(2 * work_items, 0);
    const Array<cl_float> values(work_items, 0);
    launch(program("heap/bump/calls.cl", flavour.options, debug), "new_wide", {work_items, 10}, heap, refs, values);
    const std::vector<cl_uint> placed = refs.read();
    const std::vector<cl_float> read = values.read();
    for (std::size_t me = 0; me < work_items; me++) {
        REQUIRE(placed[2 * me] != 0);
        REQUIRE(placed[2 * me] % (64 / kma::ref_unit) == 0);
        REQUIRE(placed[2 * me + 1] != 0);
        REQUIRE(placed[2 * me + 1] % (32 / kma::ref_unit) == 0);
        REQUIRE(read[me] == static_cast<cl_float>(2 * me));
    }
}
