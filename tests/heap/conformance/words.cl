// What the soak and the benchmarks paint into every byte of a block: by words, for they do it to millions of blocks. Keys
// that are near each other must have been mixed before.
static inline uint painted_word(uint key, uint i)
{
    return (key + i) * 0x9e3779b9u;
}

static inline void paint_words(global uchar *block, uint bytes, uint key)
{
    global uint *const words = (global uint *)block;
    for (uint i = 0; i < bytes / 4; i++)
        words[i] = painted_word(key, i);
    for (uint i = bytes / 4 * 4; i < bytes; i++)
        block[i] = (uchar)(painted_word(key, i) >> 24);
}

// How many words, and bytes behind the last one, are not as they were painted.
static inline uint wrong_words(const global uchar *block, uint bytes, uint key)
{
    const global uint *const words = (const global uint *)block;
    uint wrong = 0;
    for (uint i = 0; i < bytes / 4; i++)
        wrong += words[i] != painted_word(key, i) ? 1 : 0;
    for (uint i = bytes / 4 * 4; i < bytes; i++)
        wrong += block[i] != (uchar)(painted_word(key, i) >> 24) ? 1 : 0;
    return wrong;
}
