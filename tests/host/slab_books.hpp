// What must hold of all words of a slab heap at rest, as Heap::check has it; and what a lone caller must get.
#pragma once

#include "tiny_heap.hpp"

class slab_books {
public:
    explicit slab_books(kma_slab *heap) : heap_(heap), sl_(kma_sl_open(heap))
    {
        shim::check(sl_.plan.room <= most_chunks, "the heap is too large for this test");
        for (uint n = 0; n < kma_sl_heads(sl_.plan.places); n++)
            heads_[n] = now(kma_sl_at(heap_, sl_.plan.heads) + n);
        for (uint line = 0; line < kma_sl_lines(&sl_); line += KMA_SL_MARKS)
            marks_[line / KMA_SL_MARKS] = now(kma_sl_marks(&sl_, line));
        for (uint chunk = 0; chunk < sl_.plan.room; chunk++)
            used_[chunk] = now(kma_sl_used(&sl_, chunk));
        for (uint line = 0; line < kma_sl_lines(&sl_); line++)
            if ((mark(line) & KMA_SL_MARK_FORM) != 0)
                slabs_[count_++] = {line, form_of(line), word(line), head_of(line), own_of(line), 0};
    }

    // Somebody has the block that begins at this unit, from the first line's start.
    void expect(uint unit)
    {
        for (uint n = 0; n < count_; n++) {
            slab &in = slabs_[n];
            if (unit / KMA_SL_LINE < in.first || unit / KMA_SL_LINE >= in.first + in.form.lines)
                continue;
            for (uint slot = 0; slot < KMA_SL_SLOTS; slot++)
                if ((in.form.slots >> slot & 1u) != 0 &&
                    unit == in.first * KMA_SL_LINE + kma_sl_offset(&in.form, slot)) {
                    shim::check((in.expected >> slot & 1u) == 0, "two have the same slot");
                    in.expected |= 1u << slot;
                    return;
                }
        }
        shim::check(false, "a block that is held is no slot of a slab");
    }

    void check()
    {
        for (uint n = 0; n < count_; n++)
            check_slab(slabs_[n], n + 1 < count_ ? slabs_[n + 1].first : kma_sl_lines(&sl_));
        for (uint chunk = 0; chunk < sl_.plan.room; chunk++)
            check_chunk(chunk);
        for (uint line = 0; line < kma_sl_lines(&sl_); line++)
            shim::check(mark(line) == 0 || (mark(line) & KMA_SL_MARK_FORM) != 0, "a mark where no slab begins");
        check_heads();
        for (uint size_class = 0; size_class < KMA_SL_CLASSES; size_class++)
            for (uint chunk = 0; chunk < sl_.plan.chunks; chunk++)
                if (!is_listed(size_class, chunk))
                    shim::check((holes_[chunk] >> size_class & 1) == 0, "a hole that no tree tells of");
        shim::check(now(&heap_->seekers) == 0, "somebody still goes through the heap");
    }

    // Whether a lone caller must get a block of so many units: there is a hole that is large enough, or a head's slab of its
    // class or a larger one; or there are free lines enough, those of slabs among them that only a head owns.
    bool has_room(uint units) const
    {
        const uint size_class = units <= KMA_SL_MOST_MIXED ? kma_sl_class_of(units) : KMA_SL_CLASSES;
        bool free[most_chunks * KMA_SL_LINE];
        for (uint line = 0; line < kma_sl_lines(&sl_); line++)
            free[line] = (used(line / KMA_SL_LINE) >> line % KMA_SL_LINE & 1u) == 0;
        for (uint n = 0; n < count_; n++) {
            const slab &in = slabs_[n];
            if (in.head != none) {
                if (in.head >= size_class)
                    return true;
                std::fill_n(free + in.first, in.form.lines, in.owners == in.own);
                continue;
            }
            for (uint slot = 0; slot < KMA_SL_SLOTS; slot++)
                if (((in.form.slots & ~in.owners) >> slot & 1u) != 0 && kma_sl_room(&in.form, slot) >= units)
                    return true;
        }
        const uint wanted = units == 1 ? 1 : max(kma_sl_whole_lines(units), 2u);
        uint length = 0;
        for (uint line = 0; line < kma_sl_lines(&sl_); line++) {
            length = free[line] ? length + 1 : 0;
            if (length == wanted)
                return true;
        }
        return false;
    }

    // Slabs that are there beside those at heads, where only these have a slot.
    uint slabs_in_use() const
    {
        uint in_use = 0;
        for (uint n = 0; n < count_; n++)
            in_use += slabs_[n].head == none || slabs_[n].owners != slabs_[n].own;
        return in_use;
    }

private:
    static constexpr uint most_chunks = 4;
    static constexpr uint none = ~0u;

    struct slab {
        uint first;
        kma_sl_form form;
        uint owners;
        uint head; // the class of a head that it is at
        uint own;  // slots that heads own
        uint expected;
    };

    static uint now(const kma_atomic_u32 *at) { return at->peek(shim::location::current()); }
    uint word(uint line) const { return now(kma_sl_word(&sl_, line)); }
    uint used(uint chunk) const { return used_[chunk]; }
    uint mark(uint line) const { return marks_[line / KMA_SL_MARKS] >> kma_sl_mark_shift(line) & 15u; }
    kma_sl_form form_of(uint line) const
    {
        const bool has_header = (mark(line) & KMA_SL_MARK_FORM) == KMA_SL_MARK_HEADER;
        kma_sl_form form = kma_sl_form_with(mark(line), has_header ? word(line + 1) : 0);
        for (uint p = 0; p < KMA_SL_PLANES; p++)
            form.planes[p] = p < form.count ? word(line + (has_header ? 2 : 1) + p) & ~KMA_SL_DATA : 0;
        return kma_sl_form_whole(form);
    }
    uint head(uint n) const { return heads_[n]; }

    uint head_of(uint line) const
    {
        for (uint n = 0; n < kma_sl_heads(sl_.plan.places); n++)
            if (kma_sl_head_has_slab(head(n)) && kma_sl_head_line(head(n)) == line)
                return kma_sl_head_class(sl_.plan.places, n);
        return none;
    }

    uint own_of(uint line) const
    {
        uint own = 0;
        for (uint n = 0; n < kma_sl_heads(sl_.plan.places); n++)
            if (kma_sl_head_has_slab(head(n)) && kma_sl_head_line(head(n)) == line)
                own |= kma_sl_head_own(head(n));
        return own;
    }

    void check_slab(const slab &in, uint next)
    {
        shim::check(in.form.lines != 0 && in.first + in.form.lines <= next, "a slab reaches into another");
        shim::check(in.form.slots != 0 && in.form.count <= KMA_SL_PLANES, "a header that no slab has");
        const uint owners = in.owners & ~in.own;
        shim::check((mark(in.first) & KMA_SL_MARK_CLOSED) == 0, "a closed slab that nobody has buried");
        shim::check(in.owners != 0, "a slab without owners");
        shim::check(owners == in.expected, "the owners of a slab are not those who have its blocks");
        check_data(in);
        for (uint line = in.first; line < in.first + in.form.lines; line++)
            claimed_[line / KMA_SL_LINE] |= 1u << line % KMA_SL_LINE;
        const uint holes = in.head != none ? 0 : in.form.slots & ~in.owners;
        shim::check(holes == 0 || (mark(in.first) & KMA_SL_MARK_HOLEY) != 0, "a slab with holes is not marked so");
        for (uint slot = 0; slot < KMA_SL_SLOTS; slot++)
            if ((holes >> slot & 1u) != 0)
                holes_[in.first / KMA_SL_LINE] |= ulong{1} << kma_sl_class_within(kma_sl_room(&in.form, slot));
    }

    void check_data(const slab &in) const
    {
        const uint form = in.form.mark & KMA_SL_MARK_FORM;
        const uint words = form == KMA_SL_MARK_SMALL ? 2 : form == KMA_SL_MARK_HEADER ? 1 + in.form.count : 0;
        for (uint n = 1; n <= words; n++)
            shim::check((word(in.first + n) & KMA_SL_DATA) != 0, "a slab's data look like owners");
        if (in.form.slots == 1u)
            return; // a run, which is found by its start only
        for (uint line = kma_sl_first_back(in.first); line < in.first + in.form.lines; line += KMA_SL_MARKS)
            shim::check(word(line) == (KMA_SL_DATA | (line - in.first)), "a line does not tell where its slab begins");
    }

    void check_chunk(uint chunk) const
    {
        const uint right = chunk < sl_.plan.chunks ? claimed_[chunk] : ~0u;
        shim::check(used(chunk) == right, "lines that no slab has are taken, or a slab's are free");
        shim::check(now(kma_sl_pin(&sl_, chunk)) == 0, "a pin is left");
        const bool has_room = (now(kma_sl_rooms(&sl_, chunk)) >> chunk % 32 & 1u) != 0;
        shim::check(has_room || right == ~0u, "a chunk with free lines has no bit that tells so");
        shim::check(!has_room || chunk < sl_.plan.chunks, "a chunk that is not there has room");
    }

    void check_heads() const
    {
        uint headed[KMA_SL_CLASSES] = {};
        for (uint n = 0; n < kma_sl_heads(sl_.plan.places); n++) {
            shim::check(head(n) != KMA_SL_HEAD_BUSY, "somebody still gets a slab for a head");
            if (!kma_sl_head_has_slab(head(n)))
                continue;
            const uint size_class = kma_sl_head_class(sl_.plan.places, n);
            headed[size_class]++;
            const uint line = kma_sl_head_line(head(n));
            shim::check(line < kma_sl_lines(&sl_) && (mark(line) & KMA_SL_MARK_FORM) != 0, "a head of no slab");
            shim::check(form_of(line).units == kma_sl_units(size_class), "a head's slab is of another size");
            shim::check((word(line) & kma_sl_head_own(head(n))) != 0, "a head has not its own slot");
            for (uint other = 0; other < n; other++)
                shim::check(head(other) != head(n), "two heads have one slot");
        }
        for (uint size_class = 0; size_class < KMA_SL_CLASSES; size_class++)
            shim::check(now(&heap_->headed[size_class]) == headed[size_class],
                        "heads with a slab are not as many as were counted");
    }

    // In a tree. Words above are checked whether or not.
    bool is_listed(uint number, uint chunk) const
    {
        global kma_atomic_u32 *words = kma_sl_tree(&sl_, number);
        uint index = chunk, below = 0;
        bool is_in = false;
        for (uint level = 0; level <= kma_bit_tree_top(sl_.plan.room); level++) {
            const uint here = now(&words[index >> KMA_BIT_TREE_SHIFT]);
            const bool bit = (here >> (index & (KMA_BIT_TREE_FANOUT - 1)) & 1u) != 0;
            if (level == 0)
                is_in = bit;
            else
                shim::check(bit || below == 0, "a tree's word does not tell of what is below it");
            below = here;
            words += kma_bit_tree_nodes(sl_.plan.room, level);
            index >>= KMA_BIT_TREE_SHIFT;
        }
        return is_in;
    }

    kma_slab *heap_;
    kma_sl_heap sl_;
    slab slabs_[most_chunks * KMA_SL_LINE];
    uint count_ = 0;
    uint heads_[KMA_SL_PLACES * KMA_SL_CLASSES]; // as few places have no fewer heads for large classes
    uint marks_[most_chunks * KMA_SL_LINE / KMA_SL_MARKS];
    uint used_[most_chunks];
    uint claimed_[most_chunks] = {}; // lines of slabs
    ulong holes_[most_chunks] = {};  // classes of holes in slabs that begin there
};
