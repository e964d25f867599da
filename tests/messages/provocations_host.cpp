// The host library's refusals.
#include <filesystem>
#include <limits>

#include "environment.hpp"
#include "heap_support.hpp"
#include "device/device_facts.hpp"
#include "heap/common/driver.hpp"
#include "heap/common/memory.hpp"
#include "provocations.hpp"
#include "selftest/gate.hpp"
#include "heap/superblock/plan.hpp"

namespace messages {
namespace {

using kma::Heap;
using kma::HeapKind;
using test::device;
using test::superblocks;

const std::string narrow = "-DKMA_HAS_ATOMIC64=0";

kma::Program program(const std::string &text, const kma::ProgramOptions &options = {},
                     const kma::Device &with = device())
{
    return kma::Program(with, {{"mine.cl", text}}, options);
}

cl::Kernel kernel(const std::string &text, const kma::ProgramOptions &options = {})
{
    return program(text, options).kernel("mine");
}

// What a program says that runs on devices of its own.
Provocation of_other_devices(const std::string &what, const std::string &argument)
{
    return {what, [=] { return std::vector{output_of(KMA_NATIVE_MISUSE " " + argument)}; }};
}

// Devices that this machine need not have: what decides takes facts.
void add_devices(std::vector<Provocation> &all)
{
    const auto unusable = [](const kma::DeviceFacts &facts) {
        kma::require_usable(facts, "Some platform / Some device");
    };
    all.insert(all.end(),
               {thrown("asks for a device by a name that none has", [] { kma::Device::select("no such device"); }),
                {"has no OpenCL driver",
                 [] {
                     return std::vector{output_of("env OCL_ICD_FILENAMES= OCL_ICD_VENDORS=" KMA_NO_DRIVERS
                                                  " " KMA_NO_DEVICE " | head -n 1 | tr -d '\\n'")};
                 }},
                {"has PoCL alone, which cannot write to its cache",
                 [] {
                     return std::vector{
                         output_of("env POCL_CACHE_DIR=/dev/null/cache " KMA_NO_DEVICE " | head -n 1")};
                 }},
                thrown("has a device that is taken",
                       [=] {
                           unusable({false, true, true, 64});
                       }),
                of_other_devices("brings a queue of a device without compiler", "compiler"),
                thrown("has a device without compiler",
                       [=] {
                           unusable({true, false, true, 64});
                       }),
                thrown("has a big-endian device",
                       [=] {
                           unusable({true, true, false, 64});
                       }),
                thrown("has a device of 32 bits",
                       [=] {
                           unusable({true, true, true, 32});
                       }),
                thrown("has a device that computes wrong",
                       [] {
                           const kma::Device wrong = kma::Device::select();
                           wrong.selftest_gate().replace([](const kma::Device &) -> std::vector<kma::SelftestResult> {
                               return {{"sums", kma::SelftestResult::Verdict::failed, "1 and 1 are 3"}};
                           });
                           Heap(wrong, 1 << 20);
                       }),
                thrown("sets KMA_SELFTEST to a word that it does not know",
                       [] {
                           const EnvironmentVariable variable("KMA_SELFTEST", "no");
                           Heap(kma::Device::select(), 1 << 20);
                       }),
                thrown("brings an out-of-order queue", [] {
                    kma::Device{cl::CommandQueue(device().context(), device().device(),
                                                 CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)};
                })});
}

void add_programs(std::vector<Provocation> &all)
{
    all.insert(
        all.end(),
        {thrown("writes a kernel that does not compile", [] { program("kernel void mine() { undeclared(); }\n"); }),
         thrown("gives an option that does not exist",
                [] { program("kernel void mine() {}\n", {.options = "-no-such-option"}); }),
         thrown("asks for a kernel that is not there", [] { program("kernel void yours() {}\n").kernel("mine"); }),
         thrown("mistypes a file of kma", [] { program("#include \"kma/malloc.cl\"\n"); }),
         thrown("includes a file in itself",
                [] {
                    program("#include \"a.h\"\n", {.headers = {{"a.h", "#include \"a.h\"\n"}}});
                }),
         thrown("names a source that is not there", [] { kma::Source::from_file("no such file.cl"); }),
         thrown("names a folder as source", [] { kma::Source::from_file(KMA_SCRATCH_DIR); })});
}

void add_sizes(std::vector<Provocation> &all)
{
    constexpr std::uint64_t gib = 1 << 30;
    all.insert(
        all.end(),
        {thrown("gives a number as kind", [] { Heap(device(), 1 << 20, {.kind = static_cast<HeapKind>(77)}); }),
         thrown("makes a bump heap of 1,000 bytes", [] { Heap(device(), 1000, {.kind = HeapKind::bump}); }),
         thrown("makes a superblock heap of 1,000 bytes", [] { Heap(device(), 1000, {.kind = HeapKind::superblock}); }),
         thrown("makes a scatter heap of 1,000 bytes", [] { Heap(device(), 1000, {.kind = HeapKind::scatter}); }),
         thrown("makes a slab heap of 1,000 bytes", [] { Heap(device(), 1000, {.kind = HeapKind::slab}); }),
         thrown("makes a heap beyond the reach of references", [] { Heap(device(), 65 * gib); }),
         thrown("makes a heap that may grow to less than it has", [] { Heap(device(), 1 << 20, {.max_bytes = 1000}); }),
         thrown("makes a heap that may grow beyond the reach of references",
                [] { Heap(device(), 1 << 20, {.max_bytes = 65 * gib}); }),
         thrown("makes a heap too small for the metadata that it may need one day",
                [] { Heap(device(), 1 << 20, {.max_bytes = 4 * gib}); }),
         of_other_devices("makes a heap larger than the device allows", "size"),
         // Drivers that serve larger buffers than they promise refuse none that references reach.
         thrown("makes a heap larger than a buffer",
                [] { kma::refuse_if_full(CL_INVALID_BUFFER_SIZE, 3 * gib, 2 * gib, "Some platform / Some device"); }),
         thrown("makes a heap when the device's memory is full",
                [] { kma::refuse_if_full(CL_MEM_OBJECT_ALLOCATION_FAILURE, gib, gib, "Some platform / Some device"); }),
         thrown("gives a wrong size of superblocks", [] { Heap(device(), 1 << 20, superblocks(5000)); }),
         thrown("gives a wrong size of super blocks",
                [] { Heap(device(), 1 << 20, {.kind = HeapKind::scatter, .superblock_bytes = 5000}); }),
         thrown("gives a wrong size of pages",
                [] { Heap(device(), 1 << 20, {.kind = HeapKind::scatter, .page_bytes = 2048}); }),
         thrown("makes more superblocks than 32 bits number",
                [] { Heap(device(), Heap::bytes_for(superblocks(4096), 65535 * 4096ull), superblocks(4096, narrow)); }),
         // A device of that size is needed to get there otherwise.
         thrown("makes a heap of 40 GiB without 64-bit atomics",
                [] { kma::superblock_plan::check_for_32_bits({}, 40 * gib, 2 << 20); }),
         thrown("asks how much blocks of 3 MiB need",
                [] {
                    Heap::bytes_for(superblocks(0), {{3 << 20, 1}});
                }),
         thrown("asks how much blocks of 9 MiB need",
                [] {
                    Heap::bytes_for({.kind = HeapKind::scatter}, {{9 << 20, 1}});
                }),
         thrown("asks a device for SVM that has none",
                [] { kma::HeapMemory::require_svm(false, "Some platform / Some device"); }),
         thrown("asks for more SVM than there is",
                [] { kma::HeapMemory(device(), std::uint64_t{1} << 60, kma::Storage::svm); }),
         thrown("makes a queue without places", [] { kma::IndexedQueue(device(), 0, 0); }),
         thrown("makes a queue longer than 16 bits number", [] { kma::IndexedQueue(device(), 70000, 0, 0, true); })});
}

void add_arguments(std::vector<Provocation> &all)
{
    const std::string takes_number = "kernel void mine(uint number, global uint *out) { *out = number; }\n";
    const std::string takes_heap =
        "#include \"kma/kma.cl\"\nkernel void mine(global kma_heap *heap) { kma_malloc(heap, 1); }\n";
    const auto set = [](cl::Kernel to, cl_uint index) { Heap(device(), 1 << 16).set_arg(to, index); };
    all.insert(
        all.end(),
        {thrown("gives a heap to an argument that is not there", [=] { set(kernel(takes_number), 2); }),
         thrown("gives a heap to a number", [=] { set(kernel(takes_number), 0); }),
         thrown("gives a heap to a pointer to local memory",
                [=] { set(kernel("kernel void mine(local uint *at) { *at = 0; }\n"), 0); }),
         thrown("gives a heap to a pointer to constant memory",
                [=] { set(kernel("kernel void mine(constant uint *at, global uint *out) { *out = *at; }\n"), 0); }),
         thrown("gives a heap to a sampler",
                [=] { set(kernel("kernel void mine(sampler_t sampler) { (void)sampler; }\n"), 0); }),
         thrown("gives a heap to an image",
                [=] { set(kernel("kernel void mine(read_only image2d_t image) { (void)image; }\n"), 0); }),
         thrown("uses a heap that was moved from",
                [] {
                    Heap heap(device(), 1 << 16);
                    const Heap other = std::move(heap);
                    heap.stats(); // NOLINT: that it was moved from is what this provokes
                }),
         of_other_devices("gives a heap to a kernel that is built for another device", "kernel"),
         thrown("gives a heap to a kernel for another kind",
                [=] { set(kernel(takes_heap, {.heap = HeapKind::bump}), 0); }),
         thrown("gives a heap to a kernel built with KMA_DEBUG", [=] { set(kernel(takes_heap, {.debug = 1}), 0); }),
         thrown("gives a heap a KMA_DEBUG of 4", [] { Heap(device(), 1 << 16, {.debug = 4}); }),
         thrown("selects a device for the heap and another time for the program",
                [=] { set(program(takes_heap, {}, kma::Device::select()).kernel("mine"), 0); }),
         thrown("makes a heap smaller", [] { Heap(device(), 1 << 16).grow(1 << 15); }),
         thrown("makes a heap larger that does not grow", [] { Heap(device(), 1 << 16).grow(1 << 17); }),
         thrown("makes a heap larger than it may become",
                [] { Heap(device(), 1 << 16, {.max_bytes = 1 << 17}).grow(1 << 18); }),
         thrown("asks a heap in SVM for its buffer",
                [] { Heap(device(), 1 << 16, {.storage = kma::Storage::svm}).buffer(); }),
         thrown("asks a heap in a buffer for its address", [] { Heap(device(), 1 << 16).svm(); }),
         thrown("maps ref 0", [] { Heap(device(), 1 << 16).map(0, 16); }),
         thrown("asks a bump heap for its leaks", [] { Heap(device(), 1 << 16, {.kind = HeapKind::bump}).leaks(); }),
         thrown("writes over a heap's head",
                [] {
                    const Heap heap(device(), 1 << 16);
                    const cl_uint wrong = 1;
                    device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, 0, sizeof wrong, &wrong);
                    heap.stats();
                }),
         thrown("follows a wrong ref", [] { Heap(device(), 1 << 16).snapshot().deref<int>(12345); })});
}

void add_array_lists(std::vector<Provocation> &all)
{
    using kma::ArrayList;
    static const auto list_of = [](cl_uint bytes, const kma::ArrayListOptions &options) {
        ArrayList(device(), Heap(device(), 1 << 16), bytes, options);
    };
    all.insert(
        all.end(),
        {thrown("makes an array list of nothing", [] { list_of(0, {}); }),
         thrown("makes an array list with a wrong alignment", [] { list_of(4, {.align = 24}); }),
         thrown("makes an array list with room for too many", [] { list_of(4, {.room = (1u << 30) + 1}); }),
         thrown("makes an array list larger than the heap", [] { list_of(1 << 16, {}); }),
         thrown("looks for an array list at ref 0", [] { ArrayList::at(device(), Heap(device(), 1 << 16), 0); }),
         thrown("reads an array list as another type",
                [] {
                    const Heap heap(device(), 1 << 16);
                    ArrayList(device(), heap, 4).read<cl_ulong>(heap);
                }),
         thrown("reads more of an array list than there is",
                [] {
                    const Heap heap(device(), 1 << 16);
                    ArrayList(device(), heap, 4).read<cl_uint>(heap, 0, 1);
                }),
         thrown("looks for an array list at ref 0 of a snapshot",
                [] { kma::ArrayListView(Heap(device(), 1 << 16).snapshot(), 0); }),
         thrown("looks beyond an array list's end",
                [] {
                    const Heap heap(device(), 1 << 16);
                    const ArrayList list(device(), heap, 4);
                    const kma::Snapshot snapshot = heap.snapshot();
                    kma::ArrayListView(snapshot, list.ref()).at<cl_uint>(0);
                }),
         thrown("asks for the size of an array list of too many blocks", [] { ArrayList::blocks_for(65537, 4, {.objects_per_block = 1}); }),
         thrown("adds more items to a work queue than a round may have",
                [] {
                    const Heap heap(device(), 1 << 16);
                    const cl_uchar none = 0; // nobody looks at them
                    kma::WorkQueue(device(), heap, 1).add(heap, std::span<const cl_uchar>(&none, (std::size_t{1} << 30) + 1));
                }),
         thrown("adds items of another size to a work queue",
                [] {
                    const Heap heap(device(), 1 << 16);
                    kma::WorkQueue(device(), heap, 4).add(heap, std::span<const cl_ulong>(std::vector<cl_ulong>(1)));
                }),
         thrown("makes a work queue in a heap without memory",
                [] {
                    kma::HeapOptions options;
                    options.kind = kma::HeapKind::bump;
                    kma::WorkQueue(device(), Heap(device(), 4096, options), 4);
                }),
         thrown("adds more items to a work queue than the heap has memory for",
                [] {
                    const Heap heap(device(), 1 << 16);
                    kma::WorkQueue(device(), heap, 4).add(heap, std::span<const cl_uint>(std::vector<cl_uint>(100000)));
                }),
         thrown("keeps a round of a work queue in a heap without memory",
                [] {
                    const Heap heap(device(), 1 << 16);
                    const kma::WorkQueue queue(device(), heap, 4, {.objects_per_block = 16});
                    for (;;)
                        queue.turn(heap, true);
                }),
         thrown("makes an arena with chunks that are too long",
                [] { kma::Arena(device(), Heap(device(), 1 << 16), {.most_chunk_bytes = (1 << 24) + 1}); }),
         thrown("makes an arena with room for more than a heap has",
                [] { kma::Arena(device(), Heap(device(), 1 << 16), {.room = 1 << 17}); }),
         thrown("makes an arena in a heap without memory",
                [] {
                    kma::HeapOptions options;
                    options.kind = kma::HeapKind::bump;
                    const Heap heap(device(), 1 << 12, options);
                    for (;;)
                        kma::Arena(device(), heap);
                }),
         thrown("writes over an array list", [] {
             const Heap heap(device(), 1 << 16);
             const ArrayList list(device(), heap, 4);
             {
                 const kma::MappedRange words = heap.map(list.ref(), 1064);
                 words.as<cl_uint>()[7] = 1;   // the size
                 words.as<cl_uint>()[265] = 0; // the first block
             }
             const kma::Snapshot snapshot = heap.snapshot();
             kma::ArrayListView(snapshot, list.ref()).at<cl_uint>(0);
         })});
}

} // namespace

std::vector<Provocation> host_provocations()
{
    std::vector<Provocation> all;
    add_devices(all);
    add_programs(all);
    add_sizes(all);
    add_arguments(all);
    add_array_lists(all);
    return all;
}

} // namespace messages
