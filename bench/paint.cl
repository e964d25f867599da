// The contents painted into blocks, the work-items' sizes, and the kernels' counts. For heap.cl and
// plain.cl.
#include "words.cl" // the conformance suite's

// Indices into the array of counts.
#define BENCH_NULLS 0
#define BENCH_WRONG 1
#define BENCH_LOWEST 2  // ref
#define BENCH_HIGHEST 3 // ref after the end

// The size of work-item t: `low`, or `low` to `low + span - 1`.
static inline uint bench_size(uint t, uint low, uint span)
{
    return span > 1 ? low + kma_mix32(t) % span : low;
}

// Paints a block with a pattern of its slot, `owner`.
static inline void bench_paint(global uchar *block, uint bytes, uint owner)
{
    paint_words(block, bytes, kma_mix32(owner));
}

static inline uint bench_wrong(const global uchar *block, uint bytes, uint owner)
{
    return wrong_words(block, bytes, kma_mix32(owner));
}

// Whether a block lies in a heap of `heap_bytes` bytes. Blocks outside are counted, not painted.
static inline bool bench_inside(uint ref, uint bytes, ulong heap_bytes)
{
    return (ulong)ref * 16 + bytes <= heap_bytes;
}
