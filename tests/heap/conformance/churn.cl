// Many work-items that take and give back blocks of mixed sizes, holding several at a time, for many rounds.
// Work-item i owns the slots [i * per_item, (i + 1) * per_item); the pattern's owner is the slot.
#include "kma/kma.cl"
#include "pattern.cl"

static inline void took(global kma_heap *heap, global void *block, global kma_ref *ref, global ulong *size, uint slot,
                        uint bytes, counts *count)
{
    *ref = kma_ref_of(heap, block);
    *size = bytes;
    if (block)
        paint((global uchar *)block, bytes, slot);
    count->served += block ? 1 : 0;
    count->refused += block ? 0 : 1;
}

static inline void look_over(const global uchar *block, ulong bytes, uint slot, counts *count)
{
    if (block)
        count->wrong += count_wrong(block, bytes, slot);
    count->freed += block ? 1 : 0;
}

// Converged: in each round all lanes call malloc at the same place and free at the same place; a lane that has nothing to
// do there asks for 0 bytes or frees NULL. Diverged: lanes take while others give back, by different calls, in loops of
// different length.
kernel void churn(global kma_heap *heap, global kma_ref *refs, global ulong *sizes, uint per_item, uint rounds, uint most,
                  uint seed, uint diverged, global counts *results)
{
    const uint me = (uint)get_global_id(0);
    counts count = {0, 0, 0, 0};
    for (uint round = 0; round < rounds;) {
        const uint random = kma_mix32(kma_mix32(me + seed) + round);
        const uint burst = diverged ? min(1 + random % 5, rounds - round) : 1;
        for (uint i = 0; i < burst; i++) {
            const uint dice = kma_mix32(random + i);
            const uint slot = me * per_item + (dice >> 4) % per_item;
            global uchar *old = (global uchar *)kma_deref(heap, refs[slot]);
            const uint bytes = old ? 0 : size_of(kma_mix32(dice), most);
            global void *block = (global void *)0;
            look_over(old, sizes[slot], slot, &count);
            if (!diverged) {
                kma_free(heap, old);
                block = kma_malloc(heap, bytes);
            } else if (old) {
                kma_free(heap, old);
            } else {
                block = dice % 4 == 0   ? kma_calloc(heap, bytes, 1)
                        : dice % 4 == 1 ? kma_aligned_alloc(heap, 32, bytes)
                                        : kma_malloc(heap, bytes);
            }
            if (old)
                refs[slot] = KMA_NULL;
            else
                took(heap, block, &refs[slot], &sizes[slot], slot, bytes, &count);
        }
        round += burst;
    }
    results[me] = count;
}

// Every `step`-th byte of a block, and the last.
static inline void paint_some(global uchar *block, uint bytes, uint step, uint owner)
{
    for (uint i = owner % step; i < bytes; i += step)
        block[i] = pattern(owner, i);
    block[bytes - 1] = pattern(owner, bytes - 1);
}

static inline uint count_wrong_some(const global uchar *block, uint bytes, uint step, uint owner)
{
    uint n = block[bytes - 1] != pattern(owner, bytes - 1) ? 1 : 0;
    for (uint i = owner % step; i < bytes; i += step)
        n += block[i] != pattern(owner, i) ? 1 : 0;
    return n;
}

// No slots: a block goes back at once or, if `holds`, when the next was taken; after the last round none is left. If
// `holds`, of 1 to most / unit units; else of `unit` times a power of two up to `most`, each far from the one before:
// where there are only a few superblocks, they go from class to class under work-items that want a block of them.
kernel void pass_on(global kma_heap *heap, uint unit, uint most, uint holds, uint rounds, uint seed, global counts *results)
{
    const uint me = (uint)get_global_id(0), step = holds ? 61 : 1; // large blocks are painted here and there
    counts count = {0, 0, 0, 0};
    global uchar *held = (global uchar *)0;
    uint held_bytes = 0;
    for (uint round = 0; round <= rounds; round++) {
        const uint random = kma_mix32(kma_mix32(me + seed) + round);
        const uint owner = me * (rounds + 1) + round;
        const uint wanted = holds ? (1 + random % (most / unit)) * unit : min(unit << random % 9, most);
        const uint bytes = round < rounds ? wanted : 0;
        global uchar *const block = (global uchar *)kma_malloc(heap, bytes);
        count.served += block ? 1 : 0;
        count.refused += bytes != 0 && !block ? 1 : 0;
        if (block)
            paint_some(block, bytes, step, owner);
        global uchar *const gone = holds ? held : block;
        if (gone) {
            count.wrong += count_wrong_some(gone, holds ? held_bytes : bytes, step, holds ? owner - 1 : owner);
            count.freed++;
        }
        kma_free(heap, gone);
        held = block;
        held_bytes = bytes;
    }
    results[me] = count;
}
