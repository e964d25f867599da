// Where lanes together find lines when their cursor leads to those of others, or has none so long: all lanes look at once, each at a
// chunk, anywhere in the heap. Chunks side by side are a window, twice as long as what the lanes want as far as there are lanes; the
// shorter, the more windows they see. Where nothing is to be had, they look elsewhere, as what is used lies together.
//
// First they want lines for all of them, later for as many as there is room for. What they see is no more than a hint: lines are had
// by their bits, and who does not get all of those that he chose gives them back.
#ifndef KMA_HEAP_SLAB_WINDOWS_CL
#define KMA_HEAP_SLAB_WINDOWS_CL

#include "kma/platform/lanes.cl"
#include "kma/heap/slab_gaps.cl"
#include "kma/heap/slab_take.cl"

// How often lanes together look; how often before lines for fewer are good enough; and before they pass over chunks without room.
#ifndef KMA_SL_VIEWS
#define KMA_SL_VIEWS 64u
#endif
#ifndef KMA_SL_VIEWS_FOR_ALL
#define KMA_SL_VIEWS_FOR_ALL 2u
#endif
#ifndef KMA_SL_VIEWS_BLIND
#define KMA_SL_VIEWS_BLIND 4u
#endif

// What a lane sees of its window.
typedef struct kma_sl_view {
    uint chunk;
    uint used;  // its lines; all if there is no such chunk
    uint ahead; // free lines of the window from the end of that chunk's used ones on
} kma_sl_view;

// log2 of the chunks of a window for so many lines: twice as many chunks as these cover, up to all that a half sees.
static inline uint kma_sl_window_shift(uint lines)
{
    uint shift = lines <= 1 ? 0 : 1;
    // A step further each time.
    while (shift < KMA_SL_LINE_SHIFT && 1u << (shift + KMA_SL_LINE_SHIFT - 1) < lines)
        shift++;
    return shift;
}

// The chunk at which the lane's window begins; if none near has room, one without, which may lie behind the heap's last one. `seed`
// and `look` are the same for all lanes of a half that looks.
static inline uint kma_sl_window(const kma_sl_heap *sl, kma_lanes group, uint base, uint shift, uint seed, uint look)
{
    const uint number = kma_lane_id() % KMA_SL_SLOTS >> shift;
    uint from = kma_mix32(seed + (look * KMA_SL_SLOTS + number) * 0x9e3779b9u) % sl->plan.chunks;
    from = from >> shift << shift;
    if (look >= KMA_SL_VIEWS_BLIND)
        from = kma_sl_next_room(sl, from, min(from + KMA_SL_FAR, sl->plan.chunks));
    // Who reads later may read something else: the first lane of the window tells.
    const uint there = kma_sl_half(group, base) >> (number << shift);
    return kma_lanes_shuffle(group, from, base + (number << shift) + kma_sl_first_bit(there));
}

// What the lane sees of the window that begins at chunk `from`.
static inline kma_sl_view kma_sl_view_of(const kma_sl_heap *sl, kma_lanes group, uint base, uint shift, uint from)
{
    const uint lane = kma_lane_id() % KMA_SL_SLOTS;
    const uint end = (lane >> shift << shift) + (1u << shift); // of the window
    kma_sl_view view;
    view.chunk = from + (lane & ((1u << shift) - 1));
    view.used = view.chunk < sl->plan.chunks ? kma_load_u32(kma_sl_used(sl, view.chunk), KMA_RELAXED) : 0xffffffffu;
    const uint whole = kma_sl_half(kma_lanes_ballot(group, view.used == 0), base) >> lane >> 1;
    const uint others = min(kma_sl_first_bit(~whole), end - lane - 1); // chunks behind mine that are wholly free
    const uint next = lane + 1 + others;
    const bool is_next = next < end && (kma_sl_half(group, base) >> next & 1u) != 0;
    const uint low = kma_sl_first_bit(view.used); // free lines in front of the first one used, or all
    const uint its = kma_lanes_shuffle(group, low, is_next ? base + next : kma_lane_id());
    view.ahead = (uint)clz(view.used) + others * KMA_SL_LINE + (is_next ? its : 0);
    return view;
}

// The first of `count` free lines that begin in the lane's chunk; KMA_SL_NONE if there are none.
static inline uint kma_sl_free_in(const kma_sl_view *view, uint count)
{
    const uint bit = count <= KMA_SL_LINE ? kma_sl_gap(view->used, count) : KMA_SL_NONE;
    if (bit != KMA_SL_NONE)
        return (view->chunk << KMA_SL_LINE_SHIFT) + bit;
    return view->ahead >= count ? ((view->chunk + 1) << KMA_SL_LINE_SHIFT) - (uint)clz(view->used) : KMA_SL_NONE;
}

// Lines side by side.
typedef struct kma_sl_lines_seen {
    uint first;
    uint count; // 0: none
} kma_sl_lines_seen;

// `most` free lines side by side that a half sees, or half as many, and so on down to `least`; none if `most` is 0. In a chunk that
// is partly used if there are some, so that what lives long does not part the memory that is wholly free.
static inline kma_sl_lines_seen kma_sl_free_in_view(const kma_sl_view *view, kma_lanes group, uint base, uint least, uint most)
{
    kma_sl_lines_seen free;
    free.count = most;
    const uint partly = kma_sl_half(kma_lanes_ballot(group, view->used != 0), base);
    uint found = 0;
    for (;;) { // fewer each time
        free.first = kma_sl_free_in(view, free.count);
        found = kma_sl_half(kma_lanes_ballot(group, free.first != KMA_SL_NONE), base);
        const bool goes_on = found == 0 && free.count > least;
        if (kma_lanes_ballot(group, goes_on) == 0)
            break;
        free.count = goes_on ? max(free.count / 2, least) : free.count;
    }
    found = (found & partly) != 0 ? found & partly : found;
    free.first = kma_lanes_shuffle(group, free.first, found != 0 ? base + kma_sl_first_bit(found) : kma_lane_id());
    free.count = found != 0 ? free.count : 0;
    return free;
}

// Makes of what the lanes of a half want, `units` each (0: nothing), the order of those, in the order of their numbers, for whom a
// slab of `lines` lines has room; `order` is that of all. Whether the caller is one of them.
static inline bool kma_sl_fits(kma_sl_order *order, kma_lanes group, uint units, uint lines)
{
    const uint lane = kma_lane_id() % KMA_SL_SLOTS;
    bool is_beyond = false;
    for (;;) { // a lane less each time, at least
        const bool waits = order->lines != 0 && (order->mates >> lane & 1u) != 0;
        const bool goes = waits && order->offset + units > lines * KMA_SL_LINE;
        if (kma_lanes_ballot(group, goes) == 0)
            return waits && order->lines <= lines;
        is_beyond = is_beyond || goes;
        *order = kma_sl_order_of(group, kma_sl_base(), lane, is_beyond ? 0 : units);
    }
}

// What is no block: the caller should not try once more, or others had some of the lines that his half drew.
#define KMA_SL_ENOUGH 0xffffffffu
#define KMA_SL_AGAIN  0xfffffffeu

// As kma_sl_take_part_called, for paths that are rarely gone.
static inline KMA_COLD void kma_sl_give_part_called(global kma_slab *heap, uint first, uint lines, uint me, uint many,
                                                    kma_sl_part part)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    kma_sl_give_part(&sl, first, lines, me, many, part);
}

// Where lanes together look, for so many lines: elsewhere each time, as the cursor has counted on since the last one.
static inline uint kma_sl_seed(const kma_sl_heap *sl, uint lines)
{
    const uint counted = kma_load_u32(kma_sl_cursor(sl->heap, kma_sl_band_for(lines), kma_sl_cursor_of(sl)), KMA_RELAXED);
    return kma_spread() + counted * 0x85ebca6bu;
}

// A block of so many units in a slab of lines that those who come together with the caller see, for as many of them as these have room
// for; KMA_NULL for the others, KMA_SL_ENOUGH if they should not go on. `look`: how often they have looked.
static inline KMA_COLD kma_ref kma_sl_take_in_view(global kma_slab *heap, uint units, uint look)
{
    kma_ref block = KMA_SL_ENOUGH;
    const kma_lanes group = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    if (!kma_lane_in(group)) // of another heap than the leader's
        return block;
    const uint base = kma_sl_base();
    const uint lane = kma_lane_id() % KMA_SL_SLOTS;
    const kma_sl_heap sl = kma_sl_open(heap);
    kma_sl_order order = kma_sl_order_of(group, base, lane, units);
    const uint leader = order.lines != 0 ? base + kma_sl_first_bit(order.mates) : kma_lane_id();
    // Lanes that have looked more often than others may have come back to them.
    look = kma_lanes_shuffle(group, look, leader);
    // For two lanes at least, if they want as much as the first one.
    const uint few = min(kma_sl_whole_lines(2 * kma_lanes_shuffle(group, units, leader)), order.lines);
    const uint least = look < KMA_SL_VIEWS_FOR_ALL ? order.lines : few;
    const uint seed = kma_lanes_shuffle(group, kma_sl_seed(&sl, order.lines), leader);
    const uint scarce = kma_lanes_shuffle(group, kma_sl_scarce(heap), leader);
    const bool looks = order.lines != 0 && few <= scarce;
    const uint shift = kma_sl_window_shift(order.lines);
    const uint from = kma_sl_window(&sl, group, base, shift, seed, look);
    const kma_sl_view view = kma_sl_view_of(&sl, group, base, shift, from);
    if (look >= KMA_SL_VIEWS_BLIND && view.chunk == from && from < sl.plan.chunks && view.used == 0xffffffffu)
        kma_sl_clear_room(&sl, from);
    const kma_sl_lines_seen free = kma_sl_free_in_view(&view, group, base, least, looks ? order.lines : 0);
    KMA_IN_MEMORY const uint first = free.first;
    order.lines = free.count != 0 ? order.lines : 0;
    const bool fits = kma_sl_fits(&order, group, units, free.count);
    const uint me = (uint)popcount(order.mates & ((1u << lane) - 1u));
    const uint many = (uint)popcount(order.mates);
    kma_sl_part part;
    part.chunk = KMA_SL_NONE;
    part.mask = 0;
    if (fits)
        part = kma_sl_take_part_called(heap, first, order.lines, me, many);
    const uint losers = kma_sl_half(kma_lanes_ballot(group, part.chunk != KMA_SL_NONE), base);
    const bool lost = fits && losers != 0;
    kma_lanes_sync(group); // each acquired his lines, and writes words of others'
    if (lost)
        kma_sl_give_part_called(heap, first, order.lines, me, many, part);
    const bool got = fits && !lost;
    kma_sl_write_slab(heap, group, &order, got, first, got ? units : 0);
    kma_lanes_sync(group); // what the others acquired and wrote, all need
    if (looks)
        block = got ? sl.plan.begin + first * KMA_SL_LINE + order.offset : KMA_NULL;
    return block;
}

// A block of so many units in a slab with those who come together with the caller; KMA_NULL if they came to the end of a cursor's
// share, KMA_SL_AGAIN if the cursor led to lines of others, KMA_SL_ENOUGH if they get none there.
static inline KMA_COLD kma_ref kma_sl_take_once(global kma_slab *heap, uint units)
{
    kma_ref block = KMA_SL_ENOUGH;
    const kma_lanes group = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    if (!kma_lane_in(group)) // of another heap than the leader's
        return block;
    const kma_sl_share share = kma_sl_take_drawn(heap, group, units, 2);
    if (share.lost)
        kma_sl_lose(heap, share.first, share.lines, share.me, share.many, share.part);
    kma_lanes_sync(group); // what the others acquired and wrote, all need
    if (share.lost)
        return KMA_SL_AGAIN;
    return share.block != KMA_NULL || share.failed ? share.block : block;
}

// A block of so many units in a slab with those who come together with the caller; KMA_NULL if they get none. They ask their cursor
// first, unless it has just led them to lines of others (`lost`): the crowd that it led there with them would meet again.
static inline KMA_COLD kma_ref kma_sl_take_together(global kma_slab *heap, uint units, bool lost)
{
    KMA_IN_MEMORY kma_ref block = KMA_NULL;
    KMA_IN_MEMORY uint draws = lost ? 0 : KMA_SL_DRAWS;
    for (KMA_IN_MEMORY uint tries = KMA_SL_REDRAWS; tries != 0 && draws != 0 && block == KMA_NULL; tries--) {
        block = kma_sl_take_once(heap, units);
        draws -= block == KMA_SL_AGAIN ? 1 : 0;
        block = block == KMA_SL_AGAIN ? KMA_NULL : block;
    }
    for (KMA_IN_MEMORY uint look = 0; look < KMA_SL_VIEWS && block == KMA_NULL; look++)
        block = kma_sl_take_in_view(heap, units, look); // which asks anew who is there, as does each step
    return block != KMA_SL_ENOUGH ? block : KMA_NULL;
}

#endif
