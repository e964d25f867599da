// The kernels of the suite `objects`, in a world of class Thing with the field `ulong words[8]`.
// refs[n * items + k] is the n-th object of work-item k.

kernel void create(global kma_world *w, uint each, global uint *refs)
{
    for (uint n = 0; n < each; n++)
        refs[n * (uint)get_global_size(0) + (uint)get_global_id(0)] = Thing_new(w);
}

kernel void destroy(global kma_world *w, uint each, global const uint *refs)
{
    for (uint n = 0; n < each; n++)
        Thing_delete(w, refs[n * (uint)get_global_size(0) + (uint)get_global_id(0)]);
}

// Writes the index in `refs` into each object.
kernel void stamp(global kma_world *w, uint each, global const uint *refs)
{
    for (uint n = 0; n < each; n++) {
        const uint at = n * (uint)get_global_size(0) + (uint)get_global_id(0);
        for (uint i = 0; refs[at] != 0 && i < 8; i++)
            Thing_words(w, refs[at], i) = at;
    }
}

// Counts references of 0 in counts[0], and objects with wrong contents in counts[1].
kernel void look(global kma_world *w, uint each, global const uint *refs,
                 global kma_atomic_u32 *counts)
{
    for (uint n = 0; n < each; n++) {
        const uint at = n * (uint)get_global_size(0) + (uint)get_global_id(0);
        bool is_right = true;
        for (uint i = 0; refs[at] != 0 && i < 8; i++)
            is_right = is_right && Thing_words(w, refs[at], i) == at;
        if (refs[at] == 0 || !is_right)
            kma_fetch_add_u32(&counts[refs[at] == 0 ? 0 : 1], 1, KMA_RELAXED);
    }
}
