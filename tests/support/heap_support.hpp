// What the tests of heaps share: the device, heaps of each flavour, and kernels that allocate from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kma/kma.hpp"

namespace test {

/// The device of KMA_DEVICE; lives until the program ends.
const kma::Device &device();

/// The kinds of memory that it has.
std::vector<kma::Storage> storages();

/// Options of a superblock heap.
kma::HeapOptions superblocks(std::uint64_t superblock_bytes, const std::string &build_options = {});

/// Bytes of a heap of `count` superblocks of 4 KiB that may grow to `max_bytes`, or of one that does not (0).
std::uint64_t bytes_for_superblocks(std::uint64_t count, std::uint64_t max_bytes);

/// Build options with which the device's atomics are as they are, and without those of 64 bits.
extern const std::vector<std::string> widths;

/// Kernels on a heap, built as its options say.
class Kernels {
public:
    explicit Kernels(const kma::Heap &heap);

    /// One malloc for each size, of as many work-items, or of one that does them in order. Ref 0: refused.
    std::vector<kma::Ref> allocate(const std::vector<cl_ulong> &sizes, bool in_order = false) const;
    std::vector<kma::Ref> allocate(std::size_t count, cl_ulong size, bool in_order = false) const;

    void free(const std::vector<kma::Ref> &refs) const;

    /// Each of `work_items` allocates and frees, now and again, keeping a few blocks; `refs` are those kept, with their
    /// sizes.
    struct Kept {
        std::vector<kma::Ref> refs;
        std::vector<cl_ulong> sizes;
    };
    Kept churn(std::size_t work_items, cl_uint seed, cl_uint largest) const;

    /// Pushes `count` items onto a list that starts at `first`, numbered from the list's length on; returns its start.
    kma::Ref push(kma::Ref first, cl_uint count) const;
    /// The sum of the items' numbers, as a kernel finds them.
    cl_uint sum(kma::Ref first) const;

    /// Damages a superblock heap; the lists in heap_support.cpp say what the numbers mean.
    void damage(const std::string &what, cl_uint a = 0, cl_uint b = 0, cl_uint c = 0) const;

    /// Turns bit `bit` of one of the places in those lists round; the same call once more undoes it.
    void flip(const std::string &place, cl_uint a, cl_uint bit) const;

private:
    cl::Kernel kernel(const std::string &name) const;
    void run(const cl::Kernel &kernel, std::size_t work_items) const;

    const kma::Heap &heap_;
    kma::Program program_;
};

/// A heap of sixteen superblocks of 4 KiB with a superblock in each state. Of 64-byte blocks, 64 to a superblock,
/// superblock 0 is partial with 3 free, and 1 on offer with 6 taken; of 128-byte blocks, 32 to a superblock, 2 is full,
/// and 3 on offer with 1 taken. The others are free, number n in node n + 1 of the queue, whose dummy is node 4; nodes
/// 0 … 3 are those of superblocks 0 … 3.
struct Town {
    /// Of its superblocks, `built` are there until the heap grows.
    explicit Town(const kma::HeapOptions &options, std::uint64_t built = 16);

    kma::Heap heap;
    Kernels kernels;
    std::vector<kma::Ref> refs; ///< of the 67 blocks of 64 bytes, then the 33 of 128
};

/// An item of the list.
struct Item {
    kma::Ref next;
    cl_uint number;
};

} // namespace test
