// Tells the host which implementation the platform layer chose.
#include "kma/kma.cl"

kernel void paths(global uint *out)
{
    out[0] = KMA_MEMORY;
    out[1] = KMA_LANES;
    out[2] = KMA_HAS_ATOMIC64;
}
