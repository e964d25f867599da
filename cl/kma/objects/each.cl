// The objects that there were at the last enumeration of their class (kernels/world_kernels.cl), for do-alls, whose work-items share them
// out, and for loops over all of them in one work-item.
//
// A do-all's work-items stride over the slots of the listed blocks: neighbours have neighbouring slots of one block (paper, 3.4,
// figures 7 and 8). What is created after the enumeration is not met; of the class that a loop or a do-all goes over, a kernel may delete
// only the object of the do-all itself.
#ifndef KMA_OBJECTS_EACH_CL
#define KMA_OBJECTS_EACH_CL

#include "kma/objects/blocks.cl"

// Blocks that had objects of class T.
static inline uint kma_world_listed(global kma_world *w, uint T)
{
    global kma_world_class *of = kma_world_class_at(w, T);
    return kma_load_u32(&of->listed[of->turn], KMA_RELAXED);
}

static inline global uint *kma_world_list(global kma_world *w, uint T)
{
    return (global uint *)((global uchar *)w + w->lists + kma_world_up(4ul * w->blocks) * T);
}

// Number `i` of kma_world_listed(w, T) * slots: the object there, or 0; `slots` is KMA_WORLD_SLOTS(T).
static inline uint kma_world_listed_object(global kma_world *w, uint T, uint slots, uint i)
{
    const uint block = kma_world_list(w, T)[i / slots], slot = i % slots;
    const kma_slots objects = kma_world_block_at(w, block)->iterated;
    return (objects & kma_slots_bit(slot)) != 0 ? kma_world_ref(block, slot) : 0;
}

// A walk over all objects of the classes T to `last`.
typedef struct kma_world_each {
    uint self;      // 0: at the end
    uint T, last;
    uint at, end;   // of the list: the next block's place
    uint block;
    kma_slots left; // of this block's objects, behind self
} kma_world_each;

// To the next block if this one has no more.
static inline kma_world_each kma_world_each_next(global kma_world *w, kma_world_each walk)
{
    while (walk.left == 0) { // a listed block has an object: more than once only where a class has none
        while (walk.at == walk.end) {
            if (walk.T >= walk.last) {
                walk.self = 0;
                return walk;
            }
            walk.T++;
            walk.at = 0;
            walk.end = kma_world_listed(w, walk.T);
        }
        walk.block = kma_world_list(w, walk.T)[walk.at++];
        walk.left = kma_world_block_at(w, walk.block)->iterated;
    }
    walk.self = kma_world_ref(walk.block, kma_lowest_bit(walk.left));
    walk.left &= walk.left - 1;
    return walk;
}

static inline kma_world_each kma_world_each_begin(global kma_world *w, uint first, uint last)
{
    kma_world_each walk;
    walk.T = first;
    walk.last = last;
    walk.at = 0;
    walk.end = kma_world_listed(w, first);
    walk.block = 0;
    walk.left = 0;
    walk.self = 0;
    return kma_world_each_next(w, walk);
}

#endif
