// The host's side of a heap: sizes, books, copies, mapped ranges and programs. Of bump heaps where the kind is all one.
#include <algorithm>
#include <array>

#include "catch.hpp"
#include "heap_support.hpp"

using kma::ErrorCode;
using kma::Heap;
using kma::HeapKind;
using kma::Storage;
using test::device;
using test::Kernels;
using test::storages;

namespace {

const auto bump = HeapKind::bump;
const std::uint64_t metadata = Heap::bytes_for(bump, 0);

struct BumpHeap {
    explicit BumpHeap(std::uint64_t payload, Storage storage = Storage::buffer)
        : heap(device(), Heap::bytes_for(bump, payload), {bump, storage}), kernels(heap)
    {
    }

    kma::Ref take(std::uint64_t bytes) const { return kernels.allocate({bytes})[0]; }

    Heap heap;
    Kernels kernels;
};

} // namespace

TEST_CASE("a fresh heap is empty", "[heap]")
{
    for (const Storage storage : storages()) {
        const Heap heap(device(), Heap::bytes_for(bump, 1000), {bump, storage});
        const kma::HeapStats stats = heap.stats();
        CHECK(stats.kind == bump);
        CHECK(stats.debug == 0);
        CHECK(stats.bytes == Heap::bytes_for(bump, 1000));
        CHECK(stats.capacity == 1008);
        CHECK(stats.used == 0);
        CHECK(stats.available() == 1008);
        CHECK(stats.errors == decltype(stats.errors){});
        CHECK(heap.errors().empty());
        CHECK(heap.error_text() == "");
        const kma::Snapshot snapshot = heap.snapshot();
        CHECK(snapshot.copied_bytes() == 0);
        CHECK(snapshot.deref<int>(0) == nullptr);
        CHECK_THROWS_AS(snapshot.deref<int>(static_cast<kma::Ref>(metadata / 16)), kma::Error);
    }
}

TEST_CASE("bytes_for leaves the payload, and heaps of impossible sizes are refused", "[heap]")
{
    CHECK(metadata % 16 == 0);
    for (const std::uint64_t payload : {1ull, 16ull, 17ull, 1000ull, 1000000ull})
        CHECK(Heap::bytes_for(bump, payload) == metadata + (payload + 15) / 16 * 16);
    CHECK(Heap(device(), metadata + 64 + 15, {bump}).stats().capacity == 64); // the rest above a multiple of 16 is lost
    const auto message = [](std::uint64_t bytes, int debug) {
        return message_of<kma::Error>([&] { Heap(device(), bytes, {bump, Storage::buffer, debug}); });
    };
    CHECK_THAT(message(0, 0), contains("0 bytes") && contains("too small") && contains(std::to_string(metadata + 16)));
    CHECK_THAT(message(metadata + 15, 0), contains("too small"));
    CHECK(message(metadata + 16, 0) == "no error");
    CHECK_THAT(message(metadata + 31, 1), contains("too small") && contains(std::to_string(metadata + 32)));
    CHECK(message(metadata + 32, 1) == "no error");
    CHECK_THAT(message((1ull << 36) - 31, 0), contains("too large") && contains("references"));
    CHECK_THAT(message(~0ull, 0), contains("too large"));
    const std::uint64_t largest = device().max_buffer_bytes();
    if (largest < (1ull << 36) - 32)
        CHECK_THAT(message(largest + 1, 0), contains("too large") && contains(std::to_string(largest)));
}

TEST_CASE("blocks are in the books and in the snapshot", "[heap]")
{
    for (const Storage storage : storages()) {
        const BumpHeap it(4096, storage);
        const kma::Ref first = it.take(20), second = it.take(16);
        CHECK(first == metadata / 16);
        CHECK(second == first + 2);
        CHECK(it.heap.stats().used == 48);
        if (storage == Storage::svm)
            CHECK(it.kernels.address(second) ==
                  reinterpret_cast<std::uintptr_t>(it.heap.svm()) + second * kma::ref_unit);
        it.heap.map(first, 4).as<cl_uint>()[0] = 1234;
        it.heap.map(second, 4).as<cl_uint>()[0] = 5678;
        const kma::Snapshot snapshot = it.heap.snapshot();
        it.heap.map(first, 4).as<cl_uint>()[0] = 1; // the copy stays
        CHECK(*snapshot.deref<cl_uint>(first) == 1234);
        CHECK(*snapshot.deref<cl_uint>(second) == 5678);
        CHECK(snapshot.copied_bytes() == 48);
        CHECK(snapshot.end() == metadata + 48);
        CHECK(snapshot.bytes(first, 48).size() == 48);
        CHECK_THROWS_AS(snapshot.bytes(first, 49), kma::Error);
        CHECK_THROWS_AS(snapshot.deref<char>(first - 1), kma::Error); // metadata
    }
}

TEST_CASE("a snapshot refuses refs that lead outside, or between its ranges", "[heap]")
{
    struct Wide {
        char bytes[32];
    };
    const kma::Snapshot snapshot({{0, std::vector<std::byte>(100)}});
    CHECK(snapshot.deref<Wide>(0) == nullptr);
    CHECK(snapshot.bytes(0, 5).empty());
    CHECK(reinterpret_cast<const std::byte *>(snapshot.deref<Wide>(4)) == snapshot.extents()[0].bytes.data() + 64);
    CHECK_THAT(message_of<kma::Error>([&] { snapshot.deref<Wide>(5); }),
               contains("ref 5") && contains("bytes 0 to 100"));
    CHECK(snapshot.deref<cl_uint>(6) != nullptr);
    CHECK_THROWS_AS(snapshot.deref<cl_uint>(7), kma::Error);
    CHECK_THROWS_AS(snapshot.deref<char>(0xffffffff), kma::Error);
    CHECK_THROWS_AS(kma::Snapshot({}).deref<char>(1), kma::Error);
    CHECK(kma::Snapshot({}).end() == 0);

    const kma::Snapshot several(
        {{64, std::vector<std::byte>(32, std::byte{1})}, {160, std::vector<std::byte>(16, std::byte{2})}});
    CHECK(several.copied_bytes() == 48);
    CHECK(several.end() == 176);
    CHECK(*several.deref<char>(4) == 1);
    CHECK(*several.deref<char>(5) == 1);
    std::array<char, 16> twos;
    twos.fill(2);
    CHECK(*several.deref<std::array<char, 16>>(10) == twos);
    for (const kma::Ref outside : {3u, 6u, 9u, 11u, 0xffffffffu})
        CHECK_THAT(message_of<kma::Error>([&] { several.deref<char>(outside); }),
                   contains("ref " + std::to_string(outside)) && contains("2 ranges in bytes 64 to 176"));
    CHECK_THROWS_AS(several.bytes(5, 17), kma::Error); // its first 16 are there
}

TEST_CASE("what the host writes into a mapped range kernels read, and back", "[heap]")
{
    for (const Storage storage : storages()) {
        const BumpHeap it(4096, storage);
        const kma::Ref ref = it.kernels.push(0, 3);
        {
            kma::MappedRange range = it.heap.map(ref, 16);
            REQUIRE(range.bytes().size() == 16);
            REQUIRE(range.as<cl_uint>().size() == 4);
            CHECK(range.as<test::Item>()[0].number == 2);
            range.as<test::Item>()[0].number = 22;
        }
        CHECK(it.kernels.sum(ref) == 22 + 1);
        // A range that moves is unmapped once, and one that is assigned to first.
        kma::MappedRange a = it.heap.map(ref, 16);
        kma::MappedRange b = std::move(a);
        b.as<test::Item>()[0].number = 33;
        b = it.heap.map(ref - 1, 16);
        b.as<test::Item>()[0].number = 44;
        {
            const kma::MappedRange c = std::move(b);
        }
        CHECK(it.kernels.sum(ref) == 33 + 44);
    }
}

TEST_CASE("only ranges within the heap can be mapped", "[heap]")
{
    for (const Storage storage : storages()) {
        const Heap heap(device(), Heap::bytes_for(bump, 4096), {bump, storage});
        const auto first = static_cast<kma::Ref>(metadata / 16);
        CHECK_NOTHROW(heap.map(first, 4096));
        CHECK_NOTHROW(heap.map(first + 255, 16));
        CHECK_THAT(message_of<kma::Error>([&] { heap.map(0, 16); }), contains("ref 0"));
        const std::pair<kma::Ref, std::uint64_t> bad[] = {{first - 1, 16},  {first, 0},       {first, 4097},
                                                          {first + 256, 1}, {0xffffffff, 16}, {first, ~0ull}};
        for (const auto &[ref, bytes] : bad)
            CHECK_THROWS_AS(heap.map(ref, bytes), kma::Error);
    }
}

TEST_CASE("errors are counted, the first eight kept, and written out; clear_errors empties the log", "[heap]")
{
    BumpHeap it(64);
    for (int round = 0; round < 2; round++) {
        CHECK(it.take(64) != 0);
        for (int i = 1; i <= 10; i++)
            CHECK(it.take(16) == 0);
        CHECK(it.take(65) == 0);
        CHECK(it.heap.error_count(ErrorCode::out_of_memory) == 10);
        CHECK(it.heap.error_count(ErrorCode::too_large) == 1);
        const std::vector<kma::ErrorRecord> records = it.heap.errors();
        REQUIRE(records.size() == 9);
        CHECK(records[7].code == ErrorCode::out_of_memory);
        CHECK(records[7].size == 16);
        CHECK(records[8].code == ErrorCode::too_large);
        CHECK(records[8].size == 65);
        const std::string text = it.heap.error_text();
        CHECK_THAT(text, contains("10 x out of memory") && contains("1 x request too large") &&
                             contains("work-item 0") && contains("size 65"));
        CHECK(std::ranges::count(text, '\n') == 2 + 1 + 9); // counts, what is handed out, records
        it.heap.clear_errors();
        CHECK(it.heap.errors().empty());
        CHECK(it.heap.error_text().empty());
        it.heap.reset();
    }
    for (std::size_t code = 0; code < kma::error_codes; code++)
        CHECK_THAT(std::string(kma::explain(static_cast<ErrorCode>(code))), contains(": "));
    CHECK_THAT(std::string(kma::explain(static_cast<ErrorCode>(99))), contains("unknown error code"));
}

TEST_CASE("reset empties the heap and keeps its log", "[heap]")
{
    for (const Storage storage : storages()) {
        BumpHeap it(64, storage);
        const kma::Ref first = it.take(64);
        CHECK(it.take(16) == 0);
        it.heap.reset();
        CHECK(it.heap.stats().used == 0);
        CHECK(it.heap.errors().size() == 1);
        CHECK(it.take(64) == first);
    }
}

TEST_CASE("a heap has a buffer or a shared address", "[heap]")
{
    const auto shared = [] { return Heap(device(), 65536, {bump, Storage::svm}); };
    const Heap in_buffer(device(), 65536);
    CHECK(in_buffer.buffer().getInfo<CL_MEM_SIZE>() == 65536);
    CHECK_THAT(message_of<kma::Error>([&] { in_buffer.svm(); }), contains("Storage::svm"));
    if (!device().has_svm()) {
        CHECK_THAT(message_of<kma::Error>(shared), contains("Storage::buffer"));
        return;
    }
    const Heap in_svm = shared();
    CHECK(in_svm.svm() != nullptr);
    CHECK_THAT(message_of<kma::Error>([&] { in_svm.buffer(); }), contains("svm()"));
}

TEST_CASE("a heap moves with its memory", "[heap]")
{
    for (const Storage storage : storages()) {
        Heap a(device(), Heap::bytes_for(bump, 1024), {bump, storage});
        const kma::Ref ref = Kernels(a).push(0, 3);
        Heap b = std::move(a);
        CHECK(Kernels(b).sum(ref) == 3);
        Heap c(device(), Heap::bytes_for(bump, 2048), {bump});
        c = std::move(b);
        CHECK(Kernels(c).sum(ref) == 3);
        CHECK(c.stats().capacity == 1024);
        c.reset();
        CHECK(c.stats().used == 0);
    }
}

TEST_CASE("a heap given to the wrong argument is told apart", "[heap]")
{
    const Heap heap(device(), 1 << 16);
    cl::Kernel kernel =
        heap.program({{"a.cl", "kernel void a(uint number, global uint *out) { *out = number; }\n"}}).kernel("a");
    CHECK_THAT(message_of<kma::Error>([&] { heap.set_arg(kernel, 2); }), contains("\"a\" has no argument number 2"));
    if (device().name().find("Oclgrind") == std::string::npos)
        CHECK_THAT(message_of<kma::Error>([&] { heap.set_arg(kernel, 0); }),
                   contains("declare it as global kma_heap *"));
    cl::Kernel other = Heap(kma::Device::select(), 1 << 16)
                           .program({{"a.cl", "#include \"kma/kma.cl\"\nkernel void a(global kma_heap *heap) {}\n"}})
                           .kernel("a");
    CHECK_THAT(message_of<kma::Error>([&] { heap.set_arg(other, 0); }), contains("different OpenCL contexts"));
}

TEST_CASE("a heap given to a kernel for another kind is refused", "[heap]")
{
    const kma::Source unit = {"a.cl", "#include \"kma/kma.cl\"\n#include \"kma/heap/bump.cl\"\n"
                                      "kernel void usual(global kma_heap *heap) { kma_malloc(heap, 1); }\n"
                                      "kernel void own(global kma_bump *heap) { kma_bump_malloc(heap, 1); }\n"};
    const std::string refused = "build its program by Heap::program";
    for (const HeapKind kernels : {HeapKind::bump, HeapKind::superblock}) {
        const kma::Program program = Heap(device(), 1 << 16, {kernels}).program({unit});
        for (const HeapKind kind : {HeapKind::bump, HeapKind::superblock}) {
            const Heap heap(device(), 1 << 16, {kind});
            const auto says = [&](const char *name) {
                cl::Kernel kernel = program.kernel(name);
                return message_of<kma::Error>([&] { heap.set_arg(kernel, 0); });
            };
            CHECK((says("usual").find(refused) != std::string::npos) == (kind != kernels));
            CHECK((says("own").find(refused) != std::string::npos) == (kind != HeapKind::bump));
            CHECK((says("usual") == "no error") == (kind == kernels));
        }
    }
}

TEST_CASE("a heap's program has its kind, KMA_DEBUG and build options, whatever the program's say", "[heap]")
{
    const std::string text =
        "#include \"kma/kma.cl\"\nkernel void tell(global kma_heap *heap, global uint *out)\n"
        "{ out[0] = heap->header.kind; out[1] = KMA_DEBUG; out[2] = OF_HEAP; out[3] = OF_PROGRAM; }\n";
    for (const HeapKind kind : kma::heap_kinds)
        for (const int debug : {0, 3}) {
            const Heap heap(device(), 1 << 16, {.kind = kind, .debug = debug, .build_options = "-DOF_HEAP=7"});
            const kma::ProgramOptions others{.options = "-DOF_PROGRAM=8", .heap = HeapKind::scatter, .debug = 1};
            const test::Array<cl_uint> out(4, 0);
            test::launch(heap.program({{"tell.cl", text}}, others), "tell", {1, 1}, heap, out);
            CHECK(out.read() == std::vector<cl_uint>{static_cast<cl_uint>(kind), static_cast<cl_uint>(debug), 7, 8});
        }
}
