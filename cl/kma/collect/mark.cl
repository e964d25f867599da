// Mark: from the roots on, sets the mark bits of all typed objects that references lead to.
//
// Round by round: a round visits the items of one queue and puts what it reaches into the other.
// The work-item whose fetch_or sets an object's mark bit is the only one to visit the object. It
// goes on with one object that it reached by itself, for KMA_MARK_STEPS objects at most, and queues
// the others: a list costs no round for each of its elements, and a round ends soon. A work-group
// gathers what it queues in local memory, and takes room for all of it by one atomic.
//
// A work-item splits a part of an array of more than 64 elements into 32 smaller ones, so that no
// array is visited by one work-item alone. Parts that a full queue has no room for it visits
// itself.
//
// A queue that is full drops objects. They have their mark bits, so no round would visit them
// again. When the queues are empty, and objects were dropped, kma_mark_again_kernel visits all
// marked objects, whose references reach what is missing. Each repetition marks objects, or is the
// last.
//
// All atomics are relaxed: a round reads what kernels before it wrote, and mark bits that other
// work-items set only tell who visits. While nothing else runs on the heap.
#ifndef KMA_COLLECT_MARK_CL
#define KMA_COLLECT_MARK_CL

#include "kma/collect/typed.cl"
#include "kma/platform/group.cl"

#ifndef KMA_MARK_STEPS
#define KMA_MARK_STEPS (KMA_IS_CPU ? 4096u : 64u)
#endif
#define KMA_MARK_GATHERED 512u // items that a work-group gathers
#define KMA_MARK_UNSPLIT 0xffffffffu

// What a kernel gives to the functions here.
typedef struct kma_marking {
    global kma_heap *heap;
    global const uchar *table;
    global kma_atomic_u32 *marks;
    uint units;
    uint type_count;
    global const kma_type *types;
    global const kma_reference *references;
    global kma_collection *collection;
    global kma_mark_item *queue; // of the next round
    global kma_atomic_u32 *count;
    uint capacity;
    local kma_mark_item *gathered;
    local uint *gathered_count;
} kma_marking;

// Puts an item into a place of the queue, if the queue has it.
static inline void kma_mark_store(const kma_marking *m, uint place, kma_mark_item item)
{
    if (place < m->capacity)
        m->queue[place] = item;
    else
        kma_store_u32(&m->collection->dropped, 1, KMA_RELAXED);
}

// Queues one item.
static inline void kma_mark_push(const kma_marking *m, uint ref, uint part)
{
    const kma_mark_item item = {ref, part};
    const uint place = kma_group_add(m->gathered_count, 1);
    if (place < KMA_MARK_GATHERED)
        m->gathered[place] = item;
    else
        kma_mark_store(m, kma_fetch_add_u32(m->count, 1, KMA_RELAXED), item);
}

// Notes a reference that leads to no object of the type that it may lead to.
static inline void kma_mark_damaged(const kma_marking *m, uint object, uint offset, uint reference)
{
    const uint n = kma_fetch_add_u32(&m->collection->damaged, 1, KMA_RELAXED);
    if (n >= KMA_DAMAGED_KEPT)
        return;
    global kma_damaged_reference *const record = &m->collection->first[n];
    record->object = object;
    record->offset = offset;
    record->reference = reference;
    record->written = 1;
}

// The type of what begins at a unit, 0 if it is none.
static inline uint kma_mark_type(const kma_marking *m, uint ref)
{
    const uint type = ref < m->units ? m->table[ref] : 0;
    return (type & ~KMA_TYPE_ARRAY) <= m->type_count ? type : 0;
}

// Sets the mark bit of what a reference leads to. Returns the reference if the caller set the bit,
// else KMA_NULL. `object` and `offset` tell where the reference is.
static inline uint kma_mark_reach(const kma_marking *m, uint object, uint offset, uint reference,
                                  uint target)
{
    if (reference == KMA_NULL)
        return KMA_NULL;
    const uint type = kma_mark_type(m, reference) & ~KMA_TYPE_ARRAY;
    if (type == 0 || (target != 0 && type != target)) {
        kma_mark_damaged(m, object, offset, reference); // and is not followed
        return KMA_NULL;
    }
    global kma_atomic_u32 *const word = &m->marks[reference / 32];
    const uint bit = 1u << reference % 32;
    if ((kma_load_u32(word, KMA_RELAXED) & bit) != 0 ||
        (kma_fetch_or_u32(word, bit, KMA_RELAXED) & bit) != 0)
        return KMA_NULL;
    return reference;
}

// Follows the references in elements [begin, end) of an object, queues what the caller is the first
// to reach, but for one object, which it returns.
static inline uint kma_mark_elements(const kma_marking *m, uint ref, const kma_type *type,
                                     uint begin, uint end)
{
    global const uchar *const object = (global const uchar *)kma_deref_in(m->heap, ref);
    uint next = KMA_NULL;
    for (uint i = begin; i < end; i++) {
        for (uint r = 0; r < type->references; r++) {
            const kma_reference reference = m->references[type->first + r];
            const size_t offset = (size_t)i * type->bytes + reference.offset;
            const uint reached = kma_mark_reach(
                m, ref, (uint)offset, *(global const uint *)(object + offset), reference.target);
            if (reached != KMA_NULL && next != KMA_NULL)
                kma_mark_push(m, reached, KMA_MARK_UNSPLIT);
            next = next == KMA_NULL ? reached : next;
        }
    }
    return next;
}

// Queues the parts of a part, which is not of level 0, of an array of so many elements, and follows
// the references in those that the queue has no room for. As kma_mark_elements.
static inline uint kma_mark_split(const kma_marking *m, uint ref, const kma_type *type, uint part,
                                  uint length)
{
    const uint level = (part >> KMA_MARK_LEVEL_SHIFT) - 1;
    const uint shift = kma_mark_level_shift(level);
    const uint begin = part % (1u << KMA_MARK_LEVEL_SHIFT) << KMA_MARK_FANOUT_SHIFT;
    const uint parts = ((length - 1) >> shift) + 1; // of the array
    const uint count = min(parts - begin, 1u << KMA_MARK_FANOUT_SHIFT);
    const uint first = kma_fetch_add_u32(m->count, count, KMA_RELAXED);
    const uint stored = first < m->capacity ? min(m->capacity - first, count) : 0;
    for (uint i = 0; i < stored; i++) {
        const kma_mark_item item = {ref, level << KMA_MARK_LEVEL_SHIFT | (begin + i)};
        m->queue[first + i] = item;
    }
    if (stored == count)
        return KMA_NULL;
    const ulong end = min((ulong)(begin + count) << shift, (ulong)length);
    return kma_mark_elements(m, ref, type, (begin + stored) << shift, (uint)end);
}

// Elements of a typed object, of an array as many as it says, if its block has room for them; else
// it is damaged, and has none.
static inline uint kma_mark_length(const kma_marking *m, uint ref, uint number, uint bytes)
{
    if (number < KMA_TYPE_ARRAY)
        return 1;
    global void *const elements = kma_deref_in(m->heap, ref);
    const uint length = kma_array_length(elements);
    if (kma_usable_size(m->heap, kma_typed_block(elements, number)) >=
        KMA_UNIT + (ulong)length * bytes)
        return length;
    kma_mark_damaged(m, ref, KMA_DAMAGED_LENGTH, length);
    return 0;
}

// Visits an object, or a part of an array, whose mark bit is set, and goes on with one that it
// reached.
static inline void kma_mark_visit(const kma_marking *m, kma_mark_item item)
{
    uint ref = item.ref;
    uint part = item.part;
    for (uint steps = 0; ref != KMA_NULL; steps++) {
        if (steps == KMA_MARK_STEPS) {
            kma_mark_push(m, ref, part);
            return;
        }
        const uint number = m->table[ref];
        const kma_type type = m->types[(number & ~KMA_TYPE_ARRAY) - 1];
        const uint length = kma_mark_length(m, ref, number, type.bytes);
        if (type.references == 0 || length == 0)
            return;
        if (part == KMA_MARK_UNSPLIT)
            part = kma_mark_whole(length);
        if (part >> KMA_MARK_LEVEL_SHIFT != 0) {
            ref = kma_mark_split(m, ref, &type, part, length);
            part = KMA_MARK_UNSPLIT;
            continue;
        }
        const uint begin = part << KMA_MARK_LEAF_SHIFT;
        const uint end = min(length - begin, 1u << KMA_MARK_LEAF_SHIFT) + begin;
        ref = kma_mark_elements(m, ref, &type, begin, end);
        part = KMA_MARK_UNSPLIT;
    }
}

#endif
