// Launches that find the heap full, and are made once more on a larger one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "kma/heap.hpp"

namespace kma {

class Refusals;

/// What GrowingRunner found after a launch.
enum class Growth {
    enough,   ///< no request was refused for want of memory
    grown,    ///< some were, and the heap has up to twice its bytes now: launch again
    at_limit, ///< some were, and the heap has all that it may have; the error log tells of them
};

/// Grows a heap when a kernel ran out of memory in it, so that the kernel can be launched once
/// more.
///
/// That kernel must be one that can be launched again. Nothing of the launch that met out of memory
/// is undone: what it allocated stays allocated, what it wrote stays written, and only some
/// work-items were refused. So either a work-item that gets NULL leaves a mark of what it has still
/// to do (the index of its next item, a result that is still 0), and does just that when it runs
/// again; or the repetition begins by undoing all, with Heap::reset() and cleared results.
///
/// Only out of memory makes a heap grow, not requests that are too large for it whatever its size.
/// When it grows, the log's entries of out of memory that came since the last look go, for those
/// requests are to be made again; refused() counts them. All other errors stay in the log, and so
/// does what was there before.
class GrowingRunner {
public:
    /// For launches on `heap`, which outlives the runner, from now on. `limit`: the most bytes to
    /// give the heap; never more than its HeapOptions::max_bytes. 0: max_bytes, or
    /// Device::max_buffer_bytes() if that is less. A heap that was made without max_bytes is at its
    /// limit from the beginning.
    explicit GrowingRunner(Heap &heap, std::uint64_t limit = 0);
    /// Leaves the other to be destroyed only.
    GrowingRunner(GrowingRunner &&) noexcept;
    ~GrowingRunner();

    /// Calls `launch(heap, repetition)`, 0 at first, then 1, 2, … as long as the heap has grown
    /// afterwards; returns enough or at_limit. `launch` gives the heap to its kernels by set_arg()
    /// each time, since a heap that has grown is another buffer, and enqueues them on the device's
    /// queue, or waits for those on others. Throws what `launch` and look() throw.
    Growth run(const std::function<void(Heap &heap, unsigned repetition)> &launch);

    /// For those who launch by themselves: waits for the device's queue, reads four bytes of the
    /// error log, and if they tell that requests were refused for want of memory since the last
    /// look, or since the runner was made, grows the heap to twice its bytes or to the limit.
    /// Throws Error as Heap::grow does: if there is no memory for both sizes at once, say.
    Growth look();

    /// How often the heap has grown.
    unsigned growths() const noexcept { return growths_; }

    /// Requests that were refused before the heap had grown enough.
    std::uint64_t refused() const noexcept { return refused_; }

private:
    Heap &heap_;
    std::uint64_t limit_;
    std::unique_ptr<Refusals> refusals_;
    unsigned growths_ = 0;
    std::uint64_t refused_ = 0;
};

} // namespace kma
