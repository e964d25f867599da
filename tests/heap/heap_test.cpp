// The host's side of a heap: sizes, books, copies and mapped ranges.
#include <cstring>

#include "catch.hpp"
#include "heap_support.hpp"
#include "kma/kma.hpp"

using kma::Heap;
using kma::HeapKind;
using kma::Storage;
using test::device;
using test::storages;

namespace {

const char *text = R"(#define KMA_HEAP bump
#include "kma/kma.cl"
kernel void take(global kma_heap *heap, ulong bytes, global uint *ref)
{
    *ref = kma_ref_of(heap, kma_malloc(heap, bytes));
}
kernel void write_word(global kma_heap *heap, uint ref, uint value)
{
    *(global uint *)kma_deref(heap, ref) = value;
}
kernel void read_word(global kma_heap *heap, uint ref, global uint *value)
{
    *value = *(global const uint *)kma_deref(heap, ref);
}
kernel void damage(global kma_heap *heap, uint what)
{
    if (what == 0)
        heap->header.magic = 0;
    else if (what == 1)
        heap->header.layout++;
    else if (what == 2)
        heap->header.kind = 99;
    else if (what == 3)
        heap->header.bytes++;
    else
        heap->header.limit = 3;
}
)";

cl::Kernel kernel(const std::string &name, const Heap &heap)
{
    cl::Kernel made = kma::Program(device(), {{"heap_test.cl", text}}).kernel(name);
    heap.set_arg(made, 0);
    return made;
}

void run(const cl::Kernel &kernel)
{
    device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
    device().queue().finish();
}

cl_uint read_result(cl::Kernel kernel, cl_uint index)
{
    const cl::Buffer out(device().context(), CL_MEM_READ_WRITE, sizeof(cl_uint));
    kernel.setArg(index, out);
    run(kernel);
    cl_uint value = 0;
    device().queue().enqueueReadBuffer(out, CL_TRUE, 0, sizeof(value), &value);
    return value;
}

kma::Ref take(const Heap &heap, std::uint64_t bytes)
{
    cl::Kernel made = kernel("take", heap);
    made.setArg(1, static_cast<cl_ulong>(bytes));
    return read_result(made, 2);
}

void write_word(const Heap &heap, kma::Ref ref, cl_uint value)
{
    cl::Kernel made = kernel("write_word", heap);
    made.setArg(1, ref);
    made.setArg(2, value);
    run(made);
}

cl_uint read_word(const Heap &heap, kma::Ref ref)
{
    cl::Kernel made = kernel("read_word", heap);
    made.setArg(1, ref);
    return read_result(made, 2);
}

const auto bump = HeapKind::bump;
const std::uint64_t metadata = Heap::bytes_for(bump, 0);

} // namespace

TEST_CASE("a fresh heap is empty", "[heap]")
{
    for (const Storage storage : storages()) {
        const Heap heap(device(), Heap::bytes_for(bump, 1000), {bump, storage, 0});
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

TEST_CASE("bytes_for leaves the payload", "[heap]")
{
    CHECK(metadata % 16 == 0);
    CHECK(Heap::bytes_for(bump, 1) == metadata + 16);
    for (const std::uint64_t payload : {16ull, 17ull, 1000ull, 1000000ull}) {
        const Heap heap(device(), Heap::bytes_for(bump, payload), {bump});
        CHECK(heap.stats().capacity == (payload + 15) / 16 * 16);
        CHECK(take(heap, payload) != 0);
        CHECK(heap.stats().available() == 0);
    }
    // A size that is no multiple of 16 loses its rest.
    CHECK(Heap(device(), Heap::bytes_for(bump, 64) + 15, {bump}).stats().capacity == 64);
}

TEST_CASE("heaps of impossible sizes are refused", "[heap]")
{
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
    if (device().max_buffer_bytes() < (1ull << 36) - 32)
        CHECK_THAT(message(device().max_buffer_bytes() + 1, 0),
                   contains("too large") && contains(std::to_string(device().max_buffer_bytes())));
}

TEST_CASE("blocks are in the books and in the snapshot", "[heap]")
{
    for (const Storage storage : storages()) {
        const Heap heap(device(), Heap::bytes_for(bump, 4096), {bump, storage, 0});
        const kma::Ref first = take(heap, 20), second = take(heap, 16);
        CHECK(first == metadata / 16);
        CHECK(second == first + 2);
        CHECK(heap.stats().used == 48);
        write_word(heap, first, 1234);
        write_word(heap, second, 5678);
        const kma::Snapshot snapshot = heap.snapshot();
        write_word(heap, first, 1); // the copy stays
        CHECK(*snapshot.deref<cl_uint>(first) == 1234);
        CHECK(*snapshot.deref<cl_uint>(second) == 5678);
        CHECK(snapshot.copied_bytes() == 48);
        CHECK(snapshot.end() == metadata + 48);
        CHECK(snapshot.bytes(first, 48).size() == 48);
        CHECK_THROWS_AS(snapshot.bytes(first, 49), kma::Error);
        CHECK_THROWS_AS(snapshot.deref<char>(first - 1), kma::Error); // metadata
    }
}

TEST_CASE("a snapshot refuses refs that lead outside", "[heap]")
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
}

TEST_CASE("a snapshot of several ranges knows what lies between them", "[heap]")
{
    const kma::Snapshot snapshot(
        {{64, std::vector<std::byte>(32, std::byte{1})}, {160, std::vector<std::byte>(16, std::byte{2})}});
    CHECK(snapshot.copied_bytes() == 48);
    CHECK(snapshot.end() == 176);
    CHECK(*snapshot.deref<char>(4) == 1);
    CHECK(*snapshot.deref<char>(5) == 1);
    CHECK(*snapshot.deref<std::array<char, 16>>(10) ==
          std::array<char, 16>{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
    for (const kma::Ref outside : {3u, 6u, 9u, 11u, 0xffffffffu})
        CHECK_THAT(message_of<kma::Error>([&] { snapshot.deref<char>(outside); }),
                   contains("ref " + std::to_string(outside)) && contains("2 ranges in bytes 64 to 176"));
    CHECK_THROWS_AS(snapshot.bytes(5, 17), kma::Error); // its first 16 are there
}

TEST_CASE("what the host writes into a mapped range kernels read, and back", "[heap]")
{
    for (const Storage storage : storages()) {
        Heap heap(device(), Heap::bytes_for(bump, 4096), {bump, storage, 0});
        const kma::Ref ref = take(heap, 64);
        write_word(heap, ref, 11);
        {
            kma::MappedRange range = heap.map(ref, 64);
            REQUIRE(range.bytes().size() == 64);
            REQUIRE(range.as<cl_uint>().size() == 16);
            CHECK(range.as<cl_uint>()[0] == 11);
            range.as<cl_uint>()[0] = 22;
        }
        CHECK(read_word(heap, ref) == 22);
        // A range that moves is unmapped once, and one that is assigned to first.
        kma::MappedRange a = heap.map(ref, 16);
        kma::MappedRange b = std::move(a);
        b.as<cl_uint>()[0] = 33;
        b = heap.map(ref + 1, 16);
        b.as<cl_uint>()[0] = 44;
        {
            const kma::MappedRange c = std::move(b);
        }
        CHECK(read_word(heap, ref) == 33);
        CHECK(read_word(heap, ref + 1) == 44);
    }
}

TEST_CASE("only ranges within the heap can be mapped", "[heap]")
{
    for (const Storage storage : storages()) {
        const Heap heap(device(), Heap::bytes_for(bump, 4096), {bump, storage, 0});
        const auto first = static_cast<kma::Ref>(metadata / 16);
        CHECK_NOTHROW(heap.map(first, 4096));
        CHECK_NOTHROW(heap.map(first + 255, 16));
        CHECK_THAT(message_of<kma::Error>([&] { heap.map(0, 16); }), contains("ref 0"));
        CHECK_THROWS_AS(heap.map(first - 1, 16), kma::Error);
        CHECK_THROWS_AS(heap.map(first, 0), kma::Error);
        CHECK_THROWS_AS(heap.map(first, 4097), kma::Error);
        CHECK_THROWS_AS(heap.map(first + 256, 1), kma::Error);
        CHECK_THROWS_AS(heap.map(0xffffffff, 16), kma::Error);
        CHECK_THROWS_AS(heap.map(first, ~0ull), kma::Error);
    }
}

TEST_CASE("errors are counted, the first eight kept, and written out", "[heap]")
{
    const Heap heap(device(), Heap::bytes_for(bump, 64), {bump});
    CHECK(take(heap, 64) != 0);
    for (int i = 1; i <= 10; i++)
        CHECK(take(heap, 16) == 0);
    CHECK(take(heap, 65) == 0);
    const kma::HeapStats stats = heap.stats();
    CHECK(stats.errors[static_cast<std::size_t>(kma::ErrorCode::out_of_memory)] == 10);
    CHECK(stats.errors[static_cast<std::size_t>(kma::ErrorCode::too_large)] == 1);
    const std::vector<kma::ErrorRecord> records = heap.errors();
    REQUIRE(records.size() == 9);
    CHECK(records[7].code == kma::ErrorCode::out_of_memory);
    CHECK(records[7].size == 16);
    CHECK(records[8].code == kma::ErrorCode::too_large);
    CHECK(records[8].size == 65);
    const std::string text = heap.error_text();
    CHECK_THAT(text, contains("10 x out of memory") && contains("1 x request too large") && contains("work-item 0") &&
                         contains("size 65"));
    CHECK(std::count(text.begin(), text.end(), '\n') == 2 + 1 + 9); // counts, what is handed out, records
}

TEST_CASE("every error code is explained", "[heap]")
{
    for (std::size_t code = 0; code < kma::error_codes; code++)
        CHECK_THAT(std::string(kma::explain(static_cast<kma::ErrorCode>(code))), contains(": "));
    CHECK_THAT(std::string(kma::explain(static_cast<kma::ErrorCode>(99))), contains("unknown error code"));
}

TEST_CASE("reset empties the heap and keeps its log", "[heap]")
{
    for (const Storage storage : storages()) {
        Heap heap(device(), Heap::bytes_for(bump, 64), {bump, storage, 0});
        const kma::Ref first = take(heap, 64);
        CHECK(take(heap, 16) == 0);
        heap.reset();
        CHECK(heap.stats().used == 0);
        CHECK(heap.errors().size() == 1);
        CHECK(take(heap, 64) == first);
    }
}

TEST_CASE("damaged metadata are noticed", "[heap]")
{
    for (cl_uint what = 0; what < 5; what++) {
        Heap heap(device(), Heap::bytes_for(bump, 1024), {bump});
        CHECK(take(heap, 512) != 0);
        cl::Kernel damage = kernel("damage", heap);
        damage.setArg(1, what);
        run(damage);
        INFO("damage " << what);
        CHECK_THAT(message_of<kma::Error>([&] { heap.stats(); }), contains("damaged"));
        CHECK_THROWS_AS(heap.errors(), kma::Error);
        CHECK_THROWS_AS(heap.error_text(), kma::Error);
        CHECK_THROWS_AS(heap.snapshot(), kma::Error);
    }
}

TEST_CASE("a heap has a buffer or a shared address", "[heap]")
{
    const Heap in_buffer(device(), 65536);
    CHECK(in_buffer.buffer().getInfo<CL_MEM_SIZE>() == 65536);
    CHECK_THAT(message_of<kma::Error>([&] { in_buffer.svm(); }), contains("Storage::svm"));
    if (!device().has_svm()) {
        CHECK_THAT(message_of<kma::Error>([] {
                       Heap(device(), 65536, {bump, Storage::svm, 0});
                   }),
                   contains("Storage::buffer"));
        return;
    }
    const Heap in_svm(device(), 65536, {bump, Storage::svm, 0});
    CHECK(in_svm.svm() != nullptr);
    CHECK_THAT(message_of<kma::Error>([&] { in_svm.buffer(); }), contains("svm()"));
}

TEST_CASE("a heap moves with its memory", "[heap]")
{
    for (const Storage storage : storages()) {
        Heap a(device(), Heap::bytes_for(bump, 1024), {bump, storage, 0});
        const kma::Ref ref = take(a, 16);
        write_word(a, ref, 77);
        Heap b = std::move(a);
        CHECK(read_word(b, ref) == 77);
        Heap c(device(), Heap::bytes_for(bump, 2048), {bump});
        c = std::move(b);
        CHECK(read_word(c, ref) == 77);
        CHECK(c.stats().capacity == 1024);
        c.reset();
        CHECK(c.stats().used == 0);
    }
}

TEST_CASE("a heap given to the wrong argument is told apart", "[heap]")
{
    const kma::Device device = kma::Device::select();
    const kma::Heap heap(device, 1 << 16);
    const kma::Program program(device, {{"a.cl", "kernel void a(uint number, global uint *out) { *out = number; }\n"}});
    cl::Kernel kernel = program.kernel("a");
    CHECK_THAT(message_of<kma::Error>([&] { heap.set_arg(kernel, 2); }), contains("\"a\" has no argument number 2"));
    if (device.name().find("Oclgrind") == std::string::npos)
        CHECK_THAT(message_of<kma::Error>([&] { heap.set_arg(kernel, 0); }),
                   contains("declare it as global kma_heap *"));
    const kma::Program elsewhere(kma::Device::select(),
                                 {{"a.cl", "#include \"kma/kma.cl\"\nkernel void a(global kma_heap *heap) {}\n"}});
    cl::Kernel other = elsewhere.kernel("a");
    CHECK_THAT(message_of<kma::Error>([&] { heap.set_arg(other, 0); }), contains("different OpenCL contexts"));
}

TEST_CASE("a heap given to a kernel for another kind is refused", "[heap]")
{
    for (const HeapKind kernels : {HeapKind::bump, HeapKind::superblock}) {
        kma::ProgramOptions options;
        options.heap = kernels;
        const kma::Program program(device(),
                                   {{"a.cl", "#include \"kma/kma.cl\"\n#include \"kma/heap/bump.cl\"\n"
                                             "kernel void usual(global kma_heap *heap) { kma_malloc(heap, 1); }\n"
                                             "kernel void own(global kma_bump *heap) { kma_bump_malloc(heap, 1); }\n"}},
                                   options);
        for (const HeapKind kind : {HeapKind::bump, HeapKind::superblock}) {
            const Heap heap(device(), 1 << 16, {kind});
            cl::Kernel usual = program.kernel("usual"), own = program.kernel("own");
            const std::string refused = "give ProgramOptions::heap and HeapOptions::kind the same value";
            const std::string of_usual = message_of<kma::Error>([&] { heap.set_arg(usual, 0); });
            const std::string of_own = message_of<kma::Error>([&] { heap.set_arg(own, 0); });
            CHECK((of_usual.find(refused) != std::string::npos) == (kind != kernels));
            CHECK((of_own.find(refused) != std::string::npos) == (kind != HeapKind::bump));
            CHECK((of_usual == "no error") == (kind == kernels));
        }
    }
}

TEST_CASE("the error log can be emptied", "[heap]")
{
    const kma::Device device = kma::Device::select();
    kma::Heap heap(device, 1 << 16);
    const kma::Program program(
        device,
        {{"a.cl", "#include <kma/kma.cl>\nkernel void a(global kma_heap *heap) { kma_malloc(heap, 1 << 20); }\n"}});
    cl::Kernel kernel = program.kernel("a");
    heap.set_arg(kernel, 0);
    for (int round = 0; round < 2; round++) {
        device.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(20));
        CHECK(heap.stats().errors[static_cast<std::size_t>(kma::ErrorCode::too_large)] == 20);
        CHECK(heap.errors().size() == 8);
        CHECK_THAT(heap.error_text(), contains("20 x request too large"));
        heap.clear_errors();
        CHECK(heap.errors().empty());
        CHECK(heap.error_text().empty());
    }
}
