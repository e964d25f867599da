// latency: pairs of malloc and free by a lone work-item.
#include "lines.hpp"
#include "pairs.hpp"
#include "suites.hpp"

namespace bench {

void latency(Bench &bench)
{
    const cl_uint turns = latency_turns(bench.quick());
    add_pairs(bench, "latency", {{"work_items", 1}, {"bytes", 16}, {"pairs", turns}}, 1, turns, 0,
              16);
}

} // namespace bench
