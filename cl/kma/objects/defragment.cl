// Defragmentation of a class. Sources are its emptiest blocks, targets its fullest ones that have
// room. The objects of sources move to free slots of targets, and the sources end.
//
// CompactGpu (Springer and Masuhara, ISMM 2019) merges blocks in pairs, in many passes. Here blocks
// are chosen by their number of objects, so one pass is enough.
//
// No other kernel runs meanwhile. The steps, one kernel each (kernels/reference_kernels.cl); the
// device decides what to do, so the host reads nothing back:
//
//   1. fills    Count blocks by their objects.
//   2. plan     Decide which blocks are sources, which are targets (reference_layout.cl).
//   3. sums     Each part of the world, a range of blocks for a work-item, sums up what it has.
//   4. scan     One work-group replaces these sums by those of all parts in front.
//   5. sort     Each part lists its targets from the list's begin on, its sources from the end on.
//               Beside a target stands the number of its first free slot, beside a source that of
//               its first object, counted over all targets or sources.
//   6. move     Copy object number i to free slot number i. Behind a barrier write where each
//               object went into the source's own memory.
//   7. settle   Update states, types and trees. Sources are free now; nothing takes them yet.
//   8. forward  Replace each reference to an object of a source by what stands there. A bit for
//               each block tells whether it was a source.
//
// Targets have at least as many free slots as sources have objects.
#ifndef KMA_OBJECTS_DEFRAGMENT_CL
#define KMA_OBJECTS_DEFRAGMENT_CL

#include "kma/objects/visit.cl"

// Sources and targets in front of some place.
typedef struct kma_block_lists {
    uint equal; // blocks with `limit` objects
    uint sources, objects;
    uint targets, room;
} kma_block_lists;

// Objects of a block of class cls; 0: it is of another one, or free.
static inline uint kma_world_objects_in(global kma_world *w, uint cls, uint block)
{
    global kma_world_block *b = kma_world_block_at(w, block);
    if (kma_load_u32(&b->type, KMA_RELAXED) != cls + 1)
        return 0;
    return kma_slots_count(kma_slots_load(&b->state, KMA_RELAXED) &
                           ~kma_slots_pad(KMA_WORLD_SLOTS(cls)));
}

// Blocks of each part: whole words of a bit for each.
static inline uint kma_world_part_blocks(uint blocks, uint parts)
{
    return ((blocks + 31) / 32 + parts - 1) / parts * 32;
}

// Adds a block with so many objects.
static inline void kma_block_sums_add(kma_block_sums *sums, uint slots, uint limit, uint objects)
{
    if (objects == 0)
        return;
    if (objects < limit) {
        sums->fewer++;
        sums->fewer_objects += objects;
    } else if (objects == limit) {
        sums->equal++;
    } else if (objects < slots) {
        sums->more++;
        sums->more_room += slots - objects;
    }
}

// Sources and targets of all that was summed up.
static inline kma_block_lists kma_block_lists_of(kma_block_sums sums, uint slots, uint limit,
                                                 uint extra)
{
    const uint taken = min(sums.equal, extra), left = sums.equal - taken, room = slots - limit;
    kma_block_lists lists;
    lists.equal = sums.equal;
    lists.sources = sums.fewer + taken;
    lists.objects = sums.fewer_objects + taken * limit;
    lists.targets = sums.more + (room != 0 ? left : 0);
    lists.room = sums.more_room + left * room;
    return lists;
}

// The last of `count` numbers in ascending order that is not above `n`; the first is not.
static inline uint kma_last_not_above(const global uint *numbers, uint count, uint n)
{
    uint at = 0;
    for (uint span = count; span > 1;) { // halves: the number is among the `span` from `at` on
        const uint half_span = span / 2;
        if (numbers[at + half_span] <= n) {
            at += half_span;
            span -= half_span;
        } else {
            span = half_span;
        }
    }
    return at;
}

// Where object number `n` of the sources goes: a reference.
static inline uint kma_world_destination(global kma_world *w, const global uint *list,
                                         const global uint *firsts, uint targets, uint n)
{
    const uint at = kma_last_not_above(firsts, targets, n), block = list[at];
    const kma_slots state = kma_slots_load(&kma_world_block_at(w, block)->state, KMA_RELAXED);
    return kma_world_ref(block, kma_slots_nth((kma_slots)~state, n - firsts[at]));
}

// Gives a target its new objects, those from number `first` on: its first free slots.
static inline void kma_world_settle_target(global kma_world *w, uint cls, uint block, uint first,
                                           uint objects)
{
    global kma_world_block *b = kma_world_block_at(w, block);
    const kma_slots state = kma_slots_load(&b->state, KMA_RELAXED);
    kma_slots open = (kma_slots)~state;
    const uint room = kma_slots_count(open), got = first < objects ? min(room, objects - first) : 0;
    if (got < room)
        open &= kma_slots_below(kma_slots_nth(open, got));
    kma_slots_store(&b->state, state | open, KMA_RELAXED);
    if (got == room)
        kma_bit_tree_take(kma_world_active(w, cls), w->blocks, block);
}

// Ends a source.
static inline void kma_world_settle_source(global kma_world *w, uint cls, uint block)
{
    global kma_world_block *b = kma_world_block_at(w, block);
    kma_slots_store(&b->state, KMA_SLOTS_ALL, KMA_RELAXED);
    kma_store_u32(&b->type, 0, KMA_RELAXED);
    kma_bit_tree_take(kma_world_active(w, cls), w->blocks, block);
    kma_bit_tree_put(kma_world_free(w), w->blocks, block);
}

#endif
