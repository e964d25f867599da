// What is painted into blocks, how sizes come about, and the counts that kernels make: for both programs.

// Places in the array of counts.
#define BENCH_NULLS 0
#define BENCH_WRONG 1
#define BENCH_LOWEST 2  // ref
#define BENCH_HIGHEST 3 // ref behind the end

// The size of work-item t: `low`, or `low` to `low + span - 1`.
static inline uint bench_size(uint t, uint low, uint span)
{
    return span > 1 ? low + kma_mix32(t) % span : low;
}

static inline uint bench_word(uint owner, uint i)
{
    return (kma_mix32(owner) + i) * 0x9e3779b9u;
}

static inline void bench_paint(global uchar *block, uint bytes, uint owner)
{
    global uint *const words = (global uint *)block;
    for (uint i = 0; i < bytes / 4; i++)
        words[i] = bench_word(owner, i);
    for (uint i = bytes / 4 * 4; i < bytes; i++)
        block[i] = (uchar)(bench_word(owner, i) >> 24);
}

static inline uint bench_wrong(const global uchar *block, uint bytes, uint owner)
{
    const global uint *const words = (const global uint *)block;
    uint wrong = 0;
    for (uint i = 0; i < bytes / 4; i++)
        wrong += words[i] != bench_word(owner, i) ? 1 : 0;
    for (uint i = bytes / 4 * 4; i < bytes; i++)
        wrong += block[i] != (uchar)(bench_word(owner, i) >> 24) ? 1 : 0;
    return wrong;
}
