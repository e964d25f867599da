// References from one object to another. For each class the generated text has a function that
// visits the references of an object (host/src/objects/schema_text.cpp). All code that follows
// references uses it, and sees the same ones.
//
// No other kernel runs meanwhile.
#ifndef KMA_OBJECTS_VISIT_CL
#define KMA_OBJECTS_VISIT_CL

#include "kma/objects/check.cl"
#include "kma/objects/reference_layout.cl"

#define KMA_VISIT_FORWARD 0u // replace references to objects that moved
#define KMA_VISIT_CHECK 1u   // note references to no object
#define KMA_VISIT_MARK 2u    // the same, and mark the objects of the other references

// The state of marking, in addition to a visit.
typedef struct kma_visit_marking {
    global kma_atomic_u32 *marks; // two words for each block, a bit for each slot
    global kma_reach *reach;
    global kma_atomic_u32 *count; // of the queue
    global uint *queue;           // of marked objects that are to be visited
    uint capacity;
    uint next; // a marked object that the caller visits itself; 0: none
} kma_visit_marking;

// The purpose of a visit.
typedef struct kma_visit {
    uint task;
    uint first, last;         // fields that can name none of these classes are left out
    const global uint *moved; // KMA_VISIT_FORWARD: a bit for each block, set in sources
    global kma_dangling_log *dangling; // KMA_VISIT_CHECK, KMA_VISIT_MARK
    kma_visit_marking *marking;        // KMA_VISIT_MARK
} kma_visit;

// The forwarding words of a block from which objects have moved, one for each slot: the reference
// of that slot's object now. A slot without an object has its own reference.
static inline global uint *kma_world_forwards(global kma_world *w, uint block)
{
    return (global uint *)kma_world_field(w, kma_world_ref(block, 0), 0, 0);
}

// True if `self` is an object of one of the classes `first` to `last`.
static inline bool kma_world_exists(global kma_world *w, uint first, uint last, uint self)
{
    const uint type = kma_world_type(w, self);
    return type > first && type - 1 <= last && kma_world_lives(w, self);
}

// Queues an object that is marked.
static inline void kma_visit_push(const kma_visit_marking *marking, uint object)
{
    const uint place = kma_fetch_add_u32(marking->count, 1, KMA_RELAXED);
    if (place < marking->capacity)
        marking->queue[place] = object;
    else
        kma_store_u32(&marking->reach->dropped, 1, KMA_RELAXED);
}

// Marks an object. If the caller is the first to do so, it keeps the object to visit it, or queues
// it.
static inline void kma_visit_mark(kma_visit_marking *marking, uint object)
{
    const uint slot = kma_world_slot_of(object), bit = 1u << slot % 32;
    global kma_atomic_u32 *const word = &marking->marks[2 * kma_world_block_of(object) + slot / 32];
    if ((kma_load_u32(word, KMA_RELAXED) & bit) != 0 ||
        (kma_fetch_or_u32(word, bit, KMA_RELAXED) & bit) != 0)
        return;
    if (marking->next == 0)
        marking->next = object;
    else
        kma_visit_push(marking, object);
}

// Visits one reference, which may lead to an object of one of the classes `first` to `last`.
static inline void kma_visit_reference(global kma_world *w, kma_visit visit, global uint *reference,
                                       kma_dangling place, uint first, uint last)
{
    const uint to = *reference, block = kma_world_block_of(to);
    if (to == 0)
        return;
    if (visit.task == KMA_VISIT_FORWARD) {
        const uint slot = kma_world_slot_of(to);
        const bool is_in = block < w->blocks && slot < KMA_SLOTS_BITS;
        if (is_in && (visit.moved[block / 32] >> block % 32 & 1u) != 0)
            *reference = kma_world_forwards(w, block)[slot];
    } else if (!kma_world_exists(w, first, last, to)) {
        const uint n = kma_fetch_add_u32(&visit.dangling->count, 1, KMA_RELAXED);
        place.reference = to;
        if (n < KMA_DANGLING_KEPT)
            visit.dangling->first[n] = place;
    } else if (visit.task == KMA_VISIT_MARK) {
        kma_visit_mark(visit.marking, to);
    }
}

// Visits the elements of a field: number `column`, at `begin` in a block of `slots` objects, with
// references to the classes `first` to `last`.
static inline void kma_visit_field(global kma_world *w, kma_visit visit, uint self, uint column,
                                   uint begin, uint elements, uint slots, uint first, uint last)
{
    if (visit.last < first || visit.first > last)
        return;
    for (uint i = 0; i < elements; i++) {
        const kma_dangling place = {self, column, i, 0};
        kma_visit_reference(w, visit,
                            (global uint *)kma_world_field(w, self, begin + i * slots * 4u, 4u),
                            place, first, last);
    }
}

// The element of type `unit` of an object's slot, in the array at `begin` of its block.
#define KMA_WORLD_UNIT(unit, w, self, begin)                                                       \
    (*(global unit *)kma_world_field(w, self, begin, sizeof(unit)))

#endif
