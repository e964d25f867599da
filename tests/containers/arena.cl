// kma/containers/arena.cl: work-items take blocks of one arena and of several.
#include "kma/containers/arena.cl"

#define SITS_OUT 0xffffffffu // of a size: the work-item does not ask

// refs[i * rounds + round]: work-item i's block of bytes[i * rounds + round], of the arena whose
// turn it is, KMA_NULL without memory.
kernel void take_blocks(global kma_heap *heap, global const kma_ref *arenas, uint arena_count,
                        uint rounds, global const uint *bytes, global kma_ref *refs)
{
    const uint me = (uint)get_global_id(0);
    global kma_arena *arena = kma_arena_at(heap, arenas[me % arena_count]);
    for (uint block = me * rounds; block < (me + 1) * rounds; block++) {
        if (bytes[block] == SITS_OUT)
            continue;
        global uint *words = (global uint *)kma_arena_alloc(heap, arena, bytes[block]);
        refs[block] = kma_ref_of(heap, words);
        for (uint word = 0; words && word < bytes[block] / 4; word++)
            words[word] = block * 65599u + word;
    }
}
