// A soak: work-items take, hand on and give back blocks for as long as one likes, and look at every byte of each block
// before they free it.
//
// A slot says what is known of a block, apart from the block. The holder of a slot's number owns the slot and its block:
// work-item i holds those in held[i * per_item …]; `mail` has some more, and a work-item that exchanges its slot for one
// that lies there owns that one, with all that was written about it.
#include "kma/kma.cl"
#include "pattern.cl"
#include "words.cl"

typedef struct soak_slot {
    kma_ref ref; // of the slot's block; KMA_NULL: it has none
    uint bytes;
    uint key; // of what is painted into the block; another for each block
    uint pad;
} soak_slot;

static inline void soak_took(global kma_heap *heap, global soak_slot *slot, global uchar *block, uint bytes,
                             counts *count)
{
    slot->ref = kma_ref_of(heap, block);
    slot->bytes = bytes;
    slot->key = kma_mix32(slot->key + slot->ref);
    if (block)
        paint_words(block, bytes, slot->key);
    count->served += block ? 1 : 0;
    count->refused += block ? 0 : 1;
}

static inline void soak_look(const global uchar *block, const global soak_slot *slot, counts *count)
{
    if (block)
        count->wrong += wrong_words(block, slot->bytes, slot->key);
    count->freed += block ? 1 : 0;
}

// Puts the slot `mine` into a box and returns the one that lay there; `mine` itself if another lane was quicker.
static inline uint soak_swap(global kma_atomic_u32 *box, uint mine)
{
    const uint theirs = kma_load_u32(box, KMA_RELAXED);
    return kma_cas_u32(box, theirs, mine, KMA_ACQ_REL) == theirs ? theirs : mine;
}

// In three of four rounds all lanes free at one place and allocate at one, those without need NULL and 0 bytes; in the
// fourth they go different ways.
kernel void soak(global kma_heap *heap, global soak_slot *slots, global uint *held, global kma_atomic_u32 *mail,
                 uint boxes, uint per_item, uint rounds, uint most, uint seed, global counts *results)
{
    const uint me = (uint)get_global_id(0);
    counts count = {0, 0, 0, 0};
    for (uint round = 0; round < rounds; round++) {
        const uint random = kma_mix32(kma_mix32(me + seed) + round);
        global uint *const mine = &held[me * per_item + random % per_item];
        global soak_slot *const slot = &slots[*mine];
        global uchar *const old = (global uchar *)kma_deref(heap, slot->ref);
        const uint bytes = old ? 0 : size_of(kma_mix32(random), most);
        if (round % 4 != 3) {
            soak_look(old, slot, &count);
            kma_free(heap, old);
            global uchar *const block = (global uchar *)kma_malloc(heap, bytes);
            if (!old)
                soak_took(heap, slot, block, bytes, &count);
        } else if (old) {
            soak_look(old, slot, &count);
            kma_free(heap, old);
        } else {
            soak_took(heap, slot, (global uchar *)kma_aligned_alloc(heap, 32, bytes), bytes, &count);
        }
        if (old)
            slot->ref = KMA_NULL;
        if (random >> 16 & 1)
            *mine = soak_swap(&mail[(random >> 17) % boxes], *mine);
    }
    results[me] = count;
}

// The end: one work-item for each slot frees what it has.
kernel void soak_drain(global kma_heap *heap, global soak_slot *slots, uint count_of_slots, global counts *results)
{
    const uint me = (uint)get_global_id(0);
    counts count = {0, 0, 0, 0};
    if (me < count_of_slots) {
        global uchar *const old = (global uchar *)kma_deref(heap, slots[me].ref);
        soak_look(old, &slots[me], &count);
        kma_free(heap, old);
        slots[me].ref = KMA_NULL;
    }
    results[me] = count;
}
