// Work queues on the host: launches their kernels.
#include "kma/work_queue.hpp"

#include <algorithm>

#include "containers/array_list_sizes.hpp"
#include "containers/container_kernels.hpp"
#include "kma/error.hpp"
#include "heap/common/layout.hpp"
#include "support/say.hpp"

namespace kma {
WorkQueue::WorkQueue(const Heap &heap, std::uint32_t item_bytes, const ArrayListOptions &options)
    : HeapResident((array_list_sizes::check(item_bytes, options), heap), "(kernels of work queues)",
                   "containers/work_queue_kernels.cl"),
      item_bytes_(item_bytes)
{
    const cl::Buffer made = output(sizeof(Ref));
    cl::Kernel maker = kernel("kma_work_queue_new_kernel");
    maker.setArg(1, item_bytes);
    maker.setArg(2, options.align);
    maker.setArg(3, array_list_sizes::objects(item_bytes, options));
    maker.setArg(4, array_list_sizes::most(heap, item_bytes, options));
    maker.setArg(5, made);
    run(maker);
    if (!adopt(made))
        throw Error("the heap has no memory for a work queue; make it larger");
}

std::vector<BlockDemand> WorkQueue::blocks_for(std::uint64_t items, std::uint32_t item_bytes,
                                               const ArrayListOptions &options)
{
    constexpr std::uint64_t queue_bytes = 32; // kma_work_queue
    ArrayListOptions bundle = options;
    bundle.room = 1; // as in the constructor
    std::vector<BlockDemand> blocks = ArrayList::blocks_for(items, item_bytes, bundle);
    for (BlockDemand &each : blocks)
        each.count *= 2; // two rounds
    blocks.push_back({queue_bytes, 1});
    return blocks;
}

WorkQueue::Told WorkQueue::ask(cl::Kernel &kernel, cl_uint argument) const
{
    const cl::Buffer told = output(sizeof(Told));
    kernel.setArg(argument, told);
    run(kernel);
    return result<Told>(told);
}

std::uint32_t WorkQueue::now() const
{
    cl::Kernel sizes = kernel("kma_work_queue_size_kernel");
    return ask(sizes, 2).now;
}

std::uint32_t WorkQueue::next() const
{
    cl::Kernel sizes = kernel("kma_work_queue_size_kernel");
    return ask(sizes, 2).next;
}

void WorkQueue::add(const void *items, std::size_t count, std::size_t item_bytes) const
{
    if (item_bytes != item_bytes_)
        throw Error(say("the work queue has items of ", item_bytes_,
                        " bytes, and was given some of ", item_bytes));
    if (count == 0)
        return;
    if (count > std::size_t{1} << KMA_ARRAY_LIST_MOST_SHIFT)
        throw Error(say("a round of a work queue has at most ",
                        std::size_t{1} << KMA_ARRAY_LIST_MOST_SHIFT, " items, and was given ",
                        count, "; make several queues"));
    const cl::CommandQueue queue = heap().device().queue();
    const cl::Buffer from = output(count * item_bytes), lost = output(sizeof(cl_uint));
    queue.enqueueWriteBuffer(from, CL_TRUE, 0, count * item_bytes, items);
    queue.enqueueFillBuffer(lost, cl_uint{0}, 0, sizeof(cl_uint));
    cl::Kernel adder = kernel("kma_work_queue_add_kernel");
    adder.setArg(2, static_cast<cl_uint>(count));
    adder.setArg(3, from);
    adder.setArg(4, lost);
    run(adder, std::min<std::size_t>((count / 64 + 1) * 64, 65536));
    if (const cl_uint missing = result<cl_uint>(lost); missing != 0)
        throw Error(say("the heap has no memory for ", missing, " of ", count,
                        " items of a work queue; make it larger"));
}

std::uint32_t WorkQueue::turn(bool keep) const
{
    cl::Kernel turning = kernel("kma_work_queue_turn_kernel");
    turning.setArg(2, cl_uint{keep});
    const Told told = ask(turning, 3);
    if (told.done == 0)
        throw Error("the heap has no memory for another round of a work queue; make it larger, or "
                    "do not keep all rounds");
    return told.now;
}

std::optional<std::uint32_t> WorkQueue::back() const
{
    cl::Kernel going = kernel("kma_work_queue_back_kernel");
    const Told told = ask(going, 2);
    return told.done != 0 ? std::optional<std::uint32_t>(told.now) : std::nullopt;
}

void WorkQueue::destroy() const
{
    run(kernel("kma_work_queue_delete_kernel"));
}

} // namespace kma
