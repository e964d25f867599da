// Sizes of slab heaps. The formulas are the device's own (cl/kma/heap/slab_plan.cl).
#include "slab_plan.hpp"

#include <algorithm>
#include <array>

#include "kma/error.hpp"
#include "saturating.hpp"
#include "say.hpp"

namespace kma::slab_plan {

static_assert(KMA_SL_LINE == KMA_SL_SLOTS, "a line of the smallest blocks is a slab");
static_assert(1 + KMA_SL_PLANES < KMA_SL_BACK, "header and planes end before the first line with a way back");
static_assert(KMA_SL_MOST_MIXED >> KMA_SL_COARSE_SHIFT < 1u << KMA_SL_PLANES, "planes tell of the largest slot");
static_assert(KMA_SL_MOST_EQUAL << 6 <= KMA_SL_VALUE && KMA_SL_MOST_EQUAL >= KMA_SL_MOST_MIXED);

namespace {

constexpr std::uint64_t chunk_bytes = std::uint64_t{KMA_UNIT} << (2 * KMA_SL_LINE_SHIFT);
constexpr std::uint64_t line_bytes = std::uint64_t{KMA_UNIT} << KMA_SL_LINE_SHIFT;
constexpr std::uint64_t most_chunks = (std::uint64_t{1} << 36) / chunk_bytes;

// Bytes of a heap with so many chunks, whose metadata have room for options.max_bytes.
std::uint64_t heap_bytes(const HeapOptions &options, std::uint64_t chunks)
{
    if (chunks > most_chunks)
        return most;
    const std::uint32_t debug = static_cast<std::uint32_t>(options.debug);
    std::uint64_t units;
    layout::kma_sl_plan_of(static_cast<std::uint32_t>(chunks), KMA_SL_CURSORS, debug, &units);
    const std::uint64_t bytes = units * KMA_UNIT;
    if (options.max_bytes <= bytes)
        return bytes;
    const auto largest = layout::kma_sl_plan_for(options.max_bytes, KMA_SL_CURSORS, debug);
    return std::min(std::uint64_t{largest.begin} * KMA_UNIT + chunks * chunk_bytes, options.max_bytes);
}

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b)
{
    return a / b + (a % b != 0 ? 1 : 0);
}

// Lines for so many blocks of `each` lines that have slabs of their own. A cursor, which draws up to a share of lines,
// may leave up to `each` - 1 in front of each of them; a walk through the heap leaves none but where it began and
// ended.
std::uint64_t lines_of_runs(std::uint64_t count, std::uint64_t each)
{
    if (each <= std::uint64_t{1} << KMA_SL_MANY_SHIFT)
        return multiply(count, 2 * each - 1);
    return multiply(add_up(count, 2), each);
}

} // namespace

std::uint32_t cursors_for(std::uint32_t compute_units) noexcept
{
    constexpr std::uint32_t usual = KMA_SL_USUAL_CURSORS, least = usual / 2, most = 2 * usual;
    static_assert(most <= KMA_SL_CURSORS);
    for (std::uint32_t distance = 0; distance <= usual; distance++)
        for (const std::uint32_t n : {usual - distance, usual + distance})
            if (n >= least && n <= most && compute_units % n == 0 && compute_units != 0)
                return n;
    return usual;
}

layout::kma_sl_plan plan(const HeapOptions &options, std::uint64_t heap_bytes, std::uint32_t cursors)
{
    const auto made =
        layout::kma_sl_plan_growing(heap_bytes, options.max_bytes, cursors, static_cast<std::uint32_t>(options.debug));
    if (made.chunks == 0)
        throw Error(say("a heap of ", heap_bytes, " bytes is too small: its metadata and ", chunk_bytes,
                        " bytes for blocks need ", bytes_for_payload(options, 1),
                        "; Heap::bytes_for says what your blocks need"));
    return made;
}

std::uint64_t bytes_for_payload(const HeapOptions &options, std::uint64_t payload)
{
    return heap_bytes(options, std::max<std::uint64_t>(divide_up(payload, chunk_bytes), 1));
}

namespace {

// Slabs of lanes together that have the blocks of so many slabs of a class, as lanes alone share them. Lanes that ask together
// leave less than half of their slab unused (kma_sl_is_waste, slab_take.cl), but for this: with a block of 2 KiB or more
// the others' sizes are rounded up to 64 bytes, and there are nine lines or more. Then one of 2 KiB may have 288 units
// with as little as five blocks of a unit beside it, and any larger one no more than twice its size and theirs.
std::uint64_t slabs_together(std::uint64_t slabs, std::uint32_t size_class)
{
    static_assert(2 + KMA_SL_PLANES == 9 && KMA_SL_MOST_MIXED == 2 * (1 << KMA_SL_PLANES));
    const bool is_coarse_alone = layout::kma_sl_units(size_class) == 1 << KMA_SL_PLANES;
    return add_up(multiply(slabs, 2), is_coarse_alone ? divide_up(slabs, 4) : 0);
}

// For blocks that lanes take alone or together, and for the slabs that heads of so many places may have beside theirs.
std::uint64_t lines_of_slabs(const std::array<std::uint64_t, KMA_SL_CLASSES> &counts, std::uint32_t places)
{
    std::uint64_t lines = 0;
    for (std::uint32_t c = 0; c < KMA_SL_CLASSES; c++) {
        const layout::kma_sl_size size = layout::kma_sl_size_of(c);
        const std::uint64_t slabs = divide_up(counts[c], size.slots);
        const std::uint64_t beside = std::min<std::uint64_t>(counts[c] - slabs, layout::kma_sl_places_of(places, c));
        lines = add_up(lines, multiply(add_up(slabs_together(slabs, c), beside), size.lines));
    }
    return lines;
}

} // namespace

std::uint64_t bytes_for_blocks(const HeapOptions &options, const std::vector<BlockDemand> &blocks)
{
    std::array<std::uint64_t, KMA_SL_CLASSES> counts{};
    std::uint64_t lines = 0;
    for (const BlockDemand &demand : blocks) {
        if (demand.size == 0 || demand.count == 0)
            continue;
        const std::uint64_t units =
            options.debug >= 2 ? layout::kma_guard_units(1, demand.size) : layout::kma_whole_units(demand.size);
        if (units > KMA_SL_MOST_MIXED) {
            lines = add_up(lines, lines_of_runs(demand.count, divide_up(units, KMA_SL_LINE)));
        } else {
            std::uint64_t &count = counts[layout::kma_sl_class_of(static_cast<std::uint32_t>(units))];
            count = add_up(count, demand.count);
        }
    }
    std::uint64_t chunks = 0;
    for (std::uint32_t places = 0, rounds = 0; rounds < 12; rounds++) { // until so large a heap has no more places
        const std::uint64_t all = add_up(lines, lines_of_slabs(counts, places));
        chunks = std::max<std::uint64_t>(divide_up(multiply(all, line_bytes), chunk_bytes), 1);
        const std::uint32_t has =
            layout::kma_sl_places(static_cast<std::uint32_t>(std::min<std::uint64_t>(chunks, ~0u)));
        if (has <= places)
            break;
        places = has;
    }
    return heap_bytes(options, chunks);
}

} // namespace kma::slab_plan
