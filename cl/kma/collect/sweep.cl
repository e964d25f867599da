// Sweep: frees typed objects that have no mark.
#ifndef KMA_COLLECT_SWEEP_CL
#define KMA_COLLECT_SWEEP_CL

#include "kma/collect/mark.cl"
#include "kma/collect/typed.cl"

// Returns which of 32 units have a type, a bit each.
static inline uint kma_units_with_types(global const uchar *table)
{
    uint units = 0;
    for (uint i = 0; i < 8; i++) {
        const uint four = ((global const uint *)table)[i];
        for (uint byte = 0; four != 0 && byte < 4; byte++)
            units |= (uint)((four >> 8 * byte & 255) != 0) << (4 * i + byte);
    }
    return units;
}

// Returns the units of a typed object, of an array with the unit before it; no more than its block
// has.
static inline uint kma_typed_units(const kma_marking *m, uint ref, uint type)
{
    const uint bytes = m->types[(type & ~KMA_TYPE_ARRAY) - 1].bytes;
    if (type < KMA_TYPE_ARRAY)
        return (uint)kma_whole_units(bytes);
    global void *const elements = kma_deref_in(m->heap, ref);
    const ulong there = kma_usable_size(m->heap, kma_typed_block(elements, type));
    return (uint)kma_whole_units(min(there, KMA_UNIT + (ulong)kma_array_length(elements) * bytes));
}

// Frees the unmarked typed objects of mark word number `word`. Records an impossible type and
// leaves that object. Adds to `sums`: marked objects, their units; freed objects, their units.
static inline void kma_sweep_word(const kma_marking *m, uint word, uint *sums)
{
    const uint marked = kma_load_u32(&m->marks[word], KMA_RELAXED);
    global uchar *const table = kma_type_at(m->heap, kma_collector_of(m->heap), word * 32);
    uint typed = kma_units_with_types(table);
    for (; typed != 0; typed &= typed - 1) { // 32 times at most
        const uint i = kma_lowest_bit(typed);
        const kma_ref ref = word * 32 + i;
        const uint type = kma_mark_type(m, ref);
        if (type == 0) {
            kma_mark_damaged(m, ref, KMA_DAMAGED_TYPE, table[i], 1);
            continue;
        }
        const uint which = (marked >> i & 1) != 0 ? 0 : 2;
        sums[which]++;
        sums[which + 1] += kma_typed_units(m, ref, type);
        if (which == 0)
            continue;
        table[i] = 0;
        kma_free(m->heap, kma_typed_block(kma_deref_in(m->heap, ref), type));
    }
}

#endif
