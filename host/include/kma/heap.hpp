// A heap in device memory, from which kernels allocate.
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
#include "kma/program.hpp"
#include "kma/snapshot.hpp"

namespace kma {

class HeapDriver;

/// A heap in device memory. Owns the memory; move-only. All host calls go through the device's
/// queue and wait for it: they see the effects of kernels enqueued there before. Kernels on other
/// queues must have ended.
///
/// Functions that read the heap throw Error if a kernel has overwritten its metadata; check()
/// reports the differences.
class Heap {
public:
    /// Allocates `bytes` bytes and runs the init kernel. Throws Error, with a possible size if kma
    /// knows one, if
    ///
    /// - `bytes` is less than the metadata and one block, superblock or page need (bump: 2,704;
    ///   with debug 1 2,720; with debug 2 and 3 8,016);
    /// - `bytes` is more than refs can address, or than the driver serves in one buffer;
    /// - superblock.bytes, scatter.region_bytes or scatter.page_bytes is impossible, or yields more
    ///   superblocks than 32-bit atomics can number;
    /// - options.max_bytes is less than `bytes` or more than refs can address;
    /// - the device's memory is full, or the device has no SVM and Storage::svm was requested;
    /// - the device fails the selftest, which the first heap on a Device runs (see Device).
    Heap(const Device &device, std::uint64_t bytes, const HeapOptions &options = {});
    /// The moved-from object has no heap: its functions throw Error until a heap is assigned to it.
    Heap(Heap &&) noexcept;
    /// As the move constructor. Destroys the heap that was here.
    Heap &operator=(Heap &&) noexcept;
    ~Heap();

    /// The buffer size that leaves `payload` bytes for blocks (HeapStats::capacity), besides the
    /// metadata. For a heap that grows, this is the initial size. Uses kind, debug, superblock,
    /// scatter and max_bytes of `options`.
    ///
    /// In a bump heap a block takes its size rounded up to 16 bytes, and 16 bytes more with debug
    /// 1, 64 with 2 and 3. In the other heaps `payload` is rounded up to whole superblocks or
    /// pages; use the overload for blocks, below, to know which blocks fit.
    static std::uint64_t bytes_for(const HeapOptions &options, std::uint64_t payload);
    /// As above, with a kind and default options.
    static std::uint64_t bytes_for(HeapKind kind, std::uint64_t payload);

    /// A buffer size in which all these blocks can live at once, requested in any order, if none is
    /// freed before. Bump heap: all blocks requested between two resets. `options` as above. Blocks
    /// of 0 bytes need nothing.
    ///
    /// Superblock heap: each size has superblocks of its own, and one more than it fills, because a
    /// work-item may hold a superblock for a moment while another work-item takes one for the same
    /// size. Add superblocks if thousands of work-items on a GPU share a heap of just this size.
    /// Add about half as many again if blocks are freed and allocated repeatedly: a size takes a
    /// free superblock before it uses its own almost full ones.
    ///
    /// Scatter heap: each size has the pages that it fills and some more; blocks above a page are
    /// counted as if their regions had no other blocks. In a heap with both this is no guarantee,
    /// since a small block may lie where a large one would fit: allocate the large ones first, or
    /// add a region for each.
    ///
    /// Slab heap: each size up to 1 KiB has twice the pages that it fills, and up to 8,192 more,
    /// since slabs may leave half of their lines unused. Blocks above 8 KiB count up to four times
    /// if other blocks may lie between them. With several sizes above 8 KiB this is no guarantee.
    ///
    /// The result may be more than any device, or options.max_bytes, allows; 2^64 - 1 stands for
    /// all larger sizes. Throws Error for a block larger than superblock.bytes or
    /// scatter.region_bytes or, if that is 0, than 2 MiB (superblock heap) or 8 MiB (scatter heap).
    static std::uint64_t bytes_for(const HeapOptions &options,
                                   const std::vector<BlockDemand> &blocks);

    /// Writes the heap's metadata and allocated memory to a file, for machines of the same byte
    /// order. Throws Error if the file cannot be written, or if `path` is a folder, a pipe or a
    /// device.
    ///
    /// The new file is written next to an existing one and replaces it when complete; the file's
    /// mode and symbolic links to it are kept. Several threads and programs may save to one path:
    /// the last complete file stays.
    void save(const std::filesystem::path &path) const;

    /// Restores a heap that save() wrote, on any device: kind, sizes, debug and plan are those of
    /// the file, refs stay valid, and malloc, free and growth work as before. `build_options` as in
    /// HeapOptions. Checks all data that kernels follow; use check() for overwritten blocks and
    /// guards.
    ///
    /// Throws Error if the file is no heap, damaged or of another version; if a superblock heap was
    /// saved with atomics of another width than those of the kernels of `device`; and as the
    /// constructor.
    static Heap load(const Device &device, const std::filesystem::path &path,
                     Storage storage = Storage::buffer, const std::string &build_options = {});

    /// The device that it was made on.
    const Device &device() const;

    /// Builds `units` for this heap: its kind, its KMA_DEBUG and its HeapOptions::build_options,
    /// whatever `options.heap` and `options.debug` are. Throws BuildError as Program does.
    Program program(const std::vector<Source> &units, ProgramOptions options = {}) const;

    /// Makes the heap argument number `index` of `kernel`; the parameter is a `global kma_heap *`.
    /// To be called again after each grow(). Throws Error if the kernel has no such argument, has
    /// another context or was not built for the heap's device; if the argument is no pointer to
    /// global memory; or if it is a heap of another kind or KMA_DEBUG.
    ///
    /// Kind and KMA_DEBUG are checked only in programs built by kma::Program or with
    /// -cl-kernel-arg-info. NVIDIA's compiler does not support that option in a program with a
    /// kernel without parameters.
    void set_arg(cl::Kernel &kernel, cl_uint index) const;

    /// The heap's buffer, valid until grow(). Throws Error for Storage::svm.
    const cl::Buffer &buffer() const;

    /// The heap's address, the same on device and host, valid until grow(). Throws Error for
    /// Storage::buffer.
    void *svm() const;

    /// The options of the heap; superblock.bytes and scatter are the chosen values.
    const HeapOptions &options() const;

    /// The heap's statistics, counted by a kernel.
    HeapStats stats() const;

    /// Checks all metadata of a heap at rest. Returns one sentence with numbers for each broken
    /// invariant, the first ten of each kind and a count of the others; empty if there are none.
    /// With debug 2 and 3 it also checks the red zones of living blocks and the poison of freed
    /// ones. Damage does not make it throw; OpenCL errors do.
    std::vector<std::string> check() const;

    /// The living blocks, the first `most` of them individually; with debug 2 also the work-item
    /// that allocated each, with 3 the source line. Throws Error for a bump heap with debug 0,
    /// which does not record them.
    LeakReport leaks(std::size_t most = 100) const;

    /// The first eight errors of each code, ordered by code.
    std::vector<ErrorRecord> errors() const;

    /// Number of errors of this code since clear_errors(), up to about 2^31. Reads four bytes.
    std::uint64_t error_count(ErrorCode code) const;

    /// errors() and their counts as lines of text, each with a newline; empty if there are none.
    std::string error_text() const;

    /// Enlarges the heap to `bytes` bytes in all, at most options().max_bytes. Refs and the error
    /// log stay as they are. A heap of `bytes` bytes already stays as it is.
    ///
    /// The heap moves to a new buffer, into which the used memory is copied on the device; both
    /// exist for a moment. Call set_arg() again for every kernel, and buffer() or svm(). Raw
    /// pointers into the heap become invalid. A MappedRange must end before.
    ///
    /// Throws Error and leaves the heap unchanged if the heap has more than `bytes`, if max_bytes
    /// is 0 or less than `bytes`, if the driver serves no buffer of that size, or if the device has
    /// no memory for it in addition to the old one.
    void grow(std::uint64_t bytes);

    /// The heap's bytes: those of the constructor, or of the last grow().
    std::uint64_t bytes() const;

    /// Frees all blocks at once; every ref and device pointer into the heap becomes invalid. The
    /// error log stays.
    void reset();

    /// Empties the error log.
    void clear_errors();

    /// Copies all allocated memory: the bump heap's blocks, or all superblocks that are not free.
    Snapshot snapshot() const;

    /// Maps `bytes` bytes at `ref` for reading and writing. Throws Error if they are not within the
    /// heap.
    MappedRange map(Ref ref, std::uint64_t bytes) const;

private:
    friend class CollectingRunner;
    friend class HeapResident;
    friend class Collector;
    friend class GrowingRunner;
    explicit Heap(std::shared_ptr<HeapDriver> driver);
    HeapDriver &driver() const;

    std::shared_ptr<HeapDriver> driver_; // null in a moved-from heap
};

} // namespace kma
