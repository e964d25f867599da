// Long lists. One work-item takes about a microsecond for each element of a list on a GPU. When a
// round has few items left, a pass of these steps finds where more work-items can begin, as list
// ranking does by splitters (Reid-Miller, List ranking and list scan on the Cray C-90, SPAA 1994):
//
// 1. choose   One random splitter in each tile of 256 units: an object without a mark that has
//    reference number `field`.
// 2. walk     From each splitter along `field` to the next splitter. Also from each object in the
//    queue: the first splitter found there is reached.
// 3. double   Each reached splitter marks its next one as reached, and each splitter learns the
//    next one of its next one. After k such kernels all within 2^k splitters are reached.
// 4. queue    Marks and queues all reached splitters.
//
// Splitters may be on lists that are garbage, and references there may dangle: each step looks at
// the type table first, and writes only the tables here. A reached splitter is reachable from a
// root.
#ifndef KMA_COLLECT_LISTS_CL
#define KMA_COLLECT_LISTS_CL

#include "kma/collect/mark.cl"

#define KMA_LIST_STEPS 8192u // of a walk, at most
#define KMA_LIST_NONE 0xffffffffu

// True if `ref` is an unmarked object with reference number `field`.
static inline bool kma_list_has_field(const kma_marking *m, uint ref, uint field)
{
    const uint type = kma_mark_type(m, ref);
    return type != 0 && type < KMA_TYPE_ARRAY && m->types[type - 1].references > field &&
           (kma_load_u32(&m->marks[ref / 32], KMA_RELAXED) >> ref % 32 & 1) == 0;
}

// Returns reference number `field` of an object.
static inline uint kma_list_follow(const kma_marking *m, uint ref, uint field)
{
    const uint first = m->types[m->table[ref] - 1].first;
    return *(global const uint *)((global const uchar *)kma_deref_in(m->heap, ref) +
                                  m->references[first + field].offset);
}

// Returns the splitter of a tile; KMA_NULL if no object there can be one.
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

// Returns the tile of the first splitter after an object along `field`; KMA_LIST_NONE if there is
// none within KMA_LIST_STEPS.
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
