// Where the slab heap looks for a block, by a lone caller: for holes, for lines of a run, and in which order. Each
// function in a heap of three chunks whose state is made by hand; what it must find follows from that.
#pragma once

#include "calls_slab_numbers.hpp"

namespace calls {

// ------ a heap made by hand -----------------------------------------------------------------------------------------

// Of three chunks, all of whose lines are free. Its cursors of many lines have one share of a chunk: that of place 0 is
// chunk 1.
class lone_heap {
public:
    lone_heap() : heap(reinterpret_cast<kma_slab *>(base()))
    {
        shim::self().operations = 0; // which are limited
        be(0);
        ulong end;
        kma_sl_plan_of(3, KMA_SL_CURSORS, 0, &end);
        std::memset(static_cast<void *>(heap), 0xa5, end * KMA_UNIT);
        kma_slab_init(heap, end * KMA_UNIT, 0, KMA_SL_CURSORS, false, 0, 1);
        sl = kma_sl_open(heap);
    }
    ~lone_heap() { be(0); }
    lone_heap(const lone_heap &) = delete;
    lone_heap &operator=(const lone_heap &) = delete;

    // The caller's number from now on, and with it his place.
    static void be(uint number) { shim::self().id = number; }

    uint used(uint chunk) const { return kma_load_u32(kma_sl_used(&sl, chunk), KMA_RELAXED); }
    void use(uint first, uint count) { shim::check(kma_sl_take_lines(heap, first, count), "lines are not free"); }
    void use_all_but(uint first, uint count)
    {
        if (first != 0)
            use(0, first);
        if (first + count != 96)
            use(first + count, 96 - first - count);
    }
    bool uses(uint word0, uint word1, uint word2) const
    {
        return used(0) == word0 && used(1) == word1 && used(2) == word2;
    }

    uint owners(uint first) const { return kma_load_u32(kma_sl_word(&sl, first), KMA_RELAXED); }
    uint headed() const
    {
        uint heads = 0;
        for (kma_atomic_u32 &each : heap->headed)
            heads += kma_load_u32(&each, KMA_RELAXED);
        return heads;
    }
    uint unit(uint first, uint within) const { return sl.plan.begin + first * KMA_SL_LINE + within; }
    uint unit(uint first) const { return unit(first, 0); }

    // A slab of equal slots, of which those of `holes` are free, and in the tree of their class.
    void make_holes(uint first, uint lines, uint units, uint slots, uint holes)
    {
        use(first, lines);
        make_slab(first, lines, units, slots, holes);
    }
    void make_slab(uint first, uint lines, uint units, uint slots, uint holes)
    {
        kma_sl_make(&sl, first, lines, units, slots, kma_sl_all_slots(slots) & ~holes);
        if (holes != 0)
            kma_sl_tree_put(heap, kma_sl_class_within(units), first / KMA_SL_LINE);
    }
    void free_slot(uint first, uint slot) { kma_sl_let_go(heap, first, 1u << slot, true); }

    bool is_in_tree(uint size_class, uint chunk) const { return kma_bit_tree_has(kma_sl_tree(&sl, size_class), chunk); }
    bool has_pins() const
    {
        uint pins = 0;
        for (uint chunk = 0; chunk < 3; chunk++)
            pins |= kma_load_u32(kma_sl_pin(&sl, chunk), KMA_RELAXED);
        return pins != 0;
    }

    kma_sl_search search(uint units, uint align, uint own_class) const
    {
        kma_sl_search made = {};
        made.heap = heap;
        made.units = units;
        made.align = align;
        made.own_class = made.size_class = own_class;
        made.count = 1;
        made.block = KMA_NULL;
        return made;
    }

    kma_slab *heap;
    kma_sl_heap sl;
};

inline constexpr uint all_lines = 0xffffffffu;

// Classes as their sizes say: 15 is 16 units, 16 is 18, 18 is 22, 19 is 24, 20 is 26.
inline uint class_that_fits(uint room)
{
    uint within = KMA_SL_CLASSES - 1;
    while (kma_sl_units(within) > room)
        within--;
    return within;
}

// ------ trees of holes ----------------------------------------------------------------------------------------------

inline void check_lone_trees()
{
    for (uint in = 0; in < KMA_SL_CLASSES; in++) {
        lone_heap lone;
        for (uint c = 0; c < KMA_SL_CLASSES; c++)
            shim::check(!kma_sl_has_holes_for(&lone.sl, c), "holes in an empty tree");
        kma_sl_tree_put(lone.heap, in, in % 3);
        for (uint c = 0; c < KMA_SL_CLASSES; c++)
            shim::check(kma_sl_has_holes_for(&lone.sl, c) == (c == in || c == in + 1), "whether there may be holes");
    }
    for (uint chunks = 0; chunks < 8; chunks++) {
        lone_heap lone;
        for (uint chunk = 0; chunk < 3; chunk++)
            if ((chunks >> chunk & 1u) != 0)
                kma_sl_tree_put(lone.heap, 5, chunk);
        for (uint from = 0; from < 4; from++) {
            uint right = from;
            while (right < 3 && (chunks >> right & 1u) == 0)
                right++;
            const uint next = kma_sl_tree_next(lone.heap, 5, from, false);
            shim::check(next == (right < 3 ? right : KMA_BIT_TREE_NONE), "the next chunk that has holes");
            const uint near = kma_sl_tree_next(lone.heap, 5, from, true);
            shim::check(chunks == 0 ? near == KMA_BIT_TREE_NONE : near < 3 && (chunks >> near & 1u) != 0,
                        "a chunk that has holes, wherever it is");
        }
    }
}

// What is freed of equal slots is listed by who makes the first hole, else only if he must.
inline void check_lone_letting_go()
{
    lone_heap lone;
    lone.make_holes(33, 2, 18, 3, 0);
    kma_sl_let_go(lone.heap, 33, 2u, false);
    shim::check(lone.is_in_tree(16, 1) && lone.owners(33) == 5u, "the first hole of a slab is not listed");
    kma_sl_tree_take(lone.heap, 16, 1);
    kma_sl_let_go(lone.heap, 33, 4u, false);
    shim::check(!lone.is_in_tree(16, 1) && lone.owners(33) == 1u, "another hole of a slab is listed");
    kma_sl_let_go(lone.heap, 33, 1u, true);
    shim::check(lone.uses(0, 0, 0), "a slab did not end");
    lone.make_holes(33, 2, 18, 3, 0);
    kma_sl_let_go(lone.heap, 33, 2u, false);
    kma_sl_tree_take(lone.heap, 16, 1);
    kma_sl_let_go(lone.heap, 33, 4u, true);
    shim::check(lone.is_in_tree(16, 1), "a hole is not listed though nobody else has");
}

// ------ holes -------------------------------------------------------------------------------------------------------

// The first free slot of the class, large enough and aligned.
inline void check_lone_fitting(const lone_heap &lone, uint first, const uint *rooms, const uint *offsets)
{
    const kma_sl_form form = kma_sl_form_of(&lone.sl, first, kma_sl_mark(&lone.sl, first));
    for (uint c = 13; c < 22; c++)
        for (uint units = 15; units < 28; units += 2)
            for (uint align = 1; align <= 64; align *= 2)
                for (const uint owners : {0u, 1u, 2u, 5u, 0x1fu, 0x7ffu, 0x7fffffffu}) {
                    uint right = 0;
                    for (uint slot = 0; slot < 31; slot++)
                        if (rooms[slot] >= units && class_that_fits(rooms[slot]) == c && (owners >> slot & 1u) == 0 &&
                            (first * 32 + offsets[slot]) % align == 0)
                            right |= 1u << slot;
                    for (const uint count : {1u, 2u, 32u}) { // one only of those whose sizes differ
                        shim::self().operations = 0;
                        kma_sl_search search = lone.search(units, align, 15);
                        search.size_class = c;
                        search.count = count;
                        shim::check(kma_sl_fitting(&search, &form, first, owners) ==
                                        kma_sl_lowest(right, form.units == 0 ? 1 : count),
                                    "the holes that fit");
                    }
                }
}

inline void check_lone_fittings()
{
    lone_heap lone;
    uint sizes[KMA_SL_SLOTS];
    for (uint slot = 0; slot < KMA_SL_SLOTS; slot++)
        sizes[slot] = slot == 31 ? 0 : kma_mix32(slot) % 4 == 0 ? 0 : 15 + kma_mix32(slot + 77) % 12;
    const made_slab made = make_planes(lone.heap, 3, sizes, slab_sizes::plain);
    check_lone_fitting(lone, 3, sizes, made.offsets);
    uint rooms[KMA_SL_SLOTS] = {25, 25, 25}, offsets[KMA_SL_SLOTS] = {0, 25, 50};
    lone.make_holes(64, 3, 25, 3, 0);
    check_lone_fitting(lone, 64, rooms, offsets);
}

// Only slabs that are marked HOLEY, and have not ended, are looked at.
inline void check_lone_marks()
{
    for (uint mark = 0; mark < 16; mark++) {
        lone_heap lone;
        lone.use(40, 3);
        const uint form = mark & KMA_SL_MARK_FORM;
        kma_store_u32(kma_sl_word(&lone.sl, 41), form == KMA_SL_MARK_HEADER ? kma_sl_equal_header(1, 32) : KMA_SL_DATA,
                      KMA_RELAXED);
        kma_store_u32(kma_sl_word(&lone.sl, 42), KMA_SL_DATA, KMA_RELAXED);
        kma_store_u32(kma_sl_word(&lone.sl, 40), 1u, KMA_RELAXED);
        kma_sl_put_mark(&lone.sl, 40, mark);
        kma_sl_search search = lone.search(1, 1, 0);
        kma_sl_fill_slab(&search, 40);
        const bool may = mark == (KMA_SL_MARK_HOLEY | form) && form != 0;
        shim::check(search.block == (may ? lone.unit(40, 1) : KMA_NULL), "a hole of no slab, or none of one");
        shim::check(lone.owners(40) == (may ? 3u : 1u), "who has which slot");
    }
}

// Of a request of 17 units first the class below, 16 to 17 units, then its own, 18.
inline void check_lone_holes()
{
    lone_heap lone;
    lone.make_holes(64, 2, 18, 3, 4u);
    lone.make_holes(5, 2, 17, 3, 2u);
    lone.make_holes(33, 2, 16, 4, 2u); // in the same tree, too small
    shim::check(kma_sl_take_hole(lone.heap, 18) == lone.unit(64, 36), "a hole of the own class");
    shim::check(kma_sl_take_hole(lone.heap, 18) == KMA_NULL, "a hole that is too small");
    lone.free_slot(64, 2);
    bool is_found = false; // few chunks are looked at, some of them twice
    for (uint n = 0; n < 32 && !is_found; n++) {
        lone_heap::be(n);
        const uint block = kma_sl_take_hole(lone.heap, 17);
        is_found = block == lone.unit(5, 17);
        shim::check(is_found || block == lone.unit(64, 36), "a hole that does not fit");
        if (!is_found)
            lone.free_slot(64, 2);
    }
    shim::check(is_found, "no hole of the class below");
    shim::check(kma_sl_take_hole(lone.heap, 17) == lone.unit(64, 36), "no hole of the own class");
    shim::check(kma_sl_take_hole(lone.heap, 17) == KMA_NULL, "a hole where there is none");
    shim::check(!lone.has_pins(), "a pin is left");
    shim::check(lone.is_in_tree(15, 1), "the tree of the class below has lost a chunk");
}

// Those who come from different places look at different chunks first, unless all are looked at in turn.
inline void check_lone_spread()
{
    enum : uint { below, own, own_all };
    for (const uint way : {below, own, own_all}) {
        lone_heap lone;
        lone.make_holes(0, 2, 17, 3, 2u);
        lone.make_holes(64, 2, 17, 3, 2u);
        bool seen[3] = {};
        for (uint number = 0; number < 32; number++) {
            lone_heap::be(number);
            kma_sl_search search = lone.search(way == below ? 17 : 16, 1, way == below ? 16 : 15);
            search.size_class = 15;
            kma_sl_fill(&search, way == own_all ? KMA_SL_ALL_LOOKS : KMA_SL_HOLE_LOOKS);
            const uint chunk = search.block == lone.unit(64, 17) ? 2 : 0;
            shim::check(search.block == lone.unit(chunk * 32, 17), "no hole, though any would do");
            lone.free_slot(chunk * 32, 1);
            seen[chunk] = true;
        }
        shim::check(seen[0] && seen[2], "all callers take holes of the same chunk");
    }
}

// Where not any hole will do, all chunks are looked at, and stay in the tree.
inline void check_lone_aligned_holes()
{
    for (uint number = 0; number < 16; number++)
        for (const uint chunk : {0u, 1u, 2u})
            for (const uint slot : {0u, 1u}) {
                lone_heap lone;
                lone.be(number);
                for (uint other = 0; other < 3; other++) // slot 1 is not aligned
                    lone.make_holes(other * 32, 2, 25, 2, other == chunk ? 1u << slot : 2u);
                kma_sl_search search = lone.search(24, 8, 19);
                kma_sl_fill(&search, KMA_SL_ALL_LOOKS);
                shim::check(search.block == (slot == 0 ? lone.unit(chunk * 32) : KMA_NULL), "the only aligned hole");
                for (uint other = 0; other < 3; other++)
                    shim::check(lone.is_in_tree(19, other), "a chunk with holes is in no tree");
                shim::check(!lone.has_pins(), "a pin is left");
            }
}

// Who wants an alignment gets no hole without it, though he comes alone.
inline void check_lone_aligned_requests()
{
    lone_heap lone;
    lone.make_holes(32, 2, 25, 2, 2u);
    void *const block = kma_slab_aligned_alloc(lone.heap, 8 * KMA_UNIT, 24 * KMA_UNIT);
    shim::check(block && kma_slab_ref_of(lone.heap, block) % 8 == 0, "a block is not aligned");
    shim::check(kma_slab_ref_of(lone.heap, kma_slab_malloc(lone.heap, 24 * KMA_UNIT)) == lone.unit(32, 25),
                "not the hole");
}

// ------ runs --------------------------------------------------------------------------------------------------------

inline void check_lone_draws()
{
    {
        lone_heap lone;
        shim::check(kma_sl_draw_run(lone.heap, 4) == 32 && kma_sl_draw_run(lone.heap, 5) == 36, "the next lines");
        shim::check(kma_sl_draw_run(lone.heap, 1) == 0 && lone.uses(1, 0x1ff, 0), "the next of few lines");
        lone_heap::be(1); // whose cursor has the other share
        shim::check(kma_sl_draw_run(lone.heap, 3) == 3 && lone.used(0) == 0x39, "lines at another cursor");
    }
    for (const uint before : {28u, 29u, 30u, 31u}) { // four lines behind that are in the share, or not side by side
        lone_heap lone;
        kma_store_u32(kma_sl_cursor(lone.heap, KMA_SL_BAND_MANY, 0), before, KMA_RELAXED);
        const uint right = before == 28 ? 60 : 32 + (before + 4) % 32;
        shim::check(kma_sl_draw_run(lone.heap, 4) == right, "lines behind the end of a share");
        shim::check(lone.uses(0, 0xfu << (right - 32), 0), "other lines than those drawn");
    }
    {
        lone_heap lone;
        lone.use(33, 1);
        shim::check(kma_sl_draw_run(lone.heap, 4) == 36 && lone.uses(0, 0xf2, 0), "the lines behind those of others");
    }
    {
        lone_heap lone;
        lone.use(32, 32);
        shim::check(kma_sl_draw_run(lone.heap, 4) == KMA_SL_NONE && lone.uses(0, all_lines, 0), "lines of others");
    }
}

// A run where it is its turn, then where the caller's place takes lines, then in a gap.
inline void check_lone_step(lone_heap &lone, uint lines, uint align, uint right)
{
    const uint before[] = {lone.used(0), lone.used(1), lone.used(2)};
    kma_sl_search search = lone.search(lines * 32 - 31, align, KMA_SL_CLASSES);
    kma_sl_step_run(&search);
    shim::check(search.block == (right != KMA_SL_NONE ? lone.unit(right) : KMA_NULL), "where a run is");
    for (uint chunk = 0; chunk < 3; chunk++) {
        uint run = 0;
        for (uint line = chunk * 32; line < chunk * 32 + 32; line++)
            if (right != KMA_SL_NONE && line >= right && line < right + lines)
                run |= 1u << line % 32;
        shim::check(lone.used(chunk) == (before[chunk] | run), "other lines than the run's are taken");
    }
    if (right != KMA_SL_NONE)
        shim::check(lone.owners(right) == 1u && kma_sl_mark(&lone.sl, right) == KMA_SL_MARK_HEADER &&
                        kma_load_u32(kma_sl_word(&lone.sl, right + 1), KMA_RELAXED) == kma_sl_run_header(lines),
                    "a run's form");
}

inline void check_lone_steps()
{
    const auto turn = [](lone_heap &lone, uint line) { kma_store_u32(&lone.heap->next_run, line, KMA_RELAXED); };
    const auto look_at = [](lone_heap &lone, uint chunk) { kma_store_u32(&lone.heap->looked[0], chunk, KMA_RELAXED); };
    for (const uint lines : {4u, 20u, 33u}) {
        lone_heap lone;
        turn(lone, 5);
        check_lone_step(lone, lines, 1, 5 / lines * lines);
    }
    {
        lone_heap lone;
        turn(lone, 5);
        lone.use(7, 1);
        look_at(lone, 2);
        check_lone_step(lone, 4, KMA_SL_LINE, 32); // the cursor's
    }
    for (const uint lines : {4u, 20u}) { // the cursor's lines are taken, or the run is too long for it
        lone_heap lone;
        lone.use(0, 1);
        if (lines == 4)
            lone.use(32, 32);
        look_at(lone, 2);
        check_lone_step(lone, lines, 1, 64);
        shim::check(lines == 4 || kma_load_u32(kma_sl_cursor(lone.heap, KMA_SL_BAND_MANY, 0), KMA_RELAXED) == 0,
                    "a long run was drawn");
    }
    {
        lone_heap lone;
        lone.use(0, 1);
        check_lone_step(lone, 33, 1, KMA_SL_NONE); // in no chunk's gap
    }
    {
        lone_heap lone;
        check_lone_step(lone, 4, 2 * KMA_SL_LINE, KMA_SL_NONE); // no cursor knows of alignments
    }
    for (const uint scarce : {4u, 5u}) {
        lone_heap lone;
        kma_sl_set_scarce(lone.heap, scarce);
        check_lone_step(lone, 4, 1, scarce == 4 ? KMA_SL_NONE : 0);
    }
}

// ------ step by step ------------------------------------------------------------------------------------------------

// The classes in which a search of that class, or of a run (KMA_SL_CLASSES), looks for holes, as long as it steps on.
inline void check_lone_classes_of(uint units, uint own, uint listed)
{
    lone_heap lone;
    for (uint size_class = 0; size_class < KMA_SL_CLASSES; size_class += listed)
        kma_sl_tree_put(lone.heap, size_class, size_class % 3);
    kma_sl_search search = lone.search(units, 1, own);
    const uint first = search.size_class = kma_sl_first_class(&search);
    shim::check(first == (own == KMA_SL_CLASSES ? own - 1 : own), "the first class");
    for (uint next = first + 1; next < KMA_SL_CLASSES; next++)
        if (next % listed == 0)
            shim::check(kma_sl_step_class(&search) && search.size_class == next, "the next class up");
    for (uint next = class_that_fits(units); next < first; next++)
        if (next % listed == 0)
            shim::check(kma_sl_step_class(&search) && search.size_class == next, "a class below");
    shim::check(!kma_sl_step_class(&search) && search.size_class == first, "a class behind the last");
}

inline void check_lone_classes()
{
    for (const uint listed : {1u, 3u, 64u}) // classes with holes: each, every third, none but class 0
        for (const uint units : {1u, 40u, 300u})
            check_lone_classes_of(units, KMA_SL_CLASSES, listed);
    for (uint own = 0; own < KMA_SL_CLASSES; own++) {
        for (const uint listed : {1u, 3u, 64u}) {
            check_lone_classes_of(kma_sl_units(own), own, listed);
            check_lone_classes_of(own != 0 ? kma_sl_units(own) - 1 : 1, own, listed);
        }
        const uint units = kma_sl_units(own);
        uint lines = own == 0 ? 1 : 2;
        while (lines * 32 < units)
            lines++;
        shim::check(kma_sl_fewest_lines(own) == lines, "the fewest lines for a block of a class");
    }
}

inline void set_seekers(lone_heap &lone, uint count)
{
    kma_store_u32(&lone.heap->seekers, count, KMA_RELAXED);
}

inline bool has_seekers(const lone_heap &lone, uint count)
{
    return kma_load_u32(&lone.heap->seekers, KMA_RELAXED) == count;
}

inline void check_lone_seekers()
{
    lone_heap lone;
    set_seekers(lone, KMA_SL_SEEKERS - 1);
    shim::check(kma_sl_enter(lone.heap) && has_seekers(lone, KMA_SL_SEEKERS), "the last one who may");
    shim::check(!kma_sl_enter(lone.heap) && has_seekers(lone, KMA_SL_SEEKERS), "one more than may");
}

inline kma_ref take_class(lone_heap &lone, uint size_class, bool any_size = true)
{
    return kma_sl_take_alone(lone.heap, kma_sl_units(size_class), 1, size_class, any_size);
}

// Who may not look at all of the heap begins anew, since the next run may be free; not for ever, and not where lines
// are known to be scarce.
inline void check_lone_anew()
{
    {
        lone_heap lone;
        lone.use(0, 1);
        set_seekers(lone, KMA_SL_SEEKERS);
        shim::check(kma_sl_take_alone(lone.heap, 33 * 32, 1, KMA_SL_CLASSES, true) == lone.unit(33), "the second run");
        shim::check(has_seekers(lone, KMA_SL_SEEKERS), "somebody looked at all of the heap");
    }
    uint operations[2];
    for (uint scarce = 0; scarce < 2; scarce++) {
        lone_heap lone;
        lone.use(0, 96);
        set_seekers(lone, KMA_SL_SEEKERS);
        kma_sl_set_scarce(lone.heap, scarce);
        shim::self().operations = 0;
        shim::check(take_class(lone, 16) == KMA_NULL, "a block of a full heap");
        operations[scarce] = shim::self().operations;
        shim::check(has_seekers(lone, KMA_SL_SEEKERS), "somebody looked at all of the heap");
    }
    shim::check(operations[1] * 8 < operations[0], "who cannot get lines is not told so at once");
}

// Where lines are known to be scarce and there are no holes, heads are asked only if one has a slab.
inline void check_lone_heads_of_a_full_heap()
{
    const uint lines = kma_sl_size_of(16).lines;
    uint operations[2];
    for (uint more = 0; more < 2; more++) {
        lone_heap lone;
        lone.use(0, 96);
        kma_sl_set_scarce(lone.heap, lines + more);
        shim::self().operations = 0;
        shim::check(kma_sl_from_heads(lone.heap, 16, 1, 1, true).slots == 0, "slots of a full heap");
        operations[more] = shim::self().operations;
        shim::check(lone.headed() == 0, "a slab at a head of a full heap");
    }
    shim::check(operations[0] < 8 && operations[1] > 8, "heads without a slab are asked for one");
    lone_heap lone;
    shim::check(kma_sl_from_heads(lone.heap, 16, 1, 1, true).slots == 2u, "no slab at a head");
    kma_sl_set_scarce(lone.heap, 1);
    shim::check(kma_sl_from_heads(lone.heap, 16, 1, 1, true).slots == 4u, "no slot of a head's slab");
    lone_heap other;
    other.make_holes(40, 2, kma_sl_units(16), 2, 2u);
    kma_sl_set_scarce(other.heap, 1);
    shim::check(kma_sl_from_heads(other.heap, 16, 1, 1, false).slots == 0 &&
                    kma_sl_from_heads(other.heap, 15, 1, 1, true).slots == 0,
                "slots where heads have none");
}

inline void check_lone_order()
{
    { // a hole before the head's slab
        lone_heap lone;
        shim::check(kma_sl_from_heads(lone.heap, 16, 1, 1, true).slots == 2u && lone.headed() == 1,
                    "no slab at a head");
        lone.make_holes(40, 2, 18, 3, 2u);
        shim::check(take_class(lone, 16) == lone.unit(40, 18), "not the hole");
    }
    { // a run where it is its turn before a walk; heads keep their slabs
        lone_heap lone;
        kma_sl_from_heads(lone.heap, 16, 1, 1, true);
        kma_store_u32(&lone.heap->next_run, 41, KMA_RELAXED);
        shim::check(kma_sl_take_alone(lone.heap, 128, 1, KMA_SL_CLASSES, true) == lone.unit(40), "not the next run");
        shim::check(lone.headed() == 1, "a slab was taken off its head");
    }
    for (const bool any_size : {false, true}) { // lines before idle slabs end
        lone_heap lone;
        const kma_sl_from from = kma_sl_from_heads(lone.heap, 16, 1, 1, true);
        lone.free_slot(from.unit / KMA_SL_LINE, kma_sl_first_bit(from.slots));
        shim::check(lone.owners(from.unit / KMA_SL_LINE) == 1u, "no idle slab");
        const kma_ref run = kma_sl_take_alone(lone.heap, 64, 64, KMA_SL_CLASSES, any_size);
        shim::check(run != KMA_NULL && run % 64 == 0 && lone.headed() == 1, "an idle slab ended");
    }
    { // holes of larger classes before slabs are taken off heads
        lone_heap lone;
        lone.make_holes(40, 2, 25, 2, 2u);
        lone.use(0, 30);
        lone.use(42, 54);
        lone.use(32, 8);
        kma_store_u32(&lone.heap->looked[0], 0, KMA_RELAXED);
        shim::check(kma_sl_from_heads(lone.heap, 0, 1, 1, true).slots == 2u, "no slab at a head");
        lone.use(lone.used(0) == 0x7fffffffu ? 31 : 30, 1);
        shim::check(lone.uses(all_lines, all_lines, all_lines), "lines are free");
        shim::check(take_class(lone, 16, false) == KMA_NULL, "a block of a larger class");
        shim::check(take_class(lone, 16) == lone.unit(40, 25), "not the hole of a larger class");
        shim::check(lone.headed() == 1, "a slab was taken off its head");
    }
    { // a hole of the class below that is large enough, though that class has no such alignment
        lone_heap lone;
        lone.use(2, 94);
        lone.make_holes(0, 2, 23, 2, 1u);
        shim::check(kma_sl_take_alone(lone.heap, 24, 8, 19, true) == KMA_NULL, "a hole that is too small");
        shim::check(kma_sl_take_alone(lone.heap, 18, 8, 19, false) == KMA_NULL, "a hole of another class");
        shim::check(kma_sl_take_alone(lone.heap, 18, 8, 19, true) == lone.unit(0), "no hole of the class below");
        shim::check(has_seekers(lone, 0) && !lone.has_pins(), "somebody still looks");
    }
}

// With no line free: a hole that only its place in a slab aligns, and one that is larger than those of any class.
inline void check_lone_last_holes()
{
    struct {
        uint units, align, size_class; // of the request; KMA_SL_CLASSES: a run
        uint first, slot_units, slots, slot; // line of a slab, and its hole
    } constexpr cases[] = {
        {190, 32, 43, 32, 208, 4, 2},
        {190, 32, 43, 32, 208, 4, 0},
        {24, 64, KMA_SL_CLASSES, 32, 25, 4, 0},
        {24, 64, KMA_SL_CLASSES, 34, 24, 9, 8},
        {1, 256, KMA_SL_CLASSES, 32, 300, 2, 0},
        {257, 1, KMA_SL_CLASSES, 3, 512, 4, 3},
        {512, 1, KMA_SL_CLASSES, 3, 512, 4, 1},
        {512, 32, KMA_SL_CLASSES, 3, 512, 4, 1},
        {300, 128, KMA_SL_CLASSES, 4, 384, 3, 1},
    };
    for (const auto &each : cases)
        for (const uint scarce : {0u, 1u}) {
            lone_heap lone;
            const uint lines = kma_sl_lines_for(each.slot_units, each.slots);
            lone.use_all_but(each.first, lines);
            lone.make_holes(each.first, lines, each.slot_units, each.slots, 1u << each.slot);
            kma_sl_set_scarce(lone.heap, scarce);
            const auto take = [&](uint units) {
                shim::self().operations = 0;
                return kma_sl_take_alone(lone.heap, units, each.align, each.size_class, true);
            };
            if (each.size_class == KMA_SL_CLASSES)
                shim::check(take(each.slot_units + 1) == KMA_NULL, "a hole that is too small");
            const uint within = each.slot * each.slot_units;
            const bool fits = (each.first * KMA_SL_LINE + within) % each.align == 0;
            shim::check(take(each.units) == (fits ? lone.unit(each.first, within) : KMA_NULL), "the only hole that fits");
            shim::check(has_seekers(lone, 0) && !lone.has_pins(), "somebody still looks");
        }
}

// A run takes lines, unless they were looked for in vain a short while ago: then a hole that is large enough.
inline void check_lone_soon()
{
    for (const uint scarce : {0u, 1u}) {
        lone_heap lone;
        lone.make_holes(0, 64, 512, 4, 2u);
        kma_sl_set_scarce(lone.heap, scarce);
        const kma_ref block = kma_sl_take_alone(lone.heap, 300, 1, KMA_SL_CLASSES, true);
        shim::check(scarce != 0 ? block == lone.unit(0, 512) : block >= lone.unit(64), "lines or a hole for a run");
    }
}

inline void check_slab_lone()
{
    slab_kind::vary(1); // each number is a place
    check_lone_trees();
    check_lone_letting_go();
    check_lone_fittings();
    check_lone_marks();
    check_lone_holes();
    check_lone_spread();
    check_lone_aligned_holes();
    check_lone_aligned_requests();
    check_lone_draws();
    check_lone_steps();
    check_lone_classes();
    check_lone_seekers();
    check_lone_heads_of_a_full_heap();
    check_lone_anew();
    check_lone_order();
    check_lone_last_holes();
    check_lone_soon();
    shim::self().operations = 0;
}

} // namespace calls
