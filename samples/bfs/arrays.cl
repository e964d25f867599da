// Breadth-first search by hand, in arrays: a sparse matrix in CSR form, and a queue of parts of
// rows, which is the frontier. Rules: rules.cl.
#include "kma/platform/lanes.cl"
#include "rules.cl"

static inline uint parts_of(uint edges)
{
    return (edges + PART - 1) / PART;
}

// Writes the parts of a node's edges to the queue from index `at` on. Returns the next free index.
static inline uint put_parts(global uint2 *queue, uint at, uint first, uint end)
{
    for (uint begin = first; begin < end; begin += PART)
        queue[at++] = (uint2)(begin, min(begin + PART, end));
    return at;
}

// At the start: enqueues the first node. One work-item.
kernel void start(uint from, global const uint *firsts, global kma_atomic_u32 *levels,
                  global uint2 *queue, global kma_atomic_u32 *tail)
{
    if (get_global_id(0) != 0)
        return;
    kma_store_u32(&levels[from], 0, KMA_RELAXED);
    kma_store_u32(tail, put_parts(queue, 0, firsts[from], firsts[from + 1]), KMA_RELAXED);
}

// Reserves `parts` elements of the queue for the caller, and returns the first. Any lane; converged
// lanes share one atomic.
static inline uint take_places(global kma_atomic_u32 *tail, uint parts)
{
    const kma_lanes here = kma_lanes_active();
    const kma_scan places = kma_lanes_scan(here, parts);
    uint first = 0;
    if (kma_lane_leads(here) && places.total != 0)
        first = kma_fetch_add_u32(tail, places.total, KMA_RELAXED);
    return kma_lanes_first(here, first) + places.before;
}

// Gives level `now` to the open nodes that the frontier reaches: elements `begin` … `end` - 1 of
// the queue. One work-item per part.
kernel void follow(uint now, uint begin, uint end, global const uint *firsts,
                   global const uint *targets, global kma_atomic_u32 *levels, global uint2 *queue,
                   global kma_atomic_u32 *tail)
{
    const uint mine = begin + (uint)get_global_id(0);
    if (mine >= end)
        return;
    const uint2 part = queue[mine];
    for (uint edge = part.x; edge < part.y; edge += 32) {
        uint open = 0, reached = 0, parts = 0;
        for (uint i = 0; i < 32; i++) // 32 independent loads
            open |= edge + i < part.y && is_open(&levels[targets[edge + i]]) ? 1u << i : 0;
        for (; open != 0; open &= open - 1) {
            const uint i = kma_lowest_bit(open), node = targets[edge + i];
            if (reach(&levels[node], now)) {
                reached |= 1u << i;
                parts += parts_of(firsts[node + 1] - firsts[node]);
            }
        }
        uint at = take_places(tail, parts);
        for (; reached != 0; reached &= reached - 1) {
            const uint node = targets[edge + kma_lowest_bit(reached)];
            at = put_parts(queue, at, firsts[node], firsts[node + 1]);
        }
    }
}
