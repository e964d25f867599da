// Breadth-first search with objects: nodes, and visits, which form the frontier. A visit follows
// some edges of a node that was reached in the step before, then it is deleted. The work-item that
// reaches a node creates visits for its edges, as VertexActivation of bfs/bfs.cu in
// github.com/prg-titech/dynasoar does. Edges are an array of references; a node's edges are
// adjacent. Rules: rules.cl.
#include "rules.cl"

#ifndef AT_ONCE
#define AT_ONCE 8u // nodes, and visits, whose accesses do not wait for one another
#endif

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

// The length of visits of a node with so many edges: at most 64 visits, of PART edges each, or of
// more. Longer visits are split further before the next step.
static inline uint length_of_visits(uint edges)
{
    return PART * ((edges + 64 * PART - 1) / (64 * PART));
}

// The number of these visits; records their length if it is above PART.
static inline uint visits_of(uint edges, global frontier *frontier)
{
    const uint length = length_of_visits(edges);
    if (length > PART)
        kma_fetch_or_u32(&frontier->longest, length, KMA_RELAXED);
    return (edges + length - 1) / length;
}

// Creates `count` visits, which are all that ranges of edges need: the nodes' first edges, and the
// ends of their edges.
static inline void visits_begin(global kma_world *w, const uint2 *ranges, uint count)
{
    Visit visits[AT_ONCE];
    uint range = 0, begin = ranges[0].x;
    while (count != 0) { // ends: `made` is not 0
        const uint made = Visit_new_many(w, min(count, AT_ONCE), visits);
        if (made == 0)
            break;
        for (uint i = 0; i < made; i++) {
            if (begin == ranges[range].y)
                begin = ranges[++range].x;
            const uint length = length_of_visits(ranges[range].y - ranges[range].x);
            Visit_begin(w, visits[i]) = begin;
            begin = min(begin + length, ranges[range].y);
            Visit_end(w, visits[i]) = begin;
        }
        count -= made;
    }
}

static inline void visit_share_out(global kma_world *w, Visit self, global frontier *frontier)
{
    const uint begin = Visit_begin(w, self), end = Visit_end(w, self);
    if (end - begin <= PART)
        return;
    const uint2 range = (uint2)(begin, end);
    visits_begin(w, &range, visits_of(end - begin, frontier));
    Visit_delete(w, self);
}

// At the start: visits the first node. One work-item.
kernel void start(global kma_world *w, Node from, global frontier *frontier)
{
    if (get_global_id(0) != 0 || from == 0 || !reach(Node_level_at(w, from), 0) ||
        Node_edges(w, from) == 0)
        return;
    const uint first = Node_first(w, from), edges = Node_edges(w, from);
    const uint2 range = (uint2)(first, first + edges);
    visits_begin(w, &range, visits_of(edges, frontier));
}

// Gives level `now` to open nodes, bit i of `open` for targets[i], unless another visit does. Their
// edges become `ranges`, if they have any. Returns how many visits these need.
static inline uint reach_all(global kma_world *w, uint open, uint now, global const Node *targets,
                             uint2 *ranges, global frontier *frontier)
{
    uint count = 0, reached = 0;
    while (open != 0) { // ends: AT_ONCE bits fewer each time
        uint2 range[AT_ONCE]; // their loads and atomics do not wait for one another
        bool is_mine[AT_ONCE];
        for (uint i = 0; i < AT_ONCE; i++, open &= open - 1) {
            is_mine[i] = open != 0;
            if (!is_mine[i])
                continue;
            const Node node = targets[kma_lowest_bit(open)];
            range[i] = (uint2)(Node_first(w, node), Node_edges(w, node));
            is_mine[i] = reach(Node_level_at(w, node), now);
        }
        for (uint i = 0; i < AT_ONCE; i++)
            if (is_mine[i] && range[i].y != 0) {
                ranges[reached++] = (uint2)(range[i].x, range[i].x + range[i].y);
                count += visits_of(range[i].y, frontier);
            }
    }
    return count;
}

static inline void visit_follow(global kma_world *w, Visit self, uint now,
                                global const Node *targets, global frontier *frontier)
{
    const uint end = Visit_end(w, self);
    bool goes_on = false;
    for (uint begin = Visit_begin(w, self); begin < end; begin += 32) {
        uint open = 0;
        for (uint i = 0; i < 32; i++) // 32 independent loads
            open |= begin + i < end && is_open(Node_level_at(w, targets[begin + i])) ? 1u << i : 0;
        uint2 ranges[32];
        const uint count = reach_all(w, open, now, &targets[begin], ranges, frontier);
        if (count != 0)
            visits_begin(w, ranges, count);
        goes_on = goes_on || count != 0;
    }
    if (goes_on)
        kma_store_u32(&frontier->level, now, KMA_RELAXED);
    Visit_delete(w, self);
}
