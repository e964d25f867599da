// Compaction: launches the kernels of collect/compact_kernels.cl. cl/kma/collect/compact.cl
// describes the algorithm.
#include "collect/collector_impl.hpp"
#include "kma/error.hpp"
#include "support/say.hpp"

namespace kma {

using layout::kma_compaction;
using layout::kma_region;

namespace {

std::uint64_t parts_of(std::uint64_t all, std::uint64_t one)
{
    return all / one + (all % one != 0 ? 1 : 0);
}

} // namespace

// Launches one work-group for each region, of up to 256 work-items on a GPU.
void Collector::Impl::launch_groups(const cl::Kernel &kernel, std::uint64_t groups) const
{
    const auto most = kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device.device());
    const std::uint64_t group =
        std::min<std::uint64_t>(is_gpu() ? 256 : group_items, most); // KMA_COMPACT_ITEMS at most
    launch(kernel, groups * group, group);
}

CompactionPlan Collector::Impl::plan(std::uint64_t bytes, const cl::Buffer &regions,
                                     cl_uint count) const
{
    std::vector<kma_region> is(count);
    device.queue().enqueueReadBuffer(regions, CL_TRUE, 0, count * sizeof is[0], is.data());
    const layout::kma_heap_header header = heap_.driver().header();
    for (const auto &[ref, times] : pins) {
        std::uint64_t region = (ref - header.begin) >> region_shift_;
        if (region >= count)
            continue;
        is[region].fixed.word++;
        // the object's slab may begin in an earlier region
        for (; region != 0 && is[region].entered.word != 0; region--)
            is[region - 1].fixed.word++;
    }
    const auto fullest =
        static_cast<std::uint32_t>(options_.fullest * double(std::uint64_t{1} << region_shift_));
    if (bytes != 0) {
        const std::uint64_t region = std::uint64_t{1} << region_shift_,
                            units = parts_of(bytes, KMA_UNIT),
                            group = KMA_SLAB_FRAME_UNITS * KMA_SLAB_GROUP_FRAMES; // large.cl
        const Window window{
            static_cast<std::uint32_t>(std::min<std::uint64_t>(parts_of(units, region), ~0u)),
            units <= group && region < group ? static_cast<std::uint32_t>(group / region) : 0,
            (header.limit - header.begin) % region == 0};
        return plan_window(is, window, fullest);
    }
    const auto most = static_cast<std::uint32_t>(options_.share * count);
    return plan_compaction(is, std::max(most, 1u), fullest);
}

void Collector::Impl::build_compaction()
{
    if (compact_program_)
        return;
    const std::size_t regions = (units_ >> region_shift_) + 1;
    const auto make = [&](std::size_t bytes) {
        return cl::Buffer(device.context(), CL_MEM_READ_WRITE, bytes);
    };
    moves_.regions = make(regions * sizeof(kma_region));
    for (cl::Buffer *const buffer : {&moves_.sources, &moves_.targets, &moves_.is_source,
                                     &moves_.moved_from, &moves_.to_rewrite})
        *buffer = make(regions * sizeof(cl_uint));
    moves_.compaction = make(sizeof(kma_compaction));
    compact_program_ = heap_.program(
        {{"(kernels of compaction)", "#include \"kma/collect/compact_kernels.cl\"\n"}});
}

std::vector<Collector::Piece> Collector::Impl::pieces()
{
    sound_tables();
    build_compaction();
    const layout::kma_heap_header header = heap_.driver().header();
    std::vector<Piece> all((header.limit - header.begin) / 4);
    const cl::Buffer made(device.context(), CL_MEM_READ_WRITE, all.size());
    device.queue().enqueueFillBuffer(made, cl_uchar{0}, 0, all.size());
    launch(compacting("kma_compact_map_kernel", made), all.size() * 4 / KMA_SLAB_LINE_UNITS);
    device.queue().enqueueReadBuffer(made, CL_TRUE, 0, all.size(), all.data());
    return all;
}

// Moves objects after a collection, and adds the results to `result`.
void Collector::Impl::move_objects(std::uint64_t bytes, Compaction &result)
{
    if (heap_.driver().options().debug >= 2)
        return;
    build_compaction();
    const layout::kma_heap_header header = heap_.driver().header();
    const auto count = static_cast<cl_uint>(
        parts_of(header.limit - header.begin, std::uint64_t{1} << region_shift_));
    const cl_uint largest = options_.largest_moved / KMA_UNIT;
    const cl::CommandQueue &queue = device.queue();
    const auto clear = [&](const cl::Buffer &buffer, std::size_t size) {
        queue.enqueueFillBuffer(buffer, cl_uint{0}, 0, size);
    };
    const auto write = [&](const cl::Buffer &buffer, const std::vector<std::uint32_t> &values) {
        if (!values.empty())
            queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, values.size() * sizeof(cl_uint),
                                     values.data());
    };
    result.regions = count;
    Clock::time_point begin = Clock::now();
    const auto lap = [&] {
        queue.finish();
        const double passed = milliseconds_since(begin);
        begin = Clock::now();
        return passed;
    };

    clear(moves_.regions, count * sizeof(kma_region));
    launch_groups(compacting("kma_compact_census_kernel", moves_.regions, count, largest), count);
    const CompactionPlan chosen = plan(bytes, moves_.regions, count);
    result.census_milliseconds = lap();
    result.sources = static_cast<unsigned>(chosen.sources.size());
    result.targets = static_cast<unsigned>(chosen.targets.size());
    if (chosen.sources.empty())
        return;

    // Allocates all that may fail before the first move. Kernels do not retain their buffers.
    const auto sources = static_cast<cl_uint>(chosen.sources.size());
    const auto targets = static_cast<cl_uint>(chosen.targets.size());
    const auto &[regions, its_sources, its_targets, is_source, moved_from, to_rewrite, compaction] =
        moves_;
    write(its_sources, chosen.sources);
    write(its_targets, chosen.targets);
    write(is_source, chosen.is_source);
    clear(moved_from, count * sizeof(cl_uint));
    clear(to_rewrite, count * sizeof(cl_uint)); // makes the driver allocate it now
    clear(compaction, sizeof(kma_compaction));
    // words of a mark queue, which is empty here
    const std::uint64_t queued = std::uint64_t{capacity_} * 2;
    const cl::Buffer list = chosen.units <= queued ? queues_[1]
                                                   : cl::Buffer(device.context(), CL_MEM_READ_WRITE,
                                                                chosen.units * sizeof(cl_uint));
    const std::vector<Step> rewriting = rewriting_steps(chosen);
    const Step freeing{compacting("kma_compact_free_kernel", moved_from, count), count, true};
    const Step ending{compacting("kma_compact_end_pages_kernel", its_sources, sources), sources,
                      true};

    launch_groups(compacting("kma_compact_count_kernel", its_sources, sources, compaction, largest),
                  sources);
    cl::Kernel place = compact_program_->kernel("kma_compact_place_kernel");
    place.setArg(0, compaction);
    place.setArg(1, cl_uint(std::min<std::uint64_t>(std::max(chosen.units, queued), ~0u)));
    queue.enqueueNDRangeKernel(place, cl::NullRange, cl::NDRange(1), cl::NDRange(1));
    launch_groups(compacting("kma_compact_list_kernel", is_source, its_targets, targets, compaction,
                             list, largest),
                  targets);
    launch(compacting("kma_compact_pages_kernel", is_source, compaction, list), count);
    const Step moving{compacting("kma_compact_move_kernel", its_sources, sources, compaction, list,
                                 moved_from, largest),
                      sources, true};
    queue.finish();
    run(moving);
    result.move_milliseconds = lap();
    for (const Step &step : rewriting)
        run(step);
    result.rewrite_milliseconds = lap();
    run(freeing);
    run(ending);
    const auto done = read<kma_compaction>(compaction);
    result.free_milliseconds = lap();
    result.moved_objects = done.moved_objects.word;
    result.moved_bytes = std::uint64_t{done.moved_units.word} * KMA_UNIT;
    result.rewritten = done.rewritten.word;
    for (std::size_t i = 0; i < KMA_COMPACT_CLASSES; i++)
        result.stayed_objects += done.taken[i].word;
    result.stayed_objects -= std::min(result.stayed_objects, result.moved_objects);
}

void Collector::Impl::run(const Step &step) const
{
    if (step.are_groups)
        launch_groups(step.kernel, step.count);
    else
        launch(step.kernel, step.count);
}

std::vector<Collector::Impl::Step>
Collector::Impl::rewriting_steps(const CompactionPlan &plan) const
{
    constexpr std::uint32_t longest = 256 * KMA_SLAB_LINE_UNITS; // units of the longest slab
    cl_uint zones = 0;
    for (const std::uint32_t source : plan.sources) // and the regions in which its slabs may end
        for (std::uint32_t i = 0; i <= longest >> region_shift_ || i <= 1; i++)
            zones |= 1u << std::min((source + i) >> zone_shift_, 31u);
    const auto count = static_cast<cl_uint>(plan.is_source.size());
    device.queue().enqueueFillBuffer(collection_, cl_uint{0}, 0, sizeof(cl_uint)); // item count
    cl::Kernel choose = compact_program_->kernel("kma_compact_choose_kernel");
    choose.setArg(0, zones_);
    choose.setArg(1, count);
    choose.setArg(2, zones);
    choose.setArg(3, moves_.compaction);
    choose.setArg(4, moves_.to_rewrite);
    std::vector<Step> steps{
        {choose, count, false},
        {compacting("kma_compact_rewrite_kernel", moves_.moved_from, moves_.compaction,
                    moves_.to_rewrite),
         count, true},
        {compacting("kma_compact_rewrite_parts_kernel", moves_.moved_from), most_items_, true}};
    for (const auto &weak : roots)
        if (const auto entry = weak.lock(); entry && entry->count != 0)
            steps.push_back(
                {compacting("kma_compact_rewrite_roots_kernel", moves_.moved_from, entry->buffer,
                            cl_ulong{entry->first}, cl_ulong{entry->count}),
                 entry->count, false});
    return steps;
}

void Collector::Impl::require_writable_roots() const
{
    for (const auto &weak : roots)
        if (const auto entry = weak.lock();
            entry && (entry->buffer.getInfo<CL_MEM_FLAGS>() & CL_MEM_READ_ONLY) != 0)
            throw Error("compaction writes to buffers of roots, and one is read-only; make it with "
                        "CL_MEM_READ_WRITE");
}

Compaction Collector::Impl::compact(std::uint64_t bytes)
{
    require_writable_roots();
    Compaction result{};
    result.collection = collect();
    move_objects(bytes, result);
    return result;
}

// Whether a block of `bytes` bytes is free: allocates it, and frees it.
bool Collector::Impl::has_room(std::uint64_t bytes) const
{
    const std::uint32_t refused = heap_.driver().error_count(ErrorCode::out_of_memory);
    const std::uint32_t too_large = heap_.driver().error_count(ErrorCode::too_large);
    const cl::Buffer has(device.context(), CL_MEM_READ_WRITE, sizeof(cl_uint));
    container_kernels::run(device, kernel("kma_collector_try_kernel", cl_ulong{bytes}, has), 1);
    if (read<cl_uint>(has) != 0)
        return true;
    // not errors of the user's kernels
    heap_.driver().forget_errors(ErrorCode::out_of_memory, refused);
    heap_.driver().forget_errors(ErrorCode::too_large, too_large);
    return false;
}

bool Collector::Impl::make_room(std::uint64_t bytes)
{
    require_writable_roots();
    collect();
    if (bytes == 0 || bytes > std::max(heap_.bytes(), heap_.options().max_bytes))
        return bytes == 0;
    if (has_room(bytes))
        return true;
    Compaction compaction{};
    move_objects(bytes, compaction);
    if (has_room(bytes))
        return true;
    while (heap_.bytes() < heap_.options().max_bytes) {
        heap_.grow(std::min(2 * heap_.bytes(), heap_.options().max_bytes));
        if (has_room(bytes))
            return true;
    }
    return false;
}

std::string Compaction::json() const
{
    return say("{\"collection\": ", collection.json(), ", \"moved_objects\": ", moved_objects,
               ", \"moved_bytes\": ", moved_bytes, ", \"stayed_objects\": ", stayed_objects,
               ", \"regions\": ", regions, ", \"sources\": ", sources, ", \"targets\": ", targets,
               ", \"rewritten\": ", rewritten, ", \"census_milliseconds\": ", census_milliseconds,
               ", \"move_milliseconds\": ", move_milliseconds,
               ", \"rewrite_milliseconds\": ", rewrite_milliseconds,
               ", \"free_milliseconds\": ", free_milliseconds, "}");
}

} // namespace kma
