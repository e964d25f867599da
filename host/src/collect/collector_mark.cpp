// Collection: launches the kernels of collect/collect_kernels.cl, and reports damage that they
// found.
#include <bit>

#include "collect/collector_impl.hpp"
#include "kma/error.hpp"
#include "support/say.hpp"

namespace kma {

using layout::kma_collection;
using layout::kma_collector;

namespace {

// The records of damage, one line each.
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

void Collector::Impl::mark_roots()
{
    roots.remove_if([](const auto &entry) { return entry.expired(); });
    cl_uint number = 0; // of a buffer; 0: the pinned objects
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

// Marks all reachable objects. Round r reads queue r % 2 and fills the other one. KMA_MARK_ROUNDS
// is even: the items left by the last round are in queue 0, where round 0 begins again.
void Collector::Impl::mark(Collection &result)
{
    // Restarts at round 0 with `items` items; keeps the records of damage.
    const auto begin_again = [&](cl_uint items) {
        kma_collection next{};
        next.counts[0].word = items;
        device.queue().enqueueWriteBuffer(collection_, CL_TRUE, 0,
                                          sizeof next.counts + sizeof next.dropped, &next);
    };
    const cl_uint few = is_gpu() ? 16384 : 64; // busy work-items
    bool has_dropped = false;
    // milliseconds of rounds since the last pass over lists, and of that pass
    double since = 0, pass = 0;
    mark_roots();
    for (;;) { // ends when no item is left and none was dropped
        const Clock::time_point begin = Clock::now();
        for (cl_uint round = 0; round < KMA_MARK_ROUNDS; round++)
            launch(marking("kma_mark_round_kernel", (round + 1) % 2, queues_[round % 2], round),
                   most_items_);
        result.rounds += KMA_MARK_ROUNDS;
        const kma_collection now = read<kma_collection>(collection_);
        since += milliseconds_since(begin);
        const cl_uint left = std::min(now.counts[KMA_MARK_ROUNDS].word, capacity_);
        has_dropped |= now.dropped.word != 0;
        if (now.damaged.word != 0 || (left == 0 && !has_dropped))
            return; // damage ends the collection
        begin_again(left);
        if (left != 0) {
            // A pass searches the whole heap. It is repeated only when the rounds since have taken
            // as long: passes take at most half of the time.
            if (left < few && since >= pass) {
                const Clock::time_point passing = Clock::now();
                follow_lists(left, result.list_passes++ % fields_);
                device.queue().finish();
                pass = milliseconds_since(passing);
                since = 0;
            }
            continue;
        }
        has_dropped = false;
        launch(marking("kma_mark_again_kernel", 0), units_ / 32);
        result.repeats++;
    }
}

// Finds more items for the queue of round 0, which has `items`, by following lists along reference
// number `field` (collect/lists.cl).
void Collector::Impl::follow_lists(cl_uint items, cl_uint field)
{
    const cl_uint limit = heap_.driver().header().limit;
    const cl_uint tiles = (std::min(limit, units_) >> KMA_LIST_TILE_SHIFT) + 1;
    if (tiles_ < tiles) {
        for (cl::Buffer *const buffer : {&splitters_, &reached_, &next_[0], &next_[1]})
            *buffer = cl::Buffer(device.context(), CL_MEM_READ_WRITE, tiles * sizeof(Ref));
        tiles_ = tiles; // after the allocations, which may throw
    }
    launch(marking("kma_list_choose_kernel", 0, splitters_, reached_, tiles, field), tiles);
    launch(marking("kma_list_walk_kernel", 0, splitters_, reached_, tiles, field, next_[0], items),
           std::uint64_t{items} + tiles);
    cl::Kernel twice = program_.kernel("kma_list_double_kernel");
    for (cl_uint step = 0, steps = cl_uint(std::bit_width(tiles)); step <= steps; step++) {
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
    kma_collection zero{};
    zero.region_shift = region_shift_;
    zero.zone_shift = zone_shift_;
    device.queue().enqueueWriteBuffer(collection_, CL_TRUE, 0, sizeof zero, &zero);
    device.queue().enqueueFillBuffer(zones_, cl_uint{0}, 0, zones_.getInfo<CL_MEM_SIZE>());
    device.queue().finish();
    Collection result{};
    const Clock::time_point begin = Clock::now();
    // Clears marks that a failed collection or a kernel left.
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
        throw Error(say("garbage was collected, but for objects of types that are none of the "
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
               ", \"rounds\": ", rounds, ", \"repeats\": ", repeats,
               ", \"list_passes\": ", list_passes, ", \"mark_milliseconds\": ", mark_milliseconds,
               ", \"sweep_milliseconds\": ", sweep_milliseconds, "}");
}

} // namespace kma
