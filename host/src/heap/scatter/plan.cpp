// Sizes of scatter heaps. The formulas are the device's own (cl/kma/heap/scatter/layout.cl).
#include "heap/scatter/plan.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "kma/error.hpp"
#include "support/saturating.hpp"
#include "support/say.hpp"

namespace kma::scatter_plan {

static_assert(7 + 24 <= KMA_SCATTER_CLASSES,
              "pages of 16 KiB have 24 classes up to an eighth of them");
static_assert(KMA_SCATTER_CLASSES < KMA_SCATTER_SIZES,
              "each class has an entry in the tables, and no class has one");
static_assert(KMA_SCATTER_CLASSES <= KMA_SCATTER_HEAD, "no class looks like a page of a run");
static_assert(KMA_SCATTER_UNUSED < 1u << (31 - KMA_SCATTER_SPLIT_SHIFT),
              "all fit between the count and the mark for free");
static_assert(KMA_SCATTER_COUNT + 1 == 1u << KMA_SCATTER_SPLIT_SHIFT);

namespace {

constexpr std::uint64_t smallest_page = std::uint64_t{KMA_UNIT} << KMA_SCATTER_MIN_SHIFT;
constexpr std::uint64_t largest_page = std::uint64_t{KMA_UNIT} << KMA_SCATTER_MAX_SHIFT;

// ScatterAlloc's page size (section 8, "Results").
constexpr std::uint64_t usual_page = 4096;
constexpr std::uint64_t usual_super_block = std::uint64_t{8} << 20;

constexpr std::uint64_t most_pages = KMA_SCATTER_MOST_PAGES;

// Bytes of a heap of `pages` pages, with metadata for options.max_bytes.
std::uint64_t heap_bytes(const HeapOptions &options, std::uint64_t pages)
{
    if (pages > most_pages)
        return most;
    const std::uint32_t debug = static_cast<std::uint32_t>(options.debug);
    std::uint64_t units;
    layout::kma_scatter_plan_of(static_cast<std::uint32_t>(pages), shift_of(options),
                           super_shift_of(options), debug, &units);
    const std::uint64_t bytes = units * KMA_UNIT;
    if (options.max_bytes <= bytes)
        return bytes;
    const auto largest = layout::kma_scatter_plan_for(options.max_bytes, shift_of(options),
                                                 super_shift_of(options), debug);
    return std::min(std::uint64_t{largest.begin} * KMA_UNIT + pages * options.scatter.page_bytes,
                    options.max_bytes);
}

std::uint64_t units_of(const HeapOptions &options, std::uint64_t bytes)
{
    return options.debug >= 2 ? layout::kma_guard_units(1, bytes) : layout::kma_whole_units(bytes);
}

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b)
{
    return a / b + (a % b != 0 ? 1 : 0);
}

} // namespace

HeapOptions completed(const HeapOptions &options)
{
    HeapOptions all = options;
    all.scatter.page_bytes =
        options.scatter.page_bytes != 0 ? options.scatter.page_bytes : usual_page;
    if (!std::has_single_bit(all.scatter.page_bytes) || all.scatter.page_bytes < smallest_page ||
        all.scatter.page_bytes > largest_page)
        throw Error(say("pages of ", options.scatter.page_bytes, " bytes are impossible: use ",
                        smallest_page, ", 8192 or ", largest_page, ", or 0 for the usual ",
                        usual_page));
    all.scatter.region_bytes =
        options.scatter.region_bytes != 0 ? options.scatter.region_bytes : usual_super_block;
    const std::uint64_t most_bytes = all.scatter.page_bytes << KMA_SCATTER_MAX_SUPER_SHIFT;
    if (!std::has_single_bit(all.scatter.region_bytes) ||
        all.scatter.region_bytes < all.scatter.page_bytes || all.scatter.region_bytes > most_bytes)
        throw Error(say("regions of ", options.scatter.region_bytes,
                        " bytes are impossible: use a power of two from ", all.scatter.page_bytes,
                        " to ", most_bytes, ", or 0 for the usual ", usual_super_block));
    return all;
}

std::uint32_t shift_of(const HeapOptions &options) noexcept
{
    return static_cast<std::uint32_t>(std::bit_width(options.scatter.page_bytes / KMA_UNIT)) - 1;
}

std::uint32_t super_shift_of(const HeapOptions &options) noexcept
{
    return static_cast<std::uint32_t>(
               std::bit_width(options.scatter.region_bytes / options.scatter.page_bytes)) -
           1;
}

layout::kma_scatter_plan plan(const HeapOptions &options, std::uint64_t bytes)
{
    const auto made = layout::kma_scatter_plan_growing(bytes, options.max_bytes, shift_of(options),
                                                  super_shift_of(options),
                                                  static_cast<std::uint32_t>(options.debug));
    if (made.pages == 0)
        throw Error(say("a heap of ", bytes, " bytes is too small: its metadata and one page of ",
                        options.scatter.page_bytes, " bytes need ",
                        std::uint64_t{made.begin} * KMA_UNIT + options.scatter.page_bytes,
                        "; Heap::bytes_for says what your blocks need"));
    return made;
}

std::uint64_t bytes_for_payload(const HeapOptions &options, std::uint64_t payload)
{
    const HeapOptions all = completed(options);
    return heap_bytes(all, std::max<std::uint64_t>(divide_up(payload, all.scatter.page_bytes), 1));
}

// Counts full pages, and pages that other shards may have begun.
std::uint64_t bytes_for_blocks(const HeapOptions &options, const std::vector<BlockDemand> &blocks)
{
    const HeapOptions all = completed(options);
    const std::uint32_t shift = shift_of(all);
    std::array<std::uint64_t, KMA_SCATTER_CLASSES> counts{};
    std::uint64_t pages = 0;
    for (const BlockDemand &demand : blocks) {
        if (demand.size == 0 || demand.count == 0)
            continue;
        const std::uint64_t units = units_of(all, demand.size);
        if (units > all.scatter.region_bytes / KMA_UNIT)
            throw Error(
                say("this scatter heap has no blocks of ", demand.size,
                    " bytes: they end at one region, ", all.scatter.region_bytes,
                    " bytes here; make scatter.region_bytes larger, or use HeapKind::bump"));
        if (units <= std::uint64_t{1} << shift) {
            std::uint64_t &count =
                counts[layout::kma_scatter_class_of(static_cast<std::uint32_t>(units), shift)];
            count = add_up(count, demand.count);
        } else {
            // Runs do not cross regions. Other pages in their way are not counted.
            const std::uint64_t run = divide_up(units * KMA_UNIT, all.scatter.page_bytes);
            const std::uint64_t super_pages = std::uint64_t{1} << super_shift_of(all);
            pages =
                add_up(pages, multiply(divide_up(demand.count, super_pages / run), super_pages));
        }
    }
    for (std::uint32_t c = 0; c < layout::kma_scatter_classes(shift); c++)
        if (counts[c] != 0) {
            const std::uint64_t filled = divide_up(counts[c], layout::kma_scatter_spots(c, shift));
            pages = add_up(pages, std::min(counts[c], add_up(filled, 2 * KMA_SCATTER_PLACES)));
        }
    return heap_bytes(all, std::max<std::uint64_t>(pages, 1));
}

} // namespace kma::scatter_plan
