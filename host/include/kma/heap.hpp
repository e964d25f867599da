// A heap that kernels allocate from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kma/device.hpp"
#include "kma/heap_errors.hpp"
#include "kma/heap_options.hpp"
#include "kma/heap_stats.hpp"
#include "kma/leak_report.hpp"
#include "kma/mapped_range.hpp"
#include "kma/snapshot.hpp"

namespace kma {

class HeapDriver;

/// A heap in device memory. Owns the memory; move-only. All host calls go through the device's
/// queue and wait for it, so they see what kernels enqueued there before have done; kernels on
/// other queues must have ended.
///
/// What reads the heap throws Error if its metadata are not those of this heap (a kernel wrote over
/// them); check() says in what they differ.
class Heap {
public:
    /// Allocates `bytes` and runs the init kernel. Throws Error if `bytes` is less than metadata
    /// and one block, or one superblock or page, need (bump: 2,704, debug 2,720, from 2 on 8,016),
    /// more than refs reach or the driver serves in one buffer, if superblock_bytes or page_bytes
    /// is impossible or makes more superblocks than 32-bit atomics can number, if options.max_bytes
    /// is less than `bytes` or more than refs reach, if the device's memory is full, or if SVM is
    /// asked for where there is none. The messages name a size that would do, as far as kma knows
    /// one. Throws Error if the device fails the selftest, which the first heap on a Device runs
    /// (see there).
    Heap(const Device &device, std::uint64_t bytes, const HeapOptions &options = {});
    /// Leaves the other without a heap: what is called on it throws Error, until a heap is assigned
    /// to it.
    Heap(Heap &&) noexcept;
    /// The same; the heap that was here is destroyed.
    Heap &operator=(Heap &&) noexcept;
    ~Heap();

    /// The buffer size that leaves `payload` bytes for blocks (HeapStats::capacity), metadata
    /// beside. Bump: sizes of blocks count rounded up to 16, and 16 more with debug 1, 64 more with
    /// 2 and 3. Superblocks, pages: whole; which blocks these bytes suffice for, only the sizes of
    /// all of them tell, see below. Of `options`, kind, debug, superblock_bytes, page_bytes and
    /// max_bytes count; for a heap that grows this is the size at the start.
    static std::uint64_t bytes_for(const HeapOptions &options, std::uint64_t payload);
    /// The same for a kind with its other options as they are by default.
    static std::uint64_t bytes_for(HeapKind kind, std::uint64_t payload);

    /// A buffer size that suffices for all of these blocks to live at once, in whatever order they
    /// are asked for, if none is freed before; in the bump heap, for as many to be asked for from
    /// one reset to the next. `options` are those that the heap will be made with, as above. Blocks
    /// of 0 bytes need nothing.
    ///
    /// Superblock heap: each size has superblocks of its own, and one more than it fills, because
    /// work-items that get a superblock while others get one for the same size hold it for a
    /// moment. Several may at once: add superblocks if thousands of work-items on a GPU share a
    /// heap that is to be just large enough. Add as well where blocks come and go, half as many
    /// again say: a size takes a free superblock rather than those of its own with hardly a hole.
    ///
    /// Scatter heap: each size has the pages that it fills and some more, and blocks above a page
    /// count as if nothing else were in their super blocks. Where both live in one heap this is no
    /// guarantee, since a smaller block may lie in the way of a larger one: ask for the large ones
    /// first, or add a super block for each of them.
    ///
    /// Slab heap: each size up to 1 KiB has twice the pages that it fills, since slabs of lanes
    /// that ask together may leave half of their lines unused, and up to 8,192 more. Blocks above 8
    /// KiB count up to four times where others lie between them. Where several sizes above 8 KiB
    /// live in one heap this is no guarantee either.
    ///
    /// The result may be more than any device, or options.max_bytes, allows; the largest number
    /// stands for more than 2^64 bytes. Throws Error for a block larger than
    /// options.superblock_bytes, or than 2 MiB where that is 0 (superblock heap; scatter heap: 8
    /// MiB).
    static std::uint64_t bytes_for(const HeapOptions &options,
                                   const std::vector<BlockDemand> &blocks);

    /// Writes the heap to a file: its metadata and the memory handed out, so that a heap with
    /// little in it makes a small file. A file of that name is replaced once the new one is
    /// complete, which is written beside it; its mode stays, and symbolic links to it. The file is
    /// for machines of the same byte order. Several threads and programs may save to one name: the
    /// last one's file stays. Throws Error if the file cannot be written, or if the name is that of
    /// a folder, a pipe or a device.
    void save(const std::filesystem::path &path) const;

    /// A heap with what save() wrote: kind, sizes, debug, superblocks and what else was planned are
    /// the file's, whatever device made it; all refs mean the same, and malloc, free and growth go
    /// on. `build_options` as in HeapOptions. All that kernels will follow is checked; what was
    /// written over in and around blocks is left to check(). Throws Error if the file is no heap,
    /// damaged or of another version, if it has superblocks and was saved with atomics of the other
    /// width than the kernels of `device` have, or as the constructor does.
    static Heap load(const Device &device, const std::filesystem::path &path,
                     Storage storage = Storage::buffer, const std::string &build_options = {});

    /// Makes the heap argument number `index` of `kernel`, whose parameter is a `global kma_heap
    /// *`. Again after each grow(). Throws Error if the kernel has no such argument, is of another
    /// context or not built for the heap's device, if the argument is no pointer to global memory,
    /// or if it is a heap of another kind or KMA_DEBUG (which shows only in programs built by
    /// kma::Program, or with -cl-kernel-arg-info, and not where NVIDIA's compiler cannot do that:
    /// in a program with a kernel that has no parameters).
    void set_arg(cl::Kernel &kernel, cl_uint index) const;

    /// The memory as a buffer, until grow() makes it another one. Throws Error for Storage::svm.
    const cl::Buffer &buffer() const;

    /// The memory's address, the same on device and host, until grow() makes it another one. Throws
    /// Error for Storage::buffer.
    void *svm() const;

    /// The options it was made with; superblock_bytes is what was chosen.
    const HeapOptions &options() const;

    /// The heap in numbers; runs a kernel that counts.
    HeapStats stats() const;

    /// Walks every structure of the metadata of a heap at rest and says of each invariant that is
    /// broken, in a sentence, which and by what numbers; of one kind the first ten, and how many
    /// more. Empty: all is well. With debug 2 and 3 it also looks over all blocks: the red zones of
    /// those that live, the poison in those that were freed and not handed out again. Damage does
    /// not make it throw; only an OpenCL error does.
    std::vector<std::string> check() const;

    /// The blocks that are handed out and not freed, the first `most` of them one by one; with
    /// debug 2 also who took each, with 3 where. Throws Error for the bump heap with debug 0, which
    /// does not know.
    LeakReport leaks(std::size_t most = 100) const;

    /// The first eight errors of each code, code by code.
    std::vector<ErrorRecord> errors() const;

    /// How often an error happened since the log was empty, up to about 2^31; reads these four
    /// bytes only.
    std::uint64_t error_count(ErrorCode code) const;

    /// errors() and their counts as text, lines that end with a newline; empty if there were none.
    std::string error_text() const;

    /// Gives the heap `bytes` in all, from now on, up to options().max_bytes: what kernels found
    /// full has room again. Blocks stay where they are, all refs and the error log stay as they
    /// are. The memory is another, into which what is in use is copied on the device, so for a
    /// moment there are both: set_arg() the heap anew for every kernel, and ask buffer() or svm()
    /// again; raw pointers into the heap that kernels or the host kept are void, and so is a
    /// MappedRange, which must end before. A heap that has `bytes` already stays as it is.
    ///
    /// Throws Error, and the heap stays as it was, if it has more than `bytes`, was made without
    /// max_bytes or with less than `bytes`, if the driver serves no buffer of that size, or has no
    /// memory for it beside the old one.
    void grow(std::uint64_t bytes);

    /// Bytes of the memory; what it was made with, or what the last grow() gave it.
    std::uint64_t bytes() const;

    /// Frees all blocks at once; every ref and device pointer into the heap is void. The error log
    /// stays.
    void reset();

    /// Empties the error log.
    void clear_errors();

    /// A copy of all memory handed out: the bump heap's blocks, or all superblocks that are not
    /// free.
    Snapshot snapshot() const;

    /// Maps `bytes` from `ref` on for reading and writing. Throws Error if they are not within the
    /// heap.
    MappedRange map(Ref ref, std::uint64_t bytes) const;

private:
    friend class CollectingRunner;
    friend class Collector;
    friend class GrowingRunner;
    explicit Heap(std::unique_ptr<HeapDriver> driver);
    HeapDriver &driver() const;

    std::unique_ptr<HeapDriver> driver_; // none once moved from
};

} // namespace kma
