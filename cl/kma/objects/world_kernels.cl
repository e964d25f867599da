// Kernels of a world: preparation, enumeration, counts, columns. The host library launches them;
// any other program can. One dimension.
#ifndef KMA_OBJECTS_WORLD_KERNELS_CL
#define KMA_OBJECTS_WORLD_KERNELS_CL

#include "kma/objects/world.cl"
#include "kma/platform/group.cl"

// Makes an empty world of `blocks` blocks, 1 or more, in a buffer of `bytes`, which is at least
// kma_world_plan_of(…).end. Any number of work-items.
kernel void kma_world_init_kernel(global kma_world *w, ulong bytes, uint blocks)
{
    const size_t me = get_global_id(0), items = get_global_size(0);
    const kma_world_plan plan = kma_world_plan_of(KMA_WORLD_CLASSES, KMA_WORLD_BLOCK_BYTES, blocks);
    if (bytes < plan.end)
        return; // the host planned with other numbers
    if (me == 0) {
        kma_heap_header_init(&w->head, KMA_KIND_WORLD, bytes, bytes, 0, 0, 0);
        w->states = plan.states;
        w->trees = plan.trees;
        w->lists = plan.lists;
        w->blocks = blocks;
        w->tree_words = plan.tree_words;
        w->classes = KMA_WORLD_CLASSES;
        w->block_bytes = KMA_WORLD_BLOCK_BYTES;
        kma_store_u32(&w->searching, 0, KMA_RELAXED);
    }
    kma_error_log_init(&w->head.errors, me, items);
    for (uint cls = 0; cls < KMA_WORLD_CLASSES; cls++) {
        global kma_world_class *of = kma_world_class_at(w, cls);
        if (me == 0) {
            kma_store_u32(&of->listed[0], 0, KMA_RELAXED);
            kma_store_u32(&of->listed[1], 0, KMA_RELAXED);
            of->turn = 0;
        }
        for (size_t i = me; i < KMA_WORLD_HINTS; i += items)
            kma_store_u32(&kma_world_hints(w, cls)[i], 0, KMA_RELAXED);
    }
    // Not by w->states and w->trees, which only the first work-item has written.
    global kma_world_block *states = (global kma_world_block *)((global uchar *)w + plan.states);
    for (size_t block = me; block < blocks; block += items) {
        kma_slots_store(&states[block].state, KMA_SLOTS_ALL, KMA_RELAXED);
        states[block].iterated = 0;
#if !KMA_HAS_ATOMIC64
        states[block].state_above = 0;
        states[block].iterated_above = 0;
#endif
        kma_store_u32(&states[block].type, 0, KMA_RELAXED);
    }
    global kma_atomic_u32 *trees = (global kma_atomic_u32 *)((global uchar *)w + plan.trees);
    for (uint tree = 0; tree <= KMA_WORLD_CLASSES; tree++)
        kma_bit_tree_init(trees + (size_t)tree * plan.tree_words, blocks, tree == 0 ? blocks : 0,
                          me, items);
}

// Lists the blocks that have objects of class cls, and copies their states, for the do-alls that
// follow. `turn` is 1 the first time, then 0, 1 … in turn. No other kernel runs meanwhile. Whole
// work-groups.
kernel void kma_world_list_kernel(global kma_world *w, uint cls, uint turn)
{
    local kma_group_words words;
    global kma_world_class *of = kma_world_class_at(w, cls);
    const uint blocks = w->blocks, slots = KMA_WORLD_SLOTS(cls);
    if (get_global_id(0) == 0) {
        kma_store_u32(&of->listed[turn ^ 1u], 0, KMA_RELAXED); // for the next enumeration
        of->turn = turn;
        kma_store_u32(&w->searching, 0, KMA_RELAXED); // no work-item searches now
    }
    for (size_t from = get_group_id(0) * get_local_size(0); from < blocks;
         from += get_global_size(0)) {
        const uint block = (uint)from + kma_group_me();
        kma_slots objects = 0;
        if (block < blocks && !kma_bit_tree_has(kma_world_free(w), block)) {
            global kma_world_block *b = kma_world_block_at(w, block);
            if (kma_load_u32(&b->type, KMA_RELAXED) == cls + 1) {
                objects = kma_slots_load(&b->state, KMA_RELAXED) & ~kma_slots_pad(slots);
                b->iterated = objects;
            }
        }
        const kma_group_place place = kma_group_put(&words, objects != 0 ? 1 : 0);
        uint first = 0;
        if (kma_group_me() == 0) {
            const uint sum = kma_group_sum(&words);
            if (sum != 0)
                first = kma_fetch_add_u32(&of->listed[turn], sum, KMA_RELAXED);
        }
        first = kma_group_tell(&words, first);
        if (objects != 0)
            kma_world_list(w, cls)[first + kma_group_before(&words, place)] = block;
    }
}

// Adds to counts[3 * cls] the objects of class cls, to the next one its blocks, to the one after
// that its blocks with free slots. No other kernel runs meanwhile.
kernel void kma_world_count_kernel(global kma_world *w, global kma_atomic_u32 *counts)
{
    for (uint cls = 0; cls < KMA_WORLD_CLASSES; cls++) {
        uint objects = 0, its = 0, room = 0;
        for (size_t block = get_global_id(0); block < w->blocks; block += get_global_size(0)) {
            global kma_world_block *b = kma_world_block_at(w, (uint)block);
            if (kma_load_u32(&b->type, KMA_RELAXED) != cls + 1)
                continue;
            const kma_slots state = kma_slots_load(&b->state, KMA_RELAXED);
            objects += kma_slots_count(state & ~kma_slots_pad(KMA_WORLD_SLOTS(cls)));
            its++;
            room += state != KMA_SLOTS_ALL ? 1 : 0;
        }
        if (its == 0)
            continue;
        kma_fetch_add_u32(&counts[3 * cls], objects, KMA_RELAXED);
        kma_fetch_add_u32(&counts[3 * cls + 1], its, KMA_RELAXED);
        kma_fetch_add_u32(&counts[3 * cls + 2], room, KMA_RELAXED);
    }
}

// Copies a field of all objects of some blocks of class cls to a dense column. places[i] is a block
// and the row of its first object. The field begins at `begin` in a block and has `elements` of
// `bytes` bytes for each object. No other kernel runs meanwhile.
kernel void kma_world_column_kernel(global kma_world *w, uint cls, uint begin, uint bytes,
                                    uint elements, const global uint2 *places, uint blocks,
                                    global uchar *column)
{
    const uint slots = KMA_WORLD_SLOTS(cls);
    for (size_t i = get_global_id(0); i < (size_t)blocks * slots; i += get_global_size(0)) {
        const uint2 place = places[i / slots];
        const uint slot = (uint)(i % slots);
        const kma_slots state = kma_slots_load(&kma_world_block_at(w, place.x)->state, KMA_RELAXED);
        if ((state & kma_slots_bit(slot)) == 0)
            continue;
        const size_t row = place.y + kma_slots_count(state & kma_slots_below(slot));
        for (uint k = 0; k < elements; k++) {
            const global uchar *from = (const global uchar *)kma_world_field(
                w, kma_world_ref(place.x, slot), begin + k * slots * bytes, bytes);
            for (uint byte = 0; byte < bytes; byte++)
                column[(row * elements + k) * bytes + byte] = from[byte];
        }
    }
}

// Empties the error log.
kernel void kma_world_clear_errors_kernel(global kma_world *w)
{
    kma_error_log_init(&w->head.errors, get_global_id(0), get_global_size(0));
}

#endif
