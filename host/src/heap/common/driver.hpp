// What differs from one heap kind to the next, behind one interface. A new kind is a class of its
// own in a file of its own, and one entry in driver.cpp (beside its name in kma/heap_kind.hpp).
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

/// Appends `range`, or makes the last range longer if this one follows it.
void append(std::vector<ByteRange> &ranges, ByteRange range);

/// The heap behind the facade: its memory, its kernels, and what its kind says of them.
class HeapDriver {
public:
    virtual ~HeapDriver() = default;
    HeapDriver(const HeapDriver &) = delete;
    HeapDriver &operator=(const HeapDriver &) = delete;

    /// Runs the init kernel, or the one for heaps that grow (options().max_bytes).
    virtual void init() = 0;
    virtual void reset() = 0;

    /// After a load: takes over from the heap's metadata what was planned for the device that made
    /// it. check_books() names a plan that no heap of this size and these options can have.
    virtual void adopt_plan() {}

    /// As Heap::grow; if it throws, the heap is as it was.
    void grow(std::uint64_t bytes);

    /// The memory handed out, in ascending order. It, and all in front of begin(), is what moves
    /// when the heap grows.
    virtual std::vector<ByteRange> used() const = 0;

    /// The metadata that an init kernel would not write just so, in ascending order; all in front
    /// of begin().
    virtual std::vector<ByteRange> metadata() const = 0;

    /// Whether heaps of kernels with 64-bit atomics and without differ in their metadata.
    virtual bool depends_on_width() const = 0;

    /// As Heap::leaks().
    LeakReport leaks(std::size_t most) const;

    HeapStats stats() const;
    std::vector<ErrorRecord> errors() const;
    void clear_errors();
    std::vector<std::string> check() const;

    /// check() of what kernels follow: the metadata, the sizes in blocks' guards, the quarantine.
    /// What else was written over in and around blocks is left to check().
    std::vector<std::string> check_books() const;

    /// Throws Error if what kernels rely on is damaged, so that it is safe to run them.
    void require_sound() const;

    const Device &device() const noexcept { return parts_.device; }
    const HeapOptions &options() const noexcept { return parts_.options; }
    const HeapMemory &memory() const noexcept { return *parts_.memory; }
    std::uint64_t begin() const noexcept { return std::uint64_t{expected_.begin} * KMA_UNIT; }

    /// The header as it is in the heap.
    layout::kma_heap_header header() const;

    /// How often the error happened.
    std::uint32_t error_count(ErrorCode code) const;

    /// Takes the errors of a code behind the first `kept` out of the log.
    void forget_errors(ErrorCode code, std::uint32_t kept);

    /// Stands for the collector that the heap has, while it lives.
    std::weak_ptr<void> &collector() { return collector_; }

protected:
    struct Parts {
        Device device;
        HeapOptions options; ///< completed
        Program kernels;
        std::unique_ptr<HeapMemory> memory;
    };
    /// What the init kernel writes into the header; the rest of it follows from the options.
    struct Expected {
        std::uint32_t begin, limit; ///< in units
        std::uint32_t atomic64;
        std::uint32_t guard; ///< in units; 0 below KMA_DEBUG 2
    };
    HeapDriver(Parts parts, Expected expected) : parts_(std::move(parts)), expected_(expected) {}

    /// The kernels of a kind, in the options' flavour. Throws Error if the device fails the
    /// selftest.
    static Program build(const Device &device, const HeapOptions &options);

    /// Makes the driver's picture of the heap that of a heap of `bytes`, more than before; returns
    /// its limit in units. The kernel kma_KIND_grow_kernel(heap, bytes), of one work-item, has done
    /// the same to the heap.
    virtual std::uint32_t grown(std::uint64_t bytes) = 0;

    /// used(), and what else behind begin() moves with the heap when it grows.
    virtual std::vector<ByteRange> touched() const { return used(); }

    /// The most bytes that the heap may have.
    std::uint64_t max_bytes() const { return std::max(memory().bytes(), options().max_bytes); }

    /// Names what is wrong in the constant parts of the metadata, which kernels follow unseen: here
    /// the header.
    virtual void check_constants(Findings &findings) const;

    /// Names what is wrong in the rest, here the error log; called only if the constants are right.
    virtual void check_structures(Findings &findings) const;

    /// Whether there is something in front of each block that tells of it.
    virtual bool has_guards() const = 0;

    /// Whether memory that was freed is handed out again.
    virtual bool reuses_memory() const { return true; }

    /// Names what is wrong in the metadata.
    void check_metadata(Findings &findings) const;

    /// Then this visits all that were given to somebody.
    virtual void for_each_block(const std::function<void(const HeapPart &)> &visit) const = 0;

    /// leaks() where blocks have nothing in front of them.
    virtual LeakReport leaks_by_books(std::size_t most) const = 0;

    /// The guards' metadata, with KMA_DEBUG 2 and more.
    layout::kma_guard guard() const;

    /// Whether the heap was initialised by kernels with 64-bit atomics.
    bool atomic64() const noexcept { return expected_.atomic64 != 0; }

    /// Runs kma_KIND_`what`_kernel(heap, arguments…) in groups of 64, and waits.
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

/// What a kind has beside its drivers.
struct HeapKindEntry {
    HeapKind kind;
    /// A driver with memory, not initialised yet. Throws Error for what the kind cannot be.
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

/// Throws Error if no ref reaches the end of so many bytes. (Whether a buffer may have so many,
/// only the driver tells: NVIDIA's serves four times what it promises.)
void check_largest(std::uint64_t bytes);

/// Throws Error if a heap of `bytes` cannot grow until it has `max_bytes` (0: it need not).
void check_growth(std::uint64_t bytes, std::uint64_t max_bytes);

/// Throws Error for a number that is no kind.
const HeapKindEntry &entry_of(HeapKind kind);

/// The same for options with a debug that is none.
const HeapKindEntry &entry_of(const HeapOptions &options);

/// Throws Error if `status`, OpenCL's from making a heap of so many bytes, means that there is no
/// memory for it, or that the driver, which promises buffers of `promised` bytes, refuses one of
/// that size.
void refuse_if_full(cl_int status, std::uint64_t bytes, std::uint64_t promised,
                    const std::string &device);

/// A driver whose heap is initialised. Throws Error as its kind's make(), and if the device has no
/// memory for it.
std::unique_ptr<HeapDriver> make_heap(const Device &device, std::uint64_t bytes,
                                      const HeapOptions &options);

} // namespace kma
