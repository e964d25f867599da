// uniform: one malloc of one size by each work-item, then one free by each; first on a fresh heap,
// then on a half-full, aged heap.
#include "aged_heap.hpp"
#include "lines.hpp"
#include "suites.hpp"

namespace bench {
namespace {

void aged_lines(Bench &bench)
{
    if (!bench.reuses()) {
        bench.note("uniform", "no lines on an aged heap: it takes nothing back, so it has no age");
        return;
    }
    AgedHeap aged(bench, "uniform");
    for (Line line : uniform_lines(bench.quick())) {
        line.parameters.emplace_back("state", "aged");
        if (fits(bench, "uniform", line, bench.heap_bytes() / 2))
            allocate_and_free(bench, "uniform", line,
                              {.cold = false, .others = [&] { return aged.unharmed(); }});
    }
    bench.heap().reset();
}

} // namespace

void uniform(Bench &bench)
{
    for (Line line : uniform_lines(bench.quick())) {
        line.parameters.emplace_back("state", "fresh");
        if (fits(bench, "uniform", line, bench.heap_bytes()))
            allocate_and_free(bench, "uniform", line, {.cold = true, .range = true});
    }
    aged_lines(bench);
}

} // namespace bench
