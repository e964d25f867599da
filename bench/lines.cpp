#include "lines.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace bench {
namespace {

class Measured {
public:
    Measured(Bench &bench, const Line &line)
        : bench_(bench), line_(line), slots_(whole_groups(line.work_items)),
          refs_(bench.refs(slots_)), sizes_(bench.sizes(slots_))
    {
        bench_.fill(refs_, slots_, 0);
        bench_.time("fill_sizes", slots_, sizes_, line.sizes.low, line.sizes.span);
    }

    double take()
    {
        const double ms = bench_.time("allocate", line_.work_items, bench_.heap(), refs_,
                                      cl_uint{0}, line_.sizes.low, line_.sizes.span);
        bench_.time("look", slots_, cl_ulong{bench_.heap_bytes()}, refs_, sizes_, cl_uint{0},
                    bench_.no_counts());
        seen_ = bench_.counts();
        seen_.nulls -= static_cast<cl_uint>(slots_ - line_.work_items);
        nulls_ += seen_.nulls;
        inside_ = inside_ && seen_.wrong == 0;
        return ms;
    }

    double give()
    {
        return bench_.time("release", line_.work_items, bench_.heap(), refs_, cl_uint{0});
    }

    /// Whether the blocks of the last take() are correct, as were the refs of all earlier ones.
    bool verify(const LineOptions &options)
    {
        return paint_and_verify(bench_, bench_.heap(), bench_.heap_bytes(), refs_, sizes_,
                                slots_) &&
               inside_ && options.others();
    }

    double address_range() const
    {
        const std::uint64_t range = (std::uint64_t{seen_.highest} - seen_.lowest) * 16;
        return static_cast<double>(range) /
               static_cast<double>(line_.sizes.total(line_.work_items));
    }

    bool any() const { return seen_.highest != 0; }
    std::uint64_t take_nulls() { return std::exchange(nulls_, 0); }

private:
    Bench &bench_;
    const Line &line_;
    std::size_t slots_;
    cl::Buffer refs_, sizes_;
    Counts seen_{};
    std::uint64_t nulls_ = 0;
    bool inside_ = true;
};

} // namespace

std::size_t whole_groups(std::size_t work_items)
{
    return (work_items + work_group - 1) / work_group * work_group;
}

Line line_of(std::size_t work_items, Sizes sizes)
{
    return {work_items, sizes, {{"work_items", work_items}, sizes.parameter()}};
}

std::vector<Line> uniform_lines(bool quick)
{
    std::vector<Line> lines;
    for (const std::size_t n : {1u << 10, 1u << 14, 1u << 17, 1u << 20})
        for (const cl_uint bytes : {16u, 64u, 256u, 1024u, 4096u, 8192u}) {
            const bool in_quick = n <= 1u << 14 ? bytes == 16 || bytes == 256 || bytes == 4096
                                                : n <= 1u << 17 && bytes <= 64;
            if (quick ? in_quick : bytes <= 1024 || n <= 1u << 17)
                lines.push_back(line_of(n, {bytes}));
        }
    return lines;
}

std::vector<Line> mixed_lines(bool quick)
{
    std::vector<Line> lines;
    for (const std::size_t n : {1u << 17, 1u << 20})
        for (const cl_uint upper : {64u, 1024u, 4096u})
            if (!quick || n < 1u << 20)
                lines.push_back(line_of(n, {4, upper - 3}));
    return lines;
}

std::vector<ChurnLine> churn_lines(bool quick)
{
    constexpr const char *names[] = {"none", "low", "high", "high+"};
    std::vector<ChurnLine> lines;
    for (const std::size_t n : {1024u, 4608u, 65536u})
        for (cl_uint variance = 0; variance < 4; variance++)
            if (!quick || n < 65536)
                lines.push_back({n, variance, {{"work_items", n}, {"variance", names[variance]}}});
    return lines;
}

cl_uint latency_turns(bool quick)
{
    return quick ? 1000 : 10000;
}

bool fits(Bench &bench, const std::string &suite, const Line &line, std::uint64_t room,
          const std::string &subject)
{
    const std::uint64_t bytes = line.sizes.total(line.work_items);
    if (bytes <= room / 2)
        return true;
    bench.note(suite, line.parameters,
               "is left out: its " + std::to_string(bytes >> 20) + " MiB are more than half of " +
                   std::to_string(room >> 20) + " MiB",
               subject, true);
    return false;
}

bool still_painted(Bench &bench, const kma::Heap &heap, std::uint64_t heap_bytes,
                   const cl::Buffer &refs, const cl::Buffer &sizes, std::size_t n)
{
    const cl::Buffer counts = bench.no_counts();
    bench.time("look", n, cl_ulong{heap_bytes}, refs, sizes, cl_uint{0}, counts);
    bench.time("verify", n, heap, cl_ulong{heap_bytes}, refs, sizes, cl_uint{0}, counts);
    const Counts seen = bench.counts();
    return seen.wrong == 0 && seen.nulls < n;
}

bool paint_and_verify(Bench &bench, const kma::Heap &heap, std::uint64_t heap_bytes,
                      const cl::Buffer &refs, const cl::Buffer &sizes, std::size_t n)
{
    bench.time("paint", n, heap, cl_ulong{heap_bytes}, refs, sizes, cl_uint{0});
    return still_painted(bench, heap, heap_bytes, refs, sizes, n);
}

bool are_apart(const std::vector<cl_uint> &refs, const std::vector<cl_uint> &units,
               std::uint64_t heap_bytes)
{
    std::vector<std::size_t> order(refs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t slot) { return refs[slot] == 0; });
    std::ranges::sort(order, {}, [&](std::size_t slot) { return refs[slot]; });
    std::uint64_t behind = 1;
    for (const std::size_t slot : order) {
        if (refs[slot] < behind)
            return false;
        behind = std::uint64_t{refs[slot]} + units[slot];
    }
    return behind * 16 <= heap_bytes;
}

void allocate_and_free(Bench &bench, const std::string &suite, const Line &line,
                       const LineOptions &options)
{
    bench.progress(suite, in_words(line.parameters));
    kma::Heap &heap = bench.heap();
    Measured work(bench, line);
    const Row row{.suite = suite,
                  .heap = {},
                  .parameters = line.parameters,
                  .metric = {},
                  .unit = "ms",
                  .figure = {}};
    const auto add = [&](const char *metric, const Rounds &rounds, std::size_t which,
                         std::uint64_t nulls, bool right) {
        Row one = row;
        one.metric = metric;
        one.nulls = nulls;
        one.verified = right;
        bench.add(std::move(one), rounds, which);
    };
    if (options.cold) {
        const Rounds cold = bench.measure([&] {
            heap.reset();
            return std::vector{work.take()};
        });
        add("malloc_cold", cold, 0, work.take_nulls(), work.verify(options));
        if (options.range && work.any()) {
            Row range = row;
            range.metric = "address_range";
            range.unit = "of requested";
            const double ratio = work.address_range();
            range.figure = {ratio, ratio, ratio, 0};
            bench.add(std::move(range));
        }
        heap.reset();
    }
    const std::uint64_t used = heap.stats().used;
    const auto begin = [&] {
        if (!bench.reuses())
            heap.reset();
    };
    const Rounds warm = bench.measure([&] {
        begin();
        const double taken = work.take();
        return std::vector{taken, work.give()};
    });
    const std::uint64_t nulls = work.take_nulls();
    begin();
    work.take();
    const bool right = work.verify(options);
    work.give();
    begin();
    add("malloc", warm, 0, nulls, right);
    // a free must not lose memory
    add("free", warm, 1, 0, right && heap.stats().used == used);
}

} // namespace bench
