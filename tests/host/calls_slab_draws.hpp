// The slab heap's lines for lanes together that they draw at a cursor, by groups of up to 64 lanes that a lone caller plays, against
// plain computation.
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
        shim::lockstep::syncs = 0;
        shim::on_store = [] {
            shim::check(shim::lockstep::syncs != 0, "words of lines are written before those who claimed them have met");
        };
        shim::lockstep::run(lanes, 0, [&](uint me) { shares_[me] = take(in_.heap, sizes_[me], least_); });
        shim::on_store = nullptr;
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

} // namespace calls
