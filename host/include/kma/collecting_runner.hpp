// Launches that find the heap full, and are made once more when garbage was collected.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "kma/collector.hpp"

namespace kma {

class Refusals;

/// What CollectingRunner found after a launch.
enum class Room {
    enough, ///< no request was refused for want of memory
    made,   ///< some were, and there is more memory now: launch again
    none,   ///< some were, and the heap holds hardly anything but what is in use; the error log
            ///< tells of them
};

/// Makes room in a heap when a kernel ran out of memory in it, so that the kernel can be launched
/// once more: collects garbage, and lets the heap grow if that freed little.
///
/// The kernel must be one that can be launched again, as for GrowingRunner: a work-item that gets
/// NULL leaves a mark of what it has still to do, and does that when it runs again. What it made so
/// far lives on only if a root leads to it. Each launch must do some of the work.
class CollectingRunner {
public:
    /// For launches on the collector's heap; both outlive the runner. `limit` as for GrowingRunner.
    /// `may_move`: it compacts, too, if a block of more than 8 KiB was refused, which needs so many
    /// bytes side by side, and one of the error log's first eight records says so. Then refs must
    /// be in objects and registered roots alone (Collector::compact).
    CollectingRunner(Heap &heap, Collector &collector, std::uint64_t limit = 0,
                     bool may_move = false);
    /// Leaves the other to be destroyed only.
    CollectingRunner(CollectingRunner &&) noexcept;
    ~CollectingRunner();

    /// Calls `launch(heap, repetition)`, 0 at first, then 1, 2, … as long as room was made
    /// afterwards; returns enough or none. `launch` as for GrowingRunner. Throws what `launch` and
    /// look() throw.
    Room run(const std::function<void(Heap &heap, unsigned repetition)> &launch);

    /// What run() does after each launch, for programs that launch by themselves. Waits for the
    /// device's queue, reads four bytes of the error log, and collects if requests were refused for
    /// want of memory since the last look. A heap that may grow gets twice its bytes then if less
    /// than a sixteenth of it was freed, if more than half of it lives on, or at every eighth such
    /// look in a row. Where it may not, less than a 64th that was freed counts as none. Where
    /// memory was made, the log's entries of the refused requests go. Throws Error as
    /// Collector::compact() and Heap::grow().
    Room look();

    /// How often garbage was collected, but for the collections that are part of a compaction.
    unsigned collections() const noexcept { return collections_; }

    /// How often it compacted.
    unsigned compactions() const noexcept { return compactions_; }

    /// How often the heap has grown.
    unsigned growths() const noexcept { return growths_; }

    /// Requests that were refused before there was room.
    std::uint64_t refused() const noexcept { return refused_; }

    /// Objects that were freed, in all collections.
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
    unsigned in_a_row_ = 0; // looks that found requests refused
};

} // namespace kma
