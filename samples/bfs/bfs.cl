// Breadth-first search with objects: nodes, and visits, which form the frontier. A visit follows
// some edges of a node that was reached in the step before, then it is deleted. The work-item that
// reaches a node creates visits for its edges, as VertexActivation of bfs/bfs.cu in
// github.com/prg-titech/dynasoar does. Edges are an array of references; a node's edges are
// adjacent. Rules: rules.cl.
#include "rules.cl"

// What the host must know about the current visits.
typedef struct frontier {
    kma_atomic_u32 level;   // the last level with a node that has edges
    kma_atomic_u32 longest; // 0, or an upper bound of the edges of visits longer than PART
} frontier;

static inline void node_init(global kma_world *w, Node self, uint i, global const uint *firsts,
                             global Node *nodes)
{
    kma_store_u32(Node_level_at(w, self), UNREACHED, KMA_RELAXED);
    Node_first(w, self) = firsts[i];
    Node_edges(w, self) = firsts[i + 1] - firsts[i];
    nodes[i] = self;
}

// Runs after all nodes exist: turns the node numbers at the edges' ends into references. Any number
// of work-items.
kernel void edges_init(global kma_world *w, uint edges, global const uint *sinks,
                       global const Node *nodes, global Node *targets)
{
    (void)w;
    for (uint i = (uint)get_global_id(0); i < edges; i += (uint)get_global_size(0))
        targets[i] = nodes[sinks[i]];
}

// Creates at most 64 visits for the edges, of PART edges each, or of more. Longer visits are split
// further before the next step.
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

// At the start: visits the first node. One work-item.
kernel void start(global kma_world *w, Node from, global frontier *frontier)
{
    if (get_global_id(0) == 0 && from != 0 && reach(Node_level_at(w, from), 0))
        visits_begin(w, Node_first(w, from), Node_first(w, from) + Node_edges(w, from), frontier);
}

// Gives level `now` to the open nodes that this visit reaches.
static inline void visit_follow(global kma_world *w, Visit self, uint now,
                                global const Node *targets, global frontier *frontier)
{
    const uint end = Visit_end(w, self);
    bool goes_on = false;
    for (uint begin = Visit_begin(w, self); begin < end; begin += 32) {
        uint open = 0;
        for (uint i = 0; i < 32; i++) // 32 independent loads
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
