// The slab heap's metadata at rest, read word by word: what its lines are used for, and every invariant of them.
#pragma once

#include "heap/tiny_heap.hpp"
#include "lockfree/check_tree.hpp"

class slab_metadata {
public:
    explicit slab_metadata(kma_slab *heap) : heap_(heap), frames_(heap->plan.frames)
    {
        shim::check(frames_ <= most_frames, "more frames than this test has room for");
        for (uint frame = 0; frame < frames_; frame++) {
            used_[frame] = at(heap_->plan.used, frame);
            free_[frame] = ~used(frame) & KMA_SLAB_FULL;
            empty_page_[frame] = false;
        }
        for (uint line = 0; line < frames_ * KMA_SLAB_FRAME_LINES;)
            line += (used_bits(line) & 1) == 0 ? 1 : read_at(line);
    }

    // A block that there must be, `first` units behind the first frame.
    void expect(uint first, uint units)
    {
        shim::check(is_slot(first), "a block that is held is no slot");
        slot &its = slots_[number_[first]];
        shim::check(its.is_taken, "a block that is held is free");
        shim::check(!its.is_held, "a block is held twice");
        shim::check(its.units >= units, "a block is smaller than its request");
        its.is_held = true;
    }

    // That all blocks were expected, and that the trees tell of all that is free.
    void check() const
    {
        for (uint n = 0; n < count_; n++)
            shim::check(slots_[n].is_taken == slots_[n].is_held, "an occupancy bit without a block");
        for (uint tree = 0; tree < KMA_SLAB_TREES; tree++)
            check_bit_tree(kma_slab_tree(heap_, tree), heap_->plan.room);
        for (uint frame = frames_; frame < heap_->plan.room; frame++)
            shim::check(used(frame) == KMA_SLAB_FULL, "lines of a frame to come are free");
        for (uint frame = 0; frame < frames_; frame++) {
            bool is_listed = free_[frame] == 0;
            for (uint run = longest_run(free_[frame]); !is_listed && run <= KMA_SLAB_FRAME_LINES; run++)
                is_listed = has(KMA_SLAB_RUN_TREE(run), frame);
            shim::check(is_listed, "free lines are in no tree");
            shim::check(!empty_page_[frame] || has(KMA_SLAB_EMPTY_TREE, frame), "a page without blocks is in no tree");
        }
        for (uint group = 0; group < frames_; group += KMA_SLAB_GROUP_FRAMES) {
            uint whole = 0;
            for (uint i = 0; i < KMA_SLAB_GROUP_FRAMES && group + i < frames_; i++)
                whole |= uint{has(KMA_SLAB_WHOLE_TREE, group + i)} << i;
            bool is_listed = whole == 0;
            for (uint run = longest_run(whole); !is_listed && run <= KMA_SLAB_GROUP_FRAMES; run++)
                is_listed = has(KMA_SLAB_GROUP_TREE(run), group >> KMA_BIT_TREE_SHIFT);
            shim::check(is_listed, "whole frames are in no tree of groups");
        }
        const slot *last = nullptr; // free; of a page with many the tree is looked at once
        for (uint n = 0; n < count_; n++) {
            const slot &its = slots_[n];
            if (its.is_taken || (last && last->units == its.units && last->frame == its.frame))
                continue;
            last = &its;
            shim::check(has(kma_slab_class_of(its.units), its.frame), "a free slot is not in its class's tree");
        }
    }

    // Whether a lone caller must get a block of `units`. Pages without blocks count as free lines.
    bool has_room(uint units) const
    {
        if (units > KMA_SLAB_MOST)
            return has_frames(kma_slab_whole_lines(units));
        const uint least = kma_slab_units(kma_slab_class_of(units));
        for (uint n = 0; n < count_; n++)
            if (!slots_[n].is_taken && slots_[n].units >= least)
                return true;
        for (uint frame = 0; frame < frames_; frame++)
            if (longest_run(available(frame)) >= kma_slab_whole_lines(least))
                return true;
        return false;
    }

    // Units of the block that begins so many units behind the first frame; 0 if none does.
    uint block_at(uint first) const
    {
        return is_slot(first) && slots_[number_[first]].is_taken ? slots_[number_[first]].units : 0;
    }

private:
    static constexpr uint most_frames = 32, most_slots = 16384;
    struct slot {
        uint first, units, frame; // the frame that lists it
        bool is_taken, is_held;
    };

    static uint longest_run(uint bits)
    {
        uint longest = 0;
        for (; bits != 0; bits &= bits >> 1)
            longest++;
        return longest;
    }

    bool is_slot(uint first) const
    {
        return first < frames_ * KMA_SLAB_FRAME_UNITS && number_[first] < count_ &&
               slots_[number_[first]].first == first;
    }

    uint at(uint where, uint index) const { return kma_load_u32(kma_slab_at(heap_, where) + index, KMA_RELAXED); }
    uint used(uint frame) const { return frame < frames_ ? used_[frame] : at(heap_->plan.used, frame); }
    uint word(uint line) const { return at(heap_->plan.words, line); }
    uint used_bits(uint line) const { return used(line / KMA_SLAB_FRAME_LINES) >> line % KMA_SLAB_FRAME_LINES; }
    uint available(uint frame) const { return empty_page_[frame] ? KMA_SLAB_FULL : free_[frame]; }

    void add(uint line, uint offset, uint units, bool is_taken)
    {
        shim::check(count_ < most_slots, "more slots than this test has room for");
        number_[line * KMA_SLAB_LINE_UNITS + offset] = count_;
        slots_[count_++] = {line * KMA_SLAB_LINE_UNITS + offset, units, line / KMA_SLAB_FRAME_LINES, is_taken, false};
    }

    // What begins at a used line; the number of its lines.
    uint read_at(uint line)
    {
        const uint first = word(line);
        uint lines = 1;
        if ((first & KMA_SLAB_FORM) == KMA_SLAB_PAGE) {
            read_page(line);
            lines = KMA_SLAB_FRAME_LINES;
        } else if ((first & KMA_SLAB_FORM) == KMA_SLAB_SLAB) {
            shim::check((first & KMA_SLAB_OCCUPANCY) != 0, "a dead slab has lines");
            lines = (first & KMA_SLAB_MIXED) != 0 ? read_mixed(line, first) : read_equal(line, first);
        } else if ((first & KMA_SLAB_FORM) == 0) {
            shim::check((first & KMA_SLAB_RUN) != 0, "used lines belong to nothing");
            lines = first & KMA_SLAB_RUN_LINES;
            shim::check(lines > KMA_SLAB_FRAME_LINES && line % KMA_SLAB_FRAME_LINES == 0, "an odd run");
            add(line, 0, lines * KMA_SLAB_LINE_UNITS, true);
        } else {
            shim::check(false, "used lines begin with the rest of a slab");
        }
        for (uint i = 0; i < lines; i++)
            shim::check(line + i < frames_ * KMA_SLAB_FRAME_LINES && (used_bits(line + i) & 1) != 0,
                        "a line of a page, slab or run is free");
        return lines;
    }

    // Slot s has bit s / W of line word s % W.
    void read_page(uint line)
    {
        const uint frame = line / KMA_SLAB_FRAME_LINES, size_class = word(line) >> 24 & 63;
        shim::check(line % KMA_SLAB_FRAME_LINES == 0 && used(frame) == KMA_SLAB_FULL, "a page without all its lines");
        shim::check(size_class < KMA_SLAB_PAGE_CLASSES, "a page of no class");
        const uint units = kma_slab_units(size_class), slots = KMA_SLAB_FRAME_UNITS / units;
        // As many words as lines that slots begin in, if each has one, and a power of two.
        const uint words = std::min(KMA_SLAB_FRAME_LINES, std::bit_floor(KMA_SLAB_FRAME_UNITS / max(units, KMA_SLAB_LINE_UNITS)));
        uint taken = 0;
        bool is_listed = false;
        for (uint i = 0; i < KMA_SLAB_FRAME_LINES; i++) {
            const uint each = word(line + i);
            const uint its = i < words ? (slots - i + words - 1) / words : 0;
            shim::check((each & ~((2u << (max(its, 1u) - 1)) - 1) & ~KMA_SLAB_LISTED) ==
                            (KMA_SLAB_PAGE | size_class << 24 | (max(its, 1u) - 1) << 16),
                        "a word of a page is not as it should be");
            shim::check(its != 0 || (each & (KMA_SLAB_LISTED | KMA_SLAB_OCCUPANCY)) == 0, "a page's word without slots");
            is_listed = is_listed || (each & KMA_SLAB_LISTED) != 0;
            for (uint bit = 0; bit < its; bit++) {
                const bool is_taken = (each >> bit & 1) != 0;
                add(line, (bit * words + i) * units, units, is_taken);
                taken += is_taken;
            }
        }
        shim::check(!is_listed || has(KMA_SLAB_EMPTY_TREE, frame), "a word says that its page is listed, and it is not");
        empty_page_[frame] = taken == 0;
    }

    uint read_equal(uint line, uint first)
    {
        const uint size_class = first >> 22 & 63, shift = first >> 16 & 7;
        shim::check(size_class < KMA_SLAB_CLASSES && shift <= KMA_SLAB_TEAM_SHIFT, "a slab of no class");
        shim::check((first & KMA_SLAB_OCCUPANCY) >> (1u << shift) == 0, "more blocks than a slab has slots");
        const uint units = kma_slab_units(size_class);
        for (uint n = 0; n < 1u << shift; n++) {
            check_rest(line, n * units, n != 0 ? units : 0, shift << 16, 0x70000u);
            add(line, n * units, units, (first >> n & 1) != 0);
        }
        return ((units << shift) + KMA_SLAB_LINE_UNITS - 1) / KMA_SLAB_LINE_UNITS;
    }

    uint read_mixed(uint line, uint first)
    {
        const uint planes = first >> 17 & 7, lines = (first >> 20 & 255) + 1;
        const uint unit = (first & KMA_SLAB_COARSE) != 0 ? 4 : 1;
        shim::check(planes <= KMA_SLAB_PLANES && planes < lines, "a mixed slab of an odd form");
        uint offset = 0, before = 0;
        for (uint n = 0; n < KMA_SLAB_TEAM; n++) {
            uint less = 0;
            for (uint p = 0; p < planes; p++)
                less |= (word(line + 1 + p) >> n & 1) << p;
            const uint units = (less + 1) * unit;
            check_rest(line, offset, before, KMA_SLAB_MIXED, 0);
            add(line, offset, units, (first >> n & 1) != 0);
            offset += before = units;
        }
        for (uint p = 0; p < planes; p++)
            shim::check((word(line + 1 + p) & 0xfff00000u) == (KMA_SLAB_REST | KMA_SLAB_MIXED | (p + 1) << 20),
                        "a plane of a mixed slab is not noted as one");
        shim::check(offset <= lines * KMA_SLAB_LINE_UNITS, "a mixed slab is larger than its lines");
        return lines;
    }

    // Where a slot begins in a line that no slot in front begins in, the line word must lead back.
    void check_rest(uint line, uint offset, uint units_before, uint expected, uint low_bits) const
    {
        const uint inner = offset / KMA_SLAB_LINE_UNITS;
        if (inner != 0 && inner != (offset - units_before) / KMA_SLAB_LINE_UNITS)
            shim::check((word(line + inner) & (0xfff00000u | low_bits)) == (KMA_SLAB_REST | inner << 20 | expected),
                        "a line's word does not lead to its slab");
    }

    bool has(uint tree, uint frame) const { return kma_bit_tree_has(kma_slab_tree(heap_, tree), frame); }

    // In one group, up to a group.
    bool has_frames(uint lines) const
    {
        const uint whole = (lines + KMA_SLAB_FRAME_LINES - 1) / KMA_SLAB_FRAME_LINES;
        for (uint first = 0; first + whole <= frames_; first++) {
            bool fits = whole > KMA_SLAB_GROUP_FRAMES || first % KMA_SLAB_GROUP_FRAMES + whole <= KMA_SLAB_GROUP_FRAMES;
            for (uint frame = first; fits && frame < first + whole; frame++)
                fits = available(frame) == KMA_SLAB_FULL;
            if (fits)
                return true;
        }
        return false;
    }

    kma_slab *heap_;
    uint frames_;
    uint count_ = 0;
    uint used_[most_frames];
    uint free_[most_frames]; // lines
    bool empty_page_[most_frames];
    // Of the last object, and too large for a fiber's stack.
    static inline slot slots_[most_slots];
    static inline uint number_[most_frames * KMA_SLAB_FRAME_UNITS]; // of the slot that begins there, if one does
};
