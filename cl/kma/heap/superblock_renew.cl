// What happens when an offer is spent: the class gets another, of the same superblock, of a partly free one, of a free
// one, or of one that another class keeps in reserve, in this order.
#ifndef KMA_HEAP_SUPERBLOCK_RENEW_CL
#define KMA_HEAP_SUPERBLOCK_RENEW_CL

#include "kma/platform/pause.cl"
#include "kma/heap/superblock_credit.cl"
#include "kma/heap/superblock_offer.cl"

// How often who was not elected looks whether the offer was renewed, before he does it himself, and for how many
// nanoseconds he keeps away at most in between. For speed alone: where thousands renew at once, or look all the time,
// the one who was elected hardly gets at the memory. He needs five to ten microseconds on a GPU.
#ifndef KMA_SB_PATIENCE
#define KMA_SB_PATIENCE 24u
#endif
#ifndef KMA_SB_LONGEST_PAUSE
#define KMA_SB_LONGEST_PAUSE 8192u
#endif

// Puts `blocks` of `sb`, which the caller has in hand, on offer. The superblock is either the one of the spent offer,
// and stays (`kept_by_offer`), or the caller is its keeper, and the class's offer becomes it; then the caller becomes
// the keeper of the former one. False if the offer is not spent any more, or not of that superblock.
static inline bool kma_sb_put_on_offer(global kma_superblock *heap, uint size_class, uint sb, uint blocks,
                                       bool kept_by_offer)
{
    const uint slots = heap->classes[size_class].slots;
    kma_store_u32(&kma_sb_state_of(heap, sb)->offered, blocks, KMA_RELAXED);
    for (;;) { // once more only if another drew, or renewed
        const kma_sb_offer spent = kma_sb_look(heap, size_class);
        if (kma_sb_left(spent, slots) != 0 || (kept_by_offer && spent.superblock != sb))
            return false;
        if (!kma_sb_replace(heap, size_class, spent, kma_sb_offer_of(sb, slots - blocks)))
            continue;
        if (!kept_by_offer && spent.superblock != KMA_SB_NONE)
            kma_sb_settle(heap, spent.superblock);
        return true;
    }
}

// Offers again what has been freed of the spent offer's superblock. False if that is nothing.
static inline bool kma_sb_renew_same(global kma_superblock *heap, uint size_class, uint sb)
{
    if (sb == KMA_SB_NONE)
        return false;
    const uint blocks = kma_sb_take_credit(heap, sb);
    if (blocks == 0)
        return false;
    if (!kma_sb_put_on_offer(heap, size_class, sb, blocks, true))
        kma_sb_give(heap, sb, kma_sb_class_of(heap, sb), blocks);
    return true;
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
            kma_sb_return(heap, offer.superblock, left);
            return true;
        }
    }
    return false;
}

// Takes a free superblock, as its keeper; KMA_SB_NONE if there is none.
static inline uint kma_sb_take_free(global kma_superblock *heap, uint size_class)
{
    for (;;) { // once more only after a superblock was freed
        const uint sb = kma_queue_dequeue(kma_sb_queue(heap));
        if (sb != KMA_QUEUE_EMPTY)
            return sb;
        if (!kma_sb_reclaim(heap, size_class))
            return KMA_SB_NONE;
    }
}

// Takes a superblock that has blocks for the class, as its keeper, and `*blocks` of it in hand; KMA_SB_NONE if there is
// none. Counted in `in_hand` until the caller has put it on offer or back.
static inline uint kma_sb_find(global kma_superblock *heap, uint size_class, uint *blocks)
{
    global kma_sb_class *cls = &heap->classes[size_class];
    for (;;) { // once more only if another took the credit of a partly free superblock
        const uint sb = kma_bitmap_take_any(&cls->partial, kma_sb_set(heap, size_class), heap->plan.set_words);
        if (sb == KMA_BITMAP_NONE)
            break;
        kma_fetch_add_u32(&heap->in_hand, 1, KMA_RELAXED);
        *blocks = kma_sb_take_credit(heap, sb);
        if (*blocks != 0)
            return sb;
        kma_sb_settle(heap, sb);
        kma_fetch_add_u32(&heap->in_hand, ~0u, KMA_RELAXED);
    }
    const uint sb = kma_sb_take_free(heap, size_class);
    if (sb == KMA_SB_NONE)
        return KMA_SB_NONE;
    kma_fetch_add_u32(&heap->in_hand, 1, KMA_RELAXED);
    kma_store_u32(&kma_sb_state_of(heap, sb)->content, size_class, KMA_RELAXED);
    *blocks = cls->slots;
    return sb;
}

#define KMA_SB_RENEWED   0u // by the caller or another: look again
#define KMA_SB_CONTENDED 1u // nothing to be found, but others have superblocks in hand
#define KMA_SB_EMPTY     2u // out of memory; the offer is marked dry

// Makes the class offer blocks, where the offer `spent` was seen last.
static inline uint kma_sb_renew(global kma_superblock *heap, uint size_class, kma_sb_offer spent)
{
    if (kma_sb_renew_same(heap, size_class, spent.superblock))
        return KMA_SB_RENEWED;
    uint blocks = 0;
    const uint sb = kma_sb_find(heap, size_class, &blocks);
    if (sb != KMA_SB_NONE) {
        if (!kma_sb_put_on_offer(heap, size_class, sb, blocks, false))
            kma_sb_return(heap, sb, blocks);
        kma_fetch_add_u32(&heap->in_hand, ~0u, KMA_RELAXED);
        return KMA_SB_RENEWED;
    }
    const uint slots = heap->classes[size_class].slots;
    const kma_sb_offer offer = kma_sb_look(heap, size_class);
    if (kma_sb_left(offer, slots) != 0)
        return KMA_SB_RENEWED;
    if (kma_load_u32(&heap->in_hand, KMA_RELAXED) != 0)
        return KMA_SB_CONTENDED;
    if (!kma_sb_marked_dry(offer, slots))
        kma_sb_replace(heap, size_class, offer, kma_sb_offer_of(offer.superblock, KMA_SB_DRY(slots)));
    return KMA_SB_EMPTY;
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
    uint looked = 0;         // and how often
    bool renews = false;     // the caller: elected, or out of patience
    kma_sb_offer offer = kma_sb_first_look(heap, size_class);
    for (;;) { // once more only if another drew what was offered, or has superblocks in hand and patience lasts
        if (offer.drawn <= slots)
            offer = kma_sb_draw(heap, size_class, offer, want);
        share.superblock = offer.superblock;
        share.first = offer.drawn;
        share.count = min(kma_sb_left(offer, slots), want);
        if (share.count == want)
            return share;
        if (offer.superblock != seen)
            looked = 0;
        seen = offer.superblock;
        renews = renews || offer.drawn <= slots || offer.drawn >= KMA_SB_DRY(slots) || looked == KMA_SB_PATIENCE;
        uint result = KMA_SB_CONTENDED;
        if (renews)
            result = kma_sb_renew(heap, size_class, offer);
        const bool gives_up = result == KMA_SB_EMPTY || (result == KMA_SB_CONTENDED && looked == 2 * KMA_SB_PATIENCE);
        if (share.count != 0 || gives_up)
            return share;
        if (result == KMA_SB_RENEWED) {
            renews = false;
        } else {
            kma_pause(min(64u << min(looked, 16u), KMA_SB_LONGEST_PAUSE));
            looked++;
        }
        offer = kma_sb_look(heap, size_class);
    }
}

#endif
