// Worlds: program, memory, do-alls with their enumerations, and statistics.
#include "kma/world.hpp"

#include <algorithm>
#include <numeric>

#include "heap/common/error_log.hpp"
#include "support/say.hpp"
#include "device/internals.hpp"
#include "objects/world_states.hpp"

namespace kma {
namespace {

// The most objects of a block: the bits of the program's atomic words.
std::uint32_t slots_of(const Device &device, const std::string &options)
{
    const bool has = device.has_extension("cl_khr_int64_base_atomics") &&
                     device.has_extension("cl_khr_int64_extended_atomics");
    return has && options.find("KMA_HAS_ATOMIC64=0") == std::string::npos ? 64 : 32;
}

// Of functions that create many objects at once; with 48, NVIDIA's compiler spills them, with more
// fewer work-items run at a time (docs/object-store-design.md).
constexpr int registers = 64;

Program build(const Device &device, const Schema &schema, std::uint32_t slots,
              const std::vector<Source> &units, ProgramOptions options)
{
    options.options = limit_registers(device, std::move(options.options), registers);
    DeviceInternals::selftest_gate(device).require_passed(device);
    // kma's text precedes the user's units and their macros, except for the do-alls' kernels, which
    // call the user's functions.
    std::vector<Source> all{
        {"kma/(the schema's classes)",
         schema.accessors(slots) + "#include \"kma/objects/world_kernels.cl\"\n"}};
    all.insert(all.end(), units.begin(), units.end());
    all.push_back({"(the schema's do-alls)", schema.kernels()});
    return Program(device, all, options);
}

// The schema with the parameters that its functions have in the program.
Schema with_heads(Schema schema, std::vector<Source> program, const ProgramOptions &options)
{
    program.insert(program.end(), options.headers.begin(), options.headers.end());
    return schema.read_heads(program);
}

layout::kma_world_plan plan_of(const Schema::Layout &layout, std::uint64_t blocks)
{
    return layout::kma_world_plan_of(static_cast<std::uint32_t>(layout.classes.size()),
                                     layout.block_bytes, static_cast<std::uint32_t>(blocks));
}

// Number of blocks that fit into `bytes`. Throws Error if none fits.
std::uint32_t blocks_in(const Schema::Layout &layout, std::uint64_t bytes)
{
    std::uint64_t low = 0,
                  high = std::min<std::uint64_t>(bytes / layout.block_bytes, KMA_WORLD_BLOCKS_MOST);
    while (low < high) {
        const std::uint64_t middle = high - (high - low) / 2;
        if (plan_of(layout, middle).end <= bytes)
            low = middle;
        else
            high = middle - 1;
    }
    if (low == 0)
        throw Error(say("a world of ", bytes,
                        " bytes is too small: what tells of its objects and one block need ",
                        plan_of(layout, 1).end, "; World::bytes_for says what your objects need"));
    return static_cast<std::uint32_t>(low);
}

// Explains an error code in terms of objects.
const char *explain_object(ErrorCode code)
{
    switch (code) {
    case ErrorCode::out_of_memory:
        return "out of memory: an object was not created, and its reference is 0; make the world "
               "larger, or delete objects";
    case ErrorCode::invalid_free:
        return "invalid reference: it is to no object of that class in this world; use and delete "
               "an object while it lives, by the functions of its own class, or of a base";
    case ErrorCode::double_free:
        return "double deletion: there is no such object any more; let one work-item delete it, "
               "once";
    case ErrorCode::damaged:
        return "damaged world: what tells of its blocks contradicts itself, so a kernel wrote "
               "outside its objects' fields, or two work-items deleted one object at once; "
               "World::check() says where";
    default:
        return explain(code);
    }
}

} // namespace

double WorldStats::fragmentation() const
{
    std::uint64_t slots = 0, objects = 0;
    for (const ClassStats &cls : classes) {
        slots += cls.slots;
        objects += cls.objects;
    }
    return slots == 0 ? 0 : static_cast<double>(slots - objects) / static_cast<double>(slots);
}

void refuse_world_if_full(cl_int status, std::uint64_t bytes, std::uint64_t promised,
                          const std::string &device)
{
    if (status == CL_INVALID_BUFFER_SIZE)
        throw Error(say("a world of ", bytes, " bytes is too large for ", device,
                        ": its driver refuses such a buffer, and promises ", promised,
                        " bytes in one; take several worlds, or a smaller one"));
    if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY)
        throw Error(say("there is no memory for a world of ", bytes, " bytes on ", device,
                        "; make it smaller, or end what else uses that memory"));
}

World::World(const Device &device, const Schema &schema, const std::vector<Source> &units,
             std::uint64_t bytes, const WorldOptions &options)
    : device_(device), schema_(with_heads(schema, units, options.program)), options_(options),
      slots_(slots_of(device, options.program.options)), layout_(schema.layout(slots_)),
      blocks_(blocks_in(layout_, bytes)),
      program_(build(device, schema_, slots_, units, options.program))
{
    const bool is_gpu = device_.device().getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU;
    const std::uint32_t units_of = device_.device().getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
    group_ = options.work_group != 0 ? options.work_group : is_gpu ? 256 : 64;
    items_ =
        options.work_items != 0 ? options.work_items : units_of * (is_gpu ? 2048u : 16u * group_);
    items_ = std::max((items_ + group_ - 1) / group_, 1u) * group_;
    enumerations_.resize(layout_.classes.size());
    try {
        memory_ = cl::Buffer(device_.context(), CL_MEM_READ_WRITE, plan_of(layout_, blocks_).end);
        init();
        device_.queue().finish(); // some drivers allocate the memory only when a kernel uses it
    } catch (const cl::Error &error) {
        refuse_world_if_full(error.err(), plan_of(layout_, blocks_).end, device_.max_buffer_bytes(),
                             device_.name());
        throw;
    }
}

std::uint64_t World::bytes_for(const Device &device, const Schema &schema,
                               const std::vector<Demand> &demands, const std::string &build_options)
{
    const Schema::Layout layout = schema.layout(slots_of(device, build_options));
    std::uint64_t blocks = 0;
    for (const Demand &demand : demands) {
        const Schema::Range range = schema.range(demand.cls);
        // for an abstract class: of the subclass with the fewest objects in a block
        std::uint32_t fewest = 64;
        for (std::uint32_t i = range.first; i <= range.last; i++)
            fewest = std::min(fewest, layout.classes[i].objects);
        blocks += std::min<std::uint64_t>(demand.objects, std::uint64_t{1} << 40) / fewest + 1;
    }
    if (blocks > KMA_WORLD_BLOCKS_MOST)
        throw Error(say("the objects need ", blocks, " blocks, and a world has ",
                        KMA_WORLD_BLOCKS_MOST, " at most; take several worlds"));
    return plan_of(layout, std::max<std::uint64_t>(blocks, 1)).end;
}

void World::init()
{
    cl::Kernel &kernel = own("kma_world_init_kernel");
    kernel.setArg(1, cl_ulong{plan_of(layout_, blocks_).end});
    kernel.setArg(2, blocks_);
    run_own(kernel, items_);
    std::ranges::fill(enumerations_, Enumeration{});
}

void World::reset()
{
    init();
}

cl::Kernel &World::own(const std::string &name) const
{
    const auto known = own_.find(name);
    if (known != own_.end())
        return known->second;
    cl::Kernel &kernel = own_.emplace(name, program_.kernel(name)).first->second;
    kernel.setArg(0, memory_);
    return kernel;
}

// Launches a kernel, and reports it to WorldOptions::launched. An event costs the driver time: it
// is made only if wanted.
void World::enqueue(cl::Kernel &kernel, std::uint64_t groups, std::uint32_t group,
                    cl::Event *event) const
{
    cl::Event own;
    if (event == nullptr && options_.launched)
        event = &own;
    device_.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(groups * group),
                                         cl::NDRange(group), nullptr, event);
    if (options_.launched)
        options_.launched(kernel.getInfo<CL_KERNEL_FUNCTION_NAME>(), *event);
}

// Runs one of kma's kernels, which work with any number of work-items: with at most as many as the
// device runs at once.
void World::run_own(cl::Kernel &kernel, std::uint64_t work_items) const
{
    enqueue(kernel, groups_for(std::min<std::uint64_t>(work_items, items_)), group_);
}

std::uint64_t World::groups_for(std::uint64_t work_items) const
{
    return std::max<std::uint64_t>((work_items + group_ - 1) / group_, 1);
}

World::Prepared &World::prepare(const std::string &cls, const std::string &function, bool is_new,
                                std::size_t arguments, std::uint32_t n)
{
    if (n > 1u << 31)
        throw Error(
            say(n, " objects of class ", cls,
                " are too many: a world has 2^31 at most; create fewer, or take several worlds"));
    auto known = prepared_.find(std::tie(cls, function, is_new));
    if (known == prepared_.end()) {
        const Schema::Launch &launch = schema_.launch(cls, function, is_new);
        Schema::Range objects = schema_.range(cls);
        if (!launch.options.subclasses)
            objects.last = std::min(objects.last, objects.first); // none stays none
        Prepared made{&launch, program_.kernel(launch.kernel_name()), objects,
                      effects_of(launch.options)};
        made.kernel.setArg(0, memory_);
        known = prepared_.emplace(std::tuple(cls, function, is_new), std::move(made)).first;
    }
    const Schema::Launch &launch = *known->second.launch;
    if (arguments != launch.names.size())
        throw Error(say(function, " for class ", cls, " has ", launch.names.size(), " parameters (",
                        launch.parameters, "), and was given ", arguments,
                        " arguments; give one for each"));
    return known->second;
}

void World::refuse_argument(const Called &called, cl_uint index, const cl::Error &error)
{
    const std::string parameters =
        called.parameters.empty() ? "" : say(" (", called.parameters, ")");
    throw Error(say("argument number ", index - called.own, " of ", called.function, parameters,
                    ", counted from 0, is of another type, or one too many: OpenCL's error ",
                    error.err(), "; a cl_uint is for a uint, a cl::Buffer for a global pointer"));
}

World::Effects World::effects_of(const DoAllOptions &options) const
{
    Effects effects{options.changes.has_value(),
                    std::vector<bool>(enumerations_.size(), !options.changes),
                    !options.loops_over,
                    {}};
    for (const std::string &cls : options.changes.value_or(std::vector<std::string>{})) {
        const Schema::Range range = schema_.range(cls);
        for (std::uint32_t i = range.first; i <= range.last; i++)
            effects.changes[i] = true;
    }
    for (const std::string &cls : options.loops_over.value_or(std::vector<std::string>{}))
        effects.loops.push_back(schema_.range(cls));
    return effects;
}

void World::wait_for(const Enqueue &how) const
{
    if (how.events && !how.events->empty())
        device_.queue().enqueueBarrierWithWaitList(how.events);
}

void World::launch(const Enqueue &how, cl::Kernel &kernel, std::uint64_t work_items,
                   const Effects &effects, const std::string &function)
{
    if (effects.loops_anywhere)
        enumerate();
    for (const Schema::Range range : effects.loops)
        enumerate(range);
    const bool checks = options_.program.debug != 0 && effects.are_declared;
    const WorldStats before = checks ? stats() : WorldStats{};
    // before the launch: code after it may throw
    for (std::uint32_t i = 0; i < enumerations_.size(); i++)
        if (effects.changes[i])
            enumerations_[i].is_current = false;
    enqueue(kernel, groups_for(work_items), group_, how.event);
    if (!checks)
        return;
    const WorldStats after = stats();
    for (std::uint32_t i = 0; i < enumerations_.size(); i++)
        if (!effects.changes[i] && before.classes[i].objects != after.classes[i].objects)
            throw Error(say(function, " made ", after.classes[i].objects, " objects of class ",
                            before.classes[i].name, " of ", before.classes[i].objects,
                            " that there were, and its DoAllOptions::changes do not name that "
                            "class; name it there"));
}

// Lists all classes that changed, if one of these did: one launch serves the do-alls that follow.
void World::enumerate(Schema::Range classes)
{
    const auto first = enumerations_.begin();
    if (std::all_of(first + classes.first, first + std::max(classes.first, classes.last + 1),
                    [](const Enumeration &its) { return its.is_current; }))
        return;
    for (std::uint32_t i = 0; i < enumerations_.size(); i++)
        watch(i);
    enumerate();
}

void World::enumerate()
{
    cl_ulong classes = 0, turns = 0;
    for (std::uint32_t i = 0; i < enumerations_.size(); i++)
        if (!enumerations_[i].is_current) {
            classes |= cl_ulong{1} << i;
            turns |= cl_ulong{enumerations_[i].turn ^ 1u} << i;
        }
    if (classes == 0)
        return;
    cl::Kernel &kernel = own("kma_world_list_kernel");
    kernel.setArg(1, classes);
    kernel.setArg(2, turns);
    run_own(kernel, blocks_);
    // after the launch: the kernel relies on the sequence of turns
    for (Enumeration &enumeration : enumerations_)
        if (!enumeration.is_current)
            enumeration = {true, enumeration.turn ^ 1u};
}

void World::changed()
{
    for (Enumeration &enumeration : enumerations_)
        enumeration.is_current = false;
}

WorldStats World::stats() const
{
    WorldStats stats;
    stats.blocks = stats.free_blocks = blocks_;
    const std::size_t classes = layout_.classes.size();
    std::vector<std::uint32_t> counts(3 * classes);
    const cl::Buffer buffer(device_.context(), CL_MEM_READ_WRITE, sizeof counts[0] * counts.size());
    device_.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, sizeof counts[0] * counts.size(),
                                       counts.data());
    cl::Kernel &kernel = own("kma_world_count_kernel");
    kernel.setArg(1, buffer);
    run_own(kernel, blocks_);
    device_.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof counts[0] * counts.size(),
                                      counts.data());
    for (std::size_t i = 0; i < classes; i++) {
        const Schema::Concrete &cls = layout_.classes[i];
        stats.classes.push_back({cls.name, counts[3 * i],
                                 std::uint64_t{counts[3 * i + 1]} * cls.objects, counts[3 * i + 1],
                                 counts[3 * i + 2]});
        stats.free_blocks -= counts[3 * i + 1];
    }
    return stats;
}

std::uint64_t World::count(const std::string &cls) const
{
    const Schema::Range range = schema_.range(cls);
    const WorldStats now = stats();
    std::uint64_t objects = 0;
    for (std::uint32_t i = range.first; i <= range.last; i++)
        objects += now.classes[i].objects;
    return objects;
}

std::uint64_t World::error_count(ErrorCode code) const
{
    std::uint32_t count = 0;
    const std::size_t at = offsetof(layout::kma_heap_header, errors.count) +
                           sizeof count * static_cast<std::size_t>(code);
    device_.queue().enqueueReadBuffer(memory_, CL_TRUE, at, sizeof count, &count);
    return count;
}

std::string World::error_text() const
{
    layout::kma_heap_header header;
    device_.queue().enqueueReadBuffer(memory_, CL_TRUE, 0, sizeof header, &header);
    std::vector<std::uint64_t> counts;
    for (const auto &count : header.errors.count)
        counts.push_back(count.word);
    const auto no_site = [](std::uint32_t) { return std::string(); };
    return kma::error_text(counts, records_of(header.errors, no_site),
                           {explain_object, ", reference ", ", an object of ", " bytes"},
                           "the first of each kind:\n");
}

void World::clear_errors()
{
    run_own(own("kma_world_clear_errors_kernel"), KMA_ERROR_CODES * KMA_ERROR_KEPT);
    device_.queue().finish();
}

WorldStates World::states() const
{
    const layout::kma_world_plan plan = plan_of(layout_, blocks_);
    WorldStates read;
    read.blocks.resize(blocks_);
    read.trees.resize(std::size_t{plan.tree_words} * (layout_.classes.size() + 1));
    read.tree_words = plan.tree_words;
    read.slots = slots_;
    device_.queue().enqueueReadBuffer(memory_, CL_TRUE, 0, sizeof read.world, &read.world);
    device_.queue().enqueueReadBuffer(memory_, CL_TRUE, plan.states,
                                      sizeof read.blocks[0] * blocks_, read.blocks.data());
    device_.queue().enqueueReadBuffer(memory_, CL_TRUE, plan.trees,
                                      sizeof read.trees[0] * read.trees.size(), read.trees.data());
    return read;
}

std::vector<std::string> World::check(bool references) const
{
    std::vector<std::string> wrong = check_world(states(), layout_);
    if (references)
        std::ranges::copy(check_references(), std::back_inserter(wrong));
    return wrong;
}

} // namespace kma
