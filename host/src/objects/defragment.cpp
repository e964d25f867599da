// Defragmentation of a world: enqueues all steps of cl/kma/objects/defragment.cl. The device
// decides what each step does.
#include <algorithm>

#include "heap/common/layout.hpp"
#include "support/say.hpp"
#include "objects/world_references.hpp"

namespace kma {
namespace {

// Sets a kernel's arguments from index `index` on.
void set_all(cl::Kernel &, cl_uint) {}
template <class First, class... Rest>
void set_all(cl::Kernel &kernel, cl_uint index, const First &first, const Rest &...rest)
{
    kernel.setArg(index, first);
    set_all(kernel, index + 1, rest...);
}

std::uint64_t groups_for(std::uint64_t items, std::uint32_t group)
{
    return (items + group - 1) / group;
}

double share_of(cl_uint millionths)
{
    return millionths / double{KMA_DEFRAGMENT_SHARE};
}

cl_uint millionths_of(double share)
{
    return static_cast<cl_uint>(std::clamp(share, 0.0, 1.0) * KMA_DEFRAGMENT_SHARE);
}

// The events' durations by name, if the queue has profiling enabled.
std::map<std::string, double> times_of(const cl::CommandQueue &queue,
                                       const std::vector<std::pair<std::string, cl::Event>> &events)
{
    std::map<std::string, double> times;
    if ((queue.getInfo<CL_QUEUE_PROPERTIES>() & CL_QUEUE_PROFILING_ENABLE) == 0)
        return times;
    for (const auto &[name, event] : events)
        times[name] += static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                           event.getProfilingInfo<CL_PROFILING_COMMAND_START>()) *
                       1e-6;
    return times;
}

} // namespace

void refuse_defragmentation(std::uint64_t bytes, cl_int error)
{
    throw Error(
        say("there is no memory for the ", bytes,
            " bytes that a defragmentation of this world needs beside it (OpenCL's error ", error,
            "); the world is as it was; make it smaller, or end what else uses that memory"));
}

// One defragmentation, of classes `first` to `last`.
class Defragmenter {
public:
    Defragmenter(World &world, std::uint32_t first, std::uint32_t last)
        : world_(world), all_(world.references()), queue_(world.device_.queue()), first_(first),
          last_(last), group_(all_.group)
    {
        prepare();
    }

    /// Enqueues the defragmentation.
    void run(const layout::kma_defragment_order &order)
    {
        queue_.enqueueFillBuffer(all_.done, cl_uint{0}, 0, sizeof(layout::kma_defragmentation));
        queue_.enqueueFillBuffer(all_.moved, cl_uint{0}, 0,
                                 sizeof(cl_uint) * groups_for(world_.blocks_, 32));
        for (std::uint32_t cls = first_; cls <= last_; cls++) {
            move(cls, order);
            world_.enumerations_[cls].is_current = false;
        }
        forward();
    }

    /// Waits for the defragmentation.
    Defragmentation result() const
    {
        layout::kma_defragmentation done;
        queue_.enqueueReadBuffer(all_.done, CL_TRUE, 0, sizeof done, &done);
        return {done.objects, done.blocks, share_of(done.before), share_of(done.after),
                times_of(queue_, events_)};
    }

private:
    // Does all that may fail: builds the program and its kernels, and allocates memory.
    void prepare()
    {
        for (const char *name :
             {"fills", "plan", "sort", "aim", "move", "settle", "forward", "forward_root"})
            world_.visitor(say("kma_world_", name, "_kernel"));
        if (all_.has_buffers)
            return;
        const std::uint64_t blocks = world_.blocks_;
        const std::uint64_t tiles = groups_for(blocks, group_ * KMA_DEFRAGMENT_RUN);
        try {
            const auto make = [&](std::uint64_t bytes) {
                return cl::Buffer(world_.device_.context(), CL_MEM_READ_WRITE, bytes);
            };
            all_.done = make(sizeof(layout::kma_defragmentation));
            all_.fills = make(sizeof(cl_uint) * KMA_DEFRAGMENT_FILLS * tiles);
            all_.sums = make(sizeof(layout::kma_block_sums) * tiles);
            all_.list = make(sizeof(cl_uint) * blocks);
            all_.firsts = make(sizeof(cl_uint) * blocks);
            all_.moved = make(sizeof(cl_uint) * groups_for(blocks, 32));
            const std::vector<cl::Memory> made{all_.done, all_.fills,  all_.sums,
                                               all_.list, all_.firsts, all_.moved};
            queue_.enqueueMigrateMemObjects(made, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED);
            queue_.finish();
        } catch (const cl::Error &error) {
            refuse_defragmentation(8 * blocks, error.err());
        }
        all_.has_buffers = true;
    }

    // Enqueues a step of that many work-items, or of as many as the device runs at once.
    template <class... Arguments>
    void step(const std::string &name, std::uint64_t items, const Arguments &...arguments)
    {
        step_of_groups(name, groups_for(items, group_), group_, arguments...);
    }
    template <class... Arguments>
    void step_of_groups(const std::string &name, std::uint64_t groups, std::uint32_t group,
                        const Arguments &...arguments)
    {
        cl::Kernel &kernel = world_.visitor(say("kma_world_", name, "_kernel"));
        set_all(kernel, 0, arguments...);
        events_.emplace_back(name, world_.visit(kernel, groups, group));
    }

    // Enqueues all steps but the last.
    void move(std::uint32_t cls, const layout::kma_defragment_order &order)
    {
        const std::uint32_t blocks = world_.blocks_;
        step("fills", groups_for(blocks, KMA_DEFRAGMENT_RUN), world_.memory_, cls, all_.fills);
        step("plan", 1, world_.memory_, cls, all_.fills, all_.sums, all_.done, order.worse,
             order.share, order.objects);
        step("sort", groups_for(blocks, KMA_DEFRAGMENT_RUN), world_.memory_, cls, all_.done,
             all_.sums, all_.list, all_.firsts, all_.moved);
        step("aim", blocks, world_.memory_, all_.done, all_.firsts);
        step_of_groups("move", blocks, world_.slots_, world_.memory_, cls, all_.done, all_.list,
                       all_.firsts);
        step("settle", blocks, world_.memory_, cls, all_.done, all_.list, all_.firsts);
    }

    // Rewrites references to moved objects, in roots and in all classes with fields for them.
    void forward()
    {
        const cl_ulong classes = holders();
        if (classes != 0)
            step("forward", std::uint64_t{world_.blocks_} * world_.slots_, world_.memory_,
                 all_.done, all_.moved, first_, last_, classes);
        for (const auto &root : all_.living_roots()) {
            const Schema::Range range = world_.schema_.range(root->cls);
            if (root->count != 0 && range.first <= last_ && first_ <= range.last)
                step("forward_root", root->count, world_.memory_, all_.done, all_.moved,
                     root->buffer, root->begin, root->count);
        }
    }

    // A bit for each class with a field that can refer to objects of classes `first` to `last`.
    cl_ulong holders() const
    {
        cl_ulong classes = 0;
        for (std::size_t i = 0; i < world_.layout_.classes.size(); i++)
            for (const Schema::Column &column : world_.layout_.classes[i].columns) {
                if (column.target.empty())
                    continue;
                const Schema::Range range = world_.schema_.range(column.target);
                if (range.first <= last_ && first_ <= range.last)
                    classes |= cl_ulong{1} << i;
            }
        return classes;
    }

    World &world_;
    WorldReferences &all_;
    const cl::CommandQueue &queue_;
    const cl_uint first_, last_;
    const std::uint32_t group_;
    std::vector<std::pair<std::string, cl::Event>> events_;
};

Defragmentation World::defragment(const std::string &cls, const DefragmentOptions &options)
{
    const Schema::Range range = schema_.range(cls);
    if (!(options.fragmentation >= 0 && options.fragmentation <= 1))
        throw Error(say("DefragmentOptions::fragmentation = ", options.fragmentation,
                        " is no share; give 0 to 1"));
    if (range.first > range.last)
        return {};
    Defragmenter defragmenter(*this, range.first, range.last);
    const cl_uint objects =
        static_cast<cl_uint>(std::min<std::uint64_t>(options.objects, ~cl_uint{0}));
    defragmenter.run(
        {.worse = 0, .share = millionths_of(options.fragmentation), .objects = objects});
    return defragmenter.result();
}

void World::defragment_when(double fragmentation, const std::vector<std::string> &classes)
{
    if (!(fragmentation > 0))
        throw Error(say("defragment_when(", fragmentation,
                        ") would move objects before every do-all; give a share above 0"));
    WorldReferences &all = references();
    all.when = fragmentation;
    for (WorldReferences::Watch &watch : all.watches)
        watch = {.is_on = classes.empty() && fragmentation < 1};
    for (const std::string &cls : classes) {
        const Schema::Range range = schema_.range(cls);
        for (std::uint32_t i = range.first; i <= range.last; i++)
            all.watches[i].is_on = fragmentation < 1;
    }
    // builds the program now: later steps need not wait for the compiler
    if (fragmentation < 1 && !layout_.classes.empty())
        Defragmenter(*this, 0, 0);
}

// Called before an enumeration of a class. Defragments it at intervals that double up to 64
// changes: fragmentation changes slowly, and the steps take as long as a short do-all even if they
// move nothing.
void World::watch(std::uint32_t cls)
{
    static constexpr std::uint32_t rarest = 64;
    if (!references_ || !references_->watches[cls].is_on || enumerations_[cls].is_current)
        return;
    WorldReferences::Watch &watch = references_->watches[cls];
    if (++watch.changes < watch.interval)
        return;
    watch.changes = 0;
    watch.interval = std::min(2 * watch.interval, rarest);
    const double when = references_->when;
    Defragmenter(*this, cls, cls)
        .run({.worse = millionths_of(when),
              .share = millionths_of(when / 2),
              .objects = ~cl_uint{0}});
}

} // namespace kma
