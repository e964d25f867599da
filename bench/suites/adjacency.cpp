// adjacency: the dynamic graph of the surveys of allocators (Winter and others, PPoPP 2021;
// Gallatin's paper). Each vertex has an array of neighbours. Ten batches of edges are inserted, and
// arrays double by malloc, copy and free; then ten batches are deleted, and arrays halve. The same
// by realloc.
#include <array>
#include <bit>
#include <numeric>

#include "lines.hpp"
#include "suites.hpp"

namespace bench {
namespace {

constexpr cl_uint graph_batches = 10;
constexpr double mebibyte = 1 << 20;

struct GraphVariant {
    const char *sources, *by, *resize; // resize: the kernel's name
    cl_uint skewed;
};
constexpr GraphVariant graph_variants[] = {{"uniform", "malloc", "resize_arrays", 0},
                                           {"skewed", "malloc", "resize_arrays", 1},
                                           {"uniform", "realloc", "realloc_arrays", 0},
                                           {"skewed", "realloc", "realloc_arrays", 1}};

/// Milliseconds of each batch: all its kernels, and the kernel that uses the heap.
struct Batches {
    std::vector<double> all, resize;
};

double sum_of(const std::vector<double> &values)
{
    return std::accumulate(values.begin(), values.end(), 0.0);
}

class Adjacency {
public:
    Adjacency(Bench &bench, const GraphVariant &variant, std::size_t vertices)
        : bench_(bench), variant_(variant), vertices_(vertices),
          bits_(static_cast<cl_uint>(std::countr_zero(vertices))), heap_(bench.heap()),
          refs_(bench.refs(vertices)), degrees_(bench.array("degrees", vertices)),
          capacities_(bench.array("capacities", vertices)),
          changes_(bench.array("changes", vertices)), seen_(bench.array("seen", edges() / 32)),
          parameters_({{"vertices", vertices},
                       {"edges", vertices},
                       {"batches", graph_batches},
                       {"sources", std::string(variant.sources)},
                       {"by", std::string(variant.by)}})
    {
    }

    const Parameters &parameters() const { return parameters_; }

    /// Whether the arrays fit into half of the heap while they double: three words for each edge,
    /// and a unit for each vertex.
    bool fits() const
    {
        const std::size_t units = edges() * 3 / 4 + vertices_;
        return bench::fits(bench_, "adjacency", {units, {16}, parameters_}, bench_.heap_bytes());
    }

    void run()
    {
        for (const cl::Buffer *array : {&refs_, &degrees_, &capacities_, &changes_})
            bench_.fill(*array, vertices_, 0);
        heap_.reset();
        const Rounds rounds = bench_.measure([&] { return round(); });
        is_right_ = is_right_ && nulls_ == 0 && heap_.check().empty();
        constexpr const char *metrics[] = {"insert", "insert_total", "grow",   "grow_total",
                                           "delete", "delete_total", "shrink", "shrink_total"};
        for (std::size_t which = 0; which < std::size(metrics); which++)
            bench_.add(row(metrics[which], "ms"), rounds, which);
        for (const auto &[metric, bytes] :
             {std::pair{"used_full", used_full_}, std::pair{"used_half", used_half_}}) {
            Row used = row(metric, "MiB");
            const double mebibytes = static_cast<double>(bytes) / mebibyte;
            used.figure = {mebibytes, mebibytes, mebibytes, 0};
            bench_.add(std::move(used));
        }
    }

private:
    std::size_t edges() const { return graph_batches * vertices_; }

    // Runs all batches, from the empty graph to the empty graph.
    std::vector<double> round()
    {
        Batches inserted, deleted;
        for (cl_uint batch = 0; batch < graph_batches; batch++) {
            insert(batch, inserted);
            if ((batch + 1) % (graph_batches / 2) == 0)
                verify(0, batch + 1);
        }
        used_full_ = heap_.stats().used;
        for (cl_uint batch = 0; batch < graph_batches; batch++) {
            remove(batch, deleted);
            if (batch + 1 == graph_batches / 2) {
                verify(batch + 1, graph_batches);
                used_half_ = heap_.stats().used;
            }
        }
        verify(graph_batches, graph_batches);
        is_right_ = is_right_ && heap_.stats().used == 0;
        std::vector<double> figures;
        for (const Batches &some : {inserted, deleted})
            for (const std::vector<double> &times : {some.all, some.resize}) {
                figures.push_back(statistics(times).median);
                figures.push_back(sum_of(times));
            }
        return figures;
    }

    void insert(cl_uint batch, Batches &times)
    {
        const double counted = count(batch, changes_), grown = resize(1);
        times.resize.push_back(grown);
        times.all.push_back(counted + grown +
                            bench_.time("insert_edges", vertices_, heap_, refs_, degrees_,
                                        capacities_, first_of(batch), bits_, variant_.skewed));
    }

    // Deletes as many edges of each vertex as this batch inserted.
    void remove(cl_uint batch, Batches &times)
    {
        const double counted = count(batch, changes_), shrunk = resize(0);
        times.resize.push_back(shrunk);
        times.all.push_back(counted + shrunk);
    }

    cl_uint first_of(cl_uint batch) const { return batch * static_cast<cl_uint>(vertices_); }

    double count(cl_uint batch, const cl::Buffer &changes)
    {
        return bench_.time("count_edges", vertices_, changes, first_of(batch), bits_,
                           variant_.skewed);
    }

    double resize(cl_uint comes)
    {
        const cl::Buffer counts = bench_.no_counts();
        const double ms = bench_.time(variant_.resize, vertices_, heap_, refs_, degrees_,
                                      capacities_, changes_, comes, counts);
        nulls_ += bench_.counts().nulls;
        return ms;
    }

    // Checks that each vertex has as many edges as batches `first` to `last` - 1 gave it, and that
    // each edge is in just one array, that of its vertex. Which edges of a vertex are left is not
    // specified.
    void verify(cl_uint first, cl_uint last)
    {
        const cl::Buffer expected = bench_.array("expected", vertices_);
        bench_.fill(expected, vertices_, 0);
        bench_.fill(seen_, edges() / 32, 0);
        for (cl_uint batch = first; batch < last; batch++)
            count(batch, expected);
        const cl::Buffer counts = bench_.no_counts();
        bench_.time("verify_graph", vertices_, heap_, cl_ulong{bench_.heap_bytes()}, refs_,
                    degrees_, capacities_, expected, seen_, first_of(last), bits_, variant_.skewed,
                    counts);
        is_right_ = is_right_ && bench_.counts().wrong == 0;
    }

    Row row(const char *metric, const char *unit) const
    {
        return {.suite = "adjacency",
                .heap = {},
                .parameters = parameters_,
                .metric = metric,
                .unit = unit,
                .figure = {},
                .nulls = nulls_,
                .verified = is_right_};
    }

    Bench &bench_;
    const GraphVariant &variant_;
    std::size_t vertices_;
    cl_uint bits_;
    kma::Heap &heap_;
    cl::Buffer refs_, degrees_, capacities_, changes_, seen_;
    Parameters parameters_;
    std::uint64_t used_full_ = 0, used_half_ = 0, nulls_ = 0;
    bool is_right_ = true;
};

} // namespace

void adjacency(Bench &bench)
{
    if (!bench.reuses()) {
        bench.note("adjacency", "left out: the heap takes nothing back");
        return;
    }
    const std::size_t vertices = bench.quick() ? 1 << 13 : bench.gpu() ? 1 << 20 : 1 << 16;
    for (const GraphVariant &variant : graph_variants) {
        Adjacency graph(bench, variant, vertices);
        if (!graph.fits())
            continue;
        bench.progress("adjacency", in_words(graph.parameters()));
        graph.run();
    }
    bench.heap().reset();
}

} // namespace bench
