// A collector's tables in the heap, its buffers outside of it, roots and pins.
#include <bit>

#include "collect/collector_impl.hpp"
#include "kma/error.hpp"
#include "support/say.hpp"

namespace kma {

using layout::kma_collector;

namespace {

std::uint64_t units_for(std::uint64_t bytes)
{
    constexpr std::uint64_t most =
        (std::uint64_t{1} << 32) - 128; // the end of the last block of a slab heap
    return std::min((bytes / KMA_UNIT + 127) / 128 * 128, most);
}

// Returns the options. Throws Error for impossible ones.
const CollectorOptions &checked(const CollectorOptions &options)
{
    constexpr std::uint64_t least = KMA_SLAB_FRAME_UNITS * KMA_UNIT, most = std::uint64_t{1} << 30;
    if (!std::has_single_bit(options.region_bytes) || options.region_bytes < least ||
        options.region_bytes > most)
        throw Error(
            say("regions of ", options.region_bytes,
                " bytes cannot be; give CollectorOptions::region_bytes a power of two from ", least,
                " to ", most));
    for (const double part : {options.share, options.fullest})
        if (!(part > 0 && part <= 1)) // or NaN
            throw Error(say("CollectorOptions::share and fullest are parts of a whole, and ", part,
                            " is none; give them more than 0 and at most 1"));
    return options;
}

} // namespace

Collector::Impl::Impl(Heap &heap, const Types &types, const CollectorOptions &options)
    : heap_(heap), device(heap.driver().device()), options_(checked(options)),
      program_(heap.program(
          {{"(kernels of the collector)", "#include \"kma/collect/collect_kernels.cl\"\n"}})),
      hash_(types.hash()),
      units_(static_cast<cl_uint>(units_for(std::max(heap.bytes(), heap.options().max_bytes)))),
      region_shift_(static_cast<cl_uint>(std::countr_zero(options.region_bytes / KMA_UNIT))),
      zone_shift_(static_cast<cl_uint>(std::bit_width((units_ >> region_shift_) / 32))),
      most_items_(options.work_items != 0
                      ? options.work_items
                      : std::uint64_t{device.device().getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>()} *
                            2048)
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
    collection_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE, sizeof(layout::kma_collection));
    const layout::kma_collection none{};
    device.queue().enqueueWriteBuffer(collection_, CL_TRUE, 0, sizeof none, &none);
    zones_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE,
                        ((units_ >> region_shift_) + 1) * sizeof(cl_uint));
    const std::uint64_t bytes = options.queue_bytes != 0
                                    ? options.queue_bytes
                                    : std::max<std::uint64_t>(heap.bytes() / 16, 1 << 20);
    capacity_ = static_cast<cl_uint>(
        std::clamp<std::uint64_t>(bytes / 2 / sizeof(layout::kma_mark_item), 1, 1u << 30));
    for (cl::Buffer &queue : queues_)
        queue = cl::Buffer(device.context(), CL_MEM_READ_WRITE,
                           std::uint64_t{capacity_} * sizeof(layout::kma_mark_item));
    std::weak_ptr<void> &now = heap.driver().collector();
    if (!now.expired() && heap.driver().header().collector != 0) // 0: the heap was reset
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
    if (ref == 0) { // the refusal is not an error of the user's kernels
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

// Returns the ref of the tables. Throws Error if they are gone, or not as this collector made them.
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

Heap &Collector::heap() const
{
    return impl_->heap();
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

Compaction Collector::compact(std::uint64_t bytes)
{
    return impl_->compact(bytes);
}

std::vector<Collector::Piece> Collector::pieces()
{
    return impl_->pieces();
}

bool Collector::has_room(std::uint64_t bytes) const
{
    return impl_->has_room(bytes);
}

bool Collector::make_room(std::uint64_t bytes)
{
    return impl_->make_room(bytes);
}

} // namespace kma
