// The interface that each kind of heap implements. A new kind needs a class in a file of its own,
// an entry in driver.cpp, and its name in kma/heap_kind.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heap/common/findings.hpp"
#include "heap/common/guard.hpp"
#include "heap/common/memory.hpp"
#include "kma/heap.hpp"
#include "kma/program.hpp"
#include "heap/common/layout.hpp"

namespace kma {

/// Bytes of a heap, counted from its start.
struct ByteRange {
    std::uint64_t offset;
    std::uint64_t bytes;
};

/// Appends `range`, or extends the last range if this one is adjacent.
void append(std::vector<ByteRange> &ranges, ByteRange range);

/// A heap's implementation: its memory, its kernels, and the functions that depend on its kind.
class HeapDriver {
public:
    virtual ~HeapDriver() = default;
    HeapDriver(const HeapDriver &) = delete;
    HeapDriver &operator=(const HeapDriver &) = delete;

    /// Runs the init kernel, or the variant for heaps that grow (options().max_bytes).
    virtual void init() = 0;
    virtual void reset() = 0;

    /// Called after a load: adopts the parts of the plan that depend on the device that made the
    /// heap. check_books() reports a plan that is impossible for this size and these options.
    virtual void adopt_plan() {}

    /// As Heap::grow. If it throws, the heap is unchanged.
    void grow(std::uint64_t bytes);

    /// The allocated memory, in ascending order. Growth copies it and everything before begin().
    virtual std::vector<ByteRange> used() const = 0;

    /// The metadata that differ from what an init kernel writes, in ascending order; all before
    /// begin().
    virtual std::vector<ByteRange> metadata() const = 0;

    /// Whether the metadata depend on the use of 64-bit atomics.
    virtual bool depends_on_width() const = 0;

    /// As Heap::leaks().
    LeakReport leaks(std::size_t most) const;

    HeapStats stats() const;
    std::vector<ErrorRecord> errors() const;
    void clear_errors();
    std::vector<std::string> check() const;

    /// Checks only the data that kernels follow: the metadata, the sizes in blocks' guards, and the
    /// quarantine. check() also finds other overwritten bytes.
    std::vector<std::string> check_books() const;

    /// Throws Error if data that kernels rely on are damaged: otherwise it is safe to run them.
    void require_sound() const;

    const Device &device() const noexcept { return parts_.device; }
    const HeapOptions &options() const noexcept { return parts_.options; }
    const HeapMemory &memory() const noexcept { return *parts_.memory; }
    std::uint64_t begin() const noexcept { return std::uint64_t{expected_.begin} * KMA_UNIT; }

    /// Reads the header from the heap.
    layout::kma_heap_header header() const;

    /// Number of errors of this code.
    std::uint32_t error_count(ErrorCode code) const;

    /// Removes the errors of a code after the first `kept` from the log.
    void forget_errors(ErrorCode code, std::uint32_t kept);

    /// The heap's collector; expired if it has none.
    std::weak_ptr<void> &collector() { return collector_; }

protected:
    struct Parts {
        Device device;
        HeapOptions options; ///< with defaults filled in
        Program kernels;
        std::unique_ptr<HeapMemory> memory;
    };
    /// The header's fields, as written by the init kernel, that do not follow from the options.
    struct Expected {
        std::uint32_t begin, limit; ///< in units
        std::uint32_t atomic64;
        std::uint32_t guard; ///< in units; 0 below KMA_DEBUG 2
    };
    HeapDriver(Parts parts, Expected expected) : parts_(std::move(parts)), expected_(expected) {}

    /// Builds the kernels of a kind, with the options' KMA_DEBUG. Throws Error if the device fails
    /// the selftest.
    static Program build(const Device &device, const HeapOptions &options);

    /// Updates the driver's plan after growth to `bytes`; returns the new limit in units. The
    /// kernel kma_KIND_grow_kernel(heap, bytes) has updated the heap.
    virtual std::uint32_t grown(std::uint64_t bytes) = 0;

    /// used(), and other memory after begin() that growth must copy.
    virtual std::vector<ByteRange> touched() const { return used(); }

    /// The maximal size of the heap.
    std::uint64_t max_bytes() const { return std::max(memory().bytes(), options().max_bytes); }

    /// Reports damage in the constant metadata, which kernels follow without checks: here the
    /// header.
    virtual void check_constants(Findings &findings) const;

    /// Reports damage in the other metadata, here the error log. Called only if the constants are
    /// intact.
    virtual void check_structures(Findings &findings) const;

    /// Whether a guard precedes each block.
    virtual bool has_guards() const = 0;

    /// Whether freed memory is allocated again.
    virtual bool reuses_memory() const { return true; }

    /// Reports damage in the metadata.
    void check_metadata(Findings &findings) const;

    /// With guards: visits all blocks that were allocated.
    virtual void for_each_block(const std::function<void(const HeapPart &)> &visit) const = 0;

    /// leaks() of blocks without guards.
    virtual LeakReport leaks_by_books(std::size_t most) const = 0;

    /// Reads the guards' metadata; KMA_DEBUG 2 and 3.
    layout::kma_guard guard() const;

    /// Whether the heap was initialised by kernels with 64-bit atomics.
    bool atomic64() const noexcept { return expected_.atomic64 != 0; }

    /// Runs kma_KIND_`what`_kernel(heap, arguments…) in groups of 64, and waits for it.
    template <class... Arguments>
    void run(const std::string &what, std::uint64_t work_items, const Arguments &...arguments) const
    {
        cl::Kernel made = kernel(what);
        cl_uint index = 1;
        (made.setArg(index++, arguments), ...);
        launch(made, work_items);
    }

private:
    std::vector<ByteRange> moves_with_growth() const;
    cl::Kernel kernel(const std::string &what) const;
    void launch(const cl::Kernel &kernel, std::uint64_t work_items) const;

    Parts parts_;
    Expected expected_;
    std::weak_ptr<void> collector_;
};

/// The functions of a kind that need no heap.
struct HeapKindEntry {
    HeapKind kind;
    /// Makes a driver with memory that is not initialised yet. Throws Error for impossible sizes or
    /// options.
    std::unique_ptr<HeapDriver> (*make)(const Device &device, std::uint64_t bytes,
                                        const HeapOptions &options);
    /// As Heap::bytes_for.
    std::uint64_t (*bytes_for_payload)(const HeapOptions &options, std::uint64_t payload);
    std::uint64_t (*bytes_for_blocks)(const HeapOptions &options,
                                      const std::vector<BlockDemand> &blocks);
};
extern const HeapKindEntry bump_heap_kind;
extern const HeapKindEntry superblock_heap_kind;
extern const HeapKindEntry scatter_heap_kind;
extern const HeapKindEntry slab_heap_kind;

/// The largest request of a superblock or scatter heap with these completed options, red zones
/// included; 0 for the other kinds, which have no such limit.
std::uint64_t largest_request(const HeapOptions &options) noexcept;

/// Throws Error if refs cannot address `bytes` bytes. Only the driver knows whether it serves such
/// a buffer: NVIDIA's serves four times CL_DEVICE_MAX_MEM_ALLOC_SIZE.
void check_largest(std::uint64_t bytes);

/// Throws Error if a heap of `bytes` bytes cannot grow to `max_bytes` (0: it does not grow).
void check_growth(std::uint64_t bytes, std::uint64_t max_bytes);

/// The entry of a kind. Throws Error if `kind` is none.
const HeapKindEntry &entry_of(HeapKind kind);

/// The entry of options.kind. Also throws Error if options.debug is no value of KMA_DEBUG.
const HeapKindEntry &entry_of(const HeapOptions &options);

/// Throws Error if `status`, OpenCL's result of making a heap of `bytes` bytes, means that there is
/// no memory for it, or that the driver, which guarantees buffers of `promised` bytes, refuses this
/// size.
void refuse_if_full(cl_int status, std::uint64_t bytes, std::uint64_t promised,
                    const std::string &device);

/// Makes a driver and initialises its heap. Throws Error as the kind's make(), and if the device
/// has no memory for it.
std::unique_ptr<HeapDriver> make_heap(const Device &device, std::uint64_t bytes,
                                      const HeapOptions &options);

} // namespace kma
