// Deletion of objects, each by itself: the exchange by which lanes would give back slots of one
// word together costs more than the atomics that it spares (H200: 64-byte objects 1.4 times,
// docs/object-store-design.md).
//
// The word and the type are read first: an object that is none is recorded, and nothing is written.
// (Two deletions of one object at the same time may both pass. Then what comes is undefined: the
// last of a block's objects may be another's by then.)
#ifndef KMA_OBJECTS_DELETE_CL
#define KMA_OBJECTS_DELETE_CL

#include "kma/objects/blocks.cl"

// Whether `self` is an object of class cls, as far as its block tells; records what it is if it is
// none.
static inline bool kma_world_is_object(global kma_world *w, uint cls, uint self)
{
    const uint block = kma_world_block_of(self), slot = kma_world_slot_of(self);
    if (block >= w->blocks || slot >= KMA_WORLD_SLOTS(cls)) {
        kma_report(&w->head, KMA_ERROR_INVALID_FREE, self, KMA_WORLD_OBJECT_BYTES(cls));
        return false;
    }
    global kma_world_block *b = kma_world_block_at(w, block);
    const kma_slots state = kma_slots_load(&b->state, KMA_RELAXED);
    const uint type = kma_load_u32(&b->type, KMA_RELAXED);
    if (type == cls + 1 && (state & kma_slots_bit(slot)) != 0)
        return true;
    kma_report(&w->head,
               type == cls + 1 || type == 0 ? KMA_ERROR_DOUBLE_FREE : KMA_ERROR_INVALID_FREE, self,
               KMA_WORLD_OBJECT_BYTES(cls));
    return false;
}

// Ends an object of class cls. Its reference is void; 0 is none. Any work-item, converged or not.
static inline void kma_world_delete(global kma_world *w, uint cls, uint self)
{
    if (self != 0 && kma_world_is_object(w, cls, self))
        kma_world_give(w, cls, kma_world_block_of(self), kma_slots_bit(kma_world_slot_of(self)));
}

#endif
