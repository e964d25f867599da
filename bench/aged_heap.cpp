#include "aged_heap.hpp"

#include <algorithm>

#include "lines.hpp"

namespace bench {
namespace {

constexpr double chance = 0.6; // p_alloc and p_free
constexpr cl_uint chance_below = static_cast<cl_uint>(chance * 4294967296.0);
constexpr Sizes old_sizes{16, 4065}; // 2 KiB on average

} // namespace

AgedHeap::AgedHeap(Bench &bench, const std::string &suite)
    : bench_(bench), slots_(bench.heap_bytes() / 2048 / 256 * 256),
      refs_(bench.array("aged_refs", slots_)), sizes_(bench.array("aged_sizes", slots_))
{
    bench.progress(suite, "ageing the heap");
    bench.heap().reset();
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
            bench.note(suite, "aged by " + std::to_string(i) + " kernels only, which took " +
                                  std::to_string(static_cast<int>(series)) + " ms");
            break;
        }
    }
    const kma::HeapStats stats = bench.heap().stats();
    const double used = static_cast<double>(stats.used) / static_cast<double>(stats.capacity);
    bench.add({.suite = suite,
               .heap = {},
               .parameters = {{"state", "aged"}},
               .metric = "used",
               .unit = "of capacity",
               .figure = {used, used, used, 0},
               .verified = paint_and_verify(bench, bench.heap(), bench.heap_bytes(), refs_, sizes_,
                                            slots_)});
}

bool AgedHeap::unharmed()
{
    return still_painted(bench_, bench_.heap(), bench_.heap_bytes(), refs_, sizes_, slots_);
}

double AgedHeap::turn(std::size_t work_items, std::size_t first, cl_uint take, cl_uint give,
                      std::uint32_t seed)
{
    return bench_.time("steady", work_items, bench_.heap(), refs_, sizes_,
                       static_cast<cl_uint>(first), static_cast<cl_uint>(slots_), take, give,
                       old_sizes.low, old_sizes.span, cl_uint{seed}, bench_.no_counts());
}

} // namespace bench
