// Makes a buffer a slab heap, and a heap larger. No other kernel may use the buffer meanwhile.
#ifndef KMA_HEAP_SLAB_INIT_CL
#define KMA_HEAP_SLAB_INIT_CL

#include "kma/heap/common/error_log.cl"
#include "kma/heap/common/guard.cl"
#include "kma/heap/slab/lines.cl"

static inline void kma_slab_fill(global kma_atomic_u32 *words, size_t count, uint value, size_t me,
                                 size_t work_items)
{
    for (size_t i = me; i < count; i += work_items)
        kma_store_u32(&words[i], value, KMA_RELAXED);
}

// Makes a heap of a buffer of `bytes` that may grow to `max_bytes` (no growth if that is not more).
// The plan must have at least one frame. Called by all work-items of one launch. Writes metadata
// only, also that of frames to come. `keep_log`: leaves the error log as it is.
static inline void kma_slab_init(global kma_slab *heap, ulong bytes, ulong max_bytes, uint cursors,
                                 bool keep_log, size_t me, size_t work_items)
{
    const kma_slab_plan plan = kma_slab_plan_growing(bytes, max_bytes, cursors, KMA_DEBUG);
    if (!keep_log)
        kma_error_log_init(&heap->header.errors, me, work_items);
    if (me == 0) {
        heap->plan = plan;
        kma_heap_header_init(&heap->header, KMA_KIND_SLAB, bytes, max(bytes, max_bytes), plan.begin,
                             plan.limit, plan.guard);
        kma_store_u32(&heap->runs_begun, 0, KMA_RELAXED);
        kma_store_u32(&heap->runs_ended, 0, KMA_RELAXED);
    }
    kma_slab_fill(heap->cursors, 2 * KMA_SLAB_CURSORS * KMA_SLAB_CURSOR_STRIDE, 0, me, work_items);
    kma_slab_fill(kma_slab_at(heap, plan.current), (size_t)plan.shards * KMA_SLAB_PAGE_CLASSES,
                  KMA_SLAB_NONE, me, work_items);
    kma_slab_fill(kma_slab_at(heap, plan.used), plan.frames, 0, me, work_items);
    kma_slab_fill(kma_slab_at(heap, plan.used) + plan.frames, plan.room - plan.frames,
                  KMA_SLAB_FULL, me, work_items);
    kma_slab_fill(kma_slab_at(heap, plan.words), (size_t)plan.room << KMA_SLAB_FRAME_SHIFT, 0, me,
                  work_items);
    global kma_atomic_u32 *const trees = kma_slab_at(heap, plan.trees);
    for (uint tree = 0; tree < KMA_SLAB_TREES; tree++) {
        // All frames are whole, and each group is listed for the longest run. If the last one is
        // smaller, the first search that meets it relists it.
        uint members = tree == KMA_SLAB_WHOLE_TREE ? plan.frames : 0;
        if (tree == KMA_SLAB_GROUP_TREE(KMA_SLAB_GROUP_FRAMES))
            members = (plan.frames + KMA_SLAB_GROUP_FRAMES - 1) >> KMA_BIT_TREE_SHIFT;
        kma_bit_tree_init(trees + (size_t)tree * plan.tree_words, plan.room, members, me,
                          work_items);
    }
#if KMA_DEBUG >= 2
    kma_guard_init((global kma_guard *)kma_slab_at(heap, plan.guard), keep_log, me, work_items);
#endif
}

// Makes a heap without frames of a buffer of at least sizeof(kma_slab): every request is too large
// for it, every block foreign to it. Called as kma_slab_init.
static inline void kma_slab_init_empty(global kma_slab *heap, ulong bytes, size_t me,
                                       size_t work_items)
{
    kma_error_log_init(&heap->header.errors, me, work_items);
    if (me != 0)
        return;
    const uint begin = (uint)kma_whole_units(sizeof(kma_slab));
    ulong end;
    heap->plan = kma_slab_plan_of(0, 1, 0, &end);
    heap->plan.begin = begin;
    heap->plan.limit = begin;
    kma_heap_header_init(&heap->header, KMA_KIND_SLAB, bytes, bytes, begin, begin, 0);
}

// Makes the heap larger, after its contents were copied into this buffer of `bytes`; the new frames
// are free. Does nothing for fewer bytes than before or more than max_bytes. Called by one
// work-group of a launch; has a barrier.
static inline void kma_slab_grow(global kma_slab *heap, ulong bytes, size_t me, size_t work_items)
{
    const bool may =
        heap->plan.frames != 0 && bytes >= heap->header.bytes && bytes <= heap->header.max_bytes;
    const uint first = heap->plan.frames;
    kma_slab_plan plan = heap->plan;
    if (may)
        plan = kma_slab_plan_within(plan, bytes);
    for (size_t frame = first + me; frame < plan.frames; frame += work_items) {
        kma_store_u32(kma_slab_used(heap, (uint)frame), 0, KMA_RELAXED);
        kma_slab_put(heap, KMA_SLAB_WHOLE_TREE, (uint)frame);
        kma_slab_list_group(heap, (uint)frame >> KMA_BIT_TREE_SHIFT);
    }
    barrier(CLK_GLOBAL_MEM_FENCE); // all have read the old plan
    if (may && me == 0) {
        heap->plan = plan;
        heap->header.bytes = bytes;
        heap->header.limit = plan.limit;
    }
}

#endif
