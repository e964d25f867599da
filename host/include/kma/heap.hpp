// A heap that kernels allocate from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kma/device.hpp"
#include "kma/heap_kind.hpp"
#include "kma/snapshot.hpp"

namespace kma {

class HeapMemory;

/// Where the heap's memory comes from: a cl_mem buffer, or coarse-grained shared virtual memory, in which raw pointers
/// too mean the same on both sides.
enum class Storage { buffer, svm };

struct HeapOptions {
    HeapKind kind = default_heap_kind;
    Storage storage = Storage::buffer;
    /// KMA_DEBUG of the programs that will use the heap. A program with more of it notices a heap with less; the other
    /// way round nobody does.
    int debug = 0;
    /// Superblock heap: bytes of a superblock, the largest request: a power of two from 4 KiB to 2 MiB. 0: by the heap's
    /// size, about 1/128 of it.
    std::uint64_t superblock_bytes = 0;
    /// More compiler options for the heap's own kernels. Those that change what lies in the heap (KMA_HAS_ATOMIC64) must
    /// be the same in all programs that use it.
    std::string build_options = {};
};

/// What a kernel can do wrong, as the heap's error log has it.
enum class ErrorCode : std::uint32_t {
    out_of_memory,
    too_large,
    bad_alignment,
    invalid_free,
    double_free,
    bad_heap,
    damaged,
};
inline constexpr std::size_t error_codes = 7;

/// One error in detail.
struct ErrorRecord {
    ErrorCode code;
    std::uint64_t work_item; ///< linear global id
    std::uint64_t size;      ///< bytes asked for; the alignment of bad_alignment; the heap's KMA_DEBUG of bad_heap
    Ref ref;                 ///< the block of a free, else 0
};

struct HeapStats {
    HeapKind kind;
    int debug;
    std::uint64_t bytes;                              ///< the whole buffer
    std::uint64_t capacity;                           ///< bytes of it for blocks
    std::uint64_t used;                               ///< bytes of the capacity that are handed out
    std::uint64_t blocks;                             ///< blocks handed out
    std::array<std::uint64_t, error_codes> errors{};  ///< how often each ErrorCode happened, up to about 2^31

    std::uint64_t available() const noexcept { return capacity - used; }
};

/// Heap memory mapped for the host; unmapped on destruction. Kernels must not use the heap meanwhile.
class MappedRange {
public:
    MappedRange(MappedRange &&other) noexcept;
    MappedRange &operator=(MappedRange &&other) noexcept;
    ~MappedRange();

    std::span<std::byte> bytes() const noexcept { return bytes_; }

    /// The same bytes as objects of a trivially copyable T.
    template <class T> std::span<T> as() const noexcept
    {
        static_assert(std::is_trivially_copyable_v<T>);
        return {reinterpret_cast<T *>(bytes_.data()), bytes_.size() / sizeof(T)};
    }

private:
    friend class Heap;
    struct Unmap;
    MappedRange(std::span<std::byte> bytes, std::unique_ptr<Unmap> unmap);
    std::span<std::byte> bytes_;
    std::unique_ptr<Unmap> unmap_;
};

/// A heap in device memory. Owns the memory; move-only. All host calls go through the device's queue and wait for it,
/// so they see what kernels enqueued there before have done; kernels on other queues must have ended.
class Heap {
public:
    /// Allocates `bytes` and runs the init kernel. Throws Error if `bytes` is less than metadata and one block need
    /// (1,680, with debug 1,696), more than the device or the kind allows, or if SVM is asked for where there is none.
    Heap(const Device &device, std::uint64_t bytes, const HeapOptions &options = {});
    Heap(Heap &&) noexcept;
    Heap &operator=(Heap &&) noexcept;
    ~Heap();

    /// The buffer size that leaves `payload` bytes for blocks; sizes of blocks count rounded up to 16 (and 16 more with
    /// debug).
    static std::uint64_t bytes_for(HeapKind kind, std::uint64_t payload);

    /// Makes the heap argument number `index` of `kernel`, whose parameter is a `global kma_heap *`.
    /// Throws Error if the kernel has no such argument or it is no pointer.
    void set_arg(cl::Kernel &kernel, cl_uint index) const;

    /// The memory as a buffer. Throws Error for Storage::svm.
    const cl::Buffer &buffer() const;

    /// The memory's address, the same on device and host. Throws Error for Storage::buffer.
    void *svm() const;

    /// Reads the metadata. Throws Error if they are not those of a heap (a kernel wrote over them).
    HeapStats stats() const;

    /// The first eight errors of each code, code by code.
    std::vector<ErrorRecord> errors() const;

    /// errors() and their counts as text, lines that end with a newline; empty if there were none.
    std::string error_text() const;

    /// Frees all blocks at once; every ref and device pointer into the heap is void. The error log stays.
    void reset();

    /// Empties the error log.
    void clear_errors();

    /// A copy of all memory handed out so far.
    Snapshot snapshot() const;

    /// Maps `bytes` from `ref` on for reading and writing. Throws Error if they are not within the heap.
    MappedRange map(Ref ref, std::uint64_t bytes) const;

private:
    Device device_;
    HeapOptions options_;
    std::unique_ptr<HeapMemory> memory_;
};

/// What a code means and what to do about it, as one sentence.
const char *explain(ErrorCode code) noexcept;

} // namespace kma
