// Blocks keep what their owners wrote: of every size, over launches, and in a burst.
#include <algorithm>
#include <set>

#include "blocks.hpp"
#include "catch.hpp"

using namespace conformance;
using namespace test;

namespace {

// 0, 1, 2 … 4096, and 200 larger ones up to what every heap here serves, in an order that puts different sizes next to
// each other; fewer of them at a small scale.
std::vector<cl_ulong> all_sizes(const Subject &subject)
{
    // Guards leave less of it to a block that shall be aligned to 64 bytes.
    const std::uint64_t largest = subject.largest(large_superblock) - (subject.guarded() ? 48 : 0);
    std::vector<cl_ulong> sizes;
    const std::size_t stride = 4097 / scaled(4097) | 1;
    for (std::size_t i = 0; i <= 4096; i += stride)
        sizes.push_back(i * 1031 % 4097); // 4097 = 17 * 241
    const auto larger = static_cast<std::uint32_t>(scaled(200, 2));
    for (std::uint32_t i = 0; i < larger; i++) // the last one is a whole superblock
        sizes.push_back(i + 1 < larger ? 4097 + mix32(i) % (largest - 4097) : largest);
    std::vector<cl_ulong> mixed;
    for (const cl_uint i : random_order(sizes.size(), 1))
        mixed.push_back(sizes[i]);
    return mixed;
}

void check_all_sizes(const Subject &subject, Call call, std::size_t group)
{
    INFO(subject.name() << ", work-groups of " << group << ", calls " << static_cast<cl_uint>(call));
    const std::vector<cl_ulong> sizes = all_sizes(subject);
    const kma::Heap heap = subject.heap(ample_room(subject, sizes, large_superblock), large_superblock);
    Blocks blocks(subject, heap, sizes);
    blocks.take(call, group);
    CHECK(heap.error_text() == "");
    CHECK(blocks.wrong_bytes() == 0);
    check_apart(blocks);
    const std::vector<cl_uint> refs = blocks.refs();
    const std::vector<cl_ulong> addresses = blocks.addresses();
    std::size_t misplaced = 0;
    for (std::size_t i = 0; i < sizes.size(); i++)
        misplaced += (refs[i] != 0) != (sizes[i] != 0) || addresses[i] % 16 != 0 ? 1 : 0;
    CHECK(misplaced == 0);
    if (call == Call::malloc) // aligned_alloc may take more than the size says
        check_books(blocks, true);

    // Half of them go, in random order; the others must not notice.
    std::vector<cl_uint> order = random_order(sizes.size(), 2);
    order.resize(order.size() / 2);
    blocks.give(order);
    CHECK(blocks.wrong_bytes() == 0);
    if (call == Call::malloc)
        check_books(blocks);
    blocks.give_all(3);
    CHECK(heap.error_text() == "");
    check_empty(subject, heap);
}

void check_burst(const Subject &subject, cl_ulong bytes, std::size_t group)
{
    const std::size_t count = scaled(std::size_t{1} << 16, 256);
    const kma::Heap heap = subject.heap(2 * count * subject.block_bytes(bytes), small_superblock);
    Blocks blocks(subject, heap, std::vector<cl_ulong>(count, bytes));
    for (std::uint32_t round = 0; round < (subject.can(Ability::reuse) ? 2u : 1u); round++) { // on a used heap, too
        INFO(subject.name() << ", blocks of " << bytes << ", work-groups of " << group << ", round " << round);
        blocks.take(Call::malloc, group);
        CHECK(blocks.held().size() == count);
        CHECK(count_of(heap, kma::ErrorCode::out_of_memory) == 0);
        check_whole(blocks);
        check_given(blocks, round);
        check_refusals_only(heap);
    }
}

} // namespace

TEST_CASE("blocks of every size keep their bytes")
{
    for (const Subject &subject : subjects(Breadth::all))
        check_all_sizes(subject, Call::malloc, 64);
}

TEST_CASE("free writes nothing into the block, or poison")
{
    // Another may have it by then, unless it is in quarantine.
    for (const Subject &subject : subjects(Breadth::all)) {
        INFO(subject.name());
        const std::vector<cl_ulong> sizes = all_sizes(subject);
        const kma::Heap heap = subject.heap(ample_room(subject, sizes, large_superblock), large_superblock);
        Blocks blocks(subject, heap, sizes);
        blocks.take();
        const Array<cl_uint> refs(blocks.refs());
        blocks.give_all(1);
        CHECK((blocks.wrong_bytes(refs) == 0) == !subject.guarded());
        check_empty(subject, heap);
    }
}

TEST_CASE("blocks from diverged callers keep their bytes")
{
    for (const Subject &subject : subjects(Breadth::all))
        for (const std::size_t group : group_sizes())
            if (thorough() || (subject.is_first() && group >= test::group(37)) ||
                (subject.guarded() && group == test::group(37)))
                check_all_sizes(subject, Call::mixed, group);
}

TEST_CASE("a burst of requests is served where there is twice the room")
{
    for (const Subject &subject : subjects(Breadth::all))
        for (const std::size_t group : std::set<std::size_t>{test::group(64), test::group(256)})
            if (thorough() || subject.is_first() || group == test::group(64))
                for (const cl_ulong bytes : {16, 64})
                    check_burst(subject, bytes, group);
}
