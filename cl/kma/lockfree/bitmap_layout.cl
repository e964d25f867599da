// The bitmap's own words. Types only, shared with the host library like heap/common/header.cl. The
// bits lie where the set's user puts them: kma_bitmap_words(items) words of 32.
#ifndef KMA_LOCKFREE_BITMAP_LAYOUT_CL
#define KMA_LOCKFREE_BITMAP_LAYOUT_CL

typedef struct kma_bitmap {
    kma_atomic_u32 count;  // items in the set
    kma_atomic_u32 recent; // the word that an item was last put into
} kma_bitmap;

#define KMA_BITMAP_NONE 0xffffffffu // no item

static inline uint kma_bitmap_words(uint items)
{
    return items / 32 + (items % 32 != 0 ? 1 : 0);
}

#endif
