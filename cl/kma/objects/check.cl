// Whether a reference leads to an object of some class. With KMA_DEBUG 1 and more, each generated
// function records a reference to no object; a field of it is then memory that no object uses.
#ifndef KMA_OBJECTS_CHECK_CL
#define KMA_OBJECTS_CHECK_CL

#include "kma/objects/blocks.cl"

// True if `self` is an object of some class. Relaxed.
static inline bool kma_world_lives(global kma_world *w, uint self)
{
    const uint type = kma_world_type(w, self), slot = kma_world_slot_of(self);
    if (type == 0 || slot >= KMA_WORLD_SLOTS(type - 1))
        return false;
    const kma_slots state =
        kma_slots_load(&kma_world_block_at(w, kma_world_block_of(self))->state, KMA_RELAXED);
    return (state & kma_slots_bit(slot)) != 0;
}

#if KMA_DEBUG
// True if `self` is an object of one of the classes `first` to `last`; else records it.
static inline KMA_COLD bool kma_world_expect(global kma_world *w, uint first, uint last, uint self)
{
    const bool is = kma_world_lives(w, self) && kma_world_type(w, self) - 1 - first <= last - first;
    if (!is)
        kma_report(&w->head, KMA_ERROR_INVALID_FREE, self, KMA_WORLD_OBJECT_BYTES(first));
    return is;
}

#define KMA_WORLD_RETURN_NOWHERE_UNLESS(w, first, last, self)                                      \
    if (!kma_world_expect(w, first, last, self))                                                   \
    return (global void *)w->nowhere
#else
#define KMA_WORLD_RETURN_NOWHERE_UNLESS(w, first, last, self)
#endif

// True if `self` is an object of one of the classes `first` to `last`; 0 is none. With KMA_DEBUG
// records a reference to no object at all.
static inline bool kma_world_is(global kma_world *w, uint first, uint last, uint self)
{
#if KMA_DEBUG
    if (self != 0 && !kma_world_lives(w, self))
        return kma_world_expect(w, first, last, self);
#endif
    return kma_world_type(w, self) - 1 - first <= last - first; // type 0 wraps
}

#endif
