// kma/heap/common/ref.cl: refs published by some work-items and followed by others.
#define KMA_HEAP bump
#include "kma/kma.cl"

#define WORDS 12

typedef struct message {
    uint words[WORDS];
} message;

static inline uint content(uint writer, uint i)
{
    return writer * WORDS + i + 1;
}

static inline uint wrong_words(const global message *theirs)
{
    const uint writer = (theirs->words[0] - 1) / WORDS;
    uint wrong = writer >= get_global_size(0) ? 1 : 0;
    for (uint i = 0; i < WORDS; i++)
        wrong += theirs->words[i] != content(writer, i) ? 1 : 0;
    return wrong;
}

// Offers a message for slot (me * 5 + 1) % slots: many offer, one wins. Then looks once at `looks` other slots and reads
// the messages that are there; and stores its message in a place of its own and looks once at another's. won: the slot
// plus one, or 0; found and wrong: messages and wrong words read, announced.x and .y the same of places.
kernel void publish(global kma_heap *heap, global kma_atomic_ref *slots, uint slot_count, global kma_atomic_ref *places,
                    global uint *won, global uint *found, global uint *wrong, global uint2 *announced, uint looks)
{
    const uint me = (uint)get_global_id(0);
    const uint slot = (me * 5 + 1) % slot_count;
    uint my_found = 0;
    uint my_wrong = 0;
    won[me] = 0;
    global message *mine = KMA_NEW(heap, message);
    if (mine) {
        for (uint i = 0; i < WORDS; i++)
            mine->words[i] = content(me, i);
        // Half of the work-items that share a slot load it first, as one would to spare the write.
        const bool try_it = (me & 1) != 0 || kma_ref_load_acquire(&slots[slot]) == KMA_NULL;
        if (try_it && kma_ref_cas(&slots[slot], KMA_NULL, kma_ref_of(heap, mine)) == KMA_NULL)
            won[me] = slot + 1;
    }
    for (uint i = 0; i < looks; i++) {
        const kma_ref ref = kma_ref_load_acquire(&slots[(slot + i * 7) % slot_count]);
        const global message *theirs = (const global message *)kma_deref(heap, ref);
        my_found += theirs ? 1 : 0;
        my_wrong += theirs ? wrong_words(theirs) : 0;
    }
    found[me] = my_found;
    wrong[me] = my_wrong;
    const uint other = (uint)((me + get_local_size(0)) % get_global_size(0));
    kma_ref_store_release(&places[me], kma_ref_of(heap, mine));
    const global message *theirs = (const global message *)kma_deref(heap, kma_ref_load_acquire(&places[other]));
    announced[me] = theirs ? (uint2)(1, wrong_words(theirs) + (theirs->words[0] != content(other, 0) ? 1 : 0)) : (uint2)(0);
}

// What the functions compute for one work-item.
kernel void arithmetic(global kma_heap *heap, global kma_atomic_ref *word, global uint *out)
{
    global uchar *block = (global uchar *)kma_malloc(heap, 160);
    const kma_ref ref = kma_ref_of(heap, block);
    out[0] = kma_ref_of(heap, (global void *)0);
    out[1] = kma_deref(heap, KMA_NULL) == (global void *)0 ? 1 : 0;
    out[2] = kma_deref(heap, ref) == (global void *)block ? 1 : 0;
    out[3] = kma_ref_of(heap, block + 144) - ref; // any multiple of 16 bytes in the heap has a ref
    out[4] = (uint)((size_t)block - (size_t)heap) - ref * 16;
    kma_ref_init(word, 7);
    out[5] = kma_ref_cas(word, 8, 9);
    out[6] = kma_ref_cas(word, 7, ref);
    out[7] = kma_ref_load_acquire(word) - ref;
    kma_ref_store_release(word, KMA_NULL);
    out[8] = kma_ref_load_acquire(word);
    out[9] = ref;
}
