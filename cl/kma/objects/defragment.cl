// Defragmentation of a class. Sources are its emptiest blocks, targets its fullest ones with
// free slots. The objects of sources move to free slots of targets, and the sources end.
//
// CompactGpu (Springer and Masuhara, ISMM 2019) merges blocks in pairs, in many passes. Here blocks
// are chosen by their number of objects, so one pass is enough.
//
// No other kernel runs meanwhile. The steps, one kernel each (objects/reference_kernels.cl); the
// device decides what to do, so the host reads nothing back:
//
//   1. fills    Count the blocks of each tile by their objects. A tile is a range of blocks for a
//               work-group, KMA_DEFRAGMENT_RUN of them for each of its work-items.
//   2. plan     Decide which blocks are sources, which are targets (reference_layout.cl), and
//               compute for each tile the sums of both over all tiles before it. One work-group.
//   3. sort     List targets from the list's start on, sources from the end on. With a target goes
//               the number of its first free slot, with a source that of its first object, counted
//               over all targets or sources.
//   4. aim      Replace a source's number by the free slot of that number: a target, and how many
//               of its free slots come before.
//   5. move     Copy object number i to free slot number i. After a barrier write into the source's
//               own memory where each object went.
//   6. settle   Update states, types and trees. Sources are free now; nothing takes them yet.
//   7. forward  Replace each reference to an object of a source by what stands there. A bit for
//               each block shows whether it was a source.
//
// Targets have at least as many free slots as sources have objects.
#ifndef KMA_OBJECTS_DEFRAGMENT_CL
#define KMA_OBJECTS_DEFRAGMENT_CL

#include "kma/objects/visit.cl"

// Sums over the sources and targets before some block.
typedef struct kma_block_lists {
    uint equal; // blocks with `limit` objects
    uint sources, objects;
    uint targets, room;
} kma_block_lists;

// Returns the number of objects of a block; 0 if it is not of class cls.
static inline uint kma_world_objects_in(global kma_world *w, uint cls, uint block)
{
    global kma_world_block *b = kma_world_block_at(w, block);
    if (kma_load_u32(&b->type, KMA_RELAXED) != cls + 1)
        return 0;
    return kma_slots_count(kma_slots_load(&b->state, KMA_RELAXED) &
                           ~kma_slots_pad(KMA_WORLD_SLOTS(cls)));
}

// Adds `blocks` blocks with `objects` objects each.
static inline void kma_block_sums_add(kma_block_sums *sums, uint slots, uint limit, uint objects,
                                      uint blocks)
{
    if (objects == 0)
        return;
    if (objects < limit) {
        sums->fewer += blocks;
        sums->fewer_objects += blocks * objects;
    } else if (objects == limit) {
        sums->equal += blocks;
    } else if (objects < slots) {
        sums->more += blocks;
        sums->more_room += blocks * (slots - objects);
    }
}

// Returns the sum of `own` over all work-items of the group before the caller. Collective.
static inline kma_block_sums kma_block_sums_before(local uint *words, kma_block_sums own)
{
    const uint me = (uint)get_local_id(0), items = (uint)get_local_size(0);
    const uint numbers[KMA_BLOCK_SUMS] = {own.fewer, own.fewer_objects, own.equal, own.more,
                                          own.more_room};
    for (uint field = 0; field < KMA_BLOCK_SUMS; field++)
        words[field * KMA_DEFRAGMENT_ITEMS + me] = numbers[field];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint field = me; field < KMA_BLOCK_SUMS; field += items) {
        local uint *const its = words + field * KMA_DEFRAGMENT_ITEMS;
        uint sum = 0;
        for (uint i = 0; i < items; i++) {
            const uint number = its[i];
            its[i] = sum;
            sum += number;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const local uint *const mine = words + me;
    const kma_block_sums before = {mine[0], mine[KMA_DEFRAGMENT_ITEMS],
                                   mine[2 * KMA_DEFRAGMENT_ITEMS], mine[3 * KMA_DEFRAGMENT_ITEMS],
                                   mine[4 * KMA_DEFRAGMENT_ITEMS]};
    return before;
}

static inline kma_block_sums kma_block_sums_plus(kma_block_sums a, kma_block_sums b)
{
    const kma_block_sums sum = {a.fewer + b.fewer, a.fewer_objects + b.fewer_objects,
                                a.equal + b.equal, a.more + b.more, a.more_room + b.more_room};
    return sum;
}

// Splits sums into sources and targets.
static inline kma_block_lists kma_block_lists_of(kma_block_sums sums, uint slots, uint limit,
                                                 uint extra)
{
    const uint taken = min(sums.equal, extra), left = sums.equal - taken, room = slots - limit;
    kma_block_lists lists;
    lists.equal = sums.equal;
    lists.sources = sums.fewer + taken;
    lists.objects = sums.fewer_objects + taken * limit;
    lists.targets = sums.more + left;
    lists.room = sums.more_room + left * room;
    return lists;
}

// The lists of sources and targets.
typedef struct kma_world_lists {
    global uint *list, *firsts, *moved;
} kma_world_lists;

// Lists the blocks [begin, end), KMA_DEFRAGMENT_RUN at most. `fills` has each block's number of
// objects, `at` the sums before them.
static inline void kma_world_sort_run(global kma_world *w, uint slots, kma_defragment_plan plan,
                                      kma_world_lists to, kma_block_lists at,
                                      const local uchar *fills, uint begin, uint end)
{
    uint bits = 0;
    for (uint block = begin; block < end; block++) {
        const uint objects = fills[block - begin];
        const bool is_source = objects != 0 && (objects < plan.limit ||
                                                (objects == plan.limit && at.equal < plan.extra));
        if (is_source) {
            const uint place = w->blocks - 1 - at.sources;
            to.list[place] = block;
            to.firsts[place] = at.objects;
            bits |= 1u << block % 32;
            at.sources++;
            at.objects += objects;
        } else if (objects != 0 && objects < slots) {
            to.list[at.targets] = block;
            to.firsts[at.targets] = at.room;
            at.targets++;
            at.room += slots - objects;
        }
        at.equal += objects == plan.limit ? 1 : 0;
    }
    if (bits != 0)
        to.moved[begin / 32] |= bits; // no other work-item has this word
}

// Returns the position of the last of `count` ascending numbers that is not above `n`; the first is
// not.
static inline uint kma_last_not_above(const global uint *numbers, uint count, uint n)
{
    uint at = 0;
    for (uint span = count; span > 1;) { // halves: the result is among the `span` from `at` on
        const uint half_span = span / 2;
        if (numbers[at + half_span] <= n) {
            at += half_span;
            span -= half_span;
        } else {
            span = half_span;
        }
    }
    return at;
}

// Encodes where a source's objects go: a target's position in the list, and its free slots in
// front.
static inline uint kma_world_aim(uint target, uint taken)
{
    return target * KMA_SLOTS_BITS + taken;
}

// Returns the reference to which the n-th object of a source goes, counted from 0.
static inline uint kma_world_destination(global kma_world *w, const global uint *list,
                                         const global uint *firsts, uint targets, uint aim, uint n)
{
    uint at = aim / KMA_SLOTS_BITS;
    for (n += aim % KMA_SLOTS_BITS; at + 1 < targets; at++) { // a few, at most 64
        const uint room = firsts[at + 1] - firsts[at];
        if (n < room)
            break;
        n -= room;
    }
    const kma_slots state = kma_slots_load(&kma_world_block_at(w, list[at])->state, KMA_RELAXED);
    return kma_world_ref(list[at], kma_slots_nth((kma_slots)~state, n));
}

// Gives a target its new objects, numbers `first` and up, in its first free slots.
static inline void kma_world_settle_target(global kma_world *w, uint cls, uint block, uint first,
                                           uint objects)
{
    global kma_world_block *b = kma_world_block_at(w, block);
    const kma_slots state = kma_slots_load(&b->state, KMA_RELAXED);
    kma_slots open = (kma_slots)~state;
    const uint room = kma_slots_count(open), got = first < objects ? min(room, objects - first) : 0;
    if (got < room)
        open &= kma_slots_below(kma_slots_nth(open, got));
    kma_slots_store(&b->state, state | open, KMA_RELAXED);
    if (got == room)
        kma_bit_tree_take(kma_world_active(w, cls), w->blocks, block);
}

// Ends a source: the block becomes free.
static inline void kma_world_settle_source(global kma_world *w, uint cls, uint block)
{
    global kma_world_block *b = kma_world_block_at(w, block);
    kma_slots_store(&b->state, KMA_SLOTS_ALL, KMA_RELAXED);
    kma_store_u32(&b->type, 0, KMA_RELAXED);
    kma_bit_tree_take(kma_world_active(w, cls), w->blocks, block);
    kma_bit_tree_put(kma_world_free(w), w->blocks, block);
}

#endif
