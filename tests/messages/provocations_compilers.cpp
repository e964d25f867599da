// What stops a compiler, of kernels or of the host's program.
#include "provocations.hpp"

#include "heap_support.hpp"

namespace messages {
namespace {

// A kernel that does not compile: the whole log.
Provocation uncompiled(const std::string &what, const std::string &text, const kma::ProgramOptions &options = {})
{
    return thrown(what, [=] { kma::Program(test::device(), {{"mine.cl", text}}, options); });
}

// Builds a text by OpenCL's own calls.
void build(const std::string &text, const std::string &options)
{
    cl::Program program(test::device().context(), text);
    try {
        program.build(test::device().device(), options.c_str());
    } catch (const cl::BuildError &error) {
        throw kma::Error(error.getBuildLog().front().second);
    }
}

const std::string with_heap = "#include \"kma/kma.cl\"\nkernel void mine(global kma_heap *heap)\n";
const std::string all_of_kma = with_heap + "{ kma_malloc(heap, 1); }\n";

} // namespace

std::vector<Provocation> compiler_provocations()
{
    return {
        uncompiled("asks a bump heap for a block's size",
                   with_heap + "{ kma_usable_size(heap, kma_malloc(heap, 1)); }\n", {.heap = kma::HeapKind::bump}),
        uncompiled("reallocates in a bump heap", with_heap + "{ kma_realloc(heap, kma_malloc(heap, 1), 2); }\n",
                   {.heap = kma::HeapKind::bump}),
        uncompiled("includes a part of kma by itself", "#include \"kma/heap/bump/layout.cl\"\n"),
        uncompiled("mistypes KMA_MEMORY", all_of_kma, {.options = "-DKMA_MEMORY=77"}),
        uncompiled("mistypes KMA_LANES", all_of_kma, {.options = "-DKMA_LANES=77"}),
        uncompiled("asks for OpenCL C 1.1", all_of_kma, {.options = "-cl-std=CL1.1"}),
        uncompiled("asks for a KMA_DEBUG of 4", all_of_kma, {.options = "-DKMA_DEBUG=4"}),
        uncompiled("names a kind that does not exist", all_of_kma, {.options = "-DKMA_HEAP=buddy"}),
        uncompiled("uses a kind without its file", "#include \"kma/kma.cl\"\nkernel void mine(global kma_bump *heap) {}\n"),
        thrown("tells the compiler of a kind, and kma::expand not",
               [] { build(kma::expand({{"mine.cl", all_of_kma}}), "-DKMA_HEAP=bump"); }),
        uncompiled("gives one of kma's own numbers another value", all_of_kma,
                   {.options = "-DKMA_QUEUE_TAG_BITS=48", .heap = kma::HeapKind::superblock}),
        {"takes a schema's text for 64-bit atomics into a program without",
         [] {
             kma::Schema schema;
             schema.add("Thing", {});
             return uncompiled("", schema.accessors(64), {.options = "-DKMA_HAS_ATOMIC64=0"}).messages();
         }},
        thrown("defines a macro with a name of kma's in front of a single file",
               [] { kma::Program(test::device(), {{"mine.cl", kma::emit(kma::HeapKind::bump)}}, {.options = "-Dsize=100"}); }),
        thrown("puts the single files of both kinds into one program",
               [] {
                   const std::string both = kma::emit(kma::HeapKind::bump) + kma::emit(kma::HeapKind::superblock);
                   kma::Program(test::device(), {{"mine.cl", both}});
               }),
        {"compiles the host's program as C++17",
         [] {
             return std::vector{output_of("printf '#include <kma/kma.hpp>\\n' | " KMA_CXX
                                          " -std=c++17 -fsyntax-only -I" KMA_ROOT "/host/include -I" KMA_ROOT
                                          "/cl -idirafter " KMA_CLHPP " -x c++ - 2>&1")};
         }},
        {"includes OpenCL's bindings without exceptions before kma",
         [] {
             return std::vector{output_of("printf '#define CL_HPP_TARGET_OPENCL_VERSION 300\\n"
                                          "#include <CL/opencl.hpp>\\n#include <kma/opencl.hpp>\\n' | " KMA_CXX
                                          " -std=c++20 -fsyntax-only -I" KMA_ROOT "/host/include -idirafter " KMA_CLHPP
                                          " -x c++ - 2>&1")};
         }},
    };
}

std::vector<Provocation> compiler_word_provocations()
{
    return {
        uncompiled("forgets to include kma", "kernel void mine(global kma_heap *heap) { kma_malloc(heap, 1); }\n"),
        uncompiled("mistypes a type of kma's", "#include \"kma/kma.cl\"\nkernel void mine(global kma_atomic_uint *word) {}\n"),
        thrown("builds without kma::Program and without -I", [] { build(all_of_kma, ""); }),
    };
}

} // namespace messages
