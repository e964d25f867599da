// Blocks that are taken and freed in functions which the compiler calls keep their bytes, and none is lost.
#include <algorithm>

#include "blocks.hpp"
#include "catch.hpp"

using namespace conformance;
using namespace test;

namespace {

void check_calls(const Subject &subject, std::size_t group)
{
    INFO(subject.name() << ", work-groups of " << group);
    std::vector<cl_ulong> sizes;
    for (std::uint32_t i = 0; i < scaled(8192, 256); i++)
        sizes.push_back(1 + mix32(i) % 2000);
    const kma::Heap heap = subject.heap(ample_room(subject, sizes, large_superblock), large_superblock);
    Blocks blocks(subject, heap, sizes);
    const kma::Program program = subject.program("called.cl", "-DKEPT=1024");
    const auto slots = static_cast<cl_uint>(sizes.size());
    launch(program, "take_in_calls", in_groups(slots, group), heap, blocks.size_array(), blocks.ref_array(), slots);
    CHECK(heap.error_text() == "");
    CHECK(blocks.held().size() == sizes.size());
    CHECK(blocks.wrong_bytes() == 0);
    check_apart(blocks);
    check_count(subject, heap, sizes.size());

    // Half of them go; the others must not notice.
    std::vector<cl_uint> order = random_order(sizes.size(), 2);
    order.resize(order.size() / 2);
    const auto half = static_cast<cl_uint>(order.size());
    launch(program, "give_in_calls", in_groups(half, group), heap, blocks.ref_array(), Array<cl_uint>(order), half);
    CHECK(heap.error_text() == "");
    CHECK(blocks.wrong_bytes() == 0);
    check_count(subject, heap, sizes.size() - half);
    blocks.give_all(3);
    CHECK(heap.error_text() == "");
    check_empty(subject, heap);
}

} // namespace

TEST_CASE("blocks taken and freed in functions that are called keep their bytes")
{
    for (const Subject &subject : subjects(Breadth::fast, {Ability::reuse}))
        for (const std::size_t group : group_sizes())
            if (group >= test::group(37))
                check_calls(subject, group);
}

TEST_CASE("kernels with private arrays of kilobytes take and free blocks", "[long]")
{
    for (const Subject &subject : subjects(Breadth::all, {Ability::reuse})) {
        INFO(subject.name());
        const Shape shape = in_groups(scaled(4096, 64), test::group(64));
        const kma::Heap heap = subject.heap(shape.work_items * 4096, large_superblock);
        const Array<cl_uint> wrong(shape.work_items, 1);
        launch(subject.program("called.cl", "-DKEPT=1024"), "take_beside_arrays", shape, heap,
               static_cast<cl_uint>(scaled(20, 2)), wrong);
        const std::vector<cl_uint> all = wrong.read();
        CHECK(std::ranges::count(all, 0u) == static_cast<std::ptrdiff_t>(all.size()));
        CHECK(heap.error_text() == "");
        check_empty(subject, heap);
    }
}
