// Repeats a launch that ran out of memory, after collecting garbage.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "kma/collector.hpp"

namespace kma {

class Refusals;

/// What CollectingRunner found after a launch.
enum class Room {
    enough, ///< no request was refused for lack of memory
    made,   ///< some were, and more memory is free now: launch again
    none,   ///< some were, and hardly any memory could be freed; the error log has them
};

/// Frees memory in a heap in which a kernel ran out of memory, to launch the kernel again: collects
/// garbage, and grows the heap if that freed little.
///
/// The kernel must be repeatable, as for GrowingRunner: a work-item that gets NULL records its
/// remaining work and does only that in the next launch. Objects that it made so far survive only
/// if reachable from a root. Each launch must make progress.
class CollectingRunner {
public:
    /// For launches on the collector's heap; both must outlive the runner. `limit` as for
    /// GrowingRunner.
    ///
    /// `may_move`: also compacts if a block of more than 8 KiB, which needs contiguous memory, was
    /// refused and is among the error log's first eight records. Refs may then exist only in
    /// objects and registered roots (Collector::compact).
    explicit CollectingRunner(Collector &collector, std::uint64_t limit = 0, bool may_move = false);
    /// The moved-from runner may only be destroyed.
    CollectingRunner(CollectingRunner &&) noexcept;
    ~CollectingRunner();

    /// Calls `launch(heap, repetition)` with repetition 0, 1, 2, … until look() returns enough or
    /// none, and returns that. `launch` as for GrowingRunner. Throws what `launch` and look()
    /// throw.
    Room run(const std::function<void(Heap &heap, unsigned repetition)> &launch);

    /// What run() does after each launch, for programs with their own launch loop. Waits for the
    /// device's queue, and reads four bytes of the error log. Collects if requests were refused for
    /// lack of memory since the last look(). Throws Error as Collector::compact() and Heap::grow().
    ///
    /// 1. A heap that may grow doubles if less than 1/16 of it was freed, if more than half of it
    ///    is still in use, or at every eighth such look() in a row.
    /// 2. A heap that may not grow counts as full (Room::none) if less than 1/64 of it was freed.
    /// 3. If more memory is free now, the log's entries of the refused requests are removed.
    Room look();

    /// Number of collections, without those that are part of a compaction.
    unsigned collections() const noexcept { return collections_; }

    /// Number of compactions.
    unsigned compactions() const noexcept { return compactions_; }

    /// How often the heap grew.
    unsigned growths() const noexcept { return growths_; }

    /// Number of refused requests for which the launch was repeated.
    std::uint64_t refused() const noexcept { return refused_; }

    /// Number of objects freed in all collections.
    std::uint64_t freed_objects() const noexcept { return freed_objects_; }

private:
    bool move();

    Heap &heap_;
    Collector &collector_;
    std::uint64_t limit_;
    bool may_move_;
    std::unique_ptr<Refusals> refusals_;
    unsigned collections_ = 0;
    unsigned compactions_ = 0;
    unsigned growths_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t freed_objects_ = 0;
    unsigned in_a_row_ = 0; // consecutive looks that found refused requests
};

} // namespace kma
