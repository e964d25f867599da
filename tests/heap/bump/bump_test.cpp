// What bump heaps alone must show: exact ends where lanes want different sizes, and KMA_DEBUG 1, which has prefixes of
// its own. tests/heap/conformance has the rest.
#include <algorithm>
#include <array>

#include "catch.hpp"
#include "support.hpp"

using namespace test;
using kma::ErrorCode;

namespace {

kma::Heap bump_heap(std::uint64_t payload, int debug = 0)
{
    const kma::HeapOptions options{.kind = kma::HeapKind::bump, .debug = debug};
    return {device(), kma::Heap::bytes_for(options, payload), options};
}

// `shape.work_items` ask for the sizes, each for as many as there are for it.
std::vector<cl_uint> request(const kma::Program &program, const kma::Heap &heap, const std::vector<cl_ulong> &sizes,
                             Shape shape)
{
    const Array<cl_uint> refs(sizes.size(), 0);
    launch(program, "request", shape, heap, Array(sizes), refs, static_cast<cl_uint>(sizes.size() / shape.work_items));
    return refs.read();
}

// The blocks that a lone caller, or as many as there are sizes, gets of them.
std::size_t served(const kma::Program &program, const kma::Heap &heap, const std::vector<cl_ulong> &sizes)
{
    const auto refs = request(program, heap, sizes, {sizes.size(), std::min<std::size_t>(sizes.size(), 64)});
    return refs.size() - static_cast<std::size_t>(std::ranges::count(refs, 0u));
}

} // namespace

TEST_CASE("mixed sizes leave nothing that a lone caller could not have", "[bump][long]")
{
    for (const Flavour &flavour : heap_flavours())
        for (const std::size_t group : group_sizes()) {
            INFO(flavour.name << ", work-groups of " << group);
            const std::size_t work_items = group * scaled(16, group < 16 ? 16 : 2);
            std::vector<cl_ulong> sizes;
            std::uint64_t wanted = 0, taken = 0, refused = 0;
            for (std::size_t i = 0; i < work_items * 4; i++) {
                const cl_uint random = mix32(static_cast<cl_uint>(i));
                sizes.push_back(random % 8 == 0 ? random % 3000 + 1 : i % 90 + 1);
                wanted += (sizes.back() + 15) / 16 * 16;
            }
            const kma::Heap heap = bump_heap(wanted * 2 / 3);
            const kma::Program kernels = program("heap/bump/bump.cl", flavour.options);
            const std::vector<cl_uint> refs = request(kernels, heap, sizes, {work_items, group});
            std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks; // begin and end
            for (std::size_t i = 0; i < refs.size(); i++)
                if (refs[i] != 0) {
                    const std::uint64_t bytes = (sizes[i] + 15) / 16 * 16;
                    blocks.emplace_back(refs[i] * kma::ref_unit, refs[i] * kma::ref_unit + bytes);
                    taken += bytes;
                } else {
                    refused++;
                }
            std::ranges::sort(blocks);
            CHECK(std::ranges::adjacent_find(blocks, [](const auto &a, const auto &b) { return a.second > b.first; }) ==
                  blocks.end());
            CHECK(taken > 0);
            CHECK(refused > 0);
            CHECK(heap.stats().used == taken);
            CHECK(heap.error_count(ErrorCode::out_of_memory) == refused);

            const std::uint64_t rest = heap.stats().available();
            CHECK(served(kernels, heap, {rest + 1}) == 0);
            CHECK(heap.stats().available() == rest);
            CHECK(served(kernels, heap, {rest}) == (rest != 0 ? std::size_t{1} : 0));
            CHECK(heap.stats().available() == 0);
            CHECK(served(kernels, heap, {1, 1, 1}) == 0);
            CHECK(heap.stats().used == heap.stats().capacity);
        }
}

TEST_CASE("a lane that asks for too much takes nothing from its neighbours", "[bump]")
{
    const cl_ulong capacity = 16 + 31 * 48; // just what the others want
    for (const Flavour &flavour : heap_flavours())
        for (const cl_ulong huge : {~cl_ulong{0}, cl_ulong{1} << 32, cl_ulong{1} << 36, capacity + 1, capacity})
            for (const std::size_t greedy : {0, 1, 5, 20, 31}) {
                INFO(flavour.name << ", size " << huge << " by " << greedy);
                const kma::Program kernels = program("heap/bump/bump.cl", flavour.options);
                const kma::Heap heap = bump_heap(capacity);
                REQUIRE(served(kernels, heap, {16}) == 1); // so that `capacity` is no longer there
                // No more work-items than lanes: those of other groups may be refused while this one crosses the limit,
                // and where each lane is a group of its own but runs in lockstep with the rest, they are.
                std::vector<cl_ulong> sizes(32, 48);
                sizes[greedy] = huge;
                const std::vector<cl_uint> refs = request(kernels, heap, sizes, {32, 32});
                CHECK(refs[greedy] == 0);
                const std::size_t refused = static_cast<std::size_t>(std::ranges::count(refs, 0u)) - 1;
                const bool may_refuse = huge == capacity && flavour.name == single_lanes_name;
                CHECK((may_refuse || refused == 0));
                CHECK(heap.stats().used == 16 + (31 - refused) * 48);
                CHECK(heap.error_count(huge == capacity ? ErrorCode::out_of_memory : ErrorCode::too_large) ==
                      1 + refused);
                // A lone caller gets the rest, to the last byte.
                for (std::size_t i = 0; i < refused; i++)
                    CHECK(served(kernels, heap, {48}) == 1);
                CHECK(heap.stats().available() == 0);
            }
}

TEST_CASE("with KMA_DEBUG 1 a block knows its size and its end, and wrong frees change nothing",
          "[bump][long]")
{
    for (const Flavour &flavour : heap_flavours()) {
        INFO(flavour.name);
        const kma::Heap heap = bump_heap(4096, 1), other = bump_heap(4096, 1);
        const Array<cl_uchar> foreign(4096, 0);
        const Array<cl_ulong> out(17, 99);
        launch(program("heap/bump/bump.cl", flavour.options, 1), "life", {1, 1}, heap, other, foreign, out);
        std::vector<cl_ulong> results = out.read();
        const auto moved = static_cast<kma::Ref>(results[15]), kept = static_cast<kma::Ref>(results[16]);
        results.resize(15);
        CHECK(results == std::vector<cl_ulong>{112, 0, 0, 0, 1, 1, 0, 32, 1, 1008, 0, 0, 0, 0, 48});
        CHECK(heap.stats().debug == 1);
        // A wrong old size, realloc of a freed block, and seven frees.
        CHECK(heap.error_count(ErrorCode::invalid_free) == 9);
        CHECK(heap.error_count(ErrorCode::double_free) == 1);
        const std::vector<kma::ErrorRecord> records = heap.errors();
        REQUIRE(records.size() == 9); // eight of them, and the second free
        const auto second = std::ranges::find(records, ErrorCode::double_free, &kma::ErrorRecord::code);
        REQUIRE(second != records.end());
        CHECK(second->ref == moved);
        CHECK(second->size == 1000);
        CHECK(std::ranges::count(records, kept + 1, &kma::ErrorRecord::ref) == 1);
        CHECK(other.error_text() == "");
        CHECK(foreign.read() == std::vector<cl_uchar>(4096, 0));
        CHECK(*heap.snapshot().deref<std::array<cl_ulong, 8>>(kept) == std::array<cl_ulong, 8>{});
    }
}

TEST_CASE("with KMA_DEBUG 1 one of many frees a block, and a block from before a reset is none",
          "[bump][long]")
{
    for (const Flavour &flavour : heap_flavours()) {
        INFO(flavour.name);
        const kma::Program kernels = program("heap/bump/bump.cl", flavour.options, 1);
        const cl_uint blocks = static_cast<cl_uint>(64 * scaled(8));
        for (const Shape shape : {Shape{256, 256}, Shape{256, 1}}) {
            kma::Heap heap = bump_heap(blocks * 64, 1);
            const std::vector<cl_uint> refs = request(kernels, heap, std::vector<cl_ulong>(blocks, 48), {blocks, 64});
            REQUIRE(std::ranges::count(refs, 0u) == 0);
            launch(kernels, "free_same", shape, heap, Array(refs), blocks);
            CHECK(heap.error_count(ErrorCode::double_free) == 255 * blocks);
            CHECK(heap.error_count(ErrorCode::invalid_free) == 0);
            CHECK(heap.errors().size() == 8);

            heap.clear_errors();
            heap.reset();
            launch(kernels, "free_same", {1, 1}, heap, Array(refs), blocks);
            CHECK(heap.error_count(ErrorCode::invalid_free) == blocks);
            CHECK(heap.stats().used == 0);
            // Nor is it one in the middle of a block that has its memory now.
            const std::uint64_t all = heap.stats().capacity - 16;
            const kma::Ref large = request(kernels, heap, {all}, {1, 1})[0];
            CHECK(heap.stats().available() == 0);
            std::vector<cl_uint> old_refs = refs;
            std::erase(old_refs, large);
            CHECK(old_refs.size() == blocks - 1);
            launch(kernels, "free_same", {1, 1}, heap, Array(old_refs), blocks - 1);
            CHECK(heap.error_count(ErrorCode::invalid_free) == 2 * blocks - 1);
            launch(kernels, "free_same", {1, 1}, heap, Array(std::vector{large}), cl_uint{1});
            CHECK(heap.error_count(ErrorCode::invalid_free) == 2 * blocks - 1);
            CHECK(heap.error_count(ErrorCode::double_free) == 0);
        }
    }
}
