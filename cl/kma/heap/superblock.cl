// The superblock heap: malloc and free of blocks up to the size of a superblock. After Spliet's KMA
// (thesis 4.2.1 and 5.1), with its proposals (7.2): finer sizes, reuse of half-empty superblocks,
// and refs of 32 bits.
//
// A superblock holds blocks of one size class (size_class.cl), side by side.
// 1. A class offers the blocks of one superblock at a time.
// 2. malloc draws a ticket from the offer, and claims a block by setting its bit.
// 3. free clears the bit and adds to the superblock's credit.
// 4. A superblock can serve any class again when all its blocks are free.
//
//   superblock/layout.cl   the layout in memory
//   superblock/offer.cl    tickets: one atomic for all lanes that want the same class
//   superblock/slots.cl    bits: one atomic for each block
//   superblock/renew.cl    replacement of a spent offer
//   superblock/credit.cl   freed blocks, and the states of a superblock
//   superblock/take.cl     allocation for the lanes of a group; fallback to larger classes
//
// Limits: requests above one superblock give NULL and a record; alignments are at most 4,096.
#ifndef KMA_HEAP_SUPERBLOCK_CL
#define KMA_HEAP_SUPERBLOCK_CL

#undef kma_superblock // defined by kma.cl if that came first
#include "kma/heap/common/blocks.cl"
#include "kma/heap/common/error_log.cl"
#include "kma/heap/common/guard.cl"
#include "kma/heap/common/ref.cl"
#include "kma/heap/superblock/take.cl"

// Initialises a heap in a buffer of `bytes` with superblocks of 2^shift units; its plan must have
// at least one. It can grow to `max_bytes`; at most `bytes`: it does not grow. Called by all
// work-items of one launch that no other launch overlaps. Writes the metadata only, also those of
// superblocks that growth adds. `keep_log` keeps the error log.
static inline void kma_superblock_init(global kma_superblock *heap, ulong bytes, ulong max_bytes,
                                       uint shift, bool keep_log, size_t me, size_t work_items)
{
    const kma_superblock_plan plan =
        kma_superblock_plan_growing(bytes, max_bytes, shift, KMA_DEBUG, KMA_HAS_ATOMIC64);
    if (!keep_log)
        kma_error_log_init(&heap->header.errors, me, work_items);
    if (me == 0) {
        heap->plan = plan;
        kma_store_u32(&heap->moves, 0, KMA_RELAXED);
        kma_heap_header_init(&heap->header, KMA_KIND_SUPERBLOCK, bytes, max(bytes, max_bytes),
                             plan.begin, plan.limit, plan.guard);
    }
    global uchar *start = (global uchar *)heap;
    global kma_superblock_state *states =
        (global kma_superblock_state *)(start + (size_t)plan.states * KMA_UNIT);
    global kma_atomic_u32 *sets = (global kma_atomic_u32 *)(start + (size_t)plan.sets * KMA_UNIT);
    global kma_atomic_u32 *bitmaps =
        (global kma_atomic_u32 *)(start + (size_t)plan.bitmaps * KMA_UNIT);
    for (size_t c = me; c < plan.size_classes; c += work_items) {
        global kma_superblock_class *cls = &heap->classes[c];
        cls->slots = (1u << shift) / kma_class_units((uint)c);
        kma_store_u32(&cls->helpers, 0, KMA_RELAXED);
        // kma_superblock_offer_pack reads heap->plan, which another work-item may be writing.
        kma_superblock_offer_store(&cls->offer, kma_superblock_offer_none(shift, cls->slots),
                                   KMA_RELAXED);
        kma_bitmap_init(&cls->partial, sets + c * plan.set_words, plan.set_words, 0, 1);
    }
    for (size_t sb = me; sb < plan.room; sb += work_items) {
        kma_store_u32(&states[sb].credit, KMA_SUPERBLOCK_KEPT, KMA_RELAXED);
        kma_store_u32(&states[sb].content, KMA_SUPERBLOCK_UNUSED, KMA_RELAXED);
        kma_store_u32(&states[sb].offered, 0, KMA_RELAXED);
        kma_store_u32(&states[sb].found, 0, KMA_RELAXED);
    }
    for (size_t word = me; word < (size_t)plan.room * plan.bitmap_words; word += work_items)
        kma_store_u32(&bitmaps[word], 0, KMA_RELAXED);
    kma_queue_init((global kma_queue *)(start + (size_t)plan.queue * KMA_UNIT), plan.room,
                   plan.superblocks, 0, me, work_items);
#if KMA_DEBUG >= 2
    kma_guard_init((global kma_guard *)(start + (size_t)plan.guard * KMA_UNIT), keep_log, me,
                   work_items);
#endif
}

// Initialises a heap without superblocks in a buffer of at least sizeof(kma_superblock): every
// request is too large for it, and every block foreign to it. Called as kma_superblock_init.
static inline void kma_superblock_init_empty(global kma_superblock *heap, ulong bytes, size_t me,
                                             size_t work_items)
{
    kma_error_log_init(&heap->header.errors, me, work_items);
    if (me != 0)
        return;
    const uint begin = (uint)kma_whole_units(sizeof(kma_superblock));
    ulong end;
    heap->plan = kma_superblock_plan_of(0, KMA_SUPERBLOCK_MIN_SHIFT, 0, &end);
    heap->plan.shift = KMA_SUPERBLOCK_EMPTY_SHIFT;
    heap->plan.size_classes = 0;
    heap->plan.begin = begin;
    heap->plan.limit = begin;
    kma_heap_header_init(&heap->header, KMA_KIND_SUPERBLOCK, bytes, bytes, begin, begin, 0);
}

// Grows the heap to `bytes`, the size of this buffer, into which its contents were copied. The
// superblocks added are free. No effect if `bytes` is less than before or more than max_bytes.
// Called by one work-item of a launch that no other launch overlaps. Offers marked dry stay marked:
// each malloc of their classes searches for a superblock itself.
static inline void kma_superblock_grow(global kma_superblock *heap, ulong bytes)
{
    if (heap->plan.superblocks == 0 || bytes < heap->header.bytes || bytes > heap->header.max_bytes)
        return;
    const kma_superblock_plan plan = kma_superblock_plan_within(heap->plan, bytes);
    kma_queue_extend(kma_superblock_queue(heap), heap->plan.superblocks, plan.superblocks);
    heap->plan = plan;
    heap->header.bytes = bytes;
    heap->header.limit = plan.limit;
}

// Returns the units of which a block's size must be a multiple. With KMA_DEBUG 2 and 3 that is 1: a
// guarded block has space to align within.
static inline uint kma_superblock_align(size_t align)
{
    return KMA_DEBUG >= 2 || align <= KMA_UNIT ? 1 : (uint)align / KMA_UNIT;
}

// Returns the class for `bytes` at a multiple of `align`; KMA_CLASSES for no bytes and, with a
// record, for an impossible request.
static inline uint kma_superblock_class_of(global kma_superblock *heap, size_t align, size_t bytes)
{
    if (bytes == 0)
        return KMA_CLASSES;
    if (!kma_can_align(heap, align, KMA_SUPERBLOCK_ALIGN)) {
        kma_report(&heap->header, KMA_ERROR_BAD_ALIGNMENT, KMA_NULL, align);
        return KMA_CLASSES;
    }
    const ulong most = (ulong)KMA_UNIT << heap->plan.shift;
    ulong room = bytes;
#if KMA_DEBUG >= 2
    room = kma_guarded_bytes(align, bytes); // with space to align within
#endif
    if (room > most || kma_superblock_align(align) > most / KMA_UNIT) {
        kma_report(&heap->header, KMA_ERROR_TOO_LARGE, KMA_NULL, bytes);
        return KMA_CLASSES;
    }
    const uint units = (uint)kma_whole_units(room);
    return kma_class_of_aligned(units, kma_superblock_align(align));
}

// An address in the heap as its bitmaps see it. `error` is KMA_ERROR_CODES if a block may start
// there, else the error that a free of it would be.
typedef struct kma_superblock_location {
    uint superblock;
    uint size_class;
    uint slot;
    uint error;
} kma_superblock_location;

static inline kma_superblock_location kma_superblock_locate(global kma_superblock *heap,
                                                       global void *ptr)
{
    kma_superblock_location place;
    place.superblock = place.size_class = place.slot = 0;
    place.error = KMA_ERROR_INVALID_FREE;
    const size_t offset = (size_t)ptr - (size_t)heap; // huge for a pointer below the heap
    if (offset % KMA_UNIT != 0 || offset / KMA_UNIT < heap->plan.begin ||
        offset / KMA_UNIT >= heap->plan.limit)
        return place;
    const uint unit = (uint)(offset / KMA_UNIT) - heap->plan.begin;
    place.superblock = unit >> heap->plan.shift;
    const uint content = kma_superblock_content_of(heap, place.superblock);
    // never had a class, or damage
    if ((content & ~KMA_SUPERBLOCK_FREE) >= heap->plan.size_classes)
        return place;
    place.size_class = content & ~KMA_SUPERBLOCK_FREE;
    const uint units = kma_class_units(place.size_class);
    const uint within = unit & ((1u << heap->plan.shift) - 1);
    place.slot = within / units;
    if (place.slot * units == within && place.slot < heap->classes[place.size_class].slots)
        place.error = content & KMA_SUPERBLOCK_FREE ? KMA_ERROR_DOUBLE_FREE : KMA_ERROR_CODES;
    return place;
}

// Frees the heap's own block at `ptr`; logs an error if none starts there, or if it is free
// already. Any lane. Release: pairs with the acquire of the malloc that returns the memory next.
static inline void kma_superblock_release(global kma_superblock *heap, global void *ptr)
{
    kma_superblock_location place = kma_superblock_locate(heap, ptr);
    if (place.error == KMA_ERROR_CODES &&
        !kma_superblock_clear_bit(kma_superblock_bitmap(heap, place.superblock), place.slot))
        place.error = KMA_ERROR_DOUBLE_FREE;
    if (place.error != KMA_ERROR_CODES) {
        kma_report(&heap->header, place.error, kma_wrong_ref(&heap->header, ptr), 0);
        return;
    }
    // The bit is cleared before the credit is given: a lane that the credit leads here must find
    // the bit clear.
    const kma_lanes together =
        kma_lanes_alike(kma_lanes_active(), (ulong)kma_superblock_state_of(heap, place.superblock));
    if (kma_lane_in(together)) {
        kma_lanes_sync(together); // the leader gives credit for the bits of all
        if (kma_lane_leads(together))
            kma_superblock_give(heap, place.superblock, place.size_class,
                                kma_lanes_count(together));
    } else {
        kma_superblock_give(heap, place.superblock, place.size_class, 1);
    }
}

// Returns the bytes of the allocated block at `ptr`; 0 if there is none.
static inline size_t kma_superblock_block_bytes(global kma_superblock *heap, global void *ptr)
{
    const kma_superblock_location place = kma_superblock_locate(heap, ptr);
    if (place.error != KMA_ERROR_CODES ||
        !kma_superblock_is_set(kma_superblock_bitmap(heap, place.superblock), place.slot))
        return 0;
    return (size_t)kma_class_units(place.size_class) * KMA_UNIT;
}

#define KMA_KIND superblock
#define KMA_KIND_COLD KMA_COLD_IN_DEBUG
#if KMA_DEBUG >= 2
#include "kma/heap/common/guarded.cl" // kma_superblock_retire, _empty_quarantine, _living
#endif

// Allocates `bytes` at an offset that is a multiple of `align`; contents undefined. `align` is a
// power of two up to 4,096 that divides the heap's address; below 16 it counts as 16. NULL for 0
// bytes; NULL and a record for another `align`, if `bytes` exceeds a superblock, or if there is no
// memory. Any lane. Lanes that call together share one atomic on the offer of each class; each lane
// has one on its block's bit.
static inline KMA_COLD_IN_DEBUG global void *
kma_superblock_aligned_alloc(global kma_superblock *heap, size_t align, size_t bytes)
{
#if KMA_DEBUG
    if (!kma_heap_is(heap, KMA_KIND_SUPERBLOCK))
        return (global void *)0;
#endif
    const uint size_class = kma_superblock_class_of(heap, align, bytes);
    const kma_lanes together = kma_lanes_alike(kma_lanes_active(), (ulong)heap);
    kma_ref block = KMA_NULL;
    if (kma_lane_in(together))
        block = kma_superblock_take(heap, together, size_class);
    else if (size_class < KMA_CLASSES) // this lane's heap is not the leader's
        block = kma_superblock_take_alone(heap, size_class);
#if KMA_DEBUG >= 2
    for (uint tries = 3; block == KMA_NULL && size_class < KMA_CLASSES && tries != 0; tries--) {
        // other lanes may not have freed yet what they took out of the quarantine: try again
        kma_superblock_empty_quarantine(heap);
        block = kma_superblock_take_alone(heap, size_class);
    }
#endif
    if (block == KMA_NULL && size_class < KMA_CLASSES)
        block = kma_superblock_take_larger(heap, size_class, kma_superblock_align(align));
    if (block == KMA_NULL && size_class < KMA_CLASSES && kma_superblock_align(align) != 1)
        block = kma_superblock_take_aligned(heap, kma_class_of((uint)kma_whole_units(bytes)),
                                    kma_superblock_align(align));
#if KMA_DEBUG >= 2
    if (block != KMA_NULL && block != KMA_SUPERBLOCK_DAMAGED)
        block = kma_guard_open(&heap->header, block, align <= KMA_UNIT ? 1 : (uint)align / KMA_UNIT,
                               bytes);
#endif
    if (block != KMA_NULL && block != KMA_SUPERBLOCK_DAMAGED)
        return kma_deref_in(heap, block);
    if (size_class < KMA_CLASSES)
        kma_report(&heap->header, block == KMA_NULL ? KMA_ERROR_OUT_OF_MEMORY : KMA_ERROR_DAMAGED,
                   KMA_NULL, bytes);
    return (global void *)0;
}

#include "kma/heap/common/allocate.cl" // kma_superblock_malloc, _calloc, _ref_of, _deref
// Lanes that free together have one atomic each on their blocks' bits. Those with the leader's
// superblock share one atomic on its credit.
#include "kma/heap/common/free.cl" // kma_superblock_free, _usable_size

// Returns a new block for realloc: no block of this heap grows in place.
static inline global void *kma_superblock_replace(global kma_superblock *heap, global void *ptr,
                                                  size_t usable, size_t bytes)
{
    return kma_superblock_aligned_alloc(
        heap, kma_kept_align(heap, ptr, usable, KMA_SUPERBLOCK_ALIGN), bytes);
}

#include "kma/heap/common/realloc.cl" // kma_superblock_realloc, _realloc_sized
#undef KMA_KIND
#undef KMA_KIND_COLD

#if KMA_DEBUG >= 3
#define kma_superblock_malloc(heap, bytes) KMA_TAGGED(kma_superblock_malloc(heap, bytes))
#define kma_superblock_calloc(heap, count, size)                                                   \
    KMA_TAGGED(kma_superblock_calloc(heap, count, size))
#define kma_superblock_aligned_alloc(heap, align, bytes)                                           \
    KMA_TAGGED(kma_superblock_aligned_alloc(heap, align, bytes))
#define kma_superblock_realloc(heap, ptr, bytes)                                                   \
    KMA_TAGGED(kma_superblock_realloc(heap, ptr, bytes))
#define kma_superblock_realloc_sized(heap, ptr, old_bytes, bytes) \
    KMA_TAGGED(kma_superblock_realloc_sized(heap, ptr, old_bytes, bytes))
#endif

#endif
