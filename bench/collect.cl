// The kernels of the suites `collect` and `compact`, after their types: object graphs for a
// collector.
//
// random   objects of 32 bytes with four references each. Those of even index live: number k of
//          them is at place(k), and leads to numbers 2k + 1 and 2k + 2, so that all are reached
//          from number 0, and to two others by chance. Those of odd index are garbage, and lead
//          anywhere.
// list     each leads to the next
// array    one array has as many references, by chance
// small    as many references in objects of four, which are a binary tree

// The index of living object number k of 2^shift.
static inline uint place(uint k, uint shift)
{
    return 2 * (k * 0x9e3779b1u & ((1u << shift) - 1)); // an odd factor: a permutation
}

// Adjacent objects are made in order: by one work-item on a CPU, by adjacent lanes on other
// devices.
kernel void make_things(global kma_heap *heap, global kma_ref *refs, uint count)
{
    const uint items = (uint)get_global_size(0), me = (uint)get_global_id(0);
    const uint each = (count + items - 1) / items;
    for (uint n = 0; n < each; n++) {
        const uint i = KMA_IS_CPU ? me * each + n : n * items + me;
        if (i >= count)
            return;
        global Thing *made = Thing_new(heap);
        refs[i] = kma_ref_of(heap, made);
        if (made)
            made->number = i;
    }
}

kernel void link_random(global kma_heap *heap, global const kma_ref *refs, uint shift)
{
    const uint living = 1u << shift;
    for (uint i = (uint)get_global_id(0); i < 2 * living; i += (uint)get_global_size(0)) {
        // living object number k, or garbage object number k
        const uint k = i < living ? i : i - living;
        const uint index = i < living ? place(k, shift) : 2 * k + 1;
        global Thing *thing = Thing_at(heap, refs[index]);
        for (uint r = 0; r < 4; r++) {
            const uint child = 2 * k + 1 + r;
            const uint random = kma_mix32(i * 4 + r);
            uint to = random % (2 * living);
            if (i < living)
                to = r < 2 ? (child < living ? place(child, shift) : index) : 2 * (random % living);
            thing->to[r] = refs[to];
        }
    }
}

kernel void link_list(global kma_heap *heap, global const kma_ref *refs, uint count)
{
    for (uint i = (uint)get_global_id(0); i < count; i += (uint)get_global_size(0))
        Thing_at(heap, refs[i])->to[0] = i + 1 < count ? refs[i + 1] : KMA_NULL;
}

// Makes one array of references to all things.
kernel void make_array(global kma_heap *heap, global kma_ref *root, uint count)
{
    root[0] = kma_ref_of(heap, Things_new_array(heap, count));
}

kernel void fill_array(global kma_heap *heap, global const kma_ref *root,
                       global const kma_ref *refs, uint count)
{
    global Things *array = Things_at(heap, root[0]);
    for (uint i = (uint)get_global_id(0); array && i < count; i += (uint)get_global_size(0))
        array[i] = refs[kma_mix32(i) % count];
}

// Makes a binary tree of holders with four of these references each.
kernel void make_holders(global kma_heap *heap, global kma_ref *holders, uint count)
{
    for (uint i = (uint)get_global_id(0); i < count; i += (uint)get_global_size(0))
        holders[i] = kma_ref_of(heap, Holder_new(heap));
}

kernel void link_holders(global kma_heap *heap, global const kma_ref *holders,
                         global const kma_ref *refs, uint count)
{
    for (uint i = (uint)get_global_id(0); i < count; i += (uint)get_global_size(0)) {
        global Holder *holder = Holder_at(heap, holders[i]);
        for (uint r = 0; r < 4; r++)
            holder->to[r] = refs[kma_mix32(i * 4 + r) % (4 * count)];
        for (uint c = 0; c < 2; c++)
            holder->children[c] = 2 * i + 1 + c < count ? holders[2 * i + 1 + c] : KMA_NULL;
    }
}

// Counts missing things and things with wrong contents. The first of each `step` must live.
kernel void look_at_things(global kma_heap *heap, global const kma_ref *refs, uint count, uint step,
                           global kma_atomic_u32 *counts)
{
    for (uint i = (uint)get_global_id(0); i < count; i += (uint)get_global_size(0)) {
        global Thing *thing = Thing_at(heap, refs[i]);
        const bool lives = kma_type_of(heap, thing) != 0;
        if (lives != (i % step == 0) || (lives && thing->number != i))
            kma_fetch_add_u32(&counts[1], 1, KMA_RELAXED);
    }
}

// ------ compaction -------------------------------------------------------------------------------
//
// Things of even index live. Those of a tile of 4,096 things, made by one work-group, form a binary
// tree, referenced by an array of all tiles. Each has one more reference: to a thing of its tile,
// or of any tile if `is_far`.

kernel void make_tiles(global kma_heap *heap, global kma_ref *refs, uint count)
{
    const uint items = (uint)get_local_size(0);
    for (uint tile = (uint)get_group_id(0); tile < count / 4096; tile += (uint)get_num_groups(0)) {
        for (uint n = (uint)get_local_id(0); n < 4096; n += items) {
            global Thing *made = Thing_new(heap);
            refs[tile * 4096 + n] = kma_ref_of(heap, made);
            if (made)
                made->number = tile * 4096 + n;
        }
    }
}

kernel void link_tiles(global kma_heap *heap, global const kma_ref *root,
                       global const kma_ref *refs, uint count, uint is_far)
{
    global Things *tiles = Things_at(heap, root[0]);
    for (uint i = (uint)get_global_id(0); tiles && i < count / 2; i += (uint)get_global_size(0)) {
        const uint tile = i / 2048, k = i % 2048, living = min(count / 2 - tile * 2048, 2048u);
        global Thing *thing = Thing_at(heap, refs[2 * i]);
        if (k == 0)
            tiles[tile] = refs[2 * i];
        for (uint r = 0; r < 2; r++)
            thing->to[r] =
                2 * k + 1 + r < living ? refs[2 * (tile * 2048 + 2 * k + 1 + r)] : KMA_NULL;
        const uint random = kma_mix32(i);
        thing->to[2] = refs[2 * (is_far ? random % (count / 2) : tile * 2048 + random % living)];
    }
}

// Counts things with other contents than link_tiles wrote, after moves.
kernel void look_at_tiles(global kma_heap *heap, global const kma_ref *root, uint count,
                          uint is_far, global kma_atomic_u32 *counts)
{
    global Things *tiles = Things_at(heap, root[0]);
    for (uint i = (uint)get_global_id(0); i < count / 2; i += (uint)get_global_size(0)) {
        const uint tile = i / 2048, k = i % 2048, living = min(count / 2 - tile * 2048, 2048u);
        global Thing *thing = Thing_at(heap, tiles[tile]);
        // down from the tree's root
        for (uint bit = k == 0 ? 0 : kma_highest_bit(k + 1); bit-- != 0;)
            thing = Thing_at(heap, thing->to[(k + 1) >> bit & 1]);
        const uint random = kma_mix32(i);
        global Thing *other = Thing_at(heap, thing->to[2]);
        if (kma_type_of(heap, thing) == 0 || thing->number != 2 * i ||
            kma_type_of(heap, other) == 0 ||
            other->number != 2 * (is_far ? random % (count / 2) : tile * 2048 + random % living))
            kma_fetch_add_u32(&counts[1], 1, KMA_RELAXED);
    }
}
