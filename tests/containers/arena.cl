// kma/containers/arena.cl: work-items take blocks of one arena, of several, and of their own.
#include "kma/containers/arena.cl"

#define SITS_OUT 0xffffffffu // of a size: the work-item does not ask

static inline uint stamp(uint block, uint word)
{
    return block * 65599u + word;
}

// Work-item i's block of each round has bytes[i * rounds + round], from the arena whose turn it is; refs has them, KMA_NULL if there was
// no memory.
kernel void take_blocks(global kma_heap *heap, global const kma_ref *arenas, uint arena_count, uint rounds, global const uint *bytes,
                        global kma_ref *refs)
{
    const uint me = (uint)get_global_id(0);
    global kma_arena *arena = kma_arena_at(heap, arenas[me % arena_count]);
    for (uint round = 0; round < rounds; round++) {
        const uint block = me * rounds + round;
        if (bytes[block] == SITS_OUT)
            continue;
        global uint *words = (global uint *)kma_arena_alloc(heap, arena, bytes[block]);
        refs[block] = kma_ref_of(heap, words);
        for (uint word = 0; words && word < bytes[block] / 4; word++)
            words[word] = stamp(block, word);
    }
}

// One block for each work-item, at a multiple of align[i].
kernel void take_aligned(global kma_heap *heap, kma_ref arena, global const uint *align, uint bytes, global kma_ref *refs)
{
    const uint me = (uint)get_global_id(0);
    refs[me] = kma_ref_of(heap, kma_arena_aligned_alloc(heap, kma_arena_at(heap, arena), align[me], bytes));
}

// Blocks of an arena of one's own, each with a stamp: whether all are whole in the end.
static inline bool fill_own(global kma_heap *heap, global kma_arena *arena, uint me)
{
    kma_ref refs[12];
    bool is_whole = true;
    for (uint k = 0; k < 12; k++) {
        const uint words = 1 + (me + k * 7) % 60;
        global uint *block = (global uint *)kma_arena_alloc(heap, arena, words * 4);
        refs[k] = kma_ref_of(heap, block);
        for (uint word = 0; block && word < words; word++)
            block[word] = stamp(me * 12 + k, word);
    }
    for (uint k = 0; k < 12; k++) {
        global uint *block = (global uint *)kma_deref(heap, refs[k]);
        for (uint word = 0; block && word < 1 + (me + k * 7) % 60; word++)
            is_whole &= block[word] == stamp(me * 12 + k, word);
        is_whole &= block != (global uint *)0;
    }
    return is_whole;
}

// Each work-item makes an arena, fills it twice, and ends it.
kernel void own_arenas(global kma_heap *heap, global kma_atomic_u32 *bad)
{
    const uint me = (uint)get_global_id(0);
    const kma_ref ref = kma_arena_new(heap, 256, 1024);
    if (ref == KMA_NULL) {
        kma_fetch_add_u32(bad, 1, KMA_RELAXED);
        return;
    }
    global kma_arena *arena = kma_arena_at(heap, ref);
    const bool first = fill_own(heap, arena, me);
    const ulong bytes = kma_arena_bytes(heap, arena);
    kma_arena_clear(heap, arena);
    const bool is_empty = kma_arena_bytes(heap, arena) == 0;
    if (!first || !is_empty || !fill_own(heap, arena, me) || kma_arena_bytes(heap, arena) != bytes)
        kma_fetch_add_u32(bad, 1, KMA_RELAXED);
    kma_arena_delete(heap, arena);
}
