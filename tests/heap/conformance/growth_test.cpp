// A heap that grows between two kernels: what it held stays whole, and there is as much room as in one made so large.
#include <algorithm>

#include "blocks.hpp"
#include "catch.hpp"
#include "participation.hpp"

using namespace conformance;
using namespace test;

namespace {

constexpr std::uint64_t max_bytes = 40 * small_superblock;

} // namespace

TEST_CASE("a full heap that grows keeps all blocks and serves more, twice")
{
    for (const Subject &subject : subjects(Breadth::all))
        for (const std::uint64_t bytes : {40, 1000}) {
            INFO(subject.name() << ", blocks of " << bytes);
            kma::Heap heap = subject.heap(6 * small_superblock, small_superblock, max_bytes);
            Blocks blocks(subject, heap, slots_beyond(max_bytes / subject.block_bytes(bytes)));
            for (const std::uint64_t size : {heap.bytes(), heap.bytes() + 5 * small_superblock + 100, max_bytes}) {
                const std::vector<cl_uint> before = blocks.refs();
                heap.grow(size);
                CHECK(heap.bytes() == size);
                CHECK(blocks.refs() == before);
                CHECK(blocks.wrong_bytes() == 0);
                check_books(blocks);
                const Range expected = count_when_full(subject, heap, bytes, small_superblock);
                CHECK(outside(blocks.fill(bytes, crowd), expected) == "");
                CHECK(blocks.wrong_bytes() == 0);
                check_apart(blocks);
                check_books(blocks);
            }
            check_refusals_only(heap);
            blocks.give_all(1);
            check_empty(subject, heap);
            check_reset(subject, heap);
        }
}
