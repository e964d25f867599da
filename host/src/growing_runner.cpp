// When a heap grows: after a launch that its error log says was refused memory.
#include "kma/growing_runner.hpp"

#include <algorithm>

#include "heap_driver.hpp"

namespace kma {
namespace {

constexpr ErrorCode full = ErrorCode::out_of_memory;

// Where counts of errors stop: such a count may hide that there were more (kma_count_errors in heap/error_log.cl).
constexpr std::uint32_t counts_end = 0x80000000;

std::uint64_t limit_of(const HeapDriver &heap, std::uint64_t wanted)
{
    const std::uint64_t most = heap.options().max_bytes;
    return std::min(most, wanted != 0 ? wanted : heap.device().max_buffer_bytes());
}

} // namespace

GrowingRunner::GrowingRunner(Heap &heap, std::uint64_t limit)
    : heap_(heap), limit_(limit_of(heap.driver(), limit)), seen_(heap.driver().error_count(full))
{
}

Growth GrowingRunner::run(const std::function<void(Heap &, unsigned)> &launch)
{
    for (unsigned repetition = 0;; repetition++) { // no more often than the heap can double
        launch(heap_, repetition);
        if (const Growth result = look(); result != Growth::grown)
            return result;
    }
}

Growth GrowingRunner::look()
{
    HeapDriver &heap = heap_.driver();
    const std::uint32_t count = heap.error_count(full);
    if (count < seen_) // somebody emptied the log
        seen_ = 0;
    if (count == seen_ && count < counts_end)
        return Growth::enough;
    const std::uint64_t bytes = heap.memory().bytes();
    if (bytes >= limit_) {
        seen_ = count;
        return Growth::at_limit;
    }
    heap.grow(std::min(2 * bytes, limit_));
    heap.forget_errors(full, seen_);
    refused_ += count - seen_;
    growths_++;
    return Growth::grown;
}

} // namespace kma
