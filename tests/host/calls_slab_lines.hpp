// Lines, chunks with room, and heads of the slab heap, one step each by a lone caller, in states made by hand: what a
// search finds, what it leaves as it was, and the exact slots that a head gives.
#pragma once

#include "calls.hpp"
#include "heap_slab.hpp"

namespace calls {

// Of `most` chunks, of which there are `chunks` yet. More of them than fit here have their metadata only. All but the
// first of the work-items are told of a few bytes more, which change no plan.
inline kma_slab *slab_of(uint chunks, uint most, uint work_items)
{
    ulong end;
    kma_sl_plan_of(most, KMA_SL_CURSORS, 0, &end);
    const ulong max_bytes = end * KMA_UNIT, bytes = max_bytes - ulong{most - chunks} * 16384;
    auto *const heap = reinterpret_cast<kma_slab *>(base());
    std::memset(static_cast<void *>(heap), 0xa5, std::min(max_bytes, ulong{131072}));
    for (uint me = 0; me < work_items; me++) {
        shim::self().operations = 0;
        kma_slab_init(heap, bytes + me % KMA_UNIT, max_bytes + me % KMA_UNIT, KMA_SL_CURSORS, false, me, work_items);
    }
    shim::check(heap->header.bytes == bytes && heap->header.max_bytes == max_bytes, "how many bytes a heap has");
    shim::check(ulong{heap->plan.begin} * KMA_UNIT <= 131072, "metadata have no room here");
    return heap;
}

inline uint now(const kma_atomic_u32 *word)
{
    return word->peek(shim::location::current());
}
inline void put(kma_atomic_u32 *word, uint value)
{
    kma_store_u32(word, value, KMA_RELAXED);
}

inline bool has_room_bit(const kma_sl_heap &sl, uint chunk)
{
    return (now(kma_sl_at(sl.heap, sl.plan.rooms) + chunk / 32) >> chunk % 32 & 1u) != 0;
}

// ------ the initialisation, and growth ------------------------------------------------------------------------------

inline void check_chunks_there(kma_slab *heap, uint chunks, uint most)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    for (uint chunk = 0; chunk < most; chunk++)
        shim::check(now(kma_sl_at(heap, heap->plan.used) + chunk) == (chunk < chunks ? 0 : ~0u), "lines at the start");
    for (uint chunk = 0; chunk < (most + 31) / 32 * 32; chunk++)
        shim::check(has_room_bit(sl, chunk) == (chunk < chunks), "chunks with room at the start");
}

inline void check_slab_start()
{
    static constexpr uint sizes[][2] = {{1, 1}, {2, 3}, {32, 64}, {10, 70}, {33, 70}, {70, 70}, {100, 130}};
    for (const auto &[chunks, most] : sizes)
        for (const uint work_items : {1u, 3u, 100u}) {
            kma_slab *const heap = slab_of(chunks, most, work_items);
            shim::check(heap->plan.chunks == chunks && heap->plan.room == most, "chunks of a heap");
            check_chunks_there(heap, chunks, most);
            for (uint c = 0; c < KMA_SL_CLASSES; c++) {
                const kma_sl_size right = kma_sl_size_of(c), size = heap->sizes[c];
                shim::check(size.units == right.units && size.lines == right.lines && size.slots == right.slots,
                            "the numbers of a class");
            }
        }
    kma_slab *const heap = slab_of(10, 70, 1);
    const ulong bytes = heap->header.bytes, more = bytes + 50 * 16384;
    for (const uint me : {2u, 1u, 0u}) { // the others have read the plan when the first one writes it
        shim::check(heap->plan.chunks == 10 && heap->header.bytes == bytes,
                    "not the first work-item makes a heap grow");
        kma_slab_grow(heap, more, me, 3);
    }
    shim::check(heap->plan.chunks == 60 && heap->header.bytes == more, "a heap did not grow");
    check_chunks_there(heap, 60, 70);
}

// A heap in which no chunk is yet.
inline void check_plan_within()
{
    const kma_sl_plan plan = slab_of(3, 3, 1)->plan;
    const ulong begin = ulong{plan.begin} * KMA_UNIT;
    const auto has = [&plan](ulong bytes) { return kma_sl_plan_within(plan, bytes).chunks; };
    for (const ulong bytes : {ulong{0}, begin / 2, begin - KMA_UNIT, begin, begin + 16383})
        shim::check(has(bytes) == 0, "a chunk beyond the heap");
    shim::check(has(begin + 16384) == 1 && has(begin + 2 * 16384 - 1) == 1 && has(begin + 4 * 16384) == 3,
                "chunks of a part of the heap");
}

// ------ chunks with room --------------------------------------------------------------------------------------------

inline void check_next_room()
{
    constexpr uint chunks = 600, words = (chunks + 31) / 32;
    kma_slab *const heap = slab_of(1, 1, 1);
    ulong end;
    heap->plan = kma_sl_plan_of(chunks, KMA_SL_CURSORS, 0, &end);
    const kma_sl_heap sl = kma_sl_open(heap);
    static constexpr uint sets[][3] = {{600, 600, 600}, {0, 1, 31},      {31, 32, 255},   {33, 255, 599},
                                       {255, 256, 257}, {256, 300, 512}, {257, 287, 288}, {288, 289, 543},
                                       {543, 544, 599}, {599, 600, 600}};
    for (const auto &set : sets) {
        bool has[chunks + 1] = {};
        for (uint word = 0; word < words; word++)
            put(kma_sl_rooms(&sl, word * 32), 0);
        for (const uint chunk : set)
            if (chunk < chunks && !std::exchange(has[chunk], true))
                kma_fetch_or_u32(kma_sl_rooms(&sl, chunk), 1u << chunk % 32, KMA_RELAXED);
        for (const uint from : {0u, 1u, 20u, 31u, 32u, 33u, 64u, 255u, 256u, 290u, 320u, 544u, 599u})
            for (const uint to : {1u, 32u, 33u, 255u, 256u, 257u, 275u, 288u, 320u, 543u, 580u, 600u}) {
                shim::self().operations = 0;
                uint right = from;
                while (right < to && !has[right])
                    right++;
                shim::check(kma_sl_next_room(&sl, from, to) == (from < to ? right : to), "the next chunk with room");
            }
    }
}

inline void check_clear_room()
{
    kma_slab *const heap = slab_of(3, 3, 1);
    const kma_sl_heap sl = kma_sl_open(heap);
    for (uint chunk = 0; chunk < 3; chunk++)
        for (const uint used : {~0u, 0x7fffffffu, 0u}) {
            put(kma_sl_used(&sl, chunk), used);
            put(kma_sl_rooms(&sl, 0), 7);
            kma_sl_clear_room(&sl, chunk);
            shim::check(now(kma_sl_rooms(&sl, 0)) == (used == ~0u ? 7u & ~(1u << chunk) : 7u),
                        "whether a chunk has room");
            shim::check(now(kma_sl_used(&sl, chunk)) == used, "a look changed lines");
        }
}

inline void check_scarce()
{
    kma_slab *const heap = slab_of(3, 3, 1);
    for (const uint scarce : {0u, 5u, 5u, 1u, 0u, 96u, 0u}) {
        kma_sl_set_scarce(heap, scarce);
        for (const uint count : {1u, 4u, 5u, 6u, 95u, 96u, 97u})
            shim::check(kma_sl_is_scarce(heap, count) == (scarce != 0 && count >= scarce), "whether lines are scarce");
    }
}

// ------ where a slab begins -----------------------------------------------------------------------------------------

// Of line 27, where only the word of line 24 can tell: a slab begins at line 12.
inline void check_first_of()
{
    kma_slab *const heap = slab_of(3, 3, 1);
    const kma_sl_heap sl = kma_sl_open(heap);
    kma_sl_put_mark(&sl, 12, KMA_SL_MARK_SMALL);
    kma_fetch_or_u32(kma_sl_marks(&sl, 10), KMA_SL_MARK_HOLEY << kma_sl_mark_shift(10), KMA_RELAXED); // of no form
    const auto first_by = [&sl](uint word) {
        put(kma_sl_word(&sl, 24), word);
        uint mark = 0;
        const uint first = kma_sl_first_of(&sl, 27, &mark);
        shim::check(first == KMA_SL_NONE || mark == KMA_SL_MARK_SMALL, "the mark of a slab");
        return first;
    };
    shim::check(first_by(KMA_SL_DATA | 12) == 12, "a slab is not found from its line");
    for (const uint word : {0u, 12u, ~KMA_SL_DATA, KMA_SL_DATA, KMA_SL_DATA | 13u, KMA_SL_DATA | 14u, KMA_SL_DATA | 24u,
                            KMA_SL_DATA | 25u, KMA_SL_DATA | 1000u, ~0u})
        shim::check(first_by(word) == KMA_SL_NONE, "a slab where none begins");
}

// ------ heads -------------------------------------------------------------------------------------------------------

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
        put(kma_sl_head(&sl, 0, of_class), line + 1);
        kma_fetch_add_u32(&heap->headed, 1, KMA_RELAXED);
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
        {1u, 40, 0x7ffffffeu, true}, // slot 31 is the last one to be taken
        {0x3fffffffu, 2, 0x40000000u, true},
        {0x7fffffffu, 1, 0x80000000u, true},
        {0x7fffffffu, 4, 0x80000000u, true},
        {0xffffffffu, 2, 1u, false}, // slot 0, for the rest is taken
        {0x800000ffu, 2, 1u, false}, // or slot 31 is
        {0xbfffffffu, 1, 1u, false},
    };
    static constexpr row rows_of_four[] = {
        {1u, 1, 2u, true}, {5u, 4, 0xau, true}, {7u, 1, 8u, true}, {0xfu, 1, 1u, false}};
    const auto check = [](uint size_class, const row &each) {
        const headed_slab made(size_class, each.owners);
        shim::check(made.slots() == (size_class == four_slots ? 15u : ~0u), "slots of a class");
        const uint got = kma_sl_share_head(made.heap, made.head, made.first + 1, made.slots(), each.count);
        shim::check(got == each.slots, "the slots that a head gives");
        shim::check(made.has_head() == each.stays, "whether a slab is taken off its head");
        shim::check(made.owners() == (each.owners | got), "the owners of a head's slab");
        made.check_books(each.stays ? (each.owners | got) & ~1u : each.owners);
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
        shim::check(kma_sl_share_head(made.heap, made.head, made.first + 1, 15u, 1) == 0, "a slot of no head's slab");
        shim::check(made.owners() == owners && now(made.head) == 61, "a slab that is at no head was changed");
        made.check_books(owners);
    }
}

inline void check_open_head()
{
    for (const bool has_other : {false, true})
        for (const uint count : {1u, 2u, 5u}) {
            headed_slab made(four_slots, 0);
            if (has_other)
                made.add(four_slots, 60, 1u);
            shim::check(kma_sl_take_lines(made.heap, made.first, 2), "no lines for a slab");
            const uint mine = kma_sl_open_head(made.heap, 0, four_slots, made.first, count);
            shim::check(mine == (count == 1 ? 2u : count == 2 ? 6u : 0xeu), "slots of a new slab");
            shim::check(now(made.head) == (has_other ? 61 : made.first + 1), "the slab that a head has");
            shim::check(now(&made.heap->headed) == 1, "heads with a slab");
            made.check_books(mine);
        }
}

// From the head, from a new slab, or none.
inline void check_from_head()
{
    for (const bool anew : {false, true}) {
        headed_slab made(four_slots, 3u);
        const kma_sl_from some = kma_sl_from_head(made.heap, four_slots, 3, anew);
        shim::check(some.first == made.first && some.slots == 0xcu && made.lines_taken() == 2,
                    "slots of the head's slab");
        const kma_sl_from last = kma_sl_from_head(made.heap, four_slots, 1, anew);
        shim::check(last.first == made.first && last.slots == 1u && !made.has_head(), "a head's own slot");
        made.check_books(0xfu);
        for (const bool has_holes : {false, true}) {
            headed_slab other(four_slots, 0);
            if (has_holes)
                other.make_hole(four_slots, 70);
            const kma_sl_from fresh = kma_sl_from_head(other.heap, four_slots, 2, anew);
            const bool opens = anew || !has_holes;
            shim::check(other.has_head() == opens && fresh.slots == (opens ? 6u : 0u), "whether there is a new slab");
            shim::check(other.lines_taken() == (has_holes ? 2u : 0u) + (opens ? 2u : 0u), "lines of a new slab");
            shim::check(!opens || now(other.head) == fresh.first + 1, "a new slab is at no head");
        }
    }
}

inline void check_take_one()
{
#if KMA_LONE_PATHS
    const auto unit_of = [](const headed_slab &made, uint slot) {
        return made.heap->plan.begin + made.first * KMA_SL_LINE + slot * kma_sl_units(made.size_class);
    };
    for (const uint bytes : {1u, 16u, 17u, 241u, 256u, 4096u}) {
        const headed_slab made(kma_sl_class_of((bytes + 15) / 16), 1u);
        shim::check(kma_sl_take_one(made.heap, bytes) == unit_of(made, 1), "a block of a head's slab");
        shim::check(kma_sl_take_one(made.heap, bytes) == unit_of(made, 2), "its next block");
        made.check_books(6u);
    }
    const auto gives_none = [](const headed_slab &made, size_t bytes, uint owners) {
        shim::check(kma_sl_take_one(made.heap, bytes) == KMA_NULL, "a block that a lane alone must not take at once");
        shim::check(made.owners() == owners, "owners that must stay as they are");
    };
    gives_none(headed_slab(four_slots, 0xfu), 256, 0xfu);
    gives_none(headed_slab(0, 0x7fffffffu), 16, 0x7fffffffu); // slot 31 is not to be taken here
    gives_none(headed_slab(0, 0x800000ffu), 16, 0x800000ffu); // and if it was, or these are data, no other is
    gives_none(headed_slab(0, 1u), 0, 1u);
    gives_none(headed_slab(KMA_SL_CLASSES - 1, 1u), 4097, 1u);
    const headed_slab ended(four_slots, 1u);
    put(kma_sl_word(&ended.sl, ended.first), 0);
    gives_none(ended, 256, 0); // nobody sets a bit in owners that are 0
    headed_slab holes(four_slots, 1u);
    holes.make_hole(four_slots, 70);
    gives_none(holes, 256, 1u); // these are to be filled first
    const headed_slab none(four_slots, 0);
    shim::check(kma_sl_take_one(none.heap, 256) == KMA_NULL && none.lines_taken() == 0, "a block of no slab");
#endif
}

inline void check_take_shared()
{
    const headed_slab made(four_slots, 1u);
    for (const uint slot : {1u, 2u, 3u, 0u})
        shim::check(kma_sl_take_shared(made.heap, four_slots) ==
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

inline void check_slab_lines()
{
    check_slab_start();
    check_plan_within();
    check_next_room();
    check_clear_room();
    check_scarce();
    check_first_of();
    check_share_head();
    check_open_head();
    check_from_head();
    check_take_one();
    check_take_shared();
    check_take_off();
    check_undo();
}

} // namespace calls
