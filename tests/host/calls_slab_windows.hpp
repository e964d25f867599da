// The slab heap's lines for lanes together where no cursor leads: what they see when all look at once, and what they get of it, by
// groups of up to 64 lanes that a lone caller plays, against plain computation.
#pragma once

#include <array>

#include "calls_slab_draws.hpp"

namespace calls {

// ------ windows -----------------------------------------------------------------------------------------------------

// The chunk at which each lane of a half looks; KMA_SL_NONE for those beyond the heap, and for lanes that are not there.
using window_chunks = std::array<uint, 32>;

inline uint window_length(uint lines)
{
    uint length = lines == 1 ? 1 : 2;
    while (length < 32 && length * 16 < lines)
        length *= 2;
    return length;
}

// `rooms`: of which chunks the bit is set.
template <class Rooms>
window_chunks chunks_in_view(uint chunks, uint length, uint seed, uint look, uint lanes, const Rooms &rooms)
{
    window_chunks at;
    for (uint lane = 0; lane < 32; lane++) {
        uint from = kma_mix32(seed + (look * 32 + lane / length) * 0x9e3779b9u) % chunks / length * length;
        if (look >= KMA_SL_VIEWS_BLIND)
            while (from < chunks && !rooms(from)) // it has fewer than a look passes over
                from++;
        const uint chunk = from + lane % length;
        at[lane] = lane < lanes && chunk < chunks ? chunk : KMA_SL_NONE;
    }
    return at;
}

// The first of the `count` free lines that lanes with these chunks see, in windows of that length.
template <class Used>
uint first_in_view(const window_chunks &at, uint length, uint count, const Used &used)
{
    uint found[2] = {KMA_SL_NONE, KMA_SL_NONE}; // in a chunk that is partly used, and in one that is free
    for (uint lane = 32; lane-- != 0;) {
        if (at[lane] == KMA_SL_NONE)
            continue;
        const uint begin = at[lane] * 32, end = begin + 32;
        uint beyond = end; // of what the lanes of the window see side by side
        for (uint next = lane + 1; next % length != 0 && next < 32 && at[next] != KMA_SL_NONE; next++)
            beyond += 32;
        uint last_free = end; // from there on its chunk is free to its end
        while (last_free > begin && !used(last_free - 1))
            last_free--;
        bool partly = last_free != begin;
        for (uint first = begin; first <= end; first++) { // right behind it, too, if it is used to its end
            uint free = 0;
            while (free < count && first + free < beyond && !used(first + free))
                free++;
            if (free != count || (first + count > end && first != last_free)) // over the end only with all that is free there
                continue;
            found[partly ? 0 : 1] = first;
            break;
        }
    }
    return found[0] != KMA_SL_NONE ? found[0] : found[1];
}

inline void check_window_lengths()
{
    for (uint lines = 1; lines <= 1024; lines++)
        shim::check(1u << kma_sl_window_shift(lines) == window_length(lines), "the chunks of a window");
}

// ------ what lanes get ----------------------------------------------------------------------------------------------

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

// Lanes that look at a heap of so many chunks, of which lines are used as `words` say.
class group_view {
public:
    group_view(const group_sizes &sizes, const std::vector<uint> &words, uint look, uint scarce)
        : in_(static_cast<uint>(words.size())), sizes_(sizes), words_(words), look_(look), scarce_(scarce)
    {
        for (uint chunk = 0; chunk < words.size(); chunk++)
            put(kma_sl_used(&in_.sl, chunk), words[chunk]);
        for (uint chunk = 0; chunk < words.size(); chunk++)
            if (words[chunk] == ~0u)
                kma_fetch_and_u32(kma_sl_rooms(&in_.sl, chunk), ~(1u << chunk % 32), KMA_RELAXED);
        used_ = in_.used();
        put(kma_sl_cursor(in_.heap, KMA_SL_BAND_FEW, 0), look % 3);
        put(kma_sl_cursor(in_.heap, KMA_SL_BAND_MANY, 0), look % 5);
        kma_sl_set_scarce(in_.heap, scarce);
        uint padded[64] = {};
        std::copy(sizes.begin(), sizes.end(), padded);
        for (uint half = 0; half < 2; half++)
            expect(half, padded + half * 32);
    }

    // Whether somebody gets something.
    bool check()
    {
        const auto count = static_cast<uint>(sizes_.size());
        std::vector<kma_ref> got(count);
        // Only the first lane of those who want something tells how often they have looked.
        shim::lockstep::run(count, 0, [&](uint me) {
            got[me] = kma_sl_take_in_view(in_.heap, sizes_[me], me == leaders_[me / 32] ? look_ : look_ + 7);
        });
        in_.blocks.assign(64, nullptr);
        for (uint me = 0; me < count; me++)
            check_block(me, got[me]);
        for (uint half = 0; half < 2; half++)
            if (gets(half))
                check_placed(in_, orders_[half], &in_.blocks[half * 32]);
        uint used = used_;
        for (uint half = 0; half < 2; half++)
            used += gets(half) ? orders_[half].lines : 0;
        shim::check(in_.used() == used, "lines that lanes take of what they see");
        for (uint chunk = 0; chunk < words_.size(); chunk++) { // which are no slab, as books have it
            shim::check((now(kma_sl_used(&in_.sl, chunk)) & words_[chunk]) == words_[chunk], "lines of others are free");
            kma_fetch_and_u32(kma_sl_used(&in_.sl, chunk), ~words_[chunk], KMA_RELAXED);
            kma_fetch_or_u32(kma_sl_rooms(&in_.sl, chunk), 1u << chunk % 32, KMA_RELAXED);
        }
        in_.free(in_.blocks); // books have no room for so large a heap
        shim::check(in_.used() == 0, "lines that nobody has");
        in_.log.works(true);
        return gets(0) || gets(1);
    }

private:
    bool gets(uint half) const { return firsts_[half] != KMA_SL_NONE; }

    void expect(uint half, uint *sizes)
    {
        half_order order = order_of(sizes);
        wants_[half] = order.lines != 0;
        if (order.lines == 0)
            return;
        const uint first_lane = kma_sl_first_bit(order.mates);
        leaders_[half] = half * 32 + first_lane;
        const uint few = min((2 * sizes[first_lane] + 31) / 32, order.lines);
        is_scarce_[half] = scarce_ != 0 && few >= scarce_;
        if (is_scarce_[half])
            return;
        const uint lanes = min(static_cast<uint>(sizes_.size()) - half * 32, 32u);
        const uint length = window_length(order.lines);
        const uint band = order.lines <= 2 ? KMA_SL_BAND_FEW : KMA_SL_BAND_MANY;
        const uint seed = leaders_[half] + now(kma_sl_cursor(in_.heap, band, 0)) * 0x85ebca6bu;
        const window_chunks at = chunks_in_view(static_cast<uint>(words_.size()), length, seed, look_, lanes,
                                                [&](uint chunk) { return words_[chunk] != ~0u; });
        const auto used = [&](uint line) { return (words_[line / 32] >> line % 32 & 1u) != 0; };
        uint count = order.lines;
        uint first = first_in_view(at, length, count, used);
        while (first == KMA_SL_NONE && look_ >= KMA_SL_VIEWS_FOR_ALL && count > few) {
            count = max(count / 2, few);
            first = first_in_view(at, length, count, used);
        }
        if (first == KMA_SL_NONE)
            return;
        order = fitting(sizes, count);
        if (order.lines == 0 || order.lines > count)
            return;
        const uint behind = first + order.lines;
        if (gets(0) && first < firsts_[0] + orders_[0].lines && firsts_[0] < behind) // the first half is quicker
            return;
        orders_[half] = order;
        firsts_[half] = first;
    }

    void check_block(uint me, kma_ref got)
    {
        const uint half = me / 32;
        const half_order &order = orders_[half];
        const bool has = gets(half) && (order.mates >> me % 32 & 1u) != 0;
        const kma_ref right = !wants_[half] || is_scarce_[half] ? KMA_SL_ENOUGH
                              : has ? in_.heap->plan.begin + firsts_[half] * KMA_SL_LINE + order.offsets[me % 32]
                                    : KMA_NULL;
        shim::check(got == right, "what a lane gets of what it sees");
        if (has)
            in_.blocks[me] = kma_slab_deref(in_.heap, got);
    }

    group_heap in_;
    const group_sizes &sizes_;
    const std::vector<uint> &words_;
    uint look_, scarce_, used_ = 0;
    uint leaders_[2] = {64, 64};
    bool wants_[2] = {}, is_scarce_[2] = {};
    half_order orders_[2];
    uint firsts_[2] = {KMA_SL_NONE, KMA_SL_NONE};
};

inline bool check_view(const group_sizes &sizes, const std::vector<uint> &words, uint look, uint scarce = 0)
{
    return group_view(sizes, words, look, scarce).check();
}

// Heaps of all kinds: free, full but for a few lines, with long free runs and short ones.
inline std::vector<uint> some_words(uint chunks, uint kind, uint seed)
{
    std::vector<uint> words(chunks);
    for (uint chunk = 0; chunk < chunks; chunk++) {
        const uint random = kma_mix32(seed * 1000 + chunk), run = kma_mix32(seed * 1000 + chunk / 4);
        words[chunk] = kind == 0   ? 0
                       : kind == 1 ? random | kma_mix32(random)
                       : kind == 2 ? (run % 2 != 0 ? ~0u : 0)
                       : kind == 3 ? (run % 2 != 0 ? ~0u << random % 32 : ~(~0u << random % 32))
                       : kind == 4 ? (random % 4 != 0 ? ~0u : random)
                                   : (random % 3 == 0 ? 0 : random % 3 == 1 ? kma_mix32(random) : ~0u);
    }
    return words;
}

inline void check_group_views()
{
    static constexpr uint group_lanes[] = {32, 64, 4, 32, 17};
    uint served = 0, all = 0;
    for (uint kind = 0; kind < 20; kind++)
        for (uint n = 0; n < 12; n++) {
            const uint seed = kind * 12 + n, random = kma_mix32(seed + 77);
            const group_sizes sizes = some_sizes(group_lanes[seed % 5], kind, seed);
            const uint chunks = random % 3 == 0 ? 1 + seed % 6 : 20 + seed % 30;
            served += check_view(sizes, some_words(chunks, random / 8 % 6, seed), random / 64 % 6);
            all++;
        }
    shim::check(served > all / 4 && served < all, "lanes that see what they want, and others");
    group_sizes mixed(32, 200); // of two kinds: those that no slab of different sizes has come after the others
    std::fill(mixed.begin() + 16, mixed.end(), 300);
    check_view(mixed, some_words(40, 0, 1), 0);
    check_view(mixed, std::vector<uint>(40, ~0u), 5);
    const group_sizes two = {200, 10};
    check_view(two, some_words(40, 0, 1), 0, 10); // so many lines as the larger one twice are scarce, not so many as these want
    check_view(two, some_words(40, 0, 1), 3, 7);
    check_view(group_sizes(32, 64), std::vector<uint>(40, 0xffffff00u), 1); // room for fewer, not yet
    check_view(group_sizes(32, 64), std::vector<uint>(40, 0xffffff00u), 2);
    // What goes on beyond a window nobody sees: behind its last lane, nor behind the last lane that is there.
    std::vector<uint> words(40);
    for (uint chunk = 0; chunk < 40; chunk++)
        words[chunk] = chunk % 4 == 3 ? 0 : chunk % 4 == 0 ? 1u << 31 : ~0u;
    shim::check(!check_view(group_sizes(32, 50), words, 0), "lines that nobody sees");
    for (uint chunk = 0; chunk < 40; chunk++)
        words[chunk] = chunk % 4 == 1 ? 0x00ffff00u : chunk % 4 == 2 ? 0 : ~0u;
    shim::check(!check_view(group_sizes(2, 160), words, 0), "lines that nobody sees");
    for (const uint which : {0u, 4u}) { // two chunks, in two windows
        for (uint chunk = 0; chunk < 40; chunk++)
            words[chunk] = (chunk + which) % 8 == 3 || (chunk + which) % 8 == 4 ? 0 : ~0u;
        shim::check(!check_view(group_sizes(32, 64), words, 0), "lines that nobody sees");
    }
    for (uint chunk = 0; chunk < 40; chunk++) // seven lines seen, and two that are not; a slab of five with planes has nine
        words[chunk] = chunk % 2 == 1 ? 0x01ffffffu : 0xfffffffcu;
    shim::check(!check_view({100, 60}, words, 3), "lines that nobody sees");
    // A chunk, of which the second half loses lines to the first one; all lanes' chunks; lanes beyond which one is not there.
    group_sizes halves(64, 2);
    std::fill(halves.begin() + 32, halves.end(), 10);
    shim::check(check_view(halves, {0}, 0), "lines for one of two halves");
    shim::check(check_view(group_sizes(32, 1000), std::vector<uint>(64, 0), 0), "lines of all chunks that a half sees");
    group_sizes even(32, 32);
    for (uint lane = 1; lane < 32; lane += 2)
        even[lane] = 0;
    shim::check(check_view(even, std::vector<uint>(40, 0xffff0000u), 2), "lines for every second lane");
}

// A look that passes over full chunks clears the bit of one at which it ends all the same, as nobody had met it.
inline void check_view_of_full()
{
    group_heap in(4);
    for (uint chunk = 0; chunk < 4; chunk++)
        put(kma_sl_used(&in.sl, chunk), ~0u);
    for (uint look = 0; look < KMA_SL_VIEWS_BLIND + 8; look++) { // the last ones find none
        const bool is_seen = look > KMA_SL_VIEWS_BLIND;
        shim::check((now(kma_sl_rooms(&in.sl, 0)) == 15) == !is_seen, "bits of full chunks that lanes met");
        shim::lockstep::run(4, 0, [&](uint) {
            shim::check(kma_sl_take_in_view(in.heap, 32, look) == KMA_NULL, "blocks of a full heap");
        });
    }
    shim::check(now(kma_sl_rooms(&in.sl, 0)) == 0, "bits of full chunks that lanes met");
}

} // namespace calls
