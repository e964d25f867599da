// Building programs: errors that name the user's lines, the cache, and programs that kma did not build.
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "catch.hpp"
#include "device/internals.hpp"
#include "heap_support.hpp"
#include "own_names.hpp"

using kma::Program;
using test::device;

namespace {

Program build(const std::string &text, const kma::ProgramOptions &options = {})
{
    return {device(), {{"user.cl", text}}, options};
}

std::string build_error(const std::vector<kma::Source> &units, const kma::ProgramOptions &options = {})
{
    return message_of<kma::BuildError>([&] { Program(device(), units, options); });
}

// What the kernel f writes.
cl_uint run(const Program &program)
{
    const test::Array<cl_uint> out(1, 0);
    test::launch(program, "f", {1, 1}, out);
    return out.read()[0];
}

// A unit with a kernel f that writes a number.
std::string writes(const std::string &number)
{
    return "kernel void f(global uint *out) { *out = " + number + "; }\n";
}

const std::string kma_cl = "#include \"kma/kma.cl\"\n", nothing = "kernel void f() {}\n";

} // namespace

TEST_CASE("a build error names the user's file and line, or kma's, and has the log and options", "[program]")
{
    CHECK_THAT(build_error({{"user.cl", kma_cl + "\nkernel void f(global uint *out)\n{\n    *out = undeclared;\n}\n"}}),
               contains("user.cl:5") && contains("undeclared"));
    CHECK_THAT(build_error({{"user.cl", kma_cl + "#include \"mine/header.h\"\n" + nothing}},
                           {.headers = {{"mine/header.h", "#define A 1\n\n\nuint wrong = ;\n"}}}),
               contains("mine/header.h:4"));
    CHECK_THAT(build_error({{"first.cl", nothing}, {"second.cl", "\nwrong;\n"}}), contains("second.cl:2"));
    CHECK_THAT(build_error({{"user.cl", kma_cl + nothing}}, {.options = "-DKMA_MEMORY=77"}),
               contains("kma/")); // no such path
    try {
        build("wrong;\n", {.options = "-DSOMETHING=5"});
        FAIL("it built");
    } catch (const kma::BuildError &error) {
        CHECK_THAT(error.log(), contains("user.cl:1"));
        CHECK_THAT(std::string(error.what()), contains(error.log()) && contains("-DSOMETHING=5"));
    }
}

TEST_CASE("what kma adds to the options", "[program]")
{
    const std::string unit = kma_cl + "#ifdef KMA_STD_NAMES\n#define STD 100\n#else\n#define STD 0\n#endif\n" +
                             writes("KMA_DEBUG + STD + WIDTH");
    kma::ProgramOptions options{.options = "-DWIDTH=1000"};
    CHECK(run(build(unit, options)) == 1000);
    options.debug = 1;
    CHECK(run(build(unit, options)) == 1001);
    options.std_names = true;
    CHECK(run(build(unit, options)) == 1101);
}

TEST_CASE("a program's macros may have any name of kma's, and are what they were behind it", "[program]")
{
    const std::set<std::string> names = own_names();
    CHECK(names.size() > 1000);
    std::string include = kma_cl;
    for (const char *file : {"work_queue", "list", "search_tree", "arena"})
        include += std::string("#include \"kma/containers/") + file + ".cl\"\n";
    const std::string uses =
        "kernel void F(global kma_heap *H) { global uint *P = KMA_NEW(H, uint); kma_free(H, P); }\n";
    CHECK_NOTHROW(build(macros_of(names) + include + uses));
    CHECK_NOTHROW(build(include + macros_of(names) + uses));
    const std::string told = "#ifdef first\n" + writes("n + size + key + sizeof(T) + malloc") + "#endif\n";
    CHECK(run(build(include + told, {.options = "-Dn=100 -D size=20 -DT=float -Dkey=3 -Dfirst -Dmalloc=n"})) == 227);
}

TEST_CASE("a unit that an editor began with a byte order mark is built", "[program]")
{
    CHECK_NOTHROW(build("\xef\xbb\xbf" + writes("1")));
}

TEST_CASE("-cl-std among the options replaces kma's", "[program]")
{
    CHECK(run(build(writes("__OPENCL_C_VERSION__"), {.options = "-cl-std=CL1.2"})) == 120);
}

TEST_CASE("an OpenCL C that is too old is one error, and 2.0 is no error on devices with a part of it", "[program]")
{
    const std::string unit = "#define KMA_HEAP bump\n" + kma_cl +
                             "kernel void f(global kma_heap *heap, global uint *out)\n"
                             "{ *out = kma_ref_of(heap, kma_malloc(heap, 1)); }\n";
    const std::string log = build_error({{"user.cl", unit}}, {.options = "-cl-std=CL1.1"});
    const auto first = log.find("error:");
    CHECK_THAT(log, contains("kma needs OpenCL C 1.2 or later"));
    CHECK(log.find("error:", first + 1) == std::string::npos);
    if (build_error({{"user.cl", nothing}}, {.options = "-cl-std=CL2.0"}) ==
        "no error") // else the compiler has none of it
        CHECK_NOTHROW(build(unit, {.options = "-cl-std=CL2.0"}));
}

TEST_CASE("warnings do not stop a build and are in the log", "[program]")
{
    const Program program = build("\nkernel void f(global uint *out)\n{\n#warning look here\n    *out = 3;\n}\n");
    CHECK(run(program) == 3);
    CHECK_THAT(program.log(), contains("look here"));
}

TEST_CASE("an unknown kernel lists those that there are", "[program]")
{
    const Program program = build("kernel void apples() {}\nkernel void pears() {}\n");
    CHECK_NOTHROW(program.kernel("pears"));
    CHECK_THAT(message_of<kma::Error>([&] { program.kernel("plums"); }),
               contains("\"plums\"") && contains("apples") && contains("pears"));
}

TEST_CASE("the same text with the same options is built once per device", "[program]")
{
    const std::string unit = writes("1");
    const Program first = build(unit);
    const kma::Device copy = device();
    CHECK(Program(copy, {{"user.cl", unit}}).program() == first.program());
    CHECK(build(unit, {.headers = {{"unused.h", "text\n"}}}).program() == first.program());
    CHECK_FALSE(build(unit, {.options = "-DOTHER"}).program() == first.program());
    CHECK_FALSE(build(unit + "\n").program() == first.program());
    CHECK_FALSE(Program(kma::Device::select(), {{"user.cl", unit}}).program() == first.program());
    // A failure is not remembered as a program.
    CHECK(build_error({{"user.cl", "wrong;\n"}}) == build_error({{"user.cl", "wrong;\n"}}));
}

TEST_CASE("a program with kma's files is kept, one with a file of the compiler's is not", "[program]")
{
    const std::string folder = KMA_SCRATCH_DIR "/headers";
    std::filesystem::create_directories(folder);
    // Each way to write it; what a comment has is no #include.
    for (const std::string include : {"#include \"number.h\"", "  #\tinclude <number.h>", "%:include \"number.h\"",
                                      "/* */ #include \"number.h\"", "# \\\n include \"number.h\""})
        for (const cl_uint number : {1, 2}) {
            std::ofstream(folder + "/number.h") << "#define NUMBER " << number << '\n';
            INFO(include);
            CHECK(run(build(include + "\n" + writes("NUMBER"), {.options = "-I" + folder})) == number);
        }
    const std::string unit = "#define KMA_HEAP bump\n" + kma_cl + "// #include \"number.h\"\n";
    CHECK(build(unit).program() == build(unit).program());
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
    std::vector<cl::Program> same(4);
    std::vector<std::optional<Program>> different(4);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&, i] {
            same[i] = build(writes("1000")).program();
            different[i] = build(writes(std::to_string(2000 + i)));
            different[i]->kernel("f");
        });
    for (std::thread &thread : threads)
        thread.join();
    for (int i = 0; i < 4; i++) {
        CHECK(same[i] == same[0]);
        CHECK(run(*different[i]) == static_cast<cl_uint>(2000 + i));
    }
}

TEST_CASE("a program that the caller builds from kma's text can use a heap", "[program]")
{
    const std::string text = kma::expand({{"mine.cl", "#define KMA_HEAP bump\n" + kma_cl +
                                                          "kernel void f(global kma_heap *heap, global uint *out)\n"
                                                          "{ *out = kma_ref_of(heap, kma_malloc(heap, 100)); }\n"}});
    cl::Program program(device().context(), text);
    program.build(device().device(), device().language_option().c_str());
    const kma::Heap heap(device(), 65536, {.kind = kma::HeapKind::bump});
    const test::Array<cl_uint> ref(1, 0);
    test::launch(program, "f", {1, 1}, heap, ref);
    CHECK(ref.read()[0] == kma::Heap::bytes_for(kma::HeapKind::bump, 0) / kma::ref_unit);
    CHECK(heap.stats().used == 112);
}
