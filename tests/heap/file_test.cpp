// Heaps on disk: saved, loaded, gone on with; and files that are none. damage/ damages files at random.
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "catch.hpp"
#include "heap_support.hpp"
#include "heap/common/layout.hpp"

using kma::Heap;
using kma::HeapKind;
using test::device;
using test::Kernels;
using test::superblocks;

namespace {

namespace fs = std::filesystem;

const fs::path scratch = KMA_SCRATCH_DIR;

std::string refusal(const fs::path &path, const std::string &build_options = {})
{
    return message_of<kma::Error>([&] { Heap::load(device(), path, kma::Storage::buffer, build_options); });
}

// A file that is gone after the test.
struct File {
    explicit File(const std::string &name) : path(scratch / (name + ".kma")) { fs::remove(path); }
    ~File() { fs::remove_all(path); }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    std::string read() const
    {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // What loading says if the file has these bytes.
    std::string refusal_of(const std::string &bytes) const
    {
        std::ofstream(path, std::ios::binary) << bytes;
        return refusal(path);
    }

    fs::path path;
};

std::string save_error(const Heap &heap, const fs::path &path)
{
    return message_of<kma::Error>([&] { heap.save(path); });
}

// Of all kinds; they may grow to max_bytes, if that is not 0.
std::vector<kma::HeapOptions> all_options(std::uint64_t max_bytes)
{
    std::vector<kma::HeapOptions> all;
    for (const kma::Storage storage : test::storages())
        for (const std::string &width : test::atomic_widths)
            for (const int debug : {0, 3}) {
                for (const HeapKind kind : kma::heap_kinds)
                    all.push_back({kind, storage, debug, {4096}, {4096}, width, max_bytes});
                all.push_back({HeapKind::superblock, storage, debug, {}, {}, width, max_bytes});
            }
    return all;
}

// Where a byte of a heap is in its file.
std::size_t place_in(const std::string &file, std::uint64_t offset)
{
    std::uint64_t ranges;
    std::memcpy(&ranges, file.data() + 56, sizeof ranges);
    std::size_t at = 64 + 16 * ranges;
    for (std::uint64_t i = 0; i < ranges; i++) {
        std::uint64_t range[2]; // begin and bytes
        std::memcpy(range, file.data() + 64 + 16 * i, sizeof range);
        if (offset >= range[0] && offset - range[0] < range[1])
            return at + (offset - range[0]);
        at += range[1];
    }
    FAIL("the file does not have byte " << offset << " of the heap");
    return 0;
}

template <class T> T read_at(const std::string &file, std::uint64_t offset)
{
    T value;
    std::memcpy(&value, file.data() + place_in(file, offset), sizeof value);
    return value;
}

// The file with another value at a byte of the heap.
template <class T> std::string with(std::string file, std::uint64_t offset, const T &value)
{
    std::memcpy(file.data() + place_in(file, offset), &value, sizeof value);
    return file;
}

// Files that saves have begun and not ended, in that folder.
std::size_t unfinished_in(const fs::path &folder)
{
    return static_cast<std::size_t>(std::ranges::count_if(fs::directory_iterator(folder), [](const auto &entry) {
        return entry.path().filename().string().find("unfinished") != std::string::npos;
    }));
}

cl_uint walk(const kma::Snapshot &snapshot, kma::Ref first)
{
    cl_uint sum = 0;
    for (const auto *at = snapshot.deref<test::Item>(first); at; at = snapshot.deref<test::Item>(at->next))
        sum += at->number;
    return sum;
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

// Grows a heap, if it can. It keeps its books and has what one made so large has.
void check_grows(Heap &heap, std::uint64_t bytes)
{
    if (heap.options().max_bytes == 0)
        return;
    CAPTURE(bytes);
    const std::string before = books(heap);
    const kma::HeapStats stats_before = heap.stats();
    heap.grow(bytes);
    CHECK(test::findings(heap) == "");
    CHECK(heap.bytes() == bytes);
    CHECK(books(heap) == before);
    const kma::HeapStats stats = heap.stats(), made = Heap(device(), bytes, heap.options()).stats();
    CHECK(stats.bytes == bytes);
    CHECK(stats.capacity == made.capacity);
    CHECK(stats.superblocks == made.superblocks);
    CHECK(stats.used == stats_before.used);
    CHECK(stats.blocks == stats_before.blocks);
}

void check_same(const Heap &loaded, const Heap &heap)
{
    CHECK(loaded.check().empty());
    CHECK(kma::to_text(loaded.stats()) == kma::to_text(heap.stats()));
    CHECK(kma::to_text(loaded.leaks(1 << 20)) == kma::to_text(heap.leaks(1 << 20)));
    CHECK(std::ranges::equal(heap.snapshot().extents(), loaded.snapshot().extents(),
                             [](const auto &a, const auto &b) { return a.offset == b.offset && a.bytes == b.bytes; }));
}

} // namespace

TEST_CASE("a heap goes on, and goes on growing, where it was saved", "[file][grow][long]")
{
    const std::uint64_t max_bytes = GENERATE(4 << 20, 0);
    const File file("round_trip");
    const auto sum = [](cl_uint length) { return (length - 1) * length / 2; };
    CAPTURE(max_bytes);
    for (const kma::HeapOptions &options : all_options(max_bytes))
        for (const kma::Storage storage : test::storages()) {
            CAPTURE(kma::name_of(options.kind), options.debug, options.superblock.bytes, options.build_options);
            kma::Ref first = 0;
            kma::HeapStats before{};
            {
                Heap heap(device(), 3 << 20, options);
                const Kernels kernels(heap);
                const auto others = kernels.allocate({100, 0, 3000, 1, 17, 4000});
                first = kernels.push(0, 1000);
                kernels.free({others[0], others[2], others[5]});
                kernels.allocate(1, 1 << 30);
                check_grows(heap, (3 << 20) + 16);
                before = heap.stats();
                heap.save(file.path);
                CHECK(heap.stats().used == before.used);
            }
            CHECK(unfinished_in(scratch) == 0);
            Heap heap = Heap::load(device(), file.path, storage, options.build_options);
            const kma::HeapStats after = heap.stats();
            CHECK(kma::to_text(after) == kma::to_text(before));
            CHECK(after.errors[1] == 1);
            CHECK(heap.errors().size() == 1);
            CHECK(heap.options().storage == storage);
            CHECK(heap.options().max_bytes == max_bytes);
            CHECK(heap.check().empty());
            CHECK(walk(heap.snapshot(), first) == sum(1000));
            const Kernels kernels(heap);
            CHECK(kernels.sum(first) == sum(1000));
            first = kernels.push(first, 1000);
            check_grows(heap, 3500001);
            check_grows(heap, 4 << 20);
            CHECK(walk(heap.snapshot(), first) == sum(2000));
            CHECK(kernels.sum(first) == sum(2000));
            const auto refs = kernels.allocate(500, 64);
            CHECK(std::ranges::count(refs, kma::Ref{0}) == 0);
            kernels.free(refs);
            kernels.free({first});
            CHECK(heap.check().empty());
            if (options.kind != HeapKind::bump) {
                CHECK(heap.leaks().blocks == before.blocks + 999);
                CHECK(heap.error_text().find("free") == std::string::npos);
            }
            // Once more, over the file that is there.
            heap.save(file.path);
            const kma::Snapshot again = Heap::load(device(), file.path, storage, options.build_options).snapshot();
            if (options.debug == 0) // else the list's first block is poisoned
                CHECK(walk(again, first) ==
                      (options.kind == HeapKind::bump ? sum(2000) : walk(heap.snapshot(), first)));
            else
                CHECK(*again.deref<cl_uint>(first) == 0xdddddddd);
            heap.reset();
            CHECK(heap.check().empty());
            CHECK(heap.stats().used == 0);
            CHECK(heap.bytes() == (max_bytes != 0 ? 4 << 20 : 3 << 20));
        }
}

TEST_CASE("a full heap and a used one come back whole, and a large one with little in it makes a small file",
          "[file][long]")
{
    const File file("whole");
    for (const std::string &width : test::atomic_widths)
        for (const std::uint64_t size : {4096, 65536, 2 << 20}) {
            const Heap heap(device(), std::max<std::uint64_t>(8 << 20, 4 * size), superblocks(size, width));
            const Kernels kernels(heap);
            kernels.churn(1000, 5, 2000);
            kernels.allocate(8000, 2048);
            heap.save(file.path);
            check_same(Heap::load(device(), file.path, kma::Storage::buffer, width), heap);
        }
    for (const HeapKind kind : {HeapKind::superblock, HeapKind::slab}) {
        const Heap heap(device(), 256 << 20, {.kind = kind});
        const Kernels kernels(heap);
        if (kind == HeapKind::slab)
            kernels.free(kernels.churn(1000, 3, 5000).refs);
        const kma::Ref list = kernels.push(0, 100);
        heap.save(file.path);
        // A superblock, its bitmap, and what is there of each superblock. Of a slab heap less than the metadata alone,
        // of which 4 MiB are the words of lines: those of free lines are not in it.
        const std::uint64_t most =
            kind == HeapKind::slab ? heap.bytes() - heap.stats().capacity : (2 << 20) + (64 << 10);
        CHECK(fs::file_size(file.path) < most);
        const Heap loaded = Heap::load(device(), file.path);
        check_same(loaded, heap);
        CHECK(Kernels(loaded).sum(list) == 99 * 100 / 2);
    }
}

TEST_CASE("files that are no heaps are refused", "[file]")
{
    const File file("refused");
    CHECK_THAT(refusal(file.path), contains("cannot read the heap file") && contains("refused.kma"));
    fs::create_directory(file.path);
    CHECK_THAT(refusal(file.path), contains("cannot read the heap file"));
    fs::remove(file.path);
    for (const std::string &text : {std::string(), std::string("kmaheap"), std::string(1000, 'x')})
        CHECK_THAT(file.refusal_of(text), contains("no file that Heap::save wrote"));

    Heap(device(), 1 << 20, superblocks(4096)).save(file.path);
    const std::string whole = file.read();
    CHECK(refusal(file.path) == "no error");
    for (const std::size_t length : {std::size_t{8}, std::size_t{63}, std::size_t{64}, std::size_t{68}, std::size_t{80},
                                     whole.size() / 2, whole.size() - 1})
        CHECK_THAT(file.refusal_of(whole.substr(0, length)), contains("is truncated"));
    CHECK_THAT(file.refusal_of(whole + "x"), contains("is damaged: it has " + std::to_string(whole.size() + 1) +
                                                      " bytes, should be " + std::to_string(whole.size())));

    const auto with = [&](std::size_t at, std::uint32_t value) {
        std::string changed = whole;
        std::memcpy(changed.data() + at, &value, sizeof value);
        return file.refusal_of(changed);
    };
    CHECK_THAT(with(0, 0), contains("no file that Heap::save wrote"));
    CHECK_THAT(with(8, 9), contains("another version of kma wrote it: file version 9 and heap layout 8"));
    CHECK_THAT(with(12, 9), contains("another version of kma wrote it: file version 2 and heap layout 9"));
    CHECK_THAT(with(12, 6),
               contains("file version 2 and heap layout 6, this one reads 2 and 8")); // the slab heap before
    CHECK_THAT(with(16, 9), contains("no heap kind number 9"));
    CHECK_THAT(with(16, 1), contains("damaged"));
    CHECK_THAT(with(20, 1), contains("is damaged: the header's debug is 0, should be 1"));
    CHECK_THAT(with(32, 1 << 19), contains("damaged")); // bytes of the heap
    CHECK_THAT(with(40, 2 << 20), contains("damaged")); // those that it may grow to
    CHECK_THAT(with(40, 1000), contains("HeapOptions::max_bytes = 1000 is less than the 1048576 bytes"));
    CHECK_THAT(with(48, 8192), contains("is damaged: ")); // of a superblock
    CHECK_THAT(with(48, 1234), contains("cannot load a heap from " + file.path.string() + ": superblock.bytes = 1234"));
    CHECK_THAT(with(56, 1 << 30), contains("is truncated: its list of 1073741824 ranges"));
    CHECK_THAT(with(64, 16), contains("damaged")); // where the first range begins
    CHECK_THAT(with(72, 2 << 20), contains("is damaged: bytes 0 and 2097152 more"));
    // In the heap's own metadata: the first range's bytes begin at 80, superblock 0's state at 10,000 or so.
    CHECK_THAT(with(80, 1), contains("is damaged: the header's magic number is 1"));
    CHECK_THAT(with(80 + 2472, 3), contains("is damaged: the plan's number of superblocks is 3"));
}

TEST_CASE("a heap with atomics of the other width is refused", "[file]")
{
    const File file("width");
    const std::string narrow = test::atomic_widths[1];
    Heap(device(), 1 << 20, superblocks(4096, narrow)).save(file.path);
    CHECK(refusal(file.path, narrow) == "no error");
    if (Heap(device(), 1 << 20, superblocks(4096)).stats().superblocks != 0 && refusal(file.path) != "no error") {
        CHECK_THAT(refusal(file.path),
                   contains("saved without 64-bit atomics") && contains("-DKMA_HAS_ATOMIC64=0 if the device can"));
        Heap(device(), 1 << 20, superblocks(4096)).save(file.path);
        CHECK_THAT(refusal(file.path, narrow), contains("saved with 64-bit atomics"));
    }
    Heap(device(), 1 << 20, {.kind = HeapKind::bump, .build_options = narrow}).save(file.path);
    CHECK(refusal(file.path) == "no error"); // a bump heap is the same in both
}

TEST_CASE("a heap that cannot be written leaves nothing behind", "[file]")
{
    const Heap heap(device(), 1 << 20, superblocks(4096));
    const fs::path nowhere = scratch / "no such folder" / "heap.kma";
    CHECK_THAT(save_error(heap, nowhere), contains("cannot write the heap to " + nowhere.string()));
    const File folder("folder");
    fs::create_directories(folder.path / "within");
    CHECK_THAT(save_error(heap, folder.path), contains("cannot write the heap to"));
    CHECK(fs::is_directory(folder.path / "within"));
    const File pipe("pipe"), link("link_to_pipe"), loop("loop");
    REQUIRE(mkfifo(pipe.path.c_str(), 0600) == 0);
    fs::create_symlink("pipe.kma", link.path);
    for (const fs::path &path : {pipe.path, link.path}) {
        CHECK_THAT(save_error(heap, path), contains("it is no plain file"));
        CHECK(fs::is_fifo(pipe.path));
        CHECK_THAT(refusal(path), contains("cannot read the heap file")); // and does not wait for a writer
    }
    CHECK(fs::is_symlink(link.path));
    fs::create_symlink("loop.kma", loop.path);
    CHECK_THAT(save_error(heap, loop.path), contains("cannot write the heap to"));
    CHECK(fs::is_symlink(loop.path));
    CHECK(unfinished_in(scratch) == 0);
}

TEST_CASE("a heap is written to where links lead, and the file keeps its mode", "[file]")
{
    const Heap heap(device(), 1 << 20, superblocks(4096));
    const File folder("links");
    fs::create_directories(folder.path / "far");
    const fs::path plain = folder.path / "far" / "heap.kma", link = folder.path / "near.kma";
    fs::create_symlink("far/again.kma", link);
    fs::create_symlink("heap.kma", folder.path / "far" / "again.kma");
    for (const bool is_there : {false, true}) {
        CHECK(fs::exists(plain) == is_there);
        heap.save(link);
        CHECK(fs::is_symlink(link));
        CHECK(fs::is_symlink(folder.path / "far" / "again.kma"));
        CHECK(fs::is_regular_file(fs::symlink_status(plain)));
        CHECK(refusal(plain) == "no error");
        CHECK(refusal(link) == "no error");
    }
    const auto mode = [&] { return static_cast<unsigned>(fs::status(plain).permissions()); };
    const mode_t mask = umask(0);
    umask(mask);
    CHECK(mode() == (0666u & ~mask));
    for (const unsigned kept : {0600u, 0664u, 0444u}) {
        fs::permissions(plain, static_cast<fs::perms>(kept));
        heap.save(link);
        CHECK(mode() == kept);
    }
    CHECK(unfinished_in(folder.path) + unfinished_in(folder.path / "far") == 0);
}

TEST_CASE("heaps saved to one name at the same time", "[file]")
{
    const File folder("race");
    fs::create_directories(folder.path);
    const fs::path path = folder.path / "same.kma";
    std::vector<Heap> heaps;
    for (int i = 0; i < 4; i++)
        heaps.emplace_back(device(), 1 << 16, kma::HeapOptions{.kind = HeapKind::bump});
    std::atomic<int> failed = 0;
    std::vector<std::thread> threads;
    for (const Heap &heap : heaps)
        threads.emplace_back([&] {
            for (int n = 0; n < 50; n++)
                failed += save_error(heap, path) != "no error";
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(failed == 0);
    CHECK(refusal(path) == "no error");
    CHECK(unfinished_in(folder.path) == 0);
}

TEST_CASE("what was planned for another device stays with the heap", "[file][long]")
{
    constexpr std::uint64_t bytes = 16 << 20, more = 32 << 20;
    const File file("planned");
    Heap(device(), bytes, {.max_bytes = more}).save(file.path);
    const std::string whole = file.read();
    for (const std::uint32_t cursors : {1u, 7u, 13u, 32u}) { // those of some number of compute units
        const auto plan = kma::layout::kma_slab_plan_growing(bytes, more, cursors, 0);
        CHECK(file.refusal_of(with(whole, offsetof(kma::layout::kma_slab, plan), plan)) == "no error");
        Heap heap = Heap::load(device(), file.path);
        const Kernels kernels(heap);
        for (int round = 0; round < 2; round++) {
            CHECK(std::ranges::count(kernels.allocate(1000, 100), kma::Ref{0}) == 0);
            CHECK(heap.check().empty());
            heap.save(file.path);
            CHECK(refusal(file.path) == "no error");
            heap.grow(more);
            CHECK(heap.check().empty());
            heap.reset();
            CHECK(heap.check().empty());
        }
    }
    for (const std::uint32_t cursors : {0u, 33u, ~0u})
        CHECK_THAT(file.refusal_of(with(whole, offsetof(kma::layout::kma_slab, plan.cursors), cursors)),
                   contains("is damaged: the plan's number of cursors is " + std::to_string(cursors)));
    CHECK_THAT(file.refusal_of(with(whole, offsetof(kma::layout::kma_slab, plan.rounds), 1u)),
               contains("is damaged: the plan's number of a cursor's shares for few lines is 1, should be"));

    const kma::HeapOptions pages{.kind = HeapKind::scatter, .scatter = {.region_bytes = 1 << 20, .page_bytes = 16384}};
    Heap(device(), 4 << 20, pages).save(file.path);
    const Heap loaded = Heap::load(device(), file.path);
    CHECK(loaded.options().scatter.page_bytes == 16384);
    CHECK(loaded.options().scatter.region_bytes == 1 << 20);
    CHECK(loaded.check().empty());
}

TEST_CASE("a file that would lead kernels astray by guards or the quarantine is refused",
          "[file][long]")
{
    using kma::layout::kma_guard_block;
    const File file("guarded");
    for (const HeapKind kind : {HeapKind::bump, HeapKind::superblock, HeapKind::slab}) {
        CAPTURE(kma::name_of(kind));
        Heap heap(device(), 1 << 17, {.kind = kind, .debug = 2});
        const Kernels kernels(heap);
        const std::vector<kma::Ref> refs = kernels.allocate(4, 100);
        kernels.free({refs[3]});
        heap.save(file.path);
        const std::string whole = file.read();
        const auto refuses = [&](const std::string &bytes) { return file.refusal_of(bytes); };
        REQUIRE(refuses(whole) == "no error");
        const auto header = read_at<kma::layout::kma_heap_header>(whole, 0);
        const std::uint64_t place =
            header.guard * kma::ref_unit + offsetof(kma::layout::kma_guard, quarantine.refs) + 4 * 77;
        for (const kma::Ref ref : {1u, refs[0], refs[3], refs[0] + 1, header.limit - 1, header.limit, 5u << 24, ~0u})
            CHECK_THAT(refuses(with(whole, place, ref)),
                       contains(" of the quarantine holds ref " + std::to_string(ref) + ", which is no freed block"));

        const auto guard_of = [](kma::Ref ref) { return (ref - KMA_GUARD_FRONT) * kma::ref_unit; };
        const auto sized = [&](kma::Ref ref, std::uint64_t bytes, std::uint32_t raw) {
            auto block = read_at<kma_guard_block>(whole, guard_of(ref));
            block.bytes = bytes;
            block.raw = raw;
            block.sum = kma::layout::kma_guard_sum(bytes, raw, block.work_item, ref);
            return with(whole, guard_of(ref), block);
        };
        const auto raw = read_at<kma_guard_block>(whole, guard_of(refs[1])).raw;
        CHECK(refuses(sized(refs[1], 90, raw)) == "no error");
        for (const std::uint64_t size : {1ull << 30, ~0ull})
            CHECK_THAT(refuses(sized(refs[1], size, raw)), contains("the guard of the block in the units"));
        if (kind != HeapKind::bump) // another's memory, which would be free once the block leaves the quarantine
            CHECK_THAT(refuses(sized(refs[3], 100, raw)),
                       contains("holds ref " + std::to_string(refs[3]) + ", which is no"));

        // What kernels do not follow, since its sum is wrong, is there to be looked at.
        CHECK(refuses(with(whole, guard_of(refs[1]), ~0ull)) == "no error");
        CHECK(refuses(with(whole, guard_of(refs[3]) + 8, 1u)) == "no error"); // its state
        CHECK(refuses(with(whole, refs[0] * kma::ref_unit + 100, 1u)) == "no error");
    }
    Heap heap(device(), 1 << 17, {.kind = HeapKind::bump, .debug = 1});
    const std::vector<kma::Ref> refs = Kernels(heap).allocate(4, 100, true);
    heap.save(file.path);
    const std::string whole = file.read();
    for (const std::uint64_t bytes : {100ull, 200ull, ~0ull})
        CHECK((file.refusal_of(with(whole, (refs[1] - 1) * kma::ref_unit, bytes)) == "no error") == (bytes == 100));
}
