// Half of a full heap was freed, in several patterns: whatever fits there by arithmetic is served, at least nine of ten
// to lanes together, and all of it in the end.
#include <algorithm>

#include "blocks.hpp"
#include "catch.hpp"

using namespace conformance;
using namespace test;

namespace {

struct Pattern {
    const char *name;
    bool is_random, is_single; // not every second; blocks, not superblocks
    std::uint64_t before;      // bytes of the blocks that fill the heap; 0: a superblock each
    std::uint64_t after;       // of those that shall fit then; the same if single blocks go
};

constexpr Pattern patterns[] = {
    {"random blocks of 16", true, true, 16, 16},
    {"random blocks of 600", true, true, 600, 600},
    {"every second block of 48", false, true, 48, 48},
    {"every second superblock of 16, for 1000", false, false, 16, 1000},
    {"every second superblock of 1000, for 16", false, false, 1000, 16},
    {"random superblocks of 48, for whole ones", true, false, 48, 0},
    {"random whole superblocks, for 48", true, false, 0, 48},
    {"random superblocks of 100, for 100", true, false, 100, 100},
};

constexpr std::uint64_t superblocks = 24;

class HalfFree {
public:
    explicit HalfFree(const Subject &subject)
        : subject_(subject), superblock_bytes_(subject.superblock(subject.type->together > 1 ? 65536 : 4096)),
          heap_(subject.heap(superblocks * superblock_bytes_, superblock_bytes_)), begin_(blocks_range(heap_).begin)
    {
        REQUIRE(heap_.stats().capacity == superblocks * superblock_bytes_);
    }

    void check(const Pattern &pattern)
    {
        INFO(subject_.name() << ", " << pattern.name);
        heap_.reset();
        const Range count_before = count(bytes(pattern.before));
        Blocks before(subject_, heap_, slots_beyond(count_before.most));
        REQUIRE(outside(before.fill(bytes(pattern.before), 256), count_before) == "");
        const std::vector<cl_uint> freed = half_of(before, pattern);
        before.give(freed);

        const Range fits = room_after(pattern, before, freed.size());
        CHECK(fits.least > 0);
        Blocks crowd(subject_, heap_, std::vector<cl_ulong>(fits.least, after(pattern)));
        crowd.take();
        CHECK(crowd.held().size() * 10 >= fits.least * 9);
        Blocks rest(subject_, heap_, slots_beyond(fits.most));
        CHECK(outside(crowd.held().size() + rest.fill(after(pattern), 1), fits) == "");

        std::vector<cl_uint> refs;
        std::vector<cl_ulong> sizes;
        for (const Blocks *blocks : {&before, &crowd, &rest}) {
            CHECK(blocks->wrong_bytes() == 0);
            for (const cl_uint ref : blocks->refs())
                refs.push_back(ref);
            for (const cl_ulong size : blocks->sizes())
                sizes.push_back(size);
        }
        check_apart(subject_, heap_, refs, sizes);
        check_books(subject_, heap_, refs, sizes);
        check_refusals_only(heap_);
        for (Blocks *blocks : {&before, &crowd, &rest})
            blocks->give_all(2);
        check_empty(subject_, heap_);
    }

private:
    std::uint64_t bytes(std::uint64_t size) const { return size != 0 ? size : subject_.largest(superblock_bytes_); }
    // Slabs may reach a little into a superblock from the next one: a quarter of it is whole still.
    std::uint64_t after(const Pattern &pattern) const
    {
        return pattern.after == 0 && subject_.type->together > 1 ? superblock_bytes_ / 4 : bytes(pattern.after);
    }
    Range count(std::uint64_t size) const { return count_when_full(subject_, heap_, size, superblock_bytes_); }

    // How many blocks fit when `freed` of `before` are.
    Range room_after(const Pattern &pattern, const Blocks &before, std::size_t freed) const
    {
        const std::uint64_t size = after(pattern);
        if (subject_.type->together == 1) // whole superblocks, or the same size
            return exactly(freed * count(size).most / count(bytes(pattern.before)).most);
        const std::size_t live = before.held().size();
        const std::uint64_t most =
            (heap_.stats().capacity - live * subject_.block_bytes(bytes(pattern.before))) / subject_.block_bytes(size);
        return {pattern.is_single ? freed : room_between(before.refs(), bytes(pattern.before), size), most};
    }

    // Of blocks for `size`, those that fit between blocks for `before`, as far as these do not keep memory beside them.
    std::uint64_t room_between(std::vector<cl_uint> refs, std::uint64_t before, std::uint64_t size) const
    {
        const kma::HeapStats stats = heap_.stats();
        const Room whole{0, stats.capacity, superblock_bytes_};
        const std::uint64_t beside = subject_.type->model(whole, subject_.debug)->beside(before);
        std::ranges::sort(refs);
        std::uint64_t sum = 0, free = stats.bytes - stats.capacity; // where it begins
        const auto look = [&](std::uint64_t end) {
            if (end > free + 2 * beside) {
                const Room room{0, end - free - 2 * beside, superblock_bytes_};
                sum += subject_.type->model(room, subject_.debug)->count_when_full(size).least;
            }
        };
        for (const cl_uint ref : refs)
            if (ref != 0) {
                look(ref * kma::ref_unit);
                free = ref * kma::ref_unit + subject_.block_bytes(before);
            }
        look(stats.bytes);
        return sum;
    }

    // Slots with a block.
    std::vector<cl_uint> half_of(const Blocks &blocks, const Pattern &pattern) const
    {
        std::vector<cl_uint> order = blocks.held();
        const std::vector<cl_uint> refs = blocks.refs();
        std::ranges::sort(order, {}, [&](cl_uint slot) { return refs[slot]; });
        std::vector<cl_uint> rank = random_order(pattern.is_single ? order.size() : superblocks, 7);
        if (!pattern.is_random)
            std::ranges::sort(rank);
        std::vector<cl_uint> some;
        for (std::size_t i = 0; i < order.size(); i++) {
            const std::uint64_t superblock = (refs[order[i]] - begin_) * kma::ref_unit / superblock_bytes_;
            if (rank[pattern.is_single ? i : superblock] % 2 != 0)
                some.push_back(order[i]);
        }
        return some;
    }

    const Subject &subject_;
    std::uint64_t superblock_bytes_;
    kma::Heap heap_;
    cl_uint begin_; // of the first superblock, in units
};

} // namespace

TEST_CASE("what fits into the free half of a heap is served")
{
    for (const Subject &subject : core_subjects(Breadth::widths, {Ability::reuse})) {
        HalfFree scene(subject);
        for (const Pattern &pattern : patterns)
            scene.check(pattern);
    }
}
