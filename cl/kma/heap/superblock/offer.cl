// Offers: how work-items take blocks of a class without a word to each other but one atomic.
//
// classes[c].offer = {superblock, drawn}. Blocks of the class are on offer while drawn < slots. Who
// adds n to `drawn` and finds d there before has got the tickets d … d + n - 1, each good for one
// block of that superblock as far as it is below slots. One word says both which superblock and
// that a block in it is mine: nobody can reserve in a superblock that has meanwhile gone to another
// class, because a ticket not yet used keeps the superblock from being all free, and so from
// leaving the class.
//
// An offer of fewer blocks than slots begins with drawn = slots - blocks. Spent means drawn >=
// slots. The first draw that does not get all it asks for, d <= slots < d + n, elects its holder to
// renew it; from then on drawn > slots says that somebody was elected. A renewal that finds no
// memory marks the offer dry, which elects everybody.
//
// Whoever puts an offer in the place of another gets the other: its superblock to keep, and the
// blocks that were still on offer. So an exchange will do, whatever was there, and nothing is lost
// by it. (A compare-and-swap would fail as long as others draw: with thousands at it, ten times as
// slow on a GPU.)
//
// Without 64-bit atomics, draws stop at slots + 1, and are compare-and-swaps.
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
// `drawn` has 32 bits, far more than lanes that can be between looking at an offer and adding to
// it.
#define KMA_SUPERBLOCK_DRY(slots) 0x80000000u
// to be set back; 2^30 draws are more than can be under way
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
// drawn <= 2^shift + 2 has shift + 1 bits; all ones in what is left stand for KMA_SUPERBLOCK_NONE.
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

// The word for no superblock, when the heap's plan is not written yet.
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

// Relaxed: who acts on what he sees does it by a draw or a replacement.
static inline kma_superblock_offer kma_superblock_look(global kma_superblock *heap, uint size_class)
{
    return kma_superblock_offer_unpack(
        heap, kma_superblock_offer_load(&heap->classes[size_class].offer, KMA_RELAXED));
}

// The first look of a malloc: none where a draw costs no more than a look. If the offer turns out
// to be overdrawn, the draw has only added to a number above slots, which kma_superblock_renew
// keeps from growing out of its half of the word.
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

// Adds `want` to an offer that was last seen as `seen`, with drawn <= slots; returns the offer
// before. Acquire: what was done with the superblock until it was offered is before what the
// ticket's holder does.
static inline kma_superblock_offer kma_superblock_draw(global kma_superblock *heap, uint size_class,
                                       kma_superblock_offer seen, uint want)
{
    global kma_superblock_offer_atomic *const word = &heap->classes[size_class].offer;
#if KMA_HAS_ATOMIC64
    (void)seen;
    return kma_superblock_offer_unpack(heap, kma_fetch_add_u64(word, want, KMA_ACQUIRE));
#else
    const uint slots = heap->classes[size_class].slots;
    while (seen.drawn <= slots) { // once more only if another changed the offer
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

// Puts `next` in the place of the class's offer, which it returns. Release: who draws from `next`
// sees what its maker did. Acquire: the maker takes over the former offer's superblock.
static inline kma_superblock_offer
kma_superblock_exchange(global kma_superblock *heap, uint size_class, kma_superblock_offer next)
{
    return kma_superblock_offer_unpack(
        heap, kma_superblock_offer_exchange(&heap->classes[size_class].offer,
                                            kma_superblock_offer_pack(heap, next), KMA_ACQ_REL));
}

// The same only if the offer is `former` still and `next` offers nothing; whether it was. Acquire:
// as above.
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
