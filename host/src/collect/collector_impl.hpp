// Shared by collector.cpp, collector_mark.cpp and collector_compact.cpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>

#include "collect/compaction_plan.hpp"
#include "containers/container_kernels.hpp"
#include "heap/common/driver.hpp"
#include "kma/collector.hpp"
#include "heap/common/layout.hpp"

namespace kma {

struct Collector::Roots::Entry {
    cl::Buffer buffer;
    std::uint64_t first, count;
};

class Collector::Impl {
public:
    Impl(Heap &heap, const Types &types, const CollectorOptions &options);

    Collection collect();
    Compaction compact(std::uint64_t bytes);
    bool make_room(std::uint64_t bytes);
    bool has_room(std::uint64_t bytes) const;
    std::vector<Piece> pieces();
    std::list<std::weak_ptr<Roots::Entry>> roots;
    std::map<Ref, std::uint32_t> pins;
    Heap &heap() const { return heap_; }
    const cl::Context &context() const { return device.context(); }

private:
    using Clock = std::chrono::steady_clock;
    static double milliseconds_since(Clock::time_point begin)
    {
        return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    }

    // Creates a kernel with the arguments (heap, arguments…).
    template <class... Arguments>
    cl::Kernel kernel(const char *name, const Arguments &...arguments) const
    {
        return kernel_of(program_, name, arguments...);
    }
    template <class... Arguments>
    cl::Kernel kernel_of(const Program &program, const char *name,
                         const Arguments &...arguments) const
    {
        cl::Kernel made = program.kernel(name);
        heap_.set_arg(made, 0);
        cl_uint index = 1;
        (made.setArg(index++, arguments), ...);
        return made;
    }
    template <class... Arguments>
    cl::Kernel marking(const char *name, int queue, const Arguments &...arguments) const
    {
        return kernel(name, types_, type_count_, references_, collection_, zones_, queues_[queue],
                      capacity_, arguments...);
    }
    template <class... Arguments>
    cl::Kernel compacting(const char *name, const Arguments &...arguments) const
    {
        return kernel_of(*compact_program_, name, types_, type_count_, references_, collection_,
                         zones_, queues_[0], capacity_, arguments...);
    }
    void launch(const cl::Kernel &kernel, std::uint64_t work_items,
                std::uint64_t wanted_group = group_items) const
    {
        const std::uint64_t group = std::min<std::uint64_t>(wanted_group, most_items_);
        const std::uint64_t items = std::clamp<std::uint64_t>(
            (work_items + group - 1) / group * group, group, most_items_ / group * group);
        device.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(items),
                                            cl::NDRange(group));
    }
    template <class T> T read(const cl::Buffer &buffer) const
    {
        return container_kernels::read_one<T>(device, buffer);
    }
    template <class T> cl::Buffer copy_of(const std::vector<T> &values) const
    {
        cl::Buffer made(device.context(), CL_MEM_READ_ONLY,
                        std::max<std::size_t>(values.size(), 1) * sizeof(T));
        if (!values.empty())
            device.queue().enqueueWriteBuffer(made, CL_TRUE, 0, values.size() * sizeof(T),
                                              values.data());
        return made;
    }

    layout::kma_collector expected(Ref ref) const;
    layout::kma_collector read_tables(Ref ref) const;
    void make_tables();
    Ref sound_tables() const;
    void mark_roots();
    void mark(Collection &result);
    void follow_lists(cl_uint items, cl_uint field);
    void require_writable_roots() const;
    void build_compaction();
    void launch_groups(const cl::Kernel &kernel, std::uint64_t groups) const;
    bool is_gpu() const
    {
        return (device.device().getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU) != 0;
    }
    void move_objects(std::uint64_t bytes, Compaction &result);
    CompactionPlan plan(std::uint64_t bytes, const cl::Buffer &regions, cl_uint count) const;
    struct Step {
        cl::Kernel kernel;
        std::uint64_t count; // work-items or work-groups
        bool are_groups;
    };
    std::vector<Step> rewriting_steps(const CompactionPlan &plan) const;
    void run(const Step &step) const;

    static constexpr std::uint64_t group_items = 64;

    Heap &heap_;
    const Device device;
    CollectorOptions options_;
    Program program_;
    std::optional<Program> compact_program_; // built by the first compaction, as are moves_
    struct Moves {
        // one word for each region (regions: one kma_region)
        cl::Buffer regions, sources, targets, is_source, moved_from, to_rewrite;
        cl::Buffer compaction;
    } moves_;
    std::uint32_t hash_;
    cl_uint units_, type_count_, capacity_;
    cl_uint region_shift_, zone_shift_; // log2: units of a region, regions of a zone
    std::uint64_t most_items_;
    cl::Buffer types_, references_, collection_, zones_, queues_[2];
    // one word for each tile; made by the first follow_lists()
    cl::Buffer splitters_, reached_, next_[2];
    cl_uint tiles_ = 0;
    cl_uint fields_ = 0; // the largest number of references in an object
    // held weakly by the heap: it has one collector at most
    std::shared_ptr<void> token_ = std::make_shared<int>();
};

} // namespace kma
