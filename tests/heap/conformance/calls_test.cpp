// The calls besides malloc: calloc, aligned_alloc, realloc_sized, realloc, usable_size; the largest request; names.
// misuse_test.cpp has what is refused, and what does nothing.
#include <algorithm>
#include <bit>

#include "blocks.hpp"
#include "catch.hpp"

using namespace conformance;
using namespace test;
using kma::ErrorCode;

namespace {

// The file's kernels, those for the heaps that know their blocks included where that is so.
kma::Program calls(const Subject &subject, const std::string &more = {})
{
    return subject.program("calls.cl", (subject.can(Ability::know_blocks) ? "-DKMA_KNOWS_BLOCKS " : "") + more);
}

// Blocks that a kernel of the file took become those of the slots.
void copy_refs(const Array<cl_uint> &from, const Blocks &to)
{
    device().queue().enqueueCopyBuffer(from.buffer(), to.ref_array().buffer(), 0, 0, from.size() * sizeof(cl_uint));
}

void check_realloc(const Subject &subject, bool is_sized)
{
    INFO(subject.name() << (is_sized ? ", realloc_sized" : ", realloc"));
    std::vector<cl_ulong> old_sizes, sizes, aligns;
    for (const cl_ulong old_bytes : {0, 1, 16, 17, 60, 64, 100, 1000, 4000})
        for (const cl_ulong bytes : {0, 1, 15, 16, 33, 64, 65, 113, 1000, 1025, 5000}) {
            aligns.push_back(16u << sizes.size() % 4); // up to what every heap's address has
            old_sizes.push_back(old_bytes);
            sizes.push_back(bytes);
        }
    std::vector<cl_ulong> both = old_sizes;
    both.insert(both.end(), sizes.begin(), sizes.end());
    const kma::Heap heap = subject.heap(ample_room(subject, both, large_superblock), large_superblock);
    Blocks blocks(subject, heap, sizes);
    const Array<cl_uint> wrong(sizes.size(), 0);
    launch(calls(subject), "call_realloc", {sizes.size(), 11}, heap, Array(aligns), Array(old_sizes),
           blocks.size_array(), blocks.ref_array(), wrong, static_cast<cl_uint>(is_sized));
    CHECK(wrong.read() == std::vector<cl_uint>(sizes.size(), 0));
    const std::vector<cl_uint> places = blocks.refs();
    for (std::size_t i = 0; i < sizes.size(); i++) {
        INFO(old_sizes[i] << " to " << sizes[i] << " at " << aligns[i]);
        CHECK((places[i] != 0) == (sizes[i] != 0));
        if (old_sizes[i] != 0) // what the block has, up to its size
            CHECK(places[i] * kma::ref_unit % std::min(aligns[i], std::bit_floor(old_sizes[i])) == 0);
    }
    CHECK(blocks.wrong_bytes() == 0);
    check_apart(blocks);
    CHECK(heap.error_text() == "");
    blocks.give_all(1);
    CHECK(heap.error_text() == "");
    check_empty(subject, heap);
}

} // namespace

TEST_CASE("calloc clears memory that was used before")
{
    for (const Subject &subject : subjects(Breadth::all)) {
        INFO(subject.name());
        kma::Heap heap = subject.heap(64 * 4096, 4096);
        Blocks soil(subject, heap, slots_beyond(count_when_full(subject, heap, 1024, 4096).most));
        soil.fill(1024, 64);
        soil.give_all(1);
        if (!subject.can(Ability::reuse) || subject.guarded()) // lanes that wait for a quarantine may be refused
            heap.reset();
        heap.clear_errors();
        std::vector<cl_ulong> counts, sizes;
        for (cl_ulong i = 0; i < 128; i++) {
            counts.push_back(i % 13);
            sizes.push_back(i);
        }
        const kma::Program kernels = calls(subject);
        const Array<cl_uint> refs(128, 0), dirty(128, 0);
        launch(kernels, "call_calloc", {128, 64}, heap, Array(counts), Array(sizes), refs, dirty);
        CHECK(dirty.read() == std::vector<cl_uint>(128, 0));
        const std::vector<cl_uint> places = refs.read();
        for (std::size_t i = 0; i < places.size(); i++)
            CHECK((places[i] != 0) == (counts[i] * sizes[i] != 0));
        CHECK(heap.error_text() == "");
        check_reset(subject, heap);
    }
}

TEST_CASE("aligned_alloc aligns addresses, and refuses more than the heap's own")
{
    for (const Subject &subject : subjects(Breadth::all)) {
        INFO(subject.name());
        std::vector<cl_ulong> aligns, sizes;
        std::uint64_t payload = 128 * large_superblock;
        for (cl_ulong align = 1; align <= std::min<std::uint64_t>(subject.type->largest_alignment, 1 << 16); align *= 2)
            for (const cl_ulong bytes : {1, 24, 100, 1000, 5000}) {
                aligns.push_back(align);
                sizes.push_back(bytes);
                payload += align + 2 * bytes + 64;
            }
        kma::Heap heap = subject.heap(payload, large_superblock);
        const Array<cl_uint> refs(sizes.size(), 0);
        const Array<cl_ulong> addresses(sizes.size(), 0);
        const kma::Program kernels = calls(subject);
        launch(kernels, "call_aligned_alloc", {sizes.size(), 5}, heap, Array(aligns), Array(sizes), refs, addresses);
        const std::vector<cl_uint> places = refs.read();
        const std::vector<cl_ulong> at = addresses.read();
        REQUIRE(places[0] != 0);
        const cl_ulong base = at[0] - places[0] * kma::ref_unit;
        CHECK(base % 128 == 0); // OpenCL promises so much
        std::uint64_t refused = 0;
        for (std::size_t i = 0; i < places.size(); i++) {
            INFO("alignment " << aligns[i] << ", " << sizes[i] << " bytes in a heap at " << base);
            const bool can = base % aligns[i] == 0;
            refused += can ? 0 : 1;
            CHECK((places[i] != 0) == can);
            CHECK(places[i] * kma::ref_unit % std::max<cl_ulong>(aligns[i], 16) == 0);
            CHECK(at[i] % std::max<cl_ulong>(aligns[i], 16) == 0);
        }
        check_apart(subject, heap, places, sizes);
        CHECK(count_of(heap, ErrorCode::bad_alignment) == refused);
        CHECK(heap.errors().size() == std::min<std::uint64_t>(refused, 8));
        heap.clear_errors();
        Blocks blocks(subject, heap, sizes);
        copy_refs(refs, blocks);
        CHECK(blocks.wrong_bytes() == 0);
        check_given(blocks, 1);
    }
}

TEST_CASE("realloc_sized keeps what both sizes cover, and the alignment")
{
    for (const Subject &subject : subjects(Breadth::all))
        check_realloc(subject, true);
}

TEST_CASE("realloc knows the old size")
{
    for (const Subject &subject : subjects(Breadth::all, {Ability::know_blocks}))
        check_realloc(subject, false);
}

TEST_CASE("all of usable_size is the caller's")
{
    for (const Subject &subject : subjects(Breadth::all, {Ability::know_blocks})) {
        INFO(subject.name());
        std::vector<cl_ulong> sizes;
        for (cl_ulong bytes = 0; bytes <= 4096; bytes += 1 + bytes / 16)
            sizes.push_back(bytes);
        const kma::Heap heap = subject.heap(ample_room(subject, sizes, large_superblock), large_superblock);
        const Array<cl_ulong> usable(sizes.size(), 9);
        const Array<cl_uint> refs(sizes.size(), 0);
        launch(calls(subject), "call_usable_size", {sizes.size(), 1}, heap, Array(sizes), refs, usable);
        const std::vector<cl_ulong> given = usable.read();
        for (std::size_t i = 0; i < sizes.size(); i++) {
            INFO(sizes[i] << " bytes");
            CHECK(given[i] >= sizes[i]);
            CHECK(given[i] <= own_bytes(subject, sizes[i]));
        }
        Blocks blocks(subject, heap, given);
        copy_refs(refs, blocks);
        CHECK(blocks.wrong_bytes() == 0);
        check_apart(subject, heap, refs.read(), sizes);
        blocks.give_all(1);
        CHECK(heap.error_text() == "");
        check_empty(subject, heap);
    }
}

TEST_CASE("the largest request is served, and what is above it is too large")
{
    for (const Subject &subject : subjects(Breadth::all)) {
        INFO(subject.name());
        kma::Heap heap = subject.heap(16 * 4096, 4096);
        const cl_ulong largest = subject.largest(subject.can(Ability::whole_heap) ? heap.stats().capacity : 4096);
        CHECK(request(subject, heap, largest + 1, 1) == 0);
        CHECK(count_of(heap, ErrorCode::too_large) == 1);
        check_empty(subject, heap);
        CHECK(request(subject, heap, largest, 1) == 1);
        CHECK(count_of(heap, ErrorCode::out_of_memory) == 0);
        check_reset(subject, heap);
    }
}

TEST_CASE("KMA_NEW aligns to what the type needs, and KMA_STD_NAMES gives C's names", "[long]")
{
    for (const Subject &subject : subjects(Breadth::all)) {
        INFO(subject.name());
        const Shape shape = in_groups(128, 64);
        const std::size_t work_items = shape.work_items;
        kma::Heap heap = subject.heap(1 << 20, small_superblock);
        const Array<cl_uint> refs(3 * work_items, 0), right(work_items, 0);
        launch(calls(subject, "-DKMA_STD_NAMES"), "names", shape, heap, refs, right);
        CHECK(right.read() == std::vector<cl_uint>(work_items, 2));
        const std::vector<cl_uint> places = refs.read();
        constexpr cl_uint aligns[] = {64, 32, 128};
        for (std::size_t i = 0; i < places.size(); i++)
            REQUIRE((places[i] != 0 && places[i] % (aligns[i % 3] / kma::ref_unit) == 0));
        CHECK(heap.error_text() == "");
        check_reset(subject, heap);
    }
}
