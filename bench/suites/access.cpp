// access: blocks of 64 bytes, one for each work-item, written and read as 16 ints, compared with a
// plain array.
#include "lines.hpp"
#include "suites.hpp"

namespace bench {
namespace {

bool sums_are_right(Bench &bench, const cl::Buffer &sums, std::size_t n)
{
    const std::vector<cl_uint> found = bench.read(sums, n);
    for (std::size_t t = 0; t < n; t++)
        if (found[t] != static_cast<cl_uint>(16 * t + 120))
            return false;
    return true;
}

} // namespace

void access(Bench &bench)
{
    const std::size_t n = bench.quick() ? 1 << 16 : 1 << 20;
    const Line line = line_of(n, {64});
    if (!fits(bench, "access", line, bench.heap_bytes()))
        return;
    bench.progress("access", in_words(line.parameters));
    kma::Heap &heap = bench.heap();
    heap.reset();
    const cl::Buffer refs = bench.refs(n), sums = bench.array("sums", n),
                     plain = bench.array("plain", n * 16);
    bench.time("allocate", n, heap, refs, cl_uint{0}, line.sizes.low, line.sizes.span);
    const auto add = [&](const char *metric, const Rounds &rounds, std::size_t which, bool right) {
        bench.add({.suite = "access",
                   .heap = {},
                   .parameters = line.parameters,
                   .metric = metric,
                   .unit = "ms",
                   .figure = {},
                   .verified = right},
                  rounds, which);
    };
    const Rounds blocks = bench.measure([&] {
        const double written = bench.time("write_blocks", n, heap, refs);
        return std::vector{written, bench.time("read_blocks", n, heap, refs, sums)};
    });
    bool right = sums_are_right(bench, sums, n);
    add("write", blocks, 0, right);
    add("read", blocks, 1, right);
    const Rounds array = bench.measure([&] {
        const double written = bench.time("write_array", n, plain);
        return std::vector{written, bench.time("read_array", n, plain, sums)};
    });
    right = sums_are_right(bench, sums, n);
    add("write_array", array, 0, right);
    add("read_array", array, 1, right);
    heap.reset();
}

} // namespace bench
