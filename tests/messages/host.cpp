// What the host library refuses: devices, programs, heaps, containers and heap files.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "catalogue.hpp"
#include "catch.hpp"
#include "device/device_facts.hpp"
#include "device/internals.hpp"
#include "environment.hpp"
#include "heap/common/driver.hpp"
#include "heap/common/file.hpp"
#include "heap/common/memory.hpp"
#include "heap/superblock/plan.hpp"
#include "heap_support.hpp"
#include "lockfree/indexed_queue.hpp"

namespace {

using namespace kma;
using namespace messages;
using test::device;
using test::superblocks;

constexpr std::uint64_t gib = 1 << 30;

Program program(const std::string &text, const ProgramOptions &options = {},
                const Device &with = device())
{
    return Program(with, {{"mine.cl", text}}, options);
}

} // namespace

TEST_CASE("messages: Device", "[messages]")
{
    Section section("Device");
    section.runs_commands();
    PROVOKE(Device::select("no such device"));
    for (int lacking = 0; lacking < 4; lacking++) // one of the four facts
        PROVOKE(require_usable({lacking != 0, lacking != 1, lacking != 2, lacking == 3 ? 32u : 64u},
                               some_device));
    section.throws([] {
        const Device wrong = Device::select();
        DeviceInternals::selftest_gate(wrong).replace(
            [](const Device &) -> std::vector<SelftestResult> {
                return {{"sums", SelftestResult::Verdict::failed, "1 and 1 are 3"}};
            });
        Heap(wrong, 1 << 20);
    });
    section.throws([] {
        const EnvironmentVariable variable("KMA_SELFTEST", "no");
        Heap(Device::select(), 1 << 20);
    });
    PROVOKE(Device{cl::CommandQueue(device().context(), device().device(),
                                    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)});
}

TEST_CASE("messages: Program", "[messages]")
{
    Section section("Program");
    PROVOKE(program("kernel void mine() { undeclared(); }\n"));
    PROVOKE(program("kernel void mine() {}\n", {.options = "-no-such-option"}));
    PROVOKE(program("kernel void yours() {}\n").kernel("mine"));
}

TEST_CASE("messages: Source and expand", "[messages]")
{
    Section section("Source and expand");
    PROVOKE(program("#include \"kma/malloc.cl\"\n"));
    PROVOKE(program("#include \"a.h\"\n", {.headers = {{"a.h", "#include \"a.h\"\n"}}}));
    PROVOKE(Source::from_file("no such file.cl"));
    PROVOKE(Source::from_file(KMA_SCRATCH_DIR));
}

TEST_CASE("messages: sizes and options of heaps", "[messages]")
{
    Section section("Heap: sizes and options");
    section.runs_commands();
    PROVOKE(Heap(device(), 1 << 20, {.kind = static_cast<HeapKind>(77)}));
    for (const HeapKind kind : heap_kinds)
        PROVOKE(Heap(device(), 1000, {.kind = kind}));
    PROVOKE(Heap(device(), 65 * gib));
    PROVOKE(Heap(device(), 1 << 20, {.max_bytes = 1000}));
    PROVOKE(Heap(device(), 1 << 20, {.max_bytes = 65 * gib}));
    PROVOKE(Heap(device(), 1 << 20, {.max_bytes = 4 * gib})); // metadata for growth
    // Drivers that serve larger buffers than they promise refuse none that references reach.
    PROVOKE(refuse_if_full(CL_INVALID_BUFFER_SIZE, 3 * gib, 2 * gib, some_device));
    PROVOKE(refuse_if_full(CL_MEM_OBJECT_ALLOCATION_FAILURE, gib, gib, some_device));
    PROVOKE(Heap(device(), 1 << 20, superblocks(5000)));
    PROVOKE(
        Heap(device(), 1 << 20, {.kind = HeapKind::scatter, .scatter = {.region_bytes = 5000}}));
    PROVOKE(Heap(device(), 1 << 20, {.kind = HeapKind::scatter, .scatter = {.page_bytes = 2048}}));
    PROVOKE(Heap(device(), Heap::bytes_for(superblocks(4096), 65535 * 4096),
                 superblocks(4096, "-DKMA_HAS_ATOMIC64=0")));
    PROVOKE(superblock_plan::check_for_32_bits({}, 40 * gib, 2 << 20));
    PROVOKE(Heap::bytes_for(superblocks(0), {{3 << 20, 1}}));
    PROVOKE(Heap::bytes_for({.kind = HeapKind::scatter}, {{9 << 20, 1}}));
    PROVOKE(HeapMemory::require_svm(false, some_device));
    PROVOKE(HeapMemory(device(), std::uint64_t{1} << 60, Storage::svm));
}

TEST_CASE("messages: use of heaps", "[messages]")
{
    Section section("Heap: use");
    section.runs_commands();
    const Heap heap(device(), 1 << 16);
    const auto set = [&](cl::Kernel kernel, cl_uint index = 0) { heap.set_arg(kernel, index); };
    for (const char *parameter :
         {"uint x", "local uint *x", "constant uint *x", "sampler_t x", "read_only image2d_t x"})
        PROVOKE(set(program("kernel void mine(" + std::string(parameter) + ") { (void)x; }\n")
                        .kernel("mine")));
    const std::string text = "#include \"kma/kma.cl\"\nkernel void mine(global kma_heap *heap) { "
                             "kma_malloc(heap, 1); }\n";
    PROVOKE(set(program(text).kernel("mine"), 2));
    PROVOKE(set(program(text, {.heap = HeapKind::bump}).kernel("mine")));
    PROVOKE(set(program(text, {.debug = 1}).kernel("mine")));
    PROVOKE(set(program(text, {}, Device::select()).kernel("mine")));
    PROVOKE(Heap(device(), 1 << 16, {.debug = 4}));
    PROVOKE(Heap(device(), 1 << 16).grow(1 << 15));
    PROVOKE(Heap(device(), 1 << 16).grow(1 << 17));
    PROVOKE(Heap(device(), 1 << 16, {.max_bytes = 1 << 17}).grow(1 << 18));
    PROVOKE(Heap(device(), 1 << 16, {.storage = Storage::svm}).buffer());
    PROVOKE(heap.svm());
    PROVOKE(heap.map(0, 16));
    PROVOKE(Heap(device(), 1 << 16, {.kind = HeapKind::bump}).leaks());
    PROVOKE(heap.snapshot().deref<int>(12345));
    section.throws([] {
        Heap moved(device(), 1 << 16);
        const Heap other = std::move(moved);
        moved.stats(); // NOLINT: that it was moved from is what this provokes
    });
    Damage(heap.buffer()).write(0, cl_uint{1});
    PROVOKE(heap.stats());
}

TEST_CASE("messages: containers", "[messages]")
{
    Section section("Containers");
    const Heap heap(device(), 1 << 16);
    const ArrayList list(heap, 4);
    PROVOKE(ArrayList(heap, 0));
    PROVOKE(ArrayList(heap, 4, {.align = 24}));
    PROVOKE(ArrayList(heap, 4, {.room = (1u << 30) + 1}));
    PROVOKE(ArrayList(heap, 1 << 16));
    PROVOKE(ArrayList::at(heap, 0));
    PROVOKE(ArrayList::blocks_for(65537, 4, {.objects_per_block = 1}));
    section.throws([] {
        Heap replaced(device(), 1 << 16);
        const ArrayList orphan(replaced, 4);
        replaced = Heap(device(), 1 << 16);
        orphan.size();
    });
    PROVOKE(list.read<cl_ulong>());
    PROVOKE(list.read<cl_uint>(0, 1));
    PROVOKE(ArrayListView(heap.snapshot(), 0));
    const auto view_first = [&] {
        const Snapshot snapshot = heap.snapshot();
        ArrayListView(snapshot, list.ref()).at<cl_uint>(0);
    };
    section.throws(view_first);
    {
        const MappedRange words = heap.map(list.ref(), 1064);
        words.as<cl_uint>()[7] = 1;   // the size
        words.as<cl_uint>()[265] = 0; // the first block
    }
    section.throws(view_first);

    const WorkQueue queue(heap, 4, {.objects_per_block = 16});
    const std::vector<cl_uint> numbers(100000);
    const cl_uchar none = 0; // nothing reads the items
    PROVOKE(WorkQueue(heap, 1).add(std::span(&none, (std::size_t{1} << 30) + 1)));
    PROVOKE(queue.add(std::span<const cl_ulong>(std::vector<cl_ulong>(1))));
    PROVOKE(queue.add(std::span(numbers)));
    PROVOKE(for (;;) queue.turn(true));
    const Heap tiny(device(), 4096, {.kind = HeapKind::bump});
    PROVOKE(WorkQueue(tiny, 4));
    PROVOKE(Arena(tiny, {.most_chunk_bytes = (1 << 24) + 1}));
    PROVOKE(Arena(tiny, {.room = 1 << 17}));
    PROVOKE(for (;;) Arena{tiny});
    PROVOKE(IndexedQueue(device(), 0, 0));
    PROVOKE(IndexedQueue(device(), 70000, 0, 0, true));
}

TEST_CASE("messages: heap files", "[messages]")
{
    namespace fs = std::filesystem;
    Section section("Heap files");
    const fs::path scratch = KMA_SCRATCH_DIR, path = scratch / "messages.kma",
                   folder = scratch / "folder.kma", loop = scratch / "loop.kma";
    const Heap heap(device(), 1 << 20, superblocks(4096));
    PROVOKE(heap.save(scratch / "no such folder" / "heap.kma"));
    fs::create_directories(folder / "within");
    PROVOKE(heap.save(folder));
    fs::remove(loop);
    fs::create_symlink("loop.kma", loop);
    PROVOKE(heap.save(loop));
    PROVOKE(Heap::load(device(), "no such file.kma"));

    heap.save(path);
    std::ifstream file(path, std::ios::binary);
    const std::string whole(std::istreambuf_iterator<char>(file), {});
    const auto load = [&](const std::string &bytes) {
        section.throws([&] {
            std::ofstream(path, std::ios::binary) << bytes;
            Heap::load(device(), path);
        });
    };
    const auto load_with = [&](std::size_t at, std::uint32_t value) {
        std::string bytes = whole;
        std::memcpy(bytes.data() + at, &value, sizeof value);
        load(bytes);
    };
    const std::string shorter = whole.substr(0, whole.size() - 1);
    load(std::string(1000, 'x'));
    load(whole.substr(0, 30));
    load(shorter);
    load(whole + "x");
    section.throws([&] { // another program makes it shorter at that moment
        std::istringstream stream(shorter);
        load_heap(device(), stream, whole.size(), "heap.kma", Storage::buffer, {});
    });
    load_with(8, 9);                                           // the version
    load_with(24, static_cast<unsigned char>(whole[24]) ^ 1u); // the width of atomics
    load_with(48, 1234);                                       // superblock_bytes
    load_with(56, 1 << 30);                                    // the number of ranges
    load_with(64 + 8, 2 << 20);                                // the first range
    load_with(80, 1);                                          // the heap's own bytes
}
