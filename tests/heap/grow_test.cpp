// Heaps that grow: what stays, what comes, and what is refused. growing_runner_test.cpp has who calls for it.
#include <algorithm>
#include <filesystem>

#include "catch.hpp"
#include "heap_support.hpp"

using kma::ErrorCode;
using kma::Heap;
using kma::HeapKind;
using test::device;
using test::Kernels;
using test::Town;

namespace {

constexpr std::uint64_t start_payload = 8 * 4096;

// Each kind, storage, width of atomics, without guards and with all; growing to some 64 superblocks of 4 KiB.
std::vector<kma::HeapOptions> grown_options()
{
    std::vector<kma::HeapOptions> all;
    for (const HeapKind kind : kma::heap_kinds)
        for (const kma::Storage storage : test::storages())
            for (const std::string &width : test::widths)
                for (const int debug : {0, 3})
                    all.push_back({kind, storage, debug, 4096, width, 290000});
    return all;
}

kma::HeapOptions growing(kma::HeapOptions options, std::uint64_t max_bytes)
{
    options.max_bytes = max_bytes;
    return options;
}

// More blocks of 60 bytes than the heap has, one after the other; those that it had.
std::vector<kma::Ref> fill(const Kernels &kernels)
{
    std::vector<kma::Ref> refs = kernels.allocate(6000, 60, true);
    std::erase(refs, 0u);
    return refs;
}

// Whether a heap that has so many blocks of fill() is as full as another one with so many. In a slab heap some lines
// may lie alone between slabs of the list's blocks and those of these, of which each needs two with eight blocks and
// more.
bool is_like(const kma::HeapOptions &options, std::size_t blocks, std::size_t others)
{
    const std::size_t most = options.kind == HeapKind::slab ? 16 : 0;
    return std::max(blocks, others) - std::min(blocks, others) <= most;
}

std::vector<std::vector<std::byte>> contents(const Heap &heap, const std::vector<kma::Ref> &refs)
{
    const kma::Snapshot snapshot = heap.snapshot();
    std::vector<std::vector<std::byte>> all;
    for (const kma::Ref ref : refs) {
        const auto bytes = snapshot.bytes(ref, 60);
        all.emplace_back(bytes.begin(), bytes.end());
    }
    return all;
}

// All that tells of blocks and errors.
std::string books(const Heap &heap)
{
    const bool lists = heap.options().kind != HeapKind::bump || heap.options().debug != 0;
    std::string text = lists ? kma::to_text(heap.leaks(6000)) : std::string();
    for (const kma::ErrorRecord &record : heap.errors())
        text += std::to_string(static_cast<int>(record.code)) + ": " + std::to_string(record.work_item) + ", " +
                std::to_string(record.size) + ", " + record.where + "\n";
    for (const std::uint64_t count : heap.stats().errors)
        text += std::to_string(count) + "\n";
    return text;
}

std::string refusal(Heap &heap, std::uint64_t bytes)
{
    const std::uint64_t before = heap.bytes();
    const std::string said = message_of<kma::Error>([&] { heap.grow(bytes); });
    CHECK(heap.bytes() == before);
    CHECK(heap.check().empty());
    return said;
}

} // namespace

TEST_CASE("a heap that has grown has all it had, and serves what one made so serves", "[grow][long]")
{
    for (const kma::HeapOptions &options : grown_options()) {
        CAPTURE(kma::name_of(options.kind), static_cast<int>(options.storage), options.build_options, options.debug);
        Heap heap(device(), Heap::bytes_for(options, start_payload), options);
        const Kernels kernels(heap);
        const kma::Ref list = kernels.push(0, 50);
        std::vector<kma::Ref> refs = fill(kernels);
        REQUIRE(heap.bytes() < 120000);
        for (const std::uint64_t bytes : {120000, 120016, 200001, 290000}) {
            const auto before = contents(heap, refs);
            const std::string books_before = books(heap);
            const kma::HeapStats stats_before = heap.stats();
            heap.grow(bytes);

            CHECK(heap.check() == std::vector<std::string>());
            CHECK(heap.bytes() == bytes);
            CHECK(kernels.sum(list) == 49 * 50 / 2);
            CHECK(contents(heap, refs) == before);
            CHECK(books(heap) == books_before);
            const Heap made(device(), bytes, options);
            const kma::HeapStats stats = heap.stats();
            CHECK(stats.bytes == bytes);
            CHECK(stats.capacity == made.stats().capacity);
            CHECK(stats.superblocks == made.stats().superblocks);
            CHECK(stats.used == stats_before.used);
            CHECK(stats.blocks == stats_before.blocks);

            const Kernels others(made);
            others.push(0, 50);
            const std::vector<kma::Ref> more = fill(kernels);
            refs.insert(refs.end(), more.begin(), more.end());
            CHECK(is_like(options, refs.size(), fill(others).size()));
            CHECK(heap.check() == std::vector<std::string>());
        }
        std::vector<kma::Ref> unique = refs;
        std::ranges::sort(unique);
        CHECK(std::ranges::adjacent_find(unique) == unique.end());

        kernels.free(refs);
        CHECK(heap.check() == std::vector<std::string>());
        CHECK(heap.error_count(ErrorCode::invalid_free) + heap.error_count(ErrorCode::double_free) == 0);
        if (options.kind != HeapKind::bump) {
            CHECK(heap.leaks().blocks == 50);
            CHECK(is_like(options, fill(kernels).size(), refs.size()));
        }
        heap.reset();
        CHECK(heap.stats().used == 0);
        CHECK(heap.bytes() == 290000);
        CHECK(heap.check() == std::vector<std::string>());
        const kma::Ref again = kernels.push(0, 50);
        CHECK(is_like(options, fill(kernels).size(), refs.size()));
        CHECK(kernels.sum(again) == 49 * 50 / 2);
    }
}

TEST_CASE("a superblock in each state outlives growth", "[grow]")
{
    const std::uint64_t most = test::bytes_for_superblocks(40, 0);
    for (const std::string &width : test::widths) {
        const kma::HeapOptions options = growing(test::superblocks(4096, width), most);
        Town town(options), larger(options, 24);
        CHECK(town.heap.stats().superblocks == 16);
        const std::string leaks = kma::to_text(town.heap.leaks(1000));
        town.heap.grow(larger.heap.bytes());
        CHECK(town.heap.check() == std::vector<std::string>());
        CHECK(kma::to_text(town.heap.leaks(1000)) == leaks);
        CHECK(kma::to_text(town.heap.stats()) == kma::to_text(larger.heap.stats()));
        // The free blocks of both sizes, then the free superblocks; first come those of before.
        for (const cl_ulong size : {113, 60, 4096})
            CHECK(town.kernels.allocate(size == 4096 ? 30 : 31, size, true) ==
                  larger.kernels.allocate(size == 4096 ? 30 : 31, size, true));
        CHECK(kma::to_text(town.heap.stats()) == kma::to_text(larger.heap.stats()));
        town.heap.grow(most);
        CHECK(town.heap.stats().superblocks == 40);
        CHECK(std::ranges::count(town.kernels.allocate(20, 4096, true), 0u) == 4);
        town.kernels.free(town.refs);
        CHECK(town.heap.check() == std::vector<std::string>());
    }
}

TEST_CASE("check knows the superblocks that growth will bring", "[grow]")
{
    const std::uint64_t most = test::bytes_for_superblocks(24, 0);
    for (const std::string &width : test::widths) {
        Town town(growing(test::superblocks(4096, width), most));
        const auto finding = [&](const std::string &what, cl_uint a, cl_uint bit) {
            town.kernels.flip(what, a, bit);
            const std::vector<std::string> found = town.heap.check();
            town.kernels.flip(what, a, bit);
            return found.empty() ? std::string("nothing") : found.front();
        };
        constexpr cl_uint index = 16; // of words with tags, as far as it goes with 32-bit atomics
        const struct {
            std::string what;
            cl_uint a, bits;
        } places[] = {{"credit", 20, 32},  {"content", 20, 32}, {"bitmap", 20, 256},
                      {"carrier", 20, 32}, {"item", 21, 32},    {"next word", 21, index}};
        for (const auto &place : places)
            for (cl_uint bit = 0; bit < place.bits; bit++)
                if (finding(place.what, place.a, bit) == "nothing")
                    FAIL_CHECK("nothing about bit " << bit << " of " << place.what << " " << place.a << ", " << width);
        CHECK(finding("content", 20, 3) == "superblock 20, of which there are 16 until the heap grows, has content "
                                           "503, credit 2147483648 and 0 bits of "
                                           "its bitmap set, should be 511, 2147483648 and 0");
        CHECK(finding("item", 21, 0) == "superblock 20, of which there are 16 until the heap grows, has queue node 21, "
                                        "and node 21 item 21 and next "
                                        "node 22, should be 21, 20 and 22");
        CHECK(finding("set", 3, 20) ==
              "the partial set of the class of 64-byte blocks holds superblock 20, but there are 16");
        CHECK(town.heap.check() == std::vector<std::string>());
    }
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
    CHECK(heap.check() == std::vector<std::string>());
    CHECK(std::ranges::count(kernels.allocate(600, 4096), 0u) == 0);
}

TEST_CASE("who frees a block twice, before and after growth, is told the same", "[grow]")
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
        CHECK(heap.check() == std::vector<std::string>());
    }
}

TEST_CASE("a heap goes on growing where it was saved", "[grow]")
{
    const std::filesystem::path file = std::filesystem::path(KMA_SCRATCH_DIR) / "growing.kma";
    for (const kma::HeapOptions &options : grown_options()) {
        CAPTURE(kma::name_of(options.kind), static_cast<int>(options.storage), options.build_options, options.debug);
        kma::Ref list = 0;
        std::string text;
        {
            Heap heap(device(), Heap::bytes_for(options, start_payload), options);
            heap.grow(150000);
            list = Kernels(heap).push(0, 1300);
            heap.save(file);
            text = kma::to_text(heap.stats());
        }
        Heap heap = Heap::load(device(), file, options.storage, options.build_options);
        CHECK(heap.options().max_bytes == 290000);
        CHECK(kma::to_text(heap.stats()) == text);
        heap.grow(290000);
        CHECK(heap.stats().capacity == Heap(device(), 290000, options).stats().capacity);
        const Kernels kernels(heap);
        CHECK(kernels.sum(list) == 1299 * 1300 / 2);
        CHECK(kernels.sum(kernels.push(list, 100)) == 1399 * 1400 / 2);
        CHECK(heap.check() == std::vector<std::string>());
    }
    std::filesystem::remove(file);
}

TEST_CASE("what a heap cannot grow to is refused with a sentence", "[grow]")
{
    for (const HeapKind kind : kma::heap_kinds) {
        const kma::HeapOptions fixed{.kind = kind, .superblock_bytes = 4096}, grows = growing(fixed, 300000);
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

TEST_CASE("superblocks are chosen for what a heap begins with and what it may become", "[grow]")
{
    struct {
        std::uint64_t bytes, max_bytes, chosen;
    } const cases[] = {{1 << 20, 0, 8192},         {1 << 20, 1 << 20, 8192},     {1 << 20, 4 << 20, 32768},
                       {1 << 20, 32 << 20, 32768}, {8 << 20, 256 << 20, 262144}, {70 << 20, 256 << 20, 2 << 20}};
    for (const auto &one : cases) {
        CAPTURE(one.bytes, one.max_bytes);
        CHECK(Heap(device(), one.bytes, growing(test::superblocks(0), one.max_bytes)).options().superblock_bytes ==
              one.chosen);
    }
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

TEST_CASE("a request that growth makes possible is out of memory, and no other too large", "[grow]")
{
    const kma::HeapOptions options{.kind = HeapKind::bump, .max_bytes = 200000};
    Heap heap(device(), 50000, options);
    const Kernels kernels(heap);
    CHECK(kernels.allocate({60000, 210000}) == std::vector<kma::Ref>{0, 0});
    CHECK(heap.error_count(ErrorCode::out_of_memory) == 1);
    CHECK(heap.error_count(ErrorCode::too_large) == 1);
    heap.grow(200000);
    CHECK(kernels.allocate({60000})[0] != 0);
    CHECK(heap.error_count(ErrorCode::too_large) == 1);
}
