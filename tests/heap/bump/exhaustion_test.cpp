// kma/heap/bump.cl at its end: the bound is exact, every NULL is counted, nothing is lost.
#include <numeric>

#include "catch.hpp"
#include "heap_blocks.hpp"

using namespace test;
using kma::ErrorCode;

namespace {

// Lets `work_items` ask `rounds` times each, and checks the books. Returns the refs.
std::vector<cl_uint> exhaust(const Flavour &flavour, const kma::Heap &heap, Shape shape,
                             const std::vector<cl_ulong> &sizes, int debug)
{
    const kma::HeapStats before = heap.stats();
    const Array<cl_uint> places(sizes.size(), 0);
    launch(program("heap/bump/bump.cl", flavour.options, debug), "exhaust", shape, heap, Array<cl_ulong>(sizes), places,
           static_cast<cl_uint>(sizes.size() / shape.work_items));
    const std::vector<cl_uint> refs = places.read();
    const kma::HeapStats stats = heap.stats();
    CHECK(stats.used <= stats.capacity);
    CHECK(stats.used - before.used == served_bytes(refs, sizes, debug));
    CHECK(lie_apart(stats, refs, sizes));

    const std::uint64_t failed = sizes.size() - served(refs);
    CHECK(count_of(stats, ErrorCode::out_of_memory) - count_of(before, ErrorCode::out_of_memory) == failed);
    CHECK(std::accumulate(stats.errors.begin(), stats.errors.end(), std::uint64_t{0}) ==
          count_of(stats, ErrorCode::out_of_memory));
    const std::vector<kma::ErrorRecord> records = heap.errors();
    CHECK(records.size() == std::min<std::uint64_t>(count_of(stats, ErrorCode::out_of_memory), 8));
    for (const kma::ErrorRecord &record : records) {
        CHECK(record.code == ErrorCode::out_of_memory);
        CHECK(record.work_item < shape.work_items);
        CHECK(std::ranges::find(sizes, record.size) != sizes.end());
        CHECK(record.ref == 0);
    }
    return refs;
}

} // namespace

TEST_CASE("equal blocks fill the heap to the last that fits", "[bump][exhaustion]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    const std::size_t group = GENERATE_COPY(from_range(group_sizes()));
    const int debug = GENERATE(0, 1);
    INFO(flavour.name << ", work-groups of " << group << ", KMA_DEBUG " << debug);
    const std::size_t work_items = group * scaled(8, 4);
    for (const cl_ulong size : {1ull, 16ull, 40ull, 1000ull}) {
        for (const std::uint64_t odd_bytes : {0, 16, 40}) {
            const std::uint64_t payload = work_items * 2 * rounded(size, debug) + odd_bytes;
            const kma::Heap heap = bump_heap(payload, debug);
            const std::uint64_t capacity = heap.stats().capacity;
            REQUIRE(capacity == rounded(payload));
            const auto refs =
                exhaust(flavour, heap, {work_items, group}, std::vector<cl_ulong>(work_items * 3, size), debug);
            CHECK(served(refs) == capacity / rounded(size, debug));
        }
    }
}

TEST_CASE("mixed sizes leave nothing that a lone caller could not have", "[bump][exhaustion]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    const std::size_t group = GENERATE_COPY(from_range(group_sizes()));
    INFO(flavour.name << ", work-groups of " << group);
    const std::size_t work_items = group * scaled(16, group < 16 ? 16 : 2);
    std::vector<cl_ulong> sizes;
    for (std::size_t i = 0; i < work_items * 4; i++)
        sizes.push_back(mix32(static_cast<cl_uint>(i)) % 8 == 0 ? mix32(static_cast<cl_uint>(i)) % 3000 + 1
                                                                : i % 90 + 1);
    const std::uint64_t wanted = served_bytes(std::vector<cl_uint>(sizes.size(), 1), sizes);
    const kma::Heap heap = bump_heap(wanted * 2 / 3);
    const auto refs = exhaust(flavour, heap, {work_items, group}, sizes, 0);
    CHECK(served(refs) > 0);
    CHECK(served(refs) < refs.size());

    const kma::Program kernels = program("heap/bump/bump.cl", flavour.options);
    const std::uint64_t rest = heap.stats().available();
    CHECK(served(request(kernels, heap, {rest + 1})) == 0);
    CHECK(heap.stats().available() == rest);
    if (rest != 0)
        CHECK(served(request(kernels, heap, {rest})) == 1);
    CHECK(heap.stats().available() == 0);
    for (int i = 0; i < 3; i++)
        CHECK(served(request(kernels, heap, {1})) == 0);
    CHECK(heap.stats().used == heap.stats().capacity);
}

TEST_CASE("what exceeds the whole heap is too large", "[bump][exhaustion]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    const int debug = GENERATE(0, 1);
    INFO(flavour.name << ", KMA_DEBUG " << debug);
    const kma::Program kernels = program("heap/bump/bump.cl", flavour.options, debug);
    const kma::Heap heap = bump_heap(64 * 1024, debug);
    const cl_ulong largest = heap.stats().capacity - (debug ? 16 : 0);
    std::uint64_t count = 0;
    for (const cl_ulong size : {~cl_ulong{0}, ~cl_ulong{0} - 15, cl_ulong{1} << 63, cl_ulong{1} << 36,
                                cl_ulong{1} << 32, (cl_ulong{1} << 36) - 16, largest + 1}) {
        INFO("size " << size);
        CHECK(served(request(kernels, heap, {size})) == 0);
        const kma::HeapStats stats = heap.stats();
        CHECK(count_of(stats, ErrorCode::too_large) == ++count);
        CHECK(count_of(stats, ErrorCode::out_of_memory) == 0);
        CHECK(heap.errors().back().size == size);
    }
    CHECK(served(request(kernels, heap, {largest})) == 1);
    CHECK(heap.stats().available() == 0);
    CHECK(served(request(kernels, heap, {largest})) == 0);
    CHECK(count_of(heap.stats(), ErrorCode::out_of_memory) == 1);
}

TEST_CASE("a lane that asks for too much takes nothing from its neighbours", "[bump][exhaustion]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const kma::Program kernels = program("heap/bump/bump.cl", flavour.options);
    const cl_ulong capacity = 16 + 31 * 48; // just what the others want
    const cl_ulong huge = GENERATE_COPY(~cl_ulong{0}, cl_ulong{1} << 32, cl_ulong{1} << 36, capacity + 1, capacity);
    INFO("size " << huge);
    for (const std::size_t greedy : {0, 1, 5, 20, 31}) {
        const kma::Heap heap = bump_heap(capacity);
        REQUIRE(served(request(kernels, heap, {16})) == 1); // so that `capacity` is no longer there
        // No more work-items than lanes: those of other groups may be refused while this one crosses the limit, and
        // where each lane is a group of its own but runs in lockstep with the rest, they are.
        std::vector<cl_ulong> sizes(32, 48);
        sizes[greedy] = huge;
        const std::vector<cl_uint> refs = request(kernels, heap, sizes);
        CHECK(refs[greedy] == 0);
        const bool may_refuse = huge == capacity && flavour.name == single_lanes_name;
        const std::size_t refused = may_refuse ? 31 - served(refs) : 0;
        CHECK(served(refs) == 31 - refused);
        const kma::HeapStats stats = heap.stats();
        CHECK(stats.used == 16 + (31 - refused) * 48);
        CHECK(count_of(stats, huge == capacity ? ErrorCode::out_of_memory : ErrorCode::too_large) == 1 + refused);
        // Who comes alone gets the rest, to the last byte.
        for (std::size_t i = 0; i < refused; i++)
            CHECK(served(request(kernels, heap, {48})) == 1);
        CHECK(heap.stats().available() == 0);
    }
}

TEST_CASE("many on a full heap are refused at once", "[bump][exhaustion]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const kma::Program kernels = program("heap/bump/bump.cl", flavour.options);
    const kma::Heap heap = bump_heap(1024);
    REQUIRE(served(request(kernels, heap, {1024})) == 1);
    const std::size_t work_items = 64 * scaled(2048);
    CHECK(served(request(kernels, heap, std::vector<cl_ulong>(work_items, 1024))) == 0);
    CHECK(count_of(heap.stats(), ErrorCode::out_of_memory) == work_items);
    CHECK(heap.errors().size() == 8);
    CHECK(heap.stats().used == 1024);
}

TEST_CASE("an error count does not wrap", "[bump][exhaustion]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const kma::Program kernels = program("heap/bump/bump.cl", flavour.options);
    const kma::Heap heap = bump_heap(64);
    REQUIRE(served(request(kernels, heap, std::vector<cl_ulong>(5, 16))) == 4);
    REQUIRE(heap.errors().size() == 1);
    for (const cl_uint preset : {0x7fffffffu, 0x80000000u, 0x80001000u}) {
        launch(kernels, "preset_errors", {1, 1}, heap, cl_uint{0}, preset);
        for (int i = 0; i < 3; i++)
            CHECK(served(request(kernels, heap, std::vector<cl_ulong>(64, 64))) == 0);
        const std::uint64_t count = count_of(heap.stats(), ErrorCode::out_of_memory);
        CHECK(count >= std::min<std::uint64_t>(preset, 0x80000000u));
        CHECK(heap.errors().size() == 1); // none of them took a place
    }
}
