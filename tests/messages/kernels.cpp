// Errors of kernels, of their launches and of compilers.
#include "catalogue.hpp"
#include "catch.hpp"
#include "heap_support.hpp"

namespace {

using namespace kma;
using namespace messages;
using test::device;

const std::string include_kma = "#include \"kma/kma.cl\"\n";
const std::string head = include_kma + "kernel void mine(global kma_heap *heap)\n";
const std::string whole = head + "{ kma_malloc(heap, 1); }\n";

Program build(const std::string &text, const ProgramOptions &options = {})
{
    return Program(device(), {{"mine.cl", text}}, options);
}

// By OpenCL's own calls.
void build_plainly(const std::string &text, const std::string &options)
{
    cl::Program program(device().context(), text);
    try {
        program.build(device().device(), options.c_str());
    } catch (const cl::BuildError &error) {
        throw Error(error.getBuildLog().front().second);
    }
}

// The error log after one work-item on a heap of 64 KiB.
std::string error_of(const std::string &body, int program_debug = 0, int heap_debug = 0)
{
    const Heap heap(device(), 1 << 16, {.debug = heap_debug});
    cl::Kernel kernel =
        build(head + "{\n" + body + "\n}\n", {.debug = program_debug}).kernel("mine");
    kernel.setArg(0, heap.buffer()); // Heap::set_arg would refuse the other flavour
    device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
    return heap.error_text();
}

} // namespace

TEST_CASE("messages: what kernels do wrong", "[messages]")
{
    Section section("In heaps", true);
    const std::string block = "global char *block = kma_malloc(heap, 100);\n";
    section.says({error_of("while (kma_malloc(heap, 1000)) { }")});
    section.says({error_of("kma_malloc(heap, 1 << 30);")});
    section.says({error_of("kma_aligned_alloc(heap, 24, 100);")});
    section.says({error_of(block + "kma_free(heap, block + 16);")});
    section.says({error_of(block + "kma_free(heap, block); kma_free(heap, block);")});
    section.says({error_of(block, 1)}); // a program with debug, a heap without
    section.says({error_of(block + "block[100] = 1; kma_free(heap, block);", 2, 2)});
    section.says(
        {error_of(block + "kma_free(heap, block); block[0] = 1;\n"
                          "for (int i = 0; i < 1024; i++) kma_free(heap, kma_malloc(heap, 100));",
                  2, 2)});
    const test::Town town(test::superblocks(4096));
    for (cl_uint bit = 0; bit < 64; bit++)
        town.kernels.damage("set bit", 1, bit);
    town.kernels.allocate(1, 60);
    section.says({town.heap.error_text()});
    section.says({explain(static_cast<ErrorCode>(99))});
}

TEST_CASE("messages: what compilers say", "[messages]")
{
    Section section("Compilers", true);
    section.runs_commands();
    PROVOKE(build(head + "{ kma_usable_size(heap, kma_malloc(heap, 1)); }\n",
                  {.heap = HeapKind::bump}));
    PROVOKE(
        build(head + "{ kma_realloc(heap, kma_malloc(heap, 1), 2); }\n", {.heap = HeapKind::bump}));
    PROVOKE(build("#include \"kma/heap/bump/layout.cl\"\n"));
    for (const char *options : {"-DKMA_MEMORY=77", "-DKMA_LANES=77", "-cl-std=CL1.1",
                                "-DKMA_DEBUG=4", "-DKMA_HEAP=buddy"})
        PROVOKE(build(whole, {.options = options}));
    PROVOKE(build(include_kma + "kernel void mine(global kma_bump *heap) {}\n"));
    PROVOKE(build_plainly(expand({{"mine.cl", whole}}), "-DKMA_HEAP=bump"));
    PROVOKE(build(whole, {.options = "-DKMA_QUEUE_TAG_BITS=48", .heap = HeapKind::superblock}));
    PROVOKE(build(Schema().add("Thing", {}).accessors(64), {.options = "-DKMA_HAS_ATOMIC64=0"}));
    PROVOKE(build(emit(HeapKind::bump), {.options = "-Dsize=100"}));
    PROVOKE(build(emit(HeapKind::bump) + emit(HeapKind::superblock)));
}

TEST_CASE("messages: what compilers say in their own words", "[messages]")
{
    Section section("Compilers in their own words", true);
    PROVOKE(build("kernel void mine(global kma_heap *heap) { kma_malloc(heap, 1); }\n"));
    PROVOKE(build(include_kma + "kernel void mine(global kma_atomic_uint *word) {}\n"));
    PROVOKE(build_plainly(whole, ""));
}

TEST_CASE("messages: what OpenCL says itself", "[messages]")
{
    Section section("OpenCL's own errors");
    const Device another = Device::select(); // in a context of its own
    const cl::Buffer buffer(device().context(), CL_MEM_READ_WRITE, 4);
    const Heap heap(device(), 1 << 16);
    cl::Kernel kernel =
        build(include_kma + "kernel void mine(global kma_heap *heap, global uint *out)\n"
                            "{ *out = kma_ref_of(heap, kma_malloc(heap, 1)); }\n")
            .kernel("mine");
    const auto launch = [&](const Device &on, std::size_t work_items) {
        on.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(work_items),
                                        cl::NDRange(64));
        on.queue().finish();
    };
    heap.set_arg(kernel, 0);
    PROVOKE(launch(device(), 64)); // without its second argument
    PROVOKE(kernel.setArg(1, cl_uint{1}));
    PROVOKE(kernel.setArg(2, buffer));
    kernel.setArg(1, buffer);
    PROVOKE(launch(another, 64));
    PROVOKE(launch(device(), 100));
    PROVOKE(const cl::Buffer huge(device().context(), CL_MEM_READ_WRITE, std::size_t{1} << 60));
    section.throws([&] {
        cl_ulong value;
        device().queue().enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof value, &value);
    });
}
