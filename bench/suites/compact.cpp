// compact: the steps of a compaction of a heap in which every second object is garbage, compared
// with a copy of as many bytes as it moved; and the same with 1, 2, 4 … work-items.
#include <algorithm>

#include "graphs.hpp"

namespace bench {

namespace {

constexpr const char *suite = "compact";

class Compact : public Graphs {
public:
    Compact(Bench &bench, std::uint64_t heap_bytes, const kma::CollectorOptions &options = {})
        : Graphs(bench, heap_bytes, options),
          count_(static_cast<cl_uint>(heap_bytes / thing_bytes * 4 / 5) / 4096 * 4096),
          refs_(bench.array("refs", count_)), work_items_(options.work_items)
    {
    }

    void line(bool is_far)
    {
        const Parameters parameters = {{"bytes", heap_.bytes()},
                                       {"references", is_far ? "far" : "near"},
                                       {"work_items", work_items_}};
        bench_.progress(suite, in_words(parameters));
        bool is_right = true;
        std::uint64_t moved = 0;
        const Rounds rounds = bench_.measure([&] {
            bench_.fill(root_, 1, 0);
            collector_.collect();
            run("make_array", root_, count_ / 4096);
            run("make_tiles", refs_, count_);
            run("link_tiles", root_, refs_, count_, cl_uint{is_far});
            const kma::Compaction done = collector_.compact();
            moved = done.moved_bytes;
            const cl::Buffer counts = bench_.no_counts();
            run("look_at_tiles", root_, count_, cl_uint{is_far}, counts);
            is_right = is_right && bench_.counts().wrong == 0 &&
                       // The large array may stay, and in heaps as small as with --quick a few more
                       // objects find no free slot of their size.
                       done.stayed_objects <= 1 + done.moved_objects / 16 &&
                       done.moved_objects != 0 && heap_.error_text().empty();
            const double all = done.census_milliseconds + done.move_milliseconds +
                               done.rewrite_milliseconds + done.free_milliseconds;
            return std::vector{all, done.census_milliseconds, done.move_milliseconds,
                               done.rewrite_milliseconds, done.free_milliseconds};
        });
        const char *const metrics[] = {"compaction", "census", "move", "rewrite", "free"};
        for (std::size_t i = 0; i < std::size(metrics); i++)
            add_row(bench_, suite, "slab", parameters, metrics[i], rounds, i, is_right);
        if (work_items_ == 0)
            copy(moved);
    }

private:
    // Adds the time of copying as many bytes from one buffer to another.
    void copy(std::uint64_t bytes)
    {
        const std::uint64_t own = std::min<std::uint64_t>(bytes, count_ * sizeof(cl_uint));
        const cl::Buffer to = bench_.array("copy", own / sizeof(cl_uint));
        const Rounds rounds = bench_.measure([&] {
            cl::Event event;
            bench_.device().queue().enqueueCopyBuffer(refs_, to, 0, 0, own, nullptr, &event);
            event.wait();
            const auto ns = event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                            event.getProfilingInfo<CL_PROFILING_COMMAND_START>();
            return std::vector{static_cast<double>(ns) * 1e-6};
        });
        add_row(bench_, suite, "buffers", {{"bytes", own}}, "copy", rounds, 0, {});
    }

    cl_uint count_;
    cl::Buffer refs_;
    std::uint32_t work_items_;
};

} // namespace

void compact(Bench &bench)
{
    const std::uint64_t most = bench.quick() ? 8 << 20 : bench.gpu() ? 4ull << 30 : 256 << 20;
    {
        Compact compact(bench, std::min(most, bench.heap_bytes()));
        compact.line(false);
        compact.line(true);
    }
    // With one work-item and more.
    const std::uint64_t small = bench.quick() ? 4 << 20 : bench.gpu() ? 64 << 20 : 32 << 20;
    for (cl_uint items = 1; items <= (bench.gpu() ? 1u << 16 : 256u);
         items *= items == 1 ? 64 : 4) {
        kma::CollectorOptions options;
        options.work_items = items;
        options.share = 0.5;
        Compact(bench, small, options).line(false);
    }
}

} // namespace bench
