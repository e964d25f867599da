// Bit operations that OpenCL C 1.2 lacks, or that its versions spell differently.
#ifndef KMA_PLATFORM_BITS_CL
#define KMA_PLATFORM_BITS_CL

#include "kma/platform/target.cl"

// Returns the index of the lowest set bit; `bits` is not 0. (1.2 has clz and popcount; ctz came
// with 2.0.)
static inline uint kma_lowest_bit(ulong bits)
{
    return 63u - (uint)clz((ulong)(bits & (0ul - bits)));
}

// Returns the index of the highest set bit; `bits` is not 0.
static inline uint kma_highest_bit(ulong bits)
{
    return 63u - (uint)clz(bits);
}

// Returns the bits below bit `index` (0..63).
static inline ulong kma_bits_below(uint index)
{
    return (1ul << index) - 1ul;
}

static inline bool kma_is_power_of_two(ulong value)
{
    return popcount(value) == 1;
}

// Returns a * b, or the largest number on overflow. Without division: clang turns the usual test by
// division into an instruction that oclgrind does not know.
static inline ulong kma_mul_sat(ulong a, ulong b)
{
    const ulong a_high = a >> 32;
    const ulong b_high = b >> 32;
    const ulong cross = a_high * (uint)b + b_high * (uint)a; // exact if a_high or b_high is 0
    if ((a_high != 0 && b_high != 0) || (cross >> 32) != 0)
        return ~0ul;
    return add_sat(cross << 32, (ulong)(uint)a * (uint)b);
}

// A bijection of 32-bit integers that spreads close values far apart ("lowbias32", C. Wellons,
// hash-prospector).
static inline uint kma_mix32(uint x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

#endif
