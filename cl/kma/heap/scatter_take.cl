// Chunks for lanes that came together, whatever their sizes: those that want the same draw one window of pages, those
// whose part of it is in the same page reserve there with one atomic, and those whose chunks are in the same word of the
// page's bitmap claim them with one. So what they got lies side by side.
#ifndef KMA_HEAP_SCATTER_TAKE_CL
#define KMA_HEAP_SCATTER_TAKE_CL

#include "kma/platform/lanes.cl"
#include "kma/heap/ref.cl"
#include "kma/heap/scatter_place.cl"

#define KMA_SC_DAMAGED 0xffffffffu // instead of a ref: a reservation without a bit

// Chunks of pages that are split for up to so many times the size of a request serve it when no others are left, before
// still larger ones do (the paper's max_frag).
#ifndef KMA_SC_MAX_FRAG
#define KMA_SC_MAX_FRAG 2u
#endif

// The sizes that serve a request for chunks of a class at a multiple of `align` units, up to `most` units.
static inline uint kma_sc_wanted(uint size_class, uint align, uint most, uint shift)
{
    uint wanted = 0;
    for (uint c = size_class; c < kma_sc_classes(shift); c++) {
        const uint units = kma_sc_units(c, shift);
        if (units <= most && units % align == 0)
            wanted |= 1u << c;
    }
    return wanted;
}

// Which pages may serve a request: those that are split for it or free; then those split for somewhat larger chunks; then
// any that suffice.
#define KMA_SC_EXACT 0u
#define KMA_SC_NEAR  1u
#define KMA_SC_ANY   2u

// Up to `count` chunks for requests of a class, after `page`, to which the hash led, had none: in the nearest page that
// may serve, the others only if there is none; none at out of memory.
static inline kma_sc_share kma_sc_look_around(const kma_sc_heap *sc, kma_sc_own own, uint align, uint place, uint page,
                                              uint count, uint widest)
{
    uint want = 1u << own.size_class | KMA_SC_FREE_PAGE;
    uint width = KMA_SC_EXACT;
    kma_sc_share share;
    share.page = page;
    share.size_class = share.first = share.count = 0;
    kma_sc_move_on(sc, place, page);
    while (share.count == 0) { // once more only if others took what was seen, and for each width
        page = kma_sc_find(sc, want, share.page);
        if (page != KMA_SC_NONE) {
            share = kma_sc_try(sc, own, page, want, count);
            continue;
        }
        if (width == widest)
            break;
        width++;
        const uint most = width == KMA_SC_NEAR ? own.size.units * KMA_SC_MAX_FRAG : 1u << sc->plan.shift;
        want = kma_sc_wanted(own.size_class, align, most, sc->plan.shift) | KMA_SC_FREE_PAGE;
    }
    return share;
}

// Up to `count` chunks, in the page where the hash leads or elsewhere.
static inline kma_sc_share kma_sc_reserve(const kma_sc_heap *sc, kma_sc_own own, uint align, uint place, uint turn,
                                          uint count, uint widest)
{
    const uint want = 1u << own.size_class | KMA_SC_FREE_PAGE;
    const kma_sc_share share = kma_sc_try(sc, own, kma_sc_hash(sc, own, place, turn), want, count);
    return share.count != 0 ? share : kma_sc_look_around(sc, own, align, place, share.page, count, widest);
}

static inline kma_ref kma_sc_chunk(const kma_sc_heap *sc, kma_sc_own own, kma_sc_share share, uint spot)
{
    if (spot == KMA_SC_NO_SPOT)
        return KMA_SC_DAMAGED;
    const uint units = share.size_class == own.size_class ? own.size.units : kma_sc_units(share.size_class, sc->plan.shift);
    return sc->plan.begin + (share.page << sc->plan.shift) + spot * units;
}

// A chunk for the caller alone; KMA_NULL at out of memory.
static inline kma_ref kma_sc_take_alone(const kma_sc_heap *sc, kma_sc_own own, uint align, uint widest)
{
    const uint place = kma_place();
    const uint ticket = kma_fetch_add_u32(kma_sc_cursor(sc, place, own.size_class), 1, KMA_RELAXED);
    const kma_sc_share share = kma_sc_reserve(sc, own, align, place, kma_sc_divide(ticket, own.size.spots, own.size.by_spots).whole, 1, widest);
    if (share.count == 0)
        return KMA_NULL;
    return kma_sc_chunk(sc, own, share,
                        kma_sc_search_bit(kma_sc_bitmap(sc, share.page), kma_sc_spots_of(sc, own, share.size_class),
                                          share.first));
}

// Of the lanes that want the same, those whose part of the window is in one page.
typedef struct kma_sc_team {
    uint turn;  // which page of the window, as kma_sc_hash takes it
    uint first; // rank of its first lane among all of them
    uint count;
} kma_sc_team;

static inline kma_sc_team kma_sc_team_of(kma_sc_size size, uint ticket, uint rank, uint total)
{
    const kma_sc_quotient first = kma_sc_divide(ticket, size.spots, size.by_spots); // of its page some are others'
    const uint number = kma_sc_divide(first.rest + rank, size.spots, size.by_spots).whole;
    kma_sc_team team;
    team.turn = first.whole + number;
    team.first = number == 0 ? 0 : number * size.spots - first.rest;
    team.count = min(total, (number + 1) * size.spots - first.rest) - team.first;
    return team;
}

// The spots of a share for its team; for each lane with `served` one. One atomic for all whose bits are in one word:
// its first lane's.
static inline uint kma_sc_claim(const kma_sc_heap *sc, kma_sc_own own, kma_lanes group, kma_lanes waiting,
                                kma_sc_share share, uint team_first, bool served, uint mine)
{
    uint spot = share.first + mine;
    global kma_atomic_u32 *const bitmap = kma_sc_bitmap(sc, share.page);
    const uint low = max(spot / 32 * 32, share.first);
    const uint high = min(spot / 32 * 32 + 32, share.first + share.count);
    const uint claimer = served ? kma_nth_bit(waiting, team_first + low - share.first) : kma_lane_id();
    uint taken = 0;
    if (served && kma_lane_id() == claimer)
        taken = kma_fetch_or_u32(&bitmap[spot / 32], (uint)kma_bits_below(high - low) << (low % 32), KMA_ACQUIRE);
    taken = kma_lanes_shuffle(group, taken, claimer);
    kma_lanes_sync(group); // what the claimer acquired, all need
    if (served && (taken >> (spot % 32) & 1u) != 0)
        spot = kma_sc_search_bit(bitmap, kma_sc_spots_of(sc, own, share.size_class), spot);
    return spot;
}

// For each lane of the group a chunk of its size (KMA_SC_CLASSES: it wants none) at a multiple of `align` units,
// KMA_NULL at out of memory.
static inline kma_ref kma_sc_take(const kma_sc_heap *sc, kma_lanes group, kma_sc_own own, uint align, uint widest)
{
    const uint place = kma_place();
    const kma_lanes alike = kma_lanes_match(group, own.size_class | kma_lowest_bit(align) << 5, 10);
    bool waits = own.size_class < KMA_SC_CLASSES;
    kma_ref block = KMA_NULL;
    for (;;) { // no more rounds than lanes: in each, one lane of each team leaves at least
        const kma_lanes all_waiting = kma_lanes_ballot(group, waits);
        if (all_waiting == 0)
            return block;
        const kma_lanes waiting = waits ? all_waiting & alike : all_waiting; // of others: any lane will do
        const uint rank = kma_lane_rank(waiting);
        uint ticket = 0;
        if (waits && rank == 0)
            ticket = kma_fetch_add_u32(kma_sc_cursor(sc, place, own.size_class), kma_lanes_count(waiting), KMA_RELAXED);
        ticket = kma_lanes_shuffle(group, ticket, kma_lowest_bit(waiting));
        const kma_sc_team team = kma_sc_team_of(own.size, ticket, waits ? rank : 0, kma_lanes_count(waiting));
        kma_sc_share share;
        share.page = share.size_class = share.first = share.count = 0;
        if (waits && rank == team.first)
            share = kma_sc_reserve(sc, own, align, place, team.turn, team.count, widest);
        const uint leader = waits ? kma_nth_bit(waiting, team.first) : kma_lane_id();
        share.page = kma_lanes_shuffle(group, share.page, leader);
        share.size_class = kma_lanes_shuffle(group, share.size_class, leader);
        share.first = kma_lanes_shuffle(group, share.first, leader);
        share.count = kma_lanes_shuffle(group, share.count, leader);
        kma_lanes_sync(group); // what the leader acquired, all need: the page may have had another size
        const uint mine = rank - team.first;
        const bool served = waits && mine < share.count;
        const uint spot = kma_sc_claim(sc, own, group, waiting, share, team.first, served, mine);
        if (served)
            block = kma_sc_chunk(sc, own, share, spot);
        waits = waits && share.count != 0 && !served;
    }
}

#endif
