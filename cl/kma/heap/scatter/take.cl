// Malloc by lanes together, of any sizes. Their blocks lie side by side:
//
// 1. The lanes of one class draw a window of pages by one atomic.
// 2. The lanes with a part of the window in one page, a team, reserve there by one atomic.
// 3. The lanes with blocks in one word of the page's bitmap claim them by one atomic.
//
// A lane without a free block there searches by itself, in the trees of scatter/regions.cl. That
// code is not in the lanes' loop, which saves the loop's registers.
#ifndef KMA_HEAP_SCATTER_TAKE_CL
#define KMA_HEAP_SCATTER_TAKE_CL

#include "kma/platform/lanes.cl"
#include "kma/heap/common/aligned_spots.cl"
#include "kma/heap/common/ref.cl"
#include "kma/heap/scatter/place.cl"

#define KMA_SCATTER_DAMAGED 0xffffffffu // instead of a ref: a reservation found no bit

// Pages to try from the hashed one on. The paper goes on until one has a free block.
#define KMA_SCATTER_PROBES 4u

// ------ one lane ---------------------------------------------------------------------------------

static inline kma_ref kma_scatter_chunk(const kma_scatter_heap *sc, uint page,
                                        kma_scatter_size size, uint spot)
{
    return spot == KMA_SCATTER_NO_SPOT ? KMA_SCATTER_DAMAGED
                                  : sc->plan.begin + (page << sc->plan.shift) + spot * size.units;
}

// Reserves a block of a page near `page` in the list of the class or in the tree of free pages. A
// page found there without a free block is taken out. `*is_empty` becomes true if the tree has no
// page.
static inline kma_scatter_share kma_scatter_from(const kma_scatter_heap *sc, bool in_list,
                                                 kma_scatter_own own, uint page, bool *is_empty)
{
    global kma_atomic_u32 *const tree =
        in_list ? kma_scatter_list_of(sc, own.size_class) : kma_scatter_free_pages(sc);
    kma_scatter_share share;
    share.count = 0;
    const uint found = kma_bit_tree_find(tree, sc->plan.room, page);
    *is_empty = found == KMA_BIT_TREE_NONE;
    if (*is_empty)
        return share;
    share = kma_scatter_try(sc, own, found, 1);
    if (share.count == 0 && in_list)
        kma_scatter_unlist(sc, own.size_class, found);
    else if (share.count == 0)
        kma_scatter_leave(sc, found);
    return share;
}

// Reserves a block of a class: in a page that is split for it, in a free page or, with `any_size`,
// in one with larger blocks, the smallest size first. Count 0 if there is no memory. Searches
// alternate between list and free pages: concurrent lanes do not all meet in the page that one of
// them has just split.
static inline KMA_OUTLINE kma_scatter_share kma_scatter_look_around(const kma_scatter_heap *sc,
                                                                    uint size_class, uint align,
                                                                    uint page, bool any_size)
{
    bool no_free = false; // at the last look
    bool in_list = true;  // search the list; else the free pages
    uint c = size_class;
    for (;;) { // again if other lanes took what was seen; once for each size
        bool is_empty;
        const kma_scatter_own own = kma_scatter_own_of(sc, c);
        const kma_scatter_share share = kma_scatter_from(sc, in_list, own, page, &is_empty);
        if (share.count != 0)
            return share;
        // a page may move from the free ones to the list meanwhile: both must be empty in turn
        if (c == size_class && !(in_list && is_empty && no_free)) {
            no_free = !in_list && is_empty;
            in_list = !in_list;
            continue;
        }
        while (is_empty && ++c < kma_scatter_classes(sc->plan.shift)) // the next class that fits
            is_empty = kma_scatter_units(c, sc->plan.shift) % align != 0;
        if (!any_size || is_empty)
            return share;
    }
}

// Takes a block for the caller alone, in any page near the hashed one. KMA_NULL if there is no
// memory. Acquires.
static inline kma_ref kma_scatter_take_anywhere(const kma_scatter_heap *sc, kma_scatter_own own,
                                                uint align, bool any_size)
{
    const uint place = kma_place();
    const uint ticket =
        kma_fetch_add_u32(kma_scatter_cursor(sc, place, own.size_class), 1, KMA_RELAXED);
    const uint turn = kma_scatter_divide(ticket, own.size.spots, own.size.by_spots).whole;
    const uint page = kma_scatter_hash(
        sc, own, place, kma_load_u32(kma_scatter_active(sc, place), KMA_RELAXED), turn);
    kma_scatter_move_on(sc, place, page);
    const kma_scatter_share share =
        kma_scatter_look_around(sc, own.size_class, align, page, any_size);
    if (share.count == 0)
        return KMA_NULL;
    const kma_scatter_size size = sc->heap->sizes[share.size_class];
    return kma_scatter_chunk(
        sc, share.page, size,
        kma_scatter_search_bit(kma_scatter_bitmap(sc, share.page), size.spots, share.first));
}

// Takes a block for the caller alone at a multiple of `align` units, in a page of class
// `size_class` or a larger one with sizes that are no such multiple. KMA_NULL if the searched pages
// (aligned_spots.cl) have none. `ticket`: any number; it selects where the search begins. Acquires.
static inline KMA_OUTLINE kma_ref kma_scatter_take_aligned(const kma_scatter_heap *sc,
                                                           uint size_class, uint align, uint ticket)
{
    const uint start = kma_mix32(ticket) % sc->plan.pages;
    uint looks = KMA_ALIGNED_LOOKS;
    for (; size_class < kma_scatter_classes(sc->plan.shift); size_class++) {
        const kma_scatter_own own = kma_scatter_own_of(sc, size_class);
        if (own.size.units % align == 0)
            continue;
        global kma_atomic_u32 *const list = kma_scatter_list_of(sc, size_class);
        const uint step = kma_aligned_step(own.size.units, align);
        bool is_rest = false; // searches the pages before `start`
        for (uint page = start; looks != 0; page++) {
            page = kma_bit_tree_next(list, sc->plan.room, page);
            if (page == KMA_BIT_TREE_NONE && !is_rest) {
                is_rest = true;
                page = kma_bit_tree_next(list, sc->plan.room, 0);
            }
            if (page == KMA_BIT_TREE_NONE || (is_rest && page >= start))
                break;
            global kma_atomic_u32 *const bitmap = kma_scatter_bitmap(sc, page);
            looks--;
            if (!kma_scatter_serves(sc, page, size_class) ||
                kma_aligned_find(bitmap, own.size.spots, step, 0, &looks) == KMA_NO_SPOT ||
                kma_scatter_try(sc, own, page, 1).count == 0)
                continue;
            const uint spot = kma_aligned_claim(bitmap, own.size.spots, step);
            if (spot != KMA_NO_SPOT)
                return kma_scatter_chunk(sc, page, own.size, spot);
            kma_scatter_give(sc, own, page, 1); // another lane took it
        }
    }
    return KMA_NULL;
}

// ------ lanes together ---------------------------------------------------------------------------

// A team: lanes of one class with a part of the window in one page.
typedef struct kma_scatter_team {
    uint turn;  // number of the page in the pair's sequence (kma_scatter_hash)
    uint first; // rank of its first lane among those of the class
    uint count;
} kma_scatter_team;

static inline kma_scatter_team kma_scatter_team_of(kma_scatter_size size, uint ticket, uint rank,
                                                   uint total)
{
    // other lanes may have blocks of the first page
    const kma_scatter_quotient first = kma_scatter_divide(ticket, size.spots, size.by_spots);
    const uint number = kma_scatter_divide(first.rest + rank, size.spots, size.by_spots).whole;
    kma_scatter_team team;
    team.turn = first.whole + number;
    team.first = number == 0 ? 0 : number * size.spots - first.rest;
    team.count = min(total, (number + 1) * size.spots - first.rest) - team.first;
    return team;
}

// Claims the bits of a team's reservations, by one atomic for each word. Returns each lane's block
// number if `served`. Acquires. Called by all lanes of `group`.
static inline uint kma_scatter_claim(const kma_scatter_heap *sc, kma_scatter_own own,
                                     kma_lanes group, kma_lanes waiting, kma_scatter_share share,
                                     uint leader, uint team_first, bool served, uint mine)
{
    uint spot = share.first + mine;
    global kma_atomic_u32 *const bitmap = kma_scatter_bitmap(sc, share.page);
    const uint low = max(spot / 32 * 32, share.first);
    const uint high = min(spot / 32 * 32 + 32, share.first + share.count);
    const uint key = served ? leader << 5 | spot / 32 : 1u << 31 | kma_lane_id();
    const uint claimer = kma_lanes_head(group, key, waiting, team_first + low - share.first);
    uint taken = 0;
    if (served && kma_lane_id() == claimer)
        taken = kma_fetch_or_u32(&bitmap[spot / 32], (uint)kma_bits_below(high - low) << (low % 32),
                                 KMA_ACQUIRE);
    taken = kma_lanes_shuffle(group, taken, claimer);
    kma_lanes_sync(group); // what the claiming lane acquired, all lanes have
    if (served && (taken >> (spot % 32) & 1u) != 0)
        spot = kma_scatter_search_bit(bitmap, own.size.spots, spot);
    return spot;
}

// Reserves up to `count` blocks in the hashed page or one of the next KMA_SCATTER_PROBES - 1.
static inline kma_scatter_share kma_scatter_probe(const kma_scatter_heap *sc, kma_scatter_own own,
                                                  uint place, uint active, uint turn, uint count)
{
    kma_scatter_share share;
    share.count = 0;
    uint page = kma_scatter_hash(sc, own, place, active, turn);
    for (uint left = KMA_SCATTER_PROBES; left != 0 && share.count == 0; left--) {
        share = kma_scatter_try(sc, own, page, count);
        page = page + 1 < sc->plan.pages ? page + 1 : 0;
    }
    return share;
}

// Takes a block of its class for each lane of the group (KMA_SCATTER_CLASSES: none). KMA_NULL in
// lanes for which the probed pages had no free block. Called by all lanes of `group`. Acquires.
static inline kma_ref kma_scatter_take(const kma_scatter_heap *sc, kma_lanes group,
                                       kma_scatter_own own)
{
    const uint place = kma_place();
    const kma_lanes alike = kma_lanes_match(group, own.size_class, 5);
    bool waits = own.size_class < KMA_SCATTER_CLASSES;
    kma_ref block = KMA_NULL;
    for (;;) { // no more rounds than lanes: one lane of each team leaves in each
        const kma_lanes all_waiting = kma_lanes_ballot(group, waits);
        if (all_waiting == 0)
            return block;
        // else the caller alone
        const kma_lanes waiting = waits ? all_waiting & alike : (kma_lanes)1 << kma_lane_id();
        const uint rank = kma_lane_rank(waiting);
        // loaded early: its latency overlaps with the draw's
        const uint active = kma_load_u32(kma_scatter_active(sc, place), KMA_RELAXED);
        uint ticket = 0;
        if (waits && rank == 0)
            ticket = kma_fetch_add_u32(kma_scatter_cursor(sc, place, own.size_class),
                                       kma_lanes_count(waiting), KMA_RELAXED);
        ticket = kma_lanes_shuffle(group, ticket, kma_lowest_bit(waiting));
        const kma_scatter_team team =
            kma_scatter_team_of(own.size, ticket, rank, kma_lanes_count(waiting));
        kma_scatter_share share;
        share.page = share.first = share.count = 0;
        if (waits && rank == team.first)
            share = kma_scatter_probe(sc, own, place, active, team.turn, team.count);
        const uint key =
            (waits ? own.size_class : KMA_SCATTER_CLASSES) << 27 | team.turn % (1u << 27);
        const uint leader = kma_lanes_head(group, key, waiting, team.first);
        share.page = kma_lanes_shuffle(group, share.page, leader);
        // first is at most 1,024, count at most the lanes
        const uint both = kma_lanes_shuffle(group, share.first << 8 | share.count, leader);
        share.first = both >> 8;
        share.count = both & 0xff;
        // what the leader acquired, all lanes have: the page may have had another size
        kma_lanes_sync(group);
        const uint mine = rank - team.first;
        const bool served = mine < share.count;
        const uint spot =
            kma_scatter_claim(sc, own, group, waiting, share, leader, team.first, served, mine);
        if (served)
            block = kma_scatter_chunk(sc, share.page, own.size, spot);
        waits = share.count != 0 && !served;
    }
}

#endif
