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

// ------ lines of a cursor -------------------------------------------------------------------------------------------

// What a half draws whose cursors have counted so many: its first line; none at the end of a share, nor if they are
// scarce.
inline uint drawn_line(const group_heap &in, uint lines, uint (&counted)[KMA_SL_BANDS], uint scarce)
{
    const uint band = lines <= KMA_SL_FEW ? KMA_SL_BAND_FEW : KMA_SL_BAND_MANY;
    const uint share = band == KMA_SL_BAND_FEW ? 8 : 32;
    if (scarce != 0 && lines >= scarce)
        return KMA_SL_LOST;
    if (lines > share)
        return KMA_SL_NONE;
    const uint before = std::exchange(counted[band], counted[band] + lines);
    return before % share + lines > share ? KMA_SL_NONE : kma_sl_counted_line(&in.sl, band, 0, before);
}

// Lanes of a group that draw lines, in halves of at least `least` who want something. Cursors have counted `before`;
// the last line of what the first half draws is another's, or not; so many lines are scarce, or none (0).
class group_draw {
public:
    group_draw(const group_sizes &sizes, uint least, uint before, bool meets_others, uint scarce)
        : sizes_(sizes), least_(least), scarce_(scarce), counted_{before, before, before}
    {
        for (uint band = 0; band < KMA_SL_BANDS; band++)
            put(kma_sl_cursor(in_.heap, band, 0), before);
        uint padded[64] = {};
        std::copy(sizes.begin(), sizes.end(), padded);
        for (uint half = 0; half < 2; half++)
            expect(half, padded + half * 32, meets_others);
        if (other_ != KMA_SL_NONE)
            in_.use(other_, 1);
        kma_sl_set_scarce(in_.heap, scarce);
        in_.write_words();
    }

    // `take` tells each lane its share.
    template <class Take> void check(const Take &take)
    {
        const uint lanes = static_cast<uint>(sizes_.size());
        shares_.resize(lanes);
        shim::lockstep::run(lanes, 0, [&](uint me) { shares_[me] = take(in_.heap, sizes_[me], least_); });
        in_.blocks.assign(64, nullptr);
        for (uint me = 0; me < lanes; me++)
            check_share(me);
        for (uint half = 0; half < 2; half++)
            if (gets(half))
                check_placed(in_, orders_[half], &in_.blocks[half * 32]);
        for (uint line = 0; line < kma_sl_lines(&in_.sl); line++)
            shim::check(is_drawn(line) || in_.has_word(line), "the word of another's line is written");
        shim::check(now(kma_sl_cursor(in_.heap, KMA_SL_BAND_MANY, 0)) == counted_[KMA_SL_BAND_MANY],
                    "what a cursor has counted");
        check_lost();
    }

private:
    void expect(uint half, const uint *sizes, bool meets_others)
    {
        half_order &order = orders_[half] = order_of(sizes);
        if (order.lines == 0 || static_cast<uint>(std::popcount(order.mates)) < least_)
            order.mates = 0;
        if (order.mates == 0)
            return;
        firsts_[half] = drawn_line(in_, order.lines, counted_, scarce_);
        if (meets_others && other_ == KMA_SL_NONE && firsts_[half] < KMA_SL_LOST) {
            other_ = firsts_[half] + order.lines - 1;
            lost_[half] = true;
        }
    }

    bool gets(uint half) const { return firsts_[half] < KMA_SL_LOST && !lost_[half]; }
    bool is_drawn(uint line) const
    {
        const auto is_of = [&](uint half) { return gets(half) && line - firsts_[half] < orders_[half].lines; };
        return is_of(0) || is_of(1);
    }

    void check_share(uint me)
    {
        const uint half = me / 32;
        const kma_sl_share &share = shares_[me];
        const bool waits = (orders_[half].mates >> me % 32 & 1u) != 0;
        shim::check((share.block != KMA_NULL) == (waits && gets(half)), "whether a lane has a block of drawn lines");
        shim::check(share.lost == (waits && lost_[half]), "whether lanes met others");
        shim::check(share.failed == (waits && (lost_[half] || firsts_[half] == KMA_SL_NONE)),
                    "whether lanes got no lines");
        if (waits && gets(half))
            in_.blocks[me] = kma_slab_deref(in_.heap, share.block);
    }

    void check_lost()
    {
        shim::lockstep::run(static_cast<uint>(shares_.size()), 0, [&](uint me) {
            const kma_sl_share &share = shares_[me];
            if (share.lost)
                kma_sl_lose(in_.heap, share.first, share.lines, share.me, share.many, share.part);
        });
        uint used = other_ != KMA_SL_NONE;
        for (uint half = 0; half < 2; half++)
            used += gets(half) ? orders_[half].lines : 0;
        shim::check(in_.used() == used, "lines of who met others are not given back");
        if (other_ != KMA_SL_NONE)
            in_.give(other_, 1);
        in_.free_all();
        shim::check(in_.used() == 0, "lines that nobody has");
    }

    group_heap in_;
    const group_sizes &sizes_;
    uint least_, scarce_;
    uint counted_[KMA_SL_BANDS];
    uint other_ = KMA_SL_NONE; // another's line
    half_order orders_[2];
    uint firsts_[2] = {KMA_SL_NONE, KMA_SL_NONE};
    bool lost_[2] = {};
    std::vector<kma_sl_share> shares_;
};

template <class Take>
void check_draw(const group_sizes &sizes, uint least, uint before, bool meets_others, uint scarce, const Take &take)
{
    group_draw(sizes, least, before, meets_others, scarce).check(take);
}

inline void check_group_draws()
{
    const auto drawn = [](kma_slab *heap, uint units, uint least) {
        const ulong group = kma_lanes_active();
        return kma_sl_take_drawn(heap, group, units, least);
    };
    static constexpr uint group_lanes[] = {32, 64, 5, 64, 32, 3};
    for (uint kind = 0; kind < 20; kind++)
        for (uint n = kind; n < kind + 2; n++) {
            const uint lanes = group_lanes[n % 6], seed = kind * 3 + lanes;
            const group_sizes sizes = some_sizes(lanes, kind, seed);
            const uint least = seed % 5 == 0 ? 8 : seed % 5 < 3 ? 2 : KMA_SL_MANY;
            check_draw(sizes, least, 0, false, 0, drawn);
            check_draw(sizes, KMA_SL_PLANES, seed % 8, false, 0, drawn);
            check_draw(sizes, least, seed % 32, seed % 3 != 0, 0, drawn);
            check_draw(sizes, KMA_SL_PLANES, 64, true, 0, drawn);
            check_draw(sizes, least, 31, false, 0, drawn);
            check_draw(sizes, least, 0, false, 3 + seed % 8, drawn);
        }
    check_draw(group_sizes(32, 1), 2, 0, false, 1, drawn);
    check_draw(group_sizes(8, 8), 2, 0, false, 2, drawn);
}

// Slabs for all lanes that there are, whose sizes are the same.
inline void check_group_equal()
{
    const auto equal = [](kma_slab *heap, uint units, uint) { return kma_sl_take_equal(heap, units); };
    for (const uint lanes : {2u, 8u, 32u})
        for (uint units = 0; units <= 1100; units += units < 40 ? 1 : 59) {
            const group_sizes sizes(lanes, units);
            uint padded[64] = {};
            std::copy(sizes.begin(), sizes.end(), padded);
            const uint lines = order_of(padded).lines;
            bool is = false;
            shim::lockstep::run(lanes, 0, [&](uint) { is = kma_sl_is_for_all(units); });
            shim::check(is == (lines != 0 && lines <= (lanes - 1) * 32), "whether all get a slab together");
            if (!is)
                continue;
            check_draw(sizes, 2, 0, false, 0, equal);
            check_draw(sizes, 2, units % 32, true, 0, equal);
            check_draw(sizes, 2, 31, false, 0, equal);
            check_draw(sizes, 2, 0, false, lines + units % 2, equal);
        }
}

// ------ gaps --------------------------------------------------------------------------------------------------------

// The lines that a half gets of the free ones in a word: so many as it wants, or fewer.
inline uint gap_in(uint &word, uint least, uint most, uint *count)
{
    for (*count = most;; *count = max(*count / 2, least)) {
        for (uint bit = 0; bit + *count <= 32; bit++) {
            const uint mask = (~0u >> (32 - *count)) << bit;
            if ((word & mask) == 0) {
                word |= mask;
                return bit;
            }
        }
        if (*count == least)
            break;
    }
    *count = 0;
    return KMA_SL_NONE;
}

// Leaves of a half's sizes those of the lanes that have room; its order then.
inline half_order fitting(uint *sizes, uint lines)
{
    for (;;) {
        const half_order order = order_of(sizes);
        bool goes = false;
        for (uint lane = 0; lane < 32 && order.lines != 0; lane++)
            if ((order.mates >> lane & 1u) != 0 && order.offsets[lane] + sizes[lane] > lines * 32) {
                sizes[lane] = 0;
                goes = true;
            }
        if (!goes)
            return order;
    }
}

// Lanes that look for a gap where only those lines of chunk 1 are free that are not in `word`.
class group_gap {
public:
    group_gap(const group_sizes &sizes, uint word, uint scarce) : sizes_(sizes), word_(word), left_(word)
    {
        in_.use(0, 32);
        for (uint line = 0; line < 32; line++)
            if ((word >> line & 1u) != 0)
                in_.use(32 + line, 1);
        used_ = in_.used();
        uint padded[64] = {};
        std::copy(sizes.begin(), sizes.end(), padded);
        for (uint half = 0; half < 2; half++)
            expect(half, padded + half * 32);
        kma_sl_set_scarce(in_.heap, scarce);
    }

    void check()
    {
        std::vector<kma_ref> got(sizes_.size());
        shim::lockstep::run(static_cast<uint>(sizes_.size()), 0,
                            [&](uint me) { got[me] = kma_sl_take_in_gap(in_.heap, sizes_[me]); });
        in_.blocks.assign(64, nullptr);
        for (uint me = 0; me < sizes_.size(); me++)
            check_block(me, got[me]);
        for (uint half = 0; half < 2; half++)
            if (orders_[half].mates != 0)
                check_placed(in_, orders_[half], &in_.blocks[half * 32]);
        shim::check(in_.used() == used_, "lines that a slab in a gap does not need");
        in_.give(0, 32);
        for (uint line = 0; line < 32; line++)
            if ((word_ >> line & 1u) != 0)
                in_.give(32 + line, 1);
        in_.free_all();
        shim::check(in_.used() == 0, "lines that nobody has");
    }

private:
    void expect(uint half, uint *sizes)
    {
        half_order &order = orders_[half] = order_of(sizes);
        uint count = 0;
        if (order.lines != 0) {
            const uint most = min(order.lines, 32u), units = sizes[kma_sl_first_bit(order.mates)];
            firsts_[half] = gap_in(left_, min((2 * units + 31) / 32, most), most, &count);
            order = fitting(sizes, count);
        }
        if (order.lines == 0 || order.lines > count)
            order.mates = 0; // they get none there
        else
            used_ += order.lines;
    }

    void check_block(uint me, kma_ref got)
    {
        const half_order &order = orders_[me / 32];
        const bool gets = (order.mates >> me % 32 & 1u) != 0;
        const uint unit = (32 + firsts_[me / 32]) * KMA_SL_LINE + order.offsets[me % 32];
        shim::check(order.mates != 0 || got == KMA_SL_ENOUGH, "lanes that get nothing in gaps are not told so");
        shim::check(order.mates == 0 || gets || got == KMA_NULL, "a lane that has no room in a gap");
        shim::check(!gets || got == in_.heap->plan.begin + unit, "a block in a gap");
        if (gets)
            in_.blocks[me] = kma_slab_deref(in_.heap, got);
    }

    group_heap in_{2};
    const group_sizes &sizes_;
    uint word_, left_, used_ = 0;
    half_order orders_[2];
    uint firsts_[2] = {};
};

inline void check_gap(const group_sizes &sizes, uint word, uint scarce = 0)
{
    group_gap(sizes, word, scarce).check();
}

// Lines that they do not need one of them gives back, not each: others may have them by then.
inline void check_gap_giver()
{
    uint operations[2];
    for (const bool gives : {false, true}) {
        group_heap in(2);
        in.use(0, gives ? 32 : 45);
        const uint before = shim::lockstep::operations;
        shim::lockstep::run(32, 0, [&](uint) { kma_sl_take_in_gap(in.heap, 300); });
        operations[gives] = shim::lockstep::operations - before;
        shim::check(in.used() == (gives ? 32u + 29 : 64u), "lines for three lanes, or for two");
    }
    shim::check(operations[1] < operations[0] + 8, "more than one gives lines back");
}

inline void check_group_gaps()
{
    static constexpr uint group_lanes[] = {32, 64, 4, 32};
    for (uint kind = 0; kind < 20; kind++)
        for (uint seed = 1; seed < 4; seed++) {
            const uint lanes = group_lanes[(kind + seed) % 4];
            const group_sizes sizes = some_sizes(lanes, kind, kind * 7 + seed);
            check_gap(sizes, seed == 1 ? ~0u << (kind + 3) : seed == 2 ? 0 : kma_mix32(kind) & kma_mix32(kind + 9));
        }
    group_sizes mixed(32, 200); // of two kinds: those that no slab of different sizes has come after the others
    std::fill(mixed.begin() + 16, mixed.end(), 300);
    check_gap(mixed, ~0u);
    check_gap(mixed, 0);
    check_gap({200, 10}, 0, 10); // so many lines as the larger one twice are scarce, not so many as these want
}

// ------ one attempt after the other ---------------------------------------------------------------------------------

// The first of those who met others moves the cursor, here to where it began.
inline void check_group_losers()
{
    for (const uint me : {1u, 0u}) {
        group_heap in;
        kma_atomic_u32 *const cursor = kma_sl_cursor(in.heap, KMA_SL_BAND_MANY, 0);
        put(cursor, 2);
        put(cursor + 1, 32);
        const uint line = kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, 0);
        kma_sl_part part = {line / 32 + me, 0};
        kma_sl_lose(in.heap, line, 20, me, 2, part);
        shim::check(now(cursor) == (me == 0 ? 32u : 2u), "who moves a cursor");
    }
}

inline void check_group_once()
{
    enum : uint { is_free, at_the_end, of_others, scarce };
    const group_sizes sizes = {60, 70, 0, 50, 66, 1025};
    for (const uint way : {is_free, at_the_end, of_others, scarce}) {
        group_heap in;
        kma_atomic_u32 *const cursor = kma_sl_cursor(in.heap, KMA_SL_BAND_MANY, 0);
        put(cursor, way == at_the_end ? 31 : 0);
        const uint line = kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, 0);
        if (way == of_others)
            in.use(line + 1, 1);
        if (way == scarce)
            kma_sl_set_scarce(in.heap, 2);
        std::vector<kma_ref> got(sizes.size());
        shim::lockstep::run(static_cast<uint>(sizes.size()), 0,
                            [&](uint me) { got[me] = kma_sl_take_once(in.heap, sizes[me]); });
        static constexpr uint offsets[] = {0, 60, 0, 130, 180};
        for (uint me = 0; me < sizes.size(); me++) {
            const bool waits = sizes[me] != 0 && sizes[me] <= 256;
            const kma_ref right = !waits || way == scarce ? KMA_SL_ENOUGH
                                  : way == is_free        ? in.heap->plan.begin + line * 32 + offsets[me]
                                  : way == at_the_end     ? KMA_NULL
                                                          : KMA_SL_AGAIN;
            shim::check(got[me] == right, "what one attempt gives");
        }
        shim::check(in.used() == (way == is_free ? 9u : way == of_others ? 1u : 0u), "lines after one attempt");
    }
}

inline void take_together(group_heap &in, const group_sizes &sizes)
{
    in.blocks.assign(sizes.size(), nullptr);
    shim::lockstep::run(static_cast<uint>(sizes.size()), 0, [&](uint me) {
        in.blocks[me] = kma_slab_deref(in.heap, kma_sl_take_together(in.heap, sizes[me]));
    });
}

// Lanes that want so many lines are led to those of others, or past the end of a share, and try again: a few times.
inline void check_group_redraws()
{
    struct row {
        uint lines, before; // that they want, and that their cursor has counted
        uint others;        // lines of its first share
        uint after;         // what it has counted when it leads to theirs
        bool does;          // they ask so often
    };
    static constexpr row rows[] = {
        {10, 0, 0, 0, true},   {10, 0, 3, 10, true},    {10, 25, 0, 35, true}, {10, 0, 13, 20, false},
        {20, 31, 0, 71, true}, {24, 31, 0, 103, false}, {24, 0, 1, 48, false},
    };
    for (const row &each : rows) {
        group_heap in;
        put(kma_sl_cursor(in.heap, KMA_SL_BAND_MANY, 0), each.before);
        const uint first = kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, 0);
        if (each.others != 0)
            in.use(first, each.others);
        const group_sizes sizes(32, each.lines);
        take_together(in, sizes);
        check_placed(in, order_of(sizes.data()), in.blocks.data());
        const uint right = kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 0, each.after);
        shim::check((in.unit_of(in.blocks[0]) == right * KMA_SL_LINE) == each.does, "how often lanes ask their cursor");
        if (each.others != 0)
            in.give(first, each.others);
        in.free_all();
    }
}

// So many gaps of two lines are free, in each of which two lanes have room; they look for eight.
inline void check_group_tries()
{
    for (const uint gaps : {1u, 7u, 8u, 9u}) {
        group_heap in(2);
        const auto is_gap = [gaps](uint line) { return line % 4 >= 2 && line / 4 < gaps; };
        for (uint line = 0; line < 64; line++)
            if (!is_gap(line))
                in.use(line, 1);
        take_together(in, group_sizes(20, 32));
        const auto got = in.blocks.size() - static_cast<size_t>(std::ranges::count(in.blocks, nullptr));
        shim::check(got == 2 * min(gaps, KMA_SL_TRIES), "how many get blocks in gaps");
        for (uint line = 0; line < 64; line++)
            if (!is_gap(line))
                in.give(line, 1);
        in.free_all();
        shim::check(in.used() == 0, "lines that nobody has");
    }
}

inline void check_slab_groups()
{
    shim::start_watchdog(); // for these alone
    slab_kind::vary(0);
    check_group_orders();
    check_group_blocks();
    check_group_of_two();
    check_group_requests();
    check_group_draws();
    check_group_equal();
    check_group_gaps();
    check_gap_giver();
    check_group_losers();
    check_group_once();
    check_group_redraws();
    check_group_tries();
    shim::self().operations = 0;
}

} // namespace calls
