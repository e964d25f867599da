// The lines of the suite fill on a heap that is nearly full, and on a full one with holes.
#pragma once

#include "bench.hpp"

namespace bench {

/// Adds the rows of both, on heaps of two sizes: their costs should not depend on the heap's size.
void near_full(Bench &bench);

} // namespace bench
