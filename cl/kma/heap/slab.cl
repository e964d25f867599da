// The slab heap: what lanes take together is one slab, side by side, of any sizes; what they take alone comes from slabs
// that they share.
//
// Memory is lines of 512 bytes. Lanes that ask together add what they want to a cursor of their place, which tells them
// lines that nobody else is told of, and claim these; sizes are noted as bit planes, so that blocks lie as close as 16
// bytes allow. Free finds the slab from the block by one look, and clears the blocks' bits in one word; who clears the last
// one gives the lines back, which may serve any size.
//
// docs/architecture.md says which file has what; slab_layout.cl has the picture in memory.
//
// A malloc, read aloud: a whole warp adds up what its lanes want, draws so many lines at the cursor of its place, claims them,
// notes the sizes, and each lane has its offset (kma_sl_take_equal; if sizes differ kma_sl_take_drawn). Who comes alone, or with
// few, sets bits of the slab that is at the head of his place and size (kma_sl_take_one, kma_sl_take_few); if there is none, he puts
// one there (kma_sl_take_near). Who gets none that way tries, as his size and company suggest (kma_slab_alloc_anyhow): holes; heads,
// of other places too, which get slabs then; lines anywhere in the heap (kma_sl_take_in_view); and at last the whole heap. A free:
// lanes that free all of a slab end it by one compare-and-swap of its owners, take its mark away, and give back the lines (kma_sl_end_in_order
// if each has the slot that it got, which a comparison tells; kma_sl_end); others clear bits of the owners (kma_sl_release_one,
// kma_sl_release_some).
//
// Own work, on the thesis's list of what a KMA-2 should be (7.2); docs/slab-design.md has what it was chosen from. A word
// of bits for slots that are taken, and hashing groups of lanes by their wish, are ScatterAlloc's.
#ifndef KMA_HEAP_SLAB_CL
#define KMA_HEAP_SLAB_CL

#undef kma_slab // kma.cl's, if it came first
#include "kma/heap/blocks.cl"
#include "kma/heap/error_log.cl"
#include "kma/heap/guard.cl"
#include "kma/heap/ref.cl"
#include "kma/heap/slab_init.cl"
#include "kma/heap/slab_near.cl"
#include "kma/heap/slab_release.cl"
#include "kma/heap/slab_runs.cl"
#include "kma/heap/slab_take.cl"
#include "kma/heap/slab_windows.cl"

// Bytes of the allocated block at `ptr`; 0 if there is none.
static inline size_t kma_slab_block_bytes(global kma_slab *heap, global void *ptr)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    const kma_sl_spot at = kma_sl_spot_of(heap, ptr);
    if (at.error != KMA_ERROR_CODES || !kma_sl_is_taken(&sl, at))
        return 0;
    return (size_t)kma_sl_units_at(&sl, at) * KMA_UNIT;
}

#define KMA_KIND slab
#define KMA_KIND_COLD // what is long in them is cold already
#if KMA_DEBUG >= 2
#include "kma/heap/common/guarded.cl" // kma_slab_retire, _empty_quarantine, _living
#endif

// What a request needs.
typedef struct kma_sl_need {
    uint units; // 0: nothing
    uint align; // in units
    uint size_class; // KMA_SL_CLASSES: of none, a run
    uint error;      // why it cannot be, or what it is if there is no room
} kma_sl_need;

// For `bytes` at a multiple of `align`; nothing for no bytes, and for what cannot be.
static inline kma_sl_need kma_slab_need(const kma_sl_heap *sl, size_t align, size_t bytes)
{
    kma_sl_need need;
    need.units = 0;
    need.align = 1;
    need.size_class = KMA_SL_CLASSES;
    need.error = KMA_ERROR_OUT_OF_MEMORY;
    if (!kma_can_align(sl->heap, align, KMA_SL_ALIGN))
        need.error = KMA_ERROR_BAD_ALIGNMENT;
    if (bytes == 0 || need.error != KMA_ERROR_OUT_OF_MEMORY)
        return need;
    ulong room = bytes;
#if KMA_DEBUG >= 2
    room = kma_guarded_bytes(align, bytes); // in which there is a place so aligned
    align = KMA_UNIT;
#endif
    if (room > ((ulong)sl->plan.room << (2 * KMA_SL_LINE_SHIFT)) * KMA_UNIT) {
        need.error = KMA_ERROR_TOO_LARGE;
        return need;
    }
    need.units = (uint)kma_whole_units(room);
    need.align = align <= KMA_UNIT ? 1 : (uint)align / KMA_UNIT;
    const uint least = max(need.units, need.align);
    if (least > KMA_SL_MOST_MIXED || need.align > KMA_SL_LINE)
        return need;
    need.size_class = kma_sl_class_of(least);
    while (!kma_sl_is_aligned(need.size_class, need.align)) // a power of two is, among the next eight
        need.size_class++;
    return need;
}

#if KMA_LONE_PATHS && KMA_DEBUG < 2
// A block for a lane alone, or for few that come together, from the head of their place; KMA_NULL if they get none there.
static inline kma_ref kma_slab_alloc_near(global kma_slab *heap, size_t align, size_t bytes)
{
    const uint here = kma_lanes_count(kma_lanes_active());
    if (here >= KMA_SL_SLOTS || align > KMA_UNIT || !kma_is_power_of_two(align)) // heads know no alignment but that of a unit
        return KMA_NULL;
    return here == 1 ? kma_sl_take_one(heap, bytes) : kma_sl_take_few(heap, bytes);
}
#endif

// kma_slab_aligned_alloc by all ways there are; `lost`: the cursor has led the caller and those with him to lines of others. Few lanes
// come here, too: a second call in user code costs whole warps registers.
static inline KMA_COLD global void *kma_slab_alloc_anyhow(global kma_slab *heap, size_t align, size_t bytes, bool lost)
{
    kma_ref block = KMA_NULL;
#if KMA_LONE_PATHS && KMA_DEBUG < 2
    block = kma_slab_alloc_near(heap, align, bytes);
    if (block != KMA_NULL)
        return kma_deref_in(heap, block);
#endif
    const uint here = kma_lanes_count(kma_lanes_active());
    const kma_sl_heap sl = kma_sl_open(heap);
    const kma_sl_need need = kma_slab_need(&sl, align, bytes);
    // For few lanes a slab of their own would be a waste, while others have holes.
    const bool has_class = need.size_class < KMA_SL_CLASSES;
    const bool few = has_class && here < KMA_SL_MANY && need.align == 1 && kma_sl_has_holes_for(&sl, need.size_class);
    const bool shares =
        has_class && need.size_class < KMA_SL_SMALL_CLASSES && (few || kma_sl_shares(kma_sl_units(need.size_class), here));
    if (few && !shares)
        block = kma_sl_take_hole(heap, need.units);
    if (block == KMA_NULL && !shares && here != 1 && need.units != 0 && need.align == 1)
        block = kma_sl_take_together(heap, need.units, lost);
    if (block == KMA_NULL && has_class)
        block = kma_sl_take_shared(heap, need.size_class, need.align);
    if (block == KMA_NULL && need.units != 0) // with a quarantine larger blocks serve only after that is empty
        block = kma_sl_take_alone(heap, need.units, need.align, need.size_class, KMA_DEBUG < 2);
#if KMA_DEBUG >= 2
    for (uint tries = 3; block == KMA_NULL && need.units != 0 && tries != 0; tries--) {
        kma_slab_empty_quarantine(heap); // what others took out before me they may be about to free: not once only
        block = kma_sl_take_alone(heap, need.units, need.align, need.size_class, tries == 1);
    }
    if (block != KMA_NULL)
        block = kma_guard_open(&heap->header, block, align <= KMA_UNIT ? 1 : (uint)align / KMA_UNIT, bytes);
#endif
    if (block == KMA_NULL && bytes != 0)
        kma_report(&heap->header, need.error, KMA_NULL, need.error == KMA_ERROR_BAD_ALIGNMENT ? align : bytes);
    return kma_deref_in(heap, block);
}

// `bytes` of memory at an offset from the heap's start that is a multiple of `align`, contents undefined; NULL for 0 bytes,
// or with a record if there is no room, or `align` is not a power of two up to 4,096 that divides the heap's address.
// Alignments below 16 are 16. Any work-item, converged or not; for all lanes that come together one atomic for where
// their blocks shall be, and one for each 16 KiB of them.
static inline global void *kma_slab_aligned_alloc(global kma_slab *heap, size_t align, size_t bytes)
{
#if KMA_DEBUG
    if (!kma_heap_is(heap, KMA_KIND_SLAB))
        return (global void *)0;
#endif
    bool lost = false;
#if KMA_SHORT_PATHS && KMA_DEBUG < 2
    if (kma_lanes_active() == KMA_LANES_ALL && kma_lanes_alike(KMA_LANES_ALL, (ulong)heap) == KMA_LANES_ALL) {
        const bool usual = align <= KMA_UNIT && kma_is_power_of_two(align); // as every block is aligned
        const bool can = usual && bytes <= KMA_SL_MOST_EQUAL * KMA_UNIT;
        const uint units = can ? (uint)kma_whole_units(bytes) : 0;
        const bool equal = kma_lanes_ballot(KMA_LANES_ALL, units != kma_lanes_first(KMA_LANES_ALL, units)) == 0;
        const kma_sl_share share = equal && kma_sl_is_for_all(units)
                                       ? kma_sl_take_equal(heap, units)
                                       : kma_sl_take_drawn(heap, KMA_LANES_ALL, units, KMA_SL_MANY);
        const kma_lanes left = kma_lanes_ballot(KMA_LANES_ALL, share.block == KMA_NULL);
        kma_lanes_sync(KMA_LANES_ALL); // what the others acquired and wrote, all need
        if (share.block != KMA_NULL)
            return kma_deref_in(heap, share.block);
        lost = share.lost;
        if (lost)
            kma_sl_lose(heap, share.first, share.lines, share.me, share.many, share.part);
        kma_lanes_sync(left); // that they go on together
    }
#endif
    return kma_slab_alloc_anyhow(heap, align, bytes, lost);
}

#include "kma/heap/common/allocate.cl" // kma_slab_malloc, _calloc, _ref_of, _deref
// For lanes that free together: one atomic for those with blocks of one slab.
#include "kma/heap/common/free.cl" // kma_slab_free, _usable_size

// Makes a block that is a run longer where it is.
static inline bool kma_slab_extend(global kma_slab *heap, global void *ptr, size_t bytes)
{
#if KMA_DEBUG >= 2
    (void)heap;
    (void)ptr;
    (void)bytes;
    return false; // a red zone is in the way
#else
    const kma_sl_heap sl = kma_sl_open(heap);
    const kma_sl_spot at = kma_sl_spot_of(heap, ptr);
    return at.units == at.lines * KMA_SL_LINE && bytes / KMA_UNIT <= kma_sl_lines(&sl) * (ulong)KMA_SL_LINE &&
           kma_sl_extend(&sl, at.first, at.lines, kma_sl_whole_lines((uint)kma_whole_units(bytes)));
#endif
}

// For realloc: `ptr` if it was made longer, else a new block.
static inline global void *kma_slab_replace(global kma_slab *heap, global void *ptr, size_t usable, size_t bytes)
{
    if (ptr && bytes != 0 && kma_slab_extend(heap, ptr, bytes))
        return ptr;
    // The path of whole warps knows no alignment, but side by side larger blocks are mostly aligned as smaller ones were.
    const size_t align = kma_kept_align(heap, ptr, usable, KMA_SL_ALIGN);
    global void *moved = kma_slab_malloc(heap, bytes);
    if (((size_t)moved & (align - 1)) == 0)
        return moved;
    kma_slab_free(heap, moved);
    return kma_slab_alloc_anyhow(heap, align, bytes, false);
}

#include "kma/heap/common/realloc.cl" // kma_slab_realloc, _realloc_sized
#undef KMA_KIND
#undef KMA_KIND_COLD

#if KMA_DEBUG >= 3
#define kma_slab_malloc(heap, bytes) KMA_TAGGED(kma_slab_malloc(heap, bytes))
#define kma_slab_calloc(heap, count, size) KMA_TAGGED(kma_slab_calloc(heap, count, size))
#define kma_slab_aligned_alloc(heap, align, bytes) KMA_TAGGED(kma_slab_aligned_alloc(heap, align, bytes))
#define kma_slab_realloc(heap, ptr, bytes) KMA_TAGGED(kma_slab_realloc(heap, ptr, bytes))
#define kma_slab_realloc_sized(heap, ptr, old_bytes, bytes) \
    KMA_TAGGED(kma_slab_realloc_sized(heap, ptr, old_bytes, bytes))
#endif

#endif
