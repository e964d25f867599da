#include "slab_model.hpp"

#include <algorithm>

namespace conformance {
namespace {

constexpr std::uint64_t unit = 16, line_units = 32, chunk_lines = 32, most_slots = 32;
constexpr std::uint64_t most_small = 4;       // units of the largest block for which heads get slabs with holes
constexpr std::uint64_t most_shared = 256;    // units of the largest block from slabs that lone callers share: 4 KiB
constexpr std::uint64_t most_together = 1024; // of the largest that lanes together get side by side: 16 KiB

std::uint64_t units_of(std::uint64_t bytes, int debug)
{
    return (guarded(bytes, debug) + unit - 1) / unit;
}

std::uint64_t class_units(std::uint64_t units)
{
    std::uint64_t step = 1;
    while (units > step * 16)
        step *= 2;
    return units <= 8 ? units : (units + step - 1) / step * step;
}

// Slots of more than one unit need a second line, for the header.
std::uint64_t lines_for(std::uint64_t units)
{
    return std::max<std::uint64_t>((units + line_units - 1) / line_units, 2);
}

} // namespace

// The slab of a class at a head: the fewest lines with four slots that leave at most 1/64 of them unused.
SlabModel::Form SlabModel::head_form(std::uint64_t units)
{
    Form form{units == 1 ? 1u : 2u, 0};
    for (;; form.lines++) {
        form.slots = std::min(form.lines * line_units / units, most_slots);
        if (form.slots >= 4 && (form.lines * line_units - form.slots * units) * 64 <= form.lines * line_units)
            return form;
    }
}

// The slab that is made when there are no lines for that.
SlabModel::Form SlabModel::small_form(std::uint64_t units)
{
    if (units > most_shared)
        return {lines_for(units), 1};
    const std::uint64_t lines = units == 1 ? 1 : lines_for(units);
    return {lines, std::min(lines * line_units / units, most_slots)};
}

std::uint64_t SlabModel::block_bytes(std::uint64_t bytes, int debug)
{
    const std::uint64_t units = units_of(bytes, debug);
    return (units > most_together ? lines_for(units) * line_units : units) * unit;
}

std::uint64_t SlabModel::lone_bytes(std::uint64_t bytes, int debug)
{
    const std::uint64_t units = units_of(bytes, debug);
    return (units > most_shared ? lines_for(units) * line_units : class_units(units)) * unit;
}

// ------ how many
// ------------------------------------------------------------------------------------------------------

// Lanes that want less than half a slab together are left to themselves.
std::vector<SlabModel::Form> SlabModel::forms(std::uint64_t bytes) const
{
    const std::uint64_t units = units_of(bytes, debug_), alone = lone_bytes(bytes, debug_) / unit;
    std::vector<Form> all = {small_form(alone)};
    if (units <= most_shared)
        all.push_back(head_form(alone));
    if (units == 1 || units > most_together) // 32 of one unit are a line, as they are alone
        return all;
    for (std::uint64_t mates = 2; mates <= std::min<std::uint64_t>(lanes_, most_slots); mates++)
        if (2 * mates * units >= lines_for(mates * units) * line_units)
            all.push_back({lines_for(mates * units), mates});
    return all;
}

// At most: blocks lie as close as units allow if lanes take them together, and as the class says if not.
//
// At least: a lone caller was refused in the end. So no slab has a free slot, and nowhere are as many lines free as one
// more block needs: behind each slab there are fewer than that, and in front of the first. So the blocks are at least
// as many as if all slabs were of the worst form that may be, each with such a gap behind it.
Range SlabModel::count_when_full(std::uint64_t bytes) const
{
    const std::uint64_t alone = lone_bytes(bytes, debug_) / unit;
    const std::uint64_t gap = small_form(alone).lines - 1;
    std::uint64_t least = ~std::uint64_t{0};
    for (const Form &form : forms(bytes))
        least = std::min(least, lines() < gap ? 0 : (lines() - gap) * form.slots / (form.lines + gap));
    const std::uint64_t closest = lanes_ > 1 ? block_bytes(bytes, debug_) / unit : alone;
    return {least, lines() * line_units / closest};
}

// The rest of its slab; and less than a line, so that whole lines are counted.
std::uint64_t SlabModel::beside(std::uint64_t bytes) const
{
    std::uint64_t most = 0;
    for (const Form &form : forms(bytes))
        most = std::max(most, form.lines * line_units - block_bytes(bytes, debug_) / unit);
    return (most == 0 ? 0 : most + line_units - 1) * unit;
}

// ------ one after the other, by a lone caller -----------------------------------------------------------------------

std::uint64_t SlabModel::Slab::slot_at(std::uint64_t offset) const
{
    const std::uint64_t begin = first * line_units;
    if (offset < begin || (offset - begin) % units != 0)
        return slots;
    return std::min((offset - begin) / units, slots);
}

SlabModel::Want SlabModel::want(std::uint64_t bytes, int debug)
{
    const std::uint64_t units = lone_bytes(bytes, debug) / unit;
    const Form small = small_form(units);
    const Form head = units <= most_shared ? head_form(units) : Form{0, 0};
    return {units, small.lines, small.slots, head.lines, head.slots};
}

// But for slabs that nobody uses.
bool SlabModel::are_free(std::uint64_t first, std::uint64_t count) const
{
    return first + count <= lines() && std::ranges::none_of(slabs_, [&](const Slab &slab) {
               return !slab.taken.empty() && slab.first < first + count && first < slab.first + slab.lines;
           });
}

// Whether so many lines are free side by side; `without_idle`: or would be, without the slabs that nobody uses.
bool SlabModel::has_lines(std::uint64_t count, bool without_idle, bool in_one_chunk) const
{
    std::vector<bool> used(static_cast<std::size_t>(lines()));
    for (const Slab &slab : slabs_)
        if (!without_idle || !slab.taken.empty())
            std::fill_n(used.begin() + static_cast<std::ptrdiff_t>(slab.first), slab.lines, true);
    std::uint64_t side_by_side = 0;
    for (std::size_t line = 0; line < used.size(); line++) {
        if (in_one_chunk && line % chunk_lines == 0)
            side_by_side = 0;
        side_by_side = used[line] ? 0 : side_by_side + 1;
        if (side_by_side >= count)
            return true;
    }
    return false;
}

bool SlabModel::has_slot(std::uint64_t units) const
{
    return std::ranges::any_of(slabs_, [&](const Slab &slab) {
        return slab.units >= units && slab.has_room();
    });
}

// The own slot of a slab that is at a head is in reserve; and it may have been taken off.
bool SlabModel::has_sure_slot(std::uint64_t units) const
{
    return std::ranges::any_of(slabs_, [&](const Slab &slab) {
        return slab.units == units && !slab.taken.empty() && slab.taken.size() + (slab.at_head() ? 1 : 0) < slab.slots;
    });
}

// A head that looks for a slab gets one with holes of a small size: its own slot is the first that is free, but not the
// last of 32.
void SlabModel::keep(Slab &slab)
{
    std::vector<std::uint64_t> spare;
    for (std::uint64_t slot = 0; slot < std::min(slab.slots, most_slots - 1); slot++)
        if (!slab.taken.contains(slot))
            spare.push_back(slot);
    if (slab.units <= most_small && spare.size() > 1 && !slab.taken.contains(most_slots - 1))
        slab.own = spare.front();
}

void SlabModel::end_idle()
{
    std::erase_if(slabs_, [](const Slab &slab) { return slab.taken.empty(); });
}

// All slabs were taken off their heads: who found no room elsewhere did that.
void SlabModel::take_off()
{
    for (Slab &slab : slabs_)
        slab.own = Slab::none;
    end_idle();
}

Verdict SlabModel::fits(std::uint64_t bytes) const
{
    const Want wanted = want(bytes, debug_);
    if (debug_ >= 2)
        return fits_guarded(units_of(bytes, debug_));
    return has_lines(wanted.lines, true) || has_slot(units_of(bytes, debug_)) ? Verdict::yes : Verdict::no;
}

std::optional<std::string> SlabModel::take(kma::Ref ref, std::uint64_t bytes)
{
    const std::uint64_t at = ref * kma::ref_unit - guard_front(debug_);
    const Want wanted = want(bytes, debug_);
    const std::string block = "a block of " + std::to_string(wanted.units * unit) + " at " + std::to_string(at);
    if (at < room_.begin || at % unit != 0 || at + block_bytes(bytes, debug_) > room_.begin + room_.capacity)
        return block + " in no line";
    const std::uint64_t offset = (at - room_.begin) / unit;
    if (debug_ >= 2)
        return take_guarded(offset, units_of(bytes, debug_), block);
    // A slab that nobody uses serves its class; another size only gets its lines, if these are enough.
    const auto slab = std::ranges::find_if(slabs_, [&](const Slab &one) {
        return offset / line_units >= one.first && offset / line_units < one.first + one.lines &&
               (one.units == wanted.units || !one.taken.empty() || !has_lines(wanted.lines, true));
    });
    if (slab == slabs_.end())
        return take_new(offset, wanted, block);
    if (slab->units < units_of(bytes, debug_))
        return block + " in a slab of " + std::to_string(slab->units * unit);
    if (slab->units > wanted.units && has_lines(wanted.lines, true))
        return block + " in a slab of " + std::to_string(slab->units * unit) + " though there are free lines";
    const bool is_larger = slab->units > wanted.units, was_at_head = slab->at_head();
    const auto fault = take_slot(*slab, offset, block);
    if (!fault && is_larger && was_at_head)
        take_off(); // before it looked there
    else if (!fault && is_larger)
        end_idle();
    return fault;
}

std::optional<std::string> SlabModel::take_slot(Slab &slab, std::uint64_t offset, const std::string &block)
{
    const std::uint64_t slot = slab.slot_at(offset);
    if (slot == slab.slots)
        return block + " that is no slot of its slab";
    if (!slab.taken.insert(slot).second)
        return block + " that is taken";
    if (slot == slab.own) // who gets that slot takes the slab off its head
        slab.own = Slab::none;
    else if (!slab.at_head())
        keep(slab);
    return {};
}

// Of a new slab: for the head if a chunk has lines for that, and slot 0 stays in reserve; else of the fewest lines.
// Slabs that nobody uses may have ended before, when a request was refused or another slab's slots served it; then
// their lines, too, may have served the head.
std::optional<std::string> SlabModel::take_new(std::uint64_t offset, const Want &want, const std::string &block)
{
    if (want.head_lines != 0 && has_sure_slot(want.units))
        return block + " in a new slab, though one of its size has room";
    const bool must_be_for_head = want.head_lines != 0 && has_lines(want.head_lines, false, true);
    const bool is_second = want.head_lines != 0 && offset >= want.units && (offset - want.units) % line_units == 0 &&
                           are_free((offset - want.units) / line_units, want.head_lines);
    const bool is_first = offset % line_units == 0 && are_free(offset / line_units, want.lines);
    if (must_be_for_head ? !is_second : !is_second && !is_first)
        return block + " that begins no slab that can be there";
    const bool for_head = must_be_for_head || !is_first;
    Slab slab{(for_head ? offset - want.units : offset) / line_units,
              for_head ? want.head_lines : want.lines,
              want.units,
              for_head ? want.head_slots : want.slots,
              for_head ? 0 : Slab::none,
              {}};
    if (!for_head && !has_lines(want.lines, false))
        end_idle();
    std::erase_if(slabs_, [&](const Slab &one) { // which nobody uses
        return one.first < slab.first + slab.lines && slab.first < one.first + one.lines;
    });
    slab.taken.insert(for_head ? 1 : 0);
    slabs_.push_back(std::move(slab));
    return {};
}

void SlabModel::give(kma::Ref ref)
{
    const std::uint64_t offset = (ref * kma::ref_unit - guard_front(debug_) - room_.begin) / unit;
    blocks_.erase(offset);
    for (Slab &slab : slabs_)
        if (const std::uint64_t slot = slab.slot_at(offset); slot != slab.slots)
            slab.taken.erase(slot);
    std::erase_if(slabs_, [](const Slab &slab) { return slab.taken.empty() && !slab.at_head(); });
}

Range SlabModel::used() const
{
    std::uint64_t sum = 0;
    for (const Slab &slab : slabs_)
        sum += slab.taken.size() * slab.units * unit;
    if (debug_ < 2)
        return exactly(sum);
    for (const auto &[offset, units] : blocks_)
        sum += units * unit;
    return {sum, room_.capacity};
}

// ------ with guards -----------------------------------------------------------------------------------------------

std::optional<std::string> SlabModel::take_guarded(std::uint64_t offset, std::uint64_t units, const std::string &block)
{
    const auto next = blocks_.lower_bound(offset);
    if ((next != blocks_.end() && next->first < offset + units) ||
        (next != blocks_.begin() && std::prev(next)->first + std::prev(next)->second > offset))
        return block + " that overlaps another";
    blocks_.emplace(offset, units);
    return {};
}

// No, if between no two blocks there is room; yes, if that is so even beside slabs of the largest form around both.
Verdict SlabModel::fits_guarded(std::uint64_t units) const
{
    const std::uint64_t slab = head_form(most_shared).lines * line_units,
                        need = want(units * unit, 0).lines * line_units;
    std::uint64_t behind = 0, widest = 0; // units
    bool is_sure = false;
    const auto look = [&](std::uint64_t offset, bool is_end) {
        const std::uint64_t margin = (behind != 0 ? slab : 0) + (is_end ? 0 : slab);
        widest = std::max(widest, offset - behind);
        is_sure = is_sure || offset - behind >= need + margin;
    };
    for (const auto &[offset, taken] : blocks_) {
        look(offset, false);
        behind = offset + taken;
    }
    look(lines() * line_units, true);
    return is_sure ? Verdict::yes : widest < units ? Verdict::no : Verdict::maybe;
}

} // namespace conformance
