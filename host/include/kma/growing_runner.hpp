// Repeats a launch that ran out of memory, on a larger heap.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "kma/heap.hpp"

namespace kma {

class Refusals;

/// What GrowingRunner found after a launch.
enum class Growth {
    enough,   ///< no request was refused for lack of memory
    grown,    ///< some were, and the heap has grown, to up to twice its bytes: launch again
    at_limit, ///< some were, and the heap has its maximal size; the error log has them
};

/// Grows a heap in which a kernel ran out of memory, to launch the kernel again.
///
/// The kernel must be repeatable. Nothing of the failed launch is undone: its blocks stay
/// allocated, its results stay written, and only some of its work-items were refused. There are two
/// ways:
///
/// 1. A work-item that gets NULL records its remaining work (the index of its next item, a result
///    that is still 0), and does only that in the next launch.
/// 2. The repetition starts from scratch, with Heap::reset() and cleared results.
///
/// A heap grows for ErrorCode::out_of_memory only, not for requests that are too large at any size
/// of the heap. When it grows, the log's out_of_memory entries since the last look() are removed,
/// because those requests will be repeated; refused() counts them. All other entries stay.
class GrowingRunner {
public:
    /// For later launches on `heap`, which must outlive the runner. `limit`: the most bytes to give
    /// the heap, capped by its HeapOptions::max_bytes. 0: max_bytes, or Device::max_buffer_bytes()
    /// if that is less. A heap without max_bytes is at its limit from the start.
    explicit GrowingRunner(Heap &heap, std::uint64_t limit = 0);
    /// The moved-from runner may only be destroyed.
    GrowingRunner(GrowingRunner &&) noexcept;
    ~GrowingRunner();

    /// Calls `launch(heap, repetition)` with repetition 0, 1, 2, … until look() returns enough or
    /// at_limit, and returns that. `launch` must call set_arg() each time, since a grown heap is
    /// another buffer, and must enqueue its kernels on the device's queue or wait for them. Throws
    /// what `launch` and look() throw.
    Growth run(const std::function<void(Heap &heap, unsigned repetition)> &launch);

    /// For programs with their own launch loop. Waits for the device's queue, and reads four bytes
    /// of the error log. Grows the heap to twice its bytes, or to the limit, if requests were
    /// refused for lack of memory since the last look() or since the runner was made. Throws Error
    /// as Heap::grow(), for instance if there is no memory for both sizes at once.
    Growth look();

    /// How often the heap grew.
    unsigned growths() const noexcept { return growths_; }

    /// Number of refused requests for which the launch was repeated.
    std::uint64_t refused() const noexcept { return refused_; }

private:
    Heap &heap_;
    std::uint64_t limit_;
    std::unique_ptr<Refusals> refusals_;
    unsigned growths_ = 0;
    std::uint64_t refused_ = 0;
};

} // namespace kma
