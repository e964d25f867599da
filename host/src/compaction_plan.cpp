// Chooses sources and targets of a compaction by what its census says.
#include "compaction_plan.hpp"

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

void add_source(CompactionPlan &plan, std::size_t region)
{
    plan.sources.push_back(static_cast<std::uint32_t>(region));
    plan.is_source[region] = 1;
}

} // namespace

CompactionPlan plan_compaction(const std::vector<kma_region> &regions, std::uint32_t most,
                               std::uint32_t fullest)
{
    CompactionPlan plan;
    plan.is_source.resize(regions.size());
    std::uint64_t wanted = 0, room = 0; // units
    std::size_t target = 0;             // all below were looked at
    for (std::size_t s = regions.size(); s-- > target && plan.sources.size() < most;) {
        const kma_region &source = regions[s];
        if (!can_be_emptied(source) || source.objects.word == 0 || source.units.word > fullest)
            continue;
        for (; target < s && room < wanted + source.units.word; target++) {
            if (!is_target(regions[target], fullest))
                continue;
            room += regions[target].holes.word;
            plan.targets.push_back(static_cast<std::uint32_t>(target));
        }
        if (room < wanted + source.units.word)
            break;
        wanted += source.units.word;
        add_source(plan, s);
    }
    return plan;
}

CompactionPlan plan_window(const std::vector<kma_region> &regions, std::uint32_t count,
                           std::uint32_t fullest, bool is_last_whole)
{
    CompactionPlan plan;
    plan.is_source.resize(regions.size());
    std::uint64_t all = 0; // holes
    for (const kma_region &region : regions)
        all += is_target(region, fullest) ? region.holes.word : 0;
    std::uint64_t wanted = 0, holes = 0; // of the window that begins at `first`
    std::uint32_t fixed = 0;
    std::optional<std::size_t> best;
    std::uint64_t least = 0;
    for (std::size_t first = regions.size(); first-- != 0;) {
        const auto change = [&](const kma_region &region, std::uint64_t by) {
            wanted += by * region.units.word; // `by` is 1, or -1 modulo 2^64
            holes += by * (is_target(region, fullest) ? region.holes.word : 0);
            fixed += static_cast<std::uint32_t>(by) * (can_be_emptied(region) ? 0u : 1u);
        };
        change(regions[first], 1);
        if (first + count < regions.size())
            change(regions[first + count], ~std::uint64_t{0});
        const std::size_t end = first + count;
        if (end > regions.size() || (end == regions.size() && !is_last_whole) || fixed != 0 ||
            wanted > all - holes)
            continue;
        if (!best || wanted < least) {
            best = first;
            least = wanted;
        }
    }
    if (!best)
        return plan;
    for (std::size_t i = 0; i < regions.size(); i++) {
        if (i >= *best && i < *best + count)
            add_source(plan, i);
        else if (is_target(regions[i], fullest))
            plan.targets.push_back(static_cast<std::uint32_t>(i));
    }
    return plan;
}

} // namespace kma
