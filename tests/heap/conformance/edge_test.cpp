// The ends of heaps: nothing is written behind them, short ones have all their memory, and large ones need all the bits
// of their indices: more superblocks than 16 bits number, blocks beyond 4 GiB.
#include <algorithm>

#include "blocks.hpp"
#include "catch.hpp"
#include "participation.hpp"

using namespace conformance;
using namespace test;

namespace {

constexpr cl_uchar paint = 0xa5;

// Of the blocks that the empty heap has, how many it owes: if the model knows no number, its least. Else, in a scatter
// heap, blocks of n pages may lie so that n - 1 free ones are between any two of them, and nothing fits there.
std::uint64_t owed(const Subject &subject, const kma::Heap &heap, std::uint64_t bytes, std::uint64_t superblock_bytes,
                   Range expected)
{
    if (expected.least != expected.most)
        return expected.least;
    const std::uint64_t page = subject.superblock(4096), n = subject.block_bytes(bytes) / page;
    if (subject.type->kind != kma::HeapKind::scatter || n < 2)
        return expected.most;
    const std::uint64_t pages = heap.stats().capacity / page, in_one = superblock_bytes / page;
    std::uint64_t sum = 0;
    for (std::uint64_t first = 0; first < pages; first += in_one)
        sum += (std::min(in_one, pages - first) + n - 1) / (2 * n - 1);
    return sum;
}

// A heap's contents in a buffer that goes on behind it, so that what lies there shows writes beyond the heap's end.
class Watched {
public:
    Watched(const Subject &subject, const kma::Heap &heap)
        : subject_(subject), heap_(heap), buffer_(static_cast<std::size_t>(heap.bytes()) + behind, paint)
    {
        device().queue().enqueueCopyBuffer(heap.buffer(), buffer_.buffer(), 0, 0, heap.bytes());
        device().queue().finish();
    }

    // As Blocks::fill; `count` slots for blocks, of which it uses as many as it returns.
    std::size_t fill(std::uint64_t bytes, std::size_t count)
    {
        refs_ = Array<cl_uint>(count, 0);
        sizes_ = Array<cl_ulong>(count, 0);
        const kma::Program program = subject_.program("blocks.cl");
        const Array<cl_uint> used(1, 0), wrong(count, 0);
        const auto slots = static_cast<cl_uint>(count);
        for (const Shape shape : {in_groups(crowd, 64), Shape{1, 1}})
            launch(program, "fill", shape, buffer_, static_cast<cl_ulong>(bytes), refs_, sizes_, used, slots);
        launch(program, "verify", in_groups(count, 64), buffer_, sizes_, refs_, wrong, slots);
        const std::vector<cl_uint> wrongs = wrong.read();
        CHECK(std::ranges::count(wrongs, 0u) == slots);
        return used.read()[0];
    }

    std::size_t damage_behind() const
    {
        const std::vector<cl_uchar> all = buffer_.read();
        return static_cast<std::size_t>(
            std::count_if(all.end() - behind, all.end(), [](cl_uchar byte) { return byte != paint; }));
    }

    // The heap becomes what the buffer has, and its books must be right.
    void put_back() const
    {
        device().queue().enqueueCopyBuffer(buffer_.buffer(), heap_.buffer(), 0, 0, heap_.bytes());
        device().queue().finish();
        check_apart(subject_, heap_, refs_.read(), sizes_.read());
        check_books(subject_, heap_, refs_.read(), sizes_.read());
    }

private:
    static constexpr std::ptrdiff_t behind = 65536;

    const Subject &subject_;
    const kma::Heap &heap_;
    Array<cl_uchar> buffer_;
    Array<cl_uint> refs_{1, 0};
    Array<cl_ulong> sizes_{1, 0};
};

// Fills the heap with blocks of a superblock each, all of which must be there, and frees them again.
void check_all_blocks(const Subject &subject, kma::Heap &heap, std::uint64_t bytes)
{
    const auto count = static_cast<std::size_t>(heap.stats().capacity / subject.block_bytes(bytes));
    Blocks blocks(subject, heap, std::vector<cl_ulong>(count, bytes));
    blocks.take();
    CHECK(blocks.held().size() == count);
    CHECK(request(subject, heap, bytes, 1) == 0);
    check_whole(blocks);

    const std::vector<cl_uint> refs = blocks.refs();
    std::vector<cl_uint> last = blocks.held(); // from the end, as many as serve other sizes wherever they begin
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
    check_given(blocks, 2);
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

TEST_CASE("nothing is written behind a heap, down to its last block")
{
    constexpr std::uint64_t superblock_bytes = 16384;
    for (const Subject &subject : core_subjects(Breadth::all))
        for (const std::uint64_t tail : {0, 1, 4095}) { // bytes that are no whole page
            const kma::HeapOptions options = subject.options(superblock_bytes);
            kma::Heap heap(device(), kma::Heap::bytes_for(options, 3 * superblock_bytes) + tail, options);
            for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{33}, std::uint64_t{600},
                                              std::uint64_t{5000}, subject.largest(superblock_bytes)}) {
                INFO(subject.name() << ", " << heap.bytes() << " bytes, blocks for " << bytes);
                const Range expected = count_when_full(subject, heap, bytes, superblock_bytes);
                Watched watched(subject, heap);
                // All that is the owner's, which may be more than it needs.
                const std::size_t count = watched.fill(own_bytes(subject, bytes), expected.most + crowd + 1);
                CHECK(count <= expected.most);
                CHECK(count >= owed(subject, heap, bytes, superblock_bytes, expected));
                CHECK(watched.damage_behind() == 0);
                watched.put_back();
                heap.reset();
            }
        }
}

TEST_CASE("a heap smaller than a superblock, or with a short last one, has all its memory")
{
    for (const Subject &subject : core_subjects(Breadth::widths))
        for (const std::uint64_t superblock_bytes : {0, 65536}) // 0: its own choice, of some heaps 8 MiB
            for (const std::uint64_t pages : {1, 5, 37}) {
                const std::uint64_t page = subject.superblock(4096);
                const kma::Heap heap = subject.heap(pages * page, superblock_bytes);
                std::vector<std::uint64_t> sizes = {16, 600, subject.largest(page)};
                if (superblock_bytes != 0)
                    sizes.push_back(2 * page);
                for (const std::uint64_t bytes : sizes) {
                    INFO(subject.name() << ", " << pages << " pages in superblocks of " << superblock_bytes
                                        << ", blocks of " << bytes);
                    const Range expected =
                        count_when_full(subject, heap, bytes, superblock_bytes != 0 ? superblock_bytes : page);
                    CHECK((expected.most != 0 || (pages == 1 && bytes > page)));
                    Blocks blocks(subject, heap, slots_beyond(expected.most));
                    const std::size_t count = blocks.fill(bytes, crowd);
                    CHECK(count <= expected.most);
                    CHECK(count >= owed(subject, heap, bytes, superblock_bytes, expected));
                    check_whole(blocks);
                    if (!subject.can(Ability::reuse))
                        break;
                    check_given(blocks, 1);
                }
            }
}

TEST_CASE("a heap may have more superblocks than 16 bits number", "[long]")
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

// On GPUs the lanes of a whole warp have a path of their own, which does not serve these.
TEST_CASE("lanes of one warp that ask for nothing, or for much, leave the others their memory")
{
    const std::size_t rounds = scaled(400, 100), work_items = 512;
    for (const cl_ulong odd : {0, 6000}) {
        std::vector<cl_ulong> sizes(work_items, 16);
        for (std::size_t i = 5; i < work_items; i += 32)
            sizes[i] = odd;
        for (const Subject &subject : subjects(Breadth::fast, {Ability::reuse})) {
            INFO(subject.name() << ", every 32nd lane asks for " << odd);
            // Besides what is asked for: what each of many places begins. A page for each warp's call would be more.
            const std::uint64_t asked = rounds * work_items * (16 + odd / 32 + 64 * (subject.debug >= 2));
            const std::uint64_t most = asked * 3 / 2 + (16 << 20);
            // Pages are taken in any superblock: that one is in use says little. What fits is served.
            const bool spreads = subject.type->page_bytes != 0;
            kma::Heap heap = subject.heap(spreads ? most : 128 << 20, 65536);
            for (std::size_t round = 0; round < rounds; round++)
                request(subject, heap, sizes);
            const kma::HeapStats stats = heap.stats();
            if (!spreads)
                CHECK((stats.superblocks - stats.superblocks_free) * stats.superblock_bytes <= most);
            CHECK(count_of(heap, kma::ErrorCode::out_of_memory) == 0);
            check_reset(subject, heap);
        }
    }
}
