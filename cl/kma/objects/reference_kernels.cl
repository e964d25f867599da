// Kernels that follow references: the steps of a defragmentation (objects/defragment.cl), and the
// check of all references. They are a separate program, compiled after a schema's visitors
// (kma::Schema::visitors).
//
// No other kernel runs meanwhile. One dimension. Unless said otherwise, work-groups of 64 to
// KMA_DEFRAGMENT_ITEMS work-items, all of the same size.
#ifndef KMA_OBJECTS_REFERENCE_KERNELS_CL
#define KMA_OBJECTS_REFERENCE_KERNELS_CL

#include "kma/objects/defragment.cl"
#include "kma/objects/each.cl"
#include "kma/platform/group.cl"

// A class of objects with one reference: this file compiles by itself.
#ifndef KMA_WORLD_HAS_VISITORS
static inline void kma_world_visit(global kma_world *w, kma_visit visit, uint cls, uint self)
{
    kma_visit_field(w, visit, self, 0, 0, 1, KMA_WORLD_SLOTS(cls), 0, 0);
}

static inline void kma_world_copy(global kma_world *w, uint cls, uint from, uint to)
{
    for (uint i = 0; i < KMA_WORLD_OBJECT_BYTES(cls) / 4; i++)
        KMA_WORLD_UNIT(uint, w, to, i * KMA_WORLD_SLOTS(cls) * 4) =
            KMA_WORLD_UNIT(uint, w, from, i * KMA_WORLD_SLOTS(cls) * 4);
}
#endif

// Blocks of a tile, and tiles of the world.
static inline uint kma_world_tile(void)
{
    return (uint)get_local_size(0) * KMA_DEFRAGMENT_RUN;
}

static inline uint kma_world_tiles(global kma_world *w)
{
    return (w->blocks + kma_world_tile() - 1) / kma_world_tile();
}

// Stores in fills[tile * KMA_DEFRAGMENT_FILLS + n] how many blocks of a tile are of class cls and
// have n objects, n above 0.
kernel void kma_world_fills_kernel(global kma_world *w, uint cls, global uint *fills)
{
    local uint own[KMA_DEFRAGMENT_FILLS];
    const uint me = (uint)get_local_id(0), items = (uint)get_local_size(0);
    const uint tiles = kma_world_tiles(w);
    for (uint tile = (uint)get_group_id(0); tile < tiles; tile += (uint)get_num_groups(0)) {
        for (uint n = me; n < KMA_DEFRAGMENT_FILLS; n += items)
            own[n] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint begin = tile * kma_world_tile(), end = min(begin + kma_world_tile(), w->blocks);
        for (uint block = begin + me; block < end; block += items) {
            const uint objects = kma_world_objects_in(w, cls, block);
            if (objects != 0)
                kma_group_add(&own[objects], 1u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint n = me; n < KMA_DEFRAGMENT_FILLS; n += items)
            fills[tile * KMA_DEFRAGMENT_FILLS + n] = own[n];
    }
}

// The sums of a tile, by its fills.
static inline kma_block_sums kma_world_tile_sums(const global uint *fills, uint slots, uint limit)
{
    kma_block_sums sums = {0, 0, 0, 0, 0};
    for (uint n = 1; n <= slots; n++)
        kma_block_sums_add(&sums, slots, limit, n, fills[n]);
    return sums;
}

// Stores the plan for class cls, and for each tile the sums over all tiles before it. One
// work-group.
kernel void kma_world_plan_kernel(global kma_world *w, uint cls, const global uint *fills,
                                  global kma_block_sums *sums, global kma_defragmentation *d,
                                  uint worse, uint share, uint objects)
{
    local uint counts[KMA_DEFRAGMENT_FILLS];
    local kma_defragment_plan plan;
    local uint words[KMA_BLOCK_SUMS * KMA_DEFRAGMENT_ITEMS];
    const uint me = (uint)get_local_id(0), items = (uint)get_local_size(0);
    const uint tiles = kma_world_tiles(w), slots = KMA_WORLD_SLOTS(cls);
    for (uint n = me; n < KMA_DEFRAGMENT_FILLS; n += items) {
        uint sum = 0;
        for (uint tile = 0; tile < tiles; tile++)
            sum += fills[tile * KMA_DEFRAGMENT_FILLS + n];
        counts[n] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) {
        uint own[KMA_DEFRAGMENT_FILLS];
        for (uint n = 0; n < KMA_DEFRAGMENT_FILLS; n++)
            own[n] = counts[n];
        const kma_defragment_order order = {worse, share, objects};
        const kma_defragment_plan made = kma_defragment_plan_of(own, slots, order);
        plan = made;
        d->plan = made;
        d->objects += made.objects;
        d->blocks += made.sources;
        d->before = max(d->before, made.before);
        d->after = max(d->after, made.after);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint each = (tiles + items - 1) / items, begin = min(me * each, tiles);
    const uint end = plan.sources != 0 ? min(begin + each, tiles) : begin;
    const kma_block_sums none = {0, 0, 0, 0, 0};
    kma_block_sums at = none;
    for (uint tile = begin; tile < end; tile++) {
        const kma_block_sums its =
            kma_world_tile_sums(&fills[tile * KMA_DEFRAGMENT_FILLS], slots, plan.limit);
        sums[tile] = at; // of the caller's own tiles before
        at = kma_block_sums_plus(at, its);
    }
    const kma_block_sums before = kma_block_sums_before(words, at);
    for (uint tile = begin; tile < end; tile++)
        sums[tile] = kma_block_sums_plus(before, sums[tile]);
}

// Lists targets from list[0] on and sources from list[w->blocks - 1] on downwards, with their first
// numbers in `firsts`, and sets the bit of each source in `moved`.
kernel void kma_world_sort_kernel(global kma_world *w, uint cls,
                                  const global kma_defragmentation *d,
                                  const global kma_block_sums *sums, global uint *list,
                                  global uint *firsts, global uint *moved)
{
    local uchar fills[KMA_DEFRAGMENT_ITEMS * KMA_DEFRAGMENT_RUN];
    local uint words[KMA_BLOCK_SUMS * KMA_DEFRAGMENT_ITEMS];
    const kma_defragment_plan plan = d->plan;
    const kma_world_lists to = {list, firsts, moved};
    const uint me = (uint)get_local_id(0), items = (uint)get_local_size(0);
    const uint tiles = plan.sources != 0 ? kma_world_tiles(w) : 0, slots = KMA_WORLD_SLOTS(cls);
    for (uint tile = (uint)get_group_id(0); tile < tiles; tile += (uint)get_num_groups(0)) {
        const uint first = tile * kma_world_tile(), last = min(first + kma_world_tile(), w->blocks);
        barrier(CLK_LOCAL_MEM_FENCE); // all lanes have listed the last tile's blocks
        for (uint block = first + me; block < last; block += items)
            fills[block - first] = (uchar)kma_world_objects_in(w, cls, block);
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint begin = min(first + me * KMA_DEFRAGMENT_RUN, last);
        const uint end = min(begin + KMA_DEFRAGMENT_RUN, last);
        kma_block_sums own = {0, 0, 0, 0, 0};
        for (uint block = begin; block < end; block++)
            kma_block_sums_add(&own, slots, plan.limit, fills[block - first], 1);
        const kma_block_sums before =
            kma_block_sums_plus(sums[tile], kma_block_sums_before(words, own));
        const kma_block_lists at = kma_block_lists_of(before, slots, plan.limit, plan.extra);
        kma_world_sort_run(w, slots, plan, to, at, &fills[begin - first], begin, end);
    }
}

// Finds the free slot that each source's first object goes to.
kernel void kma_world_aim_kernel(global kma_world *w, const global kma_defragmentation *d,
                                 global uint *firsts)
{
    const uint sources = d->plan.sources, targets = d->plan.targets;
    for (size_t i = get_global_id(0); i < sources; i += get_global_size(0)) {
        const uint place = w->blocks - 1 - (uint)i, first = firsts[place];
        const uint at = kma_last_not_above(firsts, targets, first);
        firsts[place] = kma_world_aim(at, first - firsts[at]);
    }
}

// Moves the objects of all sources to free slots of targets, and writes into each source where they
// went. Work-groups of KMA_SLOTS_BITS work-items; each takes a source at a time.
kernel void kma_world_move_kernel(global kma_world *w, uint cls,
                                  const global kma_defragmentation *d, const global uint *list,
                                  const global uint *firsts)
{
    const uint sources = d->plan.sources, targets = d->plan.targets, slot = (uint)get_local_id(0);
    for (uint i = (uint)get_group_id(0); i < sources; i += (uint)get_num_groups(0)) {
        const uint at = w->blocks - 1 - i, block = list[at], aim = firsts[at];
        const kma_slots state = kma_slots_load(&kma_world_block_at(w, block)->state, KMA_RELAXED) &
                                ~kma_slots_pad(KMA_WORLD_SLOTS(cls));
        uint forward = kma_world_ref(block, slot);
        if ((state & kma_slots_bit(slot)) != 0) {
            const uint to = kma_world_destination(w, list, firsts, targets, aim,
                                                  kma_slots_count(state & kma_slots_below(slot)));
            kma_world_copy(w, cls, forward, to);
            forward = to;
        }
        barrier(CLK_GLOBAL_MEM_FENCE); // all fields of the block were read
        kma_world_forwards(w, block)[slot] = forward;
    }
}

// Updates states, types and trees of sources and targets.
kernel void kma_world_settle_kernel(global kma_world *w, uint cls,
                                    const global kma_defragmentation *d, const global uint *list,
                                    const global uint *firsts)
{
    const uint sources = d->plan.sources, objects = d->plan.objects;
    const uint targets = sources != 0 ? d->plan.targets : 0;
    for (size_t i = get_global_id(0); i < (size_t)sources + targets; i += get_global_size(0)) {
        if (i < targets)
            kma_world_settle_target(w, cls, list[i], firsts[i], objects);
        else
            kma_world_settle_source(w, cls, list[w->blocks - 1 - (uint)(i - targets)]);
    }
}

// Visits the references of all objects of the classes in the bit mask `classes`.
static inline void kma_world_visit_all(global kma_world *w, kma_visit visit, ulong classes)
{
    const kma_world_share share = KMA_WORLD_SHARE(w->blocks * KMA_SLOTS_BITS);
    for (uint i = share.kma_at; i < share.kma_end; i += share.kma_step) {
        const uint block = i / KMA_SLOTS_BITS, slot = i % KMA_SLOTS_BITS;
        global kma_world_block *b = kma_world_block_at(w, block);
        const uint type = kma_load_u32(&b->type, KMA_RELAXED);
        const kma_slots state = kma_slots_load(&b->state, KMA_RELAXED);
        if (type != 0 && (classes >> (type - 1) & 1u) != 0 && slot < KMA_WORLD_SLOTS(type - 1) &&
            (state & kma_slots_bit(slot)) != 0)
            kma_world_visit(w, visit, type - 1, kma_world_ref(block, slot));
    }
}

// Visits the references in a program's own array, to objects of the classes `first` to `last`.
static inline void kma_world_visit_root(global kma_world *w, kma_visit visit, global uint *root,
                                        uint count, uint first, uint last)
{
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0)) {
        const kma_dangling place = {0, 0, (uint)i, 0};
        kma_visit_reference(w, visit, &root[i], place, first, last);
    }
}

// Rewrites references to moved objects of the classes `first` to `last`, in all objects of the
// classes in the bit mask `classes`.
kernel void kma_world_forward_kernel(global kma_world *w, const global kma_defragmentation *d,
                                     const global uint *moved, uint first, uint last, ulong classes)
{
    if (d->blocks == 0)
        return;
    const kma_visit visit = {
        KMA_VISIT_FORWARD, first, last, moved, (global kma_dangling_log *)0, 0};
    kma_world_visit_all(w, visit, classes);
}

// The same in a root: `count` references from root[begin] on.
kernel void kma_world_forward_root_kernel(global kma_world *w, const global kma_defragmentation *d,
                                          const global uint *moved, global uint *root, uint begin,
                                          uint count)
{
    if (d->blocks == 0)
        return;
    const kma_visit visit = {KMA_VISIT_FORWARD, 0, ~0u, moved, (global kma_dangling_log *)0, 0};
    kma_world_visit_root(w, visit, root + begin, count, 0, ~0u);
}

// Records all references in objects that lead to no object.
kernel void kma_world_dangling_kernel(global kma_world *w, global kma_dangling_log *dangling)
{
    const kma_visit visit = {KMA_VISIT_CHECK, 0, ~0u, (const global uint *)0, dangling, 0};
    kma_world_visit_all(w, visit, ~0ul);
}

// The same in a root, for references to objects of the classes `first` to `last`.
kernel void kma_world_dangling_root_kernel(global kma_world *w, global kma_dangling_log *dangling,
                                           global uint *root, uint begin, uint count, uint first,
                                           uint last)
{
    const kma_visit visit = {KMA_VISIT_CHECK, 0, ~0u, (const global uint *)0, dangling, 0};
    kma_world_visit_root(w, visit, root + begin, count, first, last);
}

#endif
