// Builds object graphs that the host describes, and compares what is left of them. Behind the types
// of graphs.cpp.
enum { NODE = 1, PAIR, REFS, LISTS, NUMBERS, LARGE, WIDE };

// The words of an element that are no reference: from `first` on, in elements of `step` words.
typedef struct words {
    uint first, count, step;
} words;

static inline words words_of(uint type)
{
    switch (type & 127) {
    case NODE: return (words){0, 1, sizeof(Node) / 4};
    case PAIR: return (words){4, 4, sizeof(Pair) / 4};
    case NUMBERS: return (words){0, 1, 1};
    case LARGE: return (words){1, sizeof(Large) / 4 - 1, sizeof(Large) / 4};
    default: return (words){0, 0, 0};
    }
}

// Writes all these words of an object, or returns whether they are as they were written.
static inline bool stamp(global uint *object, uint type, uint n, uint number, bool is_new)
{
    const words of = words_of(type);
    bool is_right = true;
    for (uint e = 0; e < n; e++)
        for (uint w = 0; w < of.count; w++) {
            global uint *word = &object[e * of.step + of.first + w];
            const uint value = number * 31 + e * 7 + w;
            if (is_new)
                *word = value;
            is_right &= *word == value;
        }
    return is_right;
}

// Object number i: its type's number, with KMA_TYPE_ARRAY beside it for an array of lengths[i].
// Either those of more than 1,000 elements, or the others.
kernel void make(global kma_heap *heap, global const uint *types, global const uint *lengths,
                 global kma_ref *refs, uint count, uint large)
{
    const uint i = (uint)get_global_id(0);
    if (i >= count || lengths[i] > 1000 != large)
        return;
    global void *made = 0;
    const uint n = lengths[i];
    switch (types[i]) {
    case NODE: made = Node_new(heap); break;
    case PAIR: made = Pair_new(heap); break;
    case LARGE: made = Large_new(heap); break;
    case WIDE: made = Wide_new(heap); break;
    case NODE | KMA_TYPE_ARRAY: made = Node_new_array(heap, n); break;
    case PAIR | KMA_TYPE_ARRAY: made = Pair_new_array(heap, n); break;
    case WIDE | KMA_TYPE_ARRAY: made = Wide_new_array(heap, n); break;
    case REFS | KMA_TYPE_ARRAY: made = Refs_new_array(heap, n); break;
    case LISTS | KMA_TYPE_ARRAY: made = Lists_new_array(heap, n); break;
    case NUMBERS | KMA_TYPE_ARRAY: made = Numbers_new_array(heap, n); break;
    }
    refs[i] = kma_ref_of(heap, made);
    if (made)
        stamp((global uint *)made, types[i], n, i, true);
}

// Counts what is not as it should be: living objects in wrong[0], dead ones in wrong[1].
kernel void compare(global kma_heap *heap, global const uint *types, global const uint *lengths,
                    global const kma_ref *refs, global const uint *living, uint count,
                    volatile global uint *wrong)
{
    const uint i = (uint)get_global_id(0);
    if (i >= count)
        return;
    global uint *const object = (global uint *)kma_deref(heap, refs[i]);
    const uint type = living[i] ? types[i] : 0, n = living[i] ? lengths[i] : 0;
    if (kma_type_of(heap, object) != type || kma_length(heap, object) != n ||
        !stamp(object, type, n, i, false))
        atomic_inc(&wrong[living[i] ? 0 : 1]);
}

// Word number y / 4 of object x leads to object z: sets it, or counts what leads elsewhere.
kernel void edges(global kma_heap *heap, global const kma_ref *refs, global const uint4 *all,
                  uint count, uint sets, volatile global uint *wrong)
{
    const uint i = (uint)get_global_id(0);
    if (i >= count)
        return;
    global uint *word = &((global uint *)kma_deref(heap, refs[all[i].x]))[all[i].y / 4];
    if (sets)
        *word = refs[all[i].z];
    else if (*word != refs[all[i].z])
        atomic_inc(wrong);
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
// object or an array, which holds their number.
kernel void replace(global kma_heap *heap, global kma_ref *refs, uint turn,
                    volatile global uint *wrong)
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
