// A collector: frees the typed objects of a heap that no root leads to.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kma/heap.hpp"
#include "kma/program.hpp"
#include "kma/types.hpp"

namespace kma {

/// How a collector is made.
struct CollectorOptions {
    /// Bytes of device memory beside the heap for the objects that are known and not visited yet;
    /// 0: a sixteenth of what the heap has when the collector is made, and 1 MiB at least. With
    /// less a collection may take longer; it never fails for that.
    std::uint64_t queue_bytes = 0;
    /// Bytes of a region, of which compact() empties some: a power of two, 8 KiB to 1 GiB.
    std::uint64_t region_bytes = 512 << 10;
    /// The part of the heap that compact() empties at most: more than 0, at most 1.
    double share = 0.1;
    /// Objects move out of regions that are at most so full, unless compact() is asked for room for
    /// a block, and into such: more than 0, at most 1.
    double fullest = 0.75;
    /// Objects in blocks of more bytes are not moved. A work-item moves one.
    std::uint32_t largest_moved = 1024;
    /// Work-items that a step has at most, to measure what more of them bring; 0: as many as are of
    /// use.
    std::uint32_t work_items = 0;
};

/// What a collection did.
struct Collection {
    std::uint64_t marked_objects; ///< objects and arrays that live on
    /// of these, each rounded up to a multiple of 16, arrays with 16 more
    std::uint64_t marked_bytes;
    std::uint64_t freed_objects;  ///< objects and arrays that were freed
    std::uint64_t freed_bytes;    ///< the same of these
    unsigned rounds;              ///< launches in which objects were visited, rounded up to 16
    unsigned repeats;             ///< visits of all marked objects because a queue was full
    unsigned list_passes;         ///< searches for more places on long lists at which to visit
    double mark_milliseconds;     ///< from the first launch until all was marked
    double sweep_milliseconds;    ///< until all else was freed
    std::string json() const;     ///< an object with these names
};

/// What a compaction did.
struct Compaction {
    Collection collection;         ///< the collection before it
    std::uint64_t moved_objects;   ///< objects and arrays that have another place now
    std::uint64_t moved_bytes;     ///< of their blocks
    std::uint64_t stayed_objects;  ///< those in sources for which there was no free slot
    unsigned regions;              ///< of the heap
    unsigned sources;              ///< regions that were to be emptied
    unsigned targets;              ///< regions with slots for what was there
    unsigned rewritten;            ///< regions whose references were looked at
    double census_milliseconds;    ///< to count what is in all regions, and choose some
    double move_milliseconds;      ///< to find slots and move the objects
    double rewrite_milliseconds;   ///< to rewrite references
    double free_milliseconds;      ///< to free the originals
    std::string json() const;      ///< an object with these names
};

/// Collects the garbage of a slab heap between kernels: mark and sweep, all in parallel on the
/// device (Veldema and Philippsen, Iterative data-parallel mark and sweep on a GPU, ISMM 2011).
/// Memory without a type lives beside it, untouched.
///
///     kma::Collector collector(heap, types);
///     kma::Collector::Roots roots = collector.add_roots(buffer, 1000); // 1,000 refs
///
///     collector.collect(); // reads them
///
/// The collector takes 7.03 % of the most bytes that the heap may have, in the heap, for as long as
/// the heap exists: kernels need it to make typed objects. The heap must outlive it, and keep its
/// place.
class Collector {
public:
    /// Throws Error for a heap that is no slab heap or has a Collector, without types, and if the
    /// heap has no free space for the tables. Tables that the heap has from an earlier Collector,
    /// or from its file, are used again; throws Error if they are of other types.
    Collector(Heap &heap, const Types &types, const CollectorOptions &options = {});
    /// Leaves the other to be destroyed or assigned to only; roots stay registered.
    Collector(Collector &&) noexcept;
    /// The same; the collector that was here ends, not its tables.
    Collector &operator=(Collector &&) noexcept;
    ~Collector();

    /// Roots that are registered for as long as this lives. Move-only.
    class Roots {
    public:
        /// Leaves the other without roots.
        Roots(Roots &&) noexcept;
        /// The same; the roots that were here are registered no more.
        Roots &operator=(Roots &&) noexcept;
        ~Roots();

    private:
        friend class Collector;
        struct Entry;
        explicit Roots(std::shared_ptr<Entry> entry);
        std::shared_ptr<Entry> entry_;
    };

    /// Registers `count` refs, or KMA_NULLs, from number `first` of a buffer on, which each
    /// collection reads. Throws Error if the buffer is shorter.
    [[nodiscard]] Roots add_roots(const cl::Buffer &buffer, std::uint64_t count,
                                  std::uint64_t first = 0);

    /// Makes an object a root until unpin() has been called as often as pin(): for refs that only
    /// the host holds.
    void pin(Ref ref);
    /// Throws Error if the object is not pinned.
    void unpin(Ref ref);

    /// Frees all objects to which no reference leads from a root, directly or through other
    /// objects. Waits for the queue. Throws Error, and frees nothing, if a root or a reference
    /// leads to no object of its type, as after a kma_delete too early or a write beyond a block:
    /// the message says which. Throws Error if the heap was reset since, if the collector's tables
    /// were written over, and, after all else was freed, if they have objects of types that there
    /// are not.
    Collection collect();

    /// Collects, then moves objects out of thinned-out regions of the heap into free slots of
    /// others and rewrites all references to them: in objects and in registered roots. What else
    /// holds a ref of an object must not be used any more. Memory without a type, pinned objects
    /// and those above CollectorOptions::largest_moved stay, and no region with one of them is
    /// emptied.
    ///
    /// With `bytes` it empties as many regions side by side as a block of so many bytes needs,
    /// those with the least to move; with 0 regions from the top of the heap, into those at its
    /// bottom, CollectorOptions::share of the heap at most. In heaps of KMA_DEBUG 2 and 3 it only
    /// collects: guarded blocks keep their places. Throws Error as collect(), and if a buffer of
    /// roots is CL_MEM_READ_ONLY; then nothing was moved.
    ///
    /// Veldema and Philippsen, Parallel memory defragmentation on a GPU (MSPC 2012), compact
    /// regions of 512 KiB likewise, and keep a table of which have references into which.
    Compaction compact(std::uint64_t bytes = 0);

    /// Makes room for a block of so many bytes: collects; then, if that was not enough, compacts
    /// for it; then lets a heap that may do so grow. Returns whether there is a block now; of no
    /// bytes there always is. Throws Error as compact() and Heap::grow().
    bool make_room(std::uint64_t bytes);

    /// Whether the heap has a block of so many bytes now.
    bool has_room(std::uint64_t bytes) const;

    /// What each 64 bytes of a heap have.
    enum class Piece : std::uint8_t {
        nothing,
        object, ///< typed objects, garbage or not
        block,  ///< memory without a type, such as the collector's own
    };
    /// What the memory has that blocks lie in, from its first 64 bytes on: for pictures of a heap
    /// before and after a compaction. Where several things share 64 bytes, one of them. In heaps of
    /// KMA_DEBUG 2 and 3 all are blocks. Waits for the queue.
    std::vector<Piece> pieces();

    /// Bytes that a collector takes of a heap that has, or may grow to have, `bytes`.
    static std::uint64_t bytes_for(std::uint64_t bytes);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace kma
