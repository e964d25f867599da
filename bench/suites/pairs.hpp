// Pairs of malloc and free in one kernel, for churn and latency.
#pragma once

#include "bench.hpp"

namespace bench {

/// Adds the row of `turns` pairs by each of `work_items`, in nanoseconds per pair. `variance` as in
/// heap.cl.
void add_pairs(Bench &bench, const std::string &suite, const Parameters &parameters,
               std::size_t work_items, cl_uint turns, cl_uint variance, cl_uint bytes);

} // namespace bench
