// Slab heaps on the device as the host sees them: statistics, leaks, snapshots, files, growth, and damage.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <random>

#include "catch.hpp"
#include "heap_support.hpp"
#include "heap/common/layout.hpp"

using kma::Heap;
using kma::HeapKind;
using test::device;
using test::Kernels;

namespace {

constexpr std::uint64_t frame_bytes = 8192;

kma::HeapOptions slabs(kma::Storage storage = kma::Storage::buffer, int debug = 0, std::uint64_t max_bytes = 0)
{
    kma::HeapOptions options{.kind = HeapKind::slab, .storage = storage, .debug = debug};
    options.max_bytes = max_bytes;
    return options;
}

void for_all(const auto &test)
{
    for (const kma::Storage storage : test::storages())
        for (const int debug : {0, 1}) {
            CAPTURE(static_cast<int>(storage), debug);
            test(slabs(storage, debug));
        }
}

// A heap of sixteen frames in which one work-item took blocks: of 64 bytes twenty, four of them freed again, of 4 KiB
// three, and one of 20,000 bytes, which takes 79 lines.
struct Street {
    explicit Street(const kma::HeapOptions &options)
        : heap(device(), Heap::bytes_for(options, 16 * frame_bytes), options), kernels(heap)
    {
        std::vector<cl_ulong> sizes(20, 60);
        sizes.insert(sizes.end(), {4096, 4000, 3900, 20000});
        refs = kernels.allocate(sizes, true);
        const std::vector<kma::Ref> freed = {refs[2], refs[9], refs[10], refs[17]};
        kernels.free(freed);
        std::erase_if(refs, [&](kma::Ref ref) { return std::ranges::find(freed, ref) != freed.end(); });
    }

    Heap heap;
    Kernels kernels;
    std::vector<kma::Ref> refs; ///< 16 of 64 bytes, three of 4 KiB, the long one
};

constexpr std::uint64_t used_in_street = 16 * 64 + 3 * 4096 + 79 * 256;

std::string joined(const std::vector<std::string> &sentences)
{
    std::string text;
    for (const std::string &sentence : sentences)
        text += sentence + "\n";
    return text;
}

// All words of the heap.
std::vector<cl_uint> image_of(const Heap &heap)
{
    std::vector<cl_uint> words(heap.bytes() / sizeof(cl_uint));
    device().queue().enqueueReadBuffer(heap.buffer(), CL_TRUE, 0, words.size() * sizeof(cl_uint), words.data());
    return words;
}

void write(const Heap &heap, const std::vector<cl_uint> &words)
{
    device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, 0, words.size() * sizeof(cl_uint), words.data());
}

} // namespace

TEST_CASE("the statistics of a slab heap are exact", "[slab]")
{
    for_all([](const kma::HeapOptions &options) {
        Street street(options);
        const kma::HeapStats stats = street.heap.stats();
        CHECK(stats.kind == HeapKind::slab);
        CHECK(stats.debug == options.debug);
        CHECK(stats.bytes == street.heap.bytes());
        CHECK(stats.capacity == 16 * frame_bytes);
        CHECK(stats.used == used_in_street);
        CHECK(stats.blocks == 20);
        CHECK(stats.superblock_bytes == frame_bytes);
        CHECK(stats.superblocks == 16);
        CHECK(stats.superblocks_free + stats.superblocks_partial + stats.superblocks_full == 16);
        CHECK(stats.superblocks_free >= 10);
        CHECK(stats.errors == decltype(stats.errors){});
        CHECK(joined(street.heap.check()) == "");
        street.kernels.free(street.refs);
        CHECK(street.heap.stats().used == 0);
        CHECK(street.heap.stats().blocks == 0);
        CHECK(joined(street.heap.check()) == "");
        street.heap.reset();
        CHECK(street.heap.stats().superblocks_free == 16);
        CHECK(street.heap.stats().used == 0);
        CHECK(joined(street.heap.check()) == "");
    });
}

TEST_CASE("leaks of a slab heap are exactly the blocks that live", "[slab]")
{
    for_all([](const kma::HeapOptions &options) {
        Street street(options);
        const kma::LeakReport report = street.heap.leaks();
        CHECK(report.blocks == 20);
        CHECK(report.bytes == used_in_street);
        CHECK_THAT(kma::to_text(report), contains("blocks handed out: 20, 33536 bytes\n  16 of 64 bytes\n"
                                                  "  3 of 4096 bytes\n  1 of 20224 bytes\nthe first 20:\n"));
        std::vector<kma::Ref> listed, refs = street.refs;
        for (const kma::LeakReport::Block &block : report.first)
            listed.push_back(block.ref);
        std::ranges::sort(refs);
        CHECK(listed == refs);
        CHECK(street.heap.leaks(0).first.empty());
        CHECK(street.heap.leaks(7).first.size() == 7);
        street.kernels.free(street.refs);
        CHECK(street.heap.leaks().blocks == 0);
    });
}

TEST_CASE("leaks and check of a slab heap in which many allocate and free at once", "[slab]")
{
    for (const kma::Storage storage : test::storages())
        for (const int debug : {0, 3}) {
            CAPTURE(static_cast<int>(storage), debug);
            Heap heap(device(), 40 << 20, slabs(storage, debug));
            const Kernels kernels(heap);
            CHECK(joined(heap.check()) == "");
            std::map<kma::Ref, cl_ulong> living;
            for (cl_uint seed = 1; seed <= 3; seed++) {
                const Kernels::Kept kept = kernels.churn(2000, seed * 1000000, 9000);
                for (std::size_t i = 0; i < kept.refs.size(); i++)
                    if (kept.refs[i] != 0)
                        CHECK(living.emplace(kept.refs[i], kept.sizes[i]).second);
                CHECK(joined(heap.check()) == "");
                CHECK(heap.error_text() == "");
            }
            REQUIRE(living.size() > 5000);
            const kma::LeakReport report = heap.leaks(1 << 20);
            CHECK(heap.stats().blocks == living.size());
            const auto most = [](cl_ulong bytes) { return bytes + 15 + bytes / 8 + 256; };
            CHECK(std::ranges::equal(report.first, living, [&](const auto &block, const auto &one) {
                return block.ref == one.first && (debug == 3 ? block.bytes == one.second
                                                             : block.bytes >= one.second && block.bytes <= most(one.second));
            }));
            if (debug == 0)
                CHECK(heap.stats().used == report.bytes);
            std::vector<kma::Ref> refs;
            for (const auto &[ref, bytes] : living)
                refs.push_back(ref);
            kernels.free(refs);
            CHECK(joined(heap.check()) == "");
            CHECK(heap.stats().blocks == 0);
            kernels.allocate(5000, 48);
            heap.reset();
            CHECK(joined(heap.check()) == "");
            CHECK(heap.stats().superblocks_free == heap.stats().superblocks);
        }
}

TEST_CASE("check finds nothing in a slab heap that is full", "[slab]")
{
    const Heap heap(device(), 1 << 20, slabs());
    const Kernels kernels(heap);
    for (const cl_ulong size : {16, 4096, 100, 30000, 16})
        kernels.allocate(50000, size);
    CHECK(heap.stats().available() < 2048);
    CHECK(joined(heap.check()) == "");
}

TEST_CASE("a snapshot of a slab heap has the lines in use", "[slab]")
{
    for_all([](const kma::HeapOptions &options) {
        Street street(options);
        const kma::Ref longest = street.refs[19];
        {
            kma::MappedRange range = street.heap.map(longest, 20000);
            std::ranges::fill(range.as<cl_uint>(), 99);
        }
        const kma::Snapshot snapshot = street.heap.snapshot();
        // Two slabs of 64-byte blocks have room for twelve more.
        CHECK(snapshot.copied_bytes() >= used_in_street);
        CHECK(snapshot.copied_bytes() <= used_in_street + 16 * 64 + 256);
        const auto last = static_cast<kma::Ref>(longest + 20000 / kma::ref_unit - 1);
        CHECK(*snapshot.deref<cl_uint>(last) == 99);
        street.kernels.free({longest});
        CHECK_THROWS_AS(street.heap.snapshot().deref<cl_uint>(last), kma::Error);
    });
    const Heap heap(device(), 256 << 20, slabs());
    CHECK(heap.snapshot().extents().empty());
    test::Kernels(heap).allocate(1, 100, true);
    CHECK(heap.snapshot().copied_bytes() <= frame_bytes); // one page
}

TEST_CASE("a slab heap in a file is as small as what is in it", "[slab]")
{
    const std::filesystem::path file = KMA_SCRATCH_DIR "/slab_sparse.kma";
    const Heap heap(device(), 256 << 20, slabs());
    const Kernels kernels(heap);
    kernels.free(kernels.churn(1000, 3, 5000).refs);
    const kma::Ref list = kernels.push(0, 100);
    heap.save(file);
    // Less than the metadata alone, of which 4 MiB are the words of lines: those of free lines are not in it.
    CHECK(std::filesystem::file_size(file) < heap.bytes() - heap.stats().capacity);
    const Heap loaded = Heap::load(device(), file);
    CHECK(kma::to_text(loaded.stats()) == kma::to_text(heap.stats()));
    CHECK(kma::to_text(loaded.leaks(1000)) == kma::to_text(heap.leaks(1000)));
    CHECK(Kernels(loaded).sum(list) == 99 * 100 / 2);
    CHECK(joined(loaded.check()) == "");
    std::filesystem::remove(file);
}

TEST_CASE("slabs in every state outlive growth, and longer blocks fit afterwards", "[slab]")
{
    for (const kma::Storage storage : test::storages()) {
        const std::uint64_t most = Heap::bytes_for(slabs(), 200 * frame_bytes);
        Street street(slabs(storage, 0, most));
        const std::string leaks = kma::to_text(street.heap.leaks(1000));
        CHECK(street.kernels.allocate(1, 120 * frame_bytes)[0] == 0);
        CHECK(street.kernels.allocate(1, 201 * frame_bytes)[0] == 0);
        CHECK(street.heap.error_count(kma::ErrorCode::out_of_memory) == 1);
        CHECK(street.heap.error_count(kma::ErrorCode::too_large) == 1);
        street.heap.grow(most);
        CHECK(joined(street.heap.check()) == "");
        CHECK(kma::to_text(street.heap.leaks(1000)) == leaks);
        CHECK(street.heap.stats().superblocks == 200);
        CHECK(street.kernels.allocate(1, 120 * frame_bytes)[0] != 0);
        CHECK(joined(street.heap.check()) == "");
        street.kernels.free(street.refs);
        CHECK(street.heap.leaks().blocks == 1);
        CHECK(joined(street.heap.check()) == "");
        street.heap.reset();
        CHECK(street.heap.stats().superblocks_free == 200);
        CHECK(joined(street.heap.check()) == "");
    }
}

TEST_CASE("check names every single bit of a slab heap's constants", "[slab]")
{
    const Street street(slabs());
    std::vector<cl_uint> image = image_of(street.heap);
    constexpr std::size_t first = offsetof(kma::layout::kma_slab, plan) / 4;
    for (std::size_t word = first; word < first + sizeof(kma::layout::kma_slab_plan) / 4; word++) {
        const cl_uint wrong = image[word] ^ 1u << word % 32;
        device().queue().enqueueWriteBuffer(street.heap.buffer(), CL_TRUE, word * 4, 4, &wrong);
        CHECK_THAT(joined(street.heap.check()),
                   contains("the plan's ") &&
                       contains(" is " + std::to_string(wrong) + ", should be " + std::to_string(image[word]) + "\n"));
        CHECK_THROWS_AS(street.heap.stats(), kma::Error);
        device().queue().enqueueWriteBuffer(street.heap.buffer(), CL_TRUE, word * 4, 4, &image[word]);
    }
    CHECK(joined(street.heap.check()) == "");
}

// tests/heap/damage does so far more often, without a device; here the device's own kernels look at the damage.
TEST_CASE("what reads a slab heap ends in one that is damaged at random, and reset mends it", "[slab]")
{
    std::mt19937 random(1);
    Heap heap(device(), Heap::bytes_for(HeapKind::slab, 16 * frame_bytes), slabs());
    const Kernels kernels(heap);
    kernels.churn(100, 1, 300);
    const std::vector<cl_uint> image = image_of(heap);
    const std::size_t constant = offsetof(kma::layout::kma_slab, cursors) / 4; // cursors may have any value
    const std::size_t metadata = image.size() - heap.stats().capacity / 4;
    int found = 0;
    for (int round = 0; round < 150; round++) {
        CAPTURE(round);
        std::vector<cl_uint> damaged = image;
        for (std::size_t n = 1 + random() % 20; n != 0; n--) // small numbers lead somewhere
            damaged[constant + random() % (metadata - constant)] =
                random() % 2 ? static_cast<cl_uint>(random()) : random() % 40;
        write(heap, damaged);
        found += heap.check().empty() ? 0 : 1;
        CHECK_NOTHROW(heap.stats());
        CHECK_NOTHROW(heap.leaks());
        CHECK_NOTHROW(heap.snapshot());
        heap.reset();
        CHECK(joined(heap.check()) == "");
    }
    CHECK(found > 75);
}

TEST_CASE("check names a freed block that a slab heap's metadata still have", "[slab]")
{
    Heap heap(device(), 1 << 20, slabs(kma::Storage::buffer, 2));
    const Kernels kernels(heap);
    const std::vector<kma::Ref> refs = kernels.allocate(8, 60, true);
    kernels.free({refs[5]});
    const std::vector<cl_uint> before = image_of(heap);
    kernels.free(kernels.allocate(1100, 3000, true)); // which push it out of the quarantine
    std::vector<cl_uint> now = image_of(heap);
    kma::layout::kma_slab_plan plan;
    std::copy_n(&now[offsetof(kma::layout::kma_slab, plan) / 4], sizeof plan / 4, reinterpret_cast<cl_uint *>(&plan));
    std::size_t word = plan.words * 4 + (refs[5] - plan.begin) / KMA_SLAB_FRAME_UNITS * KMA_SLAB_FRAME_LINES;
    for (const std::size_t behind = word + KMA_SLAB_FRAME_LINES; word < behind && before[word] == now[word];)
        word++; // of the page's lines the one that has the block
    REQUIRE(before[word] != now[word]);
    REQUIRE((before[word] & now[word]) == now[word]);
    CHECK(joined(heap.check()) == "");
    now[word] = before[word];
    write(heap, now);
    CHECK(joined(heap.check()) == "the freed block at ref " + std::to_string(refs[5]) +
                                      " is not in the quarantine, and so will not come back\n");
}
