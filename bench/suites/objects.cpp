// objects: Linux-scalability (Lever and Boreham 2000; DynaSOAr's paper, figure 13(a)) with the
// object store: each work-item creates objects of 64 bytes, and the next kernel deletes them. Then
// the store without each of its optimisations, as in figure 12(d).
#include <algorithm>
#include <iterator>

#include "suites.hpp"

namespace bench {

const std::vector<kma::Source> &kernels();

namespace {

constexpr std::uint32_t object_bytes = 64;

struct Variant {
    const char *name, *options;
};
constexpr Variant variants[] = {
    {"world", ""},
    {"world, no rotation", "-DKMA_OBJECTS_ROTATE=0"},
    {"world, no coalescing", "-DKMA_OBJECTS_COALESCE=0"},
    {"world, no hints", "-DKMA_OBJECTS_HINTS=0"},
    {"world, no hints, no rotation", "-DKMA_OBJECTS_HINTS=0 -DKMA_OBJECTS_ROTATE=0"},
    {"world, no hierarchy", "-DKMA_OBJECTS_HIERARCHY=0"},
};

class Objects {
public:
    Objects(Bench &bench, const Variant &variant, std::uint64_t bytes)
        : bench_(bench), variant_(variant),
          world_(bench.device(), schema(), sources(), bytes, options(variant))
    {
    }

    void line(std::uint32_t items, std::uint32_t each)
    {
        const Parameters parameters = {
            {"work_items", items}, {"each", each}, {"bytes", object_bytes}};
        bench_.progress("objects", std::string(variant_.name) + " " + in_words(parameters));
        const cl::Buffer refs = bench_.array("refs", std::size_t{items} * each);
        world_.reset();
        bool is_right = true;
        std::uint64_t nulls = 0;
        const Rounds rounds = bench_.measure([&] {
            const double created = time("create", items, each, refs);
            run("stamp", items, each, refs);
            const cl::Buffer counts = bench_.no_counts();
            run("look", items, each, refs, counts);
            const Counts seen = bench_.counts();
            nulls += seen.nulls;
            is_right = is_right && seen.wrong == 0 &&
                       world_.count("Thing") + seen.nulls == std::uint64_t{items} * each;
            const double deleted = time("destroy", items, each, refs);
            is_right = is_right && world_.count("Thing") == 0;
            return std::vector{created, deleted};
        });
        is_right = is_right && world_.check().empty() &&
                   world_.error_count(kma::ErrorCode::double_free) == 0 &&
                   world_.error_count(kma::ErrorCode::invalid_free) == 0;
        add(parameters, "new", rounds, 0, nulls, is_right);
        add(parameters, "delete", rounds, 1, 0, is_right);
    }

    static std::uint64_t bytes_for(Bench &bench, std::uint64_t objects)
    {
        // A quarter more, for half-full blocks of single warps.
        return kma::World::bytes_for(bench.device(), schema(),
                                     {{"Thing", objects + objects / 4 + 65536}});
    }

private:
    static kma::Schema schema()
    {
        kma::Schema schema;
        schema.add("Thing", {"ulong words[8]"});
        return schema;
    }
    static std::vector<kma::Source> sources()
    {
        std::vector<kma::Source> own;
        std::ranges::copy_if(kernels(), std::back_inserter(own),
                             [](const kma::Source &source) { return source.name == "objects.cl"; });
        return own;
    }
    kma::WorldOptions options(const Variant &variant)
    {
        kma::WorldOptions made;
        made.work_group = work_group;
        made.program.options = variant.options;
        made.launched = [this](const std::string &, const cl::Event &event) { last_ = event; };
        return made;
    }
    template <class... Arguments>
    void run(const char *kernel, std::uint32_t items, const Arguments &...arguments)
    {
        world_.run(kernel, items, {std::vector<std::string>{"Thing"}, std::vector<std::string>{}},
                   arguments...);
    }
    template <class... Arguments>
    double time(const char *kernel, std::uint32_t items, const Arguments &...arguments)
    {
        run(kernel, items, arguments...);
        last_.wait();
        const cl_ulong begin = last_.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
                       end = last_.getProfilingInfo<CL_PROFILING_COMMAND_END>();
        return static_cast<double>(end - begin) / 1e6;
    }
    void add(const Parameters &parameters, const char *metric, const Rounds &rounds,
             std::size_t which, std::uint64_t nulls, bool is_right)
    {
        bench_.add({.suite = "objects",
                    .heap = variant_.name,
                    .parameters = parameters,
                    .metric = metric,
                    .unit = "ms",
                    .figure = {},
                    .nulls = nulls,
                    .verified = is_right},
                   rounds, which);
    }

    Bench &bench_;
    const Variant &variant_;
    cl::Event last_;
    kma::World world_;
};

} // namespace

void objects(Bench &bench)
{
    const std::uint32_t items = bench.quick() || !bench.gpu() ? 1024 : 16384;
    const std::vector<std::uint32_t> all =
        bench.quick() ? std::vector<std::uint32_t>{4, 32}
                      : std::vector<std::uint32_t>{1, 8, 64, 256, 512, 1000};
    for (const Variant &variant : variants) {
        const bool is_first = &variant == &variants[0];
        const std::uint32_t most = is_first ? all.back() : all[all.size() / 2];
        const std::uint64_t bytes = Objects::bytes_for(bench, std::uint64_t{items} * most);
        if (bytes > bench.heap_bytes()) {
            bench.note("objects", "left out: they need " + std::to_string(bytes) + " bytes",
                       variant.name);
            continue;
        }
        Objects these(bench, variant, bytes);
        for (const std::uint32_t each : all)
            if (each <= most)
                these.line(items, each);
    }
}

} // namespace bench
