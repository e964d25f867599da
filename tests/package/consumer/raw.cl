#include "kma/kma.cl"
#include "kma/heap/slab/kernels.cl"
