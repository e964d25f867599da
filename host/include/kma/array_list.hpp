// Array lists in a heap: objects of one size, appended by kernels
// (cl/kma/containers/array_list.cl).
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kma/heap_resident.hpp"
#include "kma/snapshot.hpp"

namespace kma {

/// How an ArrayList is made.
struct ArrayListOptions {
    /// Alignment of the first object of each block, in bytes: a power of two, 1 to 4,096. The
    /// alignment of the objects' type suffices, since the type's size is a multiple of it.
    std::uint32_t align = 16;
    /// Objects in the first block, up to 2^30, rounded up to a power of two. 0: as many as fit into
    /// 4 KiB, at least one. A list has at most 65,536 blocks and 2^30 objects. Each block is a
    /// block of the heap and must fit there: in a superblock or scatter heap, into one superblock.
    std::uint32_t objects_per_block = 0;
    /// The most objects in a block, up to 2^30, rounded up to a power of two; below that, a block
    /// has twice as many as the previous one. 0: objects_per_block if that is given; else as many
    /// as fit into the least of 1 MiB, 1/64 of the heap's memory, and half a superblock.
    std::uint32_t most_objects_per_block = 0;
    /// Objects to reserve memory for from the start; 0 counts as 1.
    std::uint32_t room = 1;
};

/// An array list in a heap (see HeapResident). It persists in a heap that was saved and loaded:
/// at() makes a handle to it.
class ArrayList : public HeapResident {
public:
    /// Makes an empty list for objects of `object_bytes` bytes. Throws Error if `object_bytes` or
    /// the options are impossible, or if the heap has no memory for the list and `room` objects;
    /// the message names the bytes.
    ArrayList(const Heap &heap, std::uint32_t object_bytes, const ArrayListOptions &options = {});

    /// A handle to an existing list: the ref that kma_array_list_new returned in a kernel, or
    /// another ArrayList's ref(). Throws Error for ref 0.
    static ArrayList at(const Heap &heap, Ref list);

    /// The blocks of the heap that one list of up to `objects` objects needs, for Heap::bytes_for:
    /// the list itself, its blocks, and blocks that work-items may allocate ahead. Throws Error if
    /// `object_bytes` or the options are impossible, or if a list cannot have so many objects.
    ///
    /// If neither option limits the blocks, they grow to 1 MiB, and those allocated ahead need at
    /// least 16 MiB: set most_objects_per_block for short lists and for small superblocks. A block
    /// should hold at least as many objects as one call appends. If many work-items each allocate
    /// several blocks for one call, none may get enough; and a bump heap, which reuses nothing,
    /// loses a block whenever two work-items allocate the same one.
    static std::vector<BlockDemand> blocks_for(std::uint64_t objects, std::uint32_t object_bytes,
                                               const ArrayListOptions &options = {});

    /// How many objects there are.
    std::uint32_t size() const { return counts()[0]; }

    /// How many objects the list has memory for, including those that exist.
    std::uint32_t room() const { return counts()[1]; }

    /// Frees all objects; the list is empty then. In a bump heap only reset() recovers their
    /// memory.
    void clear() const { end(true); }

    /// Frees all objects and the list. No copy of this handle may be used afterwards.
    void destroy() const { end(false); }

    /// Copies `count` objects from index `first` on, in the order of their indices. Throws Error if
    /// the list has fewer, or if sizeof(T) is not the objects' size.
    template <class T> std::vector<T> read(std::uint32_t first, std::uint32_t count) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        std::vector<T> objects(count);
        copy(first, count, objects.data(), sizeof(T));
        return objects;
    }
    /// Copies all objects.
    template <class T> std::vector<T> read() const { return read<T>(0, size()); }

private:
    struct Known {
        Ref ref; ///< 0: not yet
    };
    ArrayList(const Heap &heap, Known list);
    std::vector<std::uint32_t> counts() const;
    void end(bool keep) const;
    void copy(std::uint32_t first, std::uint32_t count, void *to, std::size_t object_bytes) const;
};

/// An array list in a Snapshot of its heap, read without another copy. Refers to the snapshot,
/// which must outlive it.
class ArrayListView {
public:
    /// Throws Error if the data at `list` cannot be a list's.
    ArrayListView(const Snapshot &snapshot, Ref list);

    /// How many objects there are.
    std::uint32_t size() const noexcept { return size_; }
    /// Bytes of an object.
    std::uint32_t object_bytes() const noexcept { return object_bytes_; }

    /// Object `index`. Throws Error if it is not below size(), if sizeof(T) is not object_bytes(),
    /// or if the ref to its block is invalid.
    template <class T> const T &at(std::uint32_t index) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        return *reinterpret_cast<const T *>(find(index, sizeof(T)).data());
    }

    /// The contiguous objects from `index` to the end of its block. Throws as at() does.
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
