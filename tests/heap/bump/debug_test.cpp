// kma/heap/bump.cl with KMA_DEBUG=1: wrong frees are found, recorded, and do no harm.
#include "catch.hpp"
#include "heap_blocks.hpp"

using namespace test;
using kma::ErrorCode;

TEST_CASE("a block knows its size and its end", "[bump][debug]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const kma::Heap heap = bump_heap(4096, 1);
    const Array<cl_ulong> results(15, 99);
    launch(program("heap/bump/debug.cl", flavour.options, 1), "life", {1, 1}, heap, results);
    CHECK(results.read() == std::vector<cl_ulong>{112, 0, 0, 0, 1, 1, 0, 32, 1, 1008, 0, 0, 0, 0, 48});
    const kma::HeapStats stats = heap.stats();
    CHECK(stats.debug == 1);
    CHECK(count_of(stats, ErrorCode::invalid_free) == 2); // a wrong old size, and realloc of a freed block
    CHECK(heap.errors().size() == 2);
}

TEST_CASE("a wrong free is recorded and changes nothing", "[bump][debug]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    const cl_uint what = GENERATE(range(0u, 8u));
    INFO(flavour.name << ", case " << what << " of wrong_free");
    const kma::Heap heap = bump_heap(4096, 1), other = bump_heap(4096, 1);
    const Array<cl_uchar> foreign(4096, 0);
    const Array<cl_uint> ref(1, 0);
    launch(program("heap/bump/debug.cl", flavour.options, 1), "wrong_free", {1, 1}, heap, other, foreign, what, ref);
    const ErrorCode expected = what == 0 ? ErrorCode::double_free : ErrorCode::invalid_free;
    CHECK(count_of(heap.stats(), expected) == 1);
    const std::vector<kma::ErrorRecord> records = heap.errors();
    REQUIRE(records.size() == 1);
    CHECK(records[0].code == expected);
    CHECK(records[0].work_item == 0);
    if (what == 0) {
        CHECK(records[0].ref == ref.read()[0]);
        CHECK(records[0].size == 64);
    }
    if (what == 1)
        CHECK(records[0].ref == ref.read()[0] + 1);
    CHECK(other.error_text() == "");
    CHECK(foreign.read() == std::vector<cl_uchar>(4096, 0));
    const kma::Snapshot snapshot = heap.snapshot();
    CHECK(*snapshot.deref<std::array<cl_ulong, 8>>(ref.read()[0]) == std::array<cl_ulong, 8>{});
}

TEST_CASE("of many who free one block, one succeeds", "[bump][debug]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const kma::Program kernels = program("heap/bump/debug.cl", flavour.options, 1);
    const cl_uint blocks = static_cast<cl_uint>(64 * scaled(8));
    for (const Shape shape : {Shape{256, 256}, Shape{256, 1}}) {
        const kma::Heap heap = bump_heap(blocks * 64, 1);
        const Array<cl_uint> refs(blocks, 0);
        launch(kernels, "take_blocks", {blocks, 64}, heap, refs, cl_ulong{48});
        REQUIRE(served(refs.read()) == blocks);
        launch(kernels, "free_same", shape, heap, refs, blocks);
        const kma::HeapStats stats = heap.stats();
        CHECK(count_of(stats, ErrorCode::double_free) == 255 * blocks);
        CHECK(count_of(stats, ErrorCode::invalid_free) == 0);
        CHECK(heap.errors().size() == 8);
    }
}

TEST_CASE("a block from before a reset is none", "[bump][debug]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const kma::Program kernels = program("heap/bump/debug.cl", flavour.options, 1);
    kma::Heap heap = bump_heap(4096, 1);
    const Array<cl_uint> refs(32, 0);
    launch(kernels, "take_blocks", {32, 32}, heap, refs, cl_ulong{48});
    heap.reset();
    launch(kernels, "free_same", {1, 1}, heap, refs, cl_uint{32});
    CHECK(count_of(heap.stats(), ErrorCode::invalid_free) == 32);
    CHECK(heap.stats().used == 0);

    // Nor is it one in the middle of a block that has its memory now.
    const Array<cl_uint> large(1, 0);
    launch(kernels, "take_blocks", {1, 1}, heap, large, cl_ulong{4080});
    CHECK(heap.stats().available() == 0);
    std::vector<cl_uint> old_refs = refs.read();
    std::erase(old_refs, large.read()[0]);
    CHECK(old_refs.size() == 31);
    launch(kernels, "free_same", {1, 1}, heap, Array<cl_uint>(old_refs), cl_uint{31});
    CHECK(count_of(heap.stats(), ErrorCode::invalid_free) == 32 + 31);
    launch(kernels, "free_same", {1, 1}, heap, large, cl_uint{1});
    CHECK(count_of(heap.stats(), ErrorCode::invalid_free) == 32 + 31);
    CHECK(count_of(heap.stats(), ErrorCode::double_free) == 0);
}

TEST_CASE("a heap of the other flavour is refused", "[bump][debug]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    const kma::Heap heap = bump_heap(4096, 0);
    const kma::Program fast = program("heap/bump/bump.cl", flavour.options, 0);
    // A block in front and one behind, to be found unchanged.
    const Array<cl_uint> refs(3, 0), wrong(3, 0), results(4, 9);
    const Array<cl_ulong> sizes(3, 64), pointers(3, 0);
    launch(fast, "fill", {3, 3}, heap, sizes, refs, pointers, cl_uint{0});
    const std::uint64_t used = heap.stats().used;
    launch(program("heap/bump/debug.cl", flavour.options, 1), "not_mine", {1, 1}, AnyHeap{heap}, refs.read()[1], results);
    CHECK(results.read() == std::vector<cl_uint>(4, 1));
    CHECK(count_of(heap.stats(), ErrorCode::bad_heap) == 5);
    CHECK(heap.errors().back().code == ErrorCode::bad_heap);
    CHECK(heap.errors().back().size == 0);
    CHECK(heap.stats().used == used);
    launch(fast, "check", {3, 3}, heap, sizes, refs, wrong);
    CHECK(wrong.read() == std::vector<cl_uint>(3, 0));
}

TEST_CASE("a buffer that is no heap is refused and stays as it is", "[bump][debug]")
{
    const Flavours all = heap_flavours();
    const Flavour flavour = GENERATE_COPY(from_range(all));
    INFO(flavour.name);
    for (const cl_uint content : {0u, 0xffffffffu}) {
        const Array<cl_uint> plain(4096, content), results(4, 9);
        launch(program("heap/bump/debug.cl", flavour.options, 1), "not_mine", {1, 1}, plain, cl_uint{100}, results);
        CHECK(results.read() == std::vector<cl_uint>(4, 1));
        CHECK(plain.read() == std::vector<cl_uint>(4096, content));
    }
}
