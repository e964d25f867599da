// The word of a block's slots, a bit for each that is taken: 64 bits where the device has 64-bit
// atomics, else 32.
#ifndef KMA_OBJECTS_SLOTS_CL
#define KMA_OBJECTS_SLOTS_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"

#if KMA_HAS_ATOMIC64
typedef ulong kma_slots;
typedef kma_atomic_u64 kma_atomic_slots;
#define KMA_SLOTS_BITS 64u
#define kma_slots_load kma_load_u64
#define kma_slots_store kma_store_u64
#define kma_slots_exchange kma_exchange_u64
#define kma_slots_cas kma_cas_u64
#define kma_slots_fetch_or kma_fetch_or_u64
#define kma_slots_fetch_and kma_fetch_and_u64
#else
typedef uint kma_slots;
typedef kma_atomic_u32 kma_atomic_slots;
#define KMA_SLOTS_BITS 32u
#define kma_slots_load kma_load_u32
#define kma_slots_store kma_store_u32
#define kma_slots_exchange kma_exchange_u32
#define kma_slots_cas kma_cas_u32
#define kma_slots_fetch_or kma_fetch_or_u32
#define kma_slots_fetch_and kma_fetch_and_u32
#endif
#define KMA_SLOTS_ALL ((kma_slots)~0ul)

// Whether `new` begins with another slot each time (paper, 4.3, "bitmap rotation").
#ifndef KMA_OBJECTS_ROTATE
#define KMA_OBJECTS_ROTATE 1
#endif

static inline uint kma_slots_count(kma_slots slots)
{
    return (uint)popcount(slots);
}

// The first `n` slots, 0 to KMA_SLOTS_BITS. (A shift by all bits shifts by none in OpenCL.)
static inline kma_slots kma_slots_below(uint n)
{
    return n >= KMA_SLOTS_BITS ? KMA_SLOTS_ALL : (kma_slots)kma_bits_below(n);
}

static inline kma_slots kma_slots_bit(uint slot)
{
    return (kma_slots)1 << (slot & (KMA_SLOTS_BITS - 1));
}

// The bits of slots that a class with `slots` objects in a block does not have. They are always
// set.
static inline kma_slots kma_slots_pad(uint slots)
{
    return (kma_slots)~kma_slots_below(slots);
}

// Returns the n-th of the slots, counted from 0. There are more than n.
static inline uint kma_slots_nth(kma_slots slots, uint n)
{
    uint slot = 0;
    for (uint span = KMA_SLOTS_BITS / 2; span != 0; span /= 2) {
        const uint below = kma_slots_count((slots >> slot) & (kma_slots)kma_bits_below(span));
        if (n >= below) {
            n -= below;
            slot += span;
        }
    }
    return slot;
}

// Rotates `slots` right by `turn` (below KMA_SLOTS_BITS): the bits from number `turn` on come
// first.
static inline kma_slots kma_slots_turned(kma_slots slots, uint turn)
{
    return turn == 0 ? slots : (slots >> turn) | (slots << (KMA_SLOTS_BITS - turn));
}

// Returns up to `want` (1 or more) of the slots that are clear in `state`: the first ones from
// `turn` on, cyclic.
static inline kma_slots kma_slots_choose(kma_slots state, uint want, uint turn)
{
    const uint from = KMA_OBJECTS_ROTATE ? turn & (KMA_SLOTS_BITS - 1) : 0;
    kma_slots open = kma_slots_turned((kma_slots)~state, from);
    if (kma_slots_count(open) > want)
        open &= kma_slots_below(kma_slots_nth(open, want));
    return kma_slots_turned(open, (KMA_SLOTS_BITS - from) & (KMA_SLOTS_BITS - 1));
}

#endif
