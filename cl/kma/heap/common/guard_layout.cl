// What KMA_DEBUG 2 and 3 put around every block of the user, in heaps of any kind. Types and sizes
// only, shared with the host library like header.cl.
//
//   raw                ref - 3           ref - 1    ref            ref + bytes
//   | for alignment    | kma_guard_block | red zone | the user's   | red zone          |
//   | (multiple of 16) | 32 B            | 16 B     | `bytes`      | to the unit, +16 B|
//
// The heap itself allocates one block for all of that, from `raw` on. A freed block is filled with
// KMA_GUARD_FREED from its first red zone to the end of its last.
#ifndef KMA_HEAP_COMMON_GUARD_LAYOUT_CL
#define KMA_HEAP_COMMON_GUARD_LAYOUT_CL

#include "kma/heap/common/header.cl"

#define KMA_GUARD_FRONT 3u // units before a block
#define KMA_GUARD_BACK  1u // units after a block's last

// Fill words of four equal bytes: memory that was never written, red zones, freed memory.
#define KMA_GUARD_FRESH 0xcdcdcdcdu
#define KMA_GUARD_ZONE  0xfdfdfdfdu
#define KMA_GUARD_FREED 0xddddddddu

// States of a block, stored XORed with its ref: a pointer into the middle of a block does not find
// such a word by accident.
#define KMA_BLOCK_LIVE  0x4c495645u
#define KMA_BLOCK_HELD  0x48454c44u // freed, in the quarantine
#define KMA_BLOCK_FREED 0x46524545u

typedef struct kma_guard_block {
    ulong bytes;          // requested
    kma_atomic_u32 state; // KMA_BLOCK_… ^ ref
    uint raw;             // first unit of the heap's own block
    ulong work_item;      // linear global id of the owner
    // with KMA_DEBUG 3: file number from 1 on in the top byte, line below; else 0
    uint site;
    uint sum;             // kma_guard_sum: detects a size that was overwritten
} kma_guard_block;

static inline uint kma_guard_sum(ulong bytes, uint raw, ulong work_item, uint ref)
{
    const ulong spread = 0x9e3779b97f4a7c15ul;
    ulong sum = bytes * spread + raw;
    sum = (sum ^ (sum >> 32)) * spread + work_item;
    sum = (sum ^ (sum >> 32)) * spread + ref;
    return (uint)(sum >> 32);
}

// Returns the units of the heap's own block for a block of `bytes` at a multiple of `align_units`.
static inline ulong kma_guard_units(ulong align_units, ulong bytes)
{
    return KMA_GUARD_FRONT + align_units - 1 + kma_whole_units(bytes) + KMA_GUARD_BACK;
}

// A source file in which blocks were taken. The lane that sets `hash` (0: unused) writes the name.
#define KMA_GUARD_FILES     16u
#define KMA_GUARD_NAME      60u // bytes, the last is 0; a longer name keeps its end
#define KMA_GUARD_LINE_BITS 24u
typedef struct kma_guard_file {
    kma_atomic_u32 hash;
    uchar name[KMA_GUARD_NAME];
} kma_guard_file;

// Freed blocks on their way back to the heap, in a ring (quarantine.cl). The tests in tests/host
// define a smaller one.
#ifndef KMA_QUARANTINE
#define KMA_QUARANTINE 1024u
#endif
typedef struct kma_quarantine {
    kma_atomic_u32 next; // blocks put in; modulo KMA_QUARANTINE the next entry
    uint pad[31];
    kma_atomic_u32 refs[KMA_QUARANTINE]; // 0: an empty entry
} kma_quarantine;

// Metadata of guarded blocks; the heap's header says where they are.
typedef struct kma_guard {
    kma_guard_file files[KMA_GUARD_FILES];
    kma_quarantine quarantine;
} kma_guard;

// Returns the units of a kma_guard in a heap of that KMA_DEBUG; 0 if it has none.
static inline uint kma_guard_room(uint debug)
{
    return debug >= 2 ? (uint)kma_whole_units(sizeof(kma_guard)) : 0;
}

#endif
