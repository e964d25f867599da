// kma/containers/arena.cl: work-items take blocks of one arena, of several, and of their own.
#include "kma/containers/arena.cl"

#define SITS_OUT 0xffffffffu // of a size: the work-item does not ask

static inline uint stamp(uint block, uint word)
{
    return block * 65599u + word;
}

// Fills a block of an arena; returns its ref, KMA_NULL without memory.
static inline kma_ref take(global kma_heap *heap, global kma_arena *arena, uint bytes, uint block)
{
    global uint *words = (global uint *)kma_arena_alloc(heap, arena, bytes);
    for (uint word = 0; words && word < bytes / 4; word++)
        words[word] = stamp(block, word);
    return kma_ref_of(heap, words);
}

// refs[i * rounds + round]: work-item i's block of bytes[i * rounds + round], of the arena whose
// turn it is.
kernel void take_blocks(global kma_heap *heap, global const kma_ref *arenas, uint arena_count,
                        uint rounds, global const uint *bytes, global kma_ref *refs)
{
    const uint me = (uint)get_global_id(0);
    global kma_arena *arena = kma_arena_at(heap, arenas[me % arena_count]);
    for (uint block = me * rounds; block < (me + 1) * rounds; block++)
        if (bytes[block] != SITS_OUT)
            refs[block] = take(heap, arena, bytes[block], block);
}

// One block for each work-item, at a multiple of align[i].
kernel void take_aligned(global kma_heap *heap, kma_ref arena, global const uint *align, uint bytes,
                         global kma_ref *refs)
{
    const uint me = (uint)get_global_id(0);
    refs[me] = kma_ref_of(
        heap, kma_arena_aligned_alloc(heap, kma_arena_at(heap, arena), align[me], bytes));
}

// Fills blocks of the work-item's own arena. Returns whether all are whole in the end.
static inline bool fill_own(global kma_heap *heap, global kma_arena *arena, uint me)
{
    kma_ref refs[12];
    bool is_whole = true;
    for (uint k = 0; k < 12; k++)
        refs[k] = take(heap, arena, (1 + (me + k * 7) % 60) * 4, me * 12 + k);
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
    bool is_right = ref != KMA_NULL;
    if (is_right) {
        global kma_arena *arena = kma_arena_at(heap, ref);
        is_right = fill_own(heap, arena, me);
        const ulong bytes = kma_arena_bytes(heap, arena);
        kma_arena_clear(heap, arena);
        is_right = is_right && kma_arena_bytes(heap, arena) == 0 && fill_own(heap, arena, me) &&
                   kma_arena_bytes(heap, arena) == bytes;
        kma_arena_delete(heap, arena);
    }
    kma_fetch_add_u32(bad, is_right ? 0 : 1, KMA_RELAXED);
}
