// steady: a series of kernels, in each of which a work-item allocates a block or frees its block,
// with given probabilities (Steinberger and others, ScatterAlloc, 7). Measures time, and
// fragmentation by that paper's formulas (1) and (2). On a heap of 16 MiB, as in the paper.
#include <algorithm>

#include "lines.hpp"
#include "suites.hpp"

namespace bench {
namespace {

constexpr std::uint64_t steady_heap_bytes = 16 << 20;

struct Load {
    double p_alloc, p_free;
    std::size_t work_items;
    Sizes sizes;
    std::size_t windows; // slots for each work-item; those of a kernel are one window
};

std::vector<Load> loads(bool quick)
{
    if (quick)
        return {{0.75, 0.75, 4096, {64}, 1}, {0.6, 0.6, 4096, {64, 897}, 1}};
    return {{0.75, 0.75, 16384, {16}, 1},    {0.75, 0.75, 16384, {64}, 1},
            {0.75, 0.75, 16384, {128}, 1},   {0.6, 0.6, 4096, {512}, 1},
            {0.6, 0.6, 4096, {288, 449}, 1}, {0.6, 0.6, 4096, {64, 897}, 1}};
}

cl_uint below(double chance)
{
    return static_cast<cl_uint>(chance * 4294967296.0);
}

class Steady {
public:
    Steady(Bench &bench, const Load &load)
        : bench_(bench), load_(load), heap_(bench.new_heap(steady_heap_bytes)),
          slots_(load.work_items * load.windows), refs_(bench.refs(slots_)),
          sizes_(bench.sizes(slots_)), room_(bench.array("taken", slots_)),
          parameters_({{"work_items", load.work_items},
                       load.sizes.parameter(),
                       {"p_alloc", load.p_alloc},
                       {"p_free", load.p_free}})
    {
        bench_.fill(refs_, slots_, 0);
        bench_.fill(sizes_, slots_, 0);
    }

    /// Runs kernel number `turn`; returns the number of NULLs.
    cl_uint kernel(std::uint32_t turn)
    {
        const std::size_t first = turn % load_.windows * load_.work_items;
        times_.push_back(bench_.time(
            "steady", load_.work_items, heap_, refs_, sizes_, static_cast<cl_uint>(first),
            static_cast<cl_uint>(slots_), below(load_.p_alloc), below(load_.p_free),
            load_.sizes.low, load_.sizes.span, cl_uint{turn * 0x9e3779b9u}, bench_.no_counts()));
        const cl_uint nulls = bench_.counts().nulls;
        nulls_ += nulls;
        return nulls;
    }

    /// Adds the rows on the heap's state after `kernels` kernels.
    void look(std::uint32_t kernels)
    {
        right_ =
            right_ && paint_and_verify(bench_, heap_, steady_heap_bytes, refs_, sizes_, slots_);
        Parameters at = parameters_;
        at.emplace_back("kernel", kernels);
        const kma::HeapStats stats = heap_.stats();
        add(at, "used", "of capacity",
            {static_cast<double>(stats.used) / static_cast<double>(stats.capacity)});
        add(at, "internal_fragmentation", "", {internal()});
        // the search for the largest block allocates it
        if (bench_.reuses() && stats.used < stats.capacity)
            add(at, "external_fragmentation", "",
                {1 - static_cast<double>(largest(stats.capacity)) /
                         static_cast<double>(stats.capacity - stats.used)});
    }

    void add(const Parameters &parameters, const char *metric, const char *unit,
             const std::vector<double> &samples)
    {
        bench_.add({.suite = "steady",
                    .heap = {},
                    .parameters = parameters,
                    .metric = metric,
                    .unit = unit,
                    .figure = statistics(samples),
                    .rounds = samples.size(),
                    .nulls = nulls_,
                    .verified = right_});
    }

    const Parameters &parameters() const { return parameters_; }
    std::vector<double> &times() { return times_; }

private:
    // Formula (1): the mean over blocks of wasted bytes over taken bytes.
    double internal()
    {
        bench_.time("taken", slots_, heap_, refs_, sizes_, room_);
        const std::vector<cl_uint> refs = bench_.read(refs_, slots_),
                                   sizes = bench_.read(sizes_, slots_),
                                   taken = bench_.read(room_, slots_);
        double sum = 0;
        std::size_t blocks = 0;
        for (std::size_t slot = 0; slot < slots_; slot++)
            if (refs[slot] != 0) {
                right_ = right_ && taken[slot] >= sizes[slot];
                sum += (static_cast<double>(taken[slot]) - sizes[slot]) / taken[slot];
                blocks++;
            }
        return blocks != 0 ? sum / static_cast<double>(blocks) : 0;
    }

    // The largest malloc that succeeds, in multiples of 16 bytes; for formula (2).
    std::uint64_t largest(std::uint64_t capacity)
    {
        const cl::Buffer found = bench_.array("got", 1);
        std::uint64_t served = 0;
        for (std::uint64_t refused = capacity / 16 + 1; served + 1 < refused;) {
            const std::uint64_t units = (served + refused) / 2;
            bench_.time("allocate", 1, heap_, found, cl_uint{0}, static_cast<cl_uint>(units * 16),
                        cl_uint{1});
            const bool got = bench_.read(found, 1)[0] != 0;
            bench_.time("release", 1, heap_, found, cl_uint{0});
            (got ? served : refused) = units;
        }
        return served * 16;
    }

    Bench &bench_;
    const Load &load_;
    kma::Heap heap_;
    std::size_t slots_;
    cl::Buffer refs_, sizes_, room_;
    Parameters parameters_;
    std::vector<double> times_;
    std::uint64_t nulls_ = 0;
    bool right_ = true;
};

void steady_load(Bench &bench, const Load &load)
{
    const std::uint32_t kernels = bench.quick() ? 60 : 1000;
    const std::uint32_t warm_up = kernels / 10, look_each = kernels / 5;
    Steady steady(bench, load);
    bench.progress("steady", in_words(steady.parameters()));
    double series = 0;
    for (std::uint32_t turn = 0; turn < kernels; turn++) {
        steady.kernel(turn);
        series += steady.times().back();
        if (series > longest_series && turn > 2 * warm_up) {
            bench.note("steady", steady.parameters(),
                       "was stopped after " + std::to_string(turn + 1) + " kernels, which took " +
                           std::to_string(static_cast<int>(series)) + " ms");
            break;
        }
        if ((turn + 1) % look_each == 0)
            steady.look(turn + 1);
    }
    const std::vector<double> counted(steady.times().begin() + warm_up, steady.times().end());
    const auto part = static_cast<std::ptrdiff_t>(counted.size() / 5 + 1);
    steady.add(steady.parameters(), "kernel_time", "ms", counted);
    steady.add(steady.parameters(), "last_over_first", "ratio",
               {statistics({counted.end() - part, counted.end()}).median /
                statistics({counted.begin(), counted.begin() + part}).median});
}

// The curve of the paper's figure 2: no frees, until most requests return NULL.
void fill_up(Bench &bench)
{
    const std::size_t windows = 256; // each slot is used once
    const Load load{0.05, 0, 16384, {128, 33}, windows};
    Steady steady(bench, load);
    bench.progress("steady", "filling up");
    const std::uint32_t look_each = 8;
    for (std::uint32_t turn = 0; turn < windows; turn++) {
        const cl_uint nulls = steady.kernel(turn);
        const bool full = nulls > 400; // of 819 requests
        if ((turn + 1) % look_each == 0 || full) {
            Parameters at = steady.parameters();
            at.emplace_back("kernel", turn + 1);
            steady.look(turn + 1);
            steady.add(at, "kernel_time", "ms", std::exchange(steady.times(), {}));
        }
        if (full)
            break;
    }
}

} // namespace

void steady(Bench &bench)
{
    if (bench.reuses())
        for (const Load &load : loads(bench.quick()))
            steady_load(bench, load);
    else
        bench.note("steady", "only the filling up: the heap takes nothing back");
    fill_up(bench);
}

} // namespace bench
