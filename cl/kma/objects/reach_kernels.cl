// Kernels of World::collect, which deletes objects that no root reaches. Compiled after a schema's
// visitors, like reference_kernels.cl. No other kernel runs meanwhile; one dimension.
//
// Marking goes in rounds over a queue of marked objects, like that of a heap's collector
// (collect/mark.cl). A work-item visits an object, then one of those that it marked itself, and so
// on, KMA_REACH_STEPS at most. A full queue drops objects, which stay marked: then all marked
// objects are visited once more.
#ifndef KMA_OBJECTS_REACH_KERNELS_CL
#define KMA_OBJECTS_REACH_KERNELS_CL

#include "kma/objects/reference_kernels.cl"

#ifndef KMA_REACH_STEPS
#define KMA_REACH_STEPS (KMA_IS_CPU ? 65536u : 64u)
#endif

#define KMA_REACH_PARAMETERS                                                                       \
    global kma_world *w, global kma_atomic_u32 *marks, global kma_reach *reach,                    \
        global kma_dangling_log *dangling, global uint *queue, uint capacity

// Defines `visit` in a kernel that queues for round number `round`.
#define KMA_REACHING(round)                                                                        \
    kma_visit_marking marking = {marks, reach, &reach->counts[round], queue, capacity, 0};         \
    const kma_visit visit = {KMA_VISIT_MARK, 0, ~0u, (const global uint *)0, dangling, &marking}

// Visits a marked object, and one after the other of those that it leads to.
static inline void kma_world_reach_from(global kma_world *w, kma_visit visit, uint object)
{
    for (uint step = 0; object != 0; step++) { // KMA_REACH_STEPS times at most
        if (step == KMA_REACH_STEPS) {
            kma_visit_push(visit.marking, object);
            return;
        }
        visit.marking->next = 0;
        kma_world_visit(w, visit, kma_world_type(w, object) - 1, object);
        object = visit.marking->next;
    }
}

// Marks the objects of the classes `first` to `last` that `count` references from root[begin] on
// lead to.
kernel void kma_world_reach_root_kernel(KMA_REACH_PARAMETERS, global uint *root, uint begin,
                                        uint count, uint first, uint last)
{
    KMA_REACHING(0);
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0)) {
        const kma_dangling place = {0, 0, begin + (uint)i, 0};
        marking.next = 0;
        kma_visit_reference(w, visit, &root[begin + i], place, first, last);
        if (marking.next != 0)
            kma_visit_push(&marking, marking.next);
    }
}

// A round: visits the objects of queue `from`, and queues for the next one.
kernel void kma_world_reach_kernel(KMA_REACH_PARAMETERS, global const uint *from, uint round)
{
    KMA_REACHING(round + 1);
    const uint count = min(kma_load_u32(&reach->counts[round], KMA_RELAXED), capacity);
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0))
        kma_world_reach_from(w, visit, from[i]);
}

// Visits all marked objects, since some were dropped, and queues for round 0.
kernel void kma_world_reach_again_kernel(KMA_REACH_PARAMETERS)
{
    KMA_REACHING(0);
    for (size_t i = get_global_id(0); i < 2 * (size_t)w->blocks; i += get_global_size(0)) {
        uint left = kma_load_u32(&marks[i], KMA_RELAXED);
        for (; left != 0; left &= left - 1) // 32 times at most
            kma_world_reach_from(
                w, visit, kma_world_ref((uint)(i / 2), (uint)(i % 2) * 32 + kma_lowest_bit(left)));
    }
}

// Deletes all objects without a mark.
kernel void kma_world_sweep_kernel(KMA_REACH_PARAMETERS)
{
    (void)dangling;
    (void)queue;
    (void)capacity;
    uint kept = 0, deleted = 0;
    for (size_t block = get_global_id(0); block < w->blocks; block += get_global_size(0)) {
        global kma_world_block *b = kma_world_block_at(w, (uint)block);
        const uint type = kma_load_u32(&b->type, KMA_RELAXED);
        if (type == 0)
            continue;
        const kma_slots objects =
            kma_slots_load(&b->state, KMA_RELAXED) & ~kma_slots_pad(KMA_WORLD_SLOTS(type - 1));
        kma_slots marked = (kma_slots)kma_load_u32(&marks[2 * block], KMA_RELAXED);
        if (KMA_SLOTS_BITS > 32)
            marked |= (kma_slots)((ulong)kma_load_u32(&marks[2 * block + 1], KMA_RELAXED) << 32);
        kept += kma_slots_count(objects & marked);
        deleted += kma_slots_count(objects & ~marked);
        if ((objects & ~marked) != 0)
            kma_world_give(w, type - 1, (uint)block, objects & ~marked);
    }
    if (kept != 0)
        kma_fetch_add_u32(&reach->kept, kept, KMA_RELAXED);
    if (deleted != 0)
        kma_fetch_add_u32(&reach->deleted, deleted, KMA_RELAXED);
}

#endif
