#include "heap/common/guard.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace kma {
namespace {

using layout::kma_guard_block;

static_assert(sizeof(kma_guard_block) == 2 * KMA_UNIT && KMA_GUARD_FRONT == 3);
static_assert(sizeof(layout::kma_bump_block) == KMA_UNIT);
static_assert(offsetof(kma_guard_block, state) == offsetof(layout::kma_bump_block, state));

template <class T> T read(const std::byte *at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

bool is_state(std::uint32_t word)
{
    return word == KMA_BLOCK_LIVE || word == KMA_BLOCK_HELD || word == KMA_BLOCK_FREED;
}

// Offset of the first byte in [from, to), counted from the block's ref, that differs from `right`;
// nullopt if there is none.
std::optional<std::int64_t> first_other(const HeapPart &part, Ref ref, std::int64_t from,
                                        std::int64_t to, std::byte right)
{
    const std::byte *block = part.at(ref);
    const auto *found =
        std::find_if(block + from, block + to, [&](std::byte is) { return is != right; });
    return found == block + to ? std::nullopt : std::optional<std::int64_t>(found - block);
}

std::string hex(std::byte value)
{
    constexpr const char *digits = "0123456789abcdef";
    return std::string("0x") + digits[static_cast<unsigned>(value) >> 4] +
           digits[static_cast<unsigned>(value) & 15u];
}

// The guard that kernels would find for a block at `ref`, without its end. From KMA_DEBUG 2 on its
// checksum is right.
std::optional<BlockGuard> followed_guard(const HeapPart &part, Ref ref, int debug)
{
    const std::uint32_t raw = ref - layout::kma_bump_front(static_cast<std::uint32_t>(debug));
    const auto begins = read<layout::kma_bump_block>(part.at(raw));
    const std::uint32_t state = begins.state.word ^ ref;
    if (!is_state(state))
        return {};
    if (debug < 2)
        return BlockGuard{ref, begins.bytes, state, 0, 0, raw, 0};
    const auto all = read<kma_guard_block>(part.at(raw));
    if (all.sum != layout::kma_guard_sum(all.bytes, all.raw, all.work_item, ref))
        return {};
    return BlockGuard{ref, all.bytes, state, all.work_item, all.site, all.raw, 0};
}

// A description such as "the block at ref 5, 100 bytes, which work-item 7 took at list.cl:42,".
std::string name_of(const BlockGuard &block, const layout::kma_guard &guard)
{
    const std::string where = site_text(guard, block.site);
    return say("the ", block.state == KMA_BLOCK_LIVE ? "" : "freed ", "block at ref ", block.ref,
               ", ", block.bytes, " bytes, which work-item ", block.work_item, " took",
               where.empty() ? "" : " at ", where, ",");
}

void check_living(const HeapPart &part, const BlockGuard &block, const layout::kma_guard &guard,
                  Findings &findings)
{
    const auto zone = static_cast<std::byte>(KMA_GUARD_ZONE & 0xff);
    const auto end = (std::int64_t{block.end} - block.ref) * KMA_UNIT;
    if (const auto at = first_other(part, block.ref, -std::int64_t{KMA_UNIT}, 0, zone))
        findings.add("blocks written over in front", name_of(block, guard),
                     " was written over in front: byte ", *at, " from its start is ",
                     hex(part.at(block.ref)[*at]), ", should be ", hex(zone));
    if (const auto at =
            first_other(part, block.ref, static_cast<std::int64_t>(block.bytes), end, zone))
        findings.add("blocks written over behind", name_of(block, guard),
                     " was written over behind its end: byte ", *at, " from its start is ",
                     hex(part.at(block.ref)[*at]), ", should be ", hex(zone));
}

void check_freed(const HeapPart &part, const BlockGuard &block, const layout::kma_guard &guard,
                 Findings &findings)
{
    const auto poison = static_cast<std::byte>(KMA_GUARD_FREED & 0xff);
    const auto end = (std::int64_t{block.end} - block.ref) * KMA_UNIT;
    if (const auto at = first_other(part, block.ref, -std::int64_t{KMA_UNIT}, end, poison))
        findings.add("freed blocks written to", name_of(block, guard),
                     " was written to after the free: byte ", *at, " from its start is ",
                     hex(part.at(block.ref)[*at]), ", should be ", hex(poison));
}

void add_overwritten(const HeapPart &part, Findings &findings)
{
    findings.add("blocks with overwritten guards",
                 "the guard of the block in the units of 16 bytes ", part.first, " to ",
                 part.end() - 1,
                 " was written over; what lies in front of it, or its own work-item, did that");
}

void add_wrong_ref(std::uint32_t place, Ref ref, Findings &findings)
{
    findings.add("wrong refs in the quarantine", "place ", place, " of the quarantine holds ref ",
                 ref, ", which is no freed block, or in it twice");
}

// Checks that the quarantine contains exactly the blocks in `held`. `lost`: freed blocks that left
// the quarantine but are still allocated in the heap's metadata.
void check_quarantine(std::set<Ref> held, std::set<Ref> lost,
                      const layout::kma_quarantine &quarantine, Findings &findings)
{
    for (std::uint32_t place = 0; place < KMA_QUARANTINE; place++)
        if (const Ref ref = quarantine.refs[place].word; ref != 0 && held.erase(ref) == 0)
            add_wrong_ref(place, ref, findings);
    lost.merge(held);
    for (const Ref ref : lost)
        findings.add("freed blocks outside the quarantine", "the freed block at ref ", ref,
                     " is not in the quarantine, and so will not come back");
}

} // namespace

HeapPart HeapPart::from(std::uint32_t unit, std::uint32_t behind) const
{
    return {unit, bytes.subspan(std::uint64_t{unit - first} * KMA_UNIT,
                                std::uint64_t{behind - unit} * KMA_UNIT)};
}

std::optional<BlockGuard> find_guard(const HeapPart &part, int debug)
{
    const std::uint32_t front = layout::kma_bump_front(static_cast<std::uint32_t>(debug));
    const std::uint32_t back = layout::kma_bump_back(static_cast<std::uint32_t>(debug));
    for (Ref ref = part.first + front; ref < part.end(); ref++) {
        const auto begins = read<layout::kma_bump_block>(part.at(ref - front));
        const std::uint64_t units = layout::kma_whole_units(begins.bytes);
        if (!is_state(begins.state.word ^ ref) || units > part.end() - ref ||
            units + back > part.end() - ref)
            continue;
        const std::uint32_t end = ref + static_cast<std::uint32_t>(units) + back;
        if (debug < 2)
            return BlockGuard{ref, begins.bytes, begins.state.word ^ ref, 0, 0, ref - front, end};
        const auto all = read<kma_guard_block>(part.at(ref - front));
        if (all.sum == layout::kma_guard_sum(all.bytes, all.raw, all.work_item, ref) &&
            all.raw >= part.first && all.raw <= ref - front)
            return BlockGuard{ref,     all.bytes, begins.state.word ^ ref, all.work_item, all.site,
                              all.raw, end};
    }
    return {};
}

bool is_fresh(const HeapPart &part)
{
    const auto fresh = static_cast<std::byte>(KMA_GUARD_FRESH & 0xff);
    return std::ranges::all_of(part.bytes, [&](std::byte is) { return is == fresh; });
}

std::string site_text(const layout::kma_guard &guard, std::uint32_t site)
{
    const std::uint32_t line = site & ((1u << KMA_GUARD_LINE_BITS) - 1);
    const std::uint32_t number = site >> KMA_GUARD_LINE_BITS;
    if (line == 0)
        return {};
    if (number == 0 || number > KMA_GUARD_FILES)
        return say("line ", line);
    const auto &name = guard.files[number - 1].name;
    const auto *end = std::find(std::begin(name), std::end(name), 0);
    return say(std::string(std::begin(name), end), ":", line);
}

LeakReport guarded_leaks(const BlockWalk &walk, int debug, const layout::kma_guard *guard,
                         std::size_t most)
{
    LeakReport report;
    std::map<std::uint64_t, std::uint64_t> sizes;
    std::map<std::uint32_t, LeakReport::Place> places;
    walk([&](const HeapPart &part) {
        const std::optional<BlockGuard> block = find_guard(part, debug);
        if (!block || block->state != KMA_BLOCK_LIVE)
            return;
        report.blocks++;
        report.bytes += block->bytes;
        sizes[block->bytes]++;
        if (block->site != 0) {
            LeakReport::Place &place = places[block->site];
            place.count++;
            place.bytes += block->bytes;
        }
        if (report.first.size() < most) {
            LeakReport::Block &listed = report.first.emplace_back();
            listed.ref = block->ref;
            listed.bytes = block->bytes;
            if (debug >= 2)
                listed.work_item = block->work_item;
            listed.where = guard ? site_text(*guard, block->site) : "";
        }
    });
    for (const auto &[bytes, count] : sizes)
        report.sizes.push_back({bytes, count});
    for (const auto &[site, place] : places)
        report.places.push_back({guard ? site_text(*guard, site) : "", place.count, place.bytes});
    std::ranges::stable_sort(report.places, std::ranges::greater(), &LeakReport::Place::bytes);
    return report;
}

void check_guards(const BlockWalk &walk, int debug, bool reuses, const layout::kma_guard &guard,
                  Findings &findings)
{
    std::set<Ref> held, lost;
    walk([&](const HeapPart &part) {
        const std::optional<BlockGuard> block = find_guard(part, debug);
        if (!block)
            add_overwritten(part, findings);
        else if (block->state == KMA_BLOCK_LIVE)
            check_living(part, *block, guard, findings);
        else
            check_freed(part, *block, guard, findings);
        if (block && block->state == KMA_BLOCK_HELD)
            held.insert(block->ref);
        else if (block && block->state == KMA_BLOCK_FREED && reuses)
            lost.insert(block->ref);
    });
    check_quarantine(std::move(held), std::move(lost), guard.quarantine, findings);
}

void check_followed(const BlockWalk &walk, int debug, bool reuses, const layout::kma_guard *guard,
                    Findings &findings)
{
    const std::uint32_t front = layout::kma_bump_front(static_cast<std::uint32_t>(debug));
    const std::uint32_t back = layout::kma_bump_back(static_cast<std::uint32_t>(debug));
    std::map<Ref, std::uint32_t> waiting; // refs in the quarantine, and their indices
    for (std::uint32_t place = 0; guard && place < KMA_QUARANTINE; place++)
        if (const Ref ref = guard->quarantine.refs[place].word;
            ref != 0 && !waiting.emplace(ref, place).second)
            add_wrong_ref(place, ref, findings);
    walk([&](const HeapPart &part) {
        std::uint32_t behind = part.first; // end of the last block
        std::optional<BlockGuard> own;     // the last block
        for (Ref ref = part.first + front; ref < part.end(); ref++) {
            const std::optional<BlockGuard> guard = followed_guard(part, ref, debug);
            if (!guard || (reuses && guard->raw != part.first))
                continue; // no guard, or one of an earlier block
            const std::uint64_t units = layout::kma_whole_units(guard->bytes);
            if (guard->raw < behind || guard->raw > ref - front || units > part.end() - ref ||
                units + back > part.end() - ref)
                add_overwritten(part.from(ref - front, ref), findings);
            else
                behind = ref + static_cast<std::uint32_t>(units) + back;
            own = guard;
            if (reuses)
                break;
        }
        const auto end = waiting.lower_bound(part.end());
        for (auto at = waiting.lower_bound(part.first + front); at != end; at = waiting.erase(at))
            if (own ? own->ref != at->first || own->state != KMA_BLOCK_HELD
                    : followed_guard(part, at->first, debug).has_value())
                add_wrong_ref(at->second, at->first, findings);
    });
    for (const auto &[ref, place] : waiting)
        add_wrong_ref(place, ref, findings);
}

} // namespace kma
