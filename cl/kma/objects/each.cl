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
    return (global uint *)((global uchar *)w + w->lists + kma_world_list_bytes(w->blocks) * T);
}

// Number `i` of kma_world_listed(w, T) * slots: the object there, or 0; `slots` is KMA_WORLD_SLOTS(T).
static inline uint kma_world_listed_object(global kma_world *w, uint T, uint slots, uint i)
{
    const uint block = kma_world_list(w, T)[i / slots], slot = i % slots;
    const kma_slots objects = kma_world_block_at(w, block)->iterated;
    return (objects & kma_slots_bit(slot)) != 0 ? kma_world_ref(block, slot) : 0;
}

// A listed block on the way through all blocks of the classes T to a last one.
typedef struct kma_world_span {
    uint T;
    uint at, end;      // of the list: the next block's place
    uint first;        // the block's slot 0, as a reference
    kma_slots objects; // 0: behind the last block
    uint is_left;      // whether the loop over the block was left by `break`
} kma_world_span;

static inline kma_world_span kma_world_span_next(global kma_world *w, kma_world_span span, uint last)
{
    span.objects = 0;
    while (span.at == span.end) { // a class further each time
        if (span.T >= last)
            return span;
        span.T++;
        span.at = 0;
        span.end = kma_world_listed(w, span.T);
    }
    const uint block = kma_world_list(w, span.T)[span.at++];
    span.first = kma_world_ref(block, 0);
    span.objects = kma_world_block_at(w, block)->iterated;
    return span;
}

static inline kma_world_span kma_world_span_first(global kma_world *w, uint T, uint last)
{
    kma_world_span span;
    span.T = T;
    span.at = 0;
    span.end = kma_world_listed(w, T);
    span.first = 0;
    span.is_left = 0;
    return kma_world_span_next(w, span, last);
}

// A loop over all objects of the classes T to `last`, of which a block has `slots` at most; `object` names the reference in what follows, in
// which break and continue mean what they mean in any loop. The loop within a block is a plain one over its slots, which compilers
// unroll as they do not a walk from bit to bit; whether all slots are objects does not change in it, so that they may make a loop of its own
// for such blocks.
#define KMA_WORLD_FOR_EACH(w, T, last, slots, object)                                                                  \
    for (kma_world_span kma_span = kma_world_span_first(w, T, last); kma_span.objects != 0 && kma_span.is_left == 0;   \
         kma_span = kma_span.is_left != 0 ? kma_span : kma_world_span_next(w, kma_span, last))                         \
        for (uint object = (kma_span.is_left = 1, kma_span.first);                                                     \
             object - kma_span.first < (slots) || (kma_span.is_left = 0) != 0; object++)                               \
            if (kma_span.objects != kma_slots_below(slots) &&                                                          \
                (kma_span.objects & kma_slots_bit(object & KMA_WORLD_SLOT_MASK)) == 0)                                 \
                ;                                                                                                      \
            else

#endif
