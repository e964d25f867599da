// The calls besides malloc: calloc, aligned_alloc, realloc_sized, realloc, usable_size; what is too large; what does
// nothing.
#include <algorithm>
#include <bit>

#include "blocks.hpp"
#include "catch.hpp"

using namespace conformance;
using namespace test;
using kma::ErrorCode;

namespace {


// The file's kernels, those for the heaps that know their blocks included where that is so.
kma::Program calls(const Subject &subject)
{
    return subject.program("calls.cl", subject.can(Ability::know_blocks) ? "-DKMA_KNOWS_BLOCKS" : "");
}

std::size_t served(const Array<cl_uint> &refs)
{
    return refs.size() - static_cast<std::size_t>(std::ranges::count(refs.read(), 0u));
}

} // namespace

TEST_CASE("calloc clears memory that was used before, and refuses a product that overflows")
{
    for (const Subject &subject : subjects(Breadth::all)) {
        INFO(subject.name());
        kma::Heap heap = subject.heap(64 * 4096, 4096);
        Blocks soil(subject, heap, slots_beyond(count_when_full(subject, heap, 1024, 4096).most));
        soil.fill(1024, 64);
        soil.give_all(1);
        if (!subject.can(Ability::reuse) || subject.guarded()) // who waits for a quarantine together may be refused
            heap.reset();
        heap.clear_errors();
        std::vector<cl_ulong> counts, sizes;
        for (cl_ulong i = 0; i < 128; i++) {
            counts.push_back(i % 13);
            sizes.push_back(i);
        }
        const kma::Program kernels = calls(subject);
        const Array<cl_uint> refs(128, 0), dirty(128, 0);
        launch(kernels, "call_calloc", {128, 64}, heap, Array<cl_ulong>(counts), Array<cl_ulong>(sizes), refs, dirty);
        CHECK(dirty.read() == std::vector<cl_uint>(128, 0));
        const std::vector<cl_uint> places = refs.read();
        for (std::size_t i = 0; i < places.size(); i++)
            CHECK((places[i] != 0) == (counts[i] * sizes[i] != 0));
        CHECK(heap.error_text() == "");

        const cl_ulong top = ~cl_ulong{0};
        const std::vector<cl_ulong> over_counts = {1ull << 32, top, 2, 3, (1ull << 60) + 1};
        const std::vector<cl_ulong> over_sizes = {1ull << 32, 2, top, top / 3 + 1, 16};
        const Array<cl_uint> none(5, 9), clean(5, 0);
        const std::uint64_t used = heap.stats().used;
        launch(kernels, "call_calloc", {5, 5}, heap, Array<cl_ulong>(over_counts), Array<cl_ulong>(over_sizes), none,
               clean);
        CHECK(served(none) == 0);
        CHECK(count_of(heap, ErrorCode::too_large) == 5);
        CHECK(heap.stats().used == used);
        check_reset(subject, heap);
    }
}

TEST_CASE("aligned_alloc aligns addresses, and refuses what is no alignment or more than the heap's own")
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
        launch(kernels, "call_aligned_alloc", {sizes.size(), 5}, heap, Array<cl_ulong>(aligns), Array<cl_ulong>(sizes),
               refs, addresses);
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
        device().queue().enqueueCopyBuffer(refs.buffer(), blocks.ref_array().buffer(), 0, 0,
                                           sizes.size() * sizeof(cl_uint));
        CHECK(blocks.wrong_bytes() == 0);
        blocks.give_all(1);
        check_empty(subject, heap);

        const std::vector<cl_ulong> bad = {0, 3, 24, 2 * subject.type->largest_alignment, ~cl_ulong{0}};
        const Array<cl_uint> none(5, 9);
        const Array<cl_ulong> nowhere(5, 9);
        const std::uint64_t used = heap.stats().used;
        launch(kernels, "call_aligned_alloc", {5, 5}, heap, Array<cl_ulong>(bad), Array<cl_ulong>(5, 32), none,
               nowhere);
        CHECK(served(none) == 0);
        CHECK(count_of(heap, ErrorCode::bad_alignment) == 5);
        CHECK(heap.stats().used == used);
        check_empty(subject, heap);
    }
}

namespace {

void check_realloc(const Subject &subject, const std::string &kernel)
{
    INFO(subject.name() << ", " << kernel);
    std::vector<cl_ulong> old_sizes, sizes;
    std::vector<cl_ulong> aligns;
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
    launch(calls(subject), kernel, {sizes.size(), 11}, heap, Array<cl_ulong>(aligns), Array<cl_ulong>(old_sizes),
           blocks.size_array(), blocks.ref_array(), wrong);
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

TEST_CASE("realloc_sized keeps what both sizes cover, and the alignment")
{
    for (const Subject &subject : subjects(Breadth::all))
        check_realloc(subject, "call_realloc_sized");
}

TEST_CASE("realloc knows the old size")
{
    for (const Subject &subject : subjects(Breadth::all, {Ability::know_blocks}))
        check_realloc(subject, "call_realloc");
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
        launch(calls(subject), "call_usable_size", {sizes.size(), 1}, heap, Array<cl_ulong>(sizes), refs, usable);
        const std::vector<cl_ulong> given = usable.read();
        for (std::size_t i = 0; i < sizes.size(); i++) {
            INFO(sizes[i] << " bytes");
            CHECK(given[i] >= sizes[i]);
            if (sizes[i] != 0)
                CHECK(given[i] <= subject.type->lone_bytes(sizes[i], subject.debug) - subject.bytes_around());
            else
                CHECK(given[i] == 0);
        }
        Blocks blocks(subject, heap, given);
        device().queue().enqueueCopyBuffer(refs.buffer(), blocks.ref_array().buffer(), 0, 0,
                                           sizes.size() * sizeof(cl_uint));
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
        kma::Heap heap = subject.heap(16 * 4096, 4096);
        const cl_ulong largest = subject.largest(subject.can(Ability::whole_heap) ? heap.stats().capacity : 4096);
        std::uint64_t count = 0;
        for (const cl_ulong bytes : {largest + 1, cl_ulong{1} << 32, (cl_ulong{1} << 36) - 16, cl_ulong{1} << 36,
                                     cl_ulong{1} << 63, ~cl_ulong{0} - 15, ~cl_ulong{0}}) {
            INFO(subject.name() << ", " << bytes << " bytes");
            CHECK(request(subject, heap, bytes, 1) == 0);
            CHECK(count_of(heap, ErrorCode::too_large) == ++count);
            CHECK(count_of(heap, ErrorCode::out_of_memory) == 0);
        }
        check_empty(subject, heap);
        CHECK(request(subject, heap, largest, 1) == 1);
        CHECK(count_of(heap, ErrorCode::out_of_memory) == 0);
        check_reset(subject, heap);
    }
}

TEST_CASE("a request for nothing does nothing")
{
    for (const Subject &subject : subjects(Breadth::all)) {
        INFO(subject.name());
        const kma::Heap heap = subject.heap(16 * 4096, 4096);
        const Array<cl_uint> results(6, 0);
        launch(calls(subject), "do_nothing_calls", {1, 1}, heap, results);
        CHECK(results.read() == std::vector<cl_uint>(6, 1));
        CHECK(heap.stats().used == 0);
        CHECK(heap.error_text() == "");
        check_empty(subject, heap);
    }
}
