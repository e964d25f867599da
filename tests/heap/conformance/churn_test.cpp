// Many work-items take and give back at once, in one kernel and in two kernels that run at the same time.
#include <algorithm>

#include "blocks.hpp"
#include "catch.hpp"
#include "participation.hpp"

using namespace conformance;
using namespace test;

namespace {

constexpr cl_uint per_item = 4; // blocks that a work-item may hold
constexpr cl_uint most = 1500;  // bytes of the largest

struct Counts { // of churn.cl
    cl_uint served, refused, freed, wrong;
};

Counts sum(const Array<Counts> &results)
{
    Counts all{};
    for (const Counts &one : results.read()) {
        all.served += one.served;
        all.refused += one.refused;
        all.freed += one.freed;
        all.wrong += one.wrong;
    }
    return all;
}

struct Churn {
    const Subject &subject;
    const kma::Heap &heap;
    std::size_t work_items;
    Blocks blocks{subject, heap, std::vector<cl_ulong>(work_items *per_item, 0)};
    Array<Counts> results{work_items, Counts{}};

    cl::Kernel kernel(const std::string &name, cl_uint rounds, cl_uint seed) const
    {
        cl::Kernel made = subject.program("churn.cl").kernel(name);
        cl_uint index = 0;
        set_arg(made, index++, heap);
        set_arg(made, index++, blocks.ref_array());
        set_arg(made, index++, blocks.size_array());
        set_arg(made, index++, per_item);
        set_arg(made, index++, rounds);
        set_arg(made, index++, most);
        set_arg(made, index++, seed);
        set_arg(made, index++, results);
        return made;
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

void run(const cl::Kernel &kernel, Shape shape)
{
    note_group(shape.work_group);
    device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(shape.work_items),
                                          cl::NDRange(shape.work_group));
    device().queue().finish();
}

// Ample: two superblocks for each slot, so that some are empty at any time and nobody may be refused. Tight: the heap
// is full most of the time.
void check_churn(const Subject &subject, std::size_t group, const char *kernel, bool tight)
{
    INFO(subject.name() << ", work-groups of " << group << ", " << kernel << (tight ? ", tight" : ", ample"));
    // Of more than 4096, the superblocks of an ample heap would be too many for 32-bit atomics.
    const std::size_t work_items = std::min<std::size_t>(scaled(1024), 4096) / group * group + group;
    const std::uint64_t superblocks = tight ? work_items / 32 + 2 : 2 * work_items * per_item;
    const kma::Heap heap = subject.heap(superblocks * small_superblock, small_superblock);
    Churn churn{subject, heap, work_items};
    const auto rounds = static_cast<cl_uint>(thorough() ? 400 : scaled(120, 8));
    run(churn.kernel(kernel, rounds, 1), {work_items, group});
    const Counts count = churn.check();
    CHECK(count.served > 0);
    check_apart(churn.blocks);
    check_count(subject, heap, churn.blocks.held().size());
    if (!tight && subject.can(Ability::reuse))
        CHECK(count.refused == 0);
    if (tight && work_items >= 512) // a few superblocks are enough for fewer
        CHECK(count.refused > 0);
    // Who comes next finds a heap in order: some blocks freed by others, and once more.
    churn.blocks.give_all(static_cast<std::uint32_t>(group));
    check_empty(subject, heap);
    if (subject.can(Ability::reuse)) {
        run(churn.kernel(kernel, rounds, 77), {work_items, group});
        churn.check();
        churn.blocks.give_all(5);
        check_empty(subject, heap);
        const Range expected = count_when_full(subject, heap, 48, small_superblock);
        Blocks all(subject, heap, slots_beyond(expected.most));
        CHECK(outside(all.fill(48, refillers(subject, 256)), expected) == "");
        all.give_all(1);
        check_empty(subject, heap);
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
            check_churn(subject, group, "churn", true);
            check_churn(subject, group, "churn_diverged", true);
            if (thorough() || group == test::group(37)) {
                check_churn(subject, group, "churn", false);
                check_churn(subject, group, "churn_diverged", false);
            }
        }
}

// What a superblock had before is nobody's twice when its class changes, nor lost.
TEST_CASE("superblocks change their class under those who want a block of them")
{
    for (const Subject &subject : core_subjects(Breadth::all, {Ability::reuse}))
        for (const std::uint64_t superblocks : {1, 3}) {
            const std::uint64_t whole = subject.superblock(small_superblock);
            INFO(subject.name() << ", superblocks: " << superblocks);
            const Shape shape = in_groups(scaled(8) * 64, 64);
            const auto rounds = static_cast<cl_uint>(scaled(60, 4));
            const kma::Heap heap = subject.heap(superblocks * whole, whole);
            const Array<Counts> results(shape.work_items, Counts{});
            launch(subject.program("churn.cl"), "hand_over", shape, heap, rounds,
                   static_cast<cl_uint>(subject.largest(whole)), cl_uint{1}, results);
            const Counts count = sum(results);
            CHECK(count.wrong == 0);
            CHECK(count.served + count.refused == shape.work_items * rounds);
            CHECK(count.served == count.freed);
            check_refusals_only(heap);
            check_empty(subject, heap);
            for (const std::uint64_t bytes : {std::uint64_t{16}, subject.largest(whole), std::uint64_t{48}}) {
                const Range expected = count_when_full(subject, heap, bytes, whole);
                Blocks all(subject, heap, slots_beyond(expected.most));
                CHECK(outside(all.fill(bytes, refillers(subject, 256)), expected) == "");
                all.give_all(1);
                check_empty(subject, heap);
            }
        }
}

TEST_CASE("large blocks come and go at once, and nobody is refused where there is room")
{
    // Up to eight pages of 4 KiB. Ample: twice as many superblocks as blocks at any time, so that some are empty
    // however the blocks lie, and whoever is refused was so because of what others did meanwhile. Tight: all want the
    // same few.
    constexpr std::uint64_t page = 4096, pages = 8, large = page * pages;
    for (const Subject &subject : core_subjects(Breadth::widths, {Ability::reuse}))
        for (const bool tight : {false, true}) {
            INFO(subject.name() << (tight ? ", tight" : ", ample"));
            const Shape shape = in_groups(std::min<std::size_t>(scaled(256), 2048), 64);
            const auto rounds = static_cast<cl_uint>(scaled(40, 4));
            const kma::Heap heap = subject.heap((tight ? 2 : 2 * 2 * shape.work_items) * large, large);
            const Array<Counts> results(shape.work_items, Counts{});
            launch(subject.program("churn.cl"), "churn_large", shape, heap, static_cast<cl_uint>(page),
                   static_cast<cl_uint>(pages), rounds, cl_uint{1}, results);
            const Counts count = sum(results);
            CHECK(count.wrong == 0);
            if (!tight)
                CHECK(count.refused == 0);
            CHECK(count.served + count.refused == shape.work_items * rounds);
            CHECK(count.freed == count.served);
            check_refusals_only(heap);
            check_empty(subject, heap);
            const Range expected = count_when_full(subject, heap, large, large);
            Blocks all(subject, heap, slots_beyond(expected.most));
            CHECK(outside(all.fill(large, 256), expected) == ""); // all pages are back
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
    const cl::Kernel kernels[2] = {churns[0].kernel("churn", rounds, 1), churns[1].kernel("churn_diverged", rounds, 2)};
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
    const cl::CommandQueue queues[2] = {
        {device().context(), device().device(), CL_QUEUE_PROFILING_ENABLE},
        {device().context(), device().device(), CL_QUEUE_PROFILING_ENABLE},
    };
    for (const Subject &subject : subjects(Breadth::all)) {
        INFO(subject.name());
        bool together = false;
        for (std::size_t tries = 0; tries < scaled(5) && !together; tries++) // nothing makes a device run both at once
            together = check_two_kernels(subject, queues);
        remark("two kernels, ", subject.name(), ": ", together ? "at the same time" : "one after the other");
    }
}
