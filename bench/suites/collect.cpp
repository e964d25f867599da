// collect: mark and sweep of object graphs, by kma's collector in a heap of its own, and on CPUs by
// the Boehm collector with as many threads, in the same process.
#include <algorithm>
#include <chrono>
#include <iterator>

#include "boehm.hpp"
#include "graphs.hpp"
#include "support.hpp"

namespace bench {

namespace {

double milliseconds(const std::function<void()> &work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
}

kma::Types types()
{
    kma::Types types;
    types.add("Thing", {"uint number", "Thing *to[4]", "uint words[3]"});
    types.add("Holder", {"Holder *children[2]", "Thing *to[4]", "uint words[2]"});
    types.add_element("Things", "Thing *");
    return types;
}

std::vector<kma::Source> sources()
{
    std::vector<kma::Source> all{{"types.cl", types().text()}};
    std::ranges::copy_if(kernels(), std::back_inserter(all),
                         [](const kma::Source &source) { return source.name == "collect.cl"; });
    return all;
}

} // namespace

Graphs::Graphs(Bench &bench, std::uint64_t heap_bytes, const kma::CollectorOptions &options)
    : bench_(bench), heap_(bench.device(), heap_bytes), collector_(heap_, types(), options),
      program_(bench.device(), sources()), root_(bench.array("room", 1)),
      roots_(collector_.add_roots(root_, 1))
{
}

void add_row(Bench &bench, const char *suite, const std::string &heap, const Parameters &parameters,
             const char *metric, const Rounds &rounds, std::size_t which,
             std::optional<bool> is_right)
{
    bench.add({.suite = suite,
               .heap = heap,
               .parameters = parameters,
               .metric = metric,
               .unit = "ms",
               .figure = {},
               .nulls = 0,
               .verified = is_right},
              rounds, which);
}

namespace {

class Collect : public Graphs {
public:
    Collect(Bench &bench, std::uint32_t shift)
        : Graphs(bench, bytes_for(shift)), shift_(shift), count_(2u << shift),
          refs_(bench.array("refs", count_)), others_(bench.array("sizes", count_ / 4))
    {
    }

    static std::uint64_t bytes_for(std::uint32_t shift)
    {
        // Bytes of things, of holders or an array for as many references, and of the collector's
        // tables.
        const std::uint64_t all = (std::uint64_t{2} << shift) * thing_bytes * 2;
        return kma::Heap::bytes_for(kma::HeapOptions{}, all + all / 8);
    }

    void random()
    {
        line("random", count_, 2, [&] {
            run("make_things", refs_, count_);
            run("link_random", refs_, cl_uint{shift_});
            copy(refs_, root_);
        });
    }

    void list()
    {
        const cl_uint length = std::min(count_, 1u << 20);
        line("list", length, 1, [&] {
            run("make_things", refs_, length);
            run("link_list", refs_, length);
            copy(refs_, root_);
        });
    }

    void array()
    {
        line("array", count_, 0, [&] {
            run("make_array", root_, count_); // first, while enough contiguous memory is free
            run("make_things", refs_, count_);
            run("fill_array", root_, refs_, count_);
        });
        line("small", count_, 0, [&] {
            run("make_things", refs_, count_);
            run("make_holders", others_, count_ / 4);
            run("link_holders", others_, refs_, count_ / 4);
            copy(others_, root_);
        });
    }

private:
    void copy(const cl::Buffer &from, const cl::Buffer &to)
    {
        bench_.device().queue().enqueueCopyBuffer(from, to, 0, 0, sizeof(kma::Ref));
    }

    // `step`: the first of so many things survives, the others are garbage; 0: the unreachable ones
    // are garbage.
    void line(const char *shape, std::uint32_t things, cl_uint step,
              const std::function<void()> &make)
    {
        const Parameters parameters = {{"shape", shape}, {"objects", things}};
        bench_.progress("collect", in_words(parameters));
        bool is_right = true;
        const Rounds rounds = bench_.measure([&] {
            bench_.fill(root_, 1, 0);
            collector_.collect();
            make();
            const kma::Collection done = collector_.collect();
            if (step != 0) {
                const cl::Buffer counts = bench_.no_counts();
                run("look_at_things", refs_, things, step, counts);
                is_right =
                    is_right && bench_.counts().wrong == 0 && done.marked_objects == things / step;
            }
            is_right = is_right && heap_.error_text().empty();
            return std::vector{done.mark_milliseconds, done.sweep_milliseconds,
                               done.mark_milliseconds + done.sweep_milliseconds};
        });
        add_row(bench_, "collect", "slab", parameters, "mark", rounds, 0, is_right);
        add_row(bench_, "collect", "slab", parameters, "sweep", rounds, 1, is_right);
        add_row(bench_, "collect", "slab", parameters, "collection", rounds, 2, is_right);
    }

    std::uint32_t shift_;
    cl_uint count_;
    cl::Buffer refs_, others_;
};

// The same graphs with pointers, for the Boehm collector.
class Peer {
public:
    Peer(Bench &bench, const Boehm &boehm, std::uint32_t shift)
        : bench_(bench), boehm_(boehm), shift_(shift), things_(std::size_t{2} << shift),
          root_(static_cast<void **>(boehm.root(sizeof(void *))))
    {
    }

    void random()
    {
        const std::uint32_t living = 1u << shift_;
        line("random", things_.size(), [&] {
            for (std::uint32_t i = 0; i < 2 * living; i++) {
                const std::uint32_t k = i < living ? i : i - living;
                const std::uint32_t index = i < living ? place(k) : 2 * k + 1;
                for (std::uint32_t r = 0; r < 4; r++) {
                    const std::uint32_t child = 2 * k + 1 + r, by_chance = test::mix32(i * 4 + r);
                    std::uint32_t to = by_chance % (2 * living);
                    if (i < living)
                        to = r < 2 ? (child < living ? place(child) : index)
                                   : 2 * (by_chance % living);
                    things_[index]->to[r] = things_[to];
                }
            }
        });
    }

    void list()
    {
        const std::size_t length = std::min<std::size_t>(things_.size(), 1u << 20);
        line("list", length, [&] {
            for (std::size_t i = 0; i + 1 < length; i++)
                things_[i]->to[0] = things_[i + 1];
        });
    }

private:
    struct Thing {
        std::uint32_t number;
        Thing *to[4];
    };
    std::uint32_t place(std::uint32_t k) const
    {
        return 2 * (k * 0x9e3779b1u & ((1u << shift_) - 1));
    }

    void line(const char *shape, std::size_t count, const std::function<void()> &link)
    {
        const Parameters parameters = {{"shape", shape}, {"objects", count}};
        bench_.progress("collect", "Boehm " + in_words(parameters));
        bool is_right = true;
        const Rounds rounds = bench_.measure([&] {
            *root_ = nullptr;
            boehm_.collect();
            boehm_.pause(); // the table of things must not keep them alive
            for (std::size_t i = 0; i < count; i++) {
                things_[i] = static_cast<Thing *>(boehm_.make(sizeof(Thing)));
                things_[i]->number = static_cast<std::uint32_t>(i);
            }
            link();
            *root_ = things_[0];
            boehm_.resume();
            const double ms = milliseconds(boehm_.collect);
            for (std::size_t i = 0; i < count; i += 2)
                is_right = is_right && things_[i]->number == i;
            return std::vector{ms};
        });
        add_row(bench_, "collect", "Boehm " + boehm_.version, parameters, "collection", rounds, 0,
                is_right);
    }

    Bench &bench_;
    const Boehm &boehm_;
    std::uint32_t shift_;
    std::vector<Thing *> things_;
    void **root_;
};

} // namespace

void collect(Bench &bench)
{
    std::uint32_t shift = bench.quick() ? 13 : bench.gpu() ? 23 : 19; // log2 of the living objects
    while (Collect::bytes_for(shift) > bench.heap_bytes() && shift > 10)
        shift--;
    {
        Collect collect(bench, shift);
        collect.random();
        collect.list();
        collect.array();
    }
    if (bench.gpu())
        return;
    std::string missing;
    const Boehm *const peer = boehm(bench.compute_units(), missing);
    if (!peer)
        return bench.note("collect", missing, "Boehm");
    Peer its(bench, *peer, shift);
    its.random();
    its.list();
}

} // namespace bench
