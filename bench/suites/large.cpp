// large: a series of kernels, in each of which half of the work-items allocate a large block or
// free theirs; measures time and the largest free block. Then the largest block of the empty heap,
// and the time of a lone block of 64 KiB to 95 % of the heap, or the largest that the heap returns.
#include <algorithm>
#include <bit>

#include "lines.hpp"
#include "suites.hpp"

namespace bench {
namespace {

constexpr std::uint64_t unit = 16;
constexpr std::uint64_t least_bytes = 64 << 10;
constexpr std::uint64_t most_bytes = 64 << 20;
constexpr double load = 0.6; // mean share of the heap in use
// the largest lone block in percent of the heap, if the heap has such a block
constexpr std::uint64_t most_percent = 95;

class Large {
public:
    explicit Large(Bench &bench)
        : bench_(bench), heap_(bench.new_heap(bench.heap_bytes())),
          capacity_(heap_.stats().capacity), powers_(powers(bench.heap_bytes())),
          slots_(slots(bench.heap_bytes(), powers_)), refs_(bench.refs(slots_)),
          units_(bench.sizes(slots_)),
          parameters_({{"work_items", slots_},
                       {"KiB", std::to_string(least_bytes >> 10) + ".." +
                                   std::to_string((least_bytes << powers_) >> 10)},
                       {"heap_bytes", bench.heap_bytes()}})
    {
        bench_.fill(refs_, slots_, 0);
        bench_.fill(units_, slots_, 0);
    }

    /// Whether the heap serves blocks of all these sizes.
    bool can() { return got(least_bytes << powers_); }

    void run()
    {
        const std::uint32_t kernels = bench_.quick() ? 60 : 1000;
        const std::uint32_t warm_up = kernels / 10, look_each = kernels / 5;
        double series = 0;
        for (std::uint32_t turn = 0; turn < kernels; turn++) {
            kernel(turn);
            series += times_.back();
            if (series > longest_series && turn > 2 * warm_up) {
                bench_.note("large", parameters_,
                            "was stopped after " + std::to_string(turn + 1) +
                                " kernels, which took " + std::to_string(static_cast<int>(series)) +
                                " ms");
                break;
            }
            if ((turn + 1) % look_each == 0)
                look(turn + 1);
        }
        add(parameters_, "kernel_time", "ms", {times_.begin() + warm_up, times_.end()});
        bench_.time("release", slots_, heap_, refs_, cl_uint{0});
        right_ = right_ && heap_.stats().used == 0 && heap_.check().empty();
        const std::uint64_t whole = largest(),
                            most = std::min(whole, capacity_ / 100 * most_percent);
        add(parameters_, "largest_when_empty", "of heap", {of_heap(whole)});
        for (std::uint64_t bytes = least_bytes; bytes < most; bytes *= 16)
            alone(bytes);
        alone(most);
    }

private:
    // The number of doublings from the least size: the largest size is at most 1/64 of the heap.
    static cl_uint powers(std::uint64_t heap_bytes)
    {
        cl_uint powers = 1;
        while ((least_bytes << (powers + 1)) <= std::min(most_bytes, heap_bytes / 64))
            powers++;
        return powers;
    }

    // Half of the slots have a block, on average of 1.5 times its power of two.
    static std::size_t slots(std::uint64_t heap_bytes, cl_uint powers)
    {
        const double mean =
            1.5 * static_cast<double>((least_bytes << powers) - least_bytes) / powers;
        return std::max(
                   static_cast<std::size_t>(2 * load * static_cast<double>(heap_bytes) / mean) /
                       256,
                   std::size_t{1}) *
               256;
    }

    static cl_uint log2_units(std::uint64_t bytes)
    {
        return static_cast<cl_uint>(std::countr_zero(bytes / unit));
    }

    void kernel(std::uint32_t turn)
    {
        times_.push_back(bench_.time("steady_large", slots_, heap_, refs_, units_,
                                     log2_units(least_bytes), powers_, cl_uint{turn * 0x9e3779b9u},
                                     bench_.no_counts()));
        nulls_ += bench_.counts().nulls;
    }

    // Measures one block in the empty heap.
    void alone(std::uint64_t bytes)
    {
        const cl::Buffer block = bench_.array("alone", 1);
        const auto units = static_cast<cl_uint>(bytes / unit);
        std::vector<double> takes, frees;
        for (int round = 0; round < 5; round++) {
            takes.push_back(bench_.time("allocate_units", 1, heap_, block, cl_uint{0}, units));
            right_ = right_ && bench_.read(block, 1)[0] != 0 &&
                     heap_.stats().used >= std::uint64_t{units} * unit;
            frees.push_back(bench_.time("release", 1, heap_, block, cl_uint{0}));
        }
        right_ = right_ && heap_.stats().used == 0 && heap_.check().empty();
        const Parameters at = {{"work_items", 1},
                               {"KiB", std::to_string(bytes >> 10)},
                               {"heap_bytes", bench_.heap_bytes()}};
        add(at, "alloc_time", "ms", takes);
        add(at, "free_time", "ms", frees);
    }

    void look(std::uint32_t kernels)
    {
        right_ = right_ && are_apart() && heap_.check().empty();
        Parameters at = parameters_;
        at.emplace_back("kernel", kernels);
        const kma::HeapStats stats = heap_.stats();
        add(at, "used", "of capacity",
            {static_cast<double>(stats.used) / static_cast<double>(capacity_)});
        if (stats.used < capacity_) // the search for the largest block allocates it
            add(at, "external_fragmentation", "",
                {1 - static_cast<double>(largest()) / static_cast<double>(capacity_ - stats.used)});
    }

    // Whether the blocks do not overlap. They are too large to be painted each time.
    bool are_apart()
    {
        return bench::are_apart(bench_.read(refs_, slots_), bench_.read(units_, slots_),
                                bench_.heap_bytes());
    }

    bool got(std::uint64_t bytes)
    {
        const cl::Buffer found = bench_.array("got", 1);
        bench_.time("allocate_units", 1, heap_, found, cl_uint{0},
                    static_cast<cl_uint>(bytes / unit));
        const bool is_served = bench_.read(found, 1)[0] != 0;
        bench_.time("release", 1, heap_, found, cl_uint{0});
        return is_served;
    }

    // The largest malloc that succeeds, in multiples of 4 KiB.
    std::uint64_t largest()
    {
        std::uint64_t served = 0;
        for (std::uint64_t refused = capacity_ / 4096 + 1; served + 1 < refused;) {
            const std::uint64_t pages = (served + refused) / 2;
            (got(pages * 4096) ? served : refused) = pages;
        }
        return served * 4096;
    }

    double of_heap(std::uint64_t bytes) const
    {
        return static_cast<double>(bytes) / static_cast<double>(bench_.heap_bytes());
    }

    void add(const Parameters &parameters, const char *metric, const char *unit_name,
             const std::vector<double> &samples)
    {
        bench_.add({.suite = "large",
                    .heap = {},
                    .parameters = parameters,
                    .metric = metric,
                    .unit = unit_name,
                    .figure = statistics(samples),
                    .rounds = samples.size(),
                    .nulls = nulls_,
                    .verified = right_});
    }

    Bench &bench_;
    kma::Heap heap_;
    std::uint64_t capacity_;
    cl_uint powers_;
    std::size_t slots_;
    cl::Buffer refs_, units_;
    Parameters parameters_;
    std::vector<double> times_;
    std::uint64_t nulls_ = 0;
    bool right_ = true;
};

} // namespace

void large(Bench &bench)
{
    if (!bench.reuses()) {
        bench.note("large", "left out: the heap takes nothing back");
        return;
    }
    Large large(bench);
    if (!large.can()) {
        bench.note("large", "left out: the heap has no blocks of that size");
        return;
    }
    bench.progress("large", "kernels");
    large.run();
}

} // namespace bench
