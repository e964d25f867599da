// mixed: one malloc of a random size by each work-item, then one free by each.
#include "lines.hpp"
#include "suites.hpp"

namespace bench {

void mixed(Bench &bench)
{
    for (const Line &line : mixed_lines(bench.quick()))
        if (fits(bench, "mixed", line, bench.heap_bytes()))
            allocate_and_free(bench, "mixed", line, {.cold = true, .range = true});
}

} // namespace bench
