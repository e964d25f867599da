// Guarded blocks (KMA_DEBUG 2 and 3), for heaps of any kind: red zones around a block, poison in a
// freed one, and who took it. guard_layout.cl has the picture.
//
// A heap takes kma_guard_units for a request and opens the block that it got; at a free it closes
// the block, puts it into the quarantine (quarantine.cl), and frees what leaves that. `heap` is
// always the heap's header.
#ifndef KMA_HEAP_COMMON_GUARD_CL
#define KMA_HEAP_COMMON_GUARD_CL

#include "kma/platform/memory.cl"
#include "kma/heap/common/error_log.cl"
#include "kma/heap/common/guard_layout.cl"
#include "kma/heap/common/quarantine.cl"
#include "kma/heap/common/ref.cl"

static inline global kma_guard *kma_guard_of(global kma_heap_header *heap)
{
    return (global kma_guard *)kma_deref_in(heap, heap->guard);
}

static inline global kma_guard_block *kma_guard_block_of(global kma_heap_header *heap, kma_ref ref)
{
    return (global kma_guard_block *)kma_deref_in(heap, ref - KMA_GUARD_FRONT);
}

// `keep_names`: of source files, which an error log that stays refers to.
static inline void kma_guard_init(global kma_guard *guard, bool keep_names, size_t me,
                                  size_t work_items)
{
    for (size_t i = me; i < KMA_GUARD_FILES && !keep_names; i += work_items)
        kma_store_u32(&guard->files[i].hash, 0, KMA_RELAXED);
    kma_quarantine_init(&guard->quarantine, me, work_items);
}

// Bytes that a heap must have for `bytes` at a multiple of `align`; at the end of numbers the
// largest.
static inline ulong kma_guarded_bytes(ulong align, ulong bytes)
{
    const ulong units = kma_guard_units(align <= KMA_UNIT ? 1 : align / KMA_UNIT, bytes);
    return min(units, ~0ul / KMA_UNIT) * KMA_UNIT;
}

static inline KMA_OUTLINE void kma_guard_fill(global kma_heap_header *heap, kma_ref first,
                                              ulong units, uint word)
{
    global uint *words = (global uint *)kma_deref_in(heap, first);
    for (ulong i = 0; i < units * (KMA_UNIT / 4); i++)
        words[i] = word;
}

static inline KMA_OUTLINE bool kma_guard_has_only(global kma_heap_header *heap, kma_ref first,
                                                  ulong units, uint word)
{
    const global uint *words = (const global uint *)kma_deref_in(heap, first);
    uint other = 0;
    for (ulong i = 0; i < units * (KMA_UNIT / 4); i++)
        other |= words[i] ^ word;
    return other == 0;
}

// The red zone behind a block begins at its very next byte.
static inline void kma_guard_close_behind(global kma_heap_header *heap, kma_ref ref, ulong bytes)
{
    global uchar *block = (global uchar *)kma_deref_in(heap, ref);
    for (ulong i = bytes; i < (kma_whole_units(bytes) + KMA_GUARD_BACK) * KMA_UNIT; i++)
        block[i] = (uchar)KMA_GUARD_ZONE;
}

static inline bool kma_guard_zones_are_whole(global kma_heap_header *heap, kma_ref ref, ulong bytes)
{
    const global uchar *block = (const global uchar *)kma_deref_in(heap, ref);
    bool whole = kma_guard_has_only(heap, ref - 1, 1, KMA_GUARD_ZONE);
    for (ulong i = bytes; i < (kma_whole_units(bytes) + KMA_GUARD_BACK) * KMA_UNIT; i++)
        whole = whole && block[i] == (uchar)KMA_GUARD_ZONE;
    return whole;
}

static inline bool kma_guard_sum_is_right(const global kma_guard_block *block, kma_ref ref)
{
    return block->sum == kma_guard_sum(block->bytes, block->raw, block->work_item, ref);
}

// Begins the life of a block of `bytes`, in kma_guard_units from `raw` on, which are the caller's;
// returns its ref. All of them are written, so that no guard of an earlier block can be found in
// this one.
static inline kma_ref kma_guard_open(global kma_heap_header *heap, kma_ref raw, uint align_units,
                                     ulong bytes)
{
    const kma_ref ref = (raw + KMA_GUARD_FRONT + align_units - 1) & ~(align_units - 1);
    kma_guard_fill(heap, raw, kma_guard_units(align_units, bytes), KMA_GUARD_FRESH);
    kma_guard_fill(heap, ref - 1, 1, KMA_GUARD_ZONE);
    kma_guard_close_behind(heap, ref, bytes);
    global kma_guard_block *block = kma_guard_block_of(heap, ref);
    block->bytes = bytes;
    block->raw = raw;
    block->work_item = kma_linear_global_id();
    block->site = 0;
    block->sum = kma_guard_sum(bytes, raw, block->work_item, ref);
    kma_store_u32(&block->state, KMA_BLOCK_LIVE ^ ref, KMA_RELAXED);
    return ref;
}

// Gives a living block another size, of no more units. What it does not need any more is as if it
// was never written: a heap that walks from block to block on the host passes over it.
static inline void kma_guard_resize(global kma_heap_header *heap, kma_ref ref, ulong bytes)
{
    global kma_guard_block *block = kma_guard_block_of(heap, ref);
    const ulong before = kma_whole_units(block->bytes);
    const ulong units = kma_whole_units(bytes);
    block->bytes = bytes;
    block->sum = kma_guard_sum(bytes, block->raw, block->work_item, ref);
    kma_guard_close_behind(heap, ref, bytes);
    if (units < before)
        kma_guard_fill(heap, ref + (kma_ref)units + KMA_GUARD_BACK, before - units,
                       KMA_GUARD_FRESH);
}

// The ref of `ptr` if a guarded block can be there: aligned, and all in front of it between the
// heap's begin and `end`.
static inline kma_ref kma_guard_ref(global kma_heap_header *heap, global void *ptr, uint end)
{
    const size_t offset = (size_t)ptr - (size_t)heap; // of a pointer below the heap: huge
    const size_t unit = offset / KMA_UNIT;
    const bool can_be =
        offset % KMA_UNIT == 0 && unit >= (size_t)heap->begin + KMA_GUARD_FRONT && unit < end;
    return can_be ? (kma_ref)unit : KMA_NULL;
}

// The first unit of the heap's own block, if a block at `ref` (or KMA_NULL) looks alive; else
// KMA_NULL. The heap knows whether it gave that unit to anybody.
static inline kma_ref kma_guard_raw(global kma_heap_header *heap, kma_ref ref)
{
    if (ref == KMA_NULL ||
        kma_load_u32(&kma_guard_block_of(heap, ref)->state, KMA_RELAXED) != (KMA_BLOCK_LIVE ^ ref))
        return KMA_NULL;
    return kma_guard_block_of(heap, ref)->raw;
}

// Ends the life of the block at `ref`, or leaves a record: exactly one of several that free the
// same block does. `is_mine`: whether the heap gave kma_guard_raw to somebody. Afterwards the block
// is `state`, HELD or FREED.
static inline bool kma_guard_close(global kma_heap_header *heap, kma_ref ref, bool is_mine,
                                   uint state)
{
    global kma_guard_block *block = kma_guard_block_of(heap, ref);
    // its size would lead anywhere: it stays as it is
    if (is_mine && !kma_guard_sum_is_right(block, ref)) {
        kma_report(heap, KMA_ERROR_OVERRUN, ref, 0);
        return false;
    }
    const uint before =
        is_mine ? kma_cas_u32(&block->state, KMA_BLOCK_LIVE ^ ref, state ^ ref, KMA_RELAXED)
                : kma_load_u32(&block->state, KMA_RELAXED);
    if (!is_mine || before != (KMA_BLOCK_LIVE ^ ref)) {
        const bool was_freed =
            before == (KMA_BLOCK_HELD ^ ref) || before == (KMA_BLOCK_FREED ^ ref);
        kma_report(heap, was_freed ? KMA_ERROR_DOUBLE_FREE : KMA_ERROR_INVALID_FREE, ref,
                   was_freed ? block->bytes : 0);
        return false;
    }
    if (!kma_guard_zones_are_whole(heap, ref, block->bytes))
        kma_report_of(heap, KMA_ERROR_OVERRUN, ref, block->bytes, block->work_item, block->site);
    kma_guard_fill(heap, ref - 1, kma_whole_units(block->bytes) + 1 + KMA_GUARD_BACK,
                   KMA_GUARD_FREED);
    return true;
}

// Looks over a block that has left the quarantine; returns the first unit of the heap's own block,
// which the heap then frees, or KMA_NULL if it cannot be known any more. A `ref` outside the blocks
// leaves a record and is not followed.
static inline kma_ref kma_guard_leave(global kma_heap_header *heap, kma_ref ref)
{
    if (ref < heap->begin + KMA_GUARD_FRONT || ref >= heap->limit) {
        kma_report(heap, KMA_ERROR_DAMAGED, KMA_NULL, 0);
        return KMA_NULL;
    }
    global kma_guard_block *block = kma_guard_block_of(heap, ref);
    if (!kma_guard_sum_is_right(block, ref)) {
        kma_report(heap, KMA_ERROR_WRITE_AFTER_FREE, ref, 0);
        return KMA_NULL;
    }
    if (!kma_guard_has_only(heap, ref - 1, kma_whole_units(block->bytes) + 1 + KMA_GUARD_BACK,
                            KMA_GUARD_FREED))
        kma_report_of(heap, KMA_ERROR_WRITE_AFTER_FREE, ref, block->bytes, block->work_item,
                      block->site);
    kma_store_u32(&block->state, KMA_BLOCK_FREED ^ ref, KMA_RELAXED);
    return block->raw;
}

#if KMA_DEBUG >= 3
#include "kma/heap/common/guard_site.cl"
#endif

#endif
