// Work queues in a heap: kernels process the items of a round and add those of the next
// (cl/kma/containers/work_queue.cl).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "kma/array_list.hpp"

namespace kma {

/// A work queue in a heap (see HeapResident): the items of the current round, which one kernel
/// processes, and those of the next round, which that kernel adds.
class WorkQueue : public HeapResident {
public:
    /// Makes an empty queue for items of `item_bytes` bytes. `options` apply to its array lists;
    /// `room` is ignored. Throws Error if `item_bytes` or the options are impossible, or if the
    /// heap has no memory for the queue.
    WorkQueue(const Heap &heap, std::uint32_t item_bytes, const ArrayListOptions &options = {});

    /// The blocks of the heap that a queue needs, for Heap::bytes_for, if no round has more than
    /// `items` items and none is put aside: those of two array lists (ArrayList::blocks_for), and
    /// the queue.
    static std::vector<BlockDemand> blocks_for(std::uint64_t items, std::uint32_t item_bytes,
                                               const ArrayListOptions &options = {});

    /// Number of items of the current round.
    std::uint32_t now() const;

    /// Number of items added for the next round.
    std::uint32_t next() const;

    /// Adds items for the next round. Throws Error if the heap has no memory for all of them, of
    /// which some may have been added, or if sizeof(T) is not the items' size.
    template <class T> void add(std::span<const T> items) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        add(items.data(), items.size(), sizeof(T));
    }

    /// Begins the next round and returns its number of items: 0 if the work is done. Drops the
    /// items of the current round or, with `keep`, puts them aside for back(). Throws Error and
    /// changes nothing if the heap has no memory for that; without `keep` it needs none.
    std::uint32_t turn(bool keep = false) const;

    /// Returns to the round that was put aside last, and returns its number of items; nullopt if
    /// there is none. Drops the items of the current round and those added for the next.
    std::optional<std::uint32_t> back() const;

    /// Frees the queue and its items. No copy of this handle may be used afterwards.
    void destroy() const;

private:
    struct Told { // kma_work_told
        cl_uint done, now, next;
    };
    Told ask(cl::Kernel &kernel, cl_uint argument) const;
    void add(const void *items, std::size_t count, std::size_t item_bytes) const;

    std::uint32_t item_bytes_;
};

} // namespace kma
