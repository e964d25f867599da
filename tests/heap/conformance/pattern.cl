// What an owner writes into every byte of its block, so that another's write there is found; of blocks above 128 KiB into
// the first and the last 16 bytes.
static inline uchar pattern(uint owner, ulong i)
{
    return (uchar)(kma_mix32(owner) + (uint)i * 7u);
}

static inline ulong painted_in_front(ulong bytes)
{
    return bytes > 131072 ? 16 : bytes;
}

static inline void paint(global uchar *block, ulong bytes, uint owner)
{
    const ulong front = painted_in_front(bytes);
    for (ulong i = 0; i < front; i++)
        block[i] = pattern(owner, i);
    for (ulong i = front == bytes ? bytes : bytes - 16; i < bytes; i++)
        block[i] = pattern(owner, i);
}

static inline uint count_wrong(const global uchar *block, ulong bytes, uint owner)
{
    uint n = 0;
    const ulong front = painted_in_front(bytes);
    for (ulong i = 0; i < front; i++)
        n += block[i] != pattern(owner, i) ? 1 : 0;
    for (ulong i = front == bytes ? bytes : bytes - 16; i < bytes; i++)
        n += block[i] != pattern(owner, i) ? 1 : 0;
    return n;
}

// What work-items that take and give back count.
typedef struct counts {
    uint served;
    uint refused;
    uint freed; // after a look at every byte
    uint wrong; // bytes, or words, that were not as painted
} counts;

// Mostly small, some up to `most` bytes; never 0.
static inline uint size_of(uint random, uint most)
{
    return random % 8 != 0 ? 1 + (random >> 8) % min(most, 96u) : 1 + (random >> 8) % most;
}
