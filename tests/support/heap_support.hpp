// Shared code of the host library's tests: heaps of each flavour, kernels that allocate from them
// or damage them, and what is in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kma/kma.hpp"
#include "support.hpp"

namespace test {

/// The kinds of memory of the device.
std::vector<kma::Storage> storages();

/// Options of a superblock heap, and of a slab heap.
kma::HeapOptions superblocks(std::uint64_t superblock_bytes, const std::string &build_options = {});
kma::HeapOptions slabs(kma::Storage storage = kma::Storage::buffer, int debug = 0, std::uint64_t max_bytes = 0);
constexpr std::uint64_t frame_bytes = 8192; // of a slab heap

/// Bytes of a heap of `count` superblocks of 4 KiB that may grow to `max_bytes`; 0: it does not
/// grow.
std::uint64_t bytes_for_superblocks(std::uint64_t count, std::uint64_t max_bytes);

/// Build options for the device's atomics, and for the same without 64-bit atomics.
extern const std::vector<std::string> atomic_widths;

/// What check() says, a line for each sentence.
std::string findings(const kma::Heap &heap);

/// All words of a heap in a buffer; writing some of them back, from word `first` on.
std::vector<cl_uint> image_of(const kma::Heap &heap);
void write_words(const kma::Heap &heap, const std::vector<cl_uint> &words, std::size_t first = 0);

/// Kernels on a heap, built for its options.
class Kernels {
public:
    explicit Kernels(const kma::Heap &heap);

    /// One malloc for each size, by as many work-items, or by one work-item in order. Ref 0:
    /// refused.
    std::vector<kma::Ref> allocate(const std::vector<cl_ulong> &sizes, bool in_order = false) const;
    std::vector<kma::Ref> allocate(std::size_t count, cl_ulong size, bool in_order = false) const;

    void free(const std::vector<kma::Ref> &refs) const;

    /// Blocks kept by work-items that allocate and free repeatedly, with their sizes.
    struct Kept {
        std::vector<kma::Ref> refs;
        std::vector<cl_ulong> sizes;
    };
    Kept churn(std::size_t work_items, cl_uint seed, cl_uint largest) const;

    /// Pushes `count` items onto the list that starts at `first`, numbered from the list's length
    /// on. Returns the new start.
    kma::Ref push(kma::Ref first, cl_uint count) const;
    /// The sum of the items' numbers, computed by a kernel.
    cl_uint sum(kma::Ref first) const;
    /// A block's address in a kernel.
    cl_ulong address(kma::Ref ref) const;

    /// Damages a superblock heap; heap_support.cpp lists the kinds and the meaning of a, b and c.
    void damage(const std::string &what, cl_uint a = 0, cl_uint b = 0, cl_uint c = 0) const;

    /// Inverts bit `bit` of one of the places listed there. A second call undoes it.
    void flip(const std::string &place, cl_uint a, cl_uint bit) const;

private:
    template <class... Args> void run(const char *name, std::size_t work_items, const Args &...args) const;
    template <class T, class... Args> T run_for(const char *name, const Args &...args) const; // one work-item's result

    const kma::Heap &heap_;
    kma::Program program_;
};

/// A heap of sixteen superblocks of 4 KiB with a superblock in each state:
/// - 0: 64-byte blocks, partial, 3 of 64 free;
/// - 1: 64-byte blocks, on offer, 6 of 64 taken;
/// - 2: 128-byte blocks, full, 32 of 32 taken;
/// - 3: 128-byte blocks, on offer, 1 of 32 taken;
/// - 4 to 15: free; number n is in node n + 1 of the queue.
/// Node 4 is the queue's dummy; nodes 0 to 3 belong to superblocks 0 to 3.
struct Town {
    /// The heap has `built` of its superblocks until it grows.
    explicit Town(const kma::HeapOptions &options, std::uint64_t built = 16);

    kma::Heap heap;
    Kernels kernels;
    std::vector<kma::Ref> refs; ///< refs of the 67 blocks of 64 bytes, then of the 33 of 128 bytes
};

/// A slab heap of sixteen frames in which one work-item took blocks: twenty of 64 bytes, four of
/// them freed again, three of 4 KiB, and one of 20,000 bytes, which takes 79 lines.
struct Street {
    explicit Street(const kma::HeapOptions &options);

    kma::Heap heap;
    Kernels kernels;
    std::vector<kma::Ref> refs; ///< 16 of 64 bytes, three of 4 KiB, the long one
    static constexpr std::uint64_t used = 16 * 64 + 3 * 4096 + 79 * 256;
};

/// An item of the list.
struct Item {
    kma::Ref next;
    cl_uint number;
};

} // namespace test
