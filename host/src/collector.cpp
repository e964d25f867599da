// Launches a collection's kernels (kernels/collect_kernels.cl), and says what they found.
#include "kma/collector.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <list>

#include "container_kernels.hpp"
#include "heap_driver.hpp"
#include "kma/error.hpp"
#include "layout.hpp"
#include "say.hpp"

namespace kma {

using layout::kma_collection;
using layout::kma_collector;

struct Collector::Roots::Entry {
    cl::Buffer buffer;
    std::uint64_t first, count;
};

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t group = 64;

double milliseconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::uint64_t units_for(std::uint64_t bytes)
{
    constexpr std::uint64_t most =
        (std::uint64_t{1} << 32) - 128; // no block of a slab heap lies beyond
    return std::min((bytes / KMA_UNIT + 127) / 128 * 128, most);
}

// The records of damage, a line each.
std::string records_of(const kma_collection &found)
{
    std::string first;
    for (const layout::kma_damaged_reference &record : found.first) {
        if (record.written == 0)
            continue;
        if (record.offset == KMA_DAMAGED_LENGTH)
            first += say("\n  the array at ref ", record.object, " has a length of ",
                         record.reference, ", for which it has no room");
        else if (record.offset == KMA_DAMAGED_TYPE)
            first += say("\n  at ref ", record.object, ": type ", record.reference);
        else if (record.object == 0 && record.written == 1)
            first += say("\n  pinned: ", record.reference);
        else if (record.object == 0)
            first += say("\n  root number ", record.offset, " of registered buffer number ",
                         record.written - 1, ": ", record.reference);
        else
            first += say("\n  in the object at ref ", record.object, ", ", record.offset,
                         " bytes from its begin: ", record.reference);
    }
    return first;
}

} // namespace

class Collector::Impl {
public:
    Impl(Heap &heap, const Types &types, const CollectorOptions &options);

    Collection collect();
    std::list<std::weak_ptr<Roots::Entry>> roots;
    std::map<Ref, std::uint32_t> pins;
    const cl::Context &context() const { return device.context(); }

private:
    // A kernel with the heap as its first argument and these behind it.
    template <class... Arguments>
    cl::Kernel kernel(const char *name, const Arguments &...arguments) const
    {
        cl::Kernel made = program_.kernel(name);
        heap_.set_arg(made, 0);
        cl_uint index = 1;
        (made.setArg(index++, arguments), ...);
        return made;
    }
    template <class... Arguments>
    cl::Kernel marking(const char *name, int queue, const Arguments &...arguments) const
    {
        return kernel(name, types_, type_count_, references_, collection_, queues_[queue],
                      capacity_, arguments...);
    }
    void launch(const cl::Kernel &kernel, std::uint64_t work_items) const
    {
        const std::uint64_t items =
            std::clamp<std::uint64_t>((work_items + group - 1) / group * group, group, most_items_);
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

    kma_collector expected(Ref ref) const;
    kma_collector read_tables(Ref ref) const;
    void make_tables();
    Ref sound_tables() const;
    void mark_roots();
    void mark(Collection &result);
    void follow_lists(cl_uint items, cl_uint field);

    Heap &heap_;
    const Device device;
    Program program_;
    std::uint32_t hash_;
    cl_uint units_, type_count_, capacity_;
    std::uint64_t most_items_;
    cl::Buffer types_, references_, collection_, queues_[2];
    cl::Buffer splitters_, reached_, next_[2]; // of tiles; made when they are needed
    cl_uint fields_ = 0;                       // the most references of an object
    std::shared_ptr<void> token_ = std::make_shared<int>(); // the heap's only one
};

Collector::Impl::Impl(Heap &heap, const Types &types, const CollectorOptions &options)
    : heap_(heap), device(heap.driver().device()),
      program_(container_kernels::build(device, heap, "(kernels of the collector)",
                                        "collect_kernels.cl")),
      hash_(types.hash()),
      units_(static_cast<cl_uint>(units_for(std::max(heap.bytes(), heap.options().max_bytes)))),
      most_items_(std::uint64_t{device.device().getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>()} * 2048)
{
    std::vector<layout::kma_type> all;
    std::vector<layout::kma_reference> references;
    for (const Types::Type &type : types.layout()) {
        all.push_back({type.bytes, static_cast<std::uint32_t>(type.references.size()),
                       static_cast<std::uint32_t>(references.size())});
        fields_ = std::max(fields_, static_cast<cl_uint>(type.references.size()));
        for (const Types::Reference &reference : type.references)
            references.push_back({reference.offset, reference.target});
    }
    type_count_ = static_cast<cl_uint>(all.size());
    types_ = copy_of(all);
    references_ = copy_of(references);
    collection_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE, sizeof(kma_collection));
    const std::uint64_t bytes = options.queue_bytes != 0
                                    ? options.queue_bytes
                                    : std::max<std::uint64_t>(heap.bytes() / 16, 1 << 20);
    capacity_ = static_cast<cl_uint>(
        std::clamp<std::uint64_t>(bytes / 2 / sizeof(layout::kma_mark_item), 1, 1u << 30));
    for (cl::Buffer &queue : queues_)
        queue = cl::Buffer(device.context(), CL_MEM_READ_WRITE,
                           std::uint64_t{capacity_} * sizeof(layout::kma_mark_item));
    std::weak_ptr<void> &now = heap.driver().collector();
    if (!now.expired() && heap.driver().header().collector != 0) // else it was reset
        throw Error("the heap has a collector already; use that one, or end it first");
    now = token_;
    make_tables();
}

kma_collector Collector::Impl::expected(Ref ref) const
{
    const Ref table = ref + 1;
    return {hash_, units_, table, table + units_ / KMA_UNIT};
}

kma_collector Collector::Impl::read_tables(Ref ref) const
{
    kma_collector tables;
    heap_.driver().memory().read(device.queue(), std::uint64_t{ref} * KMA_UNIT, sizeof tables,
                                 &tables);
    return tables;
}

void Collector::Impl::make_tables()
{
    if (const Ref there = heap_.driver().header().collector; there != 0) {
        if (read_tables(there).types != hash_)
            throw Error("the heap has the tables of a collector of other types; give both the same "
                        "kma::Types, or reset() the heap first");
        sound_tables();
        return;
    }
    const std::uint64_t bytes = bytes_for(std::uint64_t{units_} * KMA_UNIT);
    const std::uint32_t refused = heap_.driver().error_count(ErrorCode::out_of_memory);
    const cl::Buffer made(device.context(), CL_MEM_READ_WRITE, sizeof(Ref));
    container_kernels::run(
        device, kernel("kma_collector_new_kernel", cl_uint{hash_}, units_, cl_ulong{bytes}, made),
        1);
    const Ref ref = read<Ref>(made);
    if (ref == 0) { // which is no kernel's error
        heap_.driver().forget_errors(ErrorCode::out_of_memory, refused);
        throw Error(
            say("the heap has no room for a collector, which takes ", bytes,
                " bytes side by side; make the collector before other blocks, or the heap larger"));
    }
    launch(kernel("kma_collector_clear_kernel", cl_uint{ref + 1},
                  static_cast<cl_uint>(bytes / KMA_UNIT - 1)),
           bytes / KMA_UNIT);
    container_kernels::run(device, kernel("kma_collector_begin_kernel", cl_uint{ref}), 1);
}

// The ref of the tables, which are what this collector made of them.
Ref Collector::Impl::sound_tables() const
{
    const Ref ref = heap_.driver().header().collector;
    if (ref == 0 || heap_.driver().collector().lock() != token_)
        throw Error("the heap has no collector any more, since it was reset; make a new "
                    "kma::Collector for it");
    const bool is_inside = std::uint64_t{ref} * KMA_UNIT + sizeof(kma_collector) <= heap_.bytes();
    const kma_collector is = is_inside ? read_tables(ref) : kma_collector{}, right = expected(ref);
    if (is.types != right.types || is.units != right.units || is.table != right.table ||
        is.marks != right.marks)
        throw Error("the collector's tables in the heap are damaged: a kernel wrote outside its "
                    "blocks; Heap::check() may say more");
    return ref;
}

void Collector::Impl::mark_roots()
{
    roots.remove_if([](const auto &entry) { return entry.expired(); });
    cl_uint number = 0; // pinned objects are number 0
    const auto mark = [&](const cl::Buffer &buffer, cl_ulong first, cl_ulong count) {
        if (count != 0)
            launch(marking("kma_mark_roots_kernel", 0, buffer, first, count, number), count);
        number++;
    };
    std::vector<cl_uint> pinned;
    for (const auto &[ref, count] : pins)
        pinned.push_back(ref);
    mark(copy_of(pinned), 0, pinned.size());
    for (const auto &weak : roots)
        if (const auto entry = weak.lock())
            mark(entry->buffer, entry->first, entry->count);
}

// Items of round 0 are in queue 0, as those of round KMA_MARK_ROUNDS, which is even.
void Collector::Impl::mark(Collection &result)
{
    // Begins again at round 0, with so many items; keeps what is found of damage.
    const auto begin_again = [&](cl_uint items) {
        kma_collection next{};
        next.counts[0].word = items;
        device.queue().enqueueWriteBuffer(collection_, CL_TRUE, 0,
                                          sizeof next.counts + sizeof next.dropped, &next);
    };
    const bool is_gpu = device.device().getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU;
    const cl_uint few = is_gpu ? 16384 : 64; // work-items with something to visit
    bool has_dropped = false;
    mark_roots();
    for (;;) { // each time an item is visited, or was dropped
        for (cl_uint round = 0; round < KMA_MARK_ROUNDS; round++)
            launch(marking("kma_mark_round_kernel", (round + 1) % 2, queues_[round % 2], round),
                   most_items_);
        result.rounds += KMA_MARK_ROUNDS;
        const kma_collection now = read<kma_collection>(collection_);
        const cl_uint left = std::min(now.counts[KMA_MARK_ROUNDS].word, capacity_);
        has_dropped |= now.dropped.word != 0;
        if (left == 0 && !has_dropped)
            return;
        begin_again(left);
        if (left != 0) {
            if (left < few)
                follow_lists(left, result.list_passes++ % fields_);
            continue;
        }
        has_dropped = false;
        launch(marking("kma_mark_again_kernel", 0), units_ / 32);
        result.repeats++;
    }
}

// Finds more items for the queue of round 0, which has so many, along lists by reference number
// `field` (collect/lists.cl).
void Collector::Impl::follow_lists(cl_uint items, cl_uint field)
{
    const cl_uint limit = heap_.driver().header().limit;
    const cl_uint tiles = (std::min(limit, units_) >> KMA_LIST_TILE_SHIFT) + 1;
    if (splitters_() == nullptr || splitters_.getInfo<CL_MEM_SIZE>() < tiles * sizeof(Ref))
        for (cl::Buffer *const buffer : {&splitters_, &reached_, &next_[0], &next_[1]})
            *buffer = cl::Buffer(device.context(), CL_MEM_READ_WRITE, tiles * sizeof(Ref));
    launch(marking("kma_list_choose_kernel", 0, splitters_, reached_, tiles, field), tiles);
    launch(marking("kma_list_walk_kernel", 0, splitters_, reached_, tiles, field, next_[0], items),
           std::uint64_t{items} + tiles);
    cl::Kernel twice = program_.kernel("kma_list_double_kernel");
    for (int step = 0; step <= std::bit_width(tiles); step++) {
        twice.setArg(0, reached_);
        twice.setArg(1, tiles);
        twice.setArg(2, next_[step % 2]);
        twice.setArg(3, next_[1 - step % 2]);
        launch(twice, tiles);
    }
    launch(marking("kma_list_queue_kernel", 0, splitters_, reached_, tiles), tiles);
}

Collection Collector::Impl::collect()
{
    const kma_collector tables = expected(sound_tables());
    const kma_collection zero{};
    device.queue().enqueueWriteBuffer(collection_, CL_TRUE, 0, sizeof zero, &zero);
    device.queue().finish();
    Collection result{};
    const Clock::time_point begin = Clock::now();
    // Whatever an earlier collection, which threw, or a kernel left there.
    launch(kernel("kma_collector_clear_kernel", cl_uint{tables.marks}, cl_uint{units_ / 128}),
           units_ / 128);
    mark(result);
    result.mark_milliseconds = milliseconds_since(begin);
    if (const auto found = read<kma_collection>(collection_); found.damaged.word != 0)
        throw Error(say("nothing was collected: references that lead to no living object of their "
                        "type: ",
                        found.damaged.word,
                        "; an object was deleted while something led to it, or a kernel wrote "
                        "where it must not:",
                        records_of(found)));
    const Clock::time_point marked = Clock::now();
    launch(marking("kma_sweep_kernel", 0), heap_.bytes() / KMA_UNIT / 32);
    const kma_collection now = read<kma_collection>(collection_);
    result.sweep_milliseconds = milliseconds_since(marked);
    if (now.damaged.word != 0)
        throw Error(say("garbage was collected, but for objects whose types are none of the "
                        "collector's: ",
                        now.damaged.word, "; a kernel wrote where it must not:", records_of(now)));
    result.marked_objects = now.marked.word;
    result.marked_bytes = std::uint64_t{now.marked_units.word} * KMA_UNIT;
    result.freed_objects = now.freed.word;
    result.freed_bytes = std::uint64_t{now.freed_units.word} * KMA_UNIT;
    return result;
}

std::string Collection::json() const
{
    return say("{\"marked_objects\": ", marked_objects, ", \"marked_bytes\": ", marked_bytes,
               ", \"freed_objects\": ", freed_objects, ", \"freed_bytes\": ", freed_bytes,
               ", \"rounds\": ", rounds, ", \"repeats\": ", repeats, ", \"list_passes\": ", list_passes,
               ", \"mark_milliseconds\": ", mark_milliseconds,
               ", \"sweep_milliseconds\": ", sweep_milliseconds, "}");
}

std::uint64_t Collector::bytes_for(std::uint64_t bytes)
{
    const std::uint64_t units = units_for(bytes);
    return sizeof(kma_collector) + units + units / 8;
}

Collector::Collector(Heap &heap, const Types &types, const CollectorOptions &options)
{
    if (heap.options().kind != HeapKind::slab)
        throw Error(say("a collector needs a slab heap, and this is a ",
                        name_of(heap.options().kind), " heap; make it with HeapKind::slab"));
    if (types.layout().empty())
        throw Error("a collector needs types; declare them by Types::add()");
    impl_ = std::make_unique<Impl>(heap, types, options);
}

Collector::Collector(Collector &&) noexcept = default;
Collector &Collector::operator=(Collector &&) noexcept = default;
Collector::~Collector() = default;

Collector::Roots::Roots(std::shared_ptr<Entry> entry) : entry_(std::move(entry)) {}
Collector::Roots::Roots(Roots &&) noexcept = default;
Collector::Roots &Collector::Roots::operator=(Roots &&) noexcept = default;
Collector::Roots::~Roots() = default;

Collector::Roots Collector::add_roots(const cl::Buffer &buffer, std::uint64_t count,
                                      std::uint64_t first)
{
    const std::uint64_t there = buffer.getInfo<CL_MEM_SIZE>() / sizeof(Ref);
    if (buffer.getInfo<CL_MEM_CONTEXT>() != impl_->context())
        throw Error("the buffer of roots is of another context than the heap; make it with the "
                    "same kma::Device");
    if (count > there || first > there - count)
        throw Error(say("roots ", first, " to ", first + count - 1,
                        " are not all in their buffer, which has ", there,
                        " refs; register fewer"));
    auto entry = std::make_shared<Roots::Entry>(Roots::Entry{buffer, first, count});
    impl_->roots.push_back(entry);
    return Roots(std::move(entry));
}

void Collector::pin(Ref ref)
{
    impl_->pins[ref]++;
}

void Collector::unpin(Ref ref)
{
    const auto found = impl_->pins.find(ref);
    if (found == impl_->pins.end())
        throw Error(
            say("ref ", ref, " is not pinned; call unpin() as often as pin(), and no more"));
    if (--found->second == 0)
        impl_->pins.erase(found);
}

Collection Collector::collect()
{
    return impl_->collect();
}

} // namespace kma
