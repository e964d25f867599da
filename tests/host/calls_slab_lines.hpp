// Lines and chunks with room of the slab heap, one step each by a lone caller, in states made by hand: what a search finds,
// and what it leaves as it was.
#pragma once

#include <vector>

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

// ------ lines that several take together ----------------------------------------------------------------------------

// Lines 20 to 139, each of `many` takes every so many of their five chunks. One line is another's, or none; and so is all of the
// next chunk of the one who finds that.
inline void check_parts()
{
    for (const uint many : {1u, 2u, 3u, 6u})
        for (const uint other : {20u, 31u, 32u, 70u, 100u, 139u, 140u}) {
            kma_slab *const heap = slab_of(5, 5, 1);
            const kma_sl_heap sl = kma_sl_open(heap);
            const auto others = [=](uint chunk) {
                return chunk == other / 32 ? 1u << other % 32 : other < 140 && chunk == other / 32 + many ? ~0u : 0;
            };
            for (uint chunk = 0; chunk < 5; chunk++)
                put(kma_sl_used(&sl, chunk), others(chunk));
            const uint loser = other < 140 ? other / 32 % many : many;
            std::vector<kma_sl_part> parts;
            for (uint me = 0; me < many; me++) {
                parts.push_back(kma_sl_take_part(&sl, 20, 120, me, many));
                shim::check((parts[me].chunk == KMA_SL_NONE) == (me != loser), "whose lines another has");
            }
            for (uint chunk = 0; chunk < 5; chunk++) { // the loser went no further
                const bool takes = chunk % many != loser || chunk <= other / 32;
                const uint its = takes ? kma_sl_mask(20, 120, chunk) : 0;
                shim::check(now(kma_sl_used(&sl, chunk)) == (others(chunk) | its), "lines taken");
            }
            for (uint me = 0; me < many; me++)
                kma_sl_give_part(&sl, 20, 120, me, many, parts[me]);
            for (uint chunk = 0; chunk < 5; chunk++)
                shim::check(now(kma_sl_used(&sl, chunk)) == others(chunk), "lines given back");
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

inline void check_slab_lines()
{
    check_slab_start();
    check_plan_within();
    check_next_room();
    check_clear_room();
    check_scarce();
    check_parts();
    check_first_of();
}

} // namespace calls
