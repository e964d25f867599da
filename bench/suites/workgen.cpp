// workgen: each work-item makes output of a random size. With malloc that is one kernel; the
// classic way counts, computes prefix sums, makes a buffer of exactly the right size, and writes.
#include <chrono>

#include "lines.hpp"
#include "suites.hpp"

namespace bench {
namespace {

double milliseconds_of(const std::function<void()> &work)
{
    using clock = std::chrono::steady_clock;
    const clock::time_point begin = clock::now();
    work();
    return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

class TwoPasses {
public:
    TwoPasses(Bench &bench, const Line &line)
        : bench_(bench), line_(line), groups_(line.work_items / 256),
          words_(bench.array("words", line.work_items)), totals_(bench.array("totals", groups_ + 1))
    {
    }

    /// Returns the kernels' milliseconds.
    double run()
    {
        const auto groups = static_cast<cl_uint>(groups_);
        const cl_uint low = line_.sizes.low, span = line_.sizes.span;
        double ms = bench_.time("count_output", line_.work_items, words_, low, span);
        ms += bench_.time("scan_groups", line_.work_items, words_, totals_);
        ms += bench_.time("scan_totals", 256, totals_, groups);
        cl_uint total = 0;
        bench_.device().queue().enqueueReadBuffer(totals_, CL_TRUE, groups_ * sizeof(cl_uint),
                                                  sizeof(total), &total);
        output_ = cl::Buffer(bench_.device().context(), CL_MEM_READ_WRITE, total * sizeof(cl_uint));
        return ms +
               bench_.time("write_output", line_.work_items, output_, words_, totals_, low, span);
    }

    bool verify()
    {
        bench_.time("verify_output", line_.work_items, output_, words_, totals_, line_.sizes.low,
                    line_.sizes.span, bench_.no_counts());
        return bench_.counts().wrong == 0;
    }

private:
    Bench &bench_;
    const Line &line_;
    std::size_t groups_;
    cl::Buffer words_, totals_, output_;
};

void generate(Bench &bench, const Line &line)
{
    bench.progress("workgen", in_words(line.parameters));
    kma::Heap &heap = bench.heap();
    const std::size_t n = line.work_items;
    const cl::Buffer refs = bench.refs(n), sizes = bench.sizes(n);
    bench.time("fill_sizes", n, sizes, line.sizes.low, line.sizes.span);
    std::uint64_t nulls = 0;
    bool right = true;
    const auto round = [&] {
        double ms = 0;
        const double wall = milliseconds_of(
            [&] { ms = bench.time("generate", n, heap, refs, line.sizes.low, line.sizes.span); });
        const cl::Buffer counts = bench.no_counts();
        bench.time("look", n, cl_ulong{bench.heap_bytes()}, refs, sizes, cl_uint{0}, counts);
        bench.time("verify", n, heap, cl_ulong{bench.heap_bytes()}, refs, sizes, cl_uint{0},
                   counts);
        const Counts seen = bench.counts();
        nulls += seen.nulls;
        right = right && seen.wrong == 0 && seen.nulls < n;
        bench.time("release", n, heap, refs, cl_uint{0});
        if (!bench.reuses())
            heap.reset();
        return std::vector{ms, wall};
    };
    heap.reset();
    const Rounds by_malloc = bench.measure(round);
    TwoPasses passes(bench, line);
    bool passes_right = true;
    const Rounds by_passes = bench.measure([&] {
        double ms = 0;
        const double wall = milliseconds_of([&] { ms = passes.run(); });
        passes_right = passes_right && passes.verify();
        return std::vector{ms, wall};
    });
    const auto add = [&](const char *metric, const Rounds &rounds, std::size_t which,
                         std::uint64_t refused, bool good) {
        bench.add({.suite = "workgen",
                   .heap = {},
                   .parameters = line.parameters,
                   .metric = metric,
                   .unit = "ms",
                   .figure = {},
                   .nulls = refused,
                   .verified = good},
                  rounds, which);
    };
    add("malloc", by_malloc, 0, nulls, right);
    add("malloc_wall", by_malloc, 1, nulls, right);
    add("two_passes", by_passes, 0, 0, passes_right);
    add("two_passes_wall", by_passes, 1, 0, passes_right);
}

} // namespace

void workgen(Bench &bench)
{
    for (const cl_uint upper : {64u, 4096u})
        for (const std::size_t n : {1u << 14, 1u << 17, 1u << 20}) {
            const Line line = line_of(n, {4, upper - 3});
            if ((!bench.quick() || n == 1u << 14) &&
                fits(bench, "workgen", line, bench.heap_bytes()))
                generate(bench, line);
        }
}

} // namespace bench
