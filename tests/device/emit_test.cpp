// The single files for programs without this library, used as those programs do: with OpenCL's own calls only.
#include <algorithm>
#include <map>
#include <numeric>
#include <regex>

#include "catch.hpp"
#include "heap_support.hpp"
#include "heap/common/layout.hpp"

using kma::HeapKind;
using test::Array;
using test::device;
using test::launch;

namespace {

constexpr const char *user_kernel = R"(
typedef struct item { kma_ref next; uint value; } item;
kernel void push(global kma_heap *heap, global kma_atomic_ref *list, uint first_value)
{
    global item *mine = KMA_NEW(heap, item);
    if (!mine)
        return;
    mine->value = first_value + get_global_id(0);
    kma_ref first = kma_ref_load_acquire(list);
    do {
        mine->next = first;
        first = kma_ref_cas(list, mine->next, kma_ref_of(heap, mine));
    } while (first != mine->next);
}
)";

cl::Program build(const std::string &text, const std::string &options = {})
{
    cl::Program program(device().context(), text);
    program.build(device().device(), options.c_str());
    return program;
}

std::string kernel_name(HeapKind kind, const std::string &what)
{
    return std::string("kma_") + name_of(kind) + "_" + what + "_kernel";
}

// As the head of the file has it.
std::uint64_t superblock_heap_bytes(std::uint64_t superblocks, unsigned shift)
{
    const std::uint64_t size = 16ull << shift;
    return superblocks * (size + size / 128 + 40) + 16384;
}

std::uint64_t slab_heap_bytes(std::uint64_t frames)
{
    return frames * 8342 + 16384;
}

std::vector<cl_uint> words_of(const cl::Buffer &buffer)
{
    std::vector<cl_uint> words(buffer.getInfo<CL_MEM_SIZE>() / sizeof(cl_uint));
    device().queue().enqueueReadBuffer(buffer, CL_TRUE, 0, words.size() * sizeof(cl_uint), words.data());
    return words;
}

cl::Buffer buffer_of(std::uint64_t bytes)
{
    return {device().context(), CL_MEM_READ_WRITE, bytes};
}

std::vector<cl_ulong> stats_of(const cl::Program &program, HeapKind kind, const cl::Buffer &heap)
{
    const Array<cl_ulong> stats(18, 1);
    launch(program, kernel_name(kind, "stats"), {64, 64}, heap, stats);
    return stats.read();
}

cl_ulong errors_in(const std::vector<cl_ulong> &stats)
{
    return std::accumulate(stats.begin() + 9, stats.end(), cl_ulong{0});
}

// The values of the list that begins at list[0], which has `most` items at most.
std::vector<cl_uint> walk(const cl::Buffer &heap, const Array<cl_uint> &list, std::size_t most)
{
    const std::vector<cl_uint> memory = words_of(heap);
    std::vector<cl_uint> values;
    for (cl_uint ref = list.read()[0]; ref != 0 && values.size() <= most; ref = memory[ref * 4])
        values.push_back(memory[ref * 4 + 1]);
    return values;
}

// Prepares a heap of bytes, or by "init_growing" of bytes and max_bytes. Superblocks and pages have
// 4 KiB, regions 8 MiB; cursors are as usual.
template <class... Bytes>
void prepare(const cl::Program &program, HeapKind kind, const char *how, const cl::Buffer &heap,
             Bytes... bytes)
{
    const std::string kernel = kernel_name(kind, how);
    if (kind == HeapKind::bump)
        launch(program, kernel, {64, 64}, heap, bytes...);
    else if (kind == HeapKind::scatter)
        launch(program, kernel, {64, 64}, heap, bytes..., cl_uint{8}, cl_uint{11});
    else
        launch(program, kernel, {64, 64}, heap, bytes..., kind == HeapKind::superblock ? 8u : 0u);
}

} // namespace

TEST_CASE("a single file needs no other, and says how to use it", "[emit]")
{
    for (const HeapKind kind : kma::heap_kinds) {
        const std::string text = kma::emit(kind);
        CHECK(text.find("\n#include") == std::string::npos);
        CHECK(text.find("\n#line") == std::string::npos);
        CHECK(std::ranges::all_of(text, [](unsigned char c) { return c < 128; })); // some readers take nothing else
        CHECK_THAT(text, contains(std::string("kma emit --heap ") + name_of(kind)) && contains(kma::version()) &&
                             contains("SPDX-License-Identifier: MIT"));
        for (const HeapKind other : kma::heap_kinds)
            CHECK((text.find(std::string("kma_") + name_of(other) + "_malloc") == std::string::npos) ==
                  (kind != other));
        CHECK(text.size() < (kind == HeapKind::slab ? 315'000 : 205'000));
        std::map<std::string, int> files; // how often each is in there, by its include guard
        const std::regex guard(R"(\n#define (KMA_\w+_CL)(?=\n))");
        for (std::sregex_iterator found(text.begin(), text.end(), guard), end; found != end; ++found)
            files[(*found)[1]]++;
        CHECK(files.size() > 20);
        CHECK(std::ranges::all_of(files, [](const auto &each) { return each.second == 1; }));
    }
}

TEST_CASE("a program of a single file and OpenCL's own calls builds a list", "[emit][long]")
{
    const HeapKind kind = GENERATE(from_range(std::begin(kma::heap_kinds), std::end(kma::heap_kinds)));
    const std::string options = GENERATE("", "-DKMA_DEBUG=1", "-cl-std=CL1.2", "default");
    INFO(name_of(kind) << ", " << options);
    const cl::Program program =
        build(kma::emit(kind) + user_kernel,
              (options == "default" ? device().language_option() : options) + device().target_options());
    constexpr cl_uint items = 1024; // of 16 bytes: four superblocks of 4 KiB, one more as told; two frames
    const cl_ulong bytes = kind == HeapKind::bump   ? 2688 + items * 32
                           : kind == HeapKind::slab ? slab_heap_bytes(2)
                                                    : superblock_heap_bytes(5, 8);
    const cl::Buffer heap = buffer_of(bytes);
    prepare(program, kind, "init", heap, bytes);

    const Array<cl_uint> list(1, 0);
    // Slab: the blocks fill the heap, which is promised to lone callers only: one group after the other.
    const cl_uint at_once = kind == HeapKind::slab ? 64 : items;
    for (cl_uint first = 0; first < items; first += at_once)
        launch(program, "push", {at_once, 64}, heap, list, first);
    const std::vector<cl_ulong> stats = stats_of(program, kind, heap);
    CHECK(stats[0] == bytes);
    CHECK(stats[2] == items * (kind == HeapKind::bump && options == "-DKMA_DEBUG=1" ? 32 : 16)); // used
    CHECK(errors_in(stats) == 0);
    if (kind != HeapKind::bump)
        CHECK(stats[3] == items);
    std::vector<cl_uint> values = walk(heap, list, items), all(items);
    std::ranges::sort(values);
    std::iota(all.begin(), all.end(), 0u);
    CHECK(values == all);

    launch(program, kernel_name(kind, "reset"), {64, 64}, heap);
    CHECK(stats_of(program, kind, heap)[2] == 0);
}

TEST_CASE("a heap of a single file grows by OpenCL's own calls", "[emit][long]")
{
    for (const HeapKind kind : kma::heap_kinds) {
        const cl::Program program = build(kma::emit(kind) + user_kernel);
        const bool is_slab = kind == HeapKind::slab;
        const cl_ulong more = 8 * (is_slab ? 8192 : 4096); // superblocks, pages or frames
        const cl_ulong most = is_slab ? slab_heap_bytes(9) : superblock_heap_bytes(9, 8);
        const cl_ulong at_first = most - more;
        const Array<cl_uint> list(1, 0);
        const cl::Buffer heap = buffer_of(at_first), larger = buffer_of(most);
        prepare(program, kind, "init_growing", heap, at_first, most);
        const cl_ulong capacity = stats_of(program, kind, heap)[1];
        launch(program, "push", {128, 64}, heap, list, cl_uint{0});
        device().queue().enqueueCopyBuffer(heap, larger, 0, 0, at_first);
        for (const cl_ulong bytes : {most + 1, most}) // the first is too much
            launch(program, kernel_name(kind, "grow"), {64, 64}, larger, bytes);
        launch(program, "push", {1536, 64}, larger, list, cl_uint{128});
        std::vector<cl_ulong> stats = stats_of(program, kind, larger);
        CHECK(errors_in(stats) == 0);
        stats.resize(3);
        CHECK(stats == std::vector<cl_ulong>{most, capacity + more, 1664 * 16});
        CHECK(walk(larger, list, 1664).size() == 1664);
    }
}

TEST_CASE("a heap without room, or with wrong shifts, refuses every request", "[emit][long]")
{
    const std::uint64_t four = superblock_heap_bytes(4, 8), least = sizeof(kma::layout::kma_slab);
    const struct {
        HeapKind kind;
        cl_ulong bytes;
        cl_uint shift, super_shift; // of a slab heap the cursors
    } cases[] = {
        {HeapKind::superblock, 10752, 8, 0},   {HeapKind::superblock, 11000, 8, 0},
        {HeapKind::superblock, four, 7, 0},    {HeapKind::superblock, four, 18, 0},
        {HeapKind::scatter, 4224, 8, 11},      {HeapKind::scatter, 8000, 8, 11},
        {HeapKind::scatter, 1 << 20, 7, 11},   {HeapKind::scatter, 1 << 20, 11, 11},
        {HeapKind::scatter, 1 << 20, 8, 17},   {HeapKind::slab, least, 16, 0},
        {HeapKind::slab, least + 4000, 16, 0}, {HeapKind::slab, kma::Heap::bytes_for(HeapKind::slab, 1) - 1, 16, 0}};
    for (const auto &[kind, bytes, shift, super_shift] : cases) {
        INFO(name_of(kind) << ", " << bytes << " bytes, shifts " << shift << " and " << super_shift);
        const cl::Program program = build(kma::emit(kind) + user_kernel);
        const Array<cl_uint> list(1, 0);
        const cl::Buffer heap = buffer_of(bytes);
        if (kind == HeapKind::scatter)
            launch(program, kernel_name(kind, "init"), {64, 64}, heap, bytes, shift, super_shift);
        else
            launch(program, kernel_name(kind, "init"), {64, 64}, heap, bytes, shift);
        launch(program, "push", {64, 64}, heap, list, cl_uint{0});
        launch(program, kernel_name(kind, "reset"), {64, 64}, heap); // which changes nothing
        launch(program, "push", {64, 64}, heap, list, cl_uint{0});
        std::vector<cl_ulong> expected(18, 0);
        expected[0] = bytes;
        expected[9 + static_cast<int>(kma::ErrorCode::too_large)] = 128;
        CHECK(stats_of(program, kind, heap) == expected);
        CHECK(list.read()[0] == 0);
    }
}

TEST_CASE("a slab heap has the usual number of cursors if it is given an impossible one", "[emit]")
{
    const cl::Program program = build(kma::emit(HeapKind::slab));
    constexpr std::size_t field = offsetof(kma::layout::kma_slab, plan.cursors) / sizeof(cl_uint);
    const cl_ulong bytes = slab_heap_bytes(64 * 40); // enough for more than there may be
    const std::pair<cl_uint, cl_uint> cases[] = {{0, 16}, {1, 1}, {22, 22}, {32, 32}, {33, 16}, {~0u, 16}};
    for (const auto &[given, made] : cases) {
        INFO(given << " cursors");
        const cl::Buffer heap = buffer_of(bytes);
        launch(program, kernel_name(HeapKind::slab, "init"), {1024, 64}, heap, bytes, given);
        CHECK(words_of(heap)[field] == made);
    }
}

TEST_CASE("the statistics of a buffer that is no heap are zeros", "[emit]")
{
    for (const HeapKind kind : kma::heap_kinds)
        CHECK(stats_of(build(kma::emit(kind)), kind, Array<cl_uint>(20000, 0x12345678).buffer()) ==
              std::vector<cl_ulong>(18, 0));
}

TEST_CASE("the size rules of the superblock and slab heaps' single files suffice", "[emit]")
{
    for (unsigned shift = 8; shift <= 17; shift++)
        for (const std::uint64_t n : {1ull, 2ull, 31ull, 33ull, 100ull, 1000ull, 65534ull, 65537ull, 1ull << 20}) {
            INFO("shift " << shift << ", " << n << " superblocks");
            const std::uint64_t exact = kma::Heap::bytes_for(test::superblocks(16ull << shift), n * (16ull << shift));
            CHECK(superblock_heap_bytes(n, shift) >= exact);
            CHECK(superblock_heap_bytes(n, shift) - exact <= 16384 + exact / 500); // and is not far from it
        }
    for (const std::uint64_t n :
         {1ull, 2ull, 31ull, 33ull, 64ull, 1000ull, 8192ull, 70000ull, 1ull << 20, 4000000ull}) {
        INFO(n << " frames");
        const std::uint64_t exact = kma::Heap::bytes_for(HeapKind::slab, n * 8192);
        CHECK(slab_heap_bytes(n) >= exact);
        CHECK(slab_heap_bytes(n) - exact <= 32768 + exact / 1000); // and are not far from it
        kma::HeapOptions grows{.kind = HeapKind::slab};
        grows.max_bytes = kma::Heap::bytes_for(grows, 2 * n * 8192);
        CHECK(n * 8192 + 2 * n * 150 + 16384 >= kma::Heap::bytes_for(grows, n * 8192));
    }
}

TEST_CASE("single files of two kinds in one program are refused, the same one twice is not", "[emit]")
{
    const std::string bump = kma::emit(HeapKind::bump);
    CHECK_NOTHROW(build(bump + bump));
    const std::string both = bump + kma::emit(HeapKind::superblock);
    try {
        build(both);
        FAIL("it was built");
    } catch (const cl::BuildError &error) {
        CHECK_THAT(error.getBuildLog().at(0).second, contains("a program takes one of kma's single files"));
    }
}
