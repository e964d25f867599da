// Size classes: the block sizes that exist. They are 1, 2, 3 and 4 units of 16 bytes, then four
// sizes for each power of two:
//
//   class    0   1   2   3 |  4   5   6   7 |  8   9  10  11 | 12 …            63
//   bytes   16  32  48  64 | 80  96 112 128 |160 192 224 256 |320 …     2,097,152
//
// A block above 64 bytes is less than 25 % larger than the request. The worst case, just above a
// power of two, is (5 - 4) / 4, which is 20 % of the block. Shared with the host library, which
// provides its own kma_highest_bit.
#ifndef KMA_HEAP_COMMON_SIZE_CLASS_CL
#define KMA_HEAP_COMMON_SIZE_CLASS_CL

#define KMA_CLASSES 64u

// Returns the units of a block of `size_class`, which is below KMA_CLASSES.
static inline uint kma_class_units(uint size_class)
{
    return size_class < 4 ? size_class + 1 : (5 + size_class % 4) << (size_class / 4 - 1);
}

// Returns the smallest class with blocks of at least `units` (1 … 131,072).
static inline uint kma_class_of(uint units)
{
    const uint last = units - 1;
    if (last < 4)
        return last;
    const uint power = kma_highest_bit(last); // 4 * 2^(power - 2) <= last < 8 * 2^(power - 2)
    return 4 * (power - 1) + (last >> (power - 2)) % 4;
}

// Returns the smallest class with blocks of at least `units`, and of a multiple of `align_units`, a
// power of two up to 131,072. At most three steps: any four classes above the first contain a power
// of two, and a power of two from `align_units` on is a multiple of it.
static inline uint kma_class_of_aligned(uint units, uint align_units)
{
    uint size_class = kma_class_of(units < align_units ? align_units : units);
    while (kma_class_units(size_class) % align_units != 0) // at most three steps
        size_class++;
    return size_class;
}

#endif
