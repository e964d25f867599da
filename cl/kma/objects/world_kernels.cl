// Kernels of a world: preparation, enumeration, counts, columns. The host library launches them;
// any other program can. One dimension.
#ifndef KMA_OBJECTS_WORLD_KERNELS_CL
#define KMA_OBJECTS_WORLD_KERNELS_CL

#include "kma/objects/world.cl"
#include "kma/platform/group.cl"

// Clears one of the two lists of a class.
static inline void kma_world_forget(global kma_world_class *of, uint turn)
{
    kma_store_u32(&of->listed[turn], 0, KMA_RELAXED);
    kma_store_u32(&of->open[turn], 0, KMA_RELAXED);
    kma_store_u32(&of->next[turn], 0, KMA_RELAXED);
    kma_store_u32(&of->roomy[turn], 0, KMA_RELAXED);
}

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
        w->open = plan.open;
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
            for (uint turn = 0; turn < 2; turn++)
                kma_world_forget(of, turn);
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

// Writes the free slots of a block of class cls to the class's list, from place `at` on.
static inline void kma_world_list_open(global kma_world *w, uint cls, uint block, kma_slots open,
                                       uint at)
{
    const uint most = kma_world_open_most(w->blocks);
#if KMA_OBJECTS_COALESCE && KMA_LANES != KMA_LANES_SINGLE
    // The lanes that are here write those of one block after the other, together. Stores of one
    // slot by each lane go to memory one by one: the kernel takes twice as long on an H200.
    const kma_lanes here = kma_lanes_active();
    const uint lanes = kma_lanes_count(here);
    for (kma_lanes left = kma_lanes_ballot(here, open != 0); left != 0; left &= left - 1) {
        const uint lane = kma_lowest_bit(left), its_block = kma_lanes_shuffle(here, block, lane),
                   its_at = kma_lanes_shuffle(here, at, lane);
        kma_slots slots = kma_lanes_shuffle(here, (uint)open, lane);
#if KMA_HAS_ATOMIC64
        slots |= (kma_slots)kma_lanes_shuffle(here, (uint)(open >> 32), lane) << 32;
#endif
        global uint *const refs = kma_world_open(w, kma_lanes_shuffle(here, cls, lane));
        for (uint slot = kma_lane_rank(here); slot < KMA_SLOTS_BITS; slot += lanes) {
            const uint place = its_at + kma_slots_count(slots & kma_slots_below(slot));
            if ((slots & kma_slots_bit(slot)) != 0 && place < most)
                refs[place] = kma_world_ref(its_block, slot);
        }
    }
#else
    global uint *const refs = kma_world_open(w, cls);
    for (; open != 0 && at < most; open &= open - 1, at++)
        refs[at] = kma_world_ref(block, kma_lowest_bit(open));
#endif
}

// The count of a class's blocks, or behind those of its free slots, in its list.
static inline global kma_atomic_u32 *kma_world_count_at(global kma_world *w, uint its, ulong turns)
{
    const uint cls = its % KMA_WORLD_CLASSES, turn = (uint)(turns >> cls & 1);
    global kma_world_class *of = kma_world_class_at(w, cls);
    return its < KMA_WORLD_CLASSES ? &of->listed[turn] : &of->open[turn];
}

// Adds a work-group's count to one of a class's list; returns the place of the first.
static inline uint kma_world_places(global kma_atomic_u32 *count, uint its)
{
    return its != 0 ? kma_fetch_add_u32(count, its, KMA_RELAXED) : 0;
}

// Lists the blocks and the free slots of some classes, bit cls of `classes`, and copies the blocks'
// states, for the do-alls that follow. Bit cls of `turns` is 1 the first time that cls is listed,
// then 0, 1 … in turn. No other kernel runs meanwhile. Whole work-groups.
kernel void kma_world_list_kernel(global kma_world *w, ulong classes, ulong turns)
{
    // of the work-group: its blocks of each class, then its free slots of each; then the place of
    // the first ones in their lists
    local uint counts[2 * KMA_WORLD_CLASSES];
    const uint me = kma_group_me(), items = kma_group_items(), blocks = w->blocks;
    if (get_group_id(0) == 0) {
        for (uint cls = me; cls < KMA_WORLD_CLASSES; cls += items)
            if ((classes >> cls & 1) != 0) {
                global kma_world_class *of = kma_world_class_at(w, cls);
                of->turn = (uint)(turns >> cls & 1);
                kma_world_forget(of, of->turn ^ 1u); // for the next enumeration
            }
        if (me == 0)
            kma_store_u32(&w->searching, 0, KMA_RELAXED); // no work-item searches now
    }
    for (size_t from = get_group_id(0) * get_local_size(0); from < blocks;
         from += get_global_size(0)) {
        for (uint its = me; its < 2 * KMA_WORLD_CLASSES; its += items)
            counts[its] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint block = (uint)from + me;
        kma_slots objects = 0, open = 0;
        uint cls = KMA_WORLD_CLASSES, list_at = 0, open_at = 0;
        bool is_listed = false, is_active = false;
        if (block < blocks) {
            global kma_world_block *b = kma_world_block_at(w, block);
            const uint type = kma_load_u32(&b->type, KMA_RELAXED); // these loads do not wait
            const kma_slots state = kma_slots_load(&b->state, KMA_RELAXED);
            const bool is_free = kma_bit_tree_has(kma_world_free(w), block);
            cls = type - 1;
            is_listed = !is_free && cls < KMA_WORLD_CLASSES && (classes >> cls & 1) != 0;
            if (is_listed) {
                objects = state & ~kma_slots_pad(KMA_WORLD_SLOTS(cls));
                open = ~state;
                b->iterated = objects;
                is_active = kma_bit_tree_has(kma_world_active(w, cls), block);
            }
        }
        if (objects != 0)
            list_at = kma_group_add(&counts[cls], 1);
        if (open != 0)
            open_at = kma_group_add(&counts[KMA_WORLD_CLASSES + cls], kma_slots_count(open));
        barrier(CLK_LOCAL_MEM_FENCE);
        // Each count by a work-item of its own, or by the first one. Not in a loop of all: PoCL 3.1
        // runs it again for each of them (docs/porting.md).
        if (me < 2 * KMA_WORLD_CLASSES)
            counts[me] = kma_world_places(kma_world_count_at(w, me, turns), counts[me]);
        for (uint its = items; me == 0 && its < 2 * KMA_WORLD_CLASSES; its++)
            counts[its] = kma_world_places(kma_world_count_at(w, its, turns), counts[its]);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (objects != 0)
            kma_world_list(w, cls)[counts[cls] + list_at] = block;
        if (open != 0)
            open_at += counts[KMA_WORLD_CLASSES + cls];
        kma_world_list_open(w, cls, block, open, open_at);
        // stale, or missing because a work-item stopped before it set the bit
        if (is_listed && is_active && open == 0)
            kma_bit_tree_take(kma_world_active(w, cls), blocks, block);
        else if (is_listed && !is_active && open != 0)
            kma_bit_tree_put(kma_world_active(w, cls), blocks, block);
        barrier(CLK_LOCAL_MEM_FENCE);
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
