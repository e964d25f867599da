// What KMA_DEBUG 2 and 3 put around every block that a user gets, in heaps of any kind. Types and
// sizes only, shared with the host library like header.cl.
//
//   raw                ref - 3           ref - 1    ref            ref + bytes
//   | for alignment    | kma_guard_block | red zone | the user's   | red zone          |
//   | (multiple of 16) | 32 B            | 16 B     | `bytes`      | to the unit, +16 B|
//
// The heap itself sees one block of all that, from `raw` on. A freed block has KMA_GUARD_FREED from
// its first red zone to the end of its last.
#ifndef KMA_HEAP_COMMON_GUARD_LAYOUT_CL
#define KMA_HEAP_COMMON_GUARD_LAYOUT_CL

#include "kma/heap/common/header.cl"

#define KMA_GUARD_FRONT 3u // units in front of a block
#define KMA_GUARD_BACK  1u // units behind its last

// Words of four equal bytes each: what was never written, what must not be written, what was freed.
#define KMA_GUARD_FRESH 0xcdcdcdcdu
#define KMA_GUARD_ZONE  0xfdfdfdfdu
#define KMA_GUARD_FREED 0xddddddddu

// Of a block's state, XORed with its ref: a pointer into the middle of a block finds no such word
// by accident.
#define KMA_BLOCK_LIVE  0x4c495645u
#define KMA_BLOCK_HELD  0x48454c44u // freed, in the quarantine
#define KMA_BLOCK_FREED 0x46524545u

typedef struct kma_guard_block {
    ulong bytes;          // asked for
    kma_atomic_u32 state; // KMA_BLOCK_… ^ ref
    uint raw;             // first unit of the heap's own block
    ulong work_item;      // that took it, as a linear global id
    // where, with KMA_DEBUG 3: file number from 1 on in the top byte, line below; else 0
    uint site;
    uint sum;             // kma_guard_sum, so that nobody follows a size that was written over
} kma_guard_block;

static inline uint kma_guard_sum(ulong bytes, uint raw, ulong work_item, uint ref)
{
    const ulong spread = 0x9e3779b97f4a7c15ul;
    ulong sum = bytes * spread + raw;
    sum = (sum ^ (sum >> 32)) * spread + work_item;
    sum = (sum ^ (sum >> 32)) * spread + ref;
    return (uint)(sum >> 32);
}

// Units of the heap's own block for a block of `bytes` at a multiple of `align_units`.
static inline ulong kma_guard_units(ulong align_units, ulong bytes)
{
    return KMA_GUARD_FRONT + align_units - 1 + kma_whole_units(bytes) + KMA_GUARD_BACK;
}

// A source file that blocks were taken in. Who makes the hash (0: nobody yet) writes the name.
#define KMA_GUARD_FILES     16u
#define KMA_GUARD_NAME      60u // bytes of a name, of a longer one its end; the last is 0
#define KMA_GUARD_LINE_BITS 24u
typedef struct kma_guard_file {
    kma_atomic_u32 hash;
    uchar name[KMA_GUARD_NAME];
} kma_guard_file;

// Freed blocks on their way back, in a ring (quarantine.cl). (The tests of tests/host take a
// smaller one.)
#ifndef KMA_QUARANTINE
#define KMA_QUARANTINE 1024u
#endif
typedef struct kma_quarantine {
    kma_atomic_u32 next; // counts the blocks put in; its rest by KMA_QUARANTINE is a place
    uint pad[31];
    kma_atomic_u32 refs[KMA_QUARANTINE]; // 0: an empty place
} kma_quarantine;

// The metadata of all this, where the heap's header says.
typedef struct kma_guard {
    kma_guard_file files[KMA_GUARD_FILES];
    kma_quarantine quarantine;
} kma_guard;

// Units of them in a heap of that KMA_DEBUG.
static inline uint kma_guard_room(uint debug)
{
    return debug >= 2 ? (uint)kma_whole_units(sizeof(kma_guard)) : 0;
}

#endif
