#include "slab_model.hpp"

namespace conformance {

std::uint64_t SlabModel::units_of(std::uint64_t bytes, int debug)
{
    return (guarded(bytes, debug) + unit - 1) / unit;
}

// 1 to 8 units, then eight sizes for each power of two, to a frame; then whole lines.
std::uint64_t SlabModel::class_of(std::uint64_t units)
{
    std::uint64_t step = 1;
    while (units > step * 16)
        step *= 2;
    step = units > frame_units ? line_units : step;
    return units <= 8 ? units : (units + step - 1) / step * step;
}

std::uint64_t SlabModel::block_bytes(std::uint64_t bytes, int debug)
{
    return class_of(units_of(bytes, debug)) * unit;
}

// What a warp takes together of a class up to a KiB, and a lone caller where it can have no page; else one slot.
SlabModel::Slab SlabModel::slab_of(std::uint64_t units)
{
    const std::uint64_t slots = units <= frame_units / 16 ? 16 : units <= most_of_page ? 8 : 1;
    return {0, lines_of(units * slots), units, slots, {}};
}

// What slabs of a class may be, the first one where there is room.
std::vector<SlabModel::Slab> SlabModel::forms(std::uint64_t units) const
{
    std::vector<Slab> all = {slab_of(units), {0, lines_of(units), units, 1, {}}};
    if (units <= most_of_page && has_pages())
        all.insert(all.begin(), page_of(units));
    return all;
}

// ------ how many ---------------------------------------------------------------------------------

// Each lane for itself: slabs of the first form while a frame has room for one, then of the others. At the brink a lane
// may find that others are about to bring what it needs, and take a worse one. Warps take slabs that lie as close as
// units allow, and stray lanes what is left: so there may be more or fewer.
Range SlabModel::count_when_full(std::uint64_t bytes) const
{
    const std::uint64_t units = class_of(units_of(bytes, debug_));
    if (units > frame_units) {
        const std::uint64_t whole = frames_of(lines_of(units)),
                            in_groups = frames_ / group_frames * (group_frames / whole);
        return {whole > group_frames ? frames_ / whole : in_groups + frames_ % group_frames / whole, frames_ / whole};
    }
    std::uint64_t in_frame = 0, lines = frame_lines;
    for (const Slab &form : forms(units)) {
        in_frame += lines / form.lines * form.slots;
        lines %= form.lines;
    }
    const std::uint64_t count = frames_ * in_frame;
    return {count - count / (lanes_ > 1    ? 4
                             : debug_ >= 2 ? 8
                                           : 16),
            std::max(count, lanes_ <= 1 ? 0 : frames_ * frame_units / units)};
}

// A slab's other slots, or the lines of a frame beside it.
std::uint64_t SlabModel::beside(std::uint64_t bytes) const
{
    const std::uint64_t units = class_of(units_of(bytes, debug_));
    return units >= frame_units ? frame_bytes - unit : (frame_units - units) * unit;
}

// ------ one after the other, by a lone caller ----------------------------------------------------

bool SlabModel::has_slot(std::uint64_t least, std::uint64_t most) const
{
    return std::ranges::any_of(
        slabs_, [&](const Slab &slab) { return slab.units >= least && slab.units <= most && slab.has_room(); });
}

// So many lines side by side in one frame; above a frame, whole frames, up to a group in one group.
bool SlabModel::has_lines(std::uint64_t count) const
{
    const std::uint64_t step = count > frame_lines ? frame_lines : 1;
    const std::uint64_t within = count > group_frames * frame_lines ? frames_ * frame_lines
                                 : count > frame_lines              ? group_frames * frame_lines
                                                                    : frame_lines;
    const std::uint64_t all = count > frame_lines ? frames_of(count) * frame_lines : count;
    for (std::uint64_t line = 0; line < frames_ * frame_lines; line += step)
        if (line % within + all <= within && are_free(line, all))
            return true;
    return false;
}

bool SlabModel::are_free(std::uint64_t first, std::uint64_t count) const
{
    return first + count <= frames_ * frame_lines && std::ranges::none_of(slabs_, [&](const Slab &slab) {
               return slab.first < first + count && first < slab.first + slab.lines;
           });
}

Verdict SlabModel::fits(std::uint64_t bytes) const
{
    const std::uint64_t units = class_of(units_of(bytes, debug_));
    if (debug_ >= 2)
        return fits_guarded(units_of(bytes, debug_));
    return has_slot(units, frame_units) || has_lines(lines_of(units)) ? Verdict::yes : Verdict::no;
}

std::optional<std::string> SlabModel::take(kma::Ref ref, std::uint64_t bytes)
{
    const std::uint64_t at = ref * kma::ref_unit - guard_front(debug_), units = class_of(units_of(bytes, debug_));
    const std::string block = "a block of " + std::to_string(units * unit) + " at " + std::to_string(at);
    if (at < room_.begin || at % unit != 0 || at + block_bytes(bytes, debug_) > room_.begin + room_.capacity)
        return block + " in no line";
    const std::uint64_t offset = (at - room_.begin) / unit, line = offset / line_units;
    if (debug_ >= 2)
        return take_guarded(offset, units_of(bytes, debug_), block);
    for (Slab &slab : slabs_)
        if (line >= slab.first && line < slab.first + slab.lines)
            return take_slot(slab, offset, units, block);
    return take_new(offset, units, block);
}

// Of the block's class; of a larger one if that has no room, and there is none for a slab of the first form.
std::optional<std::string> SlabModel::take_slot(Slab &slab, std::uint64_t offset, std::uint64_t units,
                                                const std::string &block)
{
    if (slab.units < units)
        return block + " in a slab of " + std::to_string(slab.units * unit);
    if (slab.units > units && (has_slot(units, units) || has_lines(forms(units).front().lines)))
        return block + " in a slab of " + std::to_string(slab.units * unit) + " though its class has room";
    const std::uint64_t within = offset - slab.first * line_units;
    if (within % slab.units != 0 || within / slab.units >= slab.slots)
        return block + " that is no slot of its slab";
    if (!slab.taken.insert(within / slab.units).second)
        return block + " that is taken";
    return {};
}

// Of a new slab: of the first form that there are lines for. (A page that had no block when it was new to this model
// may have been one before: then any slot of it may come first.)
std::optional<std::string> SlabModel::take_new(std::uint64_t offset, std::uint64_t units, const std::string &block)
{
    if (has_slot(units, units))
        return block + " in a new slab, though one of its class has room";
    for (Slab form : forms(units)) {
        if (!has_lines(form.lines))
            continue;
        const bool is_page = form.lines == frame_lines && form.slots > 1 && units <= most_of_page && has_pages();
        const std::uint64_t line = offset / line_units;
        form.first = is_page ? line / frame_lines * frame_lines : line;
        const std::uint64_t needed = form.lines > frame_lines ? frames_of(form.lines) * frame_lines : form.lines;
        if (!are_free(form.first, needed) || (form.lines > frame_lines && line % frame_lines != 0) ||
            (form.lines <= frame_lines && form.first % frame_lines + form.lines > frame_lines))
            return block + " in lines that it cannot have";
        slabs_.push_back(form);
        const auto fault = take_slot(slabs_.back(), offset, units, block);
        return !fault && !is_page && slabs_.back().taken.count(0) == 0 ? block + " that begins no slab" : fault;
    }
    return block + " though there is no room";
}

void SlabModel::give(kma::Ref ref)
{
    const std::uint64_t offset = (ref * kma::ref_unit - guard_front(debug_) - room_.begin) / unit;
    guarded_.erase(offset);
    for (Slab &slab : slabs_)
        if (offset / line_units >= slab.first && offset / line_units < slab.first + slab.lines)
            slab.taken.erase((offset - slab.first * line_units) / slab.units);
    std::erase_if(slabs_, [](const Slab &slab) { return slab.taken.empty(); }); // a page without blocks is as free
}

Range SlabModel::used() const
{
    std::uint64_t sum = 0;
    for (const Slab &slab : slabs_)
        sum += slab.taken.size() * slab.units * unit;
    if (debug_ < 2)
        return exactly(sum);
    for (const auto &[offset, units] : guarded_)
        sum += units * unit;
    return {sum, room_.capacity};
}

// ------ with guards ------------------------------------------------------------------------------

std::optional<std::string> SlabModel::take_guarded(std::uint64_t offset, std::uint64_t units, const std::string &block)
{
    const auto next = guarded_.lower_bound(offset);
    if ((next != guarded_.end() && next->first < offset + units) ||
        (next != guarded_.begin() && std::prev(next)->first + std::prev(next)->second > offset))
        return block + " that overlaps another";
    guarded_.emplace(offset, units);
    return {};
}

// No, if between no two blocks there is room; yes, if there is even beside the frames around both.
Verdict SlabModel::fits_guarded(std::uint64_t units) const
{
    const std::uint64_t whole = (class_of(units) + frame_units - 1) / frame_units;
    const std::uint64_t need = (whole > 1 && whole <= group_frames ? 2 * whole : whole) * frame_units; // in one group
    std::uint64_t behind = 0, widest = 0;                                                              // units
    bool is_sure = false;
    const auto look = [&](std::uint64_t offset, bool is_end) {
        const std::uint64_t margin = (behind != 0 ? frame_units : 0) + (is_end ? 0 : frame_units);
        widest = std::max(widest, offset - behind);
        is_sure = is_sure || offset - behind >= need + margin;
    };
    for (const auto &[offset, taken] : guarded_) {
        look(offset, false);
        behind = offset + taken;
    }
    look(frames_ * frame_units, true);
    return is_sure ? Verdict::yes : widest < units ? Verdict::no : Verdict::maybe;
}

} // namespace conformance
