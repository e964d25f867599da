// A list of objects of one size that kernels let grow (cl/kma/containers/array_list.cl), made in a
// heap.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kma/device.hpp"
#include "kma/heap.hpp"
#include "kma/program.hpp"
#include "kma/snapshot.hpp"

namespace kma {

/// How an ArrayList is made.
struct ArrayListOptions {
    /// Where the first object of each block lies: a power of two, 1 to 4,096. Enough for the
    /// object's type if it is the type's alignment, as its size is a multiple of that.
    std::uint32_t align = 16;
    /// Objects of the first block, rounded up to a power of two, up to 2^30; 0: as many as have 4
    /// KiB, or one. A list has 65,536 blocks at most, and 2^30 objects. Blocks are what a list
    /// takes from its heap, so they must fit there (superblock, scatter: into one superblock).
    std::uint32_t objects_per_block = 0;
    /// Each block has twice as many objects as the one before until they have so many, rounded up
    /// to a power of two, up to 2^30. 0: if objects_per_block is given, as many as that; else as
    /// many as have 1 MiB, 1/64 of the heap's memory, or half a superblock, whichever is least.
    std::uint32_t most_objects_per_block = 0;
    /// Objects for which there is memory from the start; 0 counts as 1.
    std::uint32_t room = 1;
};

/// A list in a heap. A handle: it knows the list's ref, and not whether the heap still has it.
/// Copies mean the same list; destroying one frees nothing: destroy() does, as do the heap's reset
/// and end. The list goes on in a heap that grew, or was saved and loaded (see at()). Every call
/// takes the heap, waits for the device's queue, and throws Error if `heap` is of another kind or
/// KMA_DEBUG than the list was made for.
class ArrayList {
public:
    /// Makes an empty list for objects of `object_bytes` bytes. Throws Error if these, or the
    /// options, are impossible, or if the heap has no memory for the list and `room` objects; the
    /// message says how much that is.
    ArrayList(const Device &device, const Heap &heap, std::uint32_t object_bytes,
              const ArrayListOptions &options = {});

    /// The list that is there already: one that a kernel made by kma_array_list_new, or another
    /// ArrayList's ref(). Throws Error for ref 0.
    static ArrayList at(const Device &device, const Heap &heap, Ref list);

    /// What one list of up to `objects` objects takes of its heap, for Heap::bytes_for: itself, its
    /// blocks, and those that work-items may bring ahead for each other. Where neither option says
    /// how long blocks become, that is 1 MiB, so with those brought ahead 16 MiB at least: say
    /// most_objects_per_block for lists of modest length, and for small superblocks. Blocks should
    /// not be shorter than what is asked for at a time: of many that each bring several, none may
    /// have enough in the end, and a bump heap, which takes nothing back, loses a block each time
    /// that two bring the same one. Throws Error if `object_bytes` or the options are impossible,
    /// or the objects more than a list may have.
    static std::vector<BlockDemand> blocks_for(std::uint64_t objects, std::uint32_t object_bytes,
                                               const ArrayListOptions &options = {});

    /// What kernels take as `kma_ref`, and hand to kma_array_list_at.
    Ref ref() const noexcept { return ref_; }

    /// Makes the list argument number `index` of `kernel`, a kma_ref.
    void set_arg(cl::Kernel &kernel, cl_uint index) const { kernel.setArg(index, ref_); }

    /// How many objects there are.
    std::uint32_t size(const Heap &heap) const { return counts(heap)[0]; }

    /// For how many objects there is memory, those that there are among them.
    std::uint32_t room(const Heap &heap) const { return counts(heap)[1]; }

    /// Frees all objects; the list is there, and empty. In the bump heap their memory comes back by
    /// reset() only.
    void clear(const Heap &heap) const { end(heap, true); }

    /// Frees all objects and the list; no copy of this handle may be used any more.
    void destroy(const Heap &heap) const { end(heap, false); }

    /// The objects from `first` on, `count` of them, in the order of their indices. Throws Error if
    /// they are not all there, or if sizeof(T) is not the objects' size.
    template <class T>
    std::vector<T> read(const Heap &heap, std::uint32_t first, std::uint32_t count) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        std::vector<T> objects(count);
        copy(heap, first, count, objects.data(), sizeof(T));
        return objects;
    }
    /// All of them.
    template <class T> std::vector<T> read(const Heap &heap) const
    {
        return read<T>(heap, 0, size(heap));
    }

private:
    ArrayList(const Device &device, Program program, Ref list)
        : device_(device), program_(std::move(program)), ref_(list)
    {
    }
    std::vector<std::uint32_t> counts(const Heap &heap) const;
    void end(const Heap &heap, bool keep) const;
    void copy(const Heap &heap, std::uint32_t first, std::uint32_t count, void *to,
              std::size_t object_bytes) const;
    cl::Kernel kernel(const char *name, const Heap &heap) const;

    Device device_;
    Program program_;
    Ref ref_ = 0;
};

/// An array list in a Snapshot of its heap: to be looked at without copying once more. Refers to
/// the snapshot.
class ArrayListView {
public:
    /// Throws Error if there is no list at `list`, as far as its data tell.
    ArrayListView(const Snapshot &snapshot, Ref list);

    /// How many objects there are.
    std::uint32_t size() const noexcept { return size_; }
    /// Bytes of an object.
    std::uint32_t object_bytes() const noexcept { return object_bytes_; }

    /// Object `index`. Throws Error if it is not below size(), if sizeof(T) is not object_bytes(),
    /// or if the ref to its block leads nowhere.
    template <class T> const T &at(std::uint32_t index) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        return *reinterpret_cast<const T *>(find(index, sizeof(T)).data());
    }

    /// The objects from `index` on that lie side by side with it: up to the end of its block.
    /// Throws as at() does.
    template <class T> std::span<const T> run(std::uint32_t index) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::span<const std::byte> bytes = find(index, sizeof(T));
        return {reinterpret_cast<const T *>(bytes.data()), bytes.size() / sizeof(T)};
    }

private:
    std::span<const std::byte> find(std::uint32_t index, std::size_t object_bytes) const;

    const Snapshot *snapshot_;
    Ref list_;
    std::uint32_t size_ = 0;
    std::uint32_t object_bytes_ = 0;
    std::uint32_t shift_ = 0;
    std::uint32_t doublings_ = 0;
};

} // namespace kma
