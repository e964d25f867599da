// churn: each work-item allocates a block, writes a byte and frees it, a hundred times in one
// kernel.
#include <algorithm>
#include <numeric>

#include "lines.hpp"
#include "pairs.hpp"
#include "suites.hpp"

namespace bench {

void add_pairs(Bench &bench, const std::string &suite, const Parameters &parameters,
               std::size_t work_items, cl_uint turns, cl_uint variance, cl_uint bytes)
{
    bench.progress(suite, in_words(parameters));
    kma::Heap &heap = bench.heap();
    const std::uint64_t needed =
        bench.reuses() ? 0 : std::uint64_t{work_items} * turns * 16 + turns * 4000ull;
    if (needed > bench.heap_bytes()) {
        bench.note(suite, parameters,
                   "is left out: without reuse it takes " + std::to_string(needed >> 20) + " MiB");
        return;
    }
    const cl::Buffer nulls = bench.array("nulls", work_items);
    std::uint64_t refused = 0;
    const auto begin = [&] {
        if (!bench.reuses())
            heap.reset();
    };
    const auto count = [&] {
        const std::vector<cl_uint> found = bench.read(nulls, work_items);
        return std::accumulate(found.begin(), found.end(), std::uint64_t{0});
    };
    heap.reset();
    const Rounds rounds = bench.measure([&] {
        begin();
        const double ms = bench.time("pairs", work_items, heap, nulls, turns, variance, bytes);
        refused += count();
        return std::vector{ms};
    });
    begin();
    bench.time("pairs_verified", work_items, heap, nulls, turns, variance, bytes,
               bench.no_counts());
    const std::uint64_t pairs = std::uint64_t{work_items} * turns;
    const bool right =
        bench.counts().wrong == 0 && count() < pairs && (!bench.reuses() || heap.stats().used == 0);
    bench.add({.suite = suite,
               .heap = {},
               .parameters = parameters,
               .metric = "pair",
               .unit = "ns",
               .figure = {},
               .nulls = refused,
               .verified = right},
              rounds, 0, 1e6 / static_cast<double>(pairs));
}

void churn(Bench &bench)
{
    for (const ChurnLine &line : churn_lines(bench.quick()))
        add_pairs(bench, "churn", line.parameters, line.work_items, churn_turns, line.variance, 4);
}

} // namespace bench
