// kma::GrowingRunner: launches until there was memory for all, or there is none left to give.
#include <algorithm>

#include "catch.hpp"
#include "heap_support.hpp"

using kma::ErrorCode;
using kma::Growth;
using kma::Heap;
using kma::HeapKind;
using test::device;
using test::Kernels;

namespace {

kma::HeapOptions growing(HeapKind kind, std::uint64_t max_bytes)
{
    kma::HeapOptions options;
    options.kind = kind;
    options.superblock_bytes = 4096;
    options.max_bytes = max_bytes;
    return options;
}

// A launch that can be repeated: who has a block already does not ask for another.
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

TEST_CASE("a runner launches again until all were served", "[grow]")
{
    for (const HeapKind kind : kma::heap_kinds) {
        CAPTURE(kma::name_of(kind));
        Heap heap(device(), 60000, growing(kind, 400000));
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
        const Growth result = runner.run([&](Heap &on, unsigned repetition) {
            CHECK(&on == &heap);
            repetitions.push_back(repetition);
            job.run(kernels);
        });
        CHECK(result == Growth::enough);
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
        Heap heap(device(), 40000, growing(HeapKind::bump, 100000));
        const Kernels kernels(heap);
        kernels.allocate({30000});
        for (unsigned i = 0; i < before; i++)
            kernels.allocate({20000 + i});
        kma::GrowingRunner runner(heap);
        CHECK(runner.look() == Growth::enough);
        kernels.allocate(20, 30000, true);
        CHECK(runner.look() == Growth::grown);
        CHECK(heap.error_count(ErrorCode::out_of_memory) == before);
        const std::vector<kma::ErrorRecord> records = heap.errors();
        CHECK(records.size() == std::min(before, 8u));
        for (unsigned i = 0; i < records.size(); i++)
            CHECK(records[i].size == 20000 + i);
        CHECK(heap.check() == std::vector<std::string>());
        CHECK(runner.refused() == 20);
        CHECK(runner.look() == Growth::enough);
    }
}

TEST_CASE("a runner stops at its limit and leaves the errors", "[grow]")
{
    struct {
        std::uint64_t max_bytes, limit, end;
    } const cases[] = {{0, 0, 60000}, {130000, 0, 130000}, {200000, 90000, 90000}, {130000, 1 << 30, 130000}};
    for (const auto &one : cases) {
        CAPTURE(one.max_bytes, one.limit);
        Heap heap(device(), 60000, growing(HeapKind::superblock, one.max_bytes));
        const Kernels kernels(heap);
        Job job;
        kma::GrowingRunner runner(heap, one.limit);
        unsigned launches = 0;
        const auto launch = [&](Heap &, unsigned) {
            launches++;
            job.run(kernels);
        };
        CHECK(runner.run(launch) == Growth::at_limit);
        CHECK(!job.done());
        CHECK(launches == runner.growths() + 1);
        CHECK(heap.bytes() == one.end);
        const std::uint64_t refused = heap.error_count(ErrorCode::out_of_memory);
        CHECK(refused > 0);
        CHECK_THAT(heap.error_text(), contains("out of memory"));
        CHECK(runner.look() == Growth::enough); // of what came since
        CHECK(runner.run(launch) == Growth::at_limit);
        CHECK(heap.error_count(ErrorCode::out_of_memory) > refused);
        heap.clear_errors();
        CHECK(runner.look() == Growth::enough);
        CHECK(runner.run(launch) == Growth::at_limit);
    }
}
