#include "blocks.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "catch.hpp"

using namespace test;

namespace conformance {

Blocks::Blocks(const Subject &subject, const kma::Heap &heap, const std::vector<cl_ulong> &sizes)
    : subject_(&subject), heap_(&heap), program_(subject.program("blocks.cl")), sizes_(sizes), refs_(sizes.size(), 0),
      addresses_(sizes.size(), 0)
{
}

void Blocks::take(Call call, std::size_t group)
{
    launch(program_, "take", in_groups(refs_.size(), group), *heap_, sizes_, refs_, addresses_,
           static_cast<cl_uint>(refs_.size()), static_cast<cl_uint>(call));
}

std::size_t Blocks::fill(std::uint64_t bytes, std::size_t work_items)
{
    // Slots are handed out in order, so the empty ones must all be behind those with a block.
    const Array<cl_uint> used(1, static_cast<cl_uint>(held().size()));
    const auto slots = static_cast<cl_uint>(refs_.size());
    for (const Shape shape : {in_groups(work_items, 64), Shape{1, 1}})
        launch(program_, "fill", shape, *heap_, static_cast<cl_ulong>(bytes), refs_, sizes_, used, slots);
    const std::size_t count = used.read()[0];
    REQUIRE(count < slots); // else there are more blocks than memory, or they stopped for want of slots
    return count;
}

void Blocks::give(std::vector<cl_uint> order)
{
    if (order.empty())
        return;
    const auto count = static_cast<cl_uint>(order.size());
    launch(program_, "give", in_groups(count, 64), *heap_, refs_, Array<cl_uint>(order), count);
}

void Blocks::give_all(std::uint32_t seed)
{
    const std::vector<cl_uint> slots = held();
    std::vector<cl_uint> order;
    for (const cl_uint i : random_order(slots.size(), seed))
        order.push_back(slots[i]);
    give(std::move(order));
}

std::uint64_t Blocks::wrong_bytes(const Array<cl_uint> &refs) const
{
    const Array<cl_uint> wrong(refs_.size(), 0);
    launch(program_, "verify", in_groups(refs_.size(), 64), *heap_, sizes_, refs, wrong,
           static_cast<cl_uint>(refs_.size()));
    const std::vector<cl_uint> all = wrong.read();
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

std::vector<cl_uint> Blocks::held() const
{
    std::vector<cl_uint> slots;
    const std::vector<cl_uint> all = refs();
    for (cl_uint slot = 0; slot < all.size(); slot++)
        if (all[slot] != 0)
            slots.push_back(slot);
    return slots;
}

std::uint64_t own_bytes(const Subject &subject, std::uint64_t bytes)
{
    return bytes == 0 ? 0 : subject.block_bytes(bytes) - subject.bytes_around();
}

void check_apart(const Subject &subject, const kma::Heap &heap, const std::vector<cl_uint> &refs,
                 const std::vector<cl_ulong> &sizes)
{
    // How far a guarded block's own goes behind what was asked for depends on what its alignment took in front.
    const auto own = [&](std::uint64_t bytes) { return subject.guarded() ? bytes : own_bytes(subject, bytes); };
    std::vector<std::pair<std::uint64_t, std::uint64_t>> intervals; // begin and end
    for (std::size_t i = 0; i < refs.size(); i++)
        if (refs[i] != 0)
            intervals.emplace_back(refs[i] * kma::ref_unit, refs[i] * kma::ref_unit + own(sizes[i]));
    std::ranges::sort(intervals);
    const kma::HeapStats stats = heap.stats();
    std::uint64_t end = stats.bytes - stats.capacity > 1024 ? 1024 : 0; // not in the header and its error log
    std::size_t overlaps = 0;
    for (const auto &[begin, behind] : intervals) {
        overlaps += begin < end ? 1 : 0;
        end = std::max(end, behind);
    }
    CHECK(overlaps == 0);
    CHECK(end <= stats.bytes);
}

void check_apart(const Blocks &blocks)
{
    check_apart(blocks.subject(), blocks.heap(), blocks.refs(), blocks.sizes());
}

void check_books(const Subject &subject, const kma::Heap &heap, const std::vector<cl_uint> &refs,
                 const std::vector<cl_ulong> &sizes, bool is_ample)
{
    CHECK(heap.check() == std::vector<std::string>());
    std::map<cl_uint, std::uint64_t> living; // ref and bytes
    std::uint64_t bytes = 0, listed = 0;
    for (std::size_t i = 0; i < refs.size(); i++)
        if (refs[i] != 0) {
            living[refs[i]] = subject.listed_bytes(sizes[i]);
            bytes += subject.block_bytes(sizes[i]);
            listed += subject.listed_bytes(sizes[i]);
        }
    const kma::HeapStats stats = heap.stats();
    CHECK(stats.used >= bytes);
    if (subject.can(Ability::reuse))
        CHECK(stats.blocks == living.size());
    if (!subject.can(Ability::list_blocks))
        return;
    const kma::LeakReport report = heap.leaks(1 << 20);
    const bool exact = !subject.type->may_give_more ||
                       subject.debug >= subject.type->lists_asked_from ||
                       (is_ample && subject.type->together == 1);
    // In ample room only blocks that lie together may be larger, and by little.
    const auto most = [&](std::uint64_t bytes) {
        return exact ? bytes : is_ample ? bytes + bytes / 8 + 271 : ~std::uint64_t{0};
    };
    std::map<std::uint64_t, std::uint64_t> counts; // by size
    std::uint64_t in_report = 0;
    for (const kma::LeakReport::Block &block : report.first) {
        counts[block.bytes]++;
        in_report += block.bytes;
    }
    CHECK(report.blocks == living.size());
    CHECK(heap.leaks().first.size() == std::min<std::size_t>(living.size(), 100));
    CHECK(report.bytes == in_report);
    CHECK((exact ? report.bytes == listed : report.bytes >= listed));
    if (subject.can(Ability::reuse) && subject.debug < 2)
        CHECK(stats.used == report.bytes);
    CHECK(std::ranges::equal(report.first, living, [&](const auto &block, const auto &one) {
        const auto [ref, least] = one;
        return block.ref == ref && block.bytes >= least && block.bytes <= most(least);
    }));
    CHECK(std::ranges::equal(report.sizes, counts, [](const auto &a, const auto &b) {
        return a.block_bytes == b.first && a.count == b.second;
    }));
}

void check_books(const Blocks &blocks, bool is_ample)
{
    check_books(blocks.subject(), blocks.heap(), blocks.refs(), blocks.sizes(), is_ample);
}

void check_whole(const Blocks &blocks)
{
    CHECK(blocks.wrong_bytes() == 0);
    check_apart(blocks);
    check_books(blocks);
}

void check_given(Blocks &blocks, std::uint32_t seed)
{
    blocks.give_all(seed);
    check_empty(blocks.subject(), blocks.heap());
}

void check_service(const Subject &subject, const kma::Heap &heap, std::uint64_t bytes, std::uint64_t superblock_bytes)
{
    const Range expected = count_when_full(subject, heap, bytes, superblock_bytes);
    Blocks all(subject, heap, slots_beyond(expected.most));
    CHECK(outside(all.fill(bytes, refillers(subject, crowd)), expected) == "");
    CHECK(all.wrong_bytes() == 0);
    check_apart(all);
    check_given(all, 1);
}

void check_count(const Subject &subject, const kma::Heap &heap, std::size_t blocks)
{
    CHECK(heap.check() == std::vector<std::string>());
    if (subject.can(Ability::list_blocks))
        CHECK(heap.leaks().blocks == blocks);
}

void check_empty(const Subject &subject, const kma::Heap &heap)
{
    check_books(subject, heap, {}, {});
}

void check_reset(const Subject &subject, kma::Heap &heap)
{
    CHECK(heap.check() == std::vector<std::string>());
    heap.reset();
    CHECK(heap.stats().used == 0);
    check_empty(subject, heap);
}

void check_refusals_only(const kma::Heap &heap)
{
    for (std::size_t code = 0; code < kma::error_codes; code++)
        if (static_cast<kma::ErrorCode>(code) != kma::ErrorCode::out_of_memory) {
            INFO(kma::explain(static_cast<kma::ErrorCode>(code)));
            CHECK(heap.stats().errors[code] == 0);
        }
}

std::vector<cl_uint> request(const Subject &subject, const kma::Heap &heap, const std::vector<cl_ulong> &sizes)
{
    const Array<cl_uint> refs(sizes.size(), 0);
    const std::size_t group = sizes.size() % test::group(64) == 0 ? test::group(64) : sizes.size();
    launch(subject.program("blocks.cl"), "request", {sizes.size(), group}, heap, Array(sizes), refs);
    return refs.read();
}

std::size_t request(const Subject &subject, const kma::Heap &heap, std::uint64_t bytes, std::size_t work_items)
{
    const std::size_t count = work_items == 1 ? 1 : in_groups(work_items, 64).work_items;
    const std::vector<cl_uint> refs = request(subject, heap, std::vector<cl_ulong>(count, bytes));
    return count - static_cast<std::size_t>(std::ranges::count(refs, 0u));
}

std::size_t while_served(const Subject &subject, const kma::Heap &heap, std::uint64_t bytes)
{
    std::size_t count = 0;
    while (request(subject, heap, bytes, 1) != 0)
        REQUIRE(++count <= 1000); // a heap that never ends is broken, and shall not stop the suite
    return count;
}

std::vector<cl_uint> random_order(std::size_t n, std::uint32_t seed)
{
    std::vector<cl_uint> order(n);
    std::iota(order.begin(), order.end(), 0u);
    for (std::size_t i = n; i > 1; i--)
        std::swap(order[i - 1], order[mix32(seed + static_cast<std::uint32_t>(i)) % i]);
    return order;
}

Range count_when_full(const Subject &subject, const kma::Heap &heap, std::uint64_t bytes,
                      std::uint64_t superblock_bytes)
{
    return subject.type->model({0, heap.stats().capacity, superblock_bytes}, subject.debug)->count_when_full(bytes);
}

std::size_t refillers(const Subject &subject, std::size_t most)
{
    return subject.guarded() && subject.type->may_give_more ? 1 : most;
}

std::vector<cl_ulong> slots_beyond(std::uint64_t blocks)
{
    return std::vector<cl_ulong>(blocks + 512, 0);
}

std::uint64_t count_of(const kma::Heap &heap, kma::ErrorCode code)
{
    return heap.stats().errors[static_cast<std::size_t>(code)];
}

std::uint64_t ample_room(const Subject &subject, const std::vector<cl_ulong> &sizes, std::uint64_t superblock_bytes)
{
    std::uint64_t sum = 0;
    for (const cl_ulong bytes : sizes)
        sum += subject.block_bytes(bytes) + 64; // 64: aligned_alloc's
    return 2 * sum + 128 * superblock_bytes;
}

kma::Program misuse_program(const Subject &subject)
{
    return subject.program("misuse.cl", subject.can(Ability::know_blocks) ? "-DKMA_KNOWS_BLOCKS" : "");
}

UnitRange blocks_range(const kma::Heap &heap)
{
    UnitRange range;
    device().queue().enqueueReadBuffer(heap.buffer(), CL_TRUE, 24, sizeof range, &range);
    return range;
}

} // namespace conformance
