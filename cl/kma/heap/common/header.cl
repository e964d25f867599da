// What every heap begins with, and the error log in it. Types, numbers and arithmetic only: the
// host library includes this very file, so that device and host cannot disagree.
//
// The including side has kma_atomic_u32 (platform/memory.cl on the device), uint and ulong.
#ifndef KMA_HEAP_COMMON_HEADER_CL
#define KMA_HEAP_COMMON_HEADER_CL

#define KMA_HEAP_MAGIC 0x70616d6bu // "kmap" in memory
// raised when the meaning of any byte of a heap's metadata changes
#define KMA_HEAP_LAYOUT 8u

// The type of a heap is called kma_KIND_debugN with KMA_DEBUG N: by that name of a kernel's
// parameter the host tells which flavour the kernel was built for.
#define KMA_FLAVOUR_PASTED(type, debug) type##_debug##debug
#define KMA_FLAVOUR_EXPANDED(type, debug) KMA_FLAVOUR_PASTED(type, debug)
#define KMA_FLAVOUR_OF(type) KMA_FLAVOUR_EXPANDED(type, KMA_DEBUG)

// Heap kinds, in the header's `kind`.
#define KMA_KIND_BUMP       1u
#define KMA_KIND_SUPERBLOCK 2u
#define KMA_KIND_SCATTER    3u
#define KMA_KIND_SLAB       4u
#define kma_bump_number       KMA_KIND_BUMP
#define kma_superblock_number KMA_KIND_SUPERBLOCK
#define kma_scatter_number    KMA_KIND_SCATTER
#define kma_slab_number       KMA_KIND_SLAB

// The name kma_KINDname. heap/common has texts that are included once for each kind, with KMA_KIND
// defined.
#define KMA_NAME_PASTED(kind, name) kma_##kind##name
#define KMA_NAME_OF(kind, name) KMA_NAME_PASTED(kind, name)
#define KMA_OF_KIND(name) KMA_NAME_OF(KMA_KIND, name)

// References, and sizes inside, count units of 16 bytes.
#define KMA_UNIT 16u

static inline ulong kma_whole_units(ulong bytes)
{
    return bytes / KMA_UNIT + (bytes % KMA_UNIT != 0 ? 1 : 0);
}

// Errors that a kernel can cause. The log keeps a count for each and the first KMA_ERROR_KEPT in
// detail: there is no index that two errors share, and nothing is ever overwritten.
#define KMA_ERROR_OUT_OF_MEMORY 0u // no room for `size` bytes
#define KMA_ERROR_TOO_LARGE     1u // `size` exceeds what this heap could ever serve
// the alignment in `size` is no power of two, or beyond what the heap gives
#define KMA_ERROR_BAD_ALIGNMENT 2u
#define KMA_ERROR_INVALID_FREE  3u // `ref` is no block start of this heap
#define KMA_ERROR_DOUBLE_FREE   4u // the block at `ref` is free already
// of another kind, KMA_DEBUG flavour or width of atomics, or without a collector
#define KMA_ERROR_BAD_HEAP      5u
// the heap's metadata contradict each other; `size` bytes were asked for
#define KMA_ERROR_DAMAGED       6u
// With KMA_DEBUG 2; `work_item` is the block's owner. With size 0 the guard in front of the block
// is gone, and the owner with it: then it is who found that. somebody wrote beyond the `size` bytes
// of the block at `ref`
#define KMA_ERROR_OVERRUN          7u
#define KMA_ERROR_WRITE_AFTER_FREE 8u // somebody wrote into the block at `ref` after it was freed
#define KMA_ERROR_CODES         9u
#define KMA_ERROR_KEPT          8u

typedef struct kma_error_record {
    ulong size;      // bytes asked for, or as the code says
    ulong work_item; // linear global id
    uint ref;        // the block, 0 if none
    uint written;    // 1 once the record is complete
    // where the block was taken, as in kma_guard_block; 0 if the code does not tell
    uint site;
    uint pad;
} kma_error_record;

typedef struct kma_error_log {
    kma_atomic_u32 count[KMA_ERROR_CODES];
    uint pad;
    // [code * KMA_ERROR_KEPT + n]: the n-th of that code
    kma_error_record first[KMA_ERROR_CODES * KMA_ERROR_KEPT];
} kma_error_log;

typedef struct kma_heap_header {
    uint magic;  // KMA_HEAP_MAGIC
    uint layout; // KMA_HEAP_LAYOUT
    uint kind;   // KMA_KIND_…
    // the KMA_DEBUG of the program that initialised the heap; layouts of blocks depend on it
    uint debug;
    ulong bytes; // of the whole buffer
    uint begin;  // first unit that blocks may take
    uint limit;  // first unit that they may not
    uint atomic64; // KMA_HAS_ATOMIC64 of the program that initialised the heap
    uint guard; // unit where the kma_guard begins, 0 below KMA_DEBUG 2
    // the most that `bytes` may become, by growth; `bytes` if the heap does not grow
    ulong max_bytes;
    uint collector; // ref of the kma_collector (collect/layout.cl); 0 if there is none
    uint pad[19];   // what every malloc reads is not in one line with what every error writes
    kma_error_log errors;
} kma_heap_header;

#endif
