// Sizes of slab heaps. The formulas are the device's own (cl/kma/heap/slab/layout.cl).
#include "heap/slab/plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "kma/error.hpp"
#include "support/saturating.hpp"
#include "support/say.hpp"

namespace kma::slab_plan {

static_assert(KMA_SLAB_FRAME_LINES == 32, "a used word has the lines of a frame");
static_assert(KMA_SLAB_FRAME_UNITS / KMA_SLAB_FRAME_LINES <= 16,
              "a line word has the slots of a page");
static_assert(KMA_SLAB_MOST_MIXED <= KMA_SLAB_FRAME_UNITS / 2,
              "a mixed slab has at most 256 lines");

namespace {

constexpr std::uint64_t frame_bytes = std::uint64_t{KMA_UNIT} * KMA_SLAB_FRAME_UNITS;
constexpr std::uint64_t most_frames = (std::uint64_t{1} << 36) / frame_bytes;

// Bytes of a heap of `frames` frames, with metadata for options.max_bytes.
std::uint64_t heap_bytes(const HeapOptions &options, std::uint64_t frames)
{
    if (frames > most_frames)
        return most;
    const std::uint32_t debug = static_cast<std::uint32_t>(options.debug);
    std::uint64_t units;
    layout::kma_slab_plan_of(static_cast<std::uint32_t>(frames), KMA_SLAB_CURSORS, debug, &units);
    const std::uint64_t bytes = units * KMA_UNIT;
    if (options.max_bytes <= bytes)
        return bytes;
    const auto largest =
        layout::kma_slab_plan_growing(bytes, options.max_bytes, KMA_SLAB_CURSORS, debug);
    return std::min(std::uint64_t{largest.begin} * KMA_UNIT + frames * frame_bytes,
                    options.max_bytes);
}

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b)
{
    return a / b + (a % b != 0 ? 1 : 0);
}

} // namespace

std::uint32_t cursors_for(std::uint32_t compute_units) noexcept
{
    constexpr std::uint32_t usual = KMA_SLAB_USUAL_CURSORS, least = usual / 2, most = 2 * usual;
    static_assert(most <= KMA_SLAB_CURSORS);
    for (std::uint32_t distance = 0; distance <= usual; distance++)
        for (const std::uint32_t n : {usual - distance, usual + distance})
            if (n >= least && n <= most && compute_units % n == 0 && compute_units != 0)
                return n;
    return usual;
}

layout::kma_slab_plan plan(const HeapOptions &options, std::uint64_t heap_bytes,
                           std::uint32_t cursors)
{
    const auto made = layout::kma_slab_plan_growing(heap_bytes, options.max_bytes, cursors,
                                                    static_cast<std::uint32_t>(options.debug));
    if (made.frames == 0)
        throw Error(say("a heap of ", heap_bytes, " bytes is too small: its metadata and ",
                        frame_bytes, " bytes for blocks need ", bytes_for_payload(options, 1),
                        "; Heap::bytes_for says what your blocks need"));
    return made;
}

std::uint64_t bytes_for_payload(const HeapOptions &options, std::uint64_t payload)
{
    return heap_bytes(options, std::max<std::uint64_t>(divide_up(payload, frame_bytes), 1));
}

namespace {

// Frames to add for gaps between runs, at most, for each frame that the runs fill. A mixture of
// many lengths may need more.
constexpr std::uint64_t most_gaps = 3;
// Separate places of blocks of one class that interrupt runs; with guards more, since quarantined
// blocks leave holes.
constexpr std::uint64_t class_places = 4, guarded_class_places = 16;
// Pages that lanes of one shard may begin at the same time, each for a class without free slots.
constexpr std::uint64_t shard_pages = 8;

// Frames for blocks of a class with pages. Lanes may allocate them in pages or in slabs of a warp,
// which leave up to half of their lines unused if sizes differ.
std::uint64_t frames_of_pages(std::uint64_t count, std::uint32_t size_class, std::uint64_t shards)
{
    const std::uint64_t full =
        divide_up(count, KMA_SLAB_FRAME_UNITS / layout::kma_slab_units(size_class));
    return add_up(multiply(full, 2), std::min(count - full, multiply(shards, shard_pages)));
}

// Frames for blocks of a class in which each block has lines of its own.
std::uint64_t frames_of_lines(std::uint64_t count, std::uint32_t size_class)
{
    const std::uint32_t lines = layout::kma_slab_whole_lines(layout::kma_slab_units(size_class));
    return add_up(divide_up(count, KMA_SLAB_FRAME_LINES / lines), divide_up(count, 4));
}

// Frames of `count` blocks of `length` frames, each within one group unless it is longer than a
// group.
std::uint64_t frames_in_groups(std::uint64_t length, std::uint64_t count)
{
    if (length > KMA_SLAB_GROUP_FRAMES)
        return multiply(length, count);
    const std::uint64_t fit = KMA_SLAB_GROUP_FRAMES / length;
    return add_up(multiply(count / fit, KMA_SLAB_GROUP_FRAMES), count % fit * length);
}

// Frames for blocks above the largest class, `counts` by their frames, when `others` blocks lie at
// arbitrary places.
std::uint64_t frames_of_runs(const std::map<std::uint64_t, std::uint64_t> &counts,
                             std::uint64_t others)
{
    std::uint64_t sum = 0, gaps = 0;
    for (const auto &[length, count] : counts) { // in ascending length
        // A gap before a block is at least one frame shorter than the block.
        sum = add_up(sum, add_up(frames_in_groups(length, count), length));
        // Shorter blocks lie at random places: some gaps between them must fit the longer block.
        const auto power =
            static_cast<std::uint64_t>(std::bit_width(add_up(others, 1) / add_up(count, 3) + 1));
        gaps = std::max(gaps, multiply(others, length - 1) / power);
        others = add_up(others, count);
    }
    return add_up(sum, std::min(gaps, multiply(sum, most_gaps)));
}

} // namespace

std::uint64_t bytes_for_blocks(const HeapOptions &options, const std::vector<BlockDemand> &blocks)
{
    std::array<std::uint64_t, KMA_SLAB_CLASSES> counts{};
    std::map<std::uint64_t, std::uint64_t> runs; // counts by frames
    for (const BlockDemand &demand : blocks) {
        if (demand.size == 0 || demand.count == 0)
            continue;
        const std::uint64_t units = options.debug >= 2 ? layout::kma_guard_units(1, demand.size)
                                                       : layout::kma_whole_units(demand.size);
        if (units > KMA_SLAB_MOST) {
            std::uint64_t &count = runs[divide_up(units, KMA_SLAB_FRAME_UNITS)];
            count = add_up(count, demand.count);
        } else {
            std::uint64_t &count =
                counts[layout::kma_slab_class_of(static_cast<std::uint32_t>(units))];
            count = add_up(count, demand.count);
        }
    }
    std::uint64_t frames = 0;
    // ends when the number of shards no longer grows with the heap
    for (std::uint64_t shards = 1, rounds = 0; rounds < 12; rounds++) {
        std::uint64_t all = 0, places = 0;
        for (std::uint32_t c = 0; c < KMA_SLAB_CLASSES; c++) {
            const std::uint64_t these = c < KMA_SLAB_PAGE_CLASSES
                                            ? frames_of_pages(counts[c], c, shards)
                                            : frames_of_lines(counts[c], c);
            all = add_up(all, these);
            places += std::min(these, options.debug >= 2 ? guarded_class_places : class_places);
        }
        all = add_up(all, frames_of_runs(runs, places));
        frames = std::max<std::uint64_t>(all, 1);
        const std::uint32_t has = layout::kma_slab_shards_of(
            static_cast<std::uint32_t>(std::min<std::uint64_t>(frames, ~0u)));
        if (has <= shards)
            break;
        shards = has;
    }
    return heap_bytes(options, frames);
}

} // namespace kma::slab_plan
