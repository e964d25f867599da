// Guarded blocks (KMA_DEBUG 2 and 3), for heaps of any kind: red zones around a block, poison in a
// freed one, and the work-item that took it. guard_layout.cl has the drawing.
//
// 1. malloc takes kma_guard_units from the heap for a request; kma_guard_open prepares them.
// 2. free ends the block (kma_guard_close) and puts it into the quarantine (quarantine.cl).
// 3. free then checks the block that leaves the quarantine in exchange (kma_guard_leave), and
//    returns that one to the heap.
//
// `heap` is always the heap's header.
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

// Initialises one work-item's share of the guard's metadata. `keep_names` keeps the source files'
// names, for an error log that stays and refers to them.
static inline void kma_guard_init(global kma_guard *guard, bool keep_names, size_t me,
                                  size_t work_items)
{
    for (size_t i = me; i < KMA_GUARD_FILES && !keep_names; i += work_items)
        kma_store_u32(&guard->files[i].hash, 0, KMA_RELAXED);
    kma_quarantine_init(&guard->quarantine, me, work_items);
}

// Returns the bytes that the heap itself allocates for `bytes` at a multiple of `align`; saturates.
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

// Writes the red zone after a block, from the byte after the block's last.
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

// Begins the life of a block of `bytes` in the caller's kma_guard_units from `raw` on; returns its
// ref. Writes all of these units: no guard of an earlier block can be found in this one.
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

// Resizes a living block to at most its present units. Units that it no longer needs look as if
// never written: a host walk from block to block skips them.
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

// Returns the ref of `ptr` if a guarded block can be there: aligned, below `end`, and with space
// for its guard after the heap's begin. Else KMA_NULL.
static inline kma_ref kma_guard_ref(global kma_heap_header *heap, global void *ptr, uint end)
{
    const size_t offset = (size_t)ptr - (size_t)heap; // huge for a pointer below the heap
    const size_t unit = offset / KMA_UNIT;
    const bool can_be =
        offset % KMA_UNIT == 0 && unit >= (size_t)heap->begin + KMA_GUARD_FRONT && unit < end;
    return can_be ? (kma_ref)unit : KMA_NULL;
}

// Returns the first unit of the heap's own block if the block at `ref` looks alive; else KMA_NULL,
// also for KMA_NULL. Only the heap knows whether it handed out that unit.
static inline kma_ref kma_guard_raw(global kma_heap_header *heap, kma_ref ref)
{
    if (ref == KMA_NULL ||
        kma_load_u32(&kma_guard_block_of(heap, ref)->state, KMA_RELAXED) != (KMA_BLOCK_LIVE ^ ref))
        return KMA_NULL;
    return kma_guard_block_of(heap, ref)->raw;
}

// Ends the life of the block at `ref` and sets its state, HELD or FREED; else logs an error and
// returns false. Of several frees of one block exactly one succeeds. `is_mine`: the heap did hand
// out kma_guard_raw of the block. Damaged red zones are logged too.
static inline bool kma_guard_close(global kma_heap_header *heap, kma_ref ref, bool is_mine,
                                   uint state)
{
    global kma_guard_block *block = kma_guard_block_of(heap, ref);
    // the size cannot be trusted: the block stays as it is
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

// Checks a block that has left the quarantine and logs a write after its free. Returns the first
// unit of the heap's own block, for the heap to free; KMA_NULL if the guard is damaged. A `ref`
// outside the heap's blocks is logged and not followed.
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
