// A lock-free set of small integers, one bit each: put one in, take a certain one out, take any
// out. Needs no allocator; nobody waits.
//
// Who takes an integer out owns what it stands for, until he puts it in again; of several that take
// the same one, exactly one gets it. Whoever puts one in that is in already has broken that rule.
//
//   count >= bits set at every moment, == at rest: a set that counts none costs a look at one word;
//   a bit is in the set from the atomic that sets it to the atomic that clears it.
//
// Orders: both atomics acquire and release. So what the one who puts in did before is seen by the
// one who takes out; and one who tried to take out and failed is seen by the one who puts in later,
// which superblock/credit.cl needs.
#ifndef KMA_LOCKFREE_BITMAP_CL
#define KMA_LOCKFREE_BITMAP_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/lockfree/bitmap_layout.cl"

// Of one launch, every work-item its share. `words` of `set` are all clear afterwards.
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

// Puts in `item`, which is not in.
static inline void kma_bitmap_put(global kma_bitmap *set, global kma_atomic_u32 *bits, uint item)
{
    kma_fetch_add_u32(&set->count, 1, KMA_RELAXED);
    kma_fetch_or_u32(&bits[item / 32], 1u << (item % 32), KMA_ACQ_REL);
    // where to look first; any value would be right
    kma_store_u32(&set->recent, item / 32, KMA_RELAXED);
}

// Takes out `item` and returns true, or false if it is not in.
static inline bool kma_bitmap_take(global kma_bitmap *set, global kma_atomic_u32 *bits, uint item)
{
    const uint bit = 1u << (item % 32);
    if ((kma_fetch_and_u32(&bits[item / 32], ~bit, KMA_ACQ_REL) & bit) == 0)
        return false;
    kma_fetch_add_u32(&set->count, ~0u, KMA_RELAXED);
    return true;
}

// A walk over the items, each word as it was when the walk came to it.
typedef struct kma_bitmap_walk {
    uint word;
    uint items; // of this word, those still to come
    uint ahead; // words still to come
} kma_bitmap_walk;

// Begins where an item was put in last. Of a set that counts none the walk sees no other word.
static inline kma_bitmap_walk kma_bitmap_begin(global kma_bitmap *set, global kma_atomic_u32 *bits,
                                               uint words)
{
    kma_bitmap_walk walk;
    walk.ahead = kma_load_u32(&set->count, KMA_RELAXED) != 0 ? words - 1 : 0;
    walk.word = min(kma_load_u32(&set->recent, KMA_RELAXED), words - 1);
    walk.items = kma_load_u32(&bits[walk.word], KMA_RELAXED);
    return walk;
}

// The next item, KMA_BITMAP_NONE at the end. It need not be in any more: who wants it takes it.
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

// Takes out any item; KMA_BITMAP_NONE if no word had one when it was looked at.
static inline uint kma_bitmap_take_any(global kma_bitmap *set, global kma_atomic_u32 *bits,
                                       uint words)
{
    kma_bitmap_walk walk = kma_bitmap_begin(set, bits, words);
    for (;;) { // once more only if another took the item
        const uint item = kma_bitmap_next(&walk, bits, words);
        if (item == KMA_BITMAP_NONE || kma_bitmap_take(set, bits, item))
            return item;
    }
}

#endif
