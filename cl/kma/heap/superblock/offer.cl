// Offers: work-items take blocks of a class by one atomic, without other communication.
//
// classes[c].offer = {superblock, drawn}. Blocks are on offer while drawn < slots. A lane that adds
// n to `drawn` and finds d has drawn the tickets d … d + n - 1. Each ticket below `slots` is good
// for one block of the superblock that the same word names. An unused ticket keeps that superblock
// from being all free, and from leaving its class: no ticket leads to a superblock of another
// class.
//
//   fewer blocks than slots   the offer begins with drawn = slots - blocks
//   spent                     drawn >= slots
//   elected                   the first draw that gets less than it asks for, d <= slots < d + n,
//                             elects its lane to renew the offer; afterwards drawn > slots
//   dry                       a renewal found no memory; every lane is elected
//
// A lane that replaces an offer becomes the keeper of the old offer's superblock, and has the
// blocks that were still on offer in hand. Nothing is lost: a plain exchange suffices. A
// compare-and-swap would fail as long as other lanes draw.
//
// Without 64-bit atomics, draws are compare-and-swaps and stop at slots + 1.
#ifndef KMA_HEAP_SUPERBLOCK_OFFER_CL
#define KMA_HEAP_SUPERBLOCK_OFFER_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/heap/superblock/layout.cl"

typedef struct kma_superblock_offer {
    uint drawn;
    uint superblock; // KMA_SUPERBLOCK_NONE if the class has none; then the offer is spent
} kma_superblock_offer;

#if KMA_HAS_ATOMIC64
// `drawn` has 32 bits: lanes that have looked at an offer and not added to it yet cannot overflow
// it.
#define KMA_SUPERBLOCK_DRY(slots) 0x80000000u
// from here on a renewal resets the offer; fewer than 2^30 draws can be under way
#define KMA_SUPERBLOCK_OVERDRAWN  0xc0000000u

static inline kma_superblock_offer_word kma_superblock_offer_pack(global kma_superblock *heap,
                                                                  kma_superblock_offer offer)
{
    (void)heap;
    return ((ulong)offer.superblock << 32) | offer.drawn;
}

static inline kma_superblock_offer kma_superblock_offer_unpack(global kma_superblock *heap,
                                                               kma_superblock_offer_word word)
{
    kma_superblock_offer offer;
    offer.superblock = (uint)(word >> 32);
    offer.drawn = (uint)word;
    (void)heap;
    return offer;
}

#define kma_superblock_offer_load kma_load_u64
#define kma_superblock_offer_store kma_store_u64
#define kma_superblock_offer_exchange kma_exchange_u64
#define kma_superblock_offer_cas kma_cas_u64
#else
// drawn <= 2^shift + 2 takes shift + 1 bits; all ones in the others stand for KMA_SUPERBLOCK_NONE.
#define KMA_SUPERBLOCK_DRY(slots) ((slots) + 2)
#define KMA_SUPERBLOCK_OVERDRAWN  0xffffffffu // never

static inline kma_superblock_offer_word kma_superblock_offer_pack(global kma_superblock *heap,
                                                                  kma_superblock_offer offer)
{
    return (offer.superblock << (heap->plan.shift + 1)) | offer.drawn;
}

static inline kma_superblock_offer kma_superblock_offer_unpack(global kma_superblock *heap,
                                                               kma_superblock_offer_word word)
{
    const uint bits = heap->plan.shift + 1;
    const uint superblock = word >> bits;
    kma_superblock_offer offer;
    offer.superblock = superblock == 0xffffffffu >> bits ? KMA_SUPERBLOCK_NONE : superblock;
    offer.drawn = word & ((1u << bits) - 1);
    return offer;
}

#define kma_superblock_offer_load kma_load_u32
#define kma_superblock_offer_store kma_store_u32
#define kma_superblock_offer_exchange kma_exchange_u32
#define kma_superblock_offer_cas kma_cas_u32
#endif

// Returns the word of an offer without superblock. Does not read the heap's plan.
static inline kma_superblock_offer_word kma_superblock_offer_none(uint shift, uint slots)
{
#if KMA_HAS_ATOMIC64
    (void)shift;
    return ((ulong)KMA_SUPERBLOCK_NONE << 32) | slots;
#else
    return (KMA_SUPERBLOCK_NONE << (shift + 1)) | slots;
#endif
}

static inline uint kma_superblock_left(kma_superblock_offer offer, uint slots)
{
    return offer.drawn < slots ? slots - offer.drawn : 0;
}

// Returns the class's offer. Relaxed: a lane acts on it only by a draw or a replacement.
static inline kma_superblock_offer kma_superblock_look(global kma_superblock *heap, uint size_class)
{
    return kma_superblock_offer_unpack(
        heap, kma_superblock_offer_load(&heap->classes[size_class].offer, KMA_RELAXED));
}

// Returns the offer for a malloc's first draw. With 64-bit atomics it does not look, since a draw
// costs no more. A draw from a spent offer only raises a number above slots; kma_superblock_renew
// keeps that from overflowing.
static inline kma_superblock_offer kma_superblock_first_look(global kma_superblock *heap,
                                                             uint size_class)
{
#if KMA_HAS_ATOMIC64
    kma_superblock_offer unseen;
    unseen.superblock = unseen.drawn = 0;
    (void)heap;
    (void)size_class;
    return unseen;
#else
    return kma_superblock_look(heap, size_class);
#endif
}

static inline bool kma_superblock_marked_dry(kma_superblock_offer offer, uint slots)
{
    (void)slots;
    return offer.drawn >= KMA_SUPERBLOCK_DRY(slots);
}

// Adds `want` to an offer last seen as `seen`, with drawn <= slots; returns the offer before. One
// lane of a group. Acquire: pairs with the kma_superblock_exchange that made the offer.
static inline kma_superblock_offer kma_superblock_draw(global kma_superblock *heap, uint size_class,
                                       kma_superblock_offer seen, uint want)
{
    global kma_superblock_offer_atomic *const word = &heap->classes[size_class].offer;
#if KMA_HAS_ATOMIC64
    (void)seen;
    return kma_superblock_offer_unpack(heap, kma_fetch_add_u64(word, want, KMA_ACQUIRE));
#else
    const uint slots = heap->classes[size_class].slots;
    while (seen.drawn <= slots) { // repeats only if another lane changed the offer
        kma_superblock_offer after = seen;
        after.drawn = min(seen.drawn + want, slots + 1);
        const uint expected = kma_superblock_offer_pack(heap, seen);
        const uint before =
            kma_cas_u32(word, expected, kma_superblock_offer_pack(heap, after), KMA_ACQUIRE);
        if (before == expected)
            return seen;
        seen = kma_superblock_offer_unpack(heap, before);
    }
    return seen;
#endif
}

// Replaces the class's offer by `next` and returns the old one. Release: a lane that draws from
// `next` sees the writes of its maker. Acquire: the maker takes over the old offer's superblock.
static inline kma_superblock_offer
kma_superblock_exchange(global kma_superblock *heap, uint size_class, kma_superblock_offer next)
{
    return kma_superblock_offer_unpack(
        heap, kma_superblock_offer_exchange(&heap->classes[size_class].offer,
                                            kma_superblock_offer_pack(heap, next), KMA_ACQ_REL));
}

// Replaces the class's offer by `next`, which offers nothing, if it is still `former`; true if it
// was. Acquire: as kma_superblock_exchange. There is nothing to release.
static inline bool kma_superblock_replace_offer(global kma_superblock *heap, uint size_class,
                                                kma_superblock_offer former,
                                                kma_superblock_offer next)
{
    const kma_superblock_offer_word expected = kma_superblock_offer_pack(heap, former);
    return kma_superblock_offer_cas(&heap->classes[size_class].offer, expected,
                            kma_superblock_offer_pack(heap, next), KMA_ACQUIRE) == expected;
}

static inline kma_superblock_offer kma_superblock_offer_of(uint superblock, uint drawn)
{
    kma_superblock_offer offer;
    offer.superblock = superblock;
    offer.drawn = drawn;
    return offer;
}

#endif
