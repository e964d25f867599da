// defragment: CompactGpu's microbenchmark (Springer and Masuhara, ISMM 2019). Two classes have
// objects of 32 bytes, each with a reference to an object of the other. A percentage of the objects
// is deleted at random; a defragmentation of both classes leaves at most 2.2 % of the slots empty.
#include <algorithm>
#include <iterator>
#include <numeric>

#include "suites.hpp"

namespace bench {

const std::vector<kma::Source> &kernels();

namespace {

constexpr double object_bytes = 32;
constexpr const char *steps[] = {"fills", "plan", "sort", "aim", "move", "settle", "forward"};

class Pair {
public:
    Pair(Bench &bench, std::uint32_t objects)
        : bench_(bench), objects_(objects),
          world_(bench.device(), schema(), sources(), bytes_for(bench, objects), options()),
          lefts_(bench.array("lefts", objects)), rights_(bench.array("rights", objects))
    {
    }

    // Deletes `percent` of each hundred objects, and defragments until at most `share` of a
    // thousand slots are empty.
    void line(std::uint32_t percent, std::uint32_t share)
    {
        const Parameters parameters = {{"objects", std::uint64_t{2} * objects_},
                                       {"deleted", percent},
                                       {"share_per_mille", share}};
        bench_.progress("defragment", in_words(parameters));
        bool is_right = true;
        const Rounds rounds = bench_.measure([&] {
            prepare(percent);
            const kma::Defragmentation done =
                world_.defragment("Pair", {.fragmentation = share * 1e-3});
            is_right = is_right && looks_right(percent) &&
                       done.after <= std::max(share * 1e-3, 64.0 / objects_);
            std::vector<double> ms{0, 2.0 * object_bytes * static_cast<double>(done.objects)};
            for (const char *step : steps)
                ms.push_back(done.milliseconds.contains(step) ? done.milliseconds.at(step) : 0);
            ms[0] = std::accumulate(ms.begin() + 2, ms.end(), 0.0);
            ms[1] *= ms[0] > 0 ? 1e-6 / ms[0] : 0;
            return ms;
        });
        is_right = is_right && world_.check(true).empty();
        std::vector<const char *> metrics{"defragment", "moved"};
        metrics.insert(metrics.end(), std::begin(steps), std::end(steps));
        for (std::size_t i = 0; i < metrics.size(); i++)
            bench_.add({.suite = "defragment",
                        .heap = "world",
                        .parameters = parameters,
                        .metric = metrics[i],
                        .unit = i == 1 ? "GB/s" : "ms",
                        .figure = {},
                        .nulls = 0,
                        .verified = is_right},
                       rounds, i);
    }

    // Adds the throughput of copying a buffer.
    void copy()
    {
        constexpr std::uint64_t bytes = std::uint64_t{1} << 30;
        const std::uint64_t own = std::min<std::uint64_t>(bytes, lefts_.getInfo<CL_MEM_SIZE>());
        const Rounds rounds = bench_.measure([&] {
            cl::Event event;
            bench_.device().queue().enqueueCopyBuffer(lefts_, rights_, 0, 0, own, nullptr, &event);
            event.wait();
            const auto ns = event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                            event.getProfilingInfo<CL_PROFILING_COMMAND_START>();
            return std::vector{2.0 * static_cast<double>(own) / static_cast<double>(ns)};
        });
        bench_.add({.suite = "defragment",
                    .heap = "world",
                    .parameters = {{"bytes", own}},
                    .metric = "copy",
                    .unit = "GB/s",
                    .figure = {},
                    .nulls = 0,
                    .verified = {}},
                   rounds, 0);
    }

    static std::uint64_t bytes_for(Bench &bench, std::uint64_t objects)
    {
        return kma::World::bytes_for(bench.device(), schema(),
                                     {{"Left", objects + 65536}, {"Right", objects + 65536}});
    }

private:
    static kma::Schema schema()
    {
        const kma::DoAllOptions quiet{std::vector<std::string>{}, std::vector<std::string>{}};
        kma::Schema schema;
        schema.add_abstract("Pair", {"uint number"});
        schema.add("Left", {"Right other", "uint words[6]"}, "Pair")
            .add("Right", {"Left other", "uint words[6]"}, "Pair");
        for (const auto &[cls, name, own, other] :
             {std::array{"Left", "left", "lefts", "rights"},
              std::array{"Right", "right", "rights", "lefts"}}) {
            schema.parallel_new(cls, std::string(name) + "_init", quiet);
            schema.do_all(cls, std::string(name) + "_thin",
                          {std::vector<std::string>{cls}, std::vector<std::string>{}});
            schema.do_all(cls, std::string(name) + "_link", quiet);
            schema.do_all(cls, std::string(name) + "_look", quiet);
        }
        return schema;
    }
    static std::vector<kma::Source> sources()
    {
        std::vector<kma::Source> own;
        std::ranges::copy_if(kernels(), std::back_inserter(own), [](const kma::Source &source) {
            return source.name == "defragment.cl";
        });
        return own;
    }
    static kma::WorldOptions options()
    {
        kma::WorldOptions made;
        made.work_group = work_group;
        return made;
    }

    void prepare(cl_uint percent)
    {
        world_.reset();
        world_.parallel_new("Left", objects_, "left_init", lefts_);
        world_.parallel_new("Right", objects_, "right_init", rights_);
        world_.parallel_do("Left", "left_thin", percent, lefts_);
        world_.parallel_do("Right", "right_thin", percent, rights_);
        world_.parallel_do("Left", "left_link", objects_, rights_);
        world_.parallel_do("Right", "right_link", objects_, lefts_);
        made_ = world_.count("Pair");
    }

    // Whether all objects exist with their original references.
    bool looks_right(cl_uint percent)
    {
        const cl::Buffer counts = bench_.no_counts();
        world_.parallel_do("Left", "left_look", objects_, percent, counts);
        world_.parallel_do("Right", "right_look", objects_, percent, counts);
        const Counts seen = bench_.counts();
        return seen.wrong == 0 && seen.nulls == made_ && world_.count("Pair") == made_;
    }

    Bench &bench_;
    const cl_uint objects_;
    kma::World world_;
    cl::Buffer lefts_, rights_;
    std::uint64_t made_ = 0;
};

} // namespace

void defragment(Bench &bench)
{
    const std::uint32_t objects = bench.quick() || !bench.gpu() ? 1u << 15 : 32768000;
    const std::uint64_t bytes = Pair::bytes_for(bench, objects);
    if (bytes > bench.heap_bytes()) {
        bench.note("defragment", "left out: it needs " + std::to_string(bytes) + " bytes", "world");
        return;
    }
    Pair pair(bench, objects);
    for (const std::uint32_t percent : {10u, 30u, 50u, 70u, 90u})
        if (!bench.quick() || percent == 50)
            pair.line(percent, 22);
    pair.copy();
    if (!bench.quick())
        pair.line(70, 500); // one pass of CompactGpu with n = 1
}

} // namespace bench
