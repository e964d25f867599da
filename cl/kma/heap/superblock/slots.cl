// A superblock's bitmap: which of its blocks are taken. A ticket promises a free block; the
// functions here find one.
//
// Bit i belongs to the block at i * block size; bits from `slots` on are never set. A block is
// taken from the atomic that sets its bit to the atomic that clears it. There are never fewer clear
// bits than tickets without a block: credit is given only after a bit was cleared.
#ifndef KMA_HEAP_SUPERBLOCK_SLOTS_CL
#define KMA_HEAP_SUPERBLOCK_SLOTS_CL

#include "kma/platform/bits.cl"
#include "kma/heap/superblock/credit.cl"

#define KMA_SUPERBLOCK_NO_SLOT 0xffffffffu

static inline global kma_atomic_u32 *kma_superblock_bitmap(global kma_superblock *heap, uint sb)
{
    return (global kma_atomic_u32 *)((global uchar *)heap + (size_t)heap->plan.bitmaps * KMA_UNIT) +
           (size_t)sb * heap->plan.bitmap_words;
}

// Sets the bit of a slot; true if it was clear. `*word` is the word before. Acquire: pairs with the
// release of the block's last owner in kma_superblock_clear_bit.
static inline bool kma_superblock_set_bit(global kma_atomic_u32 *bitmap, uint slot, uint *word)
{
    const uint bit = 1u << (slot % 32);
    *word = kma_fetch_or_u32(&bitmap[slot / 32], bit, KMA_ACQUIRE);
    return (*word & bit) == 0;
}

// Clears the bit of a slot; true if it was set. Release: pairs with the acquire of the block's next
// owner in kma_superblock_set_bit.
static inline bool kma_superblock_clear_bit(global kma_atomic_u32 *bitmap, uint slot)
{
    const uint bit = 1u << (slot % 32);
    return (kma_fetch_and_u32(&bitmap[slot / 32], ~bit, KMA_RELEASE) & bit) != 0;
}

static inline bool kma_superblock_is_set(global kma_atomic_u32 *bitmap, uint slot)
{
    return ((kma_load_u32(&bitmap[slot / 32], KMA_RELAXED) >> (slot % 32)) & 1u) != 0;
}

// Claims a free slot of bitmap word `word`; KMA_SUPERBLOCK_NO_SLOT if it has none.
static inline uint kma_superblock_claim_in(global kma_atomic_u32 *bitmap, uint word, uint slots)
{
    const uint beyond = (word + 1) * 32 > slots ? ~(uint)kma_bits_below(slots - word * 32) : 0;
    uint taken = kma_load_u32(&bitmap[word], KMA_RELAXED) | beyond;
    while (taken != 0xffffffffu) { // repeats only if another lane set the bit first
        const uint slot = word * 32 + kma_lowest_bit(~taken);
        if (kma_superblock_set_bit(bitmap, slot, &taken))
            return slot;
        taken |= beyond;
    }
    return KMA_SUPERBLOCK_NO_SLOT;
}

// Claims a slot for a ticket that found its own slot taken. The tickets of an offer spread evenly
// over the bitmap. If that leads to a full word, the search continues where the last search ended.
//
// A pass over all words finds nothing only if other lanes claimed each clear bit just before the
// look at it, and cleared others that it had passed. After 64 such passes the bitmap counts as
// damaged by a kernel's write: returns KMA_SUPERBLOCK_NO_SLOT.
static inline KMA_OUTLINE uint kma_superblock_search(global kma_superblock *heap,
                                             global kma_atomic_u32 *bitmap, uint sb, uint slots,
                                             uint ticket)
{
    global kma_superblock_state *state = kma_superblock_state_of(heap, sb);
    const uint words = kma_bitmap_words(slots);
    const uint offered = clamp(kma_load_u32(&state->offered, KMA_RELAXED), 1u, slots);
    const uint first = slots - offered;
    uint word = (uint)((ulong)(ticket - min(ticket, first)) * words / offered);
    for (uint left = words * 64; left != 0; left--) {
        const uint slot = kma_superblock_claim_in(bitmap, word, slots);
        if (slot != KMA_SUPERBLOCK_NO_SLOT) {
            kma_store_u32(&state->found, word, KMA_RELAXED);
            return slot;
        }
        const uint next = left == words * 64 ? kma_load_u32(&state->found, KMA_RELAXED) : word + 1;
        word = next < words ? next : 0;
    }
    return KMA_SUPERBLOCK_NO_SLOT;
}

// Claims a slot for `ticket` of superblock `sb`, which has the bitmap `bitmap`. In an offer of all
// blocks ticket i gets slot i at once: blocks of lanes that allocate together lie together.
static inline uint kma_superblock_claim(global kma_superblock *heap, global kma_atomic_u32 *bitmap,
                                        uint sb, uint slots, uint ticket)
{
    uint word;
    if (kma_superblock_set_bit(bitmap, ticket, &word))
        return ticket;
    return kma_superblock_search(heap, bitmap, sb, slots, ticket);
}

#endif
