// The slab heap's paths for lanes together, by groups of up to 64 lanes that a lone caller plays (shim/lockstep.hpp):
// what they order, against plain computation, and where each one's block is then.
#pragma once

#include <vector>

#include "calls_slab_heads.hpp"

namespace calls {

using group_sizes = std::vector<uint>; // units that each lane wants; 0: none

// ------ what lanes of a half want together --------------------------------------------------------------------------

struct half_order {
    uint mates = 0, lines = 0, mark = 0, header = 0;
    bool mixed = false;
    uint offsets[KMA_SL_SLOTS] = {};
    uint rooms[KMA_SL_SLOTS] = {}; // of each slot, which are ranks if all are equal
    uint planes[KMA_SL_PLANES] = {};
};

inline uint bit_of(bool is, uint bit)
{
    return is ? 1u << bit : 0;
}

inline void order_equal(half_order &order, uint units)
{
    uint count = 0;
    for (uint lane = 0; lane < KMA_SL_SLOTS; lane++)
        if ((order.mates >> lane & 1u) != 0) {
            order.rooms[lane] = units;
            order.offsets[lane] = count++ * units;
        }
    order.lines = units == 1 ? count == 32 : max((count * units + 31) / 32, 2u);
    order.mark = units == 1 ? KMA_SL_MARK_FINE : KMA_SL_MARK_HEADER;
    order.header = units == 1 ? 0 : KMA_SL_DATA | units << 6 | count;
    if (count < 2 || count * units * 2 <= order.lines * 32)
        order.lines = 0;
}

inline void order_mixed(half_order &order, const uint *sizes)
{
    uint largest = 0, total = 0, count = 0;
    order.mixed = true;
    order.mates = 0;
    for (uint lane = 0; lane < KMA_SL_SLOTS; lane++)
        if (sizes[lane] != 0 && sizes[lane] <= 256) {
            order.mates |= 1u << lane;
            largest = max(largest, sizes[lane]);
        }
    const bool is_small = order.mates == ~0u && largest <= 4, is_coarse = largest >= 128;
    for (uint lane = 0; lane < KMA_SL_SLOTS; lane++) {
        const uint units = (order.mates >> lane & 1u) != 0 ? sizes[lane] : 0;
        const uint value = is_small ? units - 1 : is_coarse ? (units + 3) / 4 : units;
        for (uint p = 0; p < KMA_SL_PLANES; p++)
            order.planes[p] |= (value >> p & 1u) << lane;
        count = max(count, static_cast<uint>(std::bit_width(value)));
        order.rooms[lane] = is_coarse ? value * 4 : units;
        order.offsets[lane] = total;
        total += order.rooms[lane];
    }
    order.mark = is_small ? KMA_SL_MARK_SMALL : KMA_SL_MARK_HEADER;
    if (is_small)
        order.lines = order.offsets[31] + 4 <= 96 ? 3 : 4;
    else
        order.lines = max((total + 31) / 32, 2 + count);
    if (!is_small)
        order.header = KMA_SL_DATA | KMA_SL_MIXED | order.lines << 8 | bit_of(is_coarse, 7) |
                       bit_of(order.mates >> 31 != 0, 6) | count;
    if (std::popcount(order.mates) < 2 || total * 2 <= order.lines * 32)
        order.lines = 0;
}

// Of 32 lanes' sizes.
inline half_order order_of(const uint *sizes)
{
    half_order order;
    uint its = 0;
    bool differ = false;
    for (uint lane = 0; lane < KMA_SL_SLOTS; lane++)
        if (sizes[lane] != 0 && sizes[lane] <= 1024) {
            order.mates |= 1u << lane;
            its = its == 0 ? sizes[lane] : its;
            differ = differ || sizes[lane] != its;
        }
    if (differ)
        order_mixed(order, sizes);
    else
        order_equal(order, its);
    return order;
}

// Those lanes of `group` that are 0 there are not.
inline void check_order(const group_sizes &sizes, ulong group)
{
    uint padded[64] = {};
    for (uint lane = 0; lane < sizes.size(); lane++)
        padded[lane] = (group >> lane & 1) != 0 ? sizes[lane] : 0;
    const half_order right[2] = {order_of(padded), order_of(padded + 32)};
    shim::lockstep::run(static_cast<uint>(sizes.size()), 0, [&](uint me) {
        if ((group >> me & 1) == 0)
            return;
        const half_order &mine = right[me / 32];
        const uint lane = me % 32;
        shim::check(kma_sl_base() == me / 32 * 32, "the first lane of a half");
        const kma_sl_order order = kma_sl_order_of(group, kma_sl_base(), lane, sizes[me]);
        shim::check(order.lines == mine.lines, "lines of lanes together");
        if (order.lines == 0)
            return;
        shim::check(order.mates == mine.mates && order.mark == mine.mark && order.header == mine.header &&
                        order.mixed == mine.mixed,
                    "what tells of a slab of lanes together");
        shim::check((mine.mates >> lane & 1u) == 0 || order.offset == mine.offsets[lane], "where a lane's block is");
        const uint rank = static_cast<uint>(std::popcount(mine.mates & ((1u << lane) - 1u)));
        shim::check(!mine.mixed || rank >= KMA_SL_PLANES || order.plane == mine.planes[rank], "a plane of sizes");
        shim::check(kma_sl_planes_of(&order) == (!mine.mixed ? 0 : mine.header != 0 ? mine.header & 7u : 2u), "planes");
    });
}

// Sizes of a kind, each lane its own or all the same, some lanes' none.
inline group_sizes some_sizes(uint lanes, uint kind, uint seed)
{
    static constexpr uint mosts[] = {4, 4, 12, 127, 128, 256, 300, 1024, 1030, 32};
    const uint most = mosts[kind % std::size(mosts)], same = 1 + kma_mix32(seed) % most;
    group_sizes sizes(lanes);
    for (uint lane = 0; lane < lanes; lane++) {
        const uint random = kma_mix32(seed * 64 + lane + 1);
        const bool differs = kind >= std::size(mosts) || (lane == seed % 80);
        sizes[lane] = differs ? 1 + random % most : same;
        if (seed % 3 == 2 && random >> 24 < seed % 256)
            sizes[lane] = 0;
    }
    return sizes;
}

inline void check_group_orders()
{
    for (const uint lanes : {32u, 64u})
        for (uint kind = 0; kind < 20; kind++)
            for (uint seed = 1; seed < 7; seed++) {
                const ulong all = ~ulong{0} >> (64 - lanes);
                const ulong some = ulong{kma_mix32(seed)} << 32 | kma_mix32(seed + 99);
                check_order(some_sizes(lanes, kind, seed + 40 * kind), seed % 4 != 0 ? all : (some & all) | 1);
            }
    const group_sizes ones(32, 1), nothing(32, 0);
    for (const ulong group : {0xffffffffu, 0x7fffffffu, 1u, 6u}) {
        check_order(ones, group);
        check_order(nothing, group);
        check_order(group_sizes(32, 1024), group);
        check_order(group_sizes(32, 1025), group);
    }
}

// ------ what they get -----------------------------------------------------------------------------------------------

// Of four chunks, with the blocks that lanes have of it.
class group_heap {
public:
    explicit group_heap(uint chunks = 4) : heap(slab_of(chunks, chunks, 1)), sl(kma_sl_open(heap)), log{heap} {}

    void use(uint first, uint count) { shim::check(kma_sl_take_lines(heap, first, count), "lines are not free"); }
    // Lines that are nobody's slab, as books have it, are to be given back before.
    void give(uint first, uint count) { kma_sl_give_lines(heap, first, count); }
    // Words of lines say something that those of others' slabs must go on to say.
    void write_words() const
    {
        for (uint line = 0; line < kma_sl_lines(&sl); line++)
            put(kma_sl_word(&sl, line), word_of(line));
    }
    bool has_word(uint line) const { return now(kma_sl_word(&sl, line)) == word_of(line); }
    static uint word_of(uint line) { return KMA_SL_DATA | 0x5a00u | line; }
    uint used() const
    {
        uint lines = 0;
        for (uint chunk = 0; chunk < heap->plan.chunks; chunk++)
            lines += static_cast<uint>(std::popcount(now(kma_sl_used(&sl, chunk))));
        return lines;
    }
    uchar *at(uint unit) const
    {
        return reinterpret_cast<uchar *>(heap) + (size_t{heap->plan.begin} + unit) * KMA_UNIT;
    }
    uint unit_of(const void *block) const
    {
        return static_cast<uint>((static_cast<const uchar *>(block) - at(0)) / KMA_UNIT);
    }

    // Each lane a block, at a multiple of `align` bytes.
    void take(const group_sizes &sizes, size_t align = KMA_UNIT)
    {
        blocks.assign(sizes.size(), nullptr);
        shim::lockstep::run(static_cast<uint>(sizes.size()), 0, [&](uint lane) {
            blocks[lane] = kma_slab_aligned_alloc(heap, align, size_t{sizes[lane]} * KMA_UNIT);
        });
        for (uint lane = 0; lane < sizes.size(); lane++) {
            if (sizes[lane] != 0 && !blocks[lane])
                log.expected[sizes[lane] > heap->plan.room * 1024 ? KMA_ERROR_TOO_LARGE : KMA_ERROR_OUT_OF_MEMORY]++;
            shim::check(sizes[lane] != 0 || !blocks[lane], "a block for a lane that wants none");
            if (blocks[lane])
                shim::check(kma_slab_usable_size(heap, blocks[lane]) >= size_t{sizes[lane]} * KMA_UNIT &&
                                kma_slab_ref_of(heap, blocks[lane]) * KMA_UNIT % align == 0,
                            "a block is too small, or not aligned");
        }
        check_books();
    }

    // Lane n frees what is said for it, if that is something; the lanes not named are not there.
    void free(const std::vector<void *> &what, ulong there = ~ulong{0})
    {
        shim::lockstep::run(static_cast<uint>(what.size()), 0, [&](uint lane) {
            if ((there >> lane & 1) != 0)
                kma_slab_free(heap, what[lane]);
        });
    }
    void free_all()
    {
        free(blocks);
        blocks.assign(blocks.size(), nullptr);
        check_books();
    }

    void check_books(shim::location where = shim::location::current())
    {
        slab_books books(heap);
        for (void *const block : blocks)
            if (block)
                books.expect(unit_of(block));
        for (void *const block : others)
            books.expect(unit_of(block));
        books.check();
        log.works(true, where);
    }

    kma_slab *heap;
    kma_sl_heap sl;
    log_of<kma_slab> log;
    std::vector<void *> blocks, others;
};

// Lanes of a half that get a slab of their own, with so many lines as their order says.
inline void check_placed(const group_heap &in, const half_order &order, void *const *blocks)
{
    uint first = KMA_SL_NONE;
    for (uint lane = 0; lane < KMA_SL_SLOTS; lane++) {
        if ((order.mates >> lane & 1u) == 0)
            continue;
        shim::check(blocks[lane], "no block for one of those who get a slab together");
        const uint begin = in.unit_of(blocks[lane]) - order.offsets[lane];
        first = first == KMA_SL_NONE ? begin : first;
        shim::check(begin == first && begin % KMA_SL_LINE == 0, "lanes' blocks do not lie side by side");
        const kma_sl_spot at = kma_sl_spot_of(in.heap, blocks[lane]);
        shim::check(at.lines == order.lines && at.first * KMA_SL_LINE == first, "a slab of another length");
        const uint room = lane == 31 && order.mixed ? order.lines * 32 - order.offsets[31] : order.rooms[lane];
        shim::check(kma_sl_units_at(&in.sl, at) == room, "a slot of another size");
    }
}

// What a group frees in turn: each lane its own; or that of the lane before; or some lanes, and then the others, and a
// few alone.
inline void free_in_turn(group_heap &in, uint way)
{
    std::vector<void *> order = in.blocks;
    if (way == 1)
        std::rotate(order.begin(), order.begin() + 1, order.end());
    if (way < 2) {
        in.free(order);
        in.blocks.assign(in.blocks.size(), nullptr);
        return in.check_books();
    }
    const ulong first = ulong{kma_mix32(way)} << 32 | kma_mix32(way + 7);
    for (const ulong there : {way % 3 == 0 ? ulong{1} << way % in.blocks.size() : first, ~ulong{0}}) {
        std::vector<void *> some = in.blocks;
        for (uint lane = 0; lane < some.size(); lane++)
            if ((there >> lane & 1) == 0)
                some[lane] = nullptr;
            else
                in.blocks[lane] = nullptr;
        in.free(some, there);
        in.check_books();
    }
}

// What lanes took together and gave back serves a lone caller, whatever its size, before it gets NULL.
inline void check_group_holes()
{
    for (const uint units : {100u, 256u, 257u, 300u, 512u}) {
        group_heap in;
        in.take(group_sizes(8, units));
        std::vector<void *> freed(8, nullptr);
        std::swap_ranges(freed.begin() + 1, freed.end(), in.blocks.begin() + 1);
        in.free(freed);
        for (bool fits = true; fits;) {
            fits = slab_books(in.heap).has_room(units);
            shim::self().operations = 0;
            void *const block = kma_slab_malloc(in.heap, size_t{units} * KMA_UNIT);
            shim::check((block != nullptr) == fits, "a lone caller gets NULL though a block fits, or has one too many");
            if (block)
                in.others.push_back(block);
        }
        in.log.expected[KMA_ERROR_OUT_OF_MEMORY]++;
        shim::check(in.others.size() >= 7, "holes that lanes left");
        in.check_books();
    }
}

inline void check_group_blocks()
{
    static constexpr uint group_lanes[] = {32, 64, 32, 8};
    for (uint kind = 0; kind < 20; kind++)
        for (uint seed = 1; seed < 5; seed++) {
            const uint lanes = group_lanes[(kind + seed) % 4];
            const group_sizes sizes = some_sizes(lanes, kind, seed + 40 * kind);
            group_heap in;
            for (uint time = 0; time < 2; time++) { // then the cursors are somewhere
                in.take(sizes);
                uint padded[64] = {};
                std::copy(sizes.begin(), sizes.end(), padded);
                for (uint half = 0; half * 32 < lanes; half++) {
                    const half_order order = order_of(padded + half * 32);
                    const bool together = order.lines != 0 && std::popcount(order.mates) >= 3;
                    if (together && order.lines <= 32 && in.used() <= 64 && (lanes != 8 || time == 0)) // or some share
                        check_placed(in, order, &in.blocks[half * 32]);
                }
                free_in_turn(in, (seed + kind * 9) % 5 + time * 5);
                kma_sl_take_off(in.heap, false);
                shim::check(in.used() == 0, "lines that nobody has");
            }
        }
}

// Two lanes get the holes of a slab, and nothing else.
inline void check_group_of_two()
{
    headed_slab made(four_slots, 0);
    made.make(four_slots, made.first, 3u);
    kma_sl_tree_put(made.heap, four_slots, made.first / KMA_SL_LINE);
    uint seen = 0;
    shim::lockstep::run(2, 0, [&](uint) {
        const kma_ref block = kma_slab_ref_of(made.heap, kma_slab_malloc(made.heap, 256));
        seen |= 1u << (block - made.heap->plan.begin - made.first * KMA_SL_LINE) / kma_sl_units(four_slots);
    });
    shim::check(seen == 12u && made.lines_taken() == 2, "two lanes do not fill holes");
    made.check_books(15u);
}

// What the short path of all lanes must leave to the long one, or clean up.
inline void check_group_requests()
{
    group_heap in;
    for (const size_t align : {size_t{64}, size_t{512}, size_t{1024}})
        for (const uint units : {8u, 30u}) {
            in.take(group_sizes(32, units), align);
            in.free_all();
        }
    const auto fails = [&in](size_t align, size_t bytes, uint code) {
        shim::lockstep::run(32, 0, [&](uint) {
            shim::check(!kma_slab_aligned_alloc(in.heap, align, bytes), "a request that cannot be");
        });
        in.log.expected[code] += 32;
        in.log.works(true);
    };
    fails(24, 128, KMA_ERROR_BAD_ALIGNMENT);
    fails(3, 128, KMA_ERROR_BAD_ALIGNMENT);
    fails(KMA_UNIT, (size_t{1} << 36) + 128, KMA_ERROR_TOO_LARGE);
    fails(KMA_UNIT, size_t{5} * 16384, KMA_ERROR_TOO_LARGE);
    in.take(group_sizes(32, 0));
    // Lines of others at the cursor.
    const uint line =
        kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, now(kma_sl_cursor(in.heap, KMA_SL_BAND_MANY, 0)));
    in.use(line + 3, 1);
    std::vector<void *> blocks(32);
    shim::lockstep::run(32, 0, [&](uint lane) { blocks[lane] = kma_slab_malloc(in.heap, 8 * KMA_UNIT); });
    in.give(line + 3, 1);
    in.blocks = blocks;
    check_placed(in, order_of(group_sizes(32, 8).data()), in.blocks.data());
    in.check_books();
    in.free_all();
    kma_sl_take_off(in.heap, false);
    shim::check(in.used() == 0, "lines that nobody has");
}

// Lanes that give their blocks of a power of two twice the size get them side by side, as by malloc.
inline void check_group_realloc()
{
    for (const uint units : {2u, 4u, 16u}) {
        group_heap in;
        in.blocks.assign(64, nullptr);
        shim::lockstep::run(32, 0, [&](uint lane) {
            void *const small = kma_slab_malloc(in.heap, size_t{units} * KMA_UNIT);
            in.blocks[lane] = kma_slab_realloc(in.heap, small, size_t{2} * units * KMA_UNIT);
        });
        check_placed(in, order_of(group_sizes(32, 2 * units).data()), in.blocks.data());
        in.check_books();
        in.free_all();
    }
}

} // namespace calls
