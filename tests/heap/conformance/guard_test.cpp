// KMA_DEBUG 2 and 3: what is written beyond a block, or into one that was freed, is found and told with its owner; the
// quarantine keeps freed blocks back; leaks() tells each block's owner.
#include <algorithm>
#include <map>
#include <numeric>

#include "blocks.hpp"
#include "catch.hpp"

using namespace conformance;
using namespace test;
using kma::ErrorCode;

namespace {

constexpr std::byte poison{0xdd}, fresh{0xcd};
constexpr std::uint64_t room = 64 * small_superblock;

std::vector<cl_uint> take(const Subject &subject, const kma::Heap &heap, const std::vector<cl_ulong> &sizes)
{
    const std::vector<cl_uint> refs = request(subject, heap, sizes);
    REQUIRE(std::ranges::count(refs, 0u) == 0);
    return refs;
}

void give(const Subject &subject, const kma::Heap &heap, const std::vector<cl_uint> &refs)
{
    launch(subject.program("blocks.cl"), "give", {refs.size(), 1}, heap, Array(refs),
           Array(random_order(refs.size(), 1)), static_cast<cl_uint>(refs.size()));
}

// One byte, `offset` bytes from the start of a block.
void poke(const kma::Heap &heap, cl_uint ref, cl_long offset, cl_uchar value)
{
    device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, static_cast<std::size_t>(ref * kma::ref_unit + offset),
                                        1, &value);
}

bool is_all(const kma::Heap &heap, cl_uint ref, std::byte value)
{
    const kma::MappedRange range = heap.map(ref, 100);
    return std::ranges::count(range.bytes(), value) == 100;
}

// That the only record is this one, of a block that work-item `owner` took.
void check_record(const Subject &subject, const kma::Heap &heap, ErrorCode code, cl_uint ref, std::uint64_t bytes,
                  std::uint64_t owner)
{
    CHECK(count_of(heap, code) == 1);
    const std::vector<kma::ErrorRecord> records = heap.errors();
    REQUIRE(records.size() == 1);
    CHECK(records[0].code == code);
    CHECK(records[0].ref == ref);
    CHECK(records[0].size == bytes);
    CHECK(records[0].work_item == owner);
    CHECK((records[0].where != "") == (subject.debug == 3));
}

} // namespace

TEST_CASE("a byte beyond a block is found while it lives and when it is freed, with its owner",
          "[long]")
{
    for (const Subject &subject : subjects(Breadth::guards)) {
        std::vector<cl_ulong> sizes(64);
        std::iota(sizes.begin(), sizes.end(), 1); // each distance from the end of a unit
        for (const cl_uint owner : {0u, 15u, 16u, 40u}) {
            const auto bytes = static_cast<cl_long>(sizes[owner]);
            for (const cl_long offset : {bytes, bytes + 15, cl_long{-1}, cl_long{-16}}) {
                INFO(subject.name() << ", byte " << offset << " of " << bytes);
                const kma::Heap heap = subject.heap(room, small_superblock);
                const std::vector<cl_uint> refs = take(subject, heap, sizes);
                for (std::size_t i = 0; i < refs.size(); i++) // all that is one's own may be written
                    if (i == 15 || i == 16)
                        poke(heap, refs[i], static_cast<cl_long>(sizes[i]) - 1, 0);
                CHECK(heap.check() == std::vector<std::string>());
                poke(heap, refs[owner], offset, 7);
                const std::vector<std::string> found = heap.check();
                REQUIRE(found.size() == 1);
                CHECK_THAT(found[0],
                           contains("the block at ref " + std::to_string(refs[owner]) + ", " + std::to_string(bytes) +
                                    " bytes, which work-item " + std::to_string(owner) + " took"));
                CHECK_THAT(found[0], contains(offset < 0 ? "was written over in front: byte "
                                                         : "was written over behind its end: byte "));
                CHECK_THAT(found[0], contains("byte " + std::to_string(offset) + " from its start is 0x07"));
                if (subject.debug == 3)
                    CHECK_THAT(found[0], contains(" at ") && contains(":"));
                CHECK(heap.error_text() == "");
                give(subject, heap, refs);
                check_record(subject, heap, ErrorCode::overrun, refs[owner], sizes[owner], owner);
                check_empty(subject, heap);
            }
        }
    }
}

TEST_CASE("a guard that was written over is told, and leads nobody astray", "[long]")
{
    for (const Subject &subject : subjects(Breadth::guards)) {
        INFO(subject.name());
        kma::Heap heap = subject.heap(room, small_superblock);
        const std::vector<cl_uint> refs = take(subject, heap, {100, 100, 100});
        poke(heap, refs[1], -45, 0xff); // the size: now it has 4 GiB
        const std::vector<std::string> found = heap.check();
        REQUIRE(found.size() == 1);
        CHECK_THAT(found[0], contains("the guard of the block in the units of 16 bytes "));
        give(subject, heap, {refs[1]});
        CHECK(count_of(heap, ErrorCode::overrun) == 1);
        CHECK(heap.errors()[0].size == 0);
        CHECK(heap.leaks().blocks == 2);
        give(subject, heap, {refs[0], refs[2]});
        heap.reset();
        check_empty(subject, heap);
    }
}

TEST_CASE("new memory and freed memory look so, and a write after the free is found")
{
    for (const Subject &subject : subjects(Breadth::guards))
        for (const cl_long offset : {0, 99, 100, 127, -1}) {
            INFO(subject.name() << ", byte " << offset);
            const kma::Heap heap = subject.heap(room, small_superblock);
            const std::vector<cl_uint> refs = take(subject, heap, {100, 100, 100});
            CHECK(is_all(heap, refs[1], fresh));
            give(subject, heap, {refs[1]});
            CHECK(is_all(heap, refs[1], poison));
            CHECK(heap.check() == std::vector<std::string>());
            poke(heap, refs[1], offset, 0xcd);
            const std::vector<std::string> found = heap.check();
            REQUIRE(found.size() == 1);
            CHECK_THAT(found[0], contains("the freed block at ref " + std::to_string(refs[1]) +
                                          ", 100 bytes, which work-item 1 took"));
            CHECK_THAT(found[0], contains("was written to after the free: byte " + std::to_string(offset) +
                                          " from its start is 0xcd, should be 0xdd"));
        }
}

TEST_CASE("what was written into a freed block is told when the block leaves the quarantine")
{
    for (const Subject &subject : subjects(Breadth::guards, {Ability::reuse})) {
        INFO(subject.name());
        const kma::Heap heap = subject.heap(room, small_superblock);
        const std::vector<cl_uint> refs = take(subject, heap, {48, 48, 48});
        give(subject, heap, {refs[2]});
        poke(heap, refs[2], 40, 1);
        const std::vector<cl_ulong> sizes(64, 48);
        std::size_t others = 0;
        for (; count_of(heap, ErrorCode::write_after_free) == 0; others += sizes.size()) {
            REQUIRE(others <= 1024); // they push it out
            give(subject, heap, take(subject, heap, sizes));
        }
        CHECK(others >= 1024);
        check_record(subject, heap, ErrorCode::write_after_free, refs[2], 48, 2);
        give(subject, heap, {refs[0], refs[1]});
        check_empty(subject, heap);
    }
}

TEST_CASE("a second free is told although the memory would have a new owner by then", "[long]")
{
    for (const Subject &subject : subjects(Breadth::guards, {Ability::reuse})) {
        INFO(subject.name());
        const kma::Heap heap = subject.heap(room, small_superblock);
        const std::vector<cl_uint> refs = take(subject, heap, {64, 64});
        give(subject, heap, {refs[0]});
        const std::vector<cl_uint> later = take(subject, heap, std::vector<cl_ulong>(200, 64));
        CHECK(std::ranges::count(later, refs[0]) == 0);
        give(subject, heap, {refs[0]});
        CHECK(count_of(heap, ErrorCode::double_free) == 1);
        CHECK(heap.errors()[0].ref == refs[0]);
        CHECK(heap.errors()[0].size == 64);
        CHECK(heap.leaks().blocks == 201);
        give(subject, heap, {refs[1]});
        give(subject, heap, later);
        check_empty(subject, heap);
    }
}

TEST_CASE("leaks say which work-item took a block, and where", "[long]")
{
    for (const Subject &subject : subjects(Breadth::guards)) {
        INFO(subject.name());
        const cl_uint work_items = 256;
        const kma::Heap heap = subject.heap(1 << 20, small_superblock);
        const Array<cl_uint> line_array(8, 0);
        launch(subject.program("guard.cl"), "take_everywhere", {work_items, 64}, heap, line_array);
        REQUIRE(heap.error_text() == "");
        const kma::LeakReport report = heap.leaks(10000);
        const std::vector<cl_uint> lines = line_array.read();
        const std::map<cl_uint, std::uint64_t> bytes = {{lines[2], 30},  {lines[3], 200}, {lines[4], 32},
                                                        {lines[5], 100}, {lines[6], 12},  {lines[7], 7}};
        REQUIRE(bytes.size() == 6);
        CHECK(report.blocks == 6 * work_items);
        CHECK(report.bytes == (30 + 200 + 32 + 100 + 12 + 7) * work_items);
        REQUIRE(report.first.size() == 6 * work_items);
        std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> seen; // bytes and work-item
        for (const kma::LeakReport::Block &block : report.first) {
            REQUIRE(block.work_item.has_value());
            seen[{block.bytes, *block.work_item}]++;
        }
        CHECK(seen.size() == 6 * work_items);
        if (subject.debug == 2) {
            CHECK(report.places.empty());
            CHECK(report.first[0].where == "");
            continue;
        }
        // A compiler that knows #line (oclgrind's does not) knows the name that it gives too.
        const bool has_names = lines[0] == 103;
        REQUIRE(report.places.size() == 6);
        for (const kma::LeakReport::Place &place : report.places) {
            const std::size_t colon = place.where.rfind(':');
            REQUIRE(colon != std::string::npos);
            const auto expected = bytes.find(static_cast<cl_uint>(std::stoul(place.where.substr(colon + 1))));
            REQUIRE(expected != bytes.end());
            CHECK(place.count == work_items);
            CHECK(place.bytes == expected->second * work_items);
            if (has_names)
                CHECK(place.where.substr(0, colon) == "sites.cl");
        }
        CHECK(std::ranges::is_sorted(report.places, std::ranges::greater(), &kma::LeakReport::Place::bytes));
        CHECK_THAT(to_text(report), contains(", taken by work-item 255 at "));
    }
}
