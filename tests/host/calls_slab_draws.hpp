// The slab heap's lines for lanes together: those that they draw at a cursor, and gaps between others' lines, by groups of up to 64
// lanes that a lone caller plays, against plain computation.
#pragma once

#include "calls_slab_group.hpp"

namespace calls {

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

} // namespace calls
