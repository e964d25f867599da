// compile: the cost of a program until its first result: build and first launch, by the host's
// clock. Each program contains a unique number, so that no cache has it.
#include <chrono>
#include <iterator>
#include <random>

#include "suites.hpp"

namespace bench {
namespace {

using compile_clock = std::chrono::steady_clock;

struct Calls {
    const char *name;
    bool includes_kma;
    unsigned pairs; // calls of malloc and free, not in a loop
};
constexpr Calls all_calls[] = {{"empty", false, 0},
                               {"include", true, 0},
                               {"1 malloc, 1 free", true, 1},
                               {"4 mallocs, 4 frees", true, 4}};

// A kernel that stores `nonce` plus the number of blocks that it got.
std::string text_of(const Calls &calls, std::uint32_t nonce)
{
    std::string text = calls.includes_kma ? "#include \"kma/kma.cl\"\n" : "";
    text += "kernel void work(";
    text += calls.includes_kma ? "global kma_heap *heap" : "global uint *heap";
    text += ", global uint *sums, uint bytes)\n{\n    uint sum = " + std::to_string(nonce) + "u;\n";
    for (unsigned i = 0; i < calls.pairs; i++) {
        const std::string block = "block" + std::to_string(i);
        text += "    global uint *const " + block + " = (global uint *)kma_malloc(heap, bytes * " +
                std::to_string(i + 1) + ");\n    if (" + block + ") {\n        *" + block +
                " = sum;\n        sum++;\n    }\n";
    }
    for (unsigned i = 0; i < calls.pairs; i++)
        text += "    kma_free(heap, block" + std::to_string(i) + ");\n";
    return text + "    sums[get_global_id(0)] = sum;\n}\n";
}

class Compile {
public:
    Compile(Bench &bench, int debug)
        : bench_(bench), debug_(debug), heap_(bench.new_heap(heap_bytes_, debug))
    {
    }

    void line(const Calls &calls)
    {
        const Parameters parameters = {{"program", std::string(calls.name)}, {"debug", debug_}};
        bench_.progress("compile", in_words(parameters));
        const auto row = [&](const char *metric, const char *unit) {
            return Row{.suite = "compile",
                       .heap = {},
                       .parameters = parameters,
                       .metric = metric,
                       .unit = unit,
                       .figure = {}};
        };
        // Figures vary little, and some take long: one round with --quick.
        const Rounds rounds = bench_.quick() ? Rounds{transposed(round(calls)), 0}
                                             : bench_.measure([&] { return round(calls); }, false);
        constexpr const char *metrics[] = {"build_and_launch", "build", "first_launch"};
        for (std::size_t which = 0; which < std::size(metrics); which++) {
            Row time = row(metrics[which], "ms");
            time.verified = is_right_;
            bench_.add(std::move(time), rounds, which);
        }
        add_bytes(row("source", "KB"), source_bytes_);
        if (ptx_bytes_ != 0)
            add_bytes(row("ptx", "KB"), ptx_bytes_);
    }

private:
    static std::vector<std::vector<double>> transposed(const std::vector<double> &times)
    {
        std::vector<std::vector<double>> each;
        for (const double time : times)
            each.push_back({time});
        return each;
    }

    std::vector<double> round(const Calls &calls)
    {
        heap_.reset();
        const std::uint32_t nonce = static_cast<std::uint32_t>(random_());
        const cl::Buffer sums = bench_.array("sums", work_group);
        bench_.fill(sums, work_group, 0);
        const std::vector<kma::Source> units = {{"compile.cl", text_of(calls, nonce)}};
        const compile_clock::time_point begin = compile_clock::now();
        const kma::Program program = bench_.program(units, debug_);
        cl::Kernel kernel = program.kernel("work");
        const compile_clock::time_point built = compile_clock::now();
        if (calls.includes_kma)
            heap_.set_arg(kernel, 0);
        else
            kernel.setArg(0, sums);
        kernel.setArg(1, sums);
        kernel.setArg(2, cl_uint{16});
        const cl::CommandQueue &queue = bench_.device().queue();
        queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(work_group),
                                   cl::NDRange(work_group));
        queue.finish();
        const compile_clock::time_point ended = compile_clock::now();
        for (const cl_uint sum : bench_.read(sums, work_group))
            is_right_ = is_right_ && sum == nonce + calls.pairs;
        is_right_ =
            is_right_ && heap_.check().empty() && (!bench_.reuses() || heap_.stats().used == 0);
        source_bytes_ = program.program().getInfo<CL_PROGRAM_SOURCE>().size();
        if (bench_.device().has_extension("cl_nv_compiler_options")) // the binary is PTX
            ptx_bytes_ = program.program().getInfo<CL_PROGRAM_BINARY_SIZES>().front();
        return {milliseconds(ended - begin), milliseconds(built - begin),
                milliseconds(ended - built)};
    }

    static double milliseconds(compile_clock::duration time)
    {
        return std::chrono::duration<double, std::milli>(time).count();
    }

    void add_bytes(Row row, std::size_t bytes)
    {
        const double number = static_cast<double>(bytes) / 1000;
        row.figure = {number, number, number, 0};
        bench_.add(std::move(row));
    }

    static constexpr std::uint64_t heap_bytes_ = 4 << 20;

    Bench &bench_;
    int debug_;
    kma::Heap heap_;
    std::random_device random_;
    std::size_t source_bytes_ = 0, ptx_bytes_ = 0;
    bool is_right_ = true;
};

} // namespace

void compile(Bench &bench)
{
    for (const int debug : {0, 3}) {
        if (bench.quick() && debug != 0)
            return;
        Compile programs(bench, debug);
        for (const Calls &calls : all_calls)
            if ((calls.includes_kma || debug == 0) && (calls.pairs <= 1 || !bench.quick()))
                programs.line(calls);
    }
}

} // namespace bench
