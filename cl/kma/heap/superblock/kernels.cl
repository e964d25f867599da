// Kernels that initialise, grow and reset a superblock heap in a plain buffer, and read its
// metadata. The host library launches them. Other programs can, too, if built with the same
// -DKMA_DEBUG and -DKMA_HAS_ATOMIC64 as the kernels that use the heap (and, on NVIDIA GPUs before
// Volta, the same -DKMA_NV_ARCH).
#ifndef KMA_HEAP_SUPERBLOCK_KERNELS_CL
#define KMA_HEAP_SUPERBLOCK_KERNELS_CL

#include "kma/heap/superblock.cl"
#include "kma/heap/superblock/census.cl"
#include "kma/heap/common/stats.cl"
#include "kma/heap/common/stats_sum.cl"

static inline void kma_superblock_prepare(global kma_superblock *heap, ulong bytes, ulong max_bytes,
                                          uint shift)
{
    if (shift >= KMA_SUPERBLOCK_MIN_SHIFT && shift <= KMA_SUPERBLOCK_MAX_SHIFT &&
        kma_superblock_plan_growing(bytes, max_bytes, shift, KMA_DEBUG, KMA_HAS_ATOMIC64)
                .superblocks != 0)
        kma_superblock_init(heap, bytes, max_bytes, shift, false, get_global_id(0),
                            get_global_size(0));
    else if (bytes >= sizeof(kma_superblock))
        kma_superblock_init_empty(heap, bytes, get_global_id(0), get_global_size(0));
}

// Initialises a heap in a buffer of `bytes` with superblocks of 16 << `shift` bytes, `shift` 8 to
// 17. With another shift, or no space for one superblock, every request is too large for the heap.
// A buffer below sizeof(kma_superblock), 10,752 bytes, stays as it is. Any number of work-items in
// one dimension; about one for each 64 KiB of heap.
kernel void kma_superblock_init_kernel(global kma_superblock *heap, ulong bytes, uint shift)
{
    kma_superblock_prepare(heap, bytes, bytes, shift);
}

// The same for a heap that can grow to `max_bytes`. `bytes` must have space for one superblock, and
// for the metadata of a heap of `max_bytes`.
kernel void kma_superblock_init_growing_kernel(global kma_superblock *heap, ulong bytes,
                                               ulong max_bytes, uint shift)
{
    kma_superblock_prepare(heap, bytes, max_bytes, shift);
}

// Grows a heap that was copied whole into this larger buffer of `bytes`. No effect if `bytes` is
// less than before or more than max_bytes. One work-item.
kernel void kma_superblock_grow_kernel(global kma_superblock *heap, ulong bytes)
{
    if (get_global_id(0) == 0)
        kma_superblock_grow(heap, bytes);
}

// Reports to the host the width of the offers, which bounds the number of superblocks
// (kma_superblock_most).
kernel void kma_superblock_width_kernel(global uint *atomic64)
{
    if (get_global_id(0) == 0)
        *atomic64 = KMA_HAS_ATOMIC64;
}

// Frees all blocks at once; every ref and pointer becomes invalid. The error log stays.
kernel void kma_superblock_reset_kernel(global kma_superblock *heap)
{
    if (heap->plan.superblocks != 0)
        kma_superblock_init(heap, heap->header.bytes, heap->header.max_bytes, heap->plan.shift,
                            true, get_global_id(0), get_global_size(0));
}

kernel void kma_superblock_clear_errors_kernel(global kma_superblock *heap)
{
    kma_error_log_init(&heap->header.errors, get_global_id(0), get_global_size(0));
}

#if KMA_DEBUG >= 2
#define KMA_KIND superblock
#include "kma/heap/common/stats_quarantine.cl" // kma_superblock_stats_without_quarantine
#undef KMA_KIND
#endif

// Returns the sums over one work-item's share of the superblocks.
static inline kma_heap_stats kma_superblock_stats_of(global kma_superblock *heap, size_t me,
                                                     size_t work_items)
{
    kma_heap_stats sum = {0}; // all fields: the struct is copied whole
    const uint superblocks =
        kma_heap_exists(&heap->header, KMA_KIND_SUPERBLOCK) ? heap->plan.superblocks : 0;
    for (size_t sb = me; sb < superblocks; sb += work_items) {
        const uint content = kma_superblock_content_of(heap, (uint)sb);
        if (content & KMA_SUPERBLOCK_FREE) {
            sum.superblocks_free++;
            continue;
        }
        if (content >= heap->plan.size_classes) // damage; the host's check() reports it
            continue;
        const uint slots = heap->classes[content].slots;
        const kma_superblock_offer offer = kma_superblock_look(heap, content);
        const uint on_offer = offer.superblock == sb ? kma_superblock_left(offer, slots) : 0;
        const uint credit =
            kma_load_u32(&kma_superblock_state_of(heap, (uint)sb)->credit, KMA_RELAXED);
        const ulong taken = slots - on_offer - kma_superblock_count(credit);
        sum.blocks += taken;
        sum.used += taken * kma_class_units(content) * KMA_UNIT;
        if (taken == slots)
            sum.superblocks_full++;
        else
            sum.superblocks_partial++;
    }
#if KMA_DEBUG >= 2
    if (superblocks != 0)
        kma_superblock_stats_without_quarantine(heap, &sum, me, work_items);
#endif
    return sum;
}

// Writes the statistics of a heap at rest; zeros if the buffer is no heap. One work-group of
// KMA_STATS_WORK_ITEMS.
__attribute__((reqd_work_group_size(KMA_STATS_WORK_ITEMS, 1, 1))) kernel void
kma_superblock_stats_kernel(global kma_superblock *heap, global kma_heap_stats *stats)
{
    local kma_heap_stats parts[KMA_STATS_WORK_ITEMS];
    parts[get_local_id(0)] = kma_superblock_stats_of(heap, get_local_id(0), KMA_STATS_WORK_ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        const bool exists = kma_heap_exists(&heap->header, KMA_KIND_SUPERBLOCK);
        kma_heap_stats sum = parts[0];
        for (uint i = 1; i < KMA_STATS_WORK_ITEMS; i++)
            kma_stats_add(&sum, parts[i]);
        kma_stats_of_header(&sum, &heap->header, exists);
        sum.superblock_bytes = exists ? (ulong)KMA_UNIT << heap->plan.shift : 0;
        sum.superblocks = exists ? heap->plan.superblocks : 0;
        *stats = sum;
    }
}

// Writes a census of all superblocks of a heap at rest, also of those that growth may add. Its
// numbers do not depend on the width of the device's atomics. The host's check() and leaks() read
// it.
kernel void kma_superblock_census_kernel(global kma_superblock *heap,
                                         global kma_superblock_census *census)
{
    for (size_t sb = get_global_id(0); sb < heap->plan.room; sb += get_global_size(0)) {
        global kma_superblock_state *state = kma_superblock_state_of(heap, (uint)sb);
        const uint content = kma_load_u32(&state->content, KMA_RELAXED);
        const uint size_class = content & ~KMA_SUPERBLOCK_FREE;
        const uint slots = size_class < KMA_CLASSES ? heap->classes[size_class].slots : 0;
        global kma_atomic_u32 *bitmap = kma_superblock_bitmap(heap, (uint)sb);
        uint taken = 0;
        uint stray = 0;
        for (uint word = 0; word < heap->plan.bitmap_words; word++) {
            const uint bits = kma_load_u32(&bitmap[word], KMA_RELAXED);
            const uint valid = word * 32 >= slots        ? 0
                               : slots - word * 32 >= 32 ? 0xffffffffu
                                                         : (1u << (slots % 32)) - 1;
            taken += popcount(bits & valid);
            stray += popcount(bits & ~valid);
        }
        census[sb].credit = kma_load_u32(&state->credit, KMA_RELAXED);
        census[sb].content = content;
        census[sb].taken = taken;
        census[sb].stray = stray;
    }
}

// Writes the offers of all classes and the counts of their partial sets.
kernel void kma_superblock_classes_kernel(global kma_superblock *heap,
                                          global kma_superblock_class_census *census)
{
    for (size_t c = get_global_id(0); c < heap->plan.size_classes; c += get_global_size(0)) {
        const kma_superblock_offer offer = kma_superblock_look(heap, (uint)c);
        census[c].superblock = offer.superblock;
        census[c].drawn = offer.drawn;
        census[c].slots = heap->classes[c].slots;
        census[c].partial = kma_load_u32(&heap->classes[c].partial.count, KMA_RELAXED);
        census[c].helpers = kma_load_u32(&heap->classes[c].helpers, KMA_RELAXED);
    }
}

// Writes the free queue's nodes as {next, item, carrier}; the last entry is {head, tail, capacity}.
kernel void kma_superblock_queue_kernel(global kma_superblock *heap,
                                        global kma_queue_census *census)
{
    global kma_queue *queue = kma_superblock_queue(heap);
    const uint nodes = heap->plan.room + 1;
    for (size_t i = get_global_id(0); i < nodes; i += get_global_size(0)) {
        const uint next =
            kma_queue_index(kma_queue_load(kma_queue_next(queue, (uint)i), KMA_RELAXED));
        census[i].next = next == KMA_QUEUE_END ? KMA_SUPERBLOCK_NONE : next;
        census[i].item = kma_load_u32(&kma_queue_nodes(queue)[i].item, KMA_RELAXED);
        census[i].carrier = kma_queue_nodes(queue)[i].carrier;
    }
    if (get_global_id(0) == 0) {
        census[nodes].next = kma_queue_index(kma_queue_load(&queue->head, KMA_RELAXED));
        census[nodes].item = kma_queue_index(kma_queue_load(&queue->tail, KMA_RELAXED));
        census[nodes].carrier = queue->capacity;
    }
}

#endif
