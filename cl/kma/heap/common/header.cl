// The header that every heap begins with, and the error log in it. Types, constants and arithmetic
// only: the host library includes this same file, and device and host cannot disagree.
//
// The including side provides kma_atomic_u32 (platform/memory.cl on the device), uint and ulong.
#ifndef KMA_HEAP_COMMON_HEADER_CL
#define KMA_HEAP_COMMON_HEADER_CL

#define KMA_HEAP_MAGIC 0x70616d6bu // "kmap" in memory
// incremented when the meaning of any byte of a heap's metadata changes
#define KMA_HEAP_LAYOUT 8u

// With KMA_DEBUG N a heap's type is named kma_KIND_debugN. The host reads the kernel's KMA_DEBUG
// from that name of its parameter.
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

// The name kma_KINDname. heap/common has files that are included once for each kind, with KMA_KIND
// defined.
#define KMA_NAME_PASTED(kind, name) kma_##kind##name
#define KMA_NAME_OF(kind, name) KMA_NAME_PASTED(kind, name)
#define KMA_OF_KIND(name) KMA_NAME_OF(KMA_KIND, name)

// Refs, and sizes in metadata, count units of 16 bytes.
#define KMA_UNIT 16u

static inline ulong kma_whole_units(ulong bytes)
{
    return bytes / KMA_UNIT + (bytes % KMA_UNIT != 0 ? 1 : 0);
}

// Errors that a kernel can cause. The log has a count for each code, and the first KMA_ERROR_KEPT
// records of each code in detail. Each record has an index of its own; none is overwritten.
#define KMA_ERROR_OUT_OF_MEMORY 0u // no free memory for `size` bytes
#define KMA_ERROR_TOO_LARGE     1u // `size` exceeds what this heap could ever serve
// the alignment in `size` is no power of two, or more than the heap supports
#define KMA_ERROR_BAD_ALIGNMENT 2u
#define KMA_ERROR_INVALID_FREE  3u // `ref` is no block start of this heap
#define KMA_ERROR_DOUBLE_FREE   4u // the block at `ref` is free already
// the heap is of another kind, KMA_DEBUG or width of atomics, or has no collector
#define KMA_ERROR_BAD_HEAP      5u
// the heap's metadata are inconsistent; `size` bytes were requested
#define KMA_ERROR_DAMAGED       6u
// With KMA_DEBUG 2 and 3: the block at `ref`, taken by `work_item`, was written beyond its `size`
// bytes. With `size` 0 the guard before the block is damaged, which `work_item` detected.
#define KMA_ERROR_OVERRUN          7u
#define KMA_ERROR_WRITE_AFTER_FREE 8u // the block at `ref` was written after its free
#define KMA_ERROR_CODES         9u
#define KMA_ERROR_KEPT          8u

typedef struct kma_error_record {
    ulong size;      // bytes requested, or as the code says
    ulong work_item; // linear global id
    uint ref;        // the block, 0 if none
    uint written;    // 1 once the record is complete
    // where the block was taken, as in kma_guard_block; 0 if the code does not record it
    uint site;
    uint pad;
} kma_error_record;

typedef struct kma_error_log {
    kma_atomic_u32 count[KMA_ERROR_CODES];
    uint pad;
    // [code * KMA_ERROR_KEPT + n]: record n of the code
    kma_error_record first[KMA_ERROR_CODES * KMA_ERROR_KEPT];
} kma_error_log;

typedef struct kma_heap_header {
    uint magic;  // KMA_HEAP_MAGIC
    uint layout; // KMA_HEAP_LAYOUT
    uint kind;   // KMA_KIND_…
    // KMA_DEBUG of the program that initialised the heap; layouts of blocks depend on it
    uint debug;
    ulong bytes; // of the whole buffer
    uint begin;  // first unit for blocks
    uint limit;  // first unit after the blocks
    uint atomic64; // KMA_HAS_ATOMIC64 of the program that initialised the heap
    uint guard; // unit where the kma_guard begins, 0 below KMA_DEBUG 2
    // the most that `bytes` can become by growth; equals `bytes` if the heap does not grow
    ulong max_bytes;
    uint collector; // ref of the kma_collector (collect/layout.cl); 0 if there is none
    uint pad[19];   // keeps what every malloc reads off the cache line of the log
    kma_error_log errors;
} kma_heap_header;

#endif
