// The bump heap: a head that only moves forward (Spliet, thesis 5.2, the "poor man's heap"). The fastest malloc there
// can be, and the yardstick of the others; memory comes back only when the host resets the whole heap.
//
// malloc: the lanes that arrive together add up what they want, the leader moves the head by the sum with one atomic
// add, and each takes its part. The bound is exact although the add cannot be taken back by a subtraction (another's
// add could lie between, and its memory would be given out twice). Instead:
//
//   The add that carries the head from <= limit to > limit is the crossing one. Until somebody lowers the head, every
//   other add starts beyond the limit and fails, so the crossing group alone decides: it keeps what fits of its own
//   part and puts the head behind that with a plain store. No one has taken anything there, so nothing is lost, and
//   no one else writes the head down, so there is one crossing group at a time.
//
// Invariants: begin <= head at rest <= limit; blocks do not overlap; [begin, head) is the union of all blocks served.
// Progress: no loop at all (one on devices without 64-bit atomics). A crossing group stopped for ever between its add
// and its store costs the units that its own request did not fit into.
//
// What this heap cannot do: reuse (free does nothing); know a block's size or state, unless KMA_DEBUG is set, which
// puts a unit in front of each block. Until then kma_bump_usable_size and kma_bump_realloc do not exist, and
// kma_bump_realloc_sized takes the old size from the caller.
#ifndef KMA_HEAP_BUMP_CL
#define KMA_HEAP_BUMP_CL

#include "kma/platform/bits.cl"
#include "kma/platform/lanes.cl"
#include "kma/platform/memory.cl"
#include "kma/heap/error_log.cl"
#include "kma/heap/ref.cl"

#ifndef KMA_DEBUG
#define KMA_DEBUG 0
#endif

#include "kma/heap/bump_layout.cl"

#define KMA_BUMP_PREFIX (KMA_DEBUG ? 1u : 0u) // units in front of a block
#define KMA_BUMP_UNCHECKED 4096u              // units that a group may add without a look at the head before

// Prepares a buffer of `bytes` (at least sizeof(kma_bump) + 16, at most 64 GiB - 32). Called by all work-items of one
// launch that nothing else overlaps. Touches the metadata only.
static inline void kma_bump_init(global kma_bump *heap, ulong bytes, size_t me, size_t work_items)
{
    kma_error_log_init(&heap->header.errors, me, work_items);
    if (me != 0)
        return;
    heap->header.magic = KMA_HEAP_MAGIC;
    heap->header.layout = KMA_HEAP_LAYOUT;
    heap->header.kind = KMA_KIND_BUMP;
    heap->header.debug = KMA_DEBUG;
    heap->header.bytes = bytes;
    const ulong begin = (sizeof(kma_bump) + KMA_UNIT - 1) / KMA_UNIT;
    heap->header.begin = (uint)begin;
    heap->header.limit = (uint)max(begin, min(bytes / KMA_UNIT, (ulong)UINT_MAX - 1));
#if KMA_HAS_ATOMIC64
    kma_store_u64(&heap->head, heap->header.begin, KMA_RELAXED);
#else
    kma_store_u32(&heap->head, heap->header.begin, KMA_RELAXED);
    heap->head_high = 0;
#endif
}


static inline ulong kma_bump_head(global kma_bump *heap)
{
#if KMA_HAS_ATOMIC64
    return kma_load_u64(&heap->head, KMA_RELAXED);
#else
    return kma_load_u32(&heap->head, KMA_RELAXED);
#endif
}

// Moves the head by `units` and returns where it was; if that is beyond the limit, the caller has nothing.
// Relaxed: memory never comes back while kernels run, so no earlier owner's accesses need ordering.
static inline ulong kma_bump_advance(global kma_bump *heap, uint units)
{
#if KMA_HAS_ATOMIC64
    return kma_fetch_add_u64(&heap->head, units, KMA_RELAXED);
#else
    // Saturates instead of wrapping, and leaves a head beyond the limit alone. A retry means another's advance.
    uint head = kma_load_u32(&heap->head, KMA_RELAXED);
    while (head <= heap->header.limit) {
        const uint before = kma_cas_u32(&heap->head, head, add_sat(head, units), KMA_RELAXED);
        if (before == head)
            break;
        head = before;
    }
    return head;
#endif
}

// For the crossing group only.
static inline void kma_bump_lower(global kma_bump *heap, uint head)
{
#if KMA_HAS_ATOMIC64
    kma_store_u64(&heap->head, head, KMA_RELAXED);
#else
    kma_store_u32(&heap->head, head, KMA_RELAXED);
#endif
}

// Frees all blocks at once; every ref and pointer is void. By one work-item of a launch that nothing else overlaps.
static inline void kma_bump_reset(global kma_bump *heap)
{
    kma_bump_lower(heap, heap->header.begin);
}

// `units` for each lane of the group (0: none wanted) with one advance; the first unit, or 0.
static inline uint kma_bump_take(global kma_bump *heap, kma_lanes group, uint units)
{
    const uint limit = heap->header.limit;
    const kma_scan scan = kma_lanes_scan(group, units);
    uint start = 0;
    if (kma_lane_leads(group) && scan.total != 0) {
        // A large sum that does not fit would, until it lowers the head again, turn away small ones that do.
        const bool hopeless = scan.total > KMA_BUMP_UNCHECKED && kma_bump_head(heap) + scan.total > limit;
        start = hopeless ? limit + 1 : (uint)min(kma_bump_advance(heap, scan.total), (ulong)limit + 1);
    }
    start = kma_lanes_first(group, start); // limit + 1: beyond, whatever the head was

    const ulong mine = (ulong)start + scan.before;
    const bool fits = units != 0 && mine + units <= limit;
    if (start <= limit && (ulong)start + scan.total > limit) { // the crossing group; all its lanes see the same
        const kma_lanes served = kma_lanes_ballot(group, fits);
        const uint end = served ? kma_lanes_shuffle(group, (uint)(mine + units), kma_highest_bit(served)) : start;
        if (kma_lane_leads(group))
            kma_bump_lower(heap, end);
    }
    return fits ? (uint)mine : 0;
}

// The same for one work-item alone, and only if it looks as if they fit.
static inline uint kma_bump_take_alone(global kma_bump *heap, uint units)
{
    const uint limit = heap->header.limit;
    const ulong head = kma_bump_head(heap);
    if (head + units > limit)
        return 0;
    const ulong start = kma_bump_advance(heap, units);
    if (start + units <= limit)
        return (uint)start;
    if (start <= limit)
        kma_bump_lower(heap, (uint)start);
    return 0;
}

// Units for a block of `bytes` at a multiple of `align` units, prefix included; 0 for no bytes and, with a report, for
// more than the heap could ever hold.
static inline uint kma_bump_units(global kma_bump *heap, ulong bytes, ulong align)
{
    if (bytes == 0)
        return 0;
    const ulong room = heap->header.limit - heap->header.begin;
    const ulong around = KMA_BUMP_PREFIX + align - 1;
    const ulong units = bytes / KMA_UNIT + (bytes % KMA_UNIT != 0 ? 1 : 0);
    if (units + around > room) {
        kma_report(&heap->header, KMA_ERROR_TOO_LARGE, KMA_NULL, bytes);
        return 0;
    }
    return (uint)(units + around);
}

#if KMA_DEBUG
// Whether the buffer is a bump heap of this flavour; says so in its log if not. (A buffer that is no heap at all may
// be too small for a log: then only the caller's NULL tells.)
static inline bool kma_bump_is_mine(global kma_bump *heap)
{
    const bool is_heap = heap && heap->header.magic == KMA_HEAP_MAGIC && heap->header.layout == KMA_HEAP_LAYOUT;
    const bool is_mine = is_heap && heap->header.kind == KMA_KIND_BUMP && heap->header.debug == KMA_DEBUG;
    if (is_heap && !is_mine)
        kma_report(&heap->header, KMA_ERROR_BAD_HEAP, KMA_NULL, heap->header.debug);
    return is_mine;
}

static inline global kma_bump_block *kma_bump_block_of(global kma_bump *heap, kma_ref ref)
{
    return (global kma_bump_block *)kma_deref_in(heap, ref - KMA_BUMP_PREFIX);
}

// Whether `ptr` can be the start of a block: in the heap, aligned, behind a prefix.
static inline bool kma_bump_may_be_block(global kma_bump *heap, global void *ptr)
{
    const size_t offset = (size_t)ptr - (size_t)heap; // of a pointer below the heap: huge
    return offset % KMA_UNIT == 0 && offset / KMA_UNIT >= heap->header.begin + KMA_BUMP_PREFIX &&
           offset / KMA_UNIT < heap->header.limit;
}

// The block that starts at `ptr`, if it is one and lives; else NULL.
static inline global kma_bump_block *kma_bump_live_block(global kma_bump *heap, global void *ptr)
{
    const kma_ref ref = kma_ref_in(heap, ptr);
    if (!kma_bump_may_be_block(heap, ptr) ||
        kma_load_u32(&kma_bump_block_of(heap, ref)->state, KMA_RELAXED) != (KMA_BUMP_LIVE ^ ref))
        return (global kma_bump_block *)0;
    return kma_bump_block_of(heap, ref);
}
#endif

// `bytes` of memory at an offset from the heap's start that is a multiple of `align`, contents undefined; NULL for 0
// bytes, or with a record if they do not fit or `align` is not a power of two up to 2^31. Alignments below 16 are 16;
// above CL_DEVICE_MEM_BASE_ADDR_ALIGN only the offset is aligned, since the buffer itself may not be. Costs up to
// align - 16 bytes. Any work-item, converged or not; one atomic for the lanes that come together, whatever their sizes.
static inline global void *kma_bump_aligned_alloc(global kma_bump *heap, size_t align, size_t bytes)
{
#if KMA_DEBUG
    if (!kma_bump_is_mine(heap))
        return (global void *)0;
#endif
    const bool aligns = kma_is_power_of_two(align) && align <= 0x80000000u;
    if (!aligns)
        kma_report(&heap->header, KMA_ERROR_BAD_ALIGNMENT, KMA_NULL, align);
    const uint align_units = !aligns || align <= KMA_UNIT ? 1 : (uint)(align / KMA_UNIT);
    const uint units = aligns ? kma_bump_units(heap, bytes, align_units) : 0;
    const kma_lanes together = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    uint first = 0;
    if (kma_lane_in(together))
        first = kma_bump_take(heap, together, units);
    if (units == 0)
        return (global void *)0;
    // Another heap than the leader's; or a neighbour's larger request took the room that this one would fit into.
    if (first == 0)
        first = kma_bump_take_alone(heap, units);
    if (first == 0) {
        kma_report(&heap->header, KMA_ERROR_OUT_OF_MEMORY, KMA_NULL, bytes);
        return (global void *)0;
    }
    const kma_ref ref = (first + KMA_BUMP_PREFIX + align_units - 1) & ~(align_units - 1);
#if KMA_DEBUG
    global kma_bump_block *block = kma_bump_block_of(heap, ref);
    block->bytes = bytes;
    kma_store_u32(&block->state, KMA_BUMP_LIVE ^ ref, KMA_RELAXED);
#endif
    return kma_deref_in(heap, ref);
}

// kma_bump_aligned_alloc to 16 bytes.
static inline global void *kma_bump_malloc(global kma_bump *heap, size_t bytes)
{
    return kma_bump_aligned_alloc(heap, KMA_UNIT, bytes);
}

// `count` objects of `size` bytes, all zero; NULL as malloc, also when count * size overflows.
static inline global void *kma_bump_calloc(global kma_bump *heap, size_t count, size_t size)
{
    const size_t bytes = kma_mul_sat(count, size); // the largest size if it overflows, which no heap can serve
    global void *ptr = kma_bump_malloc(heap, bytes);
    if (ptr)
        for (size_t i = 0; i * sizeof(ulong) < bytes; i++) // up to 7 bytes more, which are the block's own
            ((global ulong *)ptr)[i] = 0;
    return ptr;
}

// Ends a block's life; NULL is allowed. Its memory comes back at the next reset only. With KMA_DEBUG a pointer that is
// no block, or free already, goes into the error log and nothing else happens; without, it is not noticed.
static inline void kma_bump_free(global kma_bump *heap, global void *ptr)
{
#if KMA_DEBUG
    if (!ptr || !kma_bump_is_mine(heap))
        return;
    const kma_ref ref = kma_ref_in(heap, ptr);
    uint state = 0;
    if (kma_bump_may_be_block(heap, ptr)) // exactly one of several that free the same block wins
        state = kma_cas_u32(&kma_bump_block_of(heap, ref)->state, KMA_BUMP_LIVE ^ ref, KMA_BUMP_FREED ^ ref,
                            KMA_RELAXED);
    if (state == (KMA_BUMP_FREED ^ ref))
        kma_report(&heap->header, KMA_ERROR_DOUBLE_FREE, ref, kma_bump_block_of(heap, ref)->bytes);
    else if (state != (KMA_BUMP_LIVE ^ ref))
        kma_report(&heap->header, KMA_ERROR_INVALID_FREE, ref, 0);
#else
    (void)heap;
    (void)ptr;
#endif
}

// Gives a block of `old_bytes` the size `bytes`: in place if it shrinks or stays within its last 16 bytes, else the
// contents move to a new block. NULL leaves the old block as it is, except bytes = 0, which frees it. A NULL `ptr`
// makes it malloc. With KMA_DEBUG a pointer that is no living block gives NULL and a record.
static inline global void *kma_bump_realloc_sized(global kma_bump *heap, global void *ptr, size_t old_bytes,
                                                  size_t bytes)
{
#if KMA_DEBUG
    if (!kma_bump_is_mine(heap))
        return (global void *)0;
    global kma_bump_block *block = ptr ? kma_bump_live_block(heap, ptr) : (global kma_bump_block *)0;
    if (ptr && !block) {
        kma_report(&heap->header, KMA_ERROR_INVALID_FREE, kma_ref_in(heap, ptr), bytes);
        return (global void *)0;
    }
#endif
    const size_t old_end = (old_bytes + KMA_UNIT - 1) / KMA_UNIT * KMA_UNIT;
    if (ptr && bytes != 0 && bytes <= old_end) {
#if KMA_DEBUG
        block->bytes = bytes;
#endif
        return ptr;
    }
    global void *moved = kma_bump_malloc(heap, bytes);
    if (ptr && moved)
        for (size_t i = 0; i < old_end / sizeof(ulong); i++)
            ((global ulong *)moved)[i] = ((global ulong *)ptr)[i];
    if (moved || bytes == 0)
        kma_bump_free(heap, ptr);
    return moved;
}

#if KMA_DEBUG
// The bytes that a block returned by this heap may use; 0 for anything else.
static inline size_t kma_bump_usable_size(global kma_bump *heap, global void *ptr)
{
    if (!kma_bump_is_mine(heap))
        return 0;
    const global kma_bump_block *block = kma_bump_live_block(heap, ptr);
    return block ? (block->bytes + KMA_UNIT - 1) / KMA_UNIT * KMA_UNIT : 0;
}

// kma_bump_realloc_sized where the heap itself knows the old size.
static inline global void *kma_bump_realloc(global kma_bump *heap, global void *ptr, size_t bytes)
{
    if (!kma_bump_is_mine(heap))
        return (global void *)0;
    const global kma_bump_block *block = ptr ? kma_bump_live_block(heap, ptr) : (global kma_bump_block *)0;
    return kma_bump_realloc_sized(heap, ptr, block ? block->bytes : 0, bytes);
}
#endif

static inline kma_ref kma_bump_ref_of(global kma_bump *heap, global void *place)
{
    return kma_ref_in(heap, place);
}

static inline global void *kma_bump_deref(global kma_bump *heap, kma_ref ref)
{
    return kma_deref_in(heap, ref);
}

#endif
