// Building programs: errors that name the user's lines, the cache, and programs that kma did not build.
#include <filesystem>
#include <fstream>
#include <thread>

#include "catch.hpp"
#include "kma/kma.hpp"
#include "own_names.hpp"

namespace {

const kma::Device &device()
{
    static const kma::Device &selected = *new kma::Device(kma::Device::select()); // not destroyed after the driver is
    return selected;
}

std::string build_error(const std::vector<kma::Source> &units, const kma::ProgramOptions &options = {})
{
    return message_of<kma::BuildError>([&] { kma::Program(device(), units, options); });
}

cl_uint run(const cl::Kernel &kernel_to_run)
{
    cl::Kernel kernel = kernel_to_run;
    const cl::Buffer out(device().context(), CL_MEM_READ_WRITE, sizeof(cl_uint));
    kernel.setArg(0, out);
    device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
    cl_uint value = 0;
    device().queue().enqueueReadBuffer(out, CL_TRUE, 0, sizeof(value), &value);
    return value;
}

} // namespace

TEST_CASE("a build error names the user's file and line", "[program]")
{
    CHECK_THAT(
        build_error({{"user.cl",
                      "#include \"kma/kma.cl\"\n\nkernel void f(global uint *out)\n{\n    *out = undeclared;\n}\n"}}),
        contains("user.cl:5") && contains("undeclared"));

    kma::ProgramOptions options;
    options.headers = {{"mine/header.h", "#define A 1\n\n\nuint wrong = ;\n"}};
    CHECK_THAT(build_error({{"user.cl", "#include \"kma/kma.cl\"\n#include \"mine/header.h\"\nkernel void f() {}\n"}},
                           options),
               contains("mine/header.h:4"));
    CHECK_THAT(build_error({{"first.cl", "kernel void f() {}\n"}, {"second.cl", "\nwrong;\n"}}),
               contains("second.cl:2"));
}

TEST_CASE("a build error in kma's text names kma's file", "[program]")
{
    kma::ProgramOptions options;
    options.options = "-DKMA_MEMORY=77"; // no such path
    CHECK_THAT(build_error({{"user.cl", "#include \"kma/kma.cl\"\nkernel void f() {}\n"}}, options), contains("kma/"));
}

TEST_CASE("the error of a build has its log and options", "[program]")
{
    kma::ProgramOptions options;
    options.options = "-DSOMETHING=5";
    try {
        kma::Program(device(), {{"user.cl", "wrong;\n"}}, options);
        FAIL("it built");
    } catch (const kma::BuildError &error) {
        CHECK_THAT(error.log(), contains("user.cl:1"));
        CHECK_THAT(std::string(error.what()), contains(error.log()) && contains("-DSOMETHING=5"));
    }
}

TEST_CASE("what kma adds to the options", "[program]")
{
    const kma::Source unit = {"user.cl", R"(
#include "kma/kma.cl"
#ifdef KMA_STD_NAMES
#define STD 100
#else
#define STD 0
#endif
kernel void f(global uint *out) { *out = KMA_DEBUG + STD + WIDTH; }
)"};
    kma::ProgramOptions options;
    options.options = "-DWIDTH=1000";
    CHECK(run(kma::Program(device(), {unit}, options).kernel("f")) == 1000);
    options.debug = 1;
    CHECK(run(kma::Program(device(), {unit}, options).kernel("f")) == 1001);
    options.std_names = true;
    CHECK(run(kma::Program(device(), {unit}, options).kernel("f")) == 1101);
}

TEST_CASE("a program's macros may have any name of kma's, and are what they were behind it", "[program]")
{
    const std::set<std::string> names = own_names();
    CHECK(names.size() > 1000);
    const std::string include = "#include \"kma/kma.cl\"\n#include \"kma/containers/work_queue.cl\"\n#include \"kma/containers/list.cl\"\n"
                                "#include \"kma/containers/search_tree.cl\"\n#include \"kma/containers/arena.cl\"\n";
    const std::string uses = "kernel void F(global kma_heap *H) { global uint *P = KMA_NEW(H, uint); kma_free(H, P); }\n";
    CHECK_NOTHROW(kma::Program(device(), {{"user.cl", macros_of(names) + include + uses}}));
    CHECK_NOTHROW(kma::Program(device(), {{"user.cl", include + macros_of(names) + uses}}));
    kma::ProgramOptions options;
    options.options = "-Dn=100 -D size=20 -DT=float -Dkey=3 -Dfirst -Dmalloc=n";
    const std::string told = "#ifdef first\nkernel void f(global uint *out) { *out = n + size + key + sizeof(T) + malloc; }\n#endif\n";
    CHECK(run(kma::Program(device(), {{"user.cl", include + told}}, options).kernel("f")) == 227);
}

TEST_CASE("a unit that an editor began with a byte order mark is built", "[program]")
{
    CHECK_NOTHROW(kma::Program(device(), {{"user.cl", "\xef\xbb\xbfkernel void f(global uint *out) { *out = 1; }\n"}}));
}

TEST_CASE("-cl-std among the options replaces kma's", "[program]")
{
    const kma::Source unit = {"user.cl", "kernel void f(global uint *out) { *out = __OPENCL_C_VERSION__; }\n"};
    kma::ProgramOptions options;
    options.options = "-cl-std=CL1.2";
    CHECK(run(kma::Program(device(), {unit}, options).kernel("f")) == 120);
}

TEST_CASE("an OpenCL C that is too old is one error, and 2.0 is no error on devices with a part of it", "[program]")
{
    const kma::Source unit = {"user.cl", R"(#define KMA_HEAP bump
#include "kma/kma.cl"
kernel void f(global kma_heap *heap, global uint *out) { *out = kma_ref_of(heap, kma_malloc(heap, 1)); }
)"};
    const std::string log = build_error({unit}, {.options = "-cl-std=CL1.1"});
    const auto first = log.find("error:");
    CHECK_THAT(log, contains("kma needs OpenCL C 1.2 or later"));
    CHECK(log.find("error:", first + 1) == std::string::npos);
    try {
        kma::Program(device(), {{"user.cl", "kernel void f() {}\n"}}, {.options = "-cl-std=CL2.0"});
    } catch (const kma::BuildError &) {
        return; // a compiler that says itself that it has none of it
    }
    CHECK_NOTHROW(kma::Program(device(), {unit}, {.options = "-cl-std=CL2.0"}));
}

TEST_CASE("warnings do not stop a build and are in the log", "[program]")
{
    const kma::Program program(
        device(), {{"user.cl", "\nkernel void f(global uint *out)\n{\n#warning look here\n    *out = 3;\n}\n"}});
    CHECK(run(program.kernel("f")) == 3);
    CHECK_THAT(program.log(), contains("look here"));
}

TEST_CASE("an unknown kernel lists those that there are", "[program]")
{
    const kma::Program program(device(), {{"user.cl", "kernel void apples() {}\nkernel void pears() {}\n"}});
    CHECK_NOTHROW(program.kernel("pears"));
    CHECK_THAT(message_of<kma::Error>([&] { program.kernel("plums"); }),
               contains("\"plums\"") && contains("apples") && contains("pears"));
}

TEST_CASE("the same text with the same options is built once per device", "[program]")
{
    const kma::Source unit = {"user.cl", "kernel void f(global uint *out) { *out = 1; }\n"};
    kma::ProgramOptions other_options, headers;
    other_options.options = "-DOTHER";
    headers.headers = {{"unused.h", "text\n"}};
    const kma::Program first(device(), {unit});
    const kma::Device copy = device();
    CHECK(kma::Program(copy, {unit}).program() == first.program());
    CHECK(kma::Program(device(), {unit}, headers).program() == first.program());
    CHECK_FALSE(kma::Program(device(), {unit}, other_options).program() == first.program());
    CHECK_FALSE(kma::Program(device(), {{"user.cl", unit.text + "\n"}}).program() == first.program());
    CHECK_FALSE(kma::Program(kma::Device::select(), {unit}).program() == first.program());
    // A failure is not remembered as a program.
    CHECK(build_error({{"user.cl", "wrong;\n"}}) == build_error({{"user.cl", "wrong;\n"}}));
}

TEST_CASE("a program with kma's files is kept, one with a file of the compiler's is not", "[program]")
{
    const std::string folder = KMA_SCRATCH_DIR "/headers";
    std::filesystem::create_directories(folder);
    kma::ProgramOptions options;
    options.options = "-I" + folder;
    // Each way to write it; what a comment has is no #include.
    for (const std::string include : {"#include \"number.h\"", "  #\tinclude <number.h>", "%:include \"number.h\"",
                                      "/* */ #include \"number.h\"", "# \\\n include \"number.h\""}) {
        const kma::Source unit = {"user.cl", include + "\nkernel void f(global uint *out) { *out = NUMBER; }\n"};
        for (const cl_uint number : {1, 2}) {
            std::ofstream(folder + "/number.h") << "#define NUMBER " << number << '\n';
            INFO(include);
            CHECK(run(kma::Program(device(), {unit}, options).kernel("f")) == number);
        }
    }
    const kma::Source unit = {"user.cl", "#define KMA_HEAP bump\n#include \"kma/kma.cl\"\n// #include \"number.h\"\n"};
    CHECK(kma::Program(device(), {unit}).program() == kma::Program(device(), {unit}).program());
}

TEST_CASE("the programs used last are kept, and no more", "[program]")
{
    kma::ProgramCache cache(2);
    const auto build = [&](const std::string &name) {
        return cache.get(device().context(), device().device(), "kernel void " + name + "() {}\n", "");
    };
    const cl::Program first = build("first"), second = build("second");
    CHECK(build("first") == first);
    build("third"); // in the place of the second, which is not used for the longest time
    CHECK(build("first") == first);
    CHECK_FALSE(build("second") == second);
}

TEST_CASE("threads may build on one device", "[program]")
{
    const auto unit = [](int n) -> kma::Source {
        return {"user.cl", "kernel void f(global uint *out) { *out = " + std::to_string(n) + "; }\n"};
    };
    std::vector<cl::Program> same(4);
    std::vector<cl::Kernel> different(4);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&, i] {
            same[i] = kma::Program(device(), {unit(1000)}).program();
            different[i] = kma::Program(device(), {unit(2000 + i)}).kernel("f");
        });
    for (std::thread &thread : threads)
        thread.join();
    for (int i = 0; i < 4; i++) {
        CHECK(same[i] == same[0]);
        CHECK(run(different[i]) == static_cast<cl_uint>(2000 + i));
    }
}

TEST_CASE("a program that the caller builds from kma's text can use a heap", "[program]")
{
    const std::string text = kma::expand({{"mine.cl", R"(#define KMA_HEAP bump
#include "kma/kma.cl"
kernel void f(global kma_heap *heap, global uint *out)
{
    out[0] = kma_ref_of(heap, kma_malloc(heap, 100));
}
)"}});
    cl::Program program(device().context(), text);
    program.build(device().device(), device().language_option().c_str());
    cl::Kernel kernel(program, "f");
    const kma::Heap heap(device(), 65536, {.kind = kma::HeapKind::bump});
    const cl::Buffer out(device().context(), CL_MEM_READ_WRITE, sizeof(cl_uint));
    heap.set_arg(kernel, 0);
    kernel.setArg(1, out);
    device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
    cl_uint ref = 0;
    device().queue().enqueueReadBuffer(out, CL_TRUE, 0, sizeof(ref), &ref);
    CHECK(ref == kma::Heap::bytes_for(kma::HeapKind::bump, 0) / kma::ref_unit);
    CHECK(heap.stats().used == 112);
}
