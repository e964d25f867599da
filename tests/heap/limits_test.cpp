// The numbers in the documents and comments that follow from the code: each as it is there.
#include <bit>
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

namespace {

namespace fs = std::filesystem;
using namespace kma::layout;

constexpr std::uint64_t kib = 1 << 10, mib = 1 << 20, gib = 1 << 30;

// A file's text, each run of white space and marks of comments as a space.
std::string read(const fs::path &path)
{
    std::ifstream file(fs::path(KMA_ROOT) / path, std::ios::binary);
    REQUIRE(file);
    return std::regex_replace(std::string(std::istreambuf_iterator<char>(file), {}), std::regex("(\\s|//+)+"), " ");
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
        if (text.find(one) == std::string::npos)
            FAIL_CHECK(document << " does not say \"" << one << "\"");
}

// The fewest bytes of a heap that has room for a block.
std::uint64_t least(HeapKind kind, int debug)
{
    const kma::HeapOptions options{.kind = kind, .debug = debug, .superblock = {4096}};
    return kind == HeapKind::bump ? Heap::bytes_for(options, {{.size = 16, .count = 1}}) : Heap::bytes_for(options, 1);
}

// "1.80", of the metadata for each of many parts.
template <class Plan> std::string percent_of_metadata(Plan plan, std::uint64_t part_bytes)
{
    constexpr std::uint32_t many = 1 << 21;
    const double of_part = static_cast<double>(plan(2 * many) - plan(many)) * KMA_UNIT / many;
    const auto hundredths = static_cast<std::uint64_t>(std::llround(of_part / static_cast<double>(part_bytes) * 10000));
    return n(hundredths / 100) + "." + std::to_string(hundredths % 100);
}

} // namespace

TEST_CASE("the sizes in the documents are the code's", "[limits]")
{
    CHECK_NOTHROW(kma::check_largest(64 * gib - 32));
    CHECK_THROWS_AS(kma::check_largest(64 * gib - 31), kma::Error);
    ulong end;
    const auto shift_of = [](std::uint64_t bytes) { return static_cast<uint>(std::bit_width(bytes / KMA_UNIT)) - 1; };
    const std::uint64_t frame = KMA_UNIT * KMA_SLAB_FRAME_UNITS;
    const std::uint64_t page = KMA_UNIT << KMA_SCATTER_MIN_SHIFT, large_page = KMA_UNIT << KMA_SCATTER_MAX_SHIFT;
    const std::uint64_t superblock = KMA_UNIT << KMA_SUPERBLOCK_MIN_SHIFT, large = KMA_UNIT << KMA_SUPERBLOCK_MAX_SHIFT;
    const auto narrow = [&](std::uint64_t bytes) { return kma_superblock_most(shift_of(bytes), false); };
    CHECK(KMA_SUPERBLOCK_ALIGN == KMA_SCATTER_ALIGN);
    CHECK(KMA_SUPERBLOCK_ALIGN == KMA_SLAB_ALIGN);
    CHECK(narrow(512 * kib) == narrow(superblock));
    CHECK(narrow(mib) < narrow(512 * kib));
    for (const HeapKind kind : kma::heap_kinds) {
        const std::uint64_t guards = least(kind, 2) - least(kind, 0);
        CHECK((guards >= 4 * kib && guards <= 8 * kib));
    }
    const auto of_slab = [&](uint frames) { return kma_slab_plan_of(frames, 16, 0, &end).begin; };
    const auto of_scatter = [&](uint pages) { return kma_scatter_plan_of(pages, shift_of(page), 11, 0, &end).begin; };
    const std::string slab_percent = percent_of_metadata(of_slab, frame) + " %",
                      scatter_percent = percent_of_metadata(of_scatter, page) + " %";
    const std::string bump = n(sizeof(kma_bump)) + " bytes", guards = n(sizeof(kma_guard)) + " bytes more";
    require(
        "docs/limits.md",
        {
            "| a heap | 64 GiB - 32 bytes |",
            "at least " + n(least(HeapKind::bump, 0)) + " bytes (bump), " + size(least(HeapKind::scatter, 0)) +
                " (scatter), " + size(least(HeapKind::superblock, 0)) + " (superblock), " +
                size(least(HeapKind::slab, 0)) + " (slab); 4 to 8 KiB more from `KMA_DEBUG` 2 on",
            "without 64-bit atomics: " + size((narrow(512 * kib) + 2) * 512 * kib) + ", with superblocks of " +
                size(superblock) + " " + size((narrow(superblock) + 2) * superblock) + " | " + n(narrow(superblock)) +
                " superblocks, fewer above 512 KiB",
            "from `KMA_DEBUG` 2 on " + n((KMA_GUARD_FRONT + KMA_GUARD_BACK) * KMA_UNIT) + " bytes less",
            "one page to " + n(1 << KMA_SCATTER_MAX_SUPER_SHIFT) +
                " pages: " + size(page << KMA_SCATTER_MAX_SUPER_SHIFT) + " of " + size(page) + ", " +
                size(large_page << KMA_SCATTER_MAX_SUPER_SHIFT) + " of " + size(large_page),
            "| a superblock | " + size(superblock) + " to " + size(large) + " |",
            "a power of two up to " + n(KMA_SUPERBLOCK_ALIGN) + "; bump: 2^31",
            "slab " + slab_percent + ", scatter " + scatter_percent + ",",
            "bump " + bump + "; from `KMA_DEBUG` 2 on " + guards,
            "last " + size(defined("heap/bump/take.cl", "KMA_BUMP_UNCHECKED") * KMA_UNIT) + "** may go to one group",
        });
    require("docs/choosing-a-heap.md", {"| " + scatter_percent + " |", "| " + bump + " |", "needs " + guards});
    require("docs/getting-started-c.md", {"`n * 16 + " + std::to_string(sizeof(kma_bump)) + "`",
                                          "it is below " + n(sizeof(kma_superblock)) + " bytes"});
    require("host/include/kma/heap.hpp",
            {"(bump: " + n(least(HeapKind::bump, 0)) + "; with debug 1 " + n(least(HeapKind::bump, 1)) +
             "; with debug 2 and 3 " + n(least(HeapKind::bump, 2)) + ")"});
    require("cl/kma/heap/scatter/kernels.cl", {"sizeof(kma_scatter), which is " + n(sizeof(kma_scatter)) + ","});
    require("cl/kma/heap/superblock/kernels.cl", {"sizeof(kma_superblock), " + n(sizeof(kma_superblock)) + " bytes"});
}

TEST_CASE("the other numbers in docs/limits.md are the code's", "[limits]")
{
    kma::Findings findings;
    for (int i = 0; i < 100; i++)
        findings.add("things", "a thing");
    const std::size_t shown = findings.take().size() - 1; // the last says how many more
    CHECK(KMA_ARRAY_LIST_MOST_SHIFT == 30);
    require(
        "docs/limits.md",
        {
            "the first " + n(KMA_ERROR_KEPT) + " of each code in detail",
            "the first " + n(shown) + " findings of a kind",
            "the last " + n(KMA_QUARANTINE) + " freed blocks",
            n(KMA_GUARD_FILES) + " source files, the last " + n(KMA_GUARD_NAME - 1) + " characters of their names, " +
                n((1 << KMA_GUARD_LINE_BITS) - 1) + " lines",
            "| a world | " + n(KMA_WORLD_BLOCKS_MOST) + " blocks, 2^31 objects;",
            "| classes that are not abstract | " + n(KMA_WORLD_CLASSES_MOST) + " |",
            n(sizeof(kma_world_block)) + " bytes and a bit for each block; for each class " + size(KMA_WORLD_HINTS * 4),
            "| capacity | " + n(kma_superblock_most(KMA_SUPERBLOCK_MIN_SHIFT, true)) + " with 64-bit atomics, " +
                n(kma_superblock_most(KMA_SUPERBLOCK_MIN_SHIFT, false)) + " without |",
            "2^30 objects, " + n(KMA_ARRAY_LIST_ENTRIES * KMA_ARRAY_LIST_ENTRIES) + " blocks |",
            "| objects for one work-item in one call | " +
                n(defined("containers/array_list_memory.cl", "KMA_ARRAY_LIST_MOST")) + " |",
            "| an arena's chunks | " + n(1 << KMA_ARENA_LEAST_SHIFT) + " bytes to " +
                size(std::uint64_t{1} << KMA_ARENA_MOST_SHIFT),
            "a quarter of the longest chunk, " +
                size(defined("containers/arena.cl", "KMA_ARENA_MOST_TAKEN") * KMA_UNIT) + " at most",
        });
}
