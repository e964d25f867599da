// What an owner writes into every byte of its block, so that whoever else writes there is found out.
static inline uchar pattern(uint owner, ulong i)
{
    return (uchar)(kma_mix32(owner) + (uint)i * 7u);
}

static inline void paint(global uchar *block, ulong bytes, uint owner)
{
    for (ulong i = 0; i < bytes; i++)
        block[i] = pattern(owner, i);
}

static inline uint count_wrong(const global uchar *block, ulong bytes, uint owner)
{
    uint n = 0;
    for (ulong i = 0; i < bytes; i++)
        n += block[i] != pattern(owner, i) ? 1 : 0;
    return n;
}
