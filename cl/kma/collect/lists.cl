// Long lists: one work-item that follows one takes about a microsecond for each element on a GPU.
// When few work-items are left with something to visit, a pass of these steps finds where the rest
// of the work-items can begin, as list ranking does by splitters (Reid-Miller, List ranking and
// list scan on the Cray C-90, SPAA 1994):
//
// 1. choose   One splitter in each tile of 256 units, by chance: an object without a mark that has
//             reference number `field`.
// 2. walk     From each splitter along `field`, to the next splitter. From each object in the queue
//             too: what is met is reached.
// 3. double   Each reached splitter tells the one that it leads to, and each splitter learns where
//             its next one leads: after k such kernels all within 2^k splitters are reached.
// 4. queue    Marks and queues all reached splitters.
//
// Splitters are on lists that are garbage, too, and what they lead to may be gone: each step looks
// at the type table first, and nothing is written but the tables here. What is reached, references
// lead to from a root.
#ifndef KMA_COLLECT_LISTS_CL
#define KMA_COLLECT_LISTS_CL

#include "kma/collect/mark.cl"

#define KMA_LIST_STEPS 8192u // of a walk at most
#define KMA_LIST_NONE 0xffffffffu

// Whether reference number `field` of an object leads on: it is one, and has no mark.
static inline bool kma_list_has_field(const kma_marking *m, uint ref, uint field)
{
    const uint type = kma_mark_type(m, ref);
    return type != 0 && type < KMA_TYPE_ARRAY && m->types[type - 1].references > field &&
           (kma_load_u32(&m->marks[ref / 32], KMA_RELAXED) >> ref % 32 & 1) == 0;
}

// What reference number `field` of an object leads to.
static inline uint kma_list_follow(const kma_marking *m, uint ref, uint field)
{
    const uint first = m->types[m->table[ref] - 1].first;
    return *(global const uint *)((global const uchar *)kma_deref_in(m->heap, ref) +
                                  m->references[first + field].offset);
}

// The splitter of a tile, KMA_NULL if it has no object that can be one.
static inline uint kma_list_choose(const kma_marking *m, uint tile, uint field)
{
    uint chosen = KMA_NULL, least = 0xffffffffu;
    const uint begin = tile << KMA_LIST_TILE_SHIFT;
    const uint end = min(m->limit - begin, 1u << KMA_LIST_TILE_SHIFT) + begin;
    for (uint four = begin; four < end; four += 4) {
        if (*(global const uint *)&m->table[four] == 0)
            continue;
        for (uint ref = four; ref < four + 4; ref++) {
            const uint random = kma_mix32(ref);
            if (random < least && kma_list_has_field(m, ref, field)) {
                chosen = ref;
                least = random;
            }
        }
    }
    return chosen;
}

// The tile of the first splitter that is met from an object on; KMA_LIST_NONE if none is met.
static inline uint kma_list_walk(const kma_marking *m, global const uint *splitters, uint ref,
                                 uint field)
{
    for (uint step = 0; step < KMA_LIST_STEPS; step++) {
        ref = kma_list_follow(m, ref, field);
        if (!kma_list_has_field(m, ref, field))
            return KMA_LIST_NONE;
        if (splitters[ref >> KMA_LIST_TILE_SHIFT] == ref)
            return ref >> KMA_LIST_TILE_SHIFT;
    }
    return KMA_LIST_NONE;
}

#endif
