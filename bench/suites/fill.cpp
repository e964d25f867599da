// fill: 65,536 mallocs at a time until some return NULL, then a lone work-item until it gets NULL;
// measures the served share of the heap. Then frees all blocks and repeats. The heap has at most 1
// GiB, as in other allocators' figures.
#include <algorithm>

#include "lines.hpp"
#include "near_full.hpp"
#include "suites.hpp"

namespace bench {
namespace {

constexpr std::size_t round_size = 65536;
constexpr cl_uint alone_size = 1024;
constexpr double most_ms = 2000; // of a lone work-item

class Filling {
public:
    Filling(Bench &bench, const kma::Heap &heap, std::uint64_t heap_bytes, cl_uint bytes)
        : bench_(bench), heap_(heap), heap_bytes_(heap_bytes), bytes_(bytes),
          slots_((heap_bytes / ((bytes + 15) / 16 * 16) / round_size + 2) * round_size),
          refs_(bench.refs(slots_)), sizes_(bench.sizes(slots_)),
          parameters_({{"bytes", bytes}, {"heap_bytes", heap_bytes}})
    {
        bench_.fill(sizes_, slots_, bytes);
    }

    /// Fills the empty heap once; the metrics' names begin with `prefix`.
    void run(const std::string &prefix)
    {
        bench_.fill(refs_, slots_, 0);
        rounds_.clear();
        served_ = used_slots_ = 0;
        nulls_ = 0;
        double series = 0;
        while (nulls_ == 0 && used_slots_ + round_size < slots_) {
            series += one_round();
            if (series > longest_series) {
                bench_.note("fill", parameters_,
                            "was stopped after " + std::to_string(rounds_.size()) +
                                " rounds, which took " + std::to_string(static_cast<int>(series)) +
                                " ms");
                break;
            }
        }
        const double at_null = share();
        alone();
        const bool right =
            paint_and_verify(bench_, heap_, heap_bytes_, refs_, sizes_, slots_) && inside_;
        const double end = rounds_.back();
        if (rounds_.size() > 1)
            rounds_.pop_back();
        add(prefix + "served_at_first_null", "of heap", {at_null}, right);
        add(prefix + "served", "of heap", {share()}, right);
        add(prefix + "round", "ms", rounds_, right);
        add(prefix + "last_round", "ms", {end}, right);
    }

    void free_all()
    {
        const double ms = bench_.time("release", slots_, heap_, refs_, cl_uint{0});
        add("free_all", "ms", {ms}, heap_.stats().used == 0);
    }

private:
    double one_round()
    {
        const auto first = static_cast<cl_uint>(used_slots_);
        rounds_.push_back(
            bench_.time("allocate", round_size, heap_, refs_, first, bytes_, cl_uint{1}));
        bench_.time("look", round_size, cl_ulong{heap_bytes_}, refs_, sizes_, first,
                    bench_.no_counts());
        const Counts seen = bench_.counts();
        inside_ = inside_ && seen.wrong == 0;
        nulls_ += seen.nulls;
        served_ += round_size - seen.nulls;
        used_slots_ += round_size;
        return rounds_.back();
    }

    void alone()
    {
        const cl::Buffer got = bench_.array("got", 1);
        double ms = 0;
        for (cl_uint count = alone_size;
             count == alone_size && used_slots_ + alone_size <= slots_;) {
            ms += bench_.time("allocate_alone", 1, heap_, refs_, static_cast<cl_uint>(used_slots_),
                              alone_size, bytes_, got);
            count = bench_.read(got, 1)[0];
            served_ += count;
            used_slots_ += count;
            if (ms > most_ms) {
                bench_.note("fill", parameters_,
                            "was stopped after two seconds of the lone work-item");
                break;
            }
        }
    }

    double share() const
    {
        return static_cast<double>(served_) * bytes_ / static_cast<double>(heap_bytes_);
    }

    void add(const std::string &metric, const char *unit, const std::vector<double> &samples,
             bool right)
    {
        bench_.add({.suite = "fill",
                    .heap = {},
                    .parameters = parameters_,
                    .metric = metric,
                    .unit = unit,
                    .figure = statistics(samples),
                    .rounds = samples.size(),
                    .nulls = nulls_,
                    .verified = right});
    }

    Bench &bench_;
    const kma::Heap &heap_;
    std::uint64_t heap_bytes_;
    cl_uint bytes_;
    std::size_t slots_;
    cl::Buffer refs_, sizes_;
    Parameters parameters_;
    std::vector<double> rounds_;
    std::uint64_t served_ = 0, used_slots_ = 0, nulls_ = 0;
    bool inside_ = true;
};

} // namespace

void fill(Bench &bench)
{
    const std::uint64_t largest = bench.quick() ? std::uint64_t{32} << 20 : std::uint64_t{1} << 30;
    const std::uint64_t heap_bytes = std::min(bench.heap_bytes(), largest);
    kma::Heap heap = bench.new_heap(heap_bytes);
    for (const cl_uint bytes : {16u, 64u, 256u, 1024u, 4096u}) {
        if (bench.quick() && (bytes == 64 || bytes == 1024))
            continue;
        bench.progress("fill", std::to_string(bytes) + " B");
        heap.reset();
        Filling filling(bench, heap, heap_bytes, bytes);
        filling.run("");
        if (bench.reuses())
            filling.free_all();
        else
            heap.reset();
        filling.run("again_");
    }
    near_full(bench);
}

} // namespace bench
