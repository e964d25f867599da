#include "near_full.hpp"

#include <algorithm>
#include <numeric>

#include "lines.hpp"
#include "suites.hpp"

namespace bench {
namespace {

// The number of repetitions of `each_ms` milliseconds that fit into half a second, 1 to `most`.
cl_uint within(cl_uint most, double each_ms)
{
    return static_cast<cl_uint>(
        std::clamp(500 / std::max(each_ms, 1e-6), 1.0, static_cast<double>(most)));
}

// An almost full or full heap with blocks of 16 to 256 bytes. All blocks were replaced twice, in
// another order than that of their slots.
class NearFull {
public:
    /// `load`: requested bytes over the heap's bytes. Above 1 some requests return NULL.
    NearFull(Bench &bench, kma::Heap &heap, std::uint64_t heap_bytes, double load)
        : bench_(bench), heap_(heap), heap_bytes_(heap_bytes), load_(load),
          slots_(static_cast<std::size_t>(load * static_cast<double>(heap_bytes) / mean_bytes_) /
                 work_group * work_group),
          stride_(stride(slots_)), refs_(bench.refs(slots_)), sizes_(bench.sizes(slots_))
    {
        bench_.fill(refs_, slots_, 0);
        bench_.fill(sizes_, slots_, 0);
        replace_all(1);
        for (int time = 0; time < (bench.quick() ? 1 : 2); time++)
            replace_all(stride_);
        const kma::HeapStats stats = heap_.stats();
        const double used = static_cast<double>(stats.used) / static_cast<double>(stats.capacity);
        Row row = row_of("used", "of capacity", {});
        row.figure = {used, used, used, 0};
        row.verified = heap_.check().empty() && used > load_ / 2;
        bench_.add(std::move(row));
    }

    /// Measures pairs of free and malloc by `work_items` work-items, up to `turns` each within half
    /// a second.
    void pairs(std::size_t work_items, cl_uint turns)
    {
        const Parameters some = {{"work_items", work_items}};
        bench_.progress("fill", in_words(row_of("", "", some).parameters));
        const cl::Buffer counts = bench_.no_counts();
        turns = within(turns, replace(work_items, 8, 1, counts) / 8);
        const Rounds rounds =
            bench_.measure([&] { return std::vector{replace(work_items, turns, 1, counts)}; });
        Row row = row_of("pair", "ns", some);
        row.nulls = bench_.counts().nulls;
        row.verified = paint_and_verify(bench_, heap_, heap_bytes_, refs_, sizes_, slots_) &&
                       heap_.check().empty();
        bench_.add(std::move(row), rounds, 0, 1e6 / static_cast<double>(work_items * turns));
    }

private:
    static constexpr Sizes range_{16, 241};
    static constexpr double mean_bytes_ = 136;

    // A step through all slots, without a common factor with their number.
    static cl_uint stride(std::size_t slots)
    {
        std::size_t step = slots * 5 / 8;
        while (std::gcd(step, slots) != 1)
            step++;
        return static_cast<cl_uint>(step);
    }

    double replace(std::size_t work_items, cl_uint turns, cl_uint stride, const cl::Buffer &counts)
    {
        const double ms =
            bench_.time("replace_blocks", work_items, heap_, refs_, sizes_,
                        static_cast<cl_uint>(next_), static_cast<cl_uint>(slots_), stride,
                        cl_uint{1}, turns, range_.low, range_.span, ++seed_, counts);
        next_ = (next_ + work_items * turns) % slots_;
        return ms;
    }

    // Replaces all blocks. Each kernel has a small part of the slots: the series can stop between
    // kernels.
    void replace_all(cl_uint stride)
    {
        const std::size_t work_items =
            std::min<std::size_t>(bench_.gpu() ? 1 << 16 : 1 << 12, slots_);
        const auto turns =
            static_cast<cl_uint>(std::min<std::size_t>(bench_.gpu() ? 8 : 1, slots_ / work_items));
        const cl::Buffer counts = bench_.no_counts();
        double series = 0;
        for (std::size_t done = 0; done + work_items * turns <= slots_;
             done += work_items * turns) {
            series += replace(work_items, turns, stride, counts);
            if (series > longest_series) {
                bench_.note("fill", row_of("", "", {}).parameters,
                            "was measured after only " + std::to_string(100 * done / slots_) +
                                " % of the blocks were replaced, which took " +
                                std::to_string(static_cast<int>(series)) + " ms");
                return;
            }
        }
        while (next_ != 0) // the remaining slots, up to the first one
            replace(work_group, 1, stride, counts);
    }

    Row row_of(const char *metric, const char *unit, Parameters parameters) const
    {
        parameters.insert(parameters.end(),
                          {range_.parameter(), {"load", load_}, {"heap_bytes", heap_bytes_}});
        return {.suite = "fill",
                .heap = {},
                .parameters = std::move(parameters),
                .metric = metric,
                .unit = unit,
                .figure = {}};
    }

    Bench &bench_;
    kma::Heap &heap_;
    std::uint64_t heap_bytes_;
    double load_;
    std::size_t slots_, next_ = 0;
    cl_uint stride_, seed_ = 0;
    cl::Buffer refs_, sizes_;
};

// A heap full of blocks of 5,000 bytes, of which every second one, by address, was freed: a request
// for 15,000 bytes fits nowhere.
class Holes {
public:
    Holes(Bench &bench, kma::Heap &heap, std::uint64_t heap_bytes)
        : bench_(bench), heap_(heap), heap_bytes_(heap_bytes)
    {
        std::vector<cl_uint> refs = fill(), freed;
        for (std::size_t i = 0; i < refs.size(); i++)
            (i % 2 == 0 ? kept_ : freed).push_back(refs[i]);
        const std::size_t slots = write("freed", std::move(freed));
        bench_.time("release", slots, heap_, bench_.array("freed", slots), cl_uint{0});
    }

    void ask()
    {
        const Parameters parameters = {
            {"bytes", wanted_bytes_}, {"holes", block_bytes_}, {"heap_bytes", heap_bytes_}};
        bench_.progress("fill", in_words(parameters));
        const std::size_t slots = write("refs", kept_);
        const cl::Buffer refs = bench_.refs(slots), sizes = bench_.sizes(slots),
                         nulls = bench_.array("nulls", 1);
        bench_.fill(sizes, slots, block_bytes_);
        const bool is_painted = paint_and_verify(bench_, heap_, heap_bytes_, refs, sizes, slots);
        take_all(wanted_bytes_, 0, bench_.array("freed", 1)); // from the space after the blocks
        const auto request = [&](cl_uint times) {
            return bench_.time("pairs", 1, heap_, nulls, times, cl_uint{0}, cl_uint{wanted_bytes_});
        };
        const cl_uint times = within(100, request(1));
        std::uint64_t refused = 0, asked = 0;
        const Rounds rounds = bench_.measure([&] {
            const double ms = request(times);
            refused += bench_.read(nulls, 1)[0];
            asked += times;
            return std::vector{ms};
        });
        const bool is_right = is_painted && refused == asked && heap_.check().empty() &&
                              still_painted(bench_, heap_, heap_bytes_, refs, sizes, slots);
        bench_.add({.suite = "fill",
                    .heap = {},
                    .parameters = parameters,
                    .metric = "null",
                    .unit = "us",
                    .figure = {},
                    .nulls = refused,
                    .verified = is_right},
                   rounds, 0, 1e3 / times);
    }

private:
    static constexpr cl_uint block_bytes_ = 5000, wanted_bytes_ = 15000;

    // Allocates all blocks, by separate work-items and at last by a lone one. Returns the refs in
    // ascending order.
    std::vector<cl_uint> fill()
    {
        const auto each = static_cast<cl_uint>(heap_bytes_ / block_bytes_ / work_group);
        const cl_uint slots = each * work_group, spare = 2 * work_group;
        const cl::Buffer refs = bench_.refs(slots + spare), sizes = bench_.sizes(slots);
        bench_.fill(refs, slots + spare, 0);
        bench_.time("replace_blocks", work_group * work_group, heap_, refs, sizes, cl_uint{0},
                    slots, cl_uint{1}, cl_uint{work_group}, each, cl_uint{block_bytes_}, cl_uint{1},
                    cl_uint{0}, bench_.no_counts());
        take_all(block_bytes_, slots, refs);
        std::vector<cl_uint> found = bench_.read(refs, slots + spare);
        std::erase(found, 0u);
        std::ranges::sort(found);
        return found;
    }

    // One work-item allocates blocks until it gets NULL, into slots from `first` on.
    void take_all(cl_uint bytes, cl_uint first, const cl::Buffer &refs)
    {
        const auto most =
            static_cast<cl_uint>(refs.getInfo<CL_MEM_SIZE>() / sizeof(cl_uint)) - first;
        bench_.time("allocate_alone", 1, heap_, refs, first, most, bytes, bench_.array("got", 1));
    }

    // Writes refs into the array `use`, padded to whole groups; returns the number of slots.
    std::size_t write(const std::string &use, std::vector<cl_uint> refs)
    {
        refs.resize(whole_groups(refs.size()));
        bench_.device().queue().enqueueWriteBuffer(bench_.array(use, refs.size()), CL_TRUE, 0,
                                                   refs.size() * sizeof(cl_uint), refs.data());
        return refs.size();
    }

    Bench &bench_;
    kma::Heap &heap_;
    std::uint64_t heap_bytes_;
    std::vector<cl_uint> kept_;
};

} // namespace

void near_full(Bench &bench)
{
    if (!bench.reuses()) {
        bench.note("fill", "no lines near full and among holes: the heap takes nothing back");
        return;
    }
    constexpr std::uint64_t mebibyte = 1 << 20;
    const std::uint64_t small = (bench.quick() ? 4 : 16) * mebibyte;
    const std::uint64_t large =
        bench.quick() ? std::min(bench.heap_bytes(), 16 * mebibyte) : bench.heap_bytes();
    std::vector<std::uint64_t> all = {large};
    if (small < large)
        all.insert(all.begin(), small);
    for (const std::uint64_t heap_bytes : all) {
        kma::Heap heap = bench.new_heap(heap_bytes);
        for (const double load : {0.85, 1.1}) {
            NearFull work(bench, heap, heap_bytes, load);
            work.pairs(1, bench.quick() ? 100 : 1000);
            work.pairs(1024, bench.quick() ? 4 : 16);
            heap.reset();
        }
        Holes(bench, heap, heap_bytes).ask();
    }
}

} // namespace bench
