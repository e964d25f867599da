// The slab heap's heads, one function after the other, in a heap of three chunks whose state is made by hand: what each
// gives, and what it leaves.
#pragma once

#include <vector>

#include "calls_slab_lines.hpp"
#include "slab_made.hpp"

namespace calls {

// The head of a class at the caller's place has a slab at a line, with these owners; or, without owners, there is none.
struct headed_slab {
    kma_slab *heap;
    kma_sl_heap sl;
    uint size_class;
    uint first;
    kma_atomic_u32 *head;

    headed_slab(uint of_class, uint owners)
        : heap(slab_of(3, 3, 1)), sl(kma_sl_open(heap)), first(40) // no share begins here
    {
        size_class = of_class;
        head = kma_sl_head(&sl, 0, size_class);
        if (owners != 0)
            add(size_class, first, owners);
    }

    void add(uint of_class, uint line, uint owners)
    {
        make(of_class, line, owners);
        put(kma_sl_head(&sl, 0, of_class), kma_sl_head_of(line, 0));
        kma_fetch_add_u32(&heap->headed[of_class], 1, KMA_RELAXED);
    }

    // At no head.
    void make(uint of_class, uint line, uint owners)
    {
        const kma_sl_size size = heap->sizes[of_class];
        shim::check(kma_sl_take_lines(heap, line, size.lines), "no lines for a slab");
        kma_sl_make(&sl, line, size.lines, size.units, size.slots, owners);
    }

    // The same, with a hole.
    void make_hole(uint of_class, uint line)
    {
        make(of_class, line, 3u);
        kma_sl_let_go(heap, line, 2u, true);
    }

    // As when cursors lead to lines of others.
    void no_draws() const { heap->plan.few_rounds = 0; }

    uint slots() const { return kma_sl_all_slots(heap->sizes[size_class].slots); }
    uint owners() const { return now(kma_sl_word(&sl, first)); }
    uint lines_taken() const
    {
        uint lines = 0;
        for (uint chunk = 0; chunk < 3; chunk++)
            lines += static_cast<uint>(std::popcount(now(kma_sl_used(&sl, chunk))));
        return lines;
    }
    bool has_head() const { return now(head) != 0; }

    // All words, if others have these slots of the slab at a line.
    void expect(slab_books &books, uint of_class, uint line, uint held) const
    {
        for (uint slot = 0; slot < KMA_SL_SLOTS; slot++)
            if ((held >> slot & 1u) != 0)
                books.expect(line * KMA_SL_LINE + slot * kma_sl_units(of_class));
    }
    void check_books(uint held) const
    {
        shim::self().operations = 0;
        slab_books books(heap);
        expect(books, size_class, first, held);
        books.check();
    }
};

constexpr uint four_slots = 15;       // of 16 units, in two lines
constexpr uint many_slots[] = {0, 1}; // classes of one and of two units: 32 slots

inline void check_share_head()
{
    struct row {
        uint owners;
        uint count;
        uint slots; // that are got
        bool stays; // the slab at its head
    };
    static constexpr row rows[] = {
        {1u, 1, 2u, true},
        {1u, 3, 0xeu, true},
        {0x15u, 2, 0xau, true},
        {1u, 31, 0xfffffffeu, true},
        {1u, 32, 0xffffffffu, false}, // slot 0, too, since the slab has no more
        {1u, 40, 0xffffffffu, false},
        {1u, 30, 0x7ffffffeu, true}, // slot 31 is the last one to be taken
        {0x3fffffffu, 2, 0xc0000000u, true},
        {0x3fffffffu, 3, 0xc0000001u, false},
        {0x7fffffffu, 1, 0x80000000u, true},
        {0x7fffffffu, 4, 0x80000001u, false},
        {0xffffffffu, 2, 1u, false}, // slot 0, for the rest is taken
        {0x800000ffu, 2, 1u, false}, // or slot 31 is
        {0xbfffffffu, 1, 1u, false},
    };
    static constexpr row rows_of_four[] = {
        {1u, 1, 2u, true},  {5u, 2, 0xau, true}, {5u, 4, 0xbu, false},
        {7u, 1, 8u, true}, {7u, 2, 9u, false},  {0xfu, 1, 1u, false}};
    const auto check = [](uint size_class, const row &each) {
        const headed_slab made(size_class, each.owners);
        shim::check(made.slots() == (size_class == four_slots ? 15u : ~0u), "slots of a class");
        const uint got = kma_sl_share_head(made.heap, made.head, kma_sl_head_of(made.first, 0), size_class, each.count);
        shim::check(got == each.slots, "the slots that a head gives");
        shim::check(made.has_head() == each.stays, "whether a slab is taken off its head");
        shim::check(made.owners() == (each.owners | got), "the owners of a head's slab");
        made.check_books(each.stays ? (each.owners | got) & ~1u : each.owners | got);
    };
    for (const row &each : rows)
        for (const uint size_class : many_slots)
            check(size_class, each);
    for (const row &each : rows_of_four)
        check(four_slots, each);
    for (const uint owners : {3u, 0xfu}) { // it was taken off, and another is at the head
        headed_slab made(four_slots, 0);
        made.make(four_slots, made.first, owners);
        made.add(four_slots, 60, 1u);
        shim::check(kma_sl_share_head(made.heap, made.head, kma_sl_head_of(made.first, 0), four_slots, 1) == 0,
                    "a slot of no head's slab");
        shim::check(made.owners() == owners && now(made.head) == kma_sl_head_of(60, 0),
                    "a slab that is at no head was changed");
        made.check_books(owners);
    }
}

// A slab of fewer slots than those that are made for heads, with another slot as its own.
inline void check_share_others()
{
    headed_slab made(four_slots, 0);
    shim::check(kma_sl_take_lines(made.heap, made.first, 2), "no lines for a slab");
    kma_sl_make(&made.sl, made.first, 2, 16, 3, 6u);
    const uint head = kma_sl_head_of(made.first, 2);
    put(made.head, head);
    kma_fetch_add_u32(&made.heap->headed[four_slots], 1, KMA_RELAXED);
    shim::check(kma_sl_share_head(made.heap, made.head, head, four_slots, 1) == 1u, "the slots that there are");
    made.check_books(3u);
    shim::check(kma_sl_share_head(made.heap, made.head, head, four_slots, 2) == 4u && !made.has_head(),
                "a head's own slot");
    made.check_books(7u);
}

// Others were quicker, or there is nothing left.
inline void check_claim_slots()
{
    const headed_slab made(four_slots, 3u);
    const uint head = kma_sl_head_of(made.first, 0);
    shim::check(kma_sl_claim_slots(&made.sl, made.head, head, four_slots, 1) == 4u && made.owners() == 7u, "a slot");
    put(made.head, kma_sl_head_of(60, 0));
    shim::check(kma_sl_claim_slots(&made.sl, made.head, head, four_slots, 1) == KMA_SL_NO_SLOTS && made.owners() == 7u,
                "a slot of no head's slab");
    put(made.head, head);
    shim::check(kma_sl_claim_slots(&made.sl, made.head, head, four_slots, 2) == 8u, "the last slot");
    shim::check(kma_sl_claim_slots(&made.sl, made.head, head, four_slots, 2) == KMA_SL_NONE_LEFT, "a slot of none");
    shim::check(made.has_head() && made.owners() == 15u, "a slab was taken off");
}

// Each place has a head for each class, of which larger ones share some, and small ones have more.
inline void check_head_numbers()
{
    for (uint places = 1; places <= 1024; places *= 2) {
        std::vector<uint> classes(kma_sl_heads(places), KMA_SL_CLASSES);
        for (uint c = 0; c < KMA_SL_CLASSES; c++) {
            const uint of = kma_sl_places_of(places, c);
            const uint shift = places < 16 || c < 16 ? 0 : c / 8 - 1;
            shim::check(of == (places >= 16 && c < 4 ? places * 4 : places >> shift), "how many heads a class has");
            for (uint place = 0; place < 8 * places; place++) {
                const uint number = kma_sl_head_number(places, place, c);
                shim::check(number < classes.size(), "a head behind the last one");
                shim::check(place < of ? classes[number] == KMA_SL_CLASSES : classes[number] == c, "a head of two");
                classes[number] = c;
                shim::check(kma_sl_head_class(places, number) == c, "the class of a head");
            }
        }
        shim::check(std::ranges::count(classes, KMA_SL_CLASSES) == 0, "a head that nobody uses");
    }
    for (const uint line : {0u, 1u, 77u, (1u << 27) - 3})
        for (uint slot = 0; slot < KMA_SL_SLOTS; slot++) {
            const uint head = kma_sl_head_of(line, slot);
            shim::check(kma_sl_head_has_slab(head) && kma_sl_head_line(head) == line &&
                            kma_sl_head_own(head) == 1u << slot,
                        "what a head says");
        }
    shim::check(!kma_sl_head_has_slab(0) && !kma_sl_head_has_slab(KMA_SL_HEAD_BUSY), "heads without a slab");
}

// From the head, from a new slab, or none.
inline void check_from_heads()
{
    const auto unit_of = [](const headed_slab &made, const kma_sl_from &from) {
        return from.unit == made.first * KMA_SL_LINE && from.units == kma_sl_units(made.size_class);
    };
    for (const bool anew : {false, true}) {
        headed_slab made(four_slots, 3u);
        const kma_sl_from some = kma_sl_from_heads(made.heap, four_slots, 1, 2, anew);
        shim::check(unit_of(made, some) && some.slots == 0xcu && made.lines_taken() == 2, "slots of the head's slab");
        const kma_sl_from last = kma_sl_from_heads(made.heap, four_slots, 1, 1, anew);
        shim::check(unit_of(made, last) && last.slots == 1u && !made.has_head(), "a head's own slot");
        made.check_books(0xfu);
        for (const bool has_holes : {false, true})
            for (const uint count : {1u, 2u, 5u}) {
                headed_slab other(four_slots, 0);
                if (has_holes)
                    other.make_hole(four_slots, 70);
                const kma_sl_from fresh = kma_sl_from_heads(other.heap, four_slots, 1, count, anew);
                const bool opens = anew || !has_holes;
                const uint mine = count == 1 ? 2u : count == 2 ? 6u : 0xeu;
                shim::check(other.has_head() == opens && fresh.slots == (opens ? mine : 0u),
                            "whether there is a new slab");
                shim::check(other.lines_taken() == (has_holes ? 2u : 0u) + (opens ? 2u : 0u), "lines of a new slab");
                shim::check(!opens || now(other.head) == kma_sl_head_of(fresh.unit / KMA_SL_LINE, 0),
                            "a new slab is at no head");
                if (!has_holes) {
                    other.first = fresh.unit / KMA_SL_LINE;
                    other.check_books(mine);
                }
            }
    }
}

// Of small sizes holes come before lines that are not drawn, those of one slab, which the head gets if it may.
inline void check_from_holes()
{
    struct row {
        uint units, lines, slots, owners, count, got;
        bool kept;
    };
    static constexpr row rows[] = {
        {2, 2, 32, 0x0fu, 3, 0x70u, true},
        {2, 2, 20, 0xffff0u, 3, 7u, false}, // one is left, for the head
        {2, 2, 3, 0x1u, 3, 6u, false},
        {2, 2, 32, 0x80000001u, 2, 6u, false}, // slot 31 is taken
        {2, 2, 32, 0x3fffffffu, 1, 0x40000000u, false},
        {2, 2, 32, 0x1fffffffu, 1, 0x20000000u, true}, // slot 31 is the last one for others
    };
    for (const row &each : rows) {
        headed_slab made(1, 0);
        shim::check(kma_sl_take_lines(made.heap, made.first, each.lines), "no lines for a slab");
        kma_sl_make(&made.sl, made.first, each.lines, each.units, each.slots, each.owners);
        kma_sl_tree_put(made.heap, 1, made.first / KMA_SL_LINE);
        made.no_draws();
        const kma_sl_from from = kma_sl_from_heads(made.heap, 1, 1, each.count, true);
        shim::check(from.slots == each.got && from.unit == made.first * KMA_SL_LINE && from.units == 2, "the holes");
        shim::check(made.has_head() == each.kept && made.lines_taken() == 2, "a slab with holes is at no head");
        made.check_books(each.owners | each.got);
    }
    // So many that these holes would not do for them.
    for (const uint count : {KMA_SL_SOME - 1, KMA_SL_SOME}) {
        headed_slab some(1, 0);
        some.make_hole(1, some.first);
        some.no_draws();
        const kma_sl_from from = kma_sl_from_heads(some.heap, 1, 1, count, true);
        const bool fills = count < KMA_SL_SOME;
        shim::check((from.unit == some.first * KMA_SL_LINE) == fills && some.lines_taken() == (fills ? 2u : 4u),
                    "whether holes serve them");
    }
    // Nor anybody while the cursor leads to free lines.
    headed_slab drawn(1, 0);
    drawn.make_hole(1, drawn.first);
    const uint its = kma_sl_counted_line(&drawn.sl, KMA_SL_BAND_HEADS, 0, 0);
    shim::check(kma_sl_from_heads(drawn.heap, 1, 1, 1, true).unit == its * KMA_SL_LINE && drawn.lines_taken() == 4,
                "a slab of the lines that a cursor tells");
    // Which do if there are no lines.
    headed_slab full(1, 0);
    full.make_hole(1, full.first);
    shim::check(kma_sl_take_lines(full.heap, 0, full.first) &&
                    kma_sl_take_lines(full.heap, full.first + 2, 94 - full.first),
                "no lines for others");
    shim::check(kma_sl_from_heads(full.heap, 1, 1, KMA_SL_SOME, true).slots == 0x1eu, "holes for many");
    // Where there was none, the chunk is told of no more.
    const headed_slab vain(1, 0);
    kma_sl_tree_put(vain.heap, 1, 2);
    vain.no_draws();
    shim::check(kma_sl_from_heads(vain.heap, 1, 1, 1, true).slots == 2u && vain.has_head(), "no new slab");
    shim::check(!kma_bit_tree_has(kma_sl_tree(&vain.sl, 1), 2), "a chunk without holes is in a tree");
    // One slot whose size differs from its neighbours', of the class all the same.
    const headed_slab mixed(1, 0);
    uint sizes[KMA_SL_SLOTS];
    for (uint slot = 0; slot < KMA_SL_SLOTS; slot++)
        sizes[slot] = slot % 2 == 0 ? 1 : 2;
    const made_slab planes = make_planes(mixed.heap, mixed.first, sizes, slab_sizes::small);
    kma_sl_let_go(mixed.heap, mixed.first, 0x2au, true); // slots 1, 3, and 5
    mixed.no_draws();
    const kma_sl_from from = kma_sl_from_heads(mixed.heap, 1, 1, 3, true);
    shim::check(kma_sl_block_of(mixed.heap->plan.begin, from, 0) ==
                    mixed.heap->plan.begin + mixed.first * KMA_SL_LINE + planes.offsets[1],
                "a hole between others");
    shim::check(kma_sl_block_of(mixed.heap->plan.begin, from, 1) == KMA_NULL && !mixed.has_head(), "more than one hole");
    // The first plane of a small slab is where others have their header, and may look like that of any.
    for (const uint large : {0x3fu, 0x20000000u, 0x40000000u, 0x7fffffffu}) {
        shim::self().operations = 0;
        const headed_slab small(1, 0);
        for (uint slot = 0; slot < KMA_SL_SLOTS; slot++)
            sizes[slot] = (large >> slot & 1u) != 0 ? 2 : 1;
        const made_slab made = make_planes(small.heap, small.first, sizes, slab_sizes::small);
        const uint slot = kma_sl_first_bit(large);
        kma_sl_let_go(small.heap, small.first, 1u << slot, true);
        small.no_draws();
        const kma_sl_from hole = kma_sl_from_heads(small.heap, 1, 1, 1, true);
        shim::check(kma_sl_block_of(small.heap->plan.begin, hole, 0) ==
                        small.heap->plan.begin + small.first * KMA_SL_LINE + made.offsets[slot],
                    "a hole of a small slab");
    }
}

// Who finds a head without a slab that another is about to give it goes to others, or has a slab alone.
inline void check_busy_heads()
{
    headed_slab made(four_slots, 0);
    put(made.head, KMA_SL_HEAD_BUSY);
    put(kma_sl_head(&made.sl, 1, four_slots), KMA_SL_HEAD_BUSY);
    const kma_sl_from alone = kma_sl_from_heads(made.heap, four_slots, 1, 1, true);
    shim::check(alone.slots == 2u && now(made.head) == KMA_SL_HEAD_BUSY && made.lines_taken() == 2,
                "a slab of one's own");
    put(made.head, 0);
    put(kma_sl_head(&made.sl, 1, four_slots), 0);
    made.first = alone.unit / KMA_SL_LINE;
    made.check_books(2u);
    headed_slab other(four_slots, 0);
    put(other.head, KMA_SL_HEAD_BUSY);
    other.make(four_slots, 60, 1u);
    put(kma_sl_head(&other.sl, 1, four_slots), kma_sl_head_of(60, 0));
    kma_fetch_add_u32(&other.heap->headed[four_slots], 1, KMA_RELAXED);
    for (const uint slots : {2u, 12u}) {
        const kma_sl_from from = kma_sl_from_heads(other.heap, four_slots, 1, slots == 2u ? 1 : 2, true);
        shim::check(from.slots == slots && from.unit == 60 * KMA_SL_LINE, "slots of another place's slab");
    }
    kma_sl_take_off(other.heap, false);
    shim::check(now(other.head) == KMA_SL_HEAD_BUSY, "a head that somebody is at");
}

// And if there are no lines, nothing.
inline void check_busy_without_lines()
{
    const headed_slab made(1, 0);
    put(made.head, KMA_SL_HEAD_BUSY);
    put(kma_sl_head(&made.sl, 1, 1), KMA_SL_HEAD_BUSY);
    shim::check(kma_sl_take_lines(made.heap, 0, 96), "no lines");
    const kma_sl_from none = kma_sl_from_heads(made.heap, 1, 1, 1, true);
    shim::check(none.slots == 0 && none.unit == KMA_SL_NONE, "a slab of no lines");
    shim::check(made.lines_taken() == 96, "lines of others are given back");
}

// And once cursors lead to free lines no more the next ones fill its other slots: however long the heads are busy, slabs become
// full.
inline void check_busy_for_long()
{
    for (uint size_class = 0; size_class < KMA_SL_SMALL_CLASSES; size_class++) {
        const headed_slab made(size_class, 0);
        made.no_draws();
        put(made.head, KMA_SL_HEAD_BUSY);
        put(kma_sl_head(&made.sl, 1, size_class), KMA_SL_HEAD_BUSY);
        const kma_sl_size size = made.heap->sizes[size_class];
        for (uint n = 0; n < 2 * size.slots; n++) {
            shim::self().operations = 0; // which are limited
            shim::check(kma_sl_from_heads(made.heap, size_class, 1, 1, true).slots != 0, "no block of one's own");
        }
        shim::check(made.lines_taken() == 2 * size.lines, "a slab for each block");
        put(made.head, 0);
        put(kma_sl_head(&made.sl, 1, size_class), 0);
    }
}

// Who leaves the most of a slab of his own empty shares one; whole warps never do, as each of their lanes would go its own way.
inline void check_shares()
{
    for (const uint units : {1u, 2u, KMA_SL_SMALL_CLASSES})
        for (uint many = 1; many <= 64; many++)
            shim::check(kma_sl_shares(units, many) == (many == 1 || (many < 32 && many * units <= 32)), "which groups share slabs");
    shim::check(kma_sl_shares(256, 1) && !kma_sl_shares(KMA_SL_SMALL_CLASSES + 1, 2), "which sizes share slabs");
}

#if KMA_LONE_PATHS
// A new slab for a head, which has it then if it still is BUSY; else its other slots are holes.
inline void check_renew()
{
    for (const uint size_class : {0u, 1u, 3u, four_slots})
        for (const uint meanwhile : {KMA_SL_HEAD_BUSY, 0u, kma_sl_head_of(60, 0)})
            for (const uint many : {1u, 2u, 40u}) {
                headed_slab made(size_class, 0);
                put(made.head, meanwhile);
                const uint its = kma_sl_counted_line(&made.sl, KMA_SL_BAND_HEADS, 0, 0);
                const kma_sl_from from = kma_sl_renew(made.heap, made.head, size_class, many);
                const bool gets = meanwhile == KMA_SL_HEAD_BUSY;
                made.first = from.unit / KMA_SL_LINE;
                shim::check(from.units == kma_sl_units(size_class) && from.unit == its * KMA_SL_LINE, "where a slab is");
                shim::check(from.slots == kma_sl_lowest(made.slots() & ~1u, many), "slots of a new slab");
                shim::check(now(made.head) == (gets ? kma_sl_head_of(made.first, 0) : meanwhile), "what is at the head");
                shim::check(now(&made.heap->headed[size_class]) == (gets ? 1u : 0u), "how many heads have slabs");
                shim::check(kma_sl_has_holes(&made.sl, size_class) == !gets, "what a tree tells of"); // its own slot at least
                put(made.head, gets ? now(made.head) : 0);
                made.check_books(from.slots);
            }
    const headed_slab none(1, 0);
    none.no_draws();
    put(none.head, KMA_SL_HEAD_BUSY);
    shim::check(kma_sl_renew(none.heap, none.head, 1, 1).slots == 0 && none.lines_taken() == 0, "slots of no slab");
}

// Lines for it, all or none.
inline void check_draw_for_head()
{
    for (uint taken = 0; taken < 8; taken++) {
        const headed_slab made(2, 0);
        const uint its = kma_sl_counted_line(&made.sl, KMA_SL_BAND_HEADS, 0, 0);
        for (uint line = 0; line < 3; line++)
            if ((taken >> line & 1u) != 0)
                shim::check(kma_sl_take_lines(made.heap, its + line, 1), "no lines for others");
        shim::check(kma_sl_draw_for_head(made.heap, 3) == (taken == 0 ? its : KMA_SL_NONE), "which lines are drawn");
        shim::check(made.lines_taken() == (taken == 0 ? 3u : static_cast<uint>(std::popcount(taken))), "lines of others");
    }
    const headed_slab scarce(2, 0);
    kma_sl_set_scarce(scarce.heap, 3);
    shim::check(kma_sl_draw_for_head(scarce.heap, 3) == KMA_SL_NONE && scarce.lines_taken() == 0, "lines that are scarce");
}

// From the head of the own place, or another's, or for one that has none.
inline void check_take_near()
{
    for (const uint size_class : {0u, 1u, four_slots}) {
        headed_slab own(size_class, 1u);
        shim::check(kma_sl_take_near(own.heap, size_class, 2).slots == 6u && own.has_head(), "slots of a head's slab");
        own.check_books(6u);
        headed_slab fresh(size_class, 0);
        const kma_sl_from from = kma_sl_take_near(fresh.heap, size_class, 1);
        fresh.first = from.unit / KMA_SL_LINE;
        shim::check(from.slots == 2u && now(fresh.head) == kma_sl_head_of(fresh.first, 0), "a new slab");
        fresh.check_books(2u);
        headed_slab other(size_class, 0);
        put(other.head, KMA_SL_HEAD_BUSY);
        other.make(size_class, 60, 1u);
        put(kma_sl_head(&other.sl, 1, size_class), kma_sl_head_of(60, 0));
        const kma_sl_from its = kma_sl_take_near(other.heap, size_class, 1);
        shim::check(its.slots == 2u && its.unit == 60 * KMA_SL_LINE && now(other.head) == KMA_SL_HEAD_BUSY,
                    "slots of another place's slab");
        // All are busy: one of them gets the caller's.
        const headed_slab busy(size_class, 0);
        put(busy.head, KMA_SL_HEAD_BUSY);
        put(kma_sl_head(&busy.sl, 1, size_class), KMA_SL_HEAD_BUSY);
        const kma_sl_from mine = kma_sl_take_near(busy.heap, size_class, 1);
        const uint named = kma_sl_head_of(mine.unit / KMA_SL_LINE, 0);
        const uint here = now(busy.head), there = now(kma_sl_head(&busy.sl, 1, size_class));
        shim::check(mine.slots == 2u && (here == named) != (there == named) &&
                        (here == KMA_SL_HEAD_BUSY) != (there == KMA_SL_HEAD_BUSY),
                    "a slab for a head that is busy");
        // Without lines nobody's head is changed, but for the caller's.
        for (const uint before : {0u, KMA_SL_HEAD_BUSY}) {
            const headed_slab none(size_class, 0);
            none.no_draws();
            put(none.head, before);
            put(kma_sl_head(&none.sl, 1, size_class), before);
            shim::check(kma_sl_take_near(none.heap, size_class, 1).slots == 0, "slots of no slab");
            shim::check(now(none.head) == before && now(kma_sl_head(&none.sl, 1, size_class)) == before, "heads without lines");
        }
    }
}

// Of a lane alone, by the paths for one and for a few.
inline void check_take_few(kma_ref (*take)(global kma_slab *, size_t))
{
    const auto unit_of = [](const headed_slab &made, uint slot) {
        return made.heap->plan.begin + made.first * KMA_SL_LINE + slot * kma_sl_units(made.size_class);
    };
    for (const uint bytes : {1u, 16u, 17u, 241u, 256u, 4096u}) {
        const headed_slab made(kma_sl_class_of((bytes + 15) / 16), 1u);
        shim::check(take(made.heap, bytes) == unit_of(made, 1), "a block of a head's slab");
        shim::check(take(made.heap, bytes) == unit_of(made, 2), "its next block");
        made.check_books(6u);
    }
    const auto gives_none = [take](const headed_slab &made, size_t bytes, uint owners) {
        shim::check(take(made.heap, bytes) == KMA_NULL, "a block that a lane alone must not take at once");
        shim::check(made.owners() == owners, "owners that must stay as they are");
    };
    // The last one is the head's own; and if slot 31 is taken, or these are data, no other is to be had.
    for (const uint owners : {0xfu, 0x800000ffu}) {
        const headed_slab last(owners == 0xfu ? four_slots : 0, owners);
        shim::check(take(last.heap, owners == 0xfu ? 256 : 16) == unit_of(last, 0) && last.owners() == owners,
                    "a head's own slot");
        shim::check(!last.has_head() && kma_sl_has_holes(&last.sl, 0) == (owners != 0xfu), "what is left at a head");
        last.check_books(owners);
    }
    gives_none(headed_slab(0, 1u), 0, 1u);
    gives_none(headed_slab(KMA_SL_CLASSES - 1, 1u), 4097, 1u);
    headed_slab holes(four_slots, 1u);
    holes.make_hole(four_slots, 70);
    gives_none(holes, 256, 1u); // these are to be filled first
    headed_slab small(1, 1u);
    small.make_hole(1, 70);
    shim::check(take(small.heap, 32) == unit_of(small, 1), "a small block before holes");
    headed_slab busy(four_slots, 0);
    put(busy.head, KMA_SL_HEAD_BUSY);
    gives_none(busy, 256, 0);
    const headed_slab none(four_slots, 0);
    shim::check(take(none.heap, 256) == KMA_NULL && none.lines_taken() == 0, "a block of no slab");
}
#endif

inline void check_take_shared()
{
    const headed_slab made(four_slots, 1u);
    for (const uint slot : {1u, 2u, 3u, 0u})
        shim::check(kma_sl_take_shared(made.heap, four_slots, 1) ==
                        made.heap->plan.begin + made.first * KMA_SL_LINE + slot * kma_sl_units(four_slots),
                    "a block of a head's slab, for who comes alone");
    shim::check(!made.has_head(), "whether a slab is taken off its head");
    made.check_books(0xfu);
}

inline void check_take_off()
{
    for (const bool idle_ones : {true, false}) {
        headed_slab made(four_slots, 3u);
        made.add(0, 60, 1u);
        kma_sl_take_off(made.heap, idle_ones);
        shim::check(now(kma_sl_head(&made.sl, 0, 0)) == 0, "a slab that nobody uses is at its head");
        shim::check(made.has_head() == idle_ones && made.lines_taken() == 2,
                    "a slab that is used was taken off, or not");
        made.check_books(2u);
    }
}

// Lines that only heads have are there for a run: of one head for whoever wants no larger block than of its class, too, and
// of two heads with one slab, which nobody sees idle.
inline void check_lines_of_heads()
{
    for (const bool of_two : {false, true}) {
        headed_slab made(1, 0);
        made.add(1, made.first, of_two ? 3u : 1u);
        if (of_two) {
            put(kma_sl_head(&made.sl, 1, 1), kma_sl_head_of(made.first, 1));
            kma_fetch_add_u32(&made.heap->headed[1], 1, KMA_RELAXED);
        }
        shim::check(kma_sl_take_lines(made.heap, 0, made.first) &&
                        kma_sl_take_lines(made.heap, made.first + 2, 94 - made.first),
                    "no lines for others");
        shim::self().operations = 0;
        const kma_ref block = kma_sl_take_alone(made.heap, 64, 1, KMA_SL_CLASSES, of_two);
        shim::check(block == made.heap->plan.begin + made.first * KMA_SL_LINE && !made.has_head(), "lines of heads");
    }
}

// Bits in the owners of a slab that is not the one they were meant for.
inline void check_undo()
{
    const auto lists = [](const headed_slab &made) {
        uint classes = 0;
        for (uint c = 0; c < KMA_SL_CLASSES; c++)
            classes += kma_sl_has_holes(&made.sl, c);
        return classes;
    };
    headed_slab holey(four_slots, 0);
    holey.make(four_slots, holey.first, 7u);
    kma_sl_undo(holey.heap, holey.first, 4u);
    shim::check(holey.owners() == 3u && lists(holey) == 1, "bits of a slab with holes");
    holey.check_books(3u);
    headed_slab last(four_slots, 0);
    last.make(four_slots, last.first, 8u);
    kma_sl_undo(last.heap, last.first, 8u);
    shim::check(last.lines_taken() == 0, "a slab whose last bits are cleared does not end");
    last.check_books(0);
    // Lanes took it together, so that it has no holes, and its header is not to be seen yet, but what was there before.
    headed_slab whole(four_slots, 0);
    shim::check(kma_sl_take_lines(whole.heap, whole.first, 2), "no lines for a slab");
    put(kma_sl_word(&whole.sl, whole.first + 1), kma_sl_equal_header(16, 4));
    kma_sl_put_mark(&whole.sl, whole.first, KMA_SL_MARK_HEADER);
    put(kma_sl_word(&whole.sl, whole.first), 15u);
    kma_sl_undo(whole.heap, whole.first, 8u);
    shim::check(whole.owners() == 7u && lists(whole) == 0, "holes of a slab that has none");
}

inline void check_slab_heads()
{
    check_share_head();
    check_share_others();
    check_claim_slots();
    check_head_numbers();
    check_from_heads();
    check_from_holes();
    check_busy_heads();
    check_busy_without_lines();
    check_busy_for_long();
    check_shares();
#if KMA_LONE_PATHS
    check_renew();
    check_draw_for_head();
    check_take_near();
    check_take_few(kma_sl_take_one);
    check_take_few(kma_sl_take_few);
#endif
    check_take_shared();
    check_take_off();
    check_lines_of_heads();
    check_undo();
}

} // namespace calls
