// How a buffer becomes a slab heap, and a larger one. For kernels that nothing else overlaps.
#ifndef KMA_HEAP_SLAB_INIT_CL
#define KMA_HEAP_SLAB_INIT_CL

#include "kma/platform/bits.cl"
#include "kma/heap/error_log.cl"
#include "kma/heap/guard.cl"
#include "kma/heap/slab_lines.cl"

static inline void kma_sl_clear(global kma_atomic_u32 *words, size_t count, size_t me, size_t work_items)
{
    for (size_t i = me; i < count; i += work_items)
        kma_store_u32(&words[i], 0, KMA_RELAXED);
}

// Prepares a buffer of `bytes`, which may become `max_bytes` (`bytes` or less: it does not grow), with so many cursors; the
// plan for it must have at least one chunk. Called by all work-items of one launch that nothing else overlaps. Touches the
// metadata only, those of chunks to come too. `keep_log`: what remains is the error log.
static inline void kma_slab_init(global kma_slab *heap, ulong bytes, ulong max_bytes, uint cursors, bool keep_log,
                                 size_t me, size_t work_items)
{
    const kma_sl_plan plan = kma_sl_plan_growing(bytes, max_bytes, cursors, KMA_DEBUG);
    if (!keep_log)
        kma_error_log_init(&heap->header.errors, me, work_items);
    if (me == 0) {
        heap->plan = plan;
        kma_store_u32(&heap->next_run, 0, KMA_RELAXED);
        kma_store_u32(&heap->next_long, 0, KMA_RELAXED);
        kma_store_u32(&heap->seekers, 0, KMA_RELAXED);
        kma_store_u32(&heap->scarce, 0, KMA_RELAXED);
        kma_heap_header_init(&heap->header, KMA_KIND_SLAB, bytes, max(bytes, max_bytes), plan.begin, plan.limit,
                             plan.guard);
    }
    for (size_t c = me; c < KMA_SL_CLASSES; c += work_items)
        heap->sizes[c] = kma_sl_size_of((uint)c);
    kma_sl_clear(&heap->headed[0], KMA_SL_CLASSES, me, work_items);
    kma_sl_clear(heap->cursors, KMA_SL_BANDS * KMA_SL_CURSORS * KMA_SL_CURSOR_STRIDE, me, work_items);
    kma_sl_clear(kma_sl_at(heap, plan.heads), kma_sl_heads(plan.places), me, work_items);
    kma_sl_clear(kma_sl_at(heap, plan.pins), plan.room, me, work_items);
    kma_sl_clear(kma_sl_at(heap, plan.marks), (size_t)plan.room * (KMA_SL_LINE / KMA_SL_MARKS), me, work_items);
    kma_sl_clear(kma_sl_at(heap, plan.words), (size_t)plan.room * KMA_SL_LINE + 1, me, work_items);
    global kma_atomic_u32 *const used = kma_sl_at(heap, plan.used);
    for (size_t chunk = me; chunk < plan.room; chunk += work_items) // those to come are nobody's to take
        kma_store_u32(&used[chunk], chunk < plan.chunks ? 0 : 0xffffffffu, KMA_RELAXED);
    for (size_t word = me; word * 32 < plan.room; word += work_items)
        kma_store_u32(kma_sl_at(heap, plan.rooms) + word,
                      (uint)kma_bits_below(plan.chunks < word * 32 ? 0 : min(plan.chunks - (uint)word * 32, 32u)),
                      KMA_RELAXED);
    const uint lookers = min(plan.places, KMA_SL_LOOKERS);
    for (size_t place = me; place < lookers; place += work_items) // in the last quarter, away from where cursors begin
        kma_store_u32(&heap->looked[place * KMA_SL_LOOKED_STRIDE],
                      plan.chunks - plan.chunks / 4 + plan.chunks / 4 / lookers * (uint)place, KMA_RELAXED);
    kma_sl_clear(kma_sl_at(heap, plan.trees), (size_t)plan.tree_words * KMA_SL_TREES, me, work_items);
#if KMA_DEBUG >= 2
    kma_guard_init((global kma_guard *)kma_sl_at(heap, plan.guard), keep_log, me, work_items);
#endif
}

// Makes of a buffer of at least sizeof(kma_slab) a heap without lines: every request is too large for it, every block
// foreign to it. Called as kma_slab_init.
static inline void kma_slab_init_empty(global kma_slab *heap, ulong bytes, size_t me, size_t work_items)
{
    kma_error_log_init(&heap->header.errors, me, work_items);
    if (me != 0)
        return;
    const uint begin = (uint)kma_whole_units(sizeof(kma_slab));
    ulong end;
    heap->plan = kma_sl_plan_of(0, 1, 0, &end);
    heap->plan.begin = begin;
    heap->plan.limit = begin;
    kma_heap_header_init(&heap->header, KMA_KIND_SLAB, bytes, bytes, begin, begin, 0);
}

// The heap's contents were copied into a buffer of `bytes`, this one, and the chunks for which there is room now are free.
// Fewer bytes than before or more than max_bytes leave the heap as it was. By one work-group of a launch that nothing else
// overlaps; a barrier is in it.
static inline void kma_slab_grow(global kma_slab *heap, ulong bytes, size_t me, size_t work_items)
{
    kma_sl_heap sl = kma_sl_open(heap);
    const bool may = sl.plan.chunks != 0 && bytes >= heap->header.bytes && bytes <= heap->header.max_bytes;
    const uint first = sl.plan.chunks;
    if (may)
        sl.plan = kma_sl_plan_within(sl.plan, bytes);
    for (size_t chunk = first + me; chunk < sl.plan.chunks; chunk += work_items) {
        kma_store_u32(kma_sl_used(&sl, (uint)chunk), 0, KMA_RELAXED);
        kma_fetch_or_u32(kma_sl_rooms(&sl, (uint)chunk), 1u << chunk % 32, KMA_RELAXED);
    }
    barrier(CLK_GLOBAL_MEM_FENCE); // all have read the old plan
    if (may && me == 0) {
        heap->plan = sl.plan;
        heap->header.bytes = bytes;
        heap->header.limit = sl.plan.limit;
        kma_store_u32(&heap->scarce, 0, KMA_RELAXED);
    }
}

#endif
