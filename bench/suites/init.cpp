// init: making and destroying a heap, and resetting one, by the host's clock.
#include <chrono>

#include "suites.hpp"

namespace bench {

void init(Bench &bench)
{
    bench.progress("init", "");
    const auto add = [&](const char *metric, const std::function<void()> &work) {
        using clock = std::chrono::steady_clock;
        const Rounds rounds = bench.measure([&] {
            const clock::time_point begin = clock::now();
            work();
            return std::vector{
                std::chrono::duration<double, std::milli>(clock::now() - begin).count()};
        });
        bench.add({.suite = "init",
                   .heap = {},
                   .parameters = {{"heap_bytes", bench.heap_bytes()}},
                   .metric = metric,
                   .unit = "ms",
                   .figure = {}},
                  rounds);
    };
    kma::Heap &heap = bench.heap();
    add("reset", [&] { heap.reset(); });
    add("create", [&] { bench.new_heap(bench.heap_bytes()); });
}

} // namespace bench
