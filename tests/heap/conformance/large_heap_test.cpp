// Heaps that need all the bits of their indices: more superblocks than 16 bits number, blocks beyond 4 GiB.
#include <algorithm>
#include <numeric>

#include "blocks.hpp"
#include "catch.hpp"
#include "participation.hpp"

using namespace conformance;
using namespace test;

namespace {

// Fills the heap with blocks of a superblock each, all of which must be there, and frees them again.
void check_all_blocks(const Subject &subject, kma::Heap &heap, std::uint64_t bytes)
{
    const auto count = static_cast<cl_uint>(heap.stats().capacity / subject.block_bytes(bytes));
    Blocks blocks(subject, heap, std::vector<cl_ulong>(count, bytes));
    const Shape shape = in_groups(count, 64);
    const kma::Program kernels = subject.program("large_heap.cl");
    launch(kernels, "take_ends", shape, heap, static_cast<cl_ulong>(bytes), blocks.ref_array(), count);
    CHECK(blocks.held().size() == count);
    CHECK(request(subject, heap, bytes, 1) == 0);
    const Array<cl_uint> wrong(count, 0);
    launch(kernels, "verify_ends", shape, heap, static_cast<cl_ulong>(bytes), blocks.ref_array(), wrong, count);
    const std::vector<cl_uint> wrongs = wrong.read();
    CHECK(std::accumulate(wrongs.begin(), wrongs.end(), std::uint64_t{0}) == 0);
    check_apart(blocks);
    check_books(blocks);

    const std::vector<cl_uint> refs = blocks.refs();
    std::vector<cl_uint> last =
        blocks.held(); // as many from the end as serve other sizes together, wherever they begin
    std::ranges::sort(last, std::greater{}, [&](cl_uint slot) { return refs[slot]; });
    last.resize(2 * subject.type->together - 1);
    CHECK(refs[last.front()] * kma::ref_unit + 2 * bytes > heap.stats().bytes); // the end is in use
    blocks.give(last);
    if (subject.can(Ability::reuse)) { // small blocks there
        Blocks small(subject, heap, std::vector<cl_ulong>(100, 16));
        small.take();
        CHECK(std::ranges::min(small.refs()) >= refs[last.back()]);
        CHECK(small.wrong_bytes() == 0);
        small.give_all(1);
    }
    blocks.give_all(2);
    check_empty(subject, heap);
    check_refusals_only(heap);
}

bool device_has(std::uint64_t bytes)
{
    const std::uint64_t largest = device().max_buffer_bytes();
    if (bytes > largest)
        remark("not shown here: a heap of ", bytes, " bytes, buffers end at ", largest);
    return bytes <= largest;
}

} // namespace

TEST_CASE("a heap may have more superblocks than 16 bits number")
{
    const std::uint64_t superblock_bytes = 4096, payload = 66000 * superblock_bytes;
    if (scaled(66000) < 66000 || !device_has(payload + payload / 32))
        return;
    for (const Subject &subject : subjects(Breadth::widths)) {
        INFO(subject.name());
        try {
            kma::Heap heap = subject.heap(payload, superblock_bytes);
            check_all_blocks(subject, heap, superblock_bytes);
        } catch (const kma::Error &) {
            CHECK(!subject.flavour.atomic64); // too few bits, but that is said and not found out by two owners
        }
    }
}

TEST_CASE("blocks beyond 4 GiB are as good as others")
{
    const std::uint64_t superblock_bytes = 2 << 20, payload = (std::uint64_t{4} << 30) + 64 * superblock_bytes;
    if (!device_has(payload + payload / 32))
        return;
    for (const Subject &subject : subjects(Breadth::widths)) {
        INFO(subject.name());
        kma::Heap heap = subject.heap(payload, superblock_bytes);
        check_all_blocks(subject, heap, superblock_bytes);
    }
}
