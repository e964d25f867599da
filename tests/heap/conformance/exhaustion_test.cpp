// A full heap: NULL for all, soon; and full service once something was freed, or the heap grew.
#include <algorithm>

#include "blocks.hpp"
#include "catch.hpp"
#include "participation.hpp"

using namespace conformance;
using namespace test;

namespace {

std::uint64_t payload()
{
    return std::min<std::uint64_t>(scaled(48, 6), 48) * small_superblock;
}

// How many blocks of `bytes` an empty heap of this size has.
Range capacity_of(const Subject &subject, const kma::Heap &heap, std::uint64_t bytes)
{
    return count_when_full(subject, heap, bytes, small_superblock);
}

// Up to a whole superblock.
std::vector<std::uint64_t> wanted_sizes(const Subject &subject)
{
    return {1, 16, 40, 100, 1000, subject.largest(subject.superblock(small_superblock))};
}

// As `crowd`, at scale.
std::size_t crowd_size()
{
    return scaled(1024, 64);
}

} // namespace

TEST_CASE("a full heap has handed out all its memory and refuses everybody")
{
    for (const Subject &subject : core_subjects(Breadth::all))
        for (const std::uint64_t bytes : wanted_sizes(subject)) {
            INFO(subject.name() << ", blocks of " << bytes);
            kma::Heap heap = subject.heap(payload(), small_superblock);
            REQUIRE(heap.stats().capacity >= payload());
            const Range expected = capacity_of(subject, heap, bytes);
            Blocks blocks(subject, heap, slots_beyond(expected.most));
            CHECK(outside(blocks.fill(bytes, crowd_size()), expected) == "");
            check_whole(blocks);

            const std::uint64_t before = count_of(heap, kma::ErrorCode::out_of_memory);
            CHECK(before > 0);
            CHECK(request(subject, heap, bytes, crowd_size()) == 0);
            CHECK(request(subject, heap, bytes, 1) == 0);
            CHECK(count_of(heap, kma::ErrorCode::out_of_memory) > before + crowd_size());
            CHECK(blocks.wrong_bytes() == 0);
            check_refusals_only(heap);

            check_given(blocks, 1);
            check_reset(subject, heap);
            CHECK(outside(blocks.fill(bytes, crowd_size()), expected) == "");
            check_given(blocks, 2);
        }
}

TEST_CASE("what was freed is served again, all of it and no more")
{
    for (const Subject &subject : core_subjects(Breadth::all, {Ability::reuse}))
        for (const std::uint64_t bytes : wanted_sizes(subject))
            for (const std::size_t most : {1, 5}) {
                INFO(subject.name() << ", " << most << " blocks of " << bytes);
                kma::Heap heap = subject.heap(payload(), small_superblock);
                const Range expected = capacity_of(subject, heap, bytes);
                Blocks blocks(subject, heap, slots_beyond(expected.most));
                const std::size_t count = blocks.fill(bytes, crowd_size());
                REQUIRE(outside(count, expected) == "");
                const std::size_t freed = std::min<std::size_t>(most, count);
                std::vector<cl_uint> order = random_order(count, static_cast<std::uint32_t>(bytes));
                order.resize(freed);
                blocks.give(order);
                check_books(blocks);
                // Lanes together get no more than that, and leave nothing to a lone caller beyond it.
                std::size_t served = request(subject, heap, bytes, crowd_size());
                CHECK(served <= freed);
                served += while_served(subject, heap, bytes);
                CHECK(served == freed);
                CHECK(request(subject, heap, bytes, crowd_size()) == 0);
                CHECK(blocks.wrong_bytes() == 0);
                check_refusals_only(heap);
                check_reset(subject, heap);
            }
}

TEST_CASE("ten times full and empty gives the same count")
{
    for (const Subject &subject : subjects(Breadth::all, {Ability::reuse}))
        for (const std::uint64_t bytes : {16, 100, 1000}) {
            INFO(subject.name() << ", blocks of " << bytes);
            const kma::Heap heap = subject.heap(payload(), small_superblock);
            const Range expected = capacity_of(subject, heap, bytes);
            Blocks blocks(subject, heap, slots_beyond(expected.most));
            for (std::uint32_t round = 0; round < 10; round++) {
                INFO("round " << round);
                REQUIRE(outside(blocks.fill(bytes, crowd_size()), expected) == "");
                CHECK(blocks.wrong_bytes() == 0);
                check_given(blocks, round);
            }
        }
}

// No superblock keeps its size for ever.
TEST_CASE("memory goes from one size to another and back")
{
    for (const Subject &subject : core_subjects(Breadth::all, {Ability::reuse})) {
        INFO(subject.name());
        const kma::Heap heap = subject.heap(payload(), small_superblock);
        Blocks blocks(subject, heap, slots_beyond(capacity_of(subject, heap, 16).most));
        const std::uint64_t whole = subject.largest(subject.superblock(small_superblock));
        for (const std::uint64_t bytes : {48ul, 1000ul, 48ul, 16ul, whole, 16ul, 300ul, whole, 48ul}) {
            INFO("blocks of " << bytes);
            const std::size_t count = blocks.fill(bytes, refillers(subject, crowd_size()));
            CHECK(outside(count, capacity_of(subject, heap, bytes)) == "");
            CHECK(blocks.wrong_bytes() == 0);
            check_apart(blocks);
            check_given(blocks, static_cast<std::uint32_t>(bytes));
        }
    }
}

TEST_CASE("a million requests on a full heap are refused in bounded time", "[long]")
{
    const bool is_gpu = device().device().getInfo<CL_DEVICE_TYPE>() == CL_DEVICE_TYPE_GPU;
    const Shape shape = in_groups(scaled(std::size_t{1} << 20) + (is_gpu ? 0 : 1), 256);
    for (const Subject &subject : subjects(Breadth::fast))
        for (const std::uint64_t filled : {16, 1000})
            for (const cl_ulong bytes : {cl_ulong{16}, cl_ulong{1000}, cl_ulong{4096}}) {
                kma::Heap heap = subject.heap(payload(), small_superblock);
                Blocks blocks(subject, heap, slots_beyond(capacity_of(subject, heap, filled).most));
                REQUIRE(blocks.fill(filled, crowd_size()) > 0);
                while_served(subject, heap, bytes); // what is left beside blocks of another size
                const Array<cl_uint> served(1, 0);
                const auto refuse = [&] {
                    return launch(subject.program("blocks.cl"), "request_many", shape, heap, bytes, served);
                };
                refuse(); // which may compile
                const double milliseconds = static_cast<double>(nanoseconds(refuse())) * 1e-6;
                INFO(subject.name() << ", full of blocks of " << filled << ", requests of " << bytes);
                CHECK(served.read()[0] == 0);
                const double per_mi = milliseconds * (1 << 20) / static_cast<double>(shape.work_items);
                remark("full of blocks of ", filled, " bytes, ", subject.name(), ": 1 Mi requests of ", bytes,
                       " bytes refused in ", per_mi, " ms");
                if (is_gpu)
                    CHECK(per_mi <= 5);
                else if (scaled(100) >= 100) // no promise; but 20 microseconds a request are a walk through the heap
                    CHECK(milliseconds <= 0.02 * static_cast<double>(shape.work_items) + 1000);
                CHECK(blocks.wrong_bytes() == 0);
                check_reset(subject, heap);
            }
}

TEST_CASE("a full heap that grows keeps all blocks and serves more, twice")
{
    constexpr std::uint64_t max_bytes = 40 * small_superblock;
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
                check_whole(blocks);
            }
            check_refusals_only(heap);
            check_given(blocks, 1);
            check_reset(subject, heap);
        }
}
