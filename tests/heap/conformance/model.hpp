// What a lone caller must get, by kind of heap: the host's account of which memory is taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kma/kma.hpp"

namespace conformance {

/// The room of an empty heap.
struct Room {
    std::uint64_t begin;            ///< offset of the first byte that a block may have
    std::uint64_t capacity;         ///< bytes for blocks
    std::uint64_t superblock_bytes; ///< of those that there are
};

/// What a model says of a number: both are the same in heaps that place blocks by rule.
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

/// What a request takes of a superblock: 16, 32, 48, 64, then four sizes for each power of two. Of pages: the same up
/// to an eighth; then a seventh, a sixth … of a page; then whole pages.
std::uint64_t superblock_bytes_of(std::uint64_t bytes, int debug);
std::uint64_t page_bytes_of(std::uint64_t bytes, int debug, std::uint64_t page_bytes);
constexpr std::uint64_t usual_page = 4096;

class Model {
public:
    virtual ~Model() = default;

    /// Whether a lone caller must get a block for `bytes` (yes), or NULL (no).
    virtual Verdict fits(std::uint64_t bytes) const = 0;
    /// The heap handed out `ref`. Returns what is wrong with that, or nothing.
    virtual std::optional<std::string> take(kma::Ref ref, std::uint64_t bytes) = 0;
    virtual void give(kma::Ref ref) = 0;
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

/// Pages of one size, each free, split into chunks of one size, or part of a run of pages within a region. Superblocks
/// are pages without runs; their blocks serve smaller requests only if nothing else does.
class PageModel : public Model {
public:
    /// page_bytes 0: of a superblock heap. A region is a page at least.
    PageModel(const Room &room, int debug, std::uint64_t page_bytes);

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
    std::uint64_t size_of(std::uint64_t bytes) const;
    bool is_free(std::size_t page) const { return pages_[page].blocks.empty() && !pages_[page].in_run; }
    bool has_room(std::uint64_t size, bool of_larger) const;
    std::size_t region_end(std::size_t page) const;

    Room room_;
    int debug_;
    bool is_superblock_;
    std::uint64_t page_bytes_;
    std::size_t region_pages_;
    std::vector<Page> pages_;
};

} // namespace conformance
