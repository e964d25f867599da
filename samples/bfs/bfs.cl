// Breadth-first search with objects: nodes, and visits, which are the frontier. A visit follows
// some edges of a node that was reached in the step before, and ends. Who reaches a node makes
// visits for its edges (as VertexActivation of bfs/bfs.cu in github.com/prg-titech/dynasoar). Edges
// are in an array of references, those of one node side by side. The rules: rules.cl.
#include "rules.cl"

// What the host must know of the visits that there are.
typedef struct frontier {
    kma_atomic_u32 level;   // the last one of whose nodes there were some
    kma_atomic_u32 longest; // not less than the edges of any, if some have more than PART; else 0
} frontier;

static inline void node_init(global kma_world *w, Node self, uint i, global const uint *firsts,
                             global Node *nodes)
{
    kma_store_u32(Node_level_at(w, self), UNREACHED, KMA_RELAXED);
    Node_first(w, self) = firsts[i];
    Node_edges(w, self) = firsts[i + 1] - firsts[i];
    nodes[i] = self;
}

// When all nodes are there: the numbers of those that edges lead to become references. Any number
// of work-items.
kernel void edges_init(global kma_world *w, uint edges, global const uint *sinks,
                       global const Node *nodes, global Node *targets)
{
    (void)w;
    for (uint i = (uint)get_global_id(0); i < edges; i += (uint)get_global_size(0))
        targets[i] = nodes[sinks[i]];
}

// Makes visits for edges, 64 at most: of PART each, or of more, which are shared out further before
// the next step.
static inline void visits_begin(global kma_world *w, uint first, uint end,
                                global frontier *frontier)
{
    const uint length = PART * ((end - first + 64 * PART - 1) / (64 * PART));
    if (length > PART)
        kma_fetch_or_u32(&frontier->longest, length, KMA_RELAXED);
    for (uint begin = first; begin < end; begin += length) {
        const Visit visit = Visit_new(w);
        if (visit == 0)
            break;
        Visit_begin(w, visit) = begin;
        Visit_end(w, visit) = min(begin + length, end);
    }
}

static inline void visit_share_out(global kma_world *w, Visit self, global frontier *frontier)
{
    const uint begin = Visit_begin(w, self), end = Visit_end(w, self);
    if (end - begin <= PART)
        return;
    visits_begin(w, begin, end, frontier);
    Visit_delete(w, self);
}

// At the beginning: the first node. One work-item.
kernel void start(global kma_world *w, Node from, global frontier *frontier)
{
    if (get_global_id(0) == 0 && from != 0 && reach(Node_level_at(w, from), 0))
        visits_begin(w, Node_first(w, from), Node_first(w, from) + Node_edges(w, from), frontier);
}

// Nodes that this reaches are of level `now`.
static inline void visit_follow(global kma_world *w, Visit self, uint now,
                                global const Node *targets, global frontier *frontier)
{
    const uint end = Visit_end(w, self);
    bool goes_on = false;
    for (uint begin = Visit_begin(w, self); begin < end; begin += 32) {
        uint open = 0;
        for (uint i = 0; i < 32; i++) // all at once: loads that need not wait for each other
            open |= begin + i < end && is_open(Node_level_at(w, targets[begin + i])) ? 1u << i : 0;
        for (; open != 0; open &= open - 1) {
            const Node node = targets[begin + kma_lowest_bit(open)];
            const uint edges = Node_edges(w, node);
            if (!reach(Node_level_at(w, node), now) || edges == 0)
                continue;
            visits_begin(w, Node_first(w, node), Node_first(w, node) + edges, frontier);
            goes_on = true;
        }
    }
    if (goes_on)
        kma_store_u32(&frontier->level, now, KMA_RELAXED);
    Visit_delete(w, self);
}
