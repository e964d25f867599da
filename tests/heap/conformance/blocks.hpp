// Blocks of one heap that outlive their kernel, by slots; and what must be true of a heap at the end of a test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heaps.hpp"
#include "support.hpp"

namespace conformance {

/// Bytes of a superblock, the least: heaps of it are spent, and new ones needed, all the time.
constexpr std::uint64_t small_superblock = 4096;
/// The same, as users have them.
constexpr std::uint64_t large_superblock = 65536;
/// Work-items that come together: several groups, more than lanes.
constexpr std::size_t crowd = 256;

/// Which call takes a block; the numbers of blocks.cl.
enum class Call : cl_uint { malloc = 0, mixed = 4 };

class Blocks {
public:
    /// A slot for each size, all empty. The heap outlives this.
    Blocks(const Subject &subject, const kma::Heap &heap, const std::vector<cl_ulong> &sizes);

    /// Fills all slots, one block per work-item.
    void take(Call call = Call::malloc, std::size_t group = 64);

    /// Many work-items take blocks of `bytes` into empty slots until each gets NULL; then a lone caller takes what is
    /// left: lanes together may be refused what another has in hand. Returns how many blocks there are; the slots must
    /// be more than the heap can fill.
    std::size_t fill(std::uint64_t bytes, std::size_t work_items);

    /// Frees these slots, or all of them in random order, each by another work-item than the one that took it.
    void give(std::vector<cl_uint> order);
    void give_all(std::uint32_t seed);

    /// Bytes of all blocks that are not as their owners left them; the same of the blocks that the slots had once.
    std::uint64_t wrong_bytes() const { return wrong_bytes(refs_); }
    std::uint64_t wrong_bytes(const test::Array<cl_uint> &refs) const;

    /// The slots with a block.
    std::vector<cl_uint> held() const;
    std::vector<cl_uint> refs() const { return refs_.read(); }
    std::vector<cl_ulong> sizes() const { return sizes_.read(); }
    std::vector<cl_ulong> addresses() const { return addresses_.read(); }

    const Subject &subject() const { return *subject_; }
    const kma::Heap &heap() const { return *heap_; }

    /// For kernels of other files, which must keep to the slots' rules.
    const test::Array<cl_uint> &ref_array() const { return refs_; }
    const test::Array<cl_ulong> &size_array() const { return sizes_; }

private:
    const Subject *subject_;
    const kma::Heap *heap_;
    kma::Program program_;
    test::Array<cl_ulong> sizes_;
    test::Array<cl_uint> refs_;
    test::Array<cl_ulong> addresses_;
};

/// That the blocks, each with all the bytes that are its own, lie within the heap and do not overlap.
void check_apart(const Subject &subject, const kma::Heap &heap, const std::vector<cl_uint> &refs,
                 const std::vector<cl_ulong> &sizes);
void check_apart(const Blocks &blocks);
/// That check() finds nothing, and that exactly these blocks live, as far as the heap knows. None
/// is much larger than its request if the heap has ample room.
void check_books(const Subject &subject, const kma::Heap &heap, const std::vector<cl_uint> &refs,
                 const std::vector<cl_ulong> &sizes, bool is_ample = false);
void check_books(const Blocks &blocks, bool is_ample = false);
/// All that must be true of blocks that were not written over: contents, places and books.
void check_whole(const Blocks &blocks);
/// Frees all blocks, in random order, which were all that the heap had.
void check_given(Blocks &blocks, std::uint32_t seed);
/// That the heap, which is empty, serves all its memory in blocks of `bytes`, and takes it back.
void check_service(const Subject &subject, const kma::Heap &heap, std::uint64_t bytes, std::uint64_t superblock_bytes);

/// That check() finds nothing, and that so many blocks live, where they may have taken more than the sizes say.
void check_count(const Subject &subject, const kma::Heap &heap, std::size_t blocks);

/// The end of every test: check() clean, no block alive, no memory lost.
void check_empty(const Subject &subject, const kma::Heap &heap);
/// The same after a test that did not keep its blocks' refs: check() clean, and all there is comes back by a reset.
void check_reset(const Subject &subject, kma::Heap &heap);
/// That nothing but refusals for want of memory is in the error log.
void check_refusals_only(const kma::Heap &heap);

/// One malloc for each size, by work-items in groups of as many or of 64.
std::vector<cl_uint> request(const Subject &subject, const kma::Heap &heap, const std::vector<cl_ulong> &sizes);
/// One malloc of `bytes` by each of `work_items`: how many were served. None is freed.
std::size_t request(const Subject &subject, const kma::Heap &heap, std::uint64_t bytes, std::size_t work_items);

/// A lone caller takes blocks of `bytes` until it gets NULL: how many. Fails the test at more than a thousand.
std::size_t while_served(const Subject &subject, const kma::Heap &heap, std::uint64_t bytes);

/// The bytes that belong to a block's owner, from the ref on.
std::uint64_t own_bytes(const Subject &subject, std::uint64_t bytes);

/// 0 … n-1 in random order.
std::vector<cl_uint> random_order(std::size_t n, std::uint32_t seed);

/// How many blocks for `bytes` the heap has when it is empty.
Range count_when_full(const Subject &subject, const kma::Heap &heap, std::uint64_t bytes,
                      std::uint64_t superblock_bytes);

/// How many work-items fill a heap from which blocks of other sizes were freed, if the count must be exact: `most`, but
/// one in a heap that has a quarantine and may give larger blocks. Among several, one may be about to free what it
/// took out of the quarantine; another that seeks in vain gets a larger block than it needs, and fewer fit.
std::size_t refillers(const Subject &subject, std::size_t most);

/// Sizes for slots that fill() fills, for more blocks than there can be.
std::vector<cl_ulong> slots_beyond(std::uint64_t blocks);
std::uint64_t count_of(const kma::Heap &heap, kma::ErrorCode code);

/// Room with which even lanes together need not be refused: twice what the blocks need, and superblocks for all the
/// classes, several times.
std::uint64_t ample_room(const Subject &subject, const std::vector<cl_ulong> &sizes, std::uint64_t superblock_bytes);

/// misuse.cl with the calls that the heap has.
kma::Program misuse_program(const Subject &subject);

/// The units in which blocks may lie, as the heap's header has them.
struct UnitRange {
    cl_uint begin, limit;
};
UnitRange blocks_range(const kma::Heap &heap);

} // namespace conformance
