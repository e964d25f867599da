// The rules of breadth-first search that all versions share. A node that edges lead to from a node
// of level n, and from none of a lower one, is of level n + 1; the first one is of level 0. A step
// finds all nodes of one level. Who of several finds a node is chance, its level is not; so all
// versions agree in every node after any number of steps.
//
// The program defines PART: edges of a node are followed in parts, of so many edges at most.
#ifndef BFS_RULES_CL
#define BFS_RULES_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"

#ifndef PART // so that this file compiles by itself
#define PART 32u
#endif

#define UNREACHED 0xffffffffu

static inline bool is_open(global kma_atomic_u32 *level)
{
    return kma_load_u32(level, KMA_RELAXED) == UNREACHED;
}

// Whether the node is reached by the caller, and by nobody before.
static inline bool reach(global kma_atomic_u32 *level, uint now)
{
    return kma_cas_u32(level, UNREACHED, now, KMA_RELAXED) == UNREACHED;
}

#endif
