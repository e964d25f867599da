// docs/limits.md and the numbers in the documents that follow from the code: each as it is there.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "catch.hpp"
#include "heap/common/driver.hpp"
#include "heap_support.hpp"

using kma::Heap;
using kma::HeapKind;
using kma::HeapOptions;

namespace {

namespace fs = std::filesystem;
using namespace kma::layout;

constexpr std::uint64_t kib = 1 << 10, mib = 1 << 20, gib = 1 << 30;

std::string read(const fs::path &path)
{
    std::ifstream file(fs::path(KMA_ROOT) / path, std::ios::binary);
    REQUIRE(file);
    return std::regex_replace(std::string(std::istreambuf_iterator<char>(file), {}), std::regex("\\s+"), " ");
}

// "1,234,567"
std::string n(std::uint64_t number)
{
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;)
        text.insert(at -= 3, ",");
    return text;
}

// "4 KiB", "2 MiB", "64 GiB"
std::string size(std::uint64_t bytes)
{
    return bytes % gib == 0   ? n(bytes / gib) + " GiB"
           : bytes % mib == 0 ? n(bytes / mib) + " MiB"
                              : n(bytes / kib) + " KiB";
}

// "39.1"
std::string tenths(double number)
{
    const auto whole = static_cast<std::uint64_t>(std::llround(number * 10));
    return n(whole / 10) + "." + std::to_string(whole % 10);
}

// A number that only device code knows.
std::uint64_t defined(const std::string &file, const std::string &name)
{
    const std::string text = read("cl/kma/" + file);
    std::smatch found;
    REQUIRE(std::regex_search(text, found, std::regex("#define " + name + " ([0-9]+)u")));
    return std::stoull(found[1]);
}

void require(const std::string &document, const std::vector<std::string> &all)
{
    const std::string text = read(document);
    for (const std::string &one : all)
        CHECK_THAT(text, contains(one));
}

// The fewest bytes of a heap that has room for a block.
std::string least(HeapKind kind, int debug, std::uint64_t superblock_bytes = 0)
{
    const HeapOptions options{.kind = kind, .debug = debug, .superblock_bytes = superblock_bytes};
    const std::vector<kma::BlockDemand> one = {{.size = 16, .count = 1}};
    return n(kind == HeapKind::bump ? Heap::bytes_for(options, one) : Heap::bytes_for(options, 1));
}

// Bytes of metadata for each of many parts.
template <class Plan> double metadata_for_each(Plan plan)
{
    constexpr std::uint32_t many = 1 << 21;
    return static_cast<double>(plan(2 * many) - plan(many)) * KMA_UNIT / many;
}

} // namespace

TEST_CASE("the sizes in docs/limits.md are the code's", "[limits]")
{
    CHECK_NOTHROW(kma::check_largest(64 * gib - 32));
    CHECK_THROWS_AS(kma::check_largest(64 * gib - 31), kma::Error);
    ulong end;
    const auto shift_of = [](std::uint64_t bytes) { return static_cast<uint>(std::bit_width(bytes / KMA_UNIT)) - 1; };
    const std::uint64_t line = KMA_UNIT * KMA_SLAB_LINE_UNITS, frame = line * KMA_SLAB_FRAME_LINES;
    const std::uint64_t page = KMA_UNIT << KMA_SCATTER_MIN_SHIFT, large_page = KMA_UNIT << KMA_SCATTER_MAX_SHIFT;
    const std::uint64_t superblock = KMA_UNIT << KMA_SUPERBLOCK_MIN_SHIFT, large = KMA_UNIT << KMA_SUPERBLOCK_MAX_SHIFT;
    const std::uint64_t around = (KMA_GUARD_FRONT + KMA_GUARD_BACK) * KMA_UNIT;
    const auto narrow = [&](std::uint64_t bytes) { return kma_superblock_most(shift_of(bytes), false); };
    CHECK(KMA_SUPERBLOCK_ALIGN == KMA_SCATTER_ALIGN);
    CHECK(KMA_SUPERBLOCK_ALIGN == KMA_SLAB_ALIGN);
    CHECK(narrow(512 * kib) == narrow(superblock));
    const double of_frame = metadata_for_each([&](uint frames) { return kma_slab_plan_of(frames, 16, 0, &end).begin; });
    const auto of_page = [&](std::uint64_t bytes) {
        return metadata_for_each([&](uint pages) { return kma_scatter_plan_of(pages, shift_of(bytes), 11, 0, &end).begin; });
    };
    require("docs/limits.md",
            {
                "| a heap | 64 GiB - 32 bytes |",
                "at least " + least(HeapKind::bump, 0) + " bytes (bump; " + least(HeapKind::bump, 1) +
                    " with `KMA_DEBUG` 1, " + least(HeapKind::bump, 2) + " from 2 on)",
                "(superblock: " + least(HeapKind::superblock, 0, superblock) + " for superblocks of " +
                    size(superblock) + ", " + least(HeapKind::superblock, 2, superblock) + " from `KMA_DEBUG` 2 on;",
                "(scatter: " + least(HeapKind::scatter, 0) + " for pages of " + size(page) + ", " +
                    least(HeapKind::scatter, 2) + " from `KMA_DEBUG` 2 on)",
                "metadata and " + size(frame) + " (slab: " + least(HeapKind::slab, 0) + ", " +
                    least(HeapKind::slab, 2) + " from `KMA_DEBUG` 2 on)",
                "one superblock: " + size(superblock) + " to " + size(large) + ",",
                "from `KMA_DEBUG` 2 on " + n(around) + " bytes less, and `align - 16` less",
                "one page to " + n(1 << KMA_SCATTER_MAX_SUPER_SHIFT) + " pages, by `HeapOptions::superblock_bytes` (" +
                    size(page << KMA_SCATTER_MAX_SUPER_SHIFT) + " with pages of " + size(page) + ", " +
                    size(large_page << KMA_SCATTER_MAX_SUPER_SHIFT) + " with " + size(large_page) + ")",
                "the whole heap, in " + n(line) + " bytes side by side",
                "multiples of " + n(KMA_UNIT) + " bytes; superblock heap: " + n(KMA_CLASSES) + " sizes,",
                "up to " + n(KMA_SUPERBLOCK_ALIGN) + " (superblock, scatter and slab heaps), up to 2^31 (bump heap)",
                "| superblocks | " + n(kma_superblock_most(KMA_SUPERBLOCK_MIN_SHIFT, true)) + " with 64-bit atomics",
                "without them " + n(narrow(512 * kib)) + " of up to 512 KiB, " + n(narrow(mib)) + " of 1 MiB, " +
                    n(narrow(2 * mib)) + " of 2 MiB. So such heaps have " + size((narrow(2 * mib) + 2) * 2 * mib) +
                    " at most, and those with superblocks of " + size(superblock) + " " +
                    size((narrow(superblock) + 2) * superblock),
                "| pages, scatter heap | " + n(KMA_SCATTER_MOST_PAGES) + ": " + size(KMA_SCATTER_MOST_PAGES * page) +
                    " of pages of " + size(page),
                "| frames of " + size(frame) + ", slab heap | " + n(64 * gib / frame) + ": 64 GiB",
                "slab: " + tenths(of_frame) + " bytes for each " + size(frame),
                "scatter: " + tenths(of_page(page)) + " bytes for each page of " + size(page) + ", 0.95 %, of " +
                    size(large_page) + " " + tenths(of_page(large_page)),
                "bump: " + n(sizeof(kma_bump)) + " bytes.",
                "From `KMA_DEBUG` 2 on " + n(sizeof(kma_guard)) + " bytes more",
            });
}

TEST_CASE("the other numbers in docs/limits.md are the code's", "[limits]")
{
    kma::Findings findings;
    for (int i = 0; i < 100; i++)
        findings.add("things", "a thing");
    const std::size_t shown = findings.take().size() - 1; // the last says how many more
    const std::uint64_t most_queue = kma_superblock_most(KMA_SUPERBLOCK_MIN_SHIFT, true);
    require("docs/limits.md",
            {
                "the first " + n(KMA_ERROR_KEPT) + " of each code in detail, of " + n(KMA_ERROR_CODES) + " codes",
                "the first " + n(shown) + " findings of one kind",
                "the last " + n(KMA_QUARANTINE) + " freed blocks",
                n(KMA_GUARD_FILES) + " source files, " + n(KMA_GUARD_NAME - 1) +
                    " characters of their names, lines up to " + n((1 << KMA_GUARD_LINE_BITS) - 1),
                "if exactly a multiple of " + n(KMA_SUPERBLOCK_PUT_DOWN) + " are put down",
                "look " + n(2 * defined("heap/superblock/renew.cl", "KMA_SUPERBLOCK_PATIENCE")) + " times",
                "In the bump heap up to " + size(defined("heap/bump/take.cl", "KMA_BUMP_UNCHECKED") * KMA_UNIT),
                "| a world | " + n(KMA_WORLD_BLOCKS_MOST) + " blocks, 2^31 objects |",
                "| classes of which there are objects | " + n(KMA_WORLD_CLASSES_MOST) + " |",
                n(sizeof(kma_world_block)) + " bytes for each block",
                "and " + size(KMA_WORLD_HINTS * 4) + " for each class",
                "| capacity | " + n(most_queue) + " with 64-bit atomics, " + n(kma_superblock_most(KMA_SUPERBLOCK_MIN_SHIFT, false)) +
                    " without |",
                "| an array list | 2^" + n(KMA_ARRAY_LIST_MOST_SHIFT) + " objects, " +
                    n(KMA_ARRAY_LIST_ENTRIES * KMA_ARRAY_LIST_ENTRIES) + " blocks |",
                n(KMA_ARRAY_LIST_ENTRIES) + " pages of " + n(KMA_ARRAY_LIST_ENTRIES) + " refs",
                "| objects for one work-item in one call | " +
                    n(defined("containers/array_list_memory.cl", "KMA_ARRAY_LIST_MOST")) + " |",
                "| an arena's chunks | " + n(1 << KMA_ARENA_LEAST_SHIFT) + " bytes to " +
                    size(std::uint64_t{1} << KMA_ARENA_MOST_SHIFT),
                "a quarter of the longest chunk, " +
                    size(defined("containers/arena.cl", "KMA_ARENA_MOST_TAKEN") * KMA_UNIT) + " at most",
            });
    CHECK(defined("heap/scatter/runs.cl", "KMA_SCATTER_RUN_WALKS") == 8);
    require("docs/limits.md", {"it looks over all pages eight times at most"});
    CHECK(defined("heap/slab/large.cl", "KMA_SLAB_WALKS") == 4);
    require("docs/limits.md", {"it walks through the heap four times at most"});
}

TEST_CASE("the smallest buffers in the documents are the code's", "[limits]")
{
    const std::string below = "buffer below ", slab = n(sizeof(kma_slab)), scatter = n(sizeof(kma_scatter)),
                      superblock = n(sizeof(kma_superblock)), bump = n(sizeof(kma_bump)), guard = n(sizeof(kma_guard));
    require("docs/device-api.md", {below + superblock + " bytes", below + scatter + " bytes", below + slab + " bytes"});
    require("docs/getting-started-c.md",
            {"below " + slab + " bytes stays", below + superblock + " bytes", below + scatter + " bytes",
             bump + " bytes, and each block rounded up to 16, " + least(HeapKind::bump, 0) + " at least"});
    require("docs/choosing-a-heap.md", {"Bump: " + bump + " bytes", guard + " bytes more, and each block counts"});
    require("host/include/kma/heap.hpp", {"(bump: " + least(HeapKind::bump, 0) + ", debug " + least(HeapKind::bump, 1) +
                                          ", from 2 on " + least(HeapKind::bump, 2) + ")"});
}
