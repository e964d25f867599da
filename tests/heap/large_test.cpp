// Heaps as large as the device allows, up to 8 GiB: refs beyond 4 GiB, and a host that leaves the blocks alone.
#include <algorithm>
#include <filesystem>

#include <sys/mman.h>
#include <unistd.h>

#include "catch.hpp"
#include "heap_support.hpp"

using kma::Heap;
using test::device;
using test::Kernels;
using test::superblocks;

namespace {

std::uint64_t large()
{
    return std::min<std::uint64_t>(8ull << 30, device().max_buffer_bytes());
}

// Whether pages of shared memory come to be when they are first read or written, so that they tell whether they were.
bool pages_tell()
{
    return device().has_svm() && device().device().getInfo<CL_DEVICE_TYPE>() == CL_DEVICE_TYPE_CPU;
}

// Bytes of the heap in pages that were touched; 0 where pages do not tell.
std::uint64_t touched(const Heap &heap)
{
    if (!pages_tell())
        return 0;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(heap.svm()) / page * page;
    std::vector<unsigned char> present((heap.stats().bytes + page - 1) / page);
    REQUIRE(mincore(reinterpret_cast<void *>(start), heap.stats().bytes, present.data()) == 0);
    return page * static_cast<std::uint64_t>(std::ranges::count_if(present, [](auto flags) { return flags & 1; }));
}

} // namespace

TEST_CASE("what the host does with a large heap touches its metadata only", "[large]")
{
    const std::filesystem::path file = KMA_SCRATCH_DIR "/large_metadata.kma"; // cases may run side by side
    for (const std::string &width : test::atomic_widths)
        for (const std::uint64_t size : {0, 4096}) {
            if (size != 0 && !width.empty())
                continue; // more superblocks than that width numbers
            CAPTURE(width, size);
            const kma::Storage storage = pages_tell() ? kma::Storage::svm : kma::Storage::buffer;
            const kma::HeapOptions options{kma::HeapKind::superblock, storage, 0, {size}, {}, width};
            Heap heap(device(), large(), options);
            const Kernels kernels(heap);
            kernels.allocate({16, 100, 1000, 4096, 4096, 17});
            const kma::HeapStats stats = heap.stats();
            const std::uint64_t metadata = stats.bytes - stats.capacity;
            CHECK(metadata < stats.bytes / 50);
            CHECK(heap.check().empty());
            CHECK(heap.leaks().blocks == 6);
            CHECK(touched(heap) < metadata + (4 << 20)); // a page may have 2 MiB
            heap.save(file);
            CHECK(std::filesystem::file_size(file) < stats.bytes / 80 + 10 * stats.superblock_bytes);
            heap.reset();
            CHECK(heap.stats().used == 0);
            // What is saved of superblocks in use are all their blocks.
            CHECK(touched(heap) < metadata + 6 * stats.superblock_bytes + (4 << 20));
            const Heap loaded = Heap::load(device(), file, options.storage, width);
            CHECK(loaded.leaks().blocks == 6);
            const std::uint64_t before = touched(loaded);
            CHECK(before < metadata + 6 * stats.superblock_bytes + (4 << 20));
            const kma::MappedRange middle = loaded.map(kma::Ref(large() / 2 / kma::ref_unit), 16);
            static_cast<void>(*const_cast<const volatile std::byte *>(middle.bytes().data()));
            CHECK((touched(loaded) > before || !pages_tell())); // a single read is seen
            std::filesystem::remove(file);
        }
}

TEST_CASE("the last block of a large heap is written, saved and found again", "[large]")
{
    const std::filesystem::path file = KMA_SCRATCH_DIR "/large_last.kma";
    for (const std::string &width : test::atomic_widths) {
        const Heap heap(device(), large(), superblocks(0, width));
        const Kernels kernels(heap);
        const kma::HeapStats stats = heap.stats();
        std::vector<kma::Ref> refs = kernels.allocate(stats.superblocks, stats.superblock_bytes);
        std::ranges::sort(refs);
        const kma::Ref last = refs.back();
        CHECK(last == refs.front() + (stats.superblocks - 1) * stats.superblock_bytes / kma::ref_unit);
        if (large() == 8ull << 30)
            CHECK(last * kma::ref_unit > 7ull << 30);
        refs.pop_back();
        kernels.free(refs);
        REQUIRE(heap.leaks().first.size() == 1);
        CHECK(heap.leaks().first[0].ref == last);

        const auto end = static_cast<kma::Ref>(last + stats.superblock_bytes / kma::ref_unit - 1);
        heap.map(end, 16).as<test::Item>()[0] = {0, 17};
        heap.map(last, 16).as<test::Item>()[0] = {end, 4};
        CHECK(kernels.sum(last) == 21);
        CHECK(heap.snapshot().deref<test::Item>(end)->number == 17);
        // Beside the block's own superblock, the one that the size has on offer, if that is another.
        CHECK(heap.snapshot().copied_bytes() >= stats.superblock_bytes);
        CHECK(heap.snapshot().copied_bytes() <= 2 * stats.superblock_bytes);
        heap.save(file);
        const Heap loaded = Heap::load(device(), file, kma::Storage::buffer, width);
        CHECK(Kernels(loaded).sum(last) == 21);
        std::filesystem::remove(file);
        CHECK(heap.check().empty());
        CHECK(heap.error_text() == "");
    }
}
