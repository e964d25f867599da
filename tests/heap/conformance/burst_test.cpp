// Many requests at the same moment: nobody is refused while there is plenty of memory.
#include <set>

#include "blocks.hpp"
#include "catch.hpp"

using namespace conformance;
using namespace test;

namespace {


void check_burst(const Subject &subject, cl_ulong bytes, std::size_t group)
{
    const std::size_t count = scaled(std::size_t{1} << 16, 256);
    const kma::Heap heap = subject.heap(2 * count * subject.block_bytes(bytes), small_superblock);
    Blocks blocks(subject, heap, std::vector<cl_ulong>(count, bytes));
    for (std::uint32_t round = 0; round < (subject.can(Ability::reuse) ? 2 : 1);
         round++) { // on a heap that was used, too
        INFO(subject.name() << ", blocks of " << bytes << ", work-groups of " << group << ", round " << round);
        blocks.take(Call::malloc, group);
        const std::size_t refused = count - blocks.held().size();
        CHECK(refused == 0);
        CHECK(count_of(heap, kma::ErrorCode::out_of_memory) == refused);
        CHECK(blocks.wrong_bytes() == 0);
        check_apart(blocks);
        check_books(blocks);
        blocks.give_all(round);
        check_empty(subject, heap);
        check_refusals_only(heap);
    }
}

} // namespace

TEST_CASE("a burst of requests is served where there is twice the room")
{
    for (const Subject &subject : subjects(Breadth::all))
        for (const std::size_t group : std::set<std::size_t>{test::group(64), test::group(256)})
            if (thorough() || subject.is_first() || group == test::group(64))
                for (const cl_ulong bytes : {16, 64})
                    check_burst(subject, bytes, group);
}
