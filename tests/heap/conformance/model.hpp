// What a lone caller must get, by kind of heap: the host's account of which memory is taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kma/kma.hpp"

namespace conformance {

/// The room of an empty heap, as the test found it.
struct Room {
    std::uint64_t begin;            ///< offset of the first byte that a block may have
    std::uint64_t capacity;         ///< bytes for blocks
    std::uint64_t superblock_bytes; ///< 0 where there are none
    /// Offsets of the superblocks, for heaps that have them; see lone_caller_test.cpp for how they are found.
    std::vector<std::uint64_t> superblocks;
};

/// What a model says of a number: in heaps whose blocks lie by rule both are the same.
struct Range {
    std::uint64_t least, most;
};

inline Range exactly(std::uint64_t number)
{
    return {number, number};
}

/// Empty if the number is in the range, else what is wrong.
std::string outside(std::uint64_t number, Range range);

/// Whether something fits. `maybe`: that depends on what the model does not know.
enum class Verdict { no, maybe, yes };

/// What KMA_DEBUG has the heap take for a request, and how much of it lies in front of the block.
std::uint64_t guarded(std::uint64_t bytes, int debug);
std::uint64_t guard_front(int debug);

class Model {
public:
    virtual ~Model() = default;

    /// Whether a lone caller must get a block for `bytes` (yes), or NULL (no).
    virtual Verdict fits(std::uint64_t bytes) const = 0;
    /// The heap handed out `ref`. Returns what is wrong with that, or nothing.
    virtual std::optional<std::string> take(kma::Ref ref, std::uint64_t bytes) = 0;
    virtual void give(kma::Ref ref) = 0;
    /// The heap gave NULL, having looked everywhere.
    virtual void refuse() {}
    /// How many blocks for `bytes` the empty heap has.
    virtual Range count_when_full(std::uint64_t bytes) const = 0;
    /// How far from a living block, on either side, memory may be kept for others of its size.
    virtual std::uint64_t beside(std::uint64_t) const { return 0; }
    /// Bytes handed out now, as Heap::stats() counts them.
    virtual Range used() const = 0;
};

/// One block behind the other; nothing comes back.
class BumpModel : public Model {
public:
    BumpModel(const Room &room, int debug) : room_(room), debug_(debug) {}

    static std::uint64_t block_bytes(std::uint64_t bytes, int debug);

    Verdict fits(std::uint64_t bytes) const override;
    std::optional<std::string> take(kma::Ref ref, std::uint64_t bytes) override;
    void give(kma::Ref) override {}
    Range count_when_full(std::uint64_t bytes) const override;
    Range used() const override { return exactly(used_); }

private:
    Room room_;
    int debug_;
    std::uint64_t used_ = 0;
};

/// Superblocks of one size, each either free or with blocks of one class, which serve smaller requests if nothing else does.
class SuperblockModel : public Model {
public:
    SuperblockModel(const Room &room, int debug) : room_(room), debug_(debug), superblocks_(room.superblocks.size()) {}

    /// The smallest class for a request: 16, 32, 48, 64, then four for each power of two.
    static std::uint64_t block_bytes(std::uint64_t bytes, int debug);

    Verdict fits(std::uint64_t bytes) const override;
    std::optional<std::string> take(kma::Ref ref, std::uint64_t bytes) override;
    void give(kma::Ref ref) override;
    Range count_when_full(std::uint64_t bytes) const override;
    Range used() const override;

private:
    struct Superblock {
        std::uint64_t class_bytes = 0;
        std::map<std::uint64_t, std::uint64_t> blocks; // offset of each living block, and its class size
    };
    std::optional<std::size_t> index_of(std::uint64_t offset) const;
    bool has_room(std::uint64_t size, bool of_larger) const;

    Room room_;
    int debug_;
    std::vector<Superblock> superblocks_; // in the order of room_.superblocks, which is sorted
};

/// Pages of one size, each free, split into chunks of one size, or part of a run of pages within a super block.
class ScatterModel : public Model {
public:
    static constexpr std::uint64_t usual_page = 4096;

    /// A super block is a page at least.
    ScatterModel(const Room &room, int debug, std::uint64_t page_bytes)
        : room_(room), debug_(debug), page_bytes_(page_bytes),
          super_pages_(static_cast<std::size_t>(std::max(room.superblock_bytes / page_bytes, std::uint64_t{1}))),
          pages_(static_cast<std::size_t>(room.capacity / page_bytes))
    {
    }

    /// Up to an eighth of a page as in superblock heaps; then a seventh, a sixth … of a page; then whole pages.
    static std::uint64_t block_bytes(std::uint64_t bytes, int debug, std::uint64_t page_bytes);

    Verdict fits(std::uint64_t bytes) const override;
    std::optional<std::string> take(kma::Ref ref, std::uint64_t bytes) override;
    void give(kma::Ref ref) override;
    Range count_when_full(std::uint64_t bytes) const override;
    Range used() const override;

private:
    struct Page {
        std::uint64_t chunk = 0;        // the size it was split for; more than a page: a run begins here
        std::set<std::uint64_t> blocks; // offsets in the page
        bool in_run = false;            // of one that begins in front of it
    };
    bool is_free(std::size_t page) const { return pages_[page].blocks.empty() && !pages_[page].in_run; }
    std::size_t super_end(std::size_t page) const;

    Room room_;
    int debug_;
    std::uint64_t page_bytes_;
    std::size_t super_pages_;
    std::vector<Page> pages_;
};

} // namespace conformance
