// When garbage is collected: after a launch that the heap's error log says was refused memory.
#include "kma/collecting_runner.hpp"

#include <algorithm>

#include "refusals.hpp"

namespace kma {

CollectingRunner::CollectingRunner(Heap &heap, Collector &collector, std::uint64_t limit)
    : heap_(heap), collector_(collector), limit_(Refusals::limit_of(heap.driver(), limit)),
      refusals_(std::make_unique<Refusals>(heap.driver()))
{
}

CollectingRunner::CollectingRunner(CollectingRunner &&) noexcept = default;
CollectingRunner::~CollectingRunner() = default;

Room CollectingRunner::run(const std::function<void(Heap &, unsigned)> &launch)
{
    for (unsigned repetition = 0;; repetition++) { // as long as launches do some of the work
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
    const std::uint64_t bytes = heap.memory().bytes();
    const bool is_full = collection.freed_bytes < bytes / 16 || collection.marked_bytes > bytes / 2;
    if ((is_full || ++in_a_row_ % 8 == 0) && bytes < limit_) {
        heap.grow(std::min(2 * bytes, limit_));
        growths_++;
    } else if (collection.freed_bytes < bytes / 64) {
        refusals_->keep();
        return Room::none;
    }
    refused_ += refusals_->forget(heap);
    return Room::made;
}

} // namespace kma
