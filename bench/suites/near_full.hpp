// The lines of the suite `fill` on an almost full heap, and on a full heap with holes.
#pragma once

#include "bench.hpp"

namespace bench {

/// Adds the rows of both, on heaps of two sizes: the costs should not depend on the heap's size.
void near_full(Bench &bench);

} // namespace bench
