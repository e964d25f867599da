// What happens when an offer is spent: the class gets another, of a partly free superblock, of a free one, or of one
// that another class keeps in reserve.
#ifndef KMA_HEAP_SUPERBLOCK_RENEW_CL
#define KMA_HEAP_SUPERBLOCK_RENEW_CL

#include "kma/platform/pause.cl"
#include "kma/heap/superblock_credit.cl"
#include "kma/heap/superblock_offer.cl"

// Who was not elected looks so often whether the offer was renewed, and keeps away for so many nanoseconds at most in
// between. Then a few may help, and after as many looks again everybody renews for himself. Thus nobody depends on the
// one who was elected; but as a rule he alone takes superblocks: he needs some microseconds on a GPU, and if thousands
// took one each to put on offer, others would find none.
#ifndef KMA_SB_PATIENCE
#define KMA_SB_PATIENCE 24u
#endif
#ifndef KMA_SB_LONGEST_PAUSE
#define KMA_SB_LONGEST_PAUSE 8192u
#endif
#ifndef KMA_SB_HELPERS
#define KMA_SB_HELPERS 4u
#endif

// Among so many partly free superblocks one is looked for that has a good part of its blocks to give. For speed too: of
// a class with many almost full superblocks, each offer would be spent at once.
#ifndef KMA_SB_LOOKS
#define KMA_SB_LOOKS 16u
#endif
#define KMA_SB_GOOD_PART(slots) max((slots) / 8, 1u)

KMA_STATIC_ASSERT(KMA_SB_NONE == KMA_QUEUE_EMPTY && KMA_SB_NONE == KMA_BITMAP_NONE, none_is_none);

// Its keeper puts `blocks` of `sb` that he has in hand on offer (KMA_SB_NONE: the class is to offer nothing), with
// `drawn` at the start. The offer keeps it now, and the caller settles what was on offer before.
static inline void kma_sb_put_on_offer(global kma_superblock *heap, uint size_class, uint sb, uint drawn)
{
    const uint slots = heap->classes[size_class].slots;
    const kma_sb_offer former = kma_sb_exchange(heap, size_class, kma_sb_offer_of(sb, drawn));
    if (former.superblock != KMA_SB_NONE)
        kma_sb_return(heap, former.superblock, kma_sb_left(former, slots));
}

// Frees a superblock that another class has on offer and no block of which is taken. False if there is none.
static inline bool kma_sb_reclaim(global kma_superblock *heap, uint size_class)
{
    for (uint other = 0; other < heap->plan.size_classes; other++) {
        const kma_sb_offer offer = kma_sb_look(heap, other);
        if (other == size_class || offer.superblock == KMA_SB_NONE)
            continue;
        const uint slots = heap->classes[other].slots;
        const uint left = kma_sb_left(offer, slots);
        const uint credit = kma_load_u32(&kma_sb_state_of(heap, offer.superblock)->credit, KMA_RELAXED);
        if (left + kma_sb_count(credit) == slots &&
            kma_sb_replace(heap, other, offer, kma_sb_offer_of(KMA_SB_NONE, slots))) {
            kma_sb_pick_up(heap);
            kma_sb_return(heap, offer.superblock, left);
            kma_sb_put_down(heap);
            return true;
        }
    }
    return false;
}

// Takes a superblock of the class with a good part of its blocks to give, as its keeper; KMA_SB_NONE if there is none
// among the first KMA_SB_LOOKS partly free ones.
static inline uint kma_sb_take_good(global kma_superblock *heap, uint size_class)
{
    global kma_sb_class *cls = &heap->classes[size_class];
    global kma_atomic_u32 *bits = kma_sb_set(heap, size_class);
    const uint words = heap->plan.set_words;
    kma_bitmap_walk walk = kma_bitmap_begin(&cls->partial, bits, words);
    for (uint looks = 0; looks < KMA_SB_LOOKS; looks++) {
        const uint sb = kma_bitmap_next(&walk, bits, words);
        if (sb == KMA_BITMAP_NONE)
            break;
        const uint credit = kma_sb_count(kma_load_u32(&kma_sb_state_of(heap, sb)->credit, KMA_RELAXED));
        if (credit >= KMA_SB_GOOD_PART(cls->slots) && kma_bitmap_take(&cls->partial, bits, sb))
            return sb;
    }
    return KMA_SB_NONE;
}

// Takes a superblock that has blocks for the class, as its keeper, and `*blocks` of it in hand; KMA_SB_NONE if there is
// none. Counted as picked up: the caller puts it down.
static inline uint kma_sb_find(global kma_superblock *heap, uint size_class, uint *blocks)
{
    global kma_sb_class *cls = &heap->classes[size_class];
    bool is_free = false;
    uint sb;
    for (;;) { // once more only after a superblock was freed
        sb = kma_sb_take_good(heap, size_class);
        if (sb != KMA_SB_NONE)
            break;
        sb = kma_queue_dequeue(kma_sb_queue(heap));
        is_free = sb != KMA_SB_NONE;
        if (is_free)
            break;
        sb = kma_bitmap_take_any(&cls->partial, kma_sb_set(heap, size_class), heap->plan.set_words);
        if (sb != KMA_SB_NONE || !kma_sb_reclaim(heap, size_class))
            break;
    }
    if (sb == KMA_SB_NONE)
        return KMA_SB_NONE;
    kma_sb_pick_up(heap);
    global kma_sb_state *state = kma_sb_state_of(heap, sb);
    if (is_free)
        kma_store_u32(&state->content, size_class, KMA_RELAXED);
    *blocks = is_free ? cls->slots : kma_sb_take_credit(heap, sb);
    kma_store_u32(&state->offered, *blocks, KMA_RELAXED);
    return sb;
}

#define KMA_SB_RENEWED   0u // by the caller or another: look again
#define KMA_SB_CONTENDED 1u // nothing to be found, but others had superblocks in hand
#define KMA_SB_EMPTY     2u // out of memory; the offer is marked dry

// Makes the class offer blocks.
static inline KMA_OUTLINE uint kma_sb_renew(global kma_superblock *heap, uint size_class)
{
    const uint slots = heap->classes[size_class].slots;
    for (;;) { // once more only if a superblock was on offer, whose credit nobody could find, or after 2^30 draws
        const uint moves = kma_load_u32(&heap->moves, KMA_ACQUIRE);
        uint blocks = 0;
        const uint sb = kma_sb_find(heap, size_class, &blocks);
        if (sb != KMA_SB_NONE) {
            kma_sb_put_on_offer(heap, size_class, sb, slots - blocks);
            kma_sb_put_down(heap);
            return KMA_SB_RENEWED;
        }
        const kma_sb_offer offer = kma_sb_look(heap, size_class);
        if (kma_sb_left(offer, slots) != 0)
            return KMA_SB_RENEWED;
        if (offer.superblock != KMA_SB_NONE || offer.drawn >= KMA_SB_OVERDRAWN) {
            kma_sb_pick_up(heap);
            kma_sb_put_on_offer(heap, size_class, KMA_SB_NONE, slots + 1);
            kma_sb_put_down(heap);
            continue;
        }
        if (KMA_SB_IN_HAND(moves) != 0 || kma_load_u32(&heap->moves, KMA_RELAXED) != moves)
            return KMA_SB_CONTENDED;
        if (!kma_sb_marked_dry(offer, slots))
            kma_sb_replace(heap, size_class, offer, kma_sb_offer_of(KMA_SB_NONE, KMA_SB_DRY(slots)));
        return KMA_SB_EMPTY;
    }
}

// The same for one who was not elected, unless enough do it already.
static inline uint kma_sb_help(global kma_superblock *heap, uint size_class)
{
    global kma_atomic_u32 *const helpers = &heap->classes[size_class].helpers;
    uint result = KMA_SB_CONTENDED;
    if (kma_fetch_add_u32(helpers, 1, KMA_RELAXED) < KMA_SB_HELPERS)
        result = kma_sb_renew(heap, size_class);
    kma_fetch_add_u32(helpers, ~0u, KMA_RELAXED);
    return result;
}

// Up to `want` tickets of a class.
typedef struct kma_sb_share {
    uint superblock;
    uint first; // the tickets first … first + count - 1
    uint count; // 0: out of memory
} kma_sb_share;

// The way of a malloc, for a class of `slots` blocks in a superblock: draw, and renew what is spent.
static inline kma_sb_share kma_sb_reserve(global kma_superblock *heap, uint size_class, uint slots, uint want)
{
    kma_sb_share share;
    uint seen = KMA_SB_NONE; // the superblock that was on offer at the last look
    uint looks = 0;          // at that one, spent
    bool elected = false;
    kma_sb_offer offer = kma_sb_first_look(heap, size_class);
    for (;;) { // once more only if another drew what was offered, or has superblocks in hand and patience lasts
        if (offer.drawn <= slots)
            offer = kma_sb_draw(heap, size_class, offer, want);
        share.superblock = offer.superblock;
        share.first = offer.drawn;
        share.count = min(kma_sb_left(offer, slots), want);
        if (share.count == want)
            return share;
        looks = offer.superblock == seen ? looks : 0;
        seen = offer.superblock;
        elected = elected || offer.drawn <= slots || kma_sb_marked_dry(offer, slots);
        const bool at_last = looks == 2 * KMA_SB_PATIENCE;
        uint result = KMA_SB_CONTENDED;
        if (elected || at_last)
            result = kma_sb_renew(heap, size_class);
        else if (looks >= KMA_SB_PATIENCE)
            result = kma_sb_help(heap, size_class);
        if (share.count != 0 || result == KMA_SB_EMPTY || (at_last && result == KMA_SB_CONTENDED))
            return share;
        if (result == KMA_SB_RENEWED) {
            elected = false;
            looks = 0;
        } else {
            kma_pause(min(64u << min(looks, 16u), KMA_SB_LONGEST_PAUSE));
            looks++;
        }
        offer = kma_sb_look(heap, size_class);
    }
}

#endif
