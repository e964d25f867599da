// Double and invalid frees are reported and harm nobody.
#include <algorithm>

#include "blocks.hpp"
#include "catch.hpp"

using namespace conformance;
using namespace test;
using kma::ErrorCode;

namespace {

constexpr std::uint64_t superblock_bytes = 4096;

std::uint64_t payload()
{
    return std::min<std::uint64_t>(scaled(16, 4), 16) * superblock_bytes;
}

// That the heap serves all its memory once more, if it can.
void check_service(const Subject &subject, const kma::Heap &heap)
{
    check_empty(subject, heap);
    if (!subject.can(Ability::reuse))
        return;
    const std::uint64_t expected = count_when_full(subject, heap, 64, superblock_bytes);
    Blocks all(subject, heap, slots_beyond(expected));
    CHECK(all.fill(64, 256) == expected);
    CHECK(all.wrong_bytes() == 0);
    check_apart(all);
    all.give_all(1);
    check_empty(subject, heap);
}

} // namespace

TEST_CASE("a wrong free is reported and nothing else happens")
{
    for (const Subject &subject : subjects(Breadth::all, {Ability::know_blocks}))
        for (cl_uint what = 0; what <= 8; what++) {
            INFO(subject.name() << ", case " << what << " of wrong_frees.cl");
            const kma::Heap heap = subject.heap(payload(), superblock_bytes);
            const kma::Heap other = subject.heap(payload(), superblock_bytes);
            Blocks blocks(subject, heap, std::vector<cl_ulong>(5, 64)), others(subject, other, {64});
            blocks.take();
            others.take();
            const cl_uint freed = blocks.refs()[4];
            blocks.give({4});
            REQUIRE(heap.error_text() == "");
            const Array<cl_uchar> foreign(4096, 0xab);
            launch(subject.program("wrong_frees.cl"), "free_wrongly", {1, 1}, heap, other, foreign, blocks.ref_array(),
                   freed, others.refs()[0], what);
            const std::uint64_t invalid = count_of(heap, ErrorCode::invalid_free);
            const std::uint64_t twice = count_of(heap, ErrorCode::double_free);
            CHECK(invalid + twice == 1); // of memory that is free no heap need know whether it was a block
            if (what == 0)
                CHECK(twice == 1);
            else if (what != 1 && what != 8)
                CHECK(invalid == 1);
            const std::vector<kma::ErrorRecord> records = heap.errors();
            REQUIRE(records.size() == 1);
            CHECK(records[0].work_item == 0);
            if (what == 1)
                CHECK(records[0].ref == freed);

            CHECK(blocks.wrong_bytes() == 0);
            check_apart(blocks);
            check_books(blocks);
            CHECK(others.wrong_bytes() == 0);
            check_books(others);
            CHECK(foreign.read() == std::vector<cl_uchar>(4096, 0xab));
            blocks.give_all(1);
            check_service(subject, heap);
            others.give_all(1);
            check_service(subject, other);
        }
}

TEST_CASE("of many that free a block one does, and the others are reported")
{
    for (const Subject &subject : subjects(Breadth::all, {Ability::know_blocks}))
        for (const cl_ulong bytes : {16, 64, 1000}) {
            INFO(subject.name() << ", blocks of " << bytes);
            const std::size_t count = 50;
            const std::size_t work_items = scaled(8, 2) * 64;
            const kma::Heap heap =
                subject.heap(2 * count * subject.block_bytes(bytes) + 2 * superblock_bytes, superblock_bytes);
            Blocks blocks(subject, heap, std::vector<cl_ulong>(count, bytes));
            blocks.take();
            REQUIRE(blocks.held().size() == count);
            launch(subject.program("wrong_frees.cl"), "free_all", {work_items, 64}, heap, blocks.ref_array(),
                   static_cast<cl_uint>(count));
            CHECK(count_of(heap, ErrorCode::double_free) + count_of(heap, ErrorCode::invalid_free) ==
                  (work_items - 1) * count);
            CHECK(count_of(heap, ErrorCode::double_free) > 0);
            check_service(subject, heap);
        }
}
