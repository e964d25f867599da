// Work that makes work, in rounds (cl/kma/containers/work_queue.cl), in a heap.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "kma/array_list.hpp"

namespace kma {

/// A work queue in a heap: the items of a round, which one kernel works on, and those of the next
/// one, which that adds. A handle: it knows the queue's ref, and not whether the heap still has it.
/// Copies mean the same queue; destroying one frees nothing: destroy() does, as do the heap's reset
/// and end. Every call takes the heap, waits for the device's queue, and throws Error if `heap` is
/// of another kind or KMA_DEBUG than the queue was made for.
class WorkQueue {
public:
    /// Makes a queue for items of `item_bytes` bytes, of which there are none yet; `options` are
    /// those of its bundles, `room` of no meaning. Throws Error if these are impossible, or if the
    /// heap has no memory for it.
    WorkQueue(const Device &device, const Heap &heap, std::uint32_t item_bytes,
              const ArrayListOptions &options = {});

    /// What a queue takes of its heap, for Heap::bytes_for, if no round has more than `items` items
    /// and none is put aside: as ArrayList::blocks_for, twice, and the queue.
    static std::vector<BlockDemand> blocks_for(std::uint64_t items, std::uint32_t item_bytes,
                                               const ArrayListOptions &options = {});

    /// What kernels take as `kma_ref`, and hand to kma_work_queue_at.
    Ref ref() const noexcept { return ref_; }

    /// Makes the queue argument number `index` of `kernel`, a kma_ref.
    void set_arg(cl::Kernel &kernel, cl_uint index) const { kernel.setArg(index, ref_); }

    /// How many items are worked on in this round.
    std::uint32_t now(const Heap &heap) const;

    /// How many have been added for the next one.
    std::uint32_t next(const Heap &heap) const;

    /// Adds items for the next round. Throws Error if the heap has no memory for all of them (some
    /// may be added), or if sizeof(T) is not the items' size.
    template <class T> void add(const Heap &heap, std::span<const T> items) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        add(heap, items.data(), items.size(), sizeof(T));
    }

    /// Begins the next round: how many items it has, 0 if the work is done. What was worked on is
    /// dropped, or with `keep` put aside for back(). Throws Error if the heap has no memory for
    /// that; then nothing has changed. Without `keep` it needs none.
    std::uint32_t turn(const Heap &heap, bool keep = false) const;

    /// Goes back to the round that was put aside last: how many items it had; nothing if there is
    /// none. What is worked on, and what was added, is dropped.
    std::optional<std::uint32_t> back(const Heap &heap) const;

    /// Frees the queue and all that it has; no copy of this handle may be used any more.
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
