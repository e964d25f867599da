// Calls that a heap must refuse: one at a time, and very many among calls that are right.
#include "kma/kma.cl"
#include "pattern.cl"

// A pointer: `base` is 0 nothing, 1 the heap, 2 the other heap, 3 the foreign buffer, 4 a private variable, 5 a local
// one; `offset` is added to its address. Not the first of its kind: Mesa's rusticl numbers private and local memory from 0.
static inline global void *pointer_to(global kma_heap *heap, global kma_heap *other, global uchar *foreign,
                                      local ulong2 *in_local, uint base, ulong offset)
{
    ulong2 in_private[2] = {(ulong2)(offset), (ulong2)(offset)};
    switch (base) {
    case 0:
        return (global void *)offset;
    case 1:
        return (global void *)((ulong)heap + offset);
    case 2:
        return (global void *)((ulong)other + offset);
    case 3:
        return (global void *)((ulong)foreign + offset);
    case 4:
        return (global void *)((ulong)&in_private[1] + offset);
    default:
        return (global void *)((ulong)&in_local[1] + offset);
    }
}

typedef struct misuse_case {
    ulong call; // 0 malloc, 1 calloc, 2 aligned_alloc, 3 realloc_sized, 4 free, 5 realloc, 6 usable_size, 7 ref_of,
                // 8 deref of a, 9 free of deref of a
    ulong base; // and offset: of the pointer
    ulong offset;
    ulong a;
    ulong b;
} misuse_case;

// Work-item 5 of every eight makes one of the calls; the others do nothing. results: what it returns; a pointer as its
// distance from the heap's start, NULL as 0. without_heap: the calls get NULL for the heap.
kernel void misuse(global kma_heap *heap, global kma_heap *other, global uchar *foreign,
                   global const misuse_case *cases, uint count, uint without_heap, global ulong *results)
{
    local ulong2 in_local[2];
    const uint mine = (uint)get_global_id(0) / 8;
    if (get_global_id(0) % 8 == 5 && mine < count) {
        const ulong a = cases[mine].a, b = cases[mine].b;
        global void *ptr = pointer_to(heap, other, foreign, in_local, (uint)cases[mine].base, cases[mine].offset);
        global kma_heap *of = without_heap != 0 ? (global kma_heap *)0 : heap;
        global void *given = (global void *)0;
        ulong number = 0;
        switch ((uint)cases[mine].call) {
        case 0:
            given = kma_malloc(of, a);
            break;
        case 1:
            given = kma_calloc(of, a, b);
            break;
        case 2:
            given = kma_aligned_alloc(of, a, b);
            break;
        case 3:
            given = kma_realloc_sized(of, ptr, a, b);
            break;
        case 4:
        case 9: // once, for the compilers' sake
            kma_free(of, cases[mine].call == 9 ? kma_deref(of, (kma_ref)a) : ptr);
            break;
#ifdef KMA_KNOWS_BLOCKS
        case 5:
            given = kma_realloc(of, ptr, a);
            break;
        case 6:
            number = kma_usable_size(of, ptr);
            break;
#endif
        case 7:
            number = kma_ref_of(of, ptr);
            break;
        case 8:
            given = kma_deref(of, (kma_ref)a);
            break;
        default:
            number = 0xbad; // no such call
        }
        results[mine] = given ? (ulong)given - (ulong)heap : number;
    }
}

// All work-items free all of `blocks` blocks, each in an order of its own, or in the same one: of each block one
// work-item does, the others are reported.
kernel void free_all(global kma_heap *heap, global const kma_ref *refs, uint blocks, uint apart)
{
    for (uint i = 0; i < blocks; i++)
        kma_free(heap, kma_deref(heap, refs[(i + apart * (uint)get_global_id(0)) % blocks]));
}

// A pointer that is no living block's start, whatever others allocate and free meanwhile. `mine` is a living block of
// `bytes`, or NULL; the heap's blocks lie in [begin, end), bytes from its start.
static inline global void *wrong_pointer(global kma_heap *heap, global uchar *foreign, ulong begin, ulong end,
                                         global uchar *mine, ulong bytes, uint random)
{
    const ulong address = (ulong)heap;
    const uint more = kma_mix32(random);
    const ulong odd = 1 + more % 15;
    switch (random % 8) {
    case 0: // behind the first unit of a block
        if (mine && bytes > 16)
            return mine + 16 * (1 + more % ((uint)(bytes - 1) / 16));
        return (global void *)(address + begin + odd);
    case 1:
        return mine ? (global void *)((ulong)mine + odd) : (global void *)(address + begin + odd);
    case 2: // anywhere between units
        return (global void *)(address + begin + (ulong)more % (uint)((end - begin) / 16) * 16 + odd);
    case 3: // the metadata
        return (global void *)(address + (ulong)more % (uint)(begin / 16) * 16);
    case 4: // behind the heap
        return (global void *)(address + end + (ulong)more * 16);
    case 5: // in front of it
        return (global void *)(address - 16 - (ulong)more * 16);
    case 6: // where its offset has the same lower 36 bits as a block's
        return (global void *)((mine ? (ulong)mine : address + begin) + ((ulong)(1 + more % 1000) << 36));
    default:
        return foreign + more % 256 * 16;
    }
}

// Each round of a work-item takes or gives back one of its blocks, as in churn.cl, and then frees `each` times what is
// no block. Bad frees count as refused.
kernel void free_at_random(global kma_heap *heap, global uchar *foreign, ulong begin, ulong end, global kma_ref *refs,
                           global ulong *sizes, uint per_item, uint rounds, uint each, uint seed,
                           global counts *results)
{
    const uint me = (uint)get_global_id(0);
    counts count = {0, 0, 0, 0};
    for (uint round = 0; round < rounds; round++) {
        uint random = kma_mix32(kma_mix32(me + seed) + round);
        const uint slot = me * per_item + random % per_item;
        global uchar *block = (global uchar *)kma_deref(heap, refs[slot]);
        if (block) {
            count.wrong += count_wrong(block, sizes[slot], slot);
            kma_free(heap, block);
            refs[slot] = KMA_NULL;
            count.freed++;
        } else {
            sizes[slot] = 1 + (random >> 8) % (random % 8 != 0 ? 100 : 1000);
            block = (global uchar *)kma_malloc(heap, sizes[slot]);
            refs[slot] = kma_ref_of(heap, block);
            if (block)
                paint(block, sizes[slot], slot);
        }
        for (uint i = 0; i < each; i++) {
            random = kma_mix32(random + 1);
            const uint other = me * per_item + (random >> 16) % per_item;
            kma_free(heap, wrong_pointer(heap, foreign, begin, end, (global uchar *)kma_deref(heap, refs[other]),
                                         sizes[other], random));
            count.refused++;
        }
    }
    results[me] = count;
}
