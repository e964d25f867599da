// kma/platform/bits.cl, one value per work-item.
#include "kma/platform/bits.cl"

kernel void bits(global const ulong *values, global uint *lowest, global uint *highest, global ulong *below,
                 global uint *is_power, global uint *mixed, global ulong *products, ulong zero,
                 global uint *zero_is_power)
{
    const size_t me = get_global_id(0);
    const ulong value = values[me];
    lowest[me] = kma_lowest_bit(value);
    highest[me] = kma_highest_bit(value);
    below[me] = kma_bits_below((uint)(me % 64));
    is_power[me] = kma_is_power_of_two(value) ? 1 : 0;
    if (me == 0)
        zero_is_power[0] = kma_is_power_of_two(zero) ? 1 : 0;
    mixed[me] = kma_mix32((uint)value);
    products[me] = kma_mul_sat(value, values[get_global_size(0) - 1 - me]);
}

kernel void mix_range(uint first, global uint *mixed)
{
    mixed[get_global_id(0)] = kma_mix32(first + (uint)get_global_id(0));
}
