// Replacement of a spent offer: by a partly free superblock of the class, a free one, or one that
// another class has on offer and does not use.
#ifndef KMA_HEAP_SUPERBLOCK_RENEW_CL
#define KMA_HEAP_SUPERBLOCK_RENEW_CL

#include "kma/platform/pause.cl"
#include "kma/heap/superblock/credit.cl"
#include "kma/heap/superblock/offer.cl"

// Renewal of a spent offer. As a rule the elected lane alone takes a superblock, which needs some
// microseconds on a GPU. If thousands of lanes took one each to offer, others would find none. But
// no lane depends on the elected one. Each other lane
//
// 1. looks KMA_SUPERBLOCK_PATIENCE times whether the offer was renewed, and pauses in between, at
//    most KMA_SUPERBLOCK_LONGEST_PAUSE nanoseconds;
// 2. looks as many times again, and helps if fewer than KMA_SUPERBLOCK_HELPERS lanes do;
// 3. then renews the offer itself.
#ifndef KMA_SUPERBLOCK_PATIENCE
#define KMA_SUPERBLOCK_PATIENCE 24u
#endif
#ifndef KMA_SUPERBLOCK_LONGEST_PAUSE
#define KMA_SUPERBLOCK_LONGEST_PAUSE 8192u
#endif
#ifndef KMA_SUPERBLOCK_HELPERS
#define KMA_SUPERBLOCK_HELPERS 4u
#endif

// Partly free superblocks that are looked at for one with at least an eighth of its blocks to give.
// An almost full one makes an offer that is spent at once.
#ifndef KMA_SUPERBLOCK_LOOKS
#define KMA_SUPERBLOCK_LOOKS 16u
#endif
#define KMA_SUPERBLOCK_GOOD_PART(slots) max((slots) / 8, 1u)

KMA_STATIC_ASSERT(KMA_SUPERBLOCK_NONE == KMA_QUEUE_EMPTY && KMA_SUPERBLOCK_NONE == KMA_BITMAP_NONE,
                  none_is_none);

// Offers the blocks of `sb` that the caller, its keeper, has in hand, as the tickets from `drawn`
// on. Afterwards the caller is not its keeper. With KMA_SUPERBLOCK_NONE the class offers nothing.
// Settles the superblock that was on offer before.
static inline void kma_superblock_put_on_offer(global kma_superblock *heap, uint size_class,
                                               uint sb, uint drawn)
{
    const uint slots = heap->classes[size_class].slots;
    const kma_superblock_offer former =
        kma_superblock_exchange(heap, size_class, kma_superblock_offer_of(sb, drawn));
    if (former.superblock != KMA_SUPERBLOCK_NONE)
        kma_superblock_return(heap, former.superblock, kma_superblock_left(former, slots));
}

// Frees a superblock that another class has on offer with no block taken. False if there is none.
static inline bool kma_superblock_reclaim(global kma_superblock *heap, uint size_class)
{
    for (uint other = 0; other < heap->plan.size_classes; other++) {
        const kma_superblock_offer offer = kma_superblock_look(heap, other);
        if (other == size_class || offer.superblock == KMA_SUPERBLOCK_NONE)
            continue;
        const uint slots = heap->classes[other].slots;
        const uint left = kma_superblock_left(offer, slots);
        const uint credit =
            kma_load_u32(&kma_superblock_state_of(heap, offer.superblock)->credit, KMA_RELAXED);
        if (left + kma_superblock_count(credit) == slots &&
            kma_superblock_replace_offer(heap, other, offer,
                                         kma_superblock_offer_of(KMA_SUPERBLOCK_NONE, slots))) {
            kma_superblock_pick_up(heap);
            kma_superblock_return(heap, offer.superblock, left);
            kma_superblock_put_down(heap);
            return true;
        }
    }
    return false;
}

// Takes a partly free superblock of the class with KMA_SUPERBLOCK_GOOD_PART blocks to give, as its
// keeper. KMA_SUPERBLOCK_NONE if none of the first KMA_SUPERBLOCK_LOOKS has that.
static inline uint kma_superblock_take_good(global kma_superblock *heap, uint size_class)
{
    global kma_superblock_class *cls = &heap->classes[size_class];
    global kma_atomic_u32 *bits = kma_superblock_set(heap, size_class);
    const uint words = heap->plan.set_words;
    kma_bitmap_walk walk = kma_bitmap_begin(&cls->partial, bits, words);
    for (uint looks = 0; looks < KMA_SUPERBLOCK_LOOKS; looks++) {
        const uint sb = kma_bitmap_next(&walk, bits, words);
        if (sb == KMA_BITMAP_NONE)
            break;
        const uint credit = kma_superblock_count(
            kma_load_u32(&kma_superblock_state_of(heap, sb)->credit, KMA_RELAXED));
        if (credit >= KMA_SUPERBLOCK_GOOD_PART(cls->slots) &&
            kma_bitmap_take(&cls->partial, bits, sb))
            return sb;
    }
    return KMA_SUPERBLOCK_NONE;
}

// Takes a superblock that has blocks for the class, as its keeper, with `*blocks` of it in hand.
// KMA_SUPERBLOCK_NONE if there is none. Counts it as picked up; the caller puts it down.
static inline uint kma_superblock_find(global kma_superblock *heap, uint size_class, uint *blocks)
{
    global kma_superblock_class *cls = &heap->classes[size_class];
    bool is_free = false;
    uint sb;
    for (;;) { // repeats only after a superblock was freed
        sb = kma_superblock_take_good(heap, size_class);
        if (sb != KMA_SUPERBLOCK_NONE)
            break;
        sb = kma_queue_dequeue(kma_superblock_queue(heap));
        is_free = sb != KMA_SUPERBLOCK_NONE;
        if (is_free)
            break;
        sb = kma_bitmap_take_any(&cls->partial, kma_superblock_set(heap, size_class),
                                 heap->plan.set_words);
        if (sb != KMA_SUPERBLOCK_NONE || !kma_superblock_reclaim(heap, size_class))
            break;
    }
    if (sb == KMA_SUPERBLOCK_NONE)
        return KMA_SUPERBLOCK_NONE;
    kma_superblock_pick_up(heap);
    global kma_superblock_state *state = kma_superblock_state_of(heap, sb);
    if (is_free)
        kma_store_u32(&state->content, size_class, KMA_RELAXED);
    *blocks = is_free ? cls->slots : kma_superblock_take_credit(heap, sb);
    kma_store_u32(&state->offered, *blocks, KMA_RELAXED);
    return sb;
}

#define KMA_SUPERBLOCK_RENEWED   0u // by this or another lane: look again
#define KMA_SUPERBLOCK_CONTENDED 1u // nothing found, but other lanes had superblocks in hand
#define KMA_SUPERBLOCK_EMPTY     2u // out of memory; the offer is marked dry

// Makes the class offer blocks. Any lane. Returns one of the values above.
static inline KMA_OUTLINE uint kma_superblock_renew(global kma_superblock *heap, uint size_class)
{
    const uint slots = heap->classes[size_class].slots;
    // repeats only after a reset of the offer: its superblock has credit that no search finds, or
    // there were 2^30 draws
    for (;;) {
        const uint moves = kma_load_u32(&heap->moves, KMA_ACQUIRE);
        uint blocks = 0;
        const uint sb = kma_superblock_find(heap, size_class, &blocks);
        if (sb != KMA_SUPERBLOCK_NONE) {
            kma_superblock_put_on_offer(heap, size_class, sb, slots - blocks);
            kma_superblock_put_down(heap);
            return KMA_SUPERBLOCK_RENEWED;
        }
        const kma_superblock_offer offer = kma_superblock_look(heap, size_class);
        if (kma_superblock_left(offer, slots) != 0)
            return KMA_SUPERBLOCK_RENEWED;
        if (offer.superblock != KMA_SUPERBLOCK_NONE || offer.drawn >= KMA_SUPERBLOCK_OVERDRAWN) {
            kma_superblock_pick_up(heap);
            kma_superblock_put_on_offer(heap, size_class, KMA_SUPERBLOCK_NONE, slots + 1);
            kma_superblock_put_down(heap);
            continue;
        }
        if (KMA_SUPERBLOCK_IN_HAND(moves) != 0 || kma_load_u32(&heap->moves, KMA_RELAXED) != moves)
            return KMA_SUPERBLOCK_CONTENDED;
        if (!kma_superblock_marked_dry(offer, slots))
            kma_superblock_replace_offer(heap, size_class, offer,
                           kma_superblock_offer_of(KMA_SUPERBLOCK_NONE, KMA_SUPERBLOCK_DRY(slots)));
        return KMA_SUPERBLOCK_EMPTY;
    }
}

// The same for a lane that was not elected; returns KMA_SUPERBLOCK_CONTENDED if enough lanes do it
// already.
static inline uint kma_superblock_help(global kma_superblock *heap, uint size_class)
{
    global kma_atomic_u32 *const helpers = &heap->classes[size_class].helpers;
    uint result = KMA_SUPERBLOCK_CONTENDED;
    if (kma_fetch_add_u32(helpers, 1, KMA_RELAXED) < KMA_SUPERBLOCK_HELPERS)
        result = kma_superblock_renew(heap, size_class);
    kma_fetch_add_u32(helpers, ~0u, KMA_RELAXED);
    return result;
}

// Up to `want` tickets of a class.
typedef struct kma_superblock_share {
    uint superblock;
    uint first; // the tickets first … first + count - 1
    uint count; // 0: out of memory
} kma_superblock_share;

// Draws up to `want` tickets of a class with `slots` blocks in a superblock, and renews a spent
// offer. One lane of a group.
static inline kma_superblock_share kma_superblock_reserve(global kma_superblock *heap,
                                                          uint size_class, uint slots, uint want)
{
    kma_superblock_share share;
    uint seen = KMA_SUPERBLOCK_NONE; // on offer at the last look
    uint looks = 0;          // at that superblock since its offer was spent
    bool elected = false;
    kma_superblock_offer offer = kma_superblock_first_look(heap, size_class);
    // repeats only if another lane drew what was offered, or has superblocks in hand and patience
    // lasts
    for (;;) {
        if (offer.drawn <= slots)
            offer = kma_superblock_draw(heap, size_class, offer, want);
        share.superblock = offer.superblock;
        share.first = offer.drawn;
        share.count = min(kma_superblock_left(offer, slots), want);
        if (share.count == want)
            return share;
        looks = offer.superblock == seen ? looks : 0;
        seen = offer.superblock;
        elected = elected || offer.drawn <= slots || kma_superblock_marked_dry(offer, slots);
        const bool at_last = looks == 2 * KMA_SUPERBLOCK_PATIENCE;
        uint result = KMA_SUPERBLOCK_CONTENDED;
        if (elected || at_last)
            result = kma_superblock_renew(heap, size_class);
        else if (looks >= KMA_SUPERBLOCK_PATIENCE)
            result = kma_superblock_help(heap, size_class);
        if (share.count != 0 || result == KMA_SUPERBLOCK_EMPTY ||
            (at_last && result == KMA_SUPERBLOCK_CONTENDED))
            return share;
        if (result == KMA_SUPERBLOCK_RENEWED) {
            elected = false;
            looks = 0;
        } else {
            kma_pause(min(64u << min(looks, 16u), KMA_SUPERBLOCK_LONGEST_PAUSE));
            looks++;
        }
        offer = kma_superblock_look(heap, size_class);
    }
}

#endif
