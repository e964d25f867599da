// Builds object graphs that the host describes, and compares what is left of them. Behind the types
// of collect_test.cpp.

// Object number i: its type's number, with KMA_TYPE_ARRAY beside it for an array of lengths[i].
// Either those of more than 1,000 elements, or the others.
kernel void make(global kma_heap *heap, global const uint *types, global const uint *lengths, global kma_ref *refs, uint count,
                 uint large)
{
    const uint i = (uint)get_global_id(0);
    if (i >= count || lengths[i] > 1000 != large)
        return;
    global void *made = 0;
    const uint n = lengths[i];
    switch (types[i]) {
    case NODE: made = Node_new(heap); break;
    case PAIR: made = Pair_new(heap); break;
    case NODE | KMA_TYPE_ARRAY: made = Node_new_array(heap, n); break;
    case PAIR | KMA_TYPE_ARRAY: made = Pair_new_array(heap, n); break;
    case REFS | KMA_TYPE_ARRAY: made = Refs_new_array(heap, n); break;
    case LISTS | KMA_TYPE_ARRAY: made = Lists_new_array(heap, n); break;
    case NUMBERS | KMA_TYPE_ARRAY: made = Numbers_new_array(heap, n); break;
    }
    refs[i] = kma_ref_of(heap, made);
    for (uint e = 0; made && e < n; e++) {
        if ((types[i] & 127) == NODE)
            ((global Node *)made)[e].key = i * 31 + e;
        else if ((types[i] & 127) == PAIR)
            ((global Pair *)made)[e].place = (float4)((float)i, (float)e, 0, 1);
        else if ((types[i] & 127) == NUMBERS)
            ((global Numbers *)made)[e] = i * 7 + e;
    }
}

// An edge: word number offset / 4 of object `from` leads to object `to`.
kernel void set(global kma_heap *heap, global const kma_ref *refs, global const uint4 *edges, uint count)
{
    const uint i = (uint)get_global_id(0);
    if (i < count)
        ((global uint *)kma_deref(heap, refs[edges[i].x]))[edges[i].y / 4] = refs[edges[i].z];
}

// Counts what is not as it should be: living objects in wrong[0], dead ones in wrong[1].
kernel void compare(global kma_heap *heap, global const uint *types, global const uint *lengths, global const kma_ref *refs,
                    global const uint *living, uint count, volatile global uint *wrong)
{
    const uint i = (uint)get_global_id(0);
    if (i >= count)
        return;
    global void *const object = kma_deref(heap, refs[i]);
    const uint n = lengths[i];
    if (!living[i]) {
        if (kma_type_of(heap, object) != 0 || kma_length(heap, object) != 0)
            atomic_inc(&wrong[1]);
        return;
    }
    bool is_right = kma_type_of(heap, object) == types[i] && kma_length(heap, object) == n;
    for (uint e = 0; e < n; e++) {
        if ((types[i] & 127) == NODE)
            is_right &= ((global Node *)object)[e].key == i * 31 + e;
        else if ((types[i] & 127) == PAIR)
            is_right &= all(((global Pair *)object)[e].place == (float4)((float)i, (float)e, 0, 1));
        else if ((types[i] & 127) == NUMBERS)
            is_right &= ((global Numbers *)object)[e] == i * 7 + e;
    }
    if (!is_right)
        atomic_inc(&wrong[0]);
}

kernel void compare_edges(global kma_heap *heap, global const kma_ref *refs, global const uint4 *edges, uint count,
                          volatile global uint *wrong)
{
    const uint i = (uint)get_global_id(0);
    if (i < count && ((global const uint *)kma_deref(heap, refs[edges[i].x]))[edges[i].y / 4] != refs[edges[i].z])
        atomic_inc(&wrong[0]);
}

// Memory without a type, between the objects: 16 to 600 bytes each.
kernel void plain(global kma_heap *heap, global kma_ref *refs, uint is_free)
{
    const uint i = (uint)get_global_id(0);
    const uint words = 4 + kma_mix32(i) % 147;
    global uint *block = (global uint *)kma_deref(heap, refs[i]);
    if (is_free) {
        bool is_right = block != 0;
        for (uint w = 0; is_right && w < words; w++)
            is_right = block[w] == i * 13 + w;
        refs[i] = is_right;
        kma_free(heap, block);
        return;
    }
    block = (global uint *)kma_malloc(heap, words * 4);
    for (uint w = 0; block && w < words; w++)
        block[w] = i * 13 + w;
    refs[i] = kma_ref_of(heap, block);
}

// A list of `count` nodes, each made by one work-item; node i leads to node i + 1.
kernel void make_list(global kma_heap *heap, global kma_ref *refs, uint count)
{
    const uint i = (uint)get_global_id(0);
    if (i >= count)
        return;
    global Node *const node = Node_new(heap);
    node->key = i;
    refs[i] = kma_ref_of(heap, node);
}

kernel void link_list(global kma_heap *heap, global const kma_ref *refs, uint count)
{
    const uint i = (uint)get_global_id(0);
    if (i < count)
        Node_at(heap, refs[i])->left = i + 1 < count ? refs[i + 1] : KMA_NULL;
}

// Lists of all nodes in an order by chance, of which `by` says by which of their references: step *
// position is the number of the node at a position. The nodes behind the first `count` / 2 positions
// are a list of their own, which leads to the first half's middle at its end.
kernel void link_by_chance(global kma_heap *heap, global const kma_ref *refs, uint count, uint step, uint by)
{
    const uint i = (uint)get_global_id(0), half_count = count / 2;
    if (i >= count)
        return;
    global Node *const node = Node_at(heap, refs[(uint)((ulong)i * step % count)]);
    const uint next = i + 1 == count ? half_count / 2 : i + 1 == half_count ? count : i + 1;
    const kma_ref to = next == count ? KMA_NULL : refs[(uint)((ulong)next * step % count)];
    const uint before = i == 0 || i == half_count ? count : i - 1;
    const kma_ref from = before == count ? KMA_NULL : refs[(uint)((ulong)before * step % count)];
    node->left = by == 0 ? to : by == 2 ? from : KMA_NULL; // 2: a list in both directions
    node->right = by == 2 ? to : KMA_NULL;
    if (by == 1)
        kma_ref_init(&node->next, to);
}

// Fills the heap with nodes, up to 600 in a list for each work-item; notes the lists' first nodes.
kernel void fill(global kma_heap *heap, global kma_ref *refs, volatile global uint *made)
{
    global Node *first = 0;
    for (uint i = 0; i < 600; i++) {
        global Node *const node = Node_new(heap);
        if (!node)
            break;
        node->left = kma_ref_of(heap, first);
        first = node;
        atomic_inc(made);
    }
    refs[get_global_id(0)] = kma_ref_of(heap, first);
}

// In each turn half of the work-items delete what they have, and all that have nothing then make an
// object or an array, whose number is theirs.
kernel void replace(global kma_heap *heap, global kma_ref *refs, uint turn, volatile global uint *wrong)
{
    const uint i = (uint)get_global_id(0);
    const uint random = kma_mix32(i + turn * 0x10001u);
    global uint *mine = (global uint *)kma_deref(heap, refs[i]);
    if (mine && *mine != i)
        atomic_inc(wrong);
    if (mine && random % 2 == 0) {
        kma_delete(heap, mine);
        mine = 0;
    }
    if (!mine)
        mine = random % 4 < 2 ? (global uint *)Node_new(heap)
                              : (global uint *)Numbers_new_array(heap, 1 + random / 4 % 100);
    if (mine)
        *mine = i;
    else
        atomic_inc(wrong);
    refs[i] = kma_ref_of(heap, mine);
}

kernel void drop(global kma_heap *heap, uint ref)
{
    kma_delete(heap, kma_deref(heap, ref));
}

kernel void poke(global kma_heap *heap, uint ref, int word, uint value)
{
    ((global uint *)kma_deref(heap, ref))[word] = value;
}

// Counts nodes of a list whose number is not `step` times their place, or that lead elsewhere than
// to the next.
kernel void compare_list(global kma_heap *heap, global const kma_ref *refs, uint count, uint step, volatile global uint *wrong)
{
    const uint i = (uint)get_global_id(0);
    if (i >= count)
        return;
    global Node *const node = Node_at(heap, refs[i]);
    if (kma_type_of(heap, node) != NODE || node->key != i * step || node->left != (i + 1 < count ? refs[i + 1] : KMA_NULL))
        atomic_inc(wrong);
}
