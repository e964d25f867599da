// sparse: in each of many kernels a random share of the work-items allocates a block, and frees the
// one allocated two kernels before. On a fresh heap, then on an aged one.
#include <memory>

#include "aged_heap.hpp"
#include "lines.hpp"
#include "suites.hpp"

namespace bench {
namespace {

struct Share {
    const char *name;
    cl_uint take_below; // of 2^32
};
constexpr Share taking_shares[] = {{"1/32", 1u << 27}, {"1/8", 1u << 29}, {"1/2", 1u << 31}};
constexpr Sizes taken_sizes[] = {{64}, {16, 497}};

// Bytes of a block that the timed kernels paint; a second run paints whole blocks.
constexpr cl_uint first_word = 4;
constexpr cl_uint whole_block = ~cl_uint{0};

class Sparse {
public:
    Sparse(Bench &bench, const Line &line, const Share &share)
        : bench_(bench), line_(line), share_(share), heap_(bench.heap()),
          kernels_(bench.gpu() && !bench.quick() ? 200 : 60),
          refs_(bench.refs(2 * line.work_items)), sizes_(bench.sizes(2 * line.work_items))
    {
    }

    void run(const std::function<bool()> &others)
    {
        const std::uint64_t used = heap_.stats().used;
        std::vector<double> times = kernels(first_word);
        is_right_ = is_right_ && heap_.stats().used == used;
        kernels(whole_block);
        is_right_ = is_right_ && heap_.stats().used == used && others();
        times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 10));
        bench_.add({.suite = "sparse",
                    .heap = {},
                    .parameters = line_.parameters,
                    .metric = "kernel_time",
                    .unit = "ms",
                    .figure = statistics(times),
                    .rounds = times.size(),
                    .nulls = nulls_,
                    .verified = is_right_ && nulls_ == 0});
    }

private:
    // Runs all kernels, and two more that only free. Returns the milliseconds of the former.
    std::vector<double> kernels(cl_uint painted)
    {
        bench_.fill(refs_, 2 * line_.work_items, 0);
        bench_.fill(sizes_, 2 * line_.work_items, 0);
        const cl::Buffer counts = bench_.no_counts();
        std::vector<double> times;
        double series = 0;
        cl_uint turn = 0;
        for (; turn < kernels_; turn++) {
            times.push_back(kernel(turn, share_.take_below, painted, counts));
            series += times.back();
            if (painted == whole_block && (turn + 1) % (kernels_ / 4) == 0)
                is_right_ = is_right_ && are_apart();
            if (series > longest_series && turn > kernels_ / 5) {
                bench_.note("sparse", line_.parameters,
                            "was stopped after " + std::to_string(turn + 1) +
                                " kernels, which took " + std::to_string(static_cast<int>(series)) +
                                " ms");
                turn++;
                break;
            }
        }
        kernel(turn, 0, painted, counts);
        kernel(turn + 1, 0, painted, counts);
        const Counts seen = bench_.counts();
        nulls_ += seen.nulls;
        is_right_ = is_right_ && seen.wrong == 0;
        return times;
    }

    double kernel(cl_uint turn, cl_uint take_below, cl_uint painted, const cl::Buffer &counts)
    {
        return bench_.time("sparse", line_.work_items, heap_, cl_ulong{bench_.heap_bytes()}, refs_,
                           sizes_, turn, take_below, line_.sizes.low, line_.sizes.span, painted,
                           counts);
    }

    bool are_apart()
    {
        std::vector<cl_uint> units = bench_.read(sizes_, 2 * line_.work_items);
        for (cl_uint &bytes : units)
            bytes = (bytes + 15) / 16;
        return bench::are_apart(bench_.read(refs_, units.size()), units, bench_.heap_bytes());
    }

    Bench &bench_;
    const Line &line_;
    const Share &share_;
    kma::Heap &heap_;
    cl_uint kernels_;
    cl::Buffer refs_, sizes_;
    std::uint64_t nulls_ = 0;
    bool is_right_ = true;
};

// Whether the blocks of three kernels, which live at the same time, fit into half of `room`.
bool three_fit(Bench &bench, const Line &line, const Share &share, std::uint64_t room)
{
    const std::uint64_t takers = std::uint64_t{line.work_items} * (share.take_below >> 27) / 32;
    return fits(bench, "sparse", {3 * takers, line.sizes, line.parameters}, room);
}

} // namespace

void sparse(Bench &bench)
{
    if (!bench.reuses()) {
        bench.note("sparse", "left out: the heap takes nothing back");
        return;
    }
    const std::size_t work_items = bench.gpu() && !bench.quick() ? 1 << 18 : 1 << 13;
    std::unique_ptr<AgedHeap> aged;
    for (const char *state : {"fresh", "aged"}) {
        const bool is_aged = state == std::string("aged");
        if (is_aged)
            aged = std::make_unique<AgedHeap>(bench, "sparse");
        for (const Sizes &of : taken_sizes)
            for (const Share &share : taking_shares) {
                Line line = line_of(work_items, of);
                line.parameters.emplace_back("share", std::string(share.name));
                line.parameters.emplace_back("state", std::string(state));
                if (!three_fit(bench, line, share, bench.heap_bytes() / (is_aged ? 2 : 1)))
                    continue;
                bench.progress("sparse", in_words(line.parameters));
                if (!is_aged)
                    bench.heap().reset();
                Sparse(bench, line, share).run([&] { return !aged || aged->unharmed(); });
            }
    }
    bench.heap().reset();
}

} // namespace bench
