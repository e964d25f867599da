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

/// A work queue in a heap: the items of the current round, which one kernel processes, and those of
/// the next round, which that kernel adds. A handle: it holds the queue's ref and does not know
/// whether the queue still exists. Copies refer to the same queue. The destructor frees nothing;
/// destroy(), the heap's reset and the heap's end do.
///
/// Every call takes the heap, waits for the device's queue, and throws Error if `heap` has another
/// kind or KMA_DEBUG than the queue was made for.
class WorkQueue {
public:
    /// Makes an empty queue for items of `item_bytes` bytes. `options` apply to its array lists;
    /// `room` is ignored. Throws Error if `item_bytes` or the options are impossible, or if the
    /// heap has no memory for the queue.
    WorkQueue(const Device &device, const Heap &heap, std::uint32_t item_bytes,
              const ArrayListOptions &options = {});

    /// The blocks of the heap that a queue needs, for Heap::bytes_for, if no round has more than
    /// `items` items and none is put aside: those of two array lists (ArrayList::blocks_for), and
    /// the queue.
    static std::vector<BlockDemand> blocks_for(std::uint64_t items, std::uint32_t item_bytes,
                                               const ArrayListOptions &options = {});

    /// What kernels take as `kma_ref`, and hand to kma_work_queue_at.
    Ref ref() const noexcept { return ref_; }

    /// Makes the queue argument number `index` of `kernel`, a kma_ref.
    void set_arg(cl::Kernel &kernel, cl_uint index) const { kernel.setArg(index, ref_); }

    /// Number of items of the current round.
    std::uint32_t now(const Heap &heap) const;

    /// Number of items added for the next round.
    std::uint32_t next(const Heap &heap) const;

    /// Adds items for the next round. Throws Error if the heap has no memory for all of them, of
    /// which some may have been added, or if sizeof(T) is not the items' size.
    template <class T> void add(const Heap &heap, std::span<const T> items) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        add(heap, items.data(), items.size(), sizeof(T));
    }

    /// Begins the next round and returns its number of items: 0 if the work is done. Drops the
    /// items of the current round or, with `keep`, puts them aside for back(). Throws Error and
    /// changes nothing if the heap has no memory for that; without `keep` it needs none.
    std::uint32_t turn(const Heap &heap, bool keep = false) const;

    /// Returns to the round that was put aside last, and returns its number of items; nullopt if
    /// there is none. Drops the items of the current round and those added for the next.
    std::optional<std::uint32_t> back(const Heap &heap) const;

    /// Frees the queue and its items. No copy of this handle may be used afterwards.
    void destroy(const Heap &heap) const;

private:
    struct Told { // kma_work_told
        cl_uint done, now, next;
    };
    Told ask(cl::Kernel &kernel, cl_uint argument) const;
    void add(const Heap &heap, const void *items, std::size_t count, std::size_t item_bytes) const;
    cl::Kernel kernel(const char *name, const Heap &heap) const;

    Device device_;
    Program program_;
    std::uint32_t item_bytes_ = 0;
    Ref ref_ = 0;
};

} // namespace kma
