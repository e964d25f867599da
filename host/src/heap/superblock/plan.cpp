// Sizes of superblock heaps. The formulas are the device's own (cl/kma/heap/superblock/layout.cl).
#include "heap/superblock/plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <optional>

#include "kma/error.hpp"
#include "support/saturating.hpp"
#include "support/say.hpp"

namespace kma::superblock_plan {

// The bit fields suffice for the largest superblocks, which have the most blocks and classes.
constexpr std::uint64_t most_slots = std::uint64_t{1} << KMA_SUPERBLOCK_MAX_SHIFT;
static_assert(most_slots < KMA_SUPERBLOCK_KEPT,
              "a credit counts all blocks of a superblock below its mark");
static_assert(most_slots + 2 < 2 * most_slots,
              "shift + 1 bits of an offer of 32 count draws up to the mark for dry");
static_assert(KMA_SUPERBLOCK_MAX_SHIFT + 1 < 31,
              "the bits above them number superblocks, and none");
static_assert((5 + (KMA_CLASSES - 1) % 4) << ((KMA_CLASSES - 1) / 4 - 1) == most_slots,
              "the last class is one block of a superblock");
static_assert(KMA_CLASSES <= (KMA_SUPERBLOCK_UNUSED & ~KMA_SUPERBLOCK_FREE),
              "no class looks like that of a superblock never used");
static_assert(KMA_SUPERBLOCK_UNUSED & KMA_SUPERBLOCK_FREE, "a superblock never used is free");

namespace {

constexpr std::uint64_t smallest = std::uint64_t{KMA_UNIT} << KMA_SUPERBLOCK_MIN_SHIFT;
constexpr std::uint64_t largest = std::uint64_t{KMA_UNIT} << KMA_SUPERBLOCK_MAX_SHIFT;

// The default number of superblocks, as far as their sizes allow: enough for many size classes, few
// enough for large blocks. In heaps of up to 32 GiB 32-bit atomics can number them.
constexpr std::uint64_t usual_superblocks = 128;

// A heap that may grow starts with at least this many superblocks, to which the metadata's size is
// counted.
constexpr std::uint64_t first_superblocks = 32;

// Bytes that KMA_DEBUG 2 and 3 add to each block.
constexpr std::uint64_t guard_bytes = std::uint64_t{KMA_GUARD_FRONT + KMA_GUARD_BACK} * KMA_UNIT;

// The default upper limit of a superblock's bytes in a heap that has, or may grow to, `bytes`
// bytes.
std::uint64_t usual_superblock_bytes(std::uint64_t bytes)
{
    return std::bit_floor(std::clamp(bytes / usual_superblocks, smallest, largest));
}

// The plan of a heap that has, or may grow to, `bytes` bytes.
layout::kma_superblock_plan plan_at_most(const HeapOptions &options, std::uint64_t bytes,
                                 std::uint64_t superblock_bytes)
{
    return layout::kma_superblock_plan_for(bytes, shift_of(superblock_bytes),
                                   static_cast<std::uint32_t>(options.debug), true);
}

// Bytes of a heap of `superblocks` superblocks, with metadata for options.max_bytes.
std::uint64_t heap_bytes(const HeapOptions &options, std::uint64_t superblocks,
                         std::uint64_t superblock_bytes)
{
    if (superblocks > 0xffffffff)
        return most;
    const layout::kma_superblock_plan grown =
        plan_at_most(options, options.max_bytes, superblock_bytes);
    if (superblocks <= grown.room)
        return std::uint64_t{grown.begin} * KMA_UNIT + superblocks * superblock_bytes;
    std::uint64_t units;
    layout::kma_superblock_plan_of(static_cast<std::uint32_t>(superblocks),
                                   shift_of(superblock_bytes),
                                   static_cast<std::uint32_t>(options.debug), &units);
    return units * KMA_UNIT;
}

// The minimal bytes of a heap with superblocks of this size by default.
std::uint64_t bytes_that_choose(const HeapOptions &options, std::uint64_t superblock_bytes)
{
    const bool grows = usual_superblock_bytes(options.max_bytes) >= superblock_bytes;
    return superblock_bytes *
           (grows && options.max_bytes != 0 ? first_superblocks : usual_superblocks);
}

// Finds the bytes of a heap with as many superblocks as `needed` returns for their size, nullopt if
// the size is impossible. The size is the given one, or the default for a heap of the resulting
// bytes.
using Needed = std::function<std::optional<std::uint64_t>(std::uint64_t superblock_bytes)>;
std::optional<std::uint64_t> consistent_bytes(const HeapOptions &options, const Needed &needed)
{
    if (options.superblock.bytes != 0) {
        const std::uint64_t given = superblock_bytes(options, 0);
        const auto superblocks = needed(given);
        return superblocks ? std::optional(heap_bytes(
                                 options, std::max<std::uint64_t>(*superblocks, 1), given))
                           : std::nullopt;
    }
    for (std::uint64_t size = smallest; size <= largest; size *= 2) {
        const auto superblocks = needed(size);
        if (!superblocks)
            continue;
        const std::uint64_t bytes =
            heap_bytes(options, std::max<std::uint64_t>(*superblocks, 1), size);
        const std::uint64_t chosen = superblock_bytes(options, bytes);
        if (chosen <= size) // if smaller, a larger heap has this size as its default
            return chosen == size ? bytes : bytes_that_choose(options, size);
    }
    // no size is possible: the largest is the default for all larger heaps
    return {};
}

// Units that a block takes in a superblock.
std::uint64_t units_of(const HeapOptions &options, std::uint64_t bytes)
{
    return options.debug >= 2 ? layout::kma_guard_units(1, bytes) : layout::kma_whole_units(bytes);
}

// Number of superblocks of a size in which all these blocks fit, one more for each class; nullopt
// if a block is larger than a superblock.
std::optional<std::uint64_t> superblocks_for(const HeapOptions &options,
                                             const std::vector<BlockDemand> &blocks,
                                             std::uint64_t superblock_bytes)
{
    std::array<std::uint64_t, KMA_CLASSES> counts{};
    for (const BlockDemand &demand : blocks) {
        if (demand.size == 0 || demand.count == 0)
            continue;
        const std::uint64_t units = units_of(options, demand.size);
        if (units > superblock_bytes / KMA_UNIT)
            return {};
        std::uint64_t &count = counts[layout::kma_class_of(static_cast<std::uint32_t>(units))];
        count = add_up(count, demand.count);
    }
    std::uint64_t superblocks = 0;
    for (std::uint32_t c = 0; c < KMA_CLASSES; c++) {
        if (counts[c] == 0)
            continue;
        const std::uint64_t slots = superblock_bytes / KMA_UNIT / layout::kma_class_units(c);
        const std::uint64_t full = counts[c] / slots + (counts[c] % slots != 0 ? 1 : 0);
        superblocks = add_up(superblocks, add_up(full, 1));
    }
    return superblocks;
}

} // namespace

std::uint32_t shift_of(std::uint64_t superblock_bytes) noexcept
{
    return static_cast<std::uint32_t>(std::bit_width(superblock_bytes / KMA_UNIT)) - 1;
}

std::uint64_t superblock_bytes(const HeapOptions &options, std::uint64_t heap_bytes)
{
    const std::uint64_t given = options.superblock.bytes;
    if (given == 0 && heap_bytes >= options.max_bytes)
        return usual_superblock_bytes(heap_bytes);
    if (given == 0)
        return std::min(usual_superblock_bytes(options.max_bytes),
                        std::bit_floor(std::max(heap_bytes / first_superblocks, smallest)));
    if (!std::has_single_bit(given) || given < smallest || given > largest)
        throw Error(say("superblock.bytes = ", given,
                        " is no size for superblocks: it must be a power of two from ", smallest,
                        " to ", largest, ", or 0 to have it chosen"));
    return given;
}

layout::kma_superblock_plan plan(const HeapOptions &options, std::uint64_t heap_bytes,
                         std::uint64_t superblock_bytes)
{
    const layout::kma_superblock_plan plan = layout::kma_superblock_plan_growing(
        heap_bytes, options.max_bytes, shift_of(superblock_bytes),
        static_cast<std::uint32_t>(options.debug), true);
    if (plan.superblocks != 0)
        return plan;
    const std::uint64_t enough = bytes_for_payload(options, 1);
    const std::string growing = options.max_bytes > heap_bytes
                                    ? say(", if it may grow to ", options.max_bytes, " bytes,")
                                    : "";
    throw Error(say("a heap of ", heap_bytes, " bytes is too small: its metadata", growing,
                    " and one superblock of ", superblock_plan::superblock_bytes(options, enough),
                    " bytes need ", enough, "; Heap::bytes_for says what your blocks need"));
}

void check_for_32_bits(const HeapOptions &options, std::uint64_t at_first, std::uint64_t size)
{
    const std::uint64_t bytes = std::max(at_first, options.max_bytes);
    const auto room = [&](std::uint64_t s) { return plan_at_most(options, bytes, s).room; };
    const auto allowed = [](std::uint64_t s) {
        return layout::kma_superblock_most(shift_of(s), false);
    };
    if (room(size) <= allowed(size))
        return;
    std::uint64_t largest_heap = 0;
    for (std::uint64_t s = smallest; s <= largest; s *= 2) {
        largest_heap = std::max(largest_heap, heap_bytes({.debug = options.debug}, allowed(s), s));
        if (room(s) <= allowed(s))
            throw Error(say("a heap of ", bytes, " bytes has room for ", room(size),
                            " superblocks of ", size,
                            " bytes, and without 64-bit atomics there can be ", allowed(size),
                            ": superblock.bytes = ", s, " would do"));
    }
    throw Error(say("a heap of ", bytes,
                    " bytes is too large without 64-bit atomics, which number the superblocks of ",
                    largest_heap, " bytes at most; take several heaps, or a smaller one"));
}

std::uint64_t bytes_for_payload(const HeapOptions &options, std::uint64_t payload)
{
    return *consistent_bytes(options, [&](std::uint64_t size) -> std::optional<std::uint64_t> {
        return payload / size + (payload % size != 0 ? 1 : 0);
    });
}

std::uint64_t bytes_for_blocks(const HeapOptions &options, const std::vector<BlockDemand> &blocks)
{
    if (const auto bytes = consistent_bytes(
            options, [&](std::uint64_t size) { return superblocks_for(options, blocks, size); }))
        return *bytes;
    std::uint64_t size = 0;
    for (const BlockDemand &demand : blocks)
        if (demand.count != 0)
            size = std::max(size, demand.size);
    const std::string guarded =
        options.debug >= 2 ? say(", less ", guard_bytes, " that KMA_DEBUG puts around") : "";
    throw Error(say(
        "a superblock heap has no blocks of ", size, " bytes: they end at one superblock, ",
        options.superblock.bytes != 0 ? options.superblock.bytes : largest, " bytes here", guarded,
        ", ", largest, " at most; make superblock.bytes larger, or use HeapKind::bump"));
}

} // namespace kma::superblock_plan
