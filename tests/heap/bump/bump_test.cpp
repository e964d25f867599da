// kma/heap/bump.cl: blocks of all sizes, from converged and diverged callers, keep what their owners wrote.
#include <cstring>
#include <numeric>

#include "catch.hpp"
#include "heap_blocks.hpp"

using namespace test;

namespace {

// 0, 1, 2 … 4096 in an order that puts different sizes next to each other; fewer of them at a small scale.
std::vector<cl_ulong> all_sizes(std::size_t multiple_of)
{
    std::size_t stride = 4097 / scaled(4097) | 1; // odd: no common divisor with 4096, so that 16n, 16n+1, … all come
    std::vector<cl_ulong> sizes;
    for (std::size_t i = 0; i <= 4096; i += stride)
        sizes.push_back(i * 1031 % 4097); // 4097 = 17 * 241
    while (sizes.size() % multiple_of != 0)
        sizes.push_back(sizes.size() % 100);
    return sizes;
}

std::uint64_t sum_of_wrong(const Array<cl_uint> &wrong)
{
    const auto all = wrong.read();
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

cl_uchar pattern(std::size_t owner, std::size_t i)
{
    return static_cast<cl_uchar>(mix32(static_cast<cl_uint>(owner)) + static_cast<cl_uint>(i) * 7);
}

// The device's blocks in a copy on the host.
void check_snapshot(const kma::Heap &heap, const std::vector<cl_uint> &refs, const std::vector<cl_ulong> &sizes)
{
    const kma::Snapshot snapshot = heap.snapshot();
    std::size_t wrong = 0;
    for (std::size_t owner = 0; owner < refs.size(); owner++) {
        if (refs[owner] == 0)
            continue;
        const std::span<const std::byte> block = snapshot.bytes(refs[owner], sizes[owner]);
        for (std::size_t i = 0; i < block.size(); i++)
            wrong += std::to_integer<cl_uchar>(block[i]) != pattern(owner, i) ? 1 : 0;
    }
    CHECK(wrong == 0);
}

void check_fill(const Flavour &flavour, std::size_t group, cl_uint diverged, kma::Storage storage)
{
    const std::vector<cl_ulong> sizes = all_sizes(group);
    const std::uint64_t payload = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}) + 80 * sizes.size();
    const kma::Heap heap = bump_heap(payload, 0, storage);
    const kma::Program kernels = program("heap/bump/bump.cl", flavour.options);
    const Array<cl_ulong> wanted(sizes), pointers(sizes.size(), 0);
    const Array<cl_uint> places(sizes.size(), 0), wrong(sizes.size(), 0);
    launch(kernels, "fill", {sizes.size(), group}, heap, wanted, places, pointers, diverged);
    launch(kernels, "check", {sizes.size(), group}, heap, wanted, places, wrong);
    CHECK(sum_of_wrong(wrong) == 0);

    const std::vector<cl_uint> refs = places.read();
    const std::vector<cl_ulong> addresses = pointers.read();
    for (std::size_t i = 0; i < refs.size(); i++) {
        REQUIRE((refs[i] == 0) == (sizes[i] == 0));
        REQUIRE((addresses[i] == 0) == (sizes[i] == 0));
        REQUIRE(addresses[i] % 16 == 0);
        if (storage == kma::Storage::svm && refs[i] != 0)
            REQUIRE(addresses[i] == reinterpret_cast<std::uintptr_t>(heap.svm()) + refs[i] * kma::ref_unit);
    }
    const kma::HeapStats stats = heap.stats();
    CHECK(lie_apart(stats, refs, sizes));
    CHECK(heap.error_text() == "");
    if (diverged < 2) // then aligned_alloc takes more
        CHECK(stats.used == served_bytes(refs, sizes));
    check_snapshot(heap, refs, sizes);
}

} // namespace

TEST_CASE("blocks of 0 to 4096 bytes keep their bytes", "[bump]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    const std::size_t group = GENERATE_COPY(from_range(group_sizes()));
    const cl_uint diverged = GENERATE(0u, 1u, 2u);
    INFO(flavour.name << ", work-groups of " << group << ", flow " << diverged);
    check_fill(flavour, group, diverged, kma::Storage::buffer);
}

TEST_CASE("in shared virtual memory pointers are the same on both sides", "[bump][svm]")
{
    if (!device().has_svm()) {
        CHECK_THROWS_AS(bump_heap(1024, 0, kma::Storage::svm), kma::Error);
        return;
    }
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    check_fill(flavour, 64, 2, kma::Storage::svm);
}

TEST_CASE("a heap prepared by its own flavour's kernel works", "[bump]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const kma::Heap heap = bump_heap(64 * 32);
    const kma::Program kernels = program("heap/bump/bump.cl", flavour.options);
    request(kernels, heap, std::vector<cl_ulong>(64, 100)); // errors too
    CHECK(heap.stats().used > 0);
    launch(kernels, "kma_bump_init_kernel", {64, 64}, heap, cl_ulong{heap.stats().bytes});
    const kma::HeapStats fresh = heap.stats();
    CHECK(fresh.used == 0);
    CHECK(fresh.capacity == 64 * 32);
    CHECK(heap.error_text() == "");
    CHECK(heap.errors().empty());
    CHECK(served(request(kernels, heap, std::vector<cl_ulong>(64, 32))) == 64);
    CHECK(heap.stats().available() == 0);
    launch(kernels, "kma_bump_reset_kernel", {64, 64}, heap);
    CHECK(heap.stats().used == 0);
}

TEST_CASE("neighbours may use different heaps in one call", "[bump]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    const std::size_t group = GENERATE_COPY(from_range(group_sizes()));
    INFO(flavour.name << ", work-groups of " << group);
    const std::size_t work_items = group * scaled(8, 2);
    std::vector<cl_ulong> sizes, even, odd;
    for (std::size_t i = 0; i < work_items; i++) {
        sizes.push_back(1 + mix32(static_cast<cl_uint>(i)) % 200);
        (i % 2 ? odd : even).push_back(sizes.back());
    }
    const kma::Program kernels = program("heap/bump/bump.cl", flavour.options);
    const bool odd_is_full = GENERATE(false, true);
    const kma::Heap even_heap = bump_heap(work_items * 208);
    const kma::Heap odd_heap = bump_heap(work_items * 208);
    if (odd_is_full)
        REQUIRE(served(request(kernels, odd_heap, {odd_heap.stats().capacity})) == 1);

    const Array<cl_ulong> wanted(sizes);
    const Array<cl_uint> places(work_items, 0), wrong(work_items, 0);
    launch(kernels, "two_heaps", {work_items, group}, even_heap, odd_heap, wanted, places);
    launch(kernels, "check_two_heaps", {work_items, group}, even_heap, odd_heap, wanted, places, wrong);
    CHECK(sum_of_wrong(wrong) == 0);
    std::vector<cl_uint> even_refs, odd_refs;
    for (std::size_t i = 0; const cl_uint ref : places.read())
        (i++ % 2 ? odd_refs : even_refs).push_back(ref);
    CHECK(served(even_refs) == even_refs.size());
    CHECK(lie_apart(even_heap.stats(), even_refs, even));
    CHECK(even_heap.stats().used == served_bytes(even_refs, even));
    CHECK(even_heap.error_text() == "");
    if (odd_is_full) {
        CHECK(served(odd_refs) == 0);
        CHECK(count_of(odd_heap.stats(), kma::ErrorCode::out_of_memory) == odd_refs.size());
    } else {
        CHECK(served(odd_refs) == odd_refs.size());
        CHECK(lie_apart(odd_heap.stats(), odd_refs, odd));
        CHECK(odd_heap.error_text() == "");
    }
}

TEST_CASE("reset gives all memory back", "[bump]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    kma::Heap heap = bump_heap(640);
    const kma::Program kernels = program("heap/bump/bump.cl", flavour.options);
    std::vector<cl_uint> first;
    for (unsigned round = 1; round <= 3; round++) {
        std::vector<cl_uint> refs = request(kernels, heap, std::vector<cl_ulong>(64, 16));
        CHECK(served(refs) == 40);
        CHECK(count_of(heap.stats(), kma::ErrorCode::out_of_memory) == 24 * round); // the log stays
        std::ranges::sort(refs);
        if (round == 1)
            first = refs;
        CHECK(refs == first);
        heap.reset();
        CHECK(heap.stats().used == 0);
    }
}
