// The kernels of the suite `adjacency`: a graph with an array of neighbours for each vertex. Arrays
// double and halve as edges are inserted and deleted.
//
// Edge number e leaves vertex bench_source(e). An array has one word for each edge, the edge's
// number, by which it is verified. refs[v]: the array; degrees[v]: its edges; capacities[v]: its
// words, a power of two from BENCH_LEAST on, or 0.
#include "kma/kma.cl"
#include "paint.cl"

#define BENCH_LEAST 4u   // words of the shortest array: one unit of a heap
#define BENCH_LONG 256u  // words; longer arrays are copied by a whole work-group
#define BENCH_GROUP 256u // work-items of a group

// The vertex, of 2^bits, that edge `edge` leaves. skewed: distributed as by R-MAT with Graph500's
// parameters (a + b = 0.76): each bit is 1 with probability 61/256. An odd factor scatters the
// vertices of high degree.
static inline uint bench_source(uint edge, uint bits, uint skewed)
{
    uint vertex = kma_mix32(edge ^ 0x5bd1e995u);
    if (skewed) {
        uint random = vertex;
        vertex = 0;
        for (uint bit = 0; bit < bits; bit++) {
            if ((bit & 3) == 0)
                random = kma_mix32(random + 0x9e3779b9u);
            vertex |= (random >> (bit & 3) * 8 & 255) < 61 ? 1u << bit : 0;
        }
        vertex *= 0x9e3779b1u;
    }
    return vertex & ((1u << bits) - 1);
}

// Counts, for each vertex, the edges from `first` on that leave it.
kernel void count_edges(volatile global uint *changes, uint first, uint bits, uint skewed)
{
    atomic_inc(&changes[bench_source(first + (uint)get_global_id(0), bits, skewed)]);
}

// The new capacity of an array for `edges` edges: `capacity` doubled until they fit, or halved
// until more than a quarter is full.
static inline uint bench_capacity(uint capacity, uint edges)
{
    if (edges == 0)
        return 0;
    capacity = max(capacity, BENCH_LEAST);
    while (capacity < edges)
        capacity *= 2;
    while (capacity > BENCH_LEAST && edges * 4 <= capacity)
        capacity /= 2;
    return capacity;
}

// The degree of a vertex after a batch that inserts (`comes`) or deletes edges. *kept: the edges
// that stay in its array; a deletion removes the last ones.
static inline uint bench_change(global uint *degrees, global uint *changes, uint comes, uint *kept)
{
    const uint me = (uint)get_global_id(0);
    const uint change = changes[me];
    const uint wanted = comes ? degrees[me] + change : degrees[me] - change;
    changes[me] = 0;
    *kept = min(degrees[me], wanted);
    return wanted;
}

// Copies whole units: four loads, then four stores.
static inline void bench_copy(global uint4 *to, const global uint4 *from, uint words)
{
    const uint units = (words + 3) / 4;
    uint i = 0;
    for (; i + 4 <= units; i += 4) {
        const uint4 a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
        to[i] = a;
        to[i + 1] = b;
        to[i + 2] = c;
        to[i + 3] = d;
    }
    for (; i < units; i++)
        to[i] = from[i];
}

// Resizes each vertex's array for its edges after the batch: malloc, copy, free. A vertex keeps its
// array if malloc returns NULL.
kernel void resize_arrays(global kma_heap *heap, global kma_ref *refs, global uint *degrees,
                          global uint *capacities, global uint *changes, uint comes,
                          volatile global uint *counts)
{
    local kma_ref moved[BENCH_GROUP];
    local uint long_lanes[BENCH_GROUP];
    local uint long_count;
    const uint me = (uint)get_global_id(0);
    const uint lane = (uint)get_local_id(0);
    if (lane == 0)
        long_count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint kept;
    const uint wanted = bench_change(degrees, changes, comes, &kept);
    const uint words = capacities[me];
    const uint capacity = bench_capacity(words, wanted);
    const bool is_resized = capacity != words;
    const kma_ref old = refs[me];
    kma_ref mine = KMA_NULL;
    degrees[me] = kept;
    if (is_resized && capacity != 0) {
        global uint4 *const array = (global uint4 *)kma_malloc(heap, capacity * 4);
        mine = kma_ref_of(heap, array);
        if (mine == KMA_NULL)
            atomic_inc(&counts[BENCH_NULLS]);
        else if (kept > BENCH_LONG)
            long_lanes[atomic_inc(&long_count)] = lane;
        else
            bench_copy(array, (const global uint4 *)kma_deref(heap, old), min(kept, words));
    }
    moved[lane] = mine;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint i = 0; i < long_count; i++) {
        const uint other = long_lanes[i];
        const uint vertex = me - lane + other;
        global uint *const to = (global uint *)kma_deref(heap, moved[other]);
        const global uint *const from = (const global uint *)kma_deref(heap, refs[vertex]);
        const uint end = min(degrees[vertex], capacities[vertex]);
        for (uint word = lane; word < end; word += BENCH_GROUP)
            to[word] = from[word];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (is_resized && (capacity == 0 || mine != KMA_NULL)) {
        kma_free(heap, kma_deref(heap, old));
        refs[me] = mine;
        capacities[me] = capacity;
    }
}

// As resize_arrays, by kma_realloc.
kernel void realloc_arrays(global kma_heap *heap, global kma_ref *refs, global uint *degrees,
                           global uint *capacities, global uint *changes, uint comes,
                           volatile global uint *counts)
{
    const uint me = (uint)get_global_id(0);
    uint kept;
    const uint wanted = bench_change(degrees, changes, comes, &kept);
    const uint capacity = bench_capacity(capacities[me], wanted);
    degrees[me] = kept;
    if (capacity == capacities[me])
        return;
    global void *const old = kma_deref(heap, refs[me]);
    if (capacity == 0) {
        kma_free(heap, old);
        refs[me] = KMA_NULL;
        capacities[me] = 0;
        return;
    }
    const kma_ref mine = kma_ref_of(heap, kma_realloc(heap, old, capacity * 4));
    if (mine == KMA_NULL) {
        atomic_inc(&counts[BENCH_NULLS]);
    } else {
        refs[me] = mine;
        capacities[me] = capacity;
    }
}

// Appends each edge to its vertex's array, unless that is full because it could not grow.
kernel void insert_edges(global kma_heap *heap, global const kma_ref *refs,
                         volatile global uint *degrees, global const uint *capacities, uint first,
                         uint bits, uint skewed)
{
    const uint edge = first + (uint)get_global_id(0);
    const uint vertex = bench_source(edge, bits, skewed);
    const uint place = atomic_inc(&degrees[vertex]);
    if (place < capacities[vertex])
        ((global uint *)kma_deref(heap, refs[vertex]))[place] = edge;
}

// Counts words of arrays that are no edge of their vertex or occur twice (`seen`: a bit for each of
// `edges`), and vertices with another degree than in `expected`.
kernel void verify_graph(global kma_heap *heap, ulong heap_bytes, global const kma_ref *refs,
                         global const uint *degrees, global const uint *capacities,
                         global const uint *expected, volatile global uint *seen, uint edges,
                         uint bits, uint skewed, volatile global uint *counts)
{
    const uint me = (uint)get_global_id(0);
    const uint degree = degrees[me];
    uint bad = degree != expected[me] ? 1 : 0;
    if (degree > capacities[me] || (degree != 0 && refs[me] == KMA_NULL) ||
        !bench_inside(refs[me], capacities[me] * 4, heap_bytes)) {
        bad++;
    } else if (degree != 0) {
        const global uint *const array = (const global uint *)kma_deref(heap, refs[me]);
        for (uint i = 0; i < degree; i++) {
            const uint edge = array[i];
            const bool is_own = edge < edges && bench_source(edge, bits, skewed) == me;
            bad += !is_own || (atomic_or(&seen[edge / 32], 1u << edge % 32) >> edge % 32 & 1) != 0;
        }
    }
    if (bad != 0)
        atomic_add(&counts[BENCH_WRONG], bad);
}
