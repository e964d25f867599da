// host: the work of uniform, mixed, churn and latency with the CPU's allocators, on as many threads
// as the device has compute units, in the same process and run as the heaps.
#include <atomic>
#include <cstring>

#include "host_allocator.hpp"
#include "lines.hpp"
#include "suites.hpp"
#include "team.hpp"

namespace bench {
namespace {

class Host {
public:
    Host(Bench &bench, const HostAllocator &allocator)
        : bench_(bench), allocator_(allocator), team_(bench.compute_units())
    {
    }

    void line(const char *of, Line line)
    {
        line.parameters.emplace_back("of", of);
        bench_.progress("host", allocator_.name + " " + in_words(line.parameters));
        blocks_.assign(line.work_items, nullptr);
        nulls_ = 0;
        const Rounds rounds = bench_.measure([&] {
            const double taken = take(line);
            return std::vector{taken, give()};
        });
        const std::uint64_t nulls = nulls_;
        take(line);
        const bool right = verify(line);
        give();
        add(line.parameters, "malloc", "ms", rounds, 0, 1, nulls, right);
        add(line.parameters, "free", "ms", rounds, 1, 1, 0, right);
    }

    void pairs(const char *of, Parameters parameters, std::size_t work_items, cl_uint turns,
               cl_uint variance, cl_uint bytes)
    {
        parameters.emplace_back("of", of);
        bench_.progress("host", allocator_.name + " " + in_words(parameters));
        nulls_ = 0;
        const std::function<void(std::size_t, std::size_t)> work = [&](std::size_t begin,
                                                                       std::size_t end) {
            std::uint64_t nulls = 0;
            for (std::size_t t = begin; t < end; t++)
                for (cl_uint turn = 0; turn < turns; turn++)
                    nulls += !pair(t, turn, variance, bytes);
            nulls_ += nulls;
        };
        const Rounds rounds =
            bench_.measure([&] { return std::vector{team_.run(work_items, work)}; });
        add(parameters, "pair", "ns", rounds, 0, 1e6 / (static_cast<double>(work_items) * turns),
            nulls_, nulls_ == 0);
    }

private:
    double take(const Line &line)
    {
        return team_.run(line.work_items, [&](std::size_t begin, std::size_t end) {
            std::uint64_t nulls = 0;
            for (std::size_t t = begin; t < end; t++) {
                blocks_[t] = allocator_.take(line.sizes.of(static_cast<std::uint32_t>(t)));
                nulls += !blocks_[t];
            }
            nulls_ += nulls;
        });
    }

    double give()
    {
        return team_.run(blocks_.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t t = begin; t < end; t++)
                allocator_.give(blocks_[t]);
        });
    }

    bool verify(const Line &line)
    {
        const auto pattern = [](std::size_t t) {
            return static_cast<unsigned char>(t * 167 + (t >> 8));
        };
        for (std::size_t t = 0; t < blocks_.size(); t++)
            if (blocks_[t])
                std::memset(blocks_[t], pattern(t), line.sizes.of(static_cast<std::uint32_t>(t)));
        for (std::size_t t = 0; t < blocks_.size(); t++) {
            const auto *bytes = static_cast<const unsigned char *>(blocks_[t]);
            for (cl_uint i = 0; bytes && i < line.sizes.of(static_cast<std::uint32_t>(t)); i++)
                if (bytes[i] != pattern(t))
                    return false;
        }
        return true;
    }

    // One malloc, a byte written, one free, as in heap.cl's kernel `pairs`.
    bool pair(std::size_t me, cl_uint turn, cl_uint variance, cl_uint bytes) const
    {
        if ((variance & 1) != 0 && me == 0)
            bytes = 4000;
        else if (variance != 0)
            bytes = variance == 1 ? 4u << (me & 1) : 1u << ((me + turn) % 5);
        void *const block = allocator_.take(bytes);
        if (block)
            *static_cast<unsigned char *>(block) = static_cast<unsigned char>(turn);
        allocator_.give(block);
        return block != nullptr;
    }

    void add(const Parameters &parameters, const char *metric, const char *unit,
             const Rounds &rounds, std::size_t which, double factor, std::uint64_t nulls,
             bool right)
    {
        bench_.add({.suite = "host",
                    .heap = allocator_.name,
                    .parameters = parameters,
                    .metric = metric,
                    .unit = unit,
                    .figure = {},
                    .nulls = nulls,
                    .verified = right},
                   rounds, which, factor);
    }

    Bench &bench_;
    const HostAllocator &allocator_;
    Team team_;
    std::vector<void *> blocks_;
    std::atomic<std::uint64_t> nulls_ = 0;
};

// The lines of each suite that fit, with the suite's name as parameter `of`.
std::vector<std::pair<const char *, Line>> lines(Bench &bench)
{
    std::vector<std::pair<const char *, Line>> all;
    for (const Line &line : uniform_lines(bench.quick()))
        all.emplace_back("uniform", line);
    for (const Line &line : mixed_lines(bench.quick()))
        all.emplace_back("mixed", line);
    std::erase_if(all, [&](const auto &one) {
        return !fits(bench, "host", one.second, bench.heap_bytes(), "all allocators");
    });
    return all;
}

} // namespace

void host(Bench &bench)
{
    if (bench.gpu()) {
        bench.note("host", "left out: the device is no CPU", "all allocators");
        return;
    }
    const HostAllocators allocators = host_allocators();
    if (!allocators.missing.empty())
        bench.note("host", allocators.missing, "all allocators");
    const auto fitting = lines(bench);
    for (const HostAllocator &allocator : allocators.all) {
        Host host(bench, allocator);
        for (const auto &[of, line] : fitting)
            host.line(of, line);
        for (const ChurnLine &line : churn_lines(bench.quick()))
            host.pairs("churn", line.parameters, line.work_items, churn_turns, line.variance, 4);
        const cl_uint turns = latency_turns(bench.quick());
        host.pairs("latency", {{"work_items", 1}, {"bytes", 16}, {"pairs", turns}}, 1, turns, 0,
                   16);
    }
}

} // namespace bench
