// The kernels that follow references: the steps of a defragmentation (objects/defragment.cl), and
// the check of all references. They are a program of their own, behind a schema's visitors
// (kma::Schema::visitors). While nothing else runs; one dimension, work-groups of 64 to 1,024.
#ifndef KMA_KERNELS_REFERENCE_KERNELS_CL
#define KMA_KERNELS_REFERENCE_KERNELS_CL

#include "kma/objects/defragment.cl"
#include "kma/objects/each.cl"
#include "kma/platform/group.cl"

// A class whose objects have one reference, so that this file compiles by itself.
#ifndef KMA_WORLD_HAS_VISITORS
static inline void kma_world_visit(global kma_world *w, kma_visit visit, uint cls, uint self)
{
    kma_visit_field(w, visit, self, 0, 0, 1, KMA_WORLD_SLOTS(cls), 0, 0);
}

static inline void kma_world_copy(global kma_world *w, uint cls, uint from, uint to)
{
    for (uint i = 0; i < KMA_WORLD_OBJECT_BYTES(cls) / 4; i++)
        KMA_WORLD_COPY(uint, w, from, to, i * KMA_WORLD_SLOTS(cls) * 4);
}
#endif

// Adds to d->fills[n] the blocks of class cls that have n objects. Any number of whole groups.
kernel void kma_world_fills_kernel(global kma_world *w, uint cls, global kma_defragmentation *d)
{
    local uint own[KMA_DEFRAGMENT_FILLS];
    const uint me = (uint)get_local_id(0), items = (uint)get_local_size(0);
    for (uint n = me; n < KMA_DEFRAGMENT_FILLS; n += items)
        own[n] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t block = get_global_id(0); block < w->blocks; block += get_global_size(0)) {
        const uint objects = kma_world_objects_in(w, cls, (uint)block);
        if (objects != 0)
            kma_group_add(&own[objects], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint n = me; n < KMA_DEFRAGMENT_FILLS; n += items)
        if (own[n] != 0)
            kma_fetch_add_u32(&d->fills[n], own[n], KMA_RELAXED);
}

// Notes the plan for class cls. One work-item.
kernel void kma_world_plan_kernel(uint cls, global kma_defragmentation *d, uint worse, uint share,
                                  uint objects)
{
    if (get_global_id(0) != 0)
        return;
    const kma_defragment_order order = {worse, share, objects};
    uint fills[KMA_DEFRAGMENT_FILLS];
    for (uint n = 0; n < KMA_DEFRAGMENT_FILLS; n++) {
        fills[n] = kma_load_u32(&d->fills[n], KMA_RELAXED);
        kma_store_u32(&d->fills[n], 0, KMA_RELAXED); // for the next class
    }
    const kma_defragment_plan plan = kma_defragment_plan_of(fills, KMA_WORLD_SLOTS(cls), order);
    d->plan = plan;
    d->objects += plan.objects;
    d->blocks += plan.sources;
    d->before = max(d->before, plan.before);
    d->after = max(d->after, plan.after);
}

// Writes to sums[part] what each of `parts` parts of the world has.
kernel void kma_world_sums_kernel(global kma_world *w, uint cls,
                                  const global kma_defragmentation *d, uint parts,
                                  global kma_block_sums *sums)
{
    const uint limit = d->plan.limit;
    if (d->plan.sources == 0)
        return;
    const uint blocks = w->blocks, each = kma_world_part_blocks(blocks, parts);
    for (size_t part = get_global_id(0); part < parts; part += get_global_size(0)) {
        kma_block_sums own = {0, 0, 0, 0, 0};
        for (size_t block = part * each; block < min((part + 1) * each, (size_t)blocks); block++)
            kma_block_sums_add(&own, KMA_WORLD_SLOTS(cls), limit,
                               kma_world_objects_in(w, cls, (uint)block));
        sums[part] = own;
    }
}

// Replaces the sums of each part by those of all parts in front. One work-group, of
// KMA_DEFRAGMENT_SCANNERS work-items or fewer.
kernel void kma_world_scan_kernel(const global kma_defragmentation *d, uint parts,
                                  global kma_block_sums *sums)
{
    local uint before[KMA_BLOCK_SUMS][KMA_DEFRAGMENT_SCANNERS];
    const uint me = (uint)get_local_id(0), items = (uint)get_local_size(0);
    const uint all_parts = d->plan.sources != 0 ? parts : 0, each = (all_parts + items - 1) / items;
    const uint begin = min(me * each, all_parts), end = min(begin + each, all_parts);
    global uint *const numbers = (global uint *)sums; // of each part all five, one after the other
    for (uint field = 0; field < KMA_BLOCK_SUMS; field++) {
        uint sum = 0;
        for (uint part = begin; part < end; part++)
            sum += numbers[part * KMA_BLOCK_SUMS + field];
        before[field][me] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint field = me; field < KMA_BLOCK_SUMS; field += items) {
        uint sum = 0;
        for (uint i = 0; i < items; i++) {
            const uint own = before[field][i];
            before[field][i] = sum;
            sum += own;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint field = 0; field < KMA_BLOCK_SUMS; field++) {
        uint sum = before[field][me];
        for (uint part = begin; part < end; part++) {
            const uint own = numbers[part * KMA_BLOCK_SUMS + field];
            numbers[part * KMA_BLOCK_SUMS + field] = sum;
            sum += own;
        }
    }
}

// Lists targets from list[0] on and sources from list[w->blocks - 1] on downwards, with their first
// numbers in `firsts`, and sets the bit of each source in `moved`.
kernel void kma_world_sort_kernel(global kma_world *w, uint cls,
                                  const global kma_defragmentation *d, uint parts,
                                  const global kma_block_sums *sums, global uint *list,
                                  global uint *firsts, global uint *moved)
{
    const uint limit = d->plan.limit, extra = d->plan.extra;
    if (d->plan.sources == 0)
        return;
    const uint blocks = w->blocks, slots = KMA_WORLD_SLOTS(cls);
    const uint each = kma_world_part_blocks(blocks, parts);
    for (size_t part = get_global_id(0); part < parts; part += get_global_size(0)) {
        kma_block_lists at = kma_block_lists_of(sums[part], slots, limit, extra);
        uint bits = 0;
        for (size_t i = part * each; i < min((part + 1) * each, (size_t)blocks); i++) {
            const uint block = (uint)i, objects = kma_world_objects_in(w, cls, block);
            const bool is_source =
                objects != 0 && (objects < limit || (objects == limit && at.equal < extra));
            if (is_source) {
                const uint place = blocks - 1 - at.sources;
                list[place] = block;
                firsts[place] = at.objects;
                bits |= 1u << block % 32;
                at.sources++;
                at.objects += objects;
            } else if (objects != 0 && objects < slots) {
                list[at.targets] = block;
                firsts[at.targets] = at.room;
                at.targets++;
                at.room += slots - objects;
            }
            at.equal += objects == limit ? 1 : 0;
            if (block % 32 == 31 || block == blocks - 1) { // no other part has bits in this word
                moved[block / 32] |= bits;
                bits = 0;
            }
        }
    }
}

// Moves the objects of all sources to free slots of targets, and writes into each source where they
// went. Each tile of a work-group's work-items has whole blocks.
kernel void kma_world_move_kernel(global kma_world *w, uint cls,
                                  const global kma_defragmentation *d, const global uint *list,
                                  const global uint *firsts)
{
    const uint sources = d->plan.sources, targets = d->plan.targets;
    const uint me = (uint)get_local_id(0), slots = KMA_WORLD_SLOTS(cls);
    const uint tile = (uint)get_local_size(0) / slots, which = me / slots, slot = me % slots;
    const uint step = (uint)get_num_groups(0) * tile;
    for (uint first = (uint)get_group_id(0) * tile; first < sources; first += step) {
        const bool is_in = which < tile && which < sources - first;
        uint block = 0, forward = 0;
        if (is_in) {
            const uint at = w->blocks - 1 - (first + which);
            block = list[at];
            forward = kma_world_ref(block, slot);
            const kma_slots state =
                kma_slots_load(&kma_world_block_at(w, block)->state, KMA_RELAXED);
            if ((state & kma_slots_bit(slot)) != 0) {
                const uint to = kma_world_destination(
                    w, list, firsts, targets,
                    firsts[at] + kma_slots_count(state & kma_slots_below(slot)));
                kma_world_copy(w, cls, forward, to);
                forward = to;
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE); // all fields of the block were read
        if (is_in) {
            kma_world_forwards(w, block)[slot] = forward;
            for (uint none = slot + slots; none < KMA_SLOTS_BITS; none += slots) // no such slots
                kma_world_forwards(w, block)[none] = kma_world_ref(block, none);
        }
    }
}

// Makes states, types and trees say what moved.
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

// Visits the references of all objects of the classes whose bits are set.
static inline void kma_world_visit_all(global kma_world *w, kma_visit visit, ulong classes)
{
    const kma_world_share share = KMA_WORLD_SHARE(w->blocks * KMA_SLOTS_BITS);
    for (uint i = share.kma_at; i < share.kma_end; i += share.kma_step) {
        const uint block = i / KMA_SLOTS_BITS, slot = i % KMA_SLOTS_BITS;
        global kma_world_block *b = kma_world_block_at(w, block);
        const uint type = kma_load_u32(&b->type, KMA_RELAXED);
        if (type == 0 || (classes >> (type - 1) & 1u) == 0 || slot >= KMA_WORLD_SLOTS(type - 1))
            continue;
        if ((kma_slots_load(&b->state, KMA_RELAXED) & kma_slots_bit(slot)) != 0)
            kma_world_visit(w, visit, type - 1, kma_world_ref(block, slot));
    }
}

// Visits the references in an array of a program's own, to objects of the classes `first` to
// `last`.
static inline void kma_world_visit_root(global kma_world *w, kma_visit visit, global uint *root,
                                        uint count, uint first, uint last)
{
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0)) {
        const kma_dangling place = {0, 0, (uint)i, 0};
        kma_visit_reference(w, visit, &root[i], place, first, last);
    }
}

// Rewrites references to objects of the classes `first` to `last` that have moved, in all objects
// of the classes whose bits are set.
kernel void kma_world_forward_kernel(global kma_world *w, const global kma_defragmentation *d,
                                     const global uint *moved, uint first, uint last, ulong classes)
{
    if (d->blocks == 0)
        return;
    const kma_visit visit = {KMA_VISIT_FORWARD, first, last, moved, (global kma_dangling_log *)0};
    kma_world_visit_all(w, visit, classes);
}

// The same in a root: `count` references from root[begin] on.
kernel void kma_world_forward_root_kernel(global kma_world *w, const global kma_defragmentation *d,
                                          const global uint *moved, global uint *root, uint begin,
                                          uint count)
{
    if (d->blocks == 0)
        return;
    const kma_visit visit = {KMA_VISIT_FORWARD, 0, ~0u, moved, (global kma_dangling_log *)0};
    kma_world_visit_root(w, visit, root + begin, count, 0, ~0u);
}

// Notes all references of objects that lead to no object.
kernel void kma_world_dangling_kernel(global kma_world *w, global kma_dangling_log *dangling)
{
    const kma_visit visit = {KMA_VISIT_CHECK, 0, ~0u, (const global uint *)0, dangling};
    kma_world_visit_all(w, visit, ~0ul);
}

// The same in a root, for references to objects of the classes `first` to `last`.
kernel void kma_world_dangling_root_kernel(global kma_world *w, global kma_dangling_log *dangling,
                                           global uint *root, uint begin, uint count, uint first,
                                           uint last)
{
    const kma_visit visit = {KMA_VISIT_CHECK, 0, ~0u, (const global uint *)0, dangling};
    kma_world_visit_root(w, visit, root + begin, count, first, last);
}

#endif
