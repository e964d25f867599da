// World::collect: launches the kernels of objects/reach_kernels.cl.
#include <algorithm>

#include "heap/common/layout.hpp"
#include "support/say.hpp"
#include "objects/world_references.hpp"

namespace kma {
namespace {

class Reaching {
public:
    Reaching(const Device &device, std::uint64_t blocks, std::uint64_t slots,
             std::uint64_t queue_bytes)
        : device_(device), marks_(zeroed(blocks * 2 * sizeof(cl_uint))),
          reach_(zeroed(sizeof(layout::kma_reach))),
          dangling_(zeroed(sizeof(layout::kma_dangling_log)))
    {
        const std::uint64_t bytes =
            queue_bytes != 0 ? queue_bytes : std::max<std::uint64_t>(slots / 8 * 8, 1 << 16);
        capacity_ = static_cast<cl_uint>(
            std::clamp<std::uint64_t>(bytes / 2 / sizeof(cl_uint), 1, 1u << 30));
        for (cl::Buffer &queue : queues_)
            queue = cl::Buffer(device.context(), CL_MEM_READ_WRITE, capacity_ * sizeof(cl_uint));
    }

    // Sets the arguments that all kernels share, with queue number `queue` to fill; returns their
    // number.
    cl_uint set(cl::Kernel &kernel, const cl::Buffer &world, cl_uint queue) const
    {
        kernel.setArg(0, world);
        kernel.setArg(1, marks_);
        kernel.setArg(2, reach_);
        kernel.setArg(3, dangling_);
        kernel.setArg(4, queues_[queue]);
        kernel.setArg(5, capacity_);
        return 6;
    }
    const cl::Buffer &queue(cl_uint which) const { return queues_[which]; }
    cl_uint capacity() const { return capacity_; }
    layout::kma_reach reach() const { return read<layout::kma_reach>(reach_); }
    std::uint32_t dangling() const { return read<layout::kma_dangling_log>(dangling_).count.word; }
    // Restarts at round 0 with `objects` objects.
    void begin_again(cl_uint objects) const
    {
        layout::kma_reach next{};
        next.counts[0].word = objects;
        device_.queue().enqueueWriteBuffer(reach_, CL_TRUE, 0, sizeof next, &next);
    }

private:
    cl::Buffer zeroed(std::uint64_t bytes) const
    {
        cl::Buffer made(device_.context(), CL_MEM_READ_WRITE, bytes);
        device_.queue().enqueueFillBuffer(made, cl_uint{0}, 0, bytes);
        return made;
    }
    template <class T> T read(const cl::Buffer &buffer) const
    {
        T value;
        device_.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof value, &value);
        return value;
    }

    const Device &device_;
    cl::Buffer marks_, reach_, dangling_, queues_[2];
    cl_uint capacity_;
};

} // namespace

WorldCollection World::collect(std::uint64_t queue_bytes)
{
    const std::uint32_t group = references().group;
    const Reaching reaching(device_, blocks_, std::uint64_t{blocks_} * slots_, queue_bytes);
    for (const auto &root : references().living_roots()) {
        if (root->count == 0)
            continue;
        const Schema::Range range = schema_.range(root->cls);
        cl::Kernel &kernel = visitor("kma_world_reach_root_kernel");
        cl_uint index = reaching.set(kernel, memory_, 0);
        kernel.setArg(index++, root->buffer);
        kernel.setArg(index++, root->begin);
        kernel.setArg(index++, root->count);
        kernel.setArg(index++, range.first);
        kernel.setArg(index++, range.last);
        visit(kernel, (std::uint64_t{root->count} + group - 1) / group, group);
    }
    WorldCollection result;
    // work-groups; visit() launches at most as many as run at once
    const std::uint64_t all = items_;
    for (bool has_dropped = false;;) { // ends when no object is left and none was dropped
        for (cl_uint round = 0; round < KMA_REACH_ROUNDS; round++) {
            cl::Kernel &kernel = visitor("kma_world_reach_kernel");
            cl_uint index = reaching.set(kernel, memory_, (round + 1) % 2);
            kernel.setArg(index++, reaching.queue(round % 2));
            kernel.setArg(index++, round);
            visit(kernel, all, group);
        }
        result.rounds += KMA_REACH_ROUNDS;
        const layout::kma_reach now = reaching.reach();
        const cl_uint left = std::min(now.counts[KMA_REACH_ROUNDS].word, reaching.capacity());
        has_dropped |= now.dropped.word != 0;
        if ((left == 0 && !has_dropped) || reaching.dangling() != 0)
            break; // a dangling reference ends the collection
        reaching.begin_again(left);
        if (left != 0)
            continue;
        has_dropped = false;
        cl::Kernel &again = visitor("kma_world_reach_again_kernel");
        reaching.set(again, memory_, 0);
        visit(again, all, group);
        result.repeats++;
    }
    if (const std::uint32_t dangling = reaching.dangling(); dangling != 0)
        throw Error(say("nothing was deleted: references that lead to no object of the class that "
                        "they name: ",
                        dangling,
                        "; World::check(true) tells which; delete no object that one still leads "
                        "to"));
    cl::Kernel &sweep = visitor("kma_world_sweep_kernel");
    reaching.set(sweep, memory_, 0);
    visit(sweep, (std::uint64_t{blocks_} + group - 1) / group, group);
    const layout::kma_reach done = reaching.reach();
    result.kept = done.kept.word;
    result.deleted = done.deleted.word;
    changed();
    return result;
}

} // namespace kma
