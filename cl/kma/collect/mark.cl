// Mark: sets the mark bits of all typed objects that are reachable from the roots.
//
// 1. A round visits the items of one queue: objects, and parts of arrays. The work-item that sets
//    an object's mark bit, by fetch_or, visits the object or queues it.
// 2. A work-item keeps some objects that it reached on its own stack and visits those next,
//    KMA_MARK_STEPS at most: a list does not take a round for each element. It queues the rest for
//    the next round. While a round has few items it queues earlier, which gives other work-items
//    something to do.
// 3. A work-group gathers what it queues in local memory, and reserves space in the queue for it by
//    one atomic. Items that do not fit into local memory are queued one by one.
// 4. A part of more than 64 elements is split into 32 smaller ones. The splitting work-item visits
//    the parts that a full queue does not take.
// 5. A full queue drops objects, which have their mark bits: no round visits them again. When the
//    queues are empty and objects were dropped, kma_mark_again_kernel visits all marked objects. It
//    is repeated until it marks no object.
//
// A reference that leads to no typed object in the heap is recorded and not followed.
//
// The heap is 32 zones of a power of two of regions each. For each region the zones to which its
// objects have references are recorded, for compaction (compact.cl).
//
// All atomics are relaxed: a round reads what earlier kernels wrote, and a mark bit set by another
// work-item means only that nothing is left to do. No other kernel uses the heap meanwhile.
// Work-items wait only for their own work-group, at barriers.
#ifndef KMA_COLLECT_MARK_CL
#define KMA_COLLECT_MARK_CL

#include "kma/collect/typed.cl"
#include "kma/platform/group.cl"

#ifndef KMA_MARK_STEPS
#define KMA_MARK_STEPS (KMA_IS_CPU ? 2048u : 64u)
#endif
#define KMA_MARK_STACK (KMA_IS_CPU ? 64 : 8)     // objects on a work-item's stack
#define KMA_MARK_FEW (KMA_IS_CPU ? 64u : 16384u) // items of a round
#define KMA_MARK_GATHERED 512u                   // items that a work-group gathers
#define KMA_MARK_UNSPLIT 0xffffffffu

// Parameters of all kernels of a collection.
#define KMA_MARKING_PARAMETERS                                                                     \
    global kma_heap *heap, global const kma_type *types, uint type_count,                          \
        global const kma_reference *references, global kma_collection *collection,                 \
        global kma_atomic_u32 *zones, global kma_mark_item *queue, uint capacity

// The state of marking in a kernel.
typedef struct kma_marking {
    global kma_heap *heap;
    global const uchar *table;
    global kma_atomic_u32 *marks;
    uint begin; // units that blocks may have
    uint limit;
    uint type_count;
    global const kma_type *types;
    global const kma_reference *references;
    global kma_collection *collection;
    global kma_atomic_u32 *zones; // of each region
    uint region_shift, zone_shift;
    bool is_few;                 // items in this round
    global kma_mark_item *queue; // of the next round
    global kma_atomic_u32 *count;
    uint capacity;
    local kma_mark_item *gathered;
    local uint *gathered_count;
} kma_marking;

// Stores an item at position `place` of the queue, or records that it was dropped.
static inline void kma_mark_store(const kma_marking *m, uint place, kma_mark_item item)
{
    if (place < m->capacity)
        m->queue[place] = item;
    else
        kma_store_u32(&m->collection->dropped, 1, KMA_RELAXED);
}

// Queues an object.
static inline void kma_mark_push(const kma_marking *m, uint ref)
{
    const kma_mark_item item = {ref, KMA_MARK_UNSPLIT};
    const uint place = kma_group_add(m->gathered_count, 1);
    if (place < KMA_MARK_GATHERED)
        m->gathered[place] = item;
    else
        kma_mark_store(m, kma_fetch_add_u32(m->count, 1, KMA_RELAXED), item);
}

// Records damage: where it is, and the value there.
static inline void kma_mark_damaged(const kma_marking *m, uint object, uint offset, uint value,
                                    uint written)
{
    const uint n = kma_fetch_add_u32(&m->collection->damaged, 1, KMA_RELAXED);
    if (n >= KMA_DAMAGED_KEPT)
        return;
    global kma_damaged_reference *const record = &m->collection->first[n];
    record->object = object;
    record->offset = offset;
    record->reference = value;
    record->written = written;
}

// Returns the type table's byte of a unit if a typed object that ends in the heap may begin there,
// else 0.
static inline uint kma_mark_type(const kma_marking *m, uint ref)
{
    const uint type = ref >= m->begin && ref < m->limit ? m->table[ref] : 0;
    const uint number = type & ~KMA_TYPE_ARRAY;
    if (number == 0 || number > m->type_count)
        return 0;
    const uint units =
        type < KMA_TYPE_ARRAY ? (uint)kma_whole_units(m->types[number - 1].bytes) : 1;
    return m->limit - ref >= units ? type : 0;
}

// Marks the object that a reference leads to. Returns the reference if the caller set the mark bit
// and must visit the object, else KMA_NULL. `object` and `offset` say where the reference is,
// `written` the buffer of a root.
static inline uint kma_mark_reach(const kma_marking *m, uint object, uint offset, uint reference,
                                  uint target, uint written)
{
    if (reference == KMA_NULL)
        return KMA_NULL;
    const uint type = kma_mark_type(m, reference) & ~KMA_TYPE_ARRAY;
    if (type == 0 || (target != 0 && type != target)) {
        kma_mark_damaged(m, object, offset, reference, written); // and is not followed
        return KMA_NULL;
    }
    global kma_atomic_u32 *const word = &m->marks[reference / 32];
    const uint bit = 1u << reference % 32;
    if ((kma_load_u32(word, KMA_RELAXED) & bit) != 0 ||
        (kma_fetch_or_u32(word, bit, KMA_RELAXED) & bit) != 0)
        return KMA_NULL;
    return m->types[type - 1].references != 0 ? reference : KMA_NULL;
}

static inline uint kma_mark_region(const kma_marking *m, uint ref)
{
    return (ref - m->begin) >> m->region_shift;
}

// Notes that objects in the region of one have references into these zones.
static inline void kma_mark_note_zones(const kma_marking *m, uint ref, uint zones)
{
    global kma_atomic_u32 *const noted = &m->zones[kma_mark_region(m, ref)];
    if ((zones & ~kma_load_u32(noted, KMA_RELAXED)) != 0)
        kma_fetch_or_u32(noted, zones, KMA_RELAXED);
}

// Objects that a work-item must visit.
typedef struct kma_mark_stack {
    uint count;
    uint refs[KMA_MARK_STACK];
} kma_mark_stack;

// Follows the references in elements [begin, end) of an object.
static inline void kma_mark_elements(const kma_marking *m, kma_mark_stack *stack, uint ref,
                                     const kma_type *type, uint begin, uint end)
{
    global const uchar *const object = (global const uchar *)kma_deref_in(m->heap, ref);
    uint zones = 0;
    for (uint i = begin; i < end; i++) {
        for (uint r = 0; r < type->references; r++) {
            const kma_reference reference = m->references[type->first + r];
            const size_t offset = (size_t)i * type->bytes + reference.offset;
            const uint value = *(global const uint *)(object + offset);
            if (value != KMA_NULL) // a damaged reference sets a zone that is never read
                zones |= 1u << (kma_mark_region(m, value) >> m->zone_shift) % 32;
            const uint reached = kma_mark_reach(m, ref, (uint)offset, value, reference.target, 1);
            if (reached == KMA_NULL)
                continue;
            if (stack->count < KMA_MARK_STACK)
                stack->refs[stack->count++] = reached;
            else
                kma_mark_push(m, reached);
        }
    }
    kma_mark_note_zones(m, ref, zones);
}

// Queues the smaller parts of a part above level 0, of an array of `length` elements; visits those
// that the queue does not take.
static inline void kma_mark_split(const kma_marking *m, kma_mark_stack *stack, uint ref,
                                  const kma_type *type, uint part, uint length)
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
    const ulong end = min((ulong)(begin + count) << shift, (ulong)length);
    if (stored != count)
        kma_mark_elements(m, stack, ref, type, (begin + stored) << shift, (uint)end);
}

// Returns the elements of a typed object: 1, or an array's length. Records damage and returns 0 if
// the array's block is shorter than that.
static inline uint kma_mark_length(const kma_marking *m, uint ref, uint type, uint bytes)
{
    if (type < KMA_TYPE_ARRAY)
        return 1;
    global void *const elements = kma_deref_in(m->heap, ref);
    const uint length = kma_array_length(elements);
    if (kma_usable_size(m->heap, kma_typed_block(elements, type)) >=
        KMA_UNIT + (ulong)length * bytes)
        return length;
    kma_mark_damaged(m, ref, KMA_DAMAGED_LENGTH, length, 1);
    return 0;
}

// Visits a marked object or part of an array, and objects that it leads to; queues the rest.
static inline void kma_mark_visit(const kma_marking *m, kma_mark_item item)
{
    kma_mark_stack stack;
    stack.count = 0;
    uint ref = item.ref;
    uint part = item.part;
    for (uint steps = 1;; steps++) { // KMA_MARK_STEPS times at most
        const uint number = m->table[ref];
        const kma_type type = m->types[(number & ~KMA_TYPE_ARRAY) - 1];
        const uint length = kma_mark_length(m, ref, number, type.bytes);
        part = part == KMA_MARK_UNSPLIT ? kma_mark_whole(length) : part;
        if (part >> KMA_MARK_LEVEL_SHIFT != 0) {
            kma_mark_split(m, &stack, ref, &type, part, length);
        } else {
            const uint begin = min(part << KMA_MARK_LEAF_SHIFT, length);
            const uint end = min(length - begin, 1u << KMA_MARK_LEAF_SHIFT) + begin;
            kma_mark_elements(m, &stack, ref, &type, begin, end);
        }
        if (stack.count == 0)
            return;
        if (steps == KMA_MARK_STEPS || (m->is_few && stack.count >= KMA_MARK_STACK / 2))
            break;
        ref = stack.refs[--stack.count];
        part = KMA_MARK_UNSPLIT;
    }
    for (uint i = 0; i < stack.count; i++)
        kma_mark_push(m, stack.refs[i]);
}

// ------ in kernels -------------------------------------------------------------------------------

// The state in a kernel that queues for round number `round`.
#define KMA_MARKING_OF(round, gathered, gathered_count)                                            \
    kma_marking_of(heap, types, type_count, references, collection, zones, queue, capacity, round, \
                   gathered, gathered_count)

static inline kma_marking kma_marking_of(KMA_MARKING_PARAMETERS, uint round,
                                         local kma_mark_item *gathered, local uint *gathered_count)
{
    global kma_collector *const collector = kma_collector_of(heap);
    kma_marking m;
    m.heap = heap;
    m.table = kma_type_at(heap, collector, 0);
    m.marks = (global kma_atomic_u32 *)kma_deref_in(heap, collector->marks);
    m.begin = ((global kma_heap_header *)heap)->begin;
    m.limit = min(((global kma_heap_header *)heap)->limit, collector->units);
    m.type_count = type_count;
    m.types = types;
    m.references = references;
    m.collection = collection;
    m.zones = zones;
    m.region_shift = collection->region_shift;
    m.zone_shift = collection->zone_shift;
    m.is_few = false;
    m.queue = queue;
    m.count = &collection->counts[round];
    m.capacity = capacity;
    m.gathered = gathered;
    m.gathered_count = gathered_count;
    return m;
}

// Moves the gathered items to the queue. Called by the whole work-group.
static inline void kma_mark_flush(const kma_marking *m, local uint *first)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint count = min(*m->gathered_count, KMA_MARK_GATHERED);
    if (get_local_id(0) == 0 && count != 0)
        *first = kma_fetch_add_u32(m->count, count, KMA_RELAXED);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = (uint)get_local_id(0); i < count; i += (uint)get_local_size(0))
        kma_mark_store(m, *first + i, m->gathered[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        *m->gathered_count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
}

#define KMA_MARKING(round)                                                                         \
    local kma_mark_item gathered[KMA_MARK_GATHERED];                                               \
    local uint gathered_count;                                                                     \
    local uint gathered_first;                                                                     \
    kma_marking m = KMA_MARKING_OF(round, gathered, &gathered_count);                              \
    if (get_local_id(0) == 0)                                                                      \
        gathered_count = 0;                                                                        \
    barrier(CLK_LOCAL_MEM_FENCE)

#endif
