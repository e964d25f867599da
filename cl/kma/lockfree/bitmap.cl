// A lock-free set of small integers, one bit each: put one in, take a certain one out, take any
// out. It needs no allocator, and no work-item waits for another.
//
// A work-item that takes an integer out owns what it stands for, until it puts the integer in
// again. Of several that take the same integer, exactly one gets it. Only the owner of an integer
// may put it in.
//
//   count >= bits set at every moment, == at rest: a set that counts none costs a look at one word;
//   a bit is in the set from the atomic that sets it to the atomic that clears it.
//
// Orders: put and take both acquire and release. A take comes after the put of its integer. A put
// comes after the failed takes before it, which superblock/credit.cl needs.
#ifndef KMA_LOCKFREE_BITMAP_CL
#define KMA_LOCKFREE_BITMAP_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/lockfree/bitmap_layout.cl"

// Makes a set of `words` words empty. Called by all work-items of one launch.
static inline void kma_bitmap_init(global kma_bitmap *set, global kma_atomic_u32 *bits, uint words,
                                   size_t me, size_t work_items)
{
    for (size_t word = me; word < words; word += work_items)
        kma_store_u32(&bits[word], 0, KMA_RELAXED);
    if (me != 0)
        return;
    kma_store_u32(&set->count, 0, KMA_RELAXED);
    kma_store_u32(&set->recent, 0, KMA_RELAXED);
}

// Puts in `item`, which is not in. Acquires and releases.
static inline void kma_bitmap_put(global kma_bitmap *set, global kma_atomic_u32 *bits, uint item)
{
    kma_fetch_add_u32(&set->count, 1, KMA_RELAXED);
    kma_fetch_or_u32(&bits[item / 32], 1u << (item % 32), KMA_ACQ_REL);
    // a hint: where the next walk begins
    kma_store_u32(&set->recent, item / 32, KMA_RELAXED);
}

// Takes out `item`. False if it is not in. Acquires and releases.
static inline bool kma_bitmap_take(global kma_bitmap *set, global kma_atomic_u32 *bits, uint item)
{
    const uint bit = 1u << (item % 32);
    if ((kma_fetch_and_u32(&bits[item / 32], ~bit, KMA_ACQ_REL) & bit) == 0)
        return false;
    kma_fetch_add_u32(&set->count, ~0u, KMA_RELAXED);
    return true;
}

// A walk over the items: each word as it was when the walk loaded it.
typedef struct kma_bitmap_walk {
    uint word;
    uint items; // of this word, still to come
    uint ahead; // words still to come
} kma_bitmap_walk;

// Begins a walk at the word of the last put. Relaxed. If the set counts none, the walk looks at
// that word only.
static inline kma_bitmap_walk kma_bitmap_begin(global kma_bitmap *set, global kma_atomic_u32 *bits,
                                               uint words)
{
    kma_bitmap_walk walk;
    walk.ahead = kma_load_u32(&set->count, KMA_RELAXED) != 0 ? words - 1 : 0;
    walk.word = min(kma_load_u32(&set->recent, KMA_RELAXED), words - 1);
    walk.items = kma_load_u32(&bits[walk.word], KMA_RELAXED);
    return walk;
}

// Returns the next item, KMA_BITMAP_NONE at the end. Another work-item may have taken it already:
// only a take makes the caller its owner.
static inline uint kma_bitmap_next(kma_bitmap_walk *walk, global kma_atomic_u32 *bits, uint words)
{
    for (; walk->items == 0; walk->ahead--) {
        if (walk->ahead == 0)
            return KMA_BITMAP_NONE;
        walk->word = walk->word + 1 < words ? walk->word + 1 : 0;
        walk->items = kma_load_u32(&bits[walk->word], KMA_RELAXED);
    }
    const uint item = walk->word * 32 + kma_lowest_bit(walk->items);
    walk->items &= walk->items - 1;
    return item;
}

// Takes out any item; KMA_BITMAP_NONE if no word had one when the walk loaded it.
static inline uint kma_bitmap_take_any(global kma_bitmap *set, global kma_atomic_u32 *bits,
                                       uint words)
{
    kma_bitmap_walk walk = kma_bitmap_begin(set, bits, words);
    for (;;) { // again if another work-item took the item
        const uint item = kma_bitmap_next(&walk, bits, words);
        if (item == KMA_BITMAP_NONE || kma_bitmap_take(set, bits, item))
            return item;
    }
}

#endif
