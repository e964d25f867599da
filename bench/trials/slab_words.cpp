// Trials A (stray lanes) and B (whole warps) of the slab heap's second design: runs the loops of
// slab_words.cl on the device of KMA_DEVICE and prints a line for each variant and workload.
//
//   slab_word_trials [--quick] [--only A|B] [--variant NAME] [--seconds N]
//
// A line: trial, variant, workload, time, NULLs, errors (a block that another wrote to, a free that
// was refused), and what a look at the heap at rest found: "clean", or how used lines and slabs
// differ.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "kma/device.hpp"
#include "kma/error.hpp"
#include "kma/program.hpp"
#include "kma/source.hpp"
#include "statistics.hpp"

namespace trials {
/// slab_words.cl; of the build.
const std::vector<kma::Source> &kernels();
} // namespace trials

namespace {

constexpr std::size_t work_group = 256;
constexpr std::size_t round_items = 1 << 18; // of kernels that go through all metadata
constexpr cl_uint none = 0xffffffff;

// As in slab_words.cl.
struct Plan {
    cl_uint lines, regions, frames;
    cl_uint shard_mask;
    cl_uint few_rounds, many_rounds, page_rounds;
    cl_uint line_tree_words, class_tree_words;
    cl_uint at_cursors, at_current, at_states, at_used, at_line_trees, at_class_trees, at_words,
        at_others;
    cl_uint at_memory;
    cl_uint end;
};
enum Count { nulls, errors, used, owned, blocks, hidden, count_words };

cl_uint tree_words(cl_uint items)
{
    cl_uint words = 0;
    for (cl_uint nodes = items; nodes > 1 || words == 0;) {
        nodes = (nodes + 31) / 32;
        words += nodes;
    }
    return words;
}

constexpr cl_uint classes = 64, line_classes = 48;

// `bytes`: a power of two of 16 MiB at least. `line_bytes`: 256 or 512.
Plan plan_of(std::uint64_t bytes, cl_uint line_bytes)
{
    Plan plan = {};
    plan.lines = static_cast<cl_uint>(bytes / line_bytes);
    plan.regions = plan.lines / 256;
    plan.frames = plan.lines / 16;
    cl_uint shards = 1;
    while (shards < 1024 && shards * 4 < plan.regions)
        shards *= 2;
    plan.shard_mask = shards - 1;
    plan.few_rounds = std::max(plan.regions / 2 / 16, 1u);
    plan.many_rounds = std::max(plan.regions / 16 / 16, 1u);
    plan.page_rounds = std::max(plan.regions / 16, 1u);
    plan.line_tree_words = tree_words(plan.regions);
    plan.class_tree_words = tree_words(plan.frames);
    cl_uint at = 32;
    const auto put = [&at](cl_uint words) {
        const cl_uint here = at;
        at = (at + words + 31) / 32 * 32;
        return here;
    };
    plan.at_cursors = put(3 * 16 * 32);
    plan.at_current = put(classes * shards);
    plan.at_states = put((plan.regions + 7) / 8);
    plan.at_used = put(plan.lines / 32);
    plan.at_line_trees = put(line_classes * plan.line_tree_words);
    plan.at_class_trees = put((classes + 1) * plan.class_tree_words);
    plan.at_words = put(plan.lines);
    plan.at_others = put(plan.lines);
    plan.end = at;
    plan.at_memory = (at + 1023) / 1024 * 1024 / 4;
    return plan;
}

std::uint64_t bytes_of(const Plan &plan, std::uint64_t heap_bytes)
{
    return std::uint64_t{plan.at_memory} * 16 + heap_bytes;
}

struct Arguments {
    bool quick = false;
    std::string only;
    std::string variant;
    double seconds = 85;
};

struct Variant {
    const char *name;
    const char *options;
};

// By importance: later ones may be left out. The first is what the design has, with four current
// slabs for each multiprocessor.
const std::vector<Variant> a_variants = {
    {"word, 4 shards", "-DSUB_SHARDS=4"},
    {"no state, no share end", "-DSUB_SHARDS=4 -DLOOK_AT_STATE=0 -DSHARE_END=0"},
    {"the same, no page ends", "-DSUB_SHARDS=4 -DLOOK_AT_STATE=0 -DSHARE_END=0 -DKEEP_ALL=1"},
    {"the same, by each lane",
     "-DSUB_SHARDS=8 -DLOOK_AT_STATE=0 -DSHARE_END=0 -DKEEP_ALL=1 -DBY_LEADER=0 -DOWN_PACK=0"},
    {"word, 1 shard", "-DSUB_SHARDS=1"},
    {"word, 8 shards", "-DSUB_SHARDS=8"},
    {"count and bits, 4 shards", "-DSUB_SHARDS=4 -DCOUNTED=1"},
    {"floor (no heap)", "-DSUB_SHARDS=4 -DFLOOR=1"},
    {"word, 4 shards, packs from 4", "-DSUB_SHARDS=4 -DOWN_PACK=4"},
    {"word, 8 shards, each lane", "-DSUB_SHARDS=8 -DBY_LEADER=0 -DOWN_PACK=0"},
    {"word, 4 shards, no packs", "-DSUB_SHARDS=4 -DOWN_PACK=0 -DTOGETHER=0"},
};
const std::vector<Variant> b_variants = {
    {"256 B lines", ""},
    {"512 B lines, two words", "-DWIDE_LINES=1"},
    {"256 B lines, no state", "-DLOOK_AT_STATE=0"},
    {"256 B lines, and strays", "-DSTRAY=1"},
    {"256 B lines, no share end", "-DSHARE_END=0"},
    {"no state, no share end", "-DLOOK_AT_STATE=0 -DSHARE_END=0"},
    {"512 B lines, neither", "-DWIDE_LINES=1 -DLOOK_AT_STATE=0 -DSHARE_END=0"},
};

struct Sizes {
    cl_uint low, span;
};

std::string in_words(Sizes sizes)
{
    return sizes.span > 1 ? std::to_string(sizes.low) + ".." +
                                std::to_string(sizes.low + sizes.span - 1) + " B"
                          : std::to_string(sizes.low) + " B";
}

cl_uint below(double chance)
{
    return static_cast<cl_uint>(std::min(chance * 4294967296.0, 4294967295.0));
}

class Trials {
public:
    explicit Trials(const Arguments &arguments)
        : arguments_(arguments), device_(kma::Device::select()),
          counts_(device_.context(), CL_MEM_READ_WRITE, count_words * sizeof(cl_uint))
    {
        gpu_ = (device_.device().getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU) != 0;
        has_warps_ = gpu_ && device_.name().find("NVIDIA") != std::string::npos;
        large_ = arguments.quick || !gpu_ ? std::uint64_t{128} << 20 : std::uint64_t{8} << 30;
        const std::uint64_t bytes = std::max(bytes_of(plan_of(large_, 256), large_),
                                             bytes_of(plan_of(large_, 512), large_));
        heap_ = cl::Buffer(device_.context(), CL_MEM_READ_WRITE, bytes);
        items_ = arguments.quick ? std::size_t{1} << 14 : std::size_t{1} << 20;
        for (cl::Buffer &refs : refs_)
            refs = words(items_);
        for (cl::Buffer &sizes : sizes_)
            sizes = words(items_);
        std::printf("%s, heaps of 16 and %llu MiB\n", device_.name().c_str(),
                    static_cast<unsigned long long>(large_ >> 20));
        std::fflush(stdout);
    }

    std::size_t run()
    {
        if (arguments_.only != "B")
            for (const Variant &variant : a_variants)
                if (begins(variant))
                    trial_a(variant);
        if (arguments_.only != "A")
            for (const Variant &variant : b_variants)
                if ((has_warps_ ||
                     std::string_view(variant.options).find("WIDE") == std::string_view::npos) &&
                    begins(variant))
                    trial_b(variant);
        std::printf("%s, %.0f s\n", wrong_ == 0 ? "all right" : "SOMETHING IS WRONG", seconds());
        return wrong_;
    }

private:
    cl::Buffer words(std::size_t count) const
    {
        return {device_.context(), CL_MEM_READ_WRITE, count * sizeof(cl_uint)};
    }

    double seconds() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

    bool begins(const Variant &variant) const
    {
        if (!arguments_.variant.empty() && arguments_.variant != variant.name)
            return false;
        if (seconds() < arguments_.seconds)
            return true;
        std::printf("left out for want of time: %s\n", variant.name);
        return false;
    }

    // ------ kernels

    void build(const Variant &variant, char trial)
    {
        const auto begin = seconds();
        trial_ = trial;
        variant_ = variant.name;
        std::string options = variant.options;
        const auto set = [&options](const std::string &name, int value) {
            if (options.find("-D" + name + "=") == std::string::npos)
                options += " -D" + name + "=" + std::to_string(value);
        };
        set("SUB_SHARDS", 4);
        set("BY_LEADER", 1);
        set("OWN_PACK", 8);
        set("COUNTED", 0);
        set("TOGETHER", 1);
        set("LOOK_AT_STATE", 1);
        set("SHARE_END", 1);
        set("KEEP_ALL", 0);
        set("WITH_MIXED", trial == 'B');
        set("WIDE_LINES", 0);
        set("STRAY", trial == 'A' || !has_warps_);
        set("FLOOR", 0);
        set("TRIAL_A", trial == 'A');
        wide_ = options.find("WIDE_LINES=1") != std::string::npos;
        floor_ = options.find("FLOOR=1") != std::string::npos;
        if (device_.has_extension("cl_nv_compiler_options"))
            options += " -cl-nv-verbose";
        program_.emplace(device_, trials::kernels(), kma::ProgramOptions{.options = options});
        std::printf("%c  %-29s built in %.1f s%s\n", trial, variant.name, seconds() - begin,
                    registers(program_->log()).c_str());
        std::fflush(stdout);
    }

    static std::string registers(const std::string &log)
    {
        static const std::regex entry("Compiling entry function '(\\w+)'");
        static const std::regex found("Used (\\d+) registers");
        static const std::regex spilled("(\\d+) bytes spill stores");
        std::string told, kernel, spills;
        std::istringstream lines(log);
        for (std::string line; std::getline(lines, line);) {
            std::smatch match;
            if (std::regex_search(line, match, entry)) {
                kernel = match.str(1);
                spills.clear();
            } else if (spills.empty() && std::regex_search(line, match, spilled)) {
                spills = match.str(1);
            } else if (!kernel.empty() && std::regex_search(line, match, found)) {
                if (kernel == "work" || kernel == "pairs" || kernel == "allocate" ||
                    kernel == "release")
                    told +=
                        "; " + kernel + " " + match.str(1) + " registers, " + spills + " B spilled";
                kernel.clear();
            }
        }
        return told;
    }

    template <class... Values>
    double time(const char *name, std::size_t items, const Values &...values)
    {
        cl::Kernel kernel = program_->kernel(name);
        cl_uint i = 0;
        (kernel.setArg(i++, values), ...);
        cl::Event event;
        device_.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(items),
                                             cl::NDRange(std::min(items, work_group)), nullptr,
                                             &event);
        event.wait();
        return static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                   event.getProfilingInfo<CL_PROFILING_COMMAND_START>()) *
               1e-6;
    }

    void fill(const cl::Buffer &buffer, cl_uint value, std::size_t count)
    {
        device_.queue().enqueueFillBuffer(buffer, value, 0, count * sizeof(cl_uint));
    }

    std::array<cl_uint, count_words> counts()
    {
        std::array<cl_uint, count_words> read = {};
        device_.queue().enqueueReadBuffer(counts_, CL_TRUE, 0, sizeof read, read.data());
        return read;
    }

    void new_heap(std::uint64_t bytes)
    {
        const Plan plan = plan_of(bytes, wide_ ? 512 : 256);
        device_.queue().enqueueWriteBuffer(heap_, CL_TRUE, 0, sizeof plan, &plan);
        time("init", round_items, heap_);
        time("init_trees", round_items, heap_);
    }

    // ------ lines

    void line(const std::string &workload, double figure, const char *unit,
              const std::string &more = {})
    {
        const std::array<cl_uint, count_words> is = counts();
        std::string rest = "clean";
        const bool is_clean = is[used] == is[owned] && is[blocks] == 0 && is[hidden] == 0;
        if (!is_clean && !floor_)
            rest = "USED " + std::to_string(is[used]) + " OWNED " + std::to_string(is[owned]) +
                   " BLOCKS " + std::to_string(is[blocks]) + " HIDDEN " +
                   std::to_string(is[hidden]);
        wrong_ += is[errors] + (is_clean || floor_ ? 0 : 1);
        std::printf("%c  %-29s %-38s %9.4f %s%s  nulls %u  errors %u  %s\n", trial_, variant_,
                    workload.c_str(), figure, unit, more.c_str(), is[nulls], is[errors],
                    rest.c_str());
        std::fflush(stdout);
    }

    static double median(std::vector<double> samples, std::size_t warm_up)
    {
        samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(warm_up));
        return bench::statistics(std::move(samples)).median;
    }

    // ------ trial A

    void trial_a(const Variant &variant)
    {
        build(variant, 'A');
        const bool quick = arguments_.quick;
        for (const double share : {1.0 / 32, 1.0 / 8, 1.0 / 2})
            sparse(share, {64, 1});
        pairs(1, quick ? 1000 : 10000, 16);
        steady({0.75, 16384, {64, 1}}, std::uint64_t{16} << 20);
        for (const double share : {1.0 / 32, 1.0 / 8, 1.0 / 2})
            sparse(share, {16, 497});
        for (const std::uint64_t bytes : {large_, std::uint64_t{16} << 20}) {
            for (const Sizes sizes : {Sizes{16, 1}, {64, 1}, {128, 1}})
                if (sizes.low != 64 || bytes == large_)
                    steady({0.75, 16384, sizes}, bytes);
            for (const Sizes sizes : {Sizes{512, 1}, {288, 449}, {64, 897}})
                steady({0.6, 4096, sizes}, bytes);
        }
        for (const std::size_t items : {1024, 4608, 65536})
            if (!quick || items < 65536)
                pairs(items, quick ? 10 : 100, 4);
    }

    struct Load {
        double chance;
        std::size_t items;
        Sizes sizes;
    };

    // Kernels one after the other, and then those that free what is left. Returns the median time.
    double series(std::size_t items, std::size_t kernels, bool is_steady, double take, double give,
                  Sizes sizes)
    {
        constexpr double longest = 500; // ms of all kernels
        for (const cl::Buffer &refs : refs_)
            fill(refs, none, items);
        fill(counts_, 0, count_words);
        const auto work = [&](std::size_t turn, cl_uint take_below, cl_uint give_below) {
            const std::size_t taken = is_steady ? 0 : turn % 3,
                              given = is_steady ? 0 : (turn + 1) % 3;
            return time("work", items, heap_, refs_[taken], sizes_[taken], refs_[given],
                        sizes_[given], cl_uint{is_steady}, take_below, give_below, sizes.low,
                        sizes.span, static_cast<cl_uint>(turn * 0x9e3779b9u), counts_);
        };
        std::vector<double> ms;
        double sum = 0;
        std::size_t turn = 0;
        for (; turn < kernels && sum < longest; turn++) {
            ms.push_back(work(turn, below(take), below(give)));
            sum += ms.back();
        }
        for (std::size_t last = 0; last < 3; last++) // what is left
            work(turn + last, 0, none);
        time("check", round_items, heap_, counts_);
        if (turn < kernels)
            std::printf("only %zu kernels: ", turn);
        return median(ms, ms.size() / 10);
    }

    void steady(const Load &load, std::uint64_t bytes)
    {
        new_heap(bytes);
        const double ms = series(load.items, arguments_.quick ? 60 : 300, true, load.chance,
                                 load.chance, load.sizes);
        line("steady " + std::to_string(load.items / 1024) + " Ki, " + in_words(load.sizes) + ", " +
                 std::to_string(bytes >> 20) + " MiB",
             ms, "ms");
    }

    void sparse(double share, Sizes sizes)
    {
        const std::size_t items = std::min<std::size_t>(items_, std::size_t{1} << 18);
        new_heap(large_);
        const double ms = series(items, arguments_.quick ? 20 : 200, false, share, 1, sizes);
        line("sparse " + std::to_string(items / 1024) + " Ki, " + in_words(sizes) + ", 1/" +
                 std::to_string(static_cast<int>(1 / share)),
             ms, "ms");
    }

    void pairs(std::size_t items, cl_uint turns, cl_uint bytes)
    {
        new_heap(large_);
        fill(counts_, 0, count_words);
        std::vector<double> ms;
        for (int round = -1; round < 7; round++)
            ms.push_back(time("pairs", items, heap_, turns, bytes, cl_uint{0}, counts_));
        if (!floor_) // where a work-item has one place
            time("pairs", items, heap_, turns, bytes, cl_uint{1}, counts_);
        time("check", round_items, heap_, counts_);
        line("pairs by " + std::to_string(items) + ", " + std::to_string(bytes) + " B",
             median(ms, 1) * 1e6 / (static_cast<double>(items) * turns), "ns");
    }

    // ------ trial B

    void trial_b(const Variant &variant)
    {
        try {
            build(variant, 'B');
        } catch (const kma::BuildError &error) {
            std::printf("B  %s does not build:\n%s\n", variant.name, error.log().c_str());
            wrong_++;
            return;
        }
        for (const Sizes sizes : {Sizes{16, 1}, {64, 1}, {256, 1}, {1024, 1}, {4, 1021}})
            together(sizes);
    }

    void together(Sizes sizes)
    {
        std::vector<double> allocated, released;
        fill(counts_, 0, count_words);
        for (int round = -1; round < 7; round++) {
            new_heap(large_);
            allocated.push_back(time("allocate", items_, heap_, refs_[0], sizes.low, sizes.span));
            if (round == -1) {
                time("sign_blocks", items_, heap_, refs_[0], sizes.low, sizes.span, counts_);
                time("verify_blocks", items_, heap_, refs_[0], sizes.low, sizes.span, counts_);
            }
            released.push_back(time("release", items_, heap_, refs_[0], counts_));
        }
        time("check", round_items, heap_, counts_);
        char free_ms[64];
        std::snprintf(free_ms, sizeof free_ms, " malloc %9.4f ms free", median(released, 1));
        line("together " + std::to_string(items_ / 1024) + " Ki, " + in_words(sizes),
             median(allocated, 1), "ms", free_ms);
    }

    Arguments arguments_;
    kma::Device device_;
    bool gpu_ = false, has_warps_ = false;
    std::uint64_t large_ = 0;
    std::size_t items_ = 0;
    cl::Buffer heap_, counts_;
    std::array<cl::Buffer, 3> refs_, sizes_;
    std::optional<kma::Program> program_;
    char trial_ = 'A';
    const char *variant_ = "";
    bool wide_ = false, floor_ = false;
    std::size_t wrong_ = 0;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace

int main(int argc, char **argv)
{
    Arguments arguments;
    CLI::App app("Trials of the loops of the slab heap's second design.");
    app.add_flag("--quick", arguments.quick, "small, for devices that are slow");
    app.add_option("--only", arguments.only, "A or B")->check(CLI::IsMember({"A", "B"}));
    app.add_option("--variant", arguments.variant, "one variant, by its name");
    app.add_option("--seconds", arguments.seconds, "begin no variant later");
    CLI11_PARSE(app, argc, argv);
    try {
        return Trials(arguments).run() == 0 ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "slab_word_trials: %s\n", error.what());
        return 1;
    }
}
