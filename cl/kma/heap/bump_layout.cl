// The bump heap in memory. Types only, shared with the host library like header.cl; the including side also has
// KMA_HAS_ATOMIC64 and, if that is 1, kma_atomic_u64.
//
//   0            begin                           head                       limit              bytes
//   | kma_bump   | blocks, one after the other   | never handed out yet     | less than a unit |
//
// With KMA_DEBUG every block has a unit in front of it, a kma_bump_block; without, nothing.
#ifndef KMA_HEAP_BUMP_LAYOUT_CL
#define KMA_HEAP_BUMP_LAYOUT_CL

#include "kma/heap/header.cl"

#ifndef KMA_HAS_ATOMIC64
#error "platform/target.cl, or the host, must say whether 64-bit atomics exist"
#endif

// The head counts units from the heap's start; where atomics have 32 bits, its upper half stays 0.
typedef struct kma_bump {
    kma_heap_header header;
    ulong pad_before[4]; // the head has 128 bytes of its own: all write it
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

// `state` holds the block's own ref, XORed: a pointer into the middle of a block finds no such word by accident.
typedef struct kma_bump_block {
    ulong bytes;
    kma_atomic_u32 state; // KMA_BUMP_LIVE ^ ref, then KMA_BUMP_FREED ^ ref
    uint pad;
} kma_bump_block;

#define KMA_BUMP_LIVE 0x4c495645u
#define KMA_BUMP_FREED 0x46524545u

#endif
