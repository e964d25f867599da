// Iteration over the objects of a class at its last enumeration (objects/world_kernels.cl):
// do-alls, in which work-items share the objects, and loops over all of them in one work-item.
//
// A do-all's work-items share the slots of the listed blocks (paper, 3.4, figures 7 and 8;
// kma_world_share). Objects created after the enumeration are left out. Of the class that a loop or
// a do-all goes over, a kernel may delete only the do-all's own object.
#ifndef KMA_OBJECTS_EACH_CL
#define KMA_OBJECTS_EACH_CL

#include "kma/objects/blocks.cl"
#include "kma/platform/settled.cl"

// Blocks that had objects of class cls.
static inline uint kma_world_listed(global kma_world *w, uint cls)
{
    global kma_world_class *of = kma_world_class_at(w, cls);
    return kma_load_settled_u32(&of->listed[of->turn]);
}

static inline global uint *kma_world_list(global kma_world *w, uint cls)
{
    return (global uint *)((global uchar *)w + w->lists + kma_world_list_bytes(w->blocks) * cls);
}

// A work-item's numbers below `n`, 2^31 + 2^12 at most, as loop bounds. Where lanes run
// together, neighbours have neighbouring numbers: they load together. Where each work-item runs
// alone to its end, each has a range: memory is traversed once.
typedef struct kma_world_share {
    // prefixed: a schema's kernels follow the macros of the user's text
    uint kma_at, kma_end, kma_step;
} kma_world_share;

static inline kma_world_share kma_world_share_of(uint n, uint me, uint items, bool in_ranges)
{
    const uint each = (n + items - 1) / items;
    kma_world_share share;
    share.kma_at = in_ranges ? me * each : me; // beyond the end for the last ones
    share.kma_end = in_ranges ? min(share.kma_at + each, n) : n;
    share.kma_step = in_ranges ? 1 : items;
    return share;
}

#define KMA_WORLD_SHARE(n)                                                                         \
    kma_world_share_of(n, (uint)get_global_id(0), (uint)get_global_size(0),                        \
                       KMA_IS_CPU &&KMA_LANES == KMA_LANES_SINGLE)

// Returns the object at number `i` of kma_world_listed(w, cls) * slots, or 0 if there is none.
// `slots` is KMA_WORLD_SLOTS(cls).
static inline uint kma_world_listed_object(global kma_world *w, uint cls, uint slots, uint i)
{
    const uint block = kma_world_list(w, cls)[i / slots], slot = i % slots;
    const kma_slots objects = kma_world_block_at(w, block)->iterated;
    return (objects & kma_slots_bit(slot)) != 0 ? kma_world_ref(block, slot) : 0;
}

// The numbers of one class in a do-all over several: those from `begin` on belong to the slots of
// its listed blocks. The next class begins at a multiple of any warp's lanes: a warp's lanes have
// objects of one class.
typedef struct kma_world_span {
    uint kma_begin, kma_slots, kma_end;
} kma_world_span;

#define KMA_WORLD_LANES_MOST 64u // of a hardware warp

static inline kma_world_span kma_world_span_of(global kma_world *w, uint cls, uint slots,
                                               uint begin)
{
    kma_world_span span;
    span.kma_begin = begin;
    span.kma_slots = kma_world_listed(w, cls) * slots;
    const uint end = begin + span.kma_slots + KMA_WORLD_LANES_MOST - 1;
    span.kma_end = end & ~(KMA_WORLD_LANES_MOST - 1);
    return span;
}

// Returns the object at number `i` of a span that it is in, or 0 if there is none.
static inline uint kma_world_span_object(global kma_world *w, uint cls, uint slots,
                                         kma_world_span span, uint i)
{
    return i - span.kma_begin < span.kma_slots
               ? kma_world_listed_object(w, cls, slots, i - span.kma_begin)
               : 0;
}

// A run of neighbouring objects in one block: `count` references from `first` on. Element k of a
// field's array from the first object's on belongs to object first + k. Also the state of the
// iteration over all runs of the classes cls to a last one.
typedef struct kma_world_run {
    uint first, count;          // count 0: after the last run
    uint kma_block;             // the block's slot 0, as a reference
    uint kma_begin, kma_behind; // slots of the run; kma_behind 0: after the last run
    kma_slots objects;          // the block's objects after the run
    uint cls;
    uint at, end;               // in the list: the next block's position; the end
    uint kma_is_left;           // whether a loop over the run was left by `break`
} kma_world_run;

static inline kma_world_run kma_world_run_next(global kma_world *w, kma_world_run run, uint last)
{
    run.count = 0;
    run.kma_behind = 0;
    if (run.objects == 0) {
        while (run.at == run.end) { // a class more each round
            if (run.cls >= last)
                return run;
            run.cls++;
            run.at = 0;
            run.end = kma_world_listed(w, run.cls);
        }
        const uint block = kma_world_list(w, run.cls)[run.at++];
        run.kma_block = kma_world_ref(block, 0);
        // not 0: the block is listed
        run.objects = kma_world_block_at(w, block)->iterated;
    }
    // the carry of the sum clears the run's bits
    const kma_slots lowest = run.objects & (~run.objects + 1), above = run.objects + lowest;
    run.kma_begin = kma_slots_count(lowest - 1);
    run.first = run.kma_block | run.kma_begin;
    run.count = kma_slots_count(run.objects & ~above);
    run.kma_behind = run.kma_begin + run.count;
    run.objects &= above;
    return run;
}

static inline kma_world_run kma_world_run_first(global kma_world *w, uint cls, uint last)
{
    kma_world_run run;
    run.cls = cls;
    run.at = 0;
    run.end = kma_world_listed(w, cls);
    run.kma_block = 0;
    run.objects = 0;
    run.kma_is_left = 0;
    return kma_world_run_next(w, run, last);
}

// A loop over the runs of all objects of the classes cls to `last`.
#define KMA_WORLD_FOR_EACH_RUN(w, cls, last, run)                                                  \
    /* Ends with the list. */                                                                      \
    for (kma_world_run run = kma_world_run_first(w, cls, last); run.kma_behind != 0;               \
         run = kma_world_run_next(w, run, last))

// NVIDIA's compiler unrolls the loop over a run four times at most; one warp's loads need more in
// flight. N-body of 20,000, blocks half empty, one H100: 1.51 ms without, 1.36 with 4, 1.27 with 8.
#ifdef __NV_CL_C_VERSION
#define KMA_WORLD_UNROLL _Pragma("unroll 8")
#else
#define KMA_WORLD_UNROLL
#endif

// A loop over all objects of the classes cls to `last`. `object` names the reference in the body;
// break and continue work as in any loop.
//
// The loop within a run only counts: compilers unroll it like one over an array. With a test in
// each slot they do not. The masked slot shows them that the block stays the same.
#define KMA_WORLD_FOR_EACH(w, cls, last, object)                                                   \
    for (kma_world_run kma_run = kma_world_run_first(w, cls, last);                                \
         kma_run.kma_behind != 0 && kma_run.kma_is_left == 0;                                      \
         kma_run = kma_run.kma_is_left != 0 ? kma_run : kma_world_run_next(w, kma_run, last))      \
        KMA_WORLD_UNROLL                                                                           \
    for (uint kma_slot = (kma_run.kma_is_left = 1, kma_run.kma_begin),                             \
              object = kma_run.kma_block | kma_run.kma_begin;                                      \
         kma_slot != kma_run.kma_behind || (kma_run.kma_is_left = 0) != 0;                         \
         kma_slot++, object = kma_run.kma_block | (kma_slot & KMA_WORLD_SLOT_MASK))

#endif
