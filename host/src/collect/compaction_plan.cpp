// Chooses sources and targets of a compaction from the census of regions.
#include "collect/compaction_plan.hpp"

#include <algorithm>
#include <optional>

namespace kma {

using layout::kma_region;

namespace {

bool can_be_emptied(const kma_region &region)
{
    return region.fixed.word == 0;
}

bool is_target(const kma_region &region, std::uint32_t fullest)
{
    return region.holes.word != 0 && region.units.word <= fullest;
}

// Units of free slots and free frames to which objects may move.
std::uint64_t room_in(const kma_region &region, std::uint32_t fullest)
{
    return (is_target(region, fullest) ? region.holes.word : 0) + region.open.word;
}

void add_source(CompactionPlan &plan, const std::vector<kma_region> &regions, std::size_t region)
{
    plan.sources.push_back(static_cast<std::uint32_t>(region));
    plan.is_source[region] = 1;
    plan.units += regions[region].units.word;
}

} // namespace

CompactionPlan plan_compaction(const std::vector<kma_region> &regions, std::uint32_t most,
                               std::uint32_t fullest)
{
    CompactionPlan plan;
    plan.is_source.resize(regions.size());
    std::uint64_t holes = 0, open = 0; // units in regions below `target`: free slots, free frames
    std::size_t target = 0;
    for (std::size_t s = regions.size(); s-- > target && plan.sources.size() < most;) {
        const kma_region &source = regions[s];
        if (!can_be_emptied(source) || source.units.word == 0 || source.units.word > fullest)
            continue;
        for (; target < s && holes < plan.units + source.units.word; target++) {
            open += regions[target].open.word; // free frames, for new pages
            if (!is_target(regions[target], fullest))
                continue;
            holes += regions[target].holes.word;
            plan.targets.push_back(static_cast<std::uint32_t>(target));
        }
        if (holes + open < plan.units + source.units.word)
            break;
        add_source(plan, regions, s);
    }
    return plan;
}

CompactionPlan plan_window(const std::vector<kma_region> &regions, Window window,
                           std::uint32_t fullest)
{
    CompactionPlan plan;
    plan.is_source.resize(regions.size());
    std::uint64_t all = 0; // units of free space in all regions
    for (const kma_region &region : regions)
        all += room_in(region, fullest);
    std::uint64_t wanted = 0, room = 0; // units in the window that begins at `first`
    std::uint32_t fixed = 0;
    std::optional<std::size_t> best;
    std::uint64_t least = 0;
    for (std::size_t first = regions.size(); first-- != 0;) {
        const auto change = [&](const kma_region &region, std::uint64_t by) {
            wanted += by * region.units.word; // `by` is 1, or -1 modulo 2^64
            room += by * room_in(region, fullest);
            fixed += static_cast<std::uint32_t>(by) * (can_be_emptied(region) ? 0u : 1u);
        };
        const std::size_t end = first + window.regions;
        change(regions[first], 1);
        if (end < regions.size())
            change(regions[end], ~std::uint64_t{0});
        const bool is_within =
            window.within == 0 || first / window.within == (end - 1) / window.within;
        if (end > regions.size() || (end == regions.size() && !window.is_last_whole) ||
            !is_within || regions[first].entered.word != 0 || fixed != 0 || wanted > all - room)
            continue;
        if (!best || wanted < least) {
            best = first;
            least = wanted;
        }
    }
    if (!best)
        return plan;
    for (std::size_t i = 0; i < regions.size(); i++) {
        if (i >= *best && i < *best + window.regions)
            add_source(plan, regions, i);
        else if (is_target(regions[i], fullest))
            plan.targets.push_back(static_cast<std::uint32_t>(i));
    }
    return plan;
}

} // namespace kma
