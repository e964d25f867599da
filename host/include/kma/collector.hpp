// A garbage collector: frees the typed objects of a heap that are not reachable from a root.
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
    /// Bytes of device memory, outside the heap, for the queue of objects to visit. 0: 1/16 of the
    /// heap's size when the collector is made, at least 1 MiB. With a small queue a collection may
    /// take longer, but does not fail.
    std::uint64_t queue_bytes = 0;
    /// Bytes of a region, the part of the heap that compact() empties as a whole: a power of two, 8
    /// KiB to 1 GiB.
    std::uint64_t region_bytes = 512 << 10;
    /// The largest share of the heap that compact() empties: more than 0, at most 1.
    double share = 0.1;
    /// Fill level up to which a region takes part: objects move into such regions only, and out of
    /// such regions only unless compact() has to free a block. More than 0, at most 1.
    double fullest = 0.75;
    /// Objects in blocks of more bytes are not moved: one work-item copies an object.
    std::uint32_t largest_moved = 1024;
    /// The most work-items of a step, for measurements. 0: as many as are useful on the device.
    std::uint32_t work_items = 0;
};

/// What a collection did.
struct Collection {
    std::uint64_t marked_objects; ///< objects and arrays that were kept
    /// their bytes, each rounded up to a multiple of 16, arrays with 16 more
    std::uint64_t marked_bytes;
    std::uint64_t freed_objects;  ///< objects and arrays that were freed
    std::uint64_t freed_bytes;    ///< their bytes, counted likewise
    unsigned rounds;              ///< launches in which objects were visited, rounded up to 16
    unsigned repeats;             ///< visits of all marked objects because a queue was full
    unsigned list_passes;         ///< searches for splitters of long lists
    double mark_milliseconds;     ///< from the first launch to the last mark
    double sweep_milliseconds;    ///< from the last mark to the last free
    std::string json() const;     ///< a JSON object with these names
};

/// What a compaction did.
struct Compaction {
    Collection collection;         ///< the collection before it
    std::uint64_t moved_objects;   ///< objects and arrays that were moved
    std::uint64_t moved_bytes;     ///< bytes of their blocks
    /// objects and arrays in sources for which no free slot was found
    std::uint64_t stayed_objects;
    unsigned regions;              ///< regions of the heap
    unsigned sources;              ///< regions chosen to be emptied
    unsigned targets;              ///< regions chosen to receive objects
    unsigned rewritten;            ///< regions that were searched for references
    /// to count the contents of all regions, and to choose sources and targets
    double census_milliseconds;
    double move_milliseconds;      ///< to find slots and move the objects
    double rewrite_milliseconds;   ///< to rewrite references
    double free_milliseconds;      ///< to free the originals
    std::string json() const;      ///< a JSON object with these names
};

/// Collects the garbage of a slab heap between kernels by a parallel mark and sweep on the device
/// (Veldema and Philippsen, Iterative data-parallel mark and sweep on a GPU, ISMM 2011). Blocks
/// without a type are not touched.
///
///     kma::Collector collector(heap, types);
///     kma::Collector::Roots roots = collector.add_roots(buffer, 1000); // 1,000 refs
///
///     collector.collect(); // reads them
///
/// The collector's tables take 7.03 % of the heap's maximal size, in the heap, as long as the heap
/// exists: kernels need them to make typed objects. The heap must outlive the collector and must
/// not be moved meanwhile.
class Collector {
public:
    /// Makes the tables in the heap, or uses those that an earlier Collector or the heap's file
    /// left there. Throws Error if the heap is no slab heap, has a Collector already, has no free
    /// space for the tables, or has tables for other types, and if `types` is empty.
    Collector(Heap &heap, const Types &types, const CollectorOptions &options = {});
    /// The moved-from collector may only be destroyed or assigned to. Roots stay registered.
    Collector(Collector &&) noexcept;
    /// As the move constructor. Ends the collector that was here; its tables stay in the heap.
    Collector &operator=(Collector &&) noexcept;
    ~Collector();

    /// The heap that it collects.
    Heap &heap() const;

    /// Registered roots; the destructor removes the registration. Move-only.
    class Roots {
    public:
        /// The moved-from object has no roots.
        Roots(Roots &&) noexcept;
        /// As the move constructor. The roots that were here are no longer registered.
        Roots &operator=(Roots &&) noexcept;
        ~Roots();

    private:
        friend class Collector;
        struct Entry;
        explicit Roots(std::shared_ptr<Entry> entry);
        std::shared_ptr<Entry> entry_;
    };

    /// Registers `count` refs of a buffer, from index `first` on; each may be KMA_NULL. Each
    /// collection reads them. Throws Error if the buffer is shorter.
    [[nodiscard]] Roots add_roots(const cl::Buffer &buffer, std::uint64_t count,
                                  std::uint64_t first = 0);

    /// Makes an object a root until unpin() was called as often as pin(). For refs that only the
    /// host holds.
    void pin(Ref ref);
    /// Undoes one pin(). Throws Error if the object is not pinned.
    void unpin(Ref ref);

    /// Frees all objects that are not reachable from a root. Waits for the queue.
    ///
    /// Throws Error and frees nothing if a root or a reference leads to no object of its type, as
    /// after a premature kma_delete or a write beyond a block; the message names it. Throws Error
    /// if the heap was reset since, or if the collector's tables were overwritten. Throws Error
    /// after freeing the other garbage if the tables contain types that do not exist.
    Collection collect();

    /// Collects, then moves objects out of sparsely filled regions into free slots of other
    /// regions, and rewrites all references to them in objects and registered roots. Any other copy
    /// of a ref must not be used afterwards. Blocks without a type, pinned objects and objects
    /// above CollectorOptions::largest_moved do not move, and a region with one of them is not
    /// emptied.
    ///
    /// `bytes` > 0: empties as many adjacent regions as a block of that size needs, those with the
    /// fewest bytes to move. 0: empties regions from the top of the heap into regions at its
    /// bottom, at most CollectorOptions::share of the heap. With KMA_DEBUG 2 and 3 it only
    /// collects, since guarded blocks cannot move. Throws Error as collect(), and, before it moves
    /// anything, if a buffer of roots is CL_MEM_READ_ONLY.
    ///
    /// Source: Veldema and Philippsen, Parallel memory defragmentation on a GPU (MSPC 2012):
    /// regions of 512 KiB, and a table of which regions have references into which.
    Compaction compact(std::uint64_t bytes = 0);

    /// Frees memory for a block of `bytes` bytes: collects; if that is not enough, compacts; if
    /// that is not enough, grows the heap as far as it may. Returns whether such a block is free
    /// now; always true for 0. Throws Error as compact() and Heap::grow().
    bool make_room(std::uint64_t bytes);

    /// Whether the heap has a free block of `bytes` bytes now.
    bool has_room(std::uint64_t bytes) const;

    /// The contents of 64 bytes of a heap.
    enum class Piece : std::uint8_t {
        nothing,
        object, ///< a typed object, garbage or not
        block,  ///< a block without a type, such as the collector's tables
    };
    /// The contents of the heap's memory for blocks, one value for each 64 bytes: for pictures of a
    /// heap before and after a compaction. Where several objects or blocks share 64 bytes, one of
    /// them. With KMA_DEBUG 2 and 3 all are Piece::block. Waits for the queue.
    std::vector<Piece> pieces();

    /// Bytes that a collector takes of a heap of at most `bytes` bytes.
    static std::uint64_t bytes_for(std::uint64_t bytes);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace kma
