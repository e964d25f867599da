// The bump heap in memory. Types only, shared with the host library like header.cl. The including
// side also provides KMA_HAS_ATOMIC64 and, if that is 1, kma_atomic_u64.
//
//   0            begin                    head                   limit              bytes
//   | kma_bump   | blocks, side by side   | not handed out yet   | less than a unit |
//
// With KMA_DEBUG 1 one unit, a kma_bump_block, precedes every block. With 2 and 3 blocks are
// guarded (guard_layout.cl), and a kma_guard lies before `begin`.
#ifndef KMA_HEAP_BUMP_LAYOUT_CL
#define KMA_HEAP_BUMP_LAYOUT_CL

#include "kma/heap/common/guard_layout.cl"
#include "kma/heap/common/header.cl"

#ifndef KMA_HAS_ATOMIC64
#error "platform/target.cl, or the host, must say whether 64-bit atomics exist"
#endif

// The head counts units from the heap's start. Without 64-bit atomics its upper half stays 0.
#if KMA_DEBUG
#define kma_bump KMA_FLAVOUR_OF(kma_bump)
#endif
typedef struct kma_bump {
    kma_heap_header header;
    ulong pad_before[11]; // all lanes write the head: it has 128 bytes of its own
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

// The prefix of a block. A kma_guard_block begins with the same fields.
typedef struct kma_bump_block {
    ulong bytes;
    kma_atomic_u32 state; // KMA_BLOCK_LIVE ^ ref, then KMA_BLOCK_FREED ^ ref
    uint pad;
} kma_bump_block;

// Returns the unit where the kma_guard begins in a heap of that KMA_DEBUG; 0 if there is none.
static inline uint kma_bump_guard(uint debug)
{
    return debug >= 2 ? (uint)kma_whole_units(sizeof(kma_bump)) : 0;
}

// Returns the first unit for blocks in a heap of that KMA_DEBUG.
static inline uint kma_bump_begin(uint debug)
{
    return (uint)kma_whole_units(sizeof(kma_bump)) + kma_guard_room(debug);
}

// Returns the first unit after the blocks of a heap of `bytes`.
static inline uint kma_bump_limit(uint debug, ulong bytes)
{
    return max(kma_bump_begin(debug), (uint)min(bytes / KMA_UNIT, (ulong)0xfffffffe));
}

// Returns the units before each block; kma_bump_back: after each block.
static inline uint kma_bump_front(uint debug)
{
    return debug >= 2 ? KMA_GUARD_FRONT : debug;
}

static inline uint kma_bump_back(uint debug)
{
    return debug >= 2 ? KMA_GUARD_BACK : 0;
}

#endif
