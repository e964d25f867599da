// Heaps that grow: what stays, what comes, and what is refused; kma::GrowingRunner. Conformance has that a heap of any
// kind keeps its blocks and then serves what its size can; file_test.cpp that it goes on growing where it was saved.
#include <algorithm>

#include "catch.hpp"
#include "heap_support.hpp"

using kma::ErrorCode;
using kma::Heap;
using kma::HeapKind;
using test::device;
using test::Kernels;
using test::Town;

namespace {

kma::HeapOptions growing(kma::HeapOptions options, std::uint64_t max_bytes)
{
    options.max_bytes = max_bytes;
    return options;
}

std::string refusal(Heap &heap, std::uint64_t bytes)
{
    const std::uint64_t before = heap.bytes();
    const std::string said = message_of<kma::Error>([&] { heap.grow(bytes); });
    CHECK(heap.bytes() == before);
    CHECK(heap.check().empty());
    return said;
}

// A launch that can be repeated: a work-item that has its block asks for no other.
struct Job {
    std::vector<kma::Ref> refs = std::vector<kma::Ref>(1500);

    void run(const Kernels &kernels)
    {
        const auto missing = static_cast<std::size_t>(std::ranges::count(refs, 0u));
        const std::vector<kma::Ref> got = kernels.allocate(missing, 100);
        std::size_t next = 0;
        for (kma::Ref &ref : refs)
            if (ref == 0)
                ref = got[next++];
    }
    bool done() const { return std::ranges::count(refs, 0u) == 0; }
};

} // namespace

TEST_CASE("a superblock in each state outlives growth", "[grow]")
{
    const std::uint64_t most = test::bytes_for_superblocks(40, 0);
    for (const std::string &width : test::atomic_widths) {
        const kma::HeapOptions options = growing(test::superblocks(4096, width), most);
        Town town(options), larger(options, 24);
        CHECK(town.heap.stats().superblocks == 16);
        const std::string leaks = kma::to_text(town.heap.leaks(1000));
        town.heap.grow(larger.heap.bytes());
        CHECK(test::findings(town.heap) == "");
        CHECK(kma::to_text(town.heap.leaks(1000)) == leaks);
        CHECK(kma::to_text(town.heap.stats()) == kma::to_text(larger.heap.stats()));
        // The free blocks of both sizes, then the free superblocks; first come those of before.
        for (const auto &[count, size] : {std::pair(31, 113), {31, 60}, {30, 4096}})
            CHECK(town.kernels.allocate(count, size, true) == larger.kernels.allocate(count, size, true));
        CHECK(kma::to_text(town.heap.stats()) == kma::to_text(larger.heap.stats()));
        town.heap.grow(most);
        CHECK(town.heap.stats().superblocks == 40);
        CHECK(std::ranges::count(town.kernels.allocate(20, 4096, true), 0u) == 4);
        town.kernels.free(town.refs);
        CHECK(test::findings(town.heap) == "");
    }
}

TEST_CASE("slabs in every state outlive growth, and longer blocks fit afterwards", "[grow]")
{
    for (const kma::Storage storage : test::storages()) {
        const std::uint64_t most = Heap::bytes_for(test::slabs(), 200 * test::frame_bytes);
        test::Street street(test::slabs(storage, 0, most));
        Heap &heap = street.heap;
        const auto takes = [&](cl_ulong frames) {
            return street.kernels.allocate(1, frames * test::frame_bytes)[0] != 0;
        };
        const std::string leaks = kma::to_text(heap.leaks(1000));
        CHECK(!takes(120));
        CHECK(!takes(201));
        CHECK(heap.error_count(ErrorCode::out_of_memory) == 1);
        CHECK(heap.error_count(ErrorCode::too_large) == 1);
        heap.grow(most);
        CHECK(test::findings(heap) == "");
        CHECK(kma::to_text(heap.leaks(1000)) == leaks);
        CHECK(heap.stats().superblocks == 200);
        CHECK(takes(120));
        CHECK(test::findings(heap) == "");
        street.kernels.free(street.refs);
        CHECK(heap.leaks().blocks == 1);
        CHECK(test::findings(heap) == "");
        heap.reset();
        CHECK(heap.stats().superblocks_free == 200);
        CHECK(test::findings(heap) == "");
    }
}

TEST_CASE("check knows the superblocks that growth will bring", "[grow]") // check_test.cpp turns all their bits
{
    const Town town(growing(test::superblocks(4096), test::bytes_for_superblocks(24, 0)));
    const auto finding = [&](const std::string &what, cl_uint a, cl_uint bit) {
        town.kernels.flip(what, a, bit);
        const std::string found = town.heap.check().at(0);
        town.kernels.flip(what, a, bit);
        return found;
    };
    const std::string to_come = "superblock 20, of which there are 16 until the heap grows, has ";
    CHECK(finding("content", 20, 3) ==
          to_come + "content 503, credit 2147483648 and 0 bits of its bitmap set, should be 511, 2147483648 and 0");
    CHECK(finding("item", 21, 0) ==
          to_come + "queue node 21, and node 21 item 21 and next node 22, should be 21, 20 and 22");
    CHECK(finding("set", 3, 20) ==
          "the partial set of the class of 64-byte blocks holds superblock 20, but there are 16");
    CHECK(test::findings(town.heap) == "");
}

TEST_CASE("a heap of many pieces grows as well", "[grow]")
{
    // One block to a superblock, every other one free: more ranges than are copied one by one.
    const kma::HeapOptions options = growing(test::superblocks(4096), test::bytes_for_superblocks(1100, 0));
    Heap heap(device(), test::bytes_for_superblocks(1000, options.max_bytes), options);
    const Kernels kernels(heap);
    std::vector<kma::Ref> refs = kernels.allocate(1000, 4096), every_other;
    std::ranges::sort(refs);
    REQUIRE(refs[0] != 0);
    for (std::size_t i = 0; i < refs.size(); i += 2)
        every_other.push_back(refs[i]);
    kernels.free(every_other);
    for (std::size_t i = 1; i < refs.size(); i += 2)
        *heap.map(refs[i], 4).as<cl_uint>().data() = refs[i];
    heap.grow(options.max_bytes);
    const kma::Snapshot snapshot = heap.snapshot();
    for (std::size_t i = 1; i < refs.size(); i += 2)
        CHECK(*snapshot.deref<cl_uint>(refs[i]) == refs[i]);
    CHECK(test::findings(heap) == "");
    CHECK(std::ranges::count(kernels.allocate(600, 4096), 0u) == 0);
}

TEST_CASE("a double free before growth and one after it are reported the same", "[grow][long]")
{
    for (const int debug : {0, 3}) {
        kma::HeapOptions options = growing(test::superblocks(4096), 3 << 20);
        options.debug = debug;
        Heap heap(device(), 2 << 20, options);
        const Kernels kernels(heap);
        const std::vector<kma::Ref> blocks = kernels.allocate(200, 60, true);
        kernels.free(blocks);
        if (debug != 0) // which push them out of the quarantine, so that their superblocks are free
            kernels.free(kernels.allocate(1200, 600, true));
        CHECK(heap.error_text().empty());
        kernels.free({blocks[7]});
        CHECK(heap.error_count(ErrorCode::double_free) == 1);
        heap.grow(3 << 20);
        kernels.free({blocks[7], blocks[8]});
        CHECK(heap.error_count(ErrorCode::double_free) == 3);
        CHECK(heap.error_count(ErrorCode::invalid_free) == 0);
        CHECK(test::findings(heap) == "");
    }
}

TEST_CASE("what a heap cannot grow to is refused with a sentence", "[grow]")
{
    for (const HeapKind kind : kma::heap_kinds) {
        const kma::HeapOptions fixed{.kind = kind, .superblock = {4096}, .scatter = {4096}},
            grows = growing(fixed, 300000);
        Heap heap(device(), 100000, grows), other(device(), 100000, fixed);
        CHECK_THAT(refusal(heap, 99999),
                   contains("a heap of 100000 bytes cannot be made one of 99999: heaps only grow"));
        CHECK_THAT(refusal(heap, 300001), contains("it was created with max_bytes = 300000"));
        CHECK_THAT(refusal(other, 100001), contains("that does not grow") && contains("HeapOptions::max_bytes"));
        CHECK(refusal(heap, 100000) == "no error");
        CHECK(refusal(other, 100000) == "no error");
        const auto made = [&](std::uint64_t max_bytes) {
            return message_of<kma::Error>([&] { Heap(device(), 100000, growing(fixed, max_bytes)); });
        };
        CHECK_THAT(made(99999), contains("max_bytes = 99999 is less than the 100000 bytes"));
        CHECK_THAT(made(1ull << 36), contains("max_bytes = 68719476736 is too large: references reach 68719476704"));
        CHECK(made(100000) == "no error");
    }
    // Metadata for superblocks that fill 64 MiB.
    const kma::HeapOptions large = growing(test::superblocks(4096), 64 << 20);
    CHECK_THAT(message_of<kma::Error>([&] { Heap(device(), 1 << 20, large); }),
               contains("its metadata, if it may grow to 67108864 bytes, and one superblock of 4096 bytes need " +
                        std::to_string(Heap::bytes_for(large, 1))));
    CHECK(Heap(device(), Heap::bytes_for(large, 1), large).stats().superblocks == 1);
    // A heap that a kernel wrote over is not copied.
    Town town(growing(test::superblocks(4096), 1 << 20));
    town.kernels.damage("plan", 5, 9);
    CHECK_THAT(message_of<kma::Error>([&] { town.heap.grow(1 << 20); }), contains("metadata are damaged"));
}

TEST_CASE("bytes_for leaves the payload in a heap that grows", "[grow]")
{
    for (const std::uint64_t max_bytes :
         {1ull << 18, 1ull << 20, 3ull << 20, 1ull << 25, 1ull << 28, 1ull << 33, 1ull << 35})
        for (const std::uint64_t payload : {1ull, 4097ull, 100000ull, 1ull << 20, 5ull << 20, 77ull << 20}) {
            CAPTURE(max_bytes, payload);
            const kma::HeapOptions options = growing(test::superblocks(0), max_bytes);
            const std::uint64_t bytes = Heap::bytes_for(options, payload);
            if (bytes > max_bytes)
                CHECK(payload > max_bytes * 9 / 10 - 70000); // what it says then is more than the heap may have
            else if (bytes < 40 << 20)
                CHECK(Heap(device(), bytes, options).stats().capacity >= payload);
        }
}

TEST_CASE("a runner launches again until all were served", "[grow][long]")
{
    for (const HeapKind kind : kma::heap_kinds) {
        CAPTURE(kma::name_of(kind));
        Heap heap(device(), 60000, growing({.kind = kind, .superblock = {4096}, .scatter = {4096}}, 400000));
        const Kernels kernels(heap);
        // Errors from before, which stay: eight of out of memory and more, and others.
        while (kernels.allocate(1, 4000)[0] != 0)
            ;
        kernels.allocate(20, 4000);
        heap.reset();
        const std::vector<kma::Ref> none = kernels.allocate(3, 1 << 24);
        CHECK(none == std::vector<kma::Ref>(3));
        const std::vector<kma::ErrorRecord> before = heap.errors();
        const std::uint64_t refused_before = heap.error_count(ErrorCode::out_of_memory);
        CHECK(refused_before >= 20);
        CHECK(heap.error_count(ErrorCode::too_large) == 3);

        Job job;
        kma::GrowingRunner runner(heap);
        std::vector<unsigned> repetitions;
        const kma::Growth result = runner.run([&](Heap &on, unsigned repetition) {
            CHECK(&on == &heap);
            repetitions.push_back(repetition);
            job.run(kernels);
        });
        CHECK(result == kma::Growth::enough);
        CHECK(job.done());
        CHECK(runner.growths() == 2); // 60, 120, 240 KB for 1,500 times 112 bytes, in a slab heap up to 128
        CHECK(repetitions == std::vector<unsigned>{0, 1, 2});
        CHECK(runner.refused() > 0);
        CHECK(heap.bytes() == 240000);
        CHECK(heap.check() == std::vector<std::string>());
        CHECK(heap.error_count(ErrorCode::out_of_memory) == refused_before);
        const auto same = [](const kma::ErrorRecord &a, const kma::ErrorRecord &b) {
            return a.code == b.code && a.size == b.size && a.work_item == b.work_item;
        };
        CHECK(std::ranges::equal(heap.errors(), before, same));
    }
}

TEST_CASE("a runner takes only its own refusals out of the log", "[grow]")
{
    for (const unsigned before : {0u, 3u, 8u, 11u}) {
        Heap heap(device(), 40000, growing({.kind = HeapKind::bump}, 100000));
        const Kernels kernels(heap);
        kernels.allocate({30000});
        for (unsigned i = 0; i < before; i++)
            kernels.allocate({20000 + i});
        kma::GrowingRunner runner(heap);
        CHECK(runner.look() == kma::Growth::enough);
        kernels.allocate(20, 30000, true);
        CHECK(runner.look() == kma::Growth::grown);
        CHECK(heap.error_count(ErrorCode::out_of_memory) == before);
        const std::vector<kma::ErrorRecord> records = heap.errors();
        CHECK(records.size() == std::min(before, 8u));
        for (unsigned i = 0; i < records.size(); i++)
            CHECK(records[i].size == 20000 + i);
        CHECK(heap.check() == std::vector<std::string>());
        CHECK(runner.refused() == 20);
        CHECK(runner.look() == kma::Growth::enough);
    }
}

TEST_CASE("a runner stops at its limit and leaves the errors", "[grow]")
{
    struct {
        std::uint64_t max_bytes, limit, end;
    } const cases[] = {{0, 0, 60000}, {130000, 0, 130000}, {200000, 90000, 90000}, {130000, 1 << 30, 130000}};
    for (const auto &one : cases) {
        CAPTURE(one.max_bytes, one.limit);
        Heap heap(device(), 60000, growing(test::superblocks(4096), one.max_bytes));
        const Kernels kernels(heap);
        Job job;
        kma::GrowingRunner runner(heap, one.limit);
        unsigned launches = 0;
        const auto launch = [&](Heap &, unsigned) {
            launches++;
            job.run(kernels);
        };
        CHECK(runner.run(launch) == kma::Growth::at_limit);
        CHECK(!job.done());
        CHECK(launches == runner.growths() + 1);
        CHECK(heap.bytes() == one.end);
        const std::uint64_t refused = heap.error_count(ErrorCode::out_of_memory);
        CHECK(refused > 0);
        CHECK_THAT(heap.error_text(), contains("out of memory"));
        CHECK(runner.look() == kma::Growth::enough); // of what came since
        CHECK(runner.run(launch) == kma::Growth::at_limit);
        CHECK(heap.error_count(ErrorCode::out_of_memory) > refused);
        heap.clear_errors();
        CHECK(runner.look() == kma::Growth::enough);
        CHECK(runner.run(launch) == kma::Growth::at_limit);
    }
}
