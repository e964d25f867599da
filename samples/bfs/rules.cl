// The rules of breadth-first search, which all versions share. The first node has level 0. A node
// has level n + 1 if an edge leads to it from a node of level n, and none from a lower level. A
// step finds all nodes of one level. Which work-item reaches a node is a race, but the node's level
// is not: all versions agree in every node after any number of steps.
//
// The program defines PART: a node's edges are followed in parts of at most PART edges.
#ifndef BFS_RULES_CL
#define BFS_RULES_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"

#ifndef PART // lets this file compile alone
#define PART 32u
#endif

#define UNREACHED 0xffffffffu

static inline bool is_open(global kma_atomic_u32 *level)
{
    return kma_load_u32(level, KMA_RELAXED) == UNREACHED;
}

// True if the caller is the first to reach the node. Any lane; relaxed.
static inline bool reach(global kma_atomic_u32 *level, uint now)
{
    return kma_cas_u32(level, UNREACHED, now, KMA_RELAXED) == UNREACHED;
}

#endif
