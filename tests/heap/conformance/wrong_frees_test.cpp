// Bad frees in crowds: a million among calls that are right, and many work-items that free the same block.
#include <algorithm>

#include "blocks.hpp"
#include "catch.hpp"
#include "participation.hpp"
#include "soak.hpp"

using namespace conformance;
using namespace test;
using kma::ErrorCode;

TEST_CASE("random bad frees among calls that are right are all reported and harm nobody", "[long]")
{
    // A million with the scale of the long tests; a simulator's does fewer rounds too.
    constexpr cl_uint per_item = 4;
    const auto each = static_cast<cl_uint>(std::min<std::size_t>(scaled(50, 4), 50));
    const auto rounds = static_cast<cl_uint>(std::min<std::size_t>(scaled(20, 2), 20));
    const std::size_t work_items = std::clamp<std::size_t>(scaled(128) / 64 * 64, 64, 1024);
    for (const Subject &subject : subjects(Breadth::all, {Ability::know_blocks})) {
        INFO(subject.name());
        const std::uint64_t per_block = subject.block_bytes(1000) + small_superblock;
        const std::uint64_t blocks_in_all = subject.can(Ability::reuse) ? per_item : rounds;
        const kma::Heap heap = subject.heap(work_items * blocks_in_all * per_block, small_superblock);
        const UnitRange range = blocks_range(heap);
        const Array<cl_uchar> foreign(4096, 0xab);
        Blocks blocks(subject, heap, std::vector<cl_ulong>(work_items * per_item, 0));
        const Array<Counts> results(work_items, Counts{});
        launch(misuse_program(subject), "free_at_random", {work_items, 64}, heap, foreign,
               range.begin * cl_ulong{kma::ref_unit}, range.limit * cl_ulong{kma::ref_unit}, blocks.ref_array(),
               blocks.size_array(), per_item, rounds, each, cl_uint{1}, results);
        const Counts count = sum(results);
        CHECK(count.freed > 0);
        CHECK(count.wrong == 0);
        CHECK(count.refused == work_items * rounds * each);
        CHECK(count_of(heap, ErrorCode::invalid_free) == count.refused);
        CHECK(count_of(heap, ErrorCode::double_free) == 0);
        CHECK(count_of(heap, ErrorCode::out_of_memory) == 0);
        for (const kma::ErrorRecord &record : heap.errors()) {
            CHECK(record.code == ErrorCode::invalid_free);
            CHECK(record.work_item < work_items);
            CHECK(record.ref < heap.stats().bytes / kma::ref_unit);
        }
        CHECK(blocks.wrong_bytes() == 0);
        check_apart(blocks);
        check_count(subject, heap, blocks.held().size());
        CHECK(foreign.read() == std::vector<cl_uchar>(4096, 0xab));
        check_given(blocks, 3);
        remark("bad frees among good ones, ", subject.name(), ": ", count.refused, ", all reported");
    }
}

TEST_CASE("of many that free a block one does, and the others are reported", "[long]")
{
    for (const Subject &subject : subjects(Breadth::all, {Ability::know_blocks}))
        for (const cl_ulong bytes : {16, 64, 1000}) {
            INFO(subject.name() << ", blocks of " << bytes);
            const std::size_t count = 50;
            const auto [work_items, group] = in_groups(scaled(8, 2) * 64, 64);
            const kma::Heap heap =
                subject.heap(2 * count * subject.block_bytes(bytes) + 2 * small_superblock, small_superblock);
            Blocks blocks(subject, heap, std::vector<cl_ulong>(count, bytes));
            blocks.take();
            REQUIRE(blocks.held().size() == count);
            launch(misuse_program(subject), "free_all", {work_items, group}, heap, blocks.ref_array(),
                   static_cast<cl_uint>(count), cl_uint{1});
            CHECK(count_of(heap, ErrorCode::double_free) + count_of(heap, ErrorCode::invalid_free) ==
                  (work_items - 1) * count);
            CHECK(count_of(heap, ErrorCode::double_free) > 0);
            check_empty(subject, heap);
            if (subject.can(Ability::reuse))
                check_service(subject, heap, 64, small_superblock);
        }
}

TEST_CASE("of 256 that free one block exactly one does, round after round")
{
    constexpr std::size_t work_items = 256;
    const std::size_t at_once = std::min<std::size_t>(scaled(100, 4), 100);
    // In small groups, which devices run side by side, all in the same order: they meet at every block. Ten thousand
    // rounds with the scale of the long tests.
    const std::size_t launches = std::clamp<std::size_t>(scaled(25), 1, 100);
    for (const Subject &subject : subjects(Breadth::all, {Ability::know_blocks})) {
        INFO(subject.name());
        const std::size_t in_quarantine = subject.guarded() ? 1024 : 0; // so that no lane must wait for it
        kma::Heap heap = subject.heap((4 * at_once + in_quarantine) * subject.block_bytes(48) + 8 * small_superblock,
                                      small_superblock);
        const kma::Program program = misuse_program(subject);
        for (std::size_t round = 0; round < launches; round++) {
            Blocks blocks(subject, heap, std::vector<cl_ulong>(at_once, 1 + round % 48));
            blocks.take();
            REQUIRE(blocks.held().size() == at_once);
            launch(program, "free_all", {work_items, 16}, heap, blocks.ref_array(), static_cast<cl_uint>(at_once),
                   cl_uint{0});
            REQUIRE(count_of(heap, ErrorCode::double_free) == (work_items - 1) * at_once);
            REQUIRE(count_of(heap, ErrorCode::invalid_free) == 0);
            if (subject.can(Ability::list_blocks))
                REQUIRE(heap.leaks().blocks == 0);
            heap.clear_errors();
            if (!subject.can(Ability::reuse))
                heap.reset();
        }
        check_empty(subject, heap);
        remark("256 frees of one block, ", subject.name(), ": ", launches * at_once, " blocks, each freed once");
    }
}
