// Collects garbage after a launch with refused requests, which the heap's error log counts.
#include "kma/collecting_runner.hpp"

#include <algorithm>

#include "heap/common/refusals.hpp"

namespace kma {

CollectingRunner::CollectingRunner(Collector &collector, std::uint64_t limit, bool may_move)
    : heap_(collector.heap()), collector_(collector),
      limit_(Refusals::limit_of(heap_.driver(), limit)), may_move_(may_move),
      refusals_(std::make_unique<Refusals>(heap_.driver()))
{
}

CollectingRunner::CollectingRunner(CollectingRunner &&) noexcept = default;
CollectingRunner::~CollectingRunner() = default;

Room CollectingRunner::run(const std::function<void(Heap &, unsigned)> &launch)
{
    // ends when a launch has enough memory, or none can be freed
    for (unsigned repetition = 0;; repetition++) {
        launch(heap_, repetition);
        if (const Room result = look(); result != Room::made)
            return result;
    }
}

Room CollectingRunner::look()
{
    HeapDriver &heap = heap_.driver();
    if (!refusals_->look(heap)) {
        in_a_row_ = 0;
        return Room::enough;
    }
    const Collection collection = collector_.collect();
    collections_++;
    freed_objects_ += collection.freed_objects;
    const bool has_moved = may_move_ && move();
    const std::uint64_t bytes = heap.memory().bytes();
    const bool is_full = collection.freed_bytes < bytes / 16 || collection.marked_bytes > bytes / 2;
    if (has_moved) {
        in_a_row_++;
    } else if ((is_full || ++in_a_row_ % 8 == 0) && bytes < limit_) {
        heap.grow(std::min(2 * bytes, limit_));
        growths_++;
    } else if (collection.freed_bytes < bytes / 64) {
        refusals_->keep();
        return Room::none;
    }
    refused_ += refusals_->forget(heap);
    return Room::made;
}

// Compacts for the largest refused block, unless it fits already. Returns whether a block that
// needs contiguous memory was refused and fits now.
bool CollectingRunner::move()
{
    std::uint64_t largest = 0;
    std::uint32_t number = 0; // index of a record; earlier looks have handled the first ones
    for (const ErrorRecord &record : heap_.errors())
        if (record.code == ErrorCode::out_of_memory && number++ >= refusals_->seen())
            largest = std::max(largest, record.size);
    if (largest <= std::uint64_t{KMA_SLAB_MOST} * KMA_UNIT)
        return false;
    if (collector_.has_room(largest))
        return true;
    compactions_++;
    collector_.compact(largest);
    return collector_.has_room(largest);
}

} // namespace kma
