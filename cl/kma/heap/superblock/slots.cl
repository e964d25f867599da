// A superblock's bitmap: which of its blocks are taken. A ticket says that there is a free one;
// here it is found.
//
// Bit i of the bitmap belongs to the block at i * block size; bits from `slots` on are never set. A
// block is taken from the atomic that sets its bit to the atomic that clears it. There are always
// at least as many clear bits as tickets that wait for one, since credit is given only after the
// bit was cleared.
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

// Whether the bit was clear and this call set it. Acquire: the block is mine only after all that
// its last owner did. `*word` is the word before.
static inline bool kma_superblock_set_bit(global kma_atomic_u32 *bitmap, uint slot, uint *word)
{
    const uint bit = 1u << (slot % 32);
    *word = kma_fetch_or_u32(&bitmap[slot / 32], bit, KMA_ACQUIRE);
    return (*word & bit) == 0;
}

// Release: the block's next owner comes after all that this one did.
static inline bool kma_superblock_clear_bit(global kma_atomic_u32 *bitmap, uint slot)
{
    const uint bit = 1u << (slot % 32);
    return (kma_fetch_and_u32(&bitmap[slot / 32], ~bit, KMA_RELEASE) & bit) != 0;
}

static inline bool kma_superblock_is_set(global kma_atomic_u32 *bitmap, uint slot)
{
    return ((kma_load_u32(&bitmap[slot / 32], KMA_RELAXED) >> (slot % 32)) & 1u) != 0;
}

// Claims a free slot of the word, if it has one.
static inline uint kma_superblock_claim_in(global kma_atomic_u32 *bitmap, uint word, uint slots)
{
    const uint beyond = (word + 1) * 32 > slots ? ~(uint)kma_bits_below(slots - word * 32) : 0;
    uint taken = kma_load_u32(&bitmap[word], KMA_RELAXED) | beyond;
    while (taken != 0xffffffffu) { // once more only if another set the bit that was clear
        const uint slot = word * 32 + kma_lowest_bit(~taken);
        if (kma_superblock_set_bit(bitmap, slot, &taken))
            return slot;
        taken |= beyond;
    }
    return KMA_SUPERBLOCK_NO_SLOT;
}

// The slot for a ticket that found its own taken. The tickets of an offer spread evenly over the
// bitmap; where that hits a full word, the search goes on where the last one ended. A round over
// all words without success means that others claimed every clear bit just before it was looked at,
// and others still cleared some behind the search; sixty rounds in a row are taken for a bitmap
// that does not match the credit any more, because a kernel wrote over it.
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

// The slot for `ticket` of superblock `sb`, whose bitmap is `bitmap`. Of an offer of all blocks,
// ticket i gets slot i at once: nobody else is led there, so that blocks of work-items which
// allocate together lie together.
static inline uint kma_superblock_claim(global kma_superblock *heap, global kma_atomic_u32 *bitmap,
                                        uint sb, uint slots, uint ticket)
{
    uint word;
    if (kma_superblock_set_bit(bitmap, ticket, &word))
        return ticket;
    return kma_superblock_search(heap, bitmap, sb, slots, ticket);
}

#endif
