// Grows a heap after a launch with refused requests, which the heap's error log counts.
#include "kma/growing_runner.hpp"

#include <algorithm>

#include "heap/common/refusals.hpp"

namespace kma {

GrowingRunner::GrowingRunner(Heap &heap, std::uint64_t limit)
    : heap_(heap), limit_(Refusals::limit_of(heap.driver(), limit)),
      refusals_(std::make_unique<Refusals>(heap.driver()))
{
}

GrowingRunner::GrowingRunner(GrowingRunner &&) noexcept = default;
GrowingRunner::~GrowingRunner() = default;

Growth GrowingRunner::run(const std::function<void(Heap &, unsigned)> &launch)
{
    // ends when a launch has enough memory, or the heap has its maximal size
    for (unsigned repetition = 0;; repetition++) {
        launch(heap_, repetition);
        if (const Growth result = look(); result != Growth::grown)
            return result;
    }
}

Growth GrowingRunner::look()
{
    HeapDriver &heap = heap_.driver();
    if (!refusals_->look(heap))
        return Growth::enough;
    const std::uint64_t bytes = heap.memory().bytes();
    if (bytes >= limit_) {
        refusals_->keep();
        return Growth::at_limit;
    }
    heap.grow(std::min(2 * bytes, limit_));
    refused_ += refusals_->forget(heap);
    growths_++;
    return Growth::grown;
}

} // namespace kma
