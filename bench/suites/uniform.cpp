// uniform: one malloc of one size by each work-item, and then one free by each; first on a fresh heap, then once more
// on a heap that is half full and aged.
#include "lines.hpp"
#include "suites.hpp"

namespace bench {
namespace {

constexpr double share = 0.6; // p_alloc and p_free of the ageing
constexpr cl_uint chance_below = static_cast<cl_uint>(share * 4294967296.0);
constexpr Sizes old_sizes{16, 4065}; // 2 KiB on average

// Blocks of 16 to 4080 bytes in half of the heap, of which those in a window come and go in each of 1000 kernels.
class Aged {
public:
    explicit Aged(Bench &bench)
        : bench_(bench), slots_(bench.heap_bytes() / 2048 / 256 * 256), refs_(bench.array("aged_refs", slots_)),
          sizes_(bench.array("aged_sizes", slots_))
    {
        bench_.fill(refs_, slots_, 0);
        bench_.fill(sizes_, slots_, 0);
        const std::size_t window = std::min<std::size_t>(slots_, bench.gpu() ? 1 << 16 : 1 << 14);
        for (std::size_t first = 0; first < slots_; first += window)
            turn(std::min(window, slots_ - first), first, 1u << 31, 0, 0);
        const std::uint32_t kernels = bench.quick() ? 50 : 1000;
        double series = 0;
        for (std::uint32_t i = 1; i <= kernels; i++) {
            series += turn(window, i * window % slots_, chance_below, chance_below, i * 0x9e3779b9u);
            if (series > longest_series) {
                bench.note("uniform", "aged by " + std::to_string(i) + " kernels only, which took " +
                                          std::to_string(static_cast<int>(series)) + " ms");
                break;
            }
        }
    }

    bool verify() { return paint_and_verify(bench_, bench_.heap(), bench_.heap_bytes(), refs_, sizes_, slots_); }
    bool unharmed() { return still_painted(bench_, bench_.heap(), bench_.heap_bytes(), refs_, sizes_, slots_); }

private:
    double turn(std::size_t work_items, std::size_t first, cl_uint take, cl_uint give, std::uint32_t seed)
    {
        return bench_.time("steady", work_items, bench_.heap(), refs_, sizes_, static_cast<cl_uint>(first),
                           static_cast<cl_uint>(slots_), take, give, old_sizes.low, old_sizes.span, cl_uint{seed},
                           bench_.no_counts());
    }

    Bench &bench_;
    std::size_t slots_;
    cl::Buffer refs_, sizes_;
};

void aged_lines(Bench &bench)
{
    if (!bench.reuses()) {
        bench.note("uniform", "no lines on an aged heap: it takes nothing back, so it has no age");
        return;
    }
    bench.progress("uniform", "ageing the heap");
    bench.heap().reset();
    Aged aged(bench);
    const kma::HeapStats stats = bench.heap().stats();
    const double used = static_cast<double>(stats.used) / static_cast<double>(stats.capacity);
    bench.add({.suite = "uniform",
               .heap = {},
               .parameters = {{"state", "aged"}},
               .metric = "used",
               .unit = "of capacity",
               .figure = {used, used, used, 0},
               .verified = aged.verify()});
    for (Line line : uniform_lines(bench.quick())) {
        line.parameters.emplace_back("state", "aged");
        if (fits(bench, "uniform", line, bench.heap_bytes() / 2))
            allocate_and_free(bench, "uniform", line, {.cold = false, .others = [&] { return aged.unharmed(); }});
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
