// Many work-items take and give back at once, in one kernel and in two kernels that run at the same time; the soak in
// short (`kma soak` has it at length).
#include <algorithm>

#include "blocks.hpp"
#include "catch.hpp"
#include "participation.hpp"
#include "soak.hpp"

using namespace conformance;
using namespace test;

namespace {

constexpr cl_uint per_item = 4; // blocks that a work-item may hold
constexpr cl_uint most = 1500;  // bytes of the largest

struct Churn {
    const Subject &subject;
    const kma::Heap &heap;
    std::size_t work_items;
    Blocks blocks{subject, heap, std::vector<cl_ulong>(work_items *per_item, 0)};
    Array<Counts> results{work_items, Counts{}};

    cl::Kernel kernel(bool diverged, cl_uint rounds, cl_uint seed) const
    {
        return kernel_with(subject.program("churn.cl"), "churn", heap, blocks.ref_array(), blocks.size_array(),
                           per_item, rounds, most, seed, static_cast<cl_uint>(diverged), results);
    }

    // What must be true after any churn.
    Counts check() const
    {
        const Counts count = sum(results);
        CHECK(count.wrong == 0);
        CHECK(count.served - count.freed == blocks.held().size());
        CHECK(blocks.wrong_bytes() == 0);
        return count;
    }
};

// Ample: two superblocks for each slot, so that some are empty at any time and no request may be refused. Tight: the
// heap is full most of the time.
void check_churn(const Subject &subject, std::size_t group, bool diverged, bool tight)
{
    INFO(subject.name() << ", work-groups of " << group << (diverged ? ", diverged" : "")
                        << (tight ? ", tight" : ", ample"));
    // Of more than 4096, the superblocks of an ample heap would be too many for 32-bit atomics.
    const std::size_t work_items = std::min<std::size_t>(scaled(1024), 4096) / group * group + group;
    const std::uint64_t superblocks = tight ? work_items / 32 + 2 : 2 * work_items * per_item;
    const kma::Heap heap = subject.heap(superblocks * small_superblock, small_superblock);
    Churn churn{subject, heap, work_items};
    const auto rounds = static_cast<cl_uint>(thorough() ? 400 : scaled(120, 8));
    run_kernel(churn.kernel(diverged, rounds, 1), {work_items, group});
    const Counts count = churn.check();
    CHECK(count.served > 0);
    check_apart(churn.blocks);
    check_count(subject, heap, churn.blocks.held().size());
    if (!tight && subject.can(Ability::reuse))
        CHECK(count.refused == 0);
    if (tight && work_items >= 512) // a few superblocks are enough for fewer
        CHECK(count.refused > 0);
    // The heap is in order afterwards: some blocks freed by others, and once more.
    check_given(churn.blocks, static_cast<std::uint32_t>(group));
    if (subject.can(Ability::reuse)) {
        run_kernel(churn.kernel(diverged, rounds, 77), {work_items, group});
        churn.check();
        check_given(churn.blocks, 5);
        check_service(subject, heap, 48, small_superblock);
    }
    check_refusals_only(heap);
}

} // namespace

TEST_CASE("churn of mixed sizes keeps all blocks and loses none")
{
    for (const Subject &subject : subjects(Breadth::all))
        for (const std::size_t group : group_sizes()) {
            // The first flavour at all work-group sizes; the others at one, unless there is time.
            if ((!thorough() && group != test::group(64) && !subject.is_first()) || group > scaled(16384))
                continue;
            for (const bool diverged : {false, true}) {
                check_churn(subject, group, diverged, true);
                if (thorough() || group == test::group(37))
                    check_churn(subject, group, diverged, false);
            }
        }
}

namespace {

// `pass_on` of churn.cl: no block is lost, none has two owners, and in the end all memory serves any size.
Counts check_pass_on(const Subject &subject, const kma::Heap &heap, Shape shape, cl_uint unit, std::uint64_t most_bytes,
                     bool holds, cl_uint rounds, const std::vector<std::uint64_t> &sizes,
                     std::uint64_t superblock_bytes)
{
    const Array<Counts> results(shape.work_items, Counts{});
    launch(subject.program("churn.cl"), "pass_on", shape, heap, unit, static_cast<cl_uint>(most_bytes),
           static_cast<cl_uint>(holds), rounds, cl_uint{1}, results);
    const Counts count = sum(results);
    CHECK(count.wrong == 0);
    CHECK(count.served + count.refused == shape.work_items * rounds);
    CHECK(count.served == count.freed);
    check_refusals_only(heap);
    check_empty(subject, heap);
    for (const std::uint64_t bytes : sizes)
        check_service(subject, heap, bytes, superblock_bytes);
    return count;
}

} // namespace

// What a superblock had before has no second owner when its class changes, nor is it lost.
TEST_CASE("superblocks change their class under concurrent requests")
{
    for (const Subject &subject : core_subjects(Breadth::all, {Ability::reuse}))
        for (const std::uint64_t superblocks : {1, 3}) {
            const std::uint64_t whole = subject.superblock(small_superblock), largest = subject.largest(whole);
            INFO(subject.name() << ", superblocks: " << superblocks);
            const kma::Heap heap = subject.heap(superblocks * whole, whole);
            check_pass_on(subject, heap, in_groups(scaled(8) * 64, 64), 16, largest, false,
                          static_cast<cl_uint>(scaled(60, 4)), {16, largest, 48}, whole);
        }
}

TEST_CASE("large blocks come and go at once, and nobody is refused where there is room")
{
    // Up to eight pages of 4 KiB. Ample: twice as many superblocks as blocks at any time, so that some are empty
    // however the blocks lie, and a request is refused only because of what others did meanwhile. Tight: all want the
    // same few.
    constexpr std::uint64_t page = 4096, large = page * 8;
    for (const Subject &subject : core_subjects(Breadth::widths, {Ability::reuse}))
        for (const bool tight : {false, true}) {
            INFO(subject.name() << (tight ? ", tight" : ", ample"));
            const Shape shape = in_groups(std::min<std::size_t>(scaled(256), 2048), 64);
            const kma::Heap heap = subject.heap((tight ? 2 : 2 * 2 * shape.work_items) * large, large);
            const Counts count = check_pass_on(subject, heap, shape, page, large, true,
                                               static_cast<cl_uint>(scaled(40, 4)), {large}, large);
            if (!tight)
                CHECK(count.refused == 0);
        }
}

TEST_CASE("a soak: blocks go from hand to hand, and each is whole when it is freed")
{
    for (const Subject &subject : subjects(Breadth::widths)) {
        INFO(subject.name());
        const Shape shape = in_groups(std::min<std::size_t>(scaled(32), 512) * 64, 64);
        const SoakOptions options{.pairs = shape.work_items * 64,
                                  .work_items = shape.work_items,
                                  .work_group = shape.work_group,
                                  .bytes_per_slot = 64,
                                  .superblock_bytes = 4096};
        const SoakResult result = soak(subject, options);
        CHECK(result.pairs >= options.pairs);
        CHECK(result.wrong == 0);
        for (const std::string &finding : result.findings)
            FAIL_CHECK(finding);
    }
}

namespace {

// Two kernels, each on a queue of its own, on a new heap. Whether the device had both under way at the same time.
bool check_two_kernels(const Subject &subject, const cl::CommandQueue (&queues)[2])
{
    const auto [work_items, group] = in_groups(scaled(8) * 64, 64);
    const kma::Heap heap = subject.heap(work_items / 4 * small_superblock, small_superblock);
    const Churn churns[2] = {{subject, heap, work_items}, {subject, heap, work_items}};
    const auto rounds = static_cast<cl_uint>(scaled(600, 20));
    const cl::Kernel kernels[2] = {churns[0].kernel(false, rounds, 1), churns[1].kernel(true, rounds, 2)};
    cl::UserEvent start(device().context()); // what a driver does at enqueueing shall not part them
    const std::vector<cl::Event> after = {start};
    cl::Event events[2];
    for (int i : {0, 1})
        queues[i].enqueueNDRangeKernel(kernels[i], cl::NullRange, cl::NDRange(work_items), cl::NDRange(group), &after,
                                       &events[i]);
    start.setStatus(CL_COMPLETE);
    for (const cl::CommandQueue &queue : queues)
        queue.flush(); // not before: a driver may wait there for the start
    for (const cl::CommandQueue &queue : queues)
        queue.finish();

    CHECK(churns[0].check().served + churns[1].check().served > 0);
    std::vector<cl_uint> refs = churns[0].blocks.refs();
    std::vector<cl_ulong> sizes = churns[0].blocks.sizes();
    std::ranges::copy(churns[1].blocks.refs(), std::back_inserter(refs));
    std::ranges::copy(churns[1].blocks.sizes(), std::back_inserter(sizes));
    check_apart(subject, heap, refs, sizes);
    check_count(subject, heap, churns[0].blocks.held().size() + churns[1].blocks.held().size());
    for (Churn churn : churns)
        churn.blocks.give_all(1);
    check_empty(subject, heap);
    check_refusals_only(heap);

    const auto begin = [&](int i) { return events[i].getProfilingInfo<CL_PROFILING_COMMAND_START>(); };
    const auto end = [&](int i) { return events[i].getProfilingInfo<CL_PROFILING_COMMAND_END>(); };
    return begin(0) < end(1) && begin(1) < end(0);
}

} // namespace

TEST_CASE("two kernels at once on one heap")
{
    const auto queue = [] {
        return cl::CommandQueue(device().context(), device().device(), CL_QUEUE_PROFILING_ENABLE);
    };
    const cl::CommandQueue queues[2] = {queue(), queue()};
    for (const Subject &subject : subjects(Breadth::all)) {
        INFO(subject.name());
        bool together = false;
        for (std::size_t tries = 0; tries < scaled(5) && !together; tries++) // nothing makes a device run both at once
            together = check_two_kernels(subject, queues);
        remark("two kernels, ", subject.name(), ": ", together ? "at the same time" : "one after the other");
    }
}
