// What kernels do wrong, as the heap's error log has it; and what OpenCL itself says.
#include "heap_support.hpp"
#include "provocations.hpp"

namespace messages {
namespace {

using kma::Heap;
using kma::HeapKind;
using test::device;

// The first count of the error log, without the number.
std::string first_error(const Heap &heap)
{
    const std::string text = heap.error_text();
    const std::size_t begin = text.find(" x ");
    return begin == std::string::npos ? "(no error)" : text.substr(begin + 3, text.find('\n') - begin - 3);
}

// A kernel of one work-item whose body is `body`, on a heap of 64 KiB.
Provocation in_kernel(const std::string &what, const std::string &body, int program_debug = 0, int heap_debug = 0)
{
    return {
        what, [=] {
            const Heap heap(device(), 1 << 16, {.debug = heap_debug});
            const std::string text =
                "#include \"kma/kma.cl\"\nkernel void mine(global kma_heap *heap)\n{\n" + body + "\n}\n";
            cl::Kernel kernel = kma::Program(device(), {{"mine.cl", text}}, {.debug = program_debug}).kernel("mine");
            kernel.setArg(0, heap.buffer()); // Heap::set_arg would refuse the other flavour
            device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
            return std::vector{first_error(heap)};
        }};
}

// What OpenCL says of a launch of a kernel with two arguments.
template <class Launch> Provocation launched(const std::string &what, Launch launch)
{
    return thrown(what, [=] {
        const Heap heap(device(), 1 << 16);
        const kma::Program program(device(), {{"mine.cl", "#include \"kma/kma.cl\"\n"
                                                          "kernel void mine(global kma_heap *heap, global uint *out)\n"
                                                          "{ *out = kma_ref_of(heap, kma_malloc(heap, 1)); }\n"}});
        cl::Kernel kernel = program.kernel("mine");
        heap.set_arg(kernel, 0);
        launch(kernel);
    });
}

void enqueue(const cl::Kernel &kernel, std::size_t work_items, std::size_t group)
{
    device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(work_items), cl::NDRange(group));
    device().queue().finish();
}

} // namespace

std::vector<Provocation> kernel_provocations()
{
    return {
        in_kernel("allocates until nothing is left", "while (kma_malloc(heap, 1000)) { }"),
        in_kernel("asks for more than the whole heap", "kma_malloc(heap, 1 << 30);"),
        in_kernel("asks for an alignment of 24", "kma_aligned_alloc(heap, 24, 100);"),
        in_kernel("frees the middle of a block", "kma_free(heap, (global char *)kma_malloc(heap, 100) + 16);"),
        in_kernel("frees twice",
                  "global void *block = kma_malloc(heap, 100); kma_free(heap, block); kma_free(heap, block);"),
        in_kernel("builds the program with debug, the heap without", "kma_malloc(heap, 1);", 1),
        in_kernel("writes a byte behind a block",
                  "global char *block = kma_malloc(heap, 100); block[100] = 1; kma_free(heap, block);", 2, 2),
        in_kernel("writes into a freed block, which leaves the quarantine",
                  "global char *block = kma_malloc(heap, 100); kma_free(heap, block); block[0] = 1;\n"
                  "for (int i = 0; i < 1024; i++) kma_free(heap, kma_malloc(heap, 100));",
                  2, 2),
        {"writes over the bitmap of a superblock",
         [] {
             const test::Town town(test::superblocks(4096));
             for (cl_uint bit = 0; bit < 64; bit++)
                 town.kernels.damage("set bit", 1, bit);
             town.kernels.allocate(1, 60);
             return std::vector{first_error(town.heap)};
         }},
        {"asks for the explanation of a number that is no code",
         [] { return std::vector<std::string>{kma::explain(static_cast<kma::ErrorCode>(99))}; }},
    };
}

std::vector<Provocation> opencl_provocations()
{
    return {
        launched("forgets an argument", [](cl::Kernel &kernel) { enqueue(kernel, 64, 64); }),
        launched("launches on a queue of another context",
                 [](cl::Kernel &kernel) {
                     kernel.setArg(1, cl::Buffer(device().context(), CL_MEM_READ_WRITE, 4));
                     kma::Device::select().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64));
                 }),
        launched("starts groups that do not divide the work-items",
                 [](cl::Kernel &kernel) {
                     kernel.setArg(1, cl::Buffer(device().context(), CL_MEM_READ_WRITE, 4));
                     enqueue(kernel, 100, 64);
                 }),
        launched("gives a number for a pointer", [](cl::Kernel &kernel) { kernel.setArg(1, cl_uint{1}); }),
        launched("gives an argument too many",
                 [](cl::Kernel &kernel) { kernel.setArg(2, cl::Buffer(device().context(), CL_MEM_READ_WRITE, 4)); }),
        thrown("makes a buffer of its own that is too large",
               [] { const cl::Buffer buffer(device().context(), CL_MEM_READ_WRITE, std::size_t{1} << 60); }),
        thrown("reads behind the end of a buffer",
               [] {
                   const cl::Buffer buffer(device().context(), CL_MEM_READ_WRITE, 4);
                   cl_ulong value;
                   device().queue().enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof value, &value);
               }),
    };
}

} // namespace messages
