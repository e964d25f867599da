// The bump heap in memory. Types only, shared with the host library like header.cl; the including
// side also has KMA_HAS_ATOMIC64 and, if that is 1, kma_atomic_u64.
//
//   0            begin                           head                       limit              bytes
//   | kma_bump   | blocks, one after the other   | never handed out yet     | less than a unit |
//
// With KMA_DEBUG 1 every block has a unit in front of it, a kma_bump_block; without, nothing. With
// 2 and 3 blocks are guarded (guard_layout.cl), and a kma_guard lies in front of `begin`.
#ifndef KMA_HEAP_BUMP_LAYOUT_CL
#define KMA_HEAP_BUMP_LAYOUT_CL

#include "kma/heap/common/guard_layout.cl"
#include "kma/heap/common/header.cl"

#ifndef KMA_HAS_ATOMIC64
#error "platform/target.cl, or the host, must say whether 64-bit atomics exist"
#endif

// The head counts units from the heap's start; where atomics have 32 bits, its upper half stays 0.
#if KMA_DEBUG
#define kma_bump KMA_FLAVOUR_OF(kma_bump)
#endif
typedef struct kma_bump {
    kma_heap_header header;
    ulong pad_before[11]; // the head has 128 bytes of its own: all write it
#if KMA_HAS_ATOMIC64
    kma_atomic_u64 head;
#else
    kma_atomic_u32 head;
    uint head_high;
#endif
    ulong pad_behind[15];
} kma_bump;

#if KMA_HAS_ATOMIC64
typedef ulong kma_bump_word;
#else
typedef uint kma_bump_word;
#endif

// A kma_guard_block begins the same.
typedef struct kma_bump_block {
    ulong bytes;
    kma_atomic_u32 state; // KMA_BLOCK_LIVE ^ ref, then KMA_BLOCK_FREED ^ ref
    uint pad;
} kma_bump_block;

// Where the kma_guard is in a heap of that KMA_DEBUG, in units; 0 if there is none.
static inline uint kma_bump_guard(uint debug)
{
    return debug >= 2 ? (uint)kma_whole_units(sizeof(kma_bump)) : 0;
}

// The first unit of blocks in a heap of that KMA_DEBUG.
static inline uint kma_bump_begin(uint debug)
{
    return (uint)kma_whole_units(sizeof(kma_bump)) + kma_guard_room(debug);
}

// The first unit that blocks may not take in a heap of so many bytes.
static inline uint kma_bump_limit(uint debug, ulong bytes)
{
    return max(kma_bump_begin(debug), (uint)min(bytes / KMA_UNIT, (ulong)0xfffffffe));
}

// Units in front of each block, and behind it.
static inline uint kma_bump_front(uint debug)
{
    return debug >= 2 ? KMA_GUARD_FRONT : debug;
}

static inline uint kma_bump_back(uint debug)
{
    return debug >= 2 ? KMA_GUARD_BACK : 0;
}

#endif
