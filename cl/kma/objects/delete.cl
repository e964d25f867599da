// Deletion of objects, by each lane alone. Combining the lanes' slots of one word takes longer than
// the atomics that it saves (docs/object-store-design.md).
//
// Word and type are loaded first: a reference to no object is recorded, and nothing is written. Two
// concurrent deletions of one object may both pass this check; then the behavior is undefined,
// since the second one may delete another object of a new block.
#ifndef KMA_OBJECTS_DELETE_CL
#define KMA_OBJECTS_DELETE_CL

#include "kma/objects/blocks.cl"

// True if `self` is an object of class cls, by its block's metadata; else records what it is.
// Relaxed.
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

// Deletes an object of class cls; its reference becomes invalid. Does nothing for 0. Any work-item,
// converged or not. Releases.
static inline void kma_world_delete(global kma_world *w, uint cls, uint self)
{
    if (self != 0 && kma_world_is_object(w, cls, self))
        kma_world_give(w, cls, kma_world_block_of(self), kma_slots_bit(kma_world_slot_of(self)));
}

#endif
