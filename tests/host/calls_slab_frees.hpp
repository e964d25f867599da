// What the slab heap does when blocks are freed: by a lone caller, function by function, and by groups of lanes that
// one plays (shim/lockstep.hpp), in order and out of it, rightly and wrongly.
#pragma once

#include "calls_slab_group.hpp"

namespace calls {

// ------ by one ------------------------------------------------------------------------------------------------------

// Piece by piece, of a slab of four slots.
inline void check_release_some()
{
    headed_slab made(four_slots, 0);
    made.make(four_slots, made.first, 15u);
    const uint chunk = made.first / KMA_SL_LINE;
    shim::check(kma_sl_release_some(made.heap, made.first, 4u) == 4u && made.owners() == 11u, "a slot is freed");
    shim::check(kma_sl_tree_take(made.heap, four_slots, chunk), "the first hole is not listed");
    shim::check(kma_sl_release_some(made.heap, made.first, 6u) == 2u && made.owners() == 9u, "slots that were taken");
    shim::check(!kma_sl_has_holes(&made.sl, four_slots), "another hole is listed");
    shim::check(kma_sl_release_some(made.heap, made.first, 2u) == 0 && made.owners() == 9u, "a slot that is free");
    kma_sl_tree_put(made.heap, four_slots, chunk);
    made.check_books(9u);
    shim::check(kma_sl_release_some(made.heap, made.first, 9u) == 9u && made.lines_taken() == 0, "a slab does not end");
    made.check_books(0);
    // The line is another's by now, within his slab.
    shim::check(kma_sl_take_lines(made.heap, made.first, 2), "lines of a slab that ended");
    shim::check(kma_sl_release_some(made.heap, made.first, 1u) == 0 && made.lines_taken() == 2, "a slot of no slab");
    kma_sl_give_lines(made.heap, made.first, 2);
    made.check_books(0); // no mark, either
}

// Who frees all that is left, and has not seen yet that others made holes, leaves the lines to who looks at the chunk.
inline void check_release_last()
{
    headed_slab made(four_slots, 0);
    made.make(four_slots, made.first, 3u);
    kma_sl_pin_chunk(made.heap, made.first / KMA_SL_LINE);
    shim::check(kma_sl_release(made.heap, made.first, KMA_SL_MARK_HEADER, 3u) == 3u && made.owners() == 0,
                "slots that were taken");
    shim::check(made.lines_taken() == 2, "lines that another looks at are given back");
    kma_sl_unpin(made.heap, made.first / KMA_SL_LINE);
    shim::check(made.lines_taken() == 0, "lines of a closed slab");
    made.check_books(0);
}

inline void check_end()
{
    for (const uint owners : {15u, 14u, 31u}) {
        headed_slab made(four_slots, 0);
        made.make(four_slots, made.first, owners);
        shim::check(kma_sl_end(&made.sl, made.first, 15u, 2) == (owners == 15u), "whether a slab ends");
        shim::check(made.owners() == (owners == 15u ? 0 : owners), "the owners of a slab that ends");
        shim::check(made.lines_taken() == (owners == 15u ? 0u : 2u), "the lines of a slab that ends");
        shim::check((kma_sl_mark(&made.sl, made.first) == 0) == (owners == 15u), "the mark of a slab that ends");
    }
}

#if KMA_LONE_PATHS
// Of equal slots of a slab with holes only, else it does nothing.
inline void check_release_one()
{
    const auto at = [](const headed_slab &made, uint unit) {
        return reinterpret_cast<uchar *>(made.heap) + (size_t{made.heap->plan.begin} + unit) * KMA_UNIT;
    };
    for (const uint size_class : {0u, 1u, four_slots}) {
        headed_slab made(size_class, 0);
        made.make(size_class, made.first, made.slots());
        const uint units = kma_sl_units(size_class), count = static_cast<uint>(std::popcount(made.slots()));
        const uint chunk = made.first / KMA_SL_LINE, begin = made.first * KMA_SL_LINE;
        const auto frees = [&](uchar *what) { return kma_sl_release_one(made.heap, what); };
        const uint marks = now(kma_sl_marks(&made.sl, made.first));
        put(kma_sl_marks(&made.sl, made.first), marks & ~(KMA_SL_MARK_HOLEY << kma_sl_mark_shift(made.first)));
        shim::check(!frees(at(made, begin)) && made.owners() == made.slots(), "a block of a slab without holes");
        put(kma_sl_marks(&made.sl, made.first), marks);
        for (uchar *const wrong :
             {at(made, begin) + 8, at(made, begin + count * units), at(made, 0) - KMA_UNIT, at(made, 3 * 1024),
              at(made, begin - 32), reinterpret_cast<uchar *>(made.heap) - 64, at(made, begin + 1)}) {
            const bool is_slot = units == 1 && wrong == at(made, begin + 1);
            shim::check(is_slot || !frees(wrong), "what is no block is freed");
        }
        shim::check(made.owners() == made.slots(), "owners of a slab nothing of which was freed");
        shim::check(frees(at(made, begin + units)) && made.owners() == (made.slots() & ~2u), "a block is not freed");
        shim::check(kma_sl_tree_take(made.heap, size_class, chunk), "the first hole is not listed");
        shim::check(!frees(at(made, begin + units)) && made.owners() == (made.slots() & ~2u), "a block is freed twice");
        shim::check(frees(at(made, begin)) && !kma_sl_has_holes(&made.sl, size_class), "another hole is listed");
        for (uint slot = 2; slot < count; slot++)
            shim::check(frees(at(made, begin + slot * units)), "a block is not freed");
        shim::check(made.lines_taken() == 0, "a slab does not end");
        made.check_books(0);
    }
    // A run, and slots of different sizes.
    headed_slab others(four_slots, 0);
    shim::check(kma_sl_take_lines(others.heap, 8, 12), "no lines for a run");
    kma_sl_make_run(others.heap, 8, 12);
    uint sizes[KMA_SL_SLOTS];
    for (uint slot = 0; slot < KMA_SL_SLOTS; slot++)
        sizes[slot] = 1 + slot % 4;
    make_planes(others.heap, 40, sizes, slab_sizes::small);
    sizes[3] = 0;
    make_planes(others.heap, 60, sizes, slab_sizes::plain);
    for (const uint line : {8u, 40u, 60u}) {
        kma_fetch_or_u32(kma_sl_marks(&others.sl, line), KMA_SL_MARK_HOLEY << kma_sl_mark_shift(line), KMA_RELAXED);
        const uint before = now(kma_sl_word(&others.sl, line));
        for (uint slot = 0; slot < 9; slot++)
            shim::check(!kma_sl_release_one(others.heap, at(others, line * KMA_SL_LINE + slot)) &&
                            now(kma_sl_word(&others.sl, line)) == before,
                        "a block of no equal ones");
    }
    // Headers that no slab has, as there may be of a block that is free already.
    for (const uint header : {kma_sl_equal_header(0, 4), kma_sl_equal_header(16, 40), kma_sl_equal_header(1, 63)}) {
        headed_slab odd(four_slots, 0);
        odd.make(four_slots, odd.first, 15u);
        put(kma_sl_word(&odd.sl, odd.first + 1), header);
        for (const uint unit : {0u, 32u})
            shim::check(!kma_sl_release_one(odd.heap, at(odd, odd.first * KMA_SL_LINE + unit)) && odd.owners() == 15u,
                        "a block of a slab that cannot be");
    }
}
#endif

// Where equal slots begin, and nothing else.
inline void check_equal_spots()
{
    struct row {
        uint lines, units, slots;
    };
    static constexpr row rows[] = {{2, 18, 3}, {2, 3, 21}, {3, 9, 10},  {2, 2, 32},
                                   {4, 64, 2}, {2, 64, 1}, {12, 12, 32}};
    for (const row &each : rows) {
        headed_slab made(four_slots, 0);
        shim::check(kma_sl_take_lines(made.heap, made.first, each.lines), "no lines for a slab");
        kma_sl_make(&made.sl, made.first, each.lines, each.units, each.slots, kma_sl_all_slots(each.slots));
        for (uint unit = 0; unit < each.lines * KMA_SL_LINE; unit++) {
            shim::self().operations = 0;
            const bool is = unit % each.units == 0 && unit / each.units < each.slots;
            const kma_sl_spot at =
                kma_sl_spot_of(made.heap, kma_slab_deref(made.heap, made.heap->plan.begin + made.first * 32 + unit));
            shim::check(at.error == (is ? KMA_ERROR_CODES : KMA_ERROR_INVALID_FREE), "what a free would be");
            shim::check(!is || (at.slot == unit / each.units && kma_sl_units_at(&made.sl, at) == each.units), "a slot");
        }
    }
    // A header as there may be of a block that is free already.
    headed_slab odd(four_slots, 0);
    odd.make(four_slots, odd.first, 15u);
    put(kma_sl_word(&odd.sl, odd.first + 1), kma_sl_equal_header(0, 4));
    shim::check(kma_sl_spot_of(odd.heap, kma_slab_deref(odd.heap, odd.heap->plan.begin + (odd.first + 2) * 32)).error ==
                    KMA_ERROR_DOUBLE_FREE,
                "a free of a block that is free already");
}

// ------ by lanes together -------------------------------------------------------------------------------------------

// Sizes of 32 lanes of each form of slab.
inline std::vector<group_sizes> sizes_of_forms()
{
    group_sizes small(32), plain(32), coarse(32);
    for (uint lane = 0; lane < 32; lane++) {
        small[lane] = lane != 31 ? 2 : 1;
        plain[lane] = lane % 2 != 0 ? 20 : 17;
        coarse[lane] = lane == 9 ? 130 : 20;
    }
    return {group_sizes(32, 8), group_sizes(32, 1), small, plain, coarse, group_sizes(32, 30)};
}

// All lanes of a slab that they took end it together, by few looks each: one for the mark, others for data. If they
// free it in another order they look twice, and still clear all bits at once.
inline void check_group_end()
{
    static constexpr uint looks[] = {2, 2, 3, 2 + 5, 2 + 6, 2};
    const std::vector<group_sizes> forms = sizes_of_forms();
    for (uint form = 0; form < forms.size(); form++)
        for (const bool in_order : {true, false}) {
            group_heap in;
            in.take(forms[form]);
            in.others = in.blocks;
            in.take(forms[form]); // of the same lines behind
            std::swap(in.blocks, in.others);
            std::vector<void *> what = std::exchange(in.blocks, {});
            if (!in_order)
                std::rotate(what.begin(), what.begin() + 1, what.end());
            const uint before = shim::lockstep::operations;
            in.free(what);
            const uint operations = shim::lockstep::operations - before;
            shim::check(operations < 32 * (in_order ? looks[form] + 1 : 2 * looks[form] + 5),
                        "lanes that free together look at more than they need");
            in.check_books();
        }
}

// A slab that has, or had, holes is closed, and its lines stay while somebody looks at its chunk.
inline void check_group_pinned()
{
    for (const group_sizes &sizes : sizes_of_forms())
        for (const bool in_order : {true, false}) {
            group_heap in;
            in.take(sizes);
            const uint first = in.unit_of(in.blocks[0]) / KMA_SL_LINE;
            kma_fetch_or_u32(kma_sl_marks(&in.sl, first), KMA_SL_MARK_HOLEY << kma_sl_mark_shift(first), KMA_RELAXED);
            kma_sl_pin_chunk(in.heap, first / KMA_SL_LINE);
            std::vector<void *> what = std::exchange(in.blocks, {});
            if (!in_order)
                std::rotate(what.begin(), what.begin() + 1, what.end());
            in.free(what);
            shim::check(in.used() != 0 && (kma_sl_mark(&in.sl, first) & KMA_SL_MARK_CLOSED) != 0,
                        "lines that another looks at are given back");
            kma_sl_unpin(in.heap, first / KMA_SL_LINE);
            shim::check(in.used() == 0, "lines of a closed slab");
            in.check_books();
        }
}

// All lanes free what looks as if they had a slab of their own there.
inline void check_group_lookalikes()
{
    { // Behind a fine slab are others, whose owners look like the header and the plane of sizes of one unit.
        group_heap in;
        in.take(group_sizes(32, 1));
        const uint first = in.unit_of(in.blocks[0]) / KMA_SL_LINE;
        in.use(first + 1, 4);
        put(kma_sl_word(&in.sl, first + 1), KMA_SL_MIXED | 5u << 8 | KMA_SL_HEADER_LAST | 1u);
        put(kma_sl_word(&in.sl, first + 2), 0x7fffffffu);
        in.free(std::exchange(in.blocks, {}));
        shim::check(in.used() == 4, "lines of others are given back");
    }
    { // A plane looks like the owners of 32 blocks; half of the places are no blocks.
        group_heap in;
        group_sizes sizes(32, 2);
        sizes[31] = 1;
        in.take(sizes);
        const uint second = in.unit_of(in.blocks[0]) / KMA_SL_LINE * KMA_SL_LINE + KMA_SL_LINE;
        std::vector<void *> what(32);
        for (uint lane = 0; lane < 32; lane++) {
            what[lane] = in.at(second + lane);
            std::replace(in.blocks.begin(), in.blocks.end(), what[lane], static_cast<void *>(nullptr));
        }
        in.log.expected[KMA_ERROR_INVALID_FREE] += 16;
        in.free(what);
        in.check_books();
        in.free_all();
        shim::check(in.used() == 0, "lines that nobody has");
    }
}

// Wrong pointers into a slab change nothing of it.
inline void check_group_harmless()
{
    for (const group_sizes &sizes : sizes_of_forms())
        for (const bool all : {false, true}) {
            group_heap in;
            in.take(sizes);
            const uint first = in.unit_of(in.blocks[0]) / KMA_SL_LINE;
            const uint mark = kma_sl_mark(&in.sl, first);
            std::vector<void *> what(32, in.at(2 * 1024 + 1)); // where no slab is
            for (uint lane = 0; lane < 32; lane++)
                if (sizes[lane] > 1 && (all || lane % 5 == 0))
                    what[lane] = static_cast<uchar *>(in.blocks[lane]) + KMA_UNIT;
            for (void *const each : what) {
                const bool is_within =
                    in.unit_of(each) / KMA_SL_LINE - first < kma_sl_spot_of(in.heap, in.blocks[0]).lines;
                in.log.expected[is_within ? KMA_ERROR_INVALID_FREE : KMA_ERROR_DOUBLE_FREE]++;
            }
            in.free(what);
            shim::check(kma_sl_mark(&in.sl, first) == mark, "a wrong pointer changes the mark of a slab");
            in.check_books();
            in.free_all();
        }
}

// Lanes of two heaps come together.
inline void check_group_of_two_heaps()
{
    ulong end;
    kma_sl_plan_of(2, KMA_SL_CURSORS, 0, &end);
    kma_slab *heaps[2];
    const auto check_books = [&heaps](const auto &is_held, const std::vector<void *> *blocks) {
        for (uint n = 0; n < 2; n++) {
            shim::self().operations = 0;
            slab_books books(heaps[n]);
            for (uint lane = 0; lane < 32; lane++)
                if (is_held(n, lane))
                    books.expect(kma_slab_ref_of(heaps[n], blocks[n][lane]) - heaps[n]->plan.begin);
            books.check();
            log_of<kma_slab>{heaps[n]}.works(true);
        }
    };
    for (uint n = 0; n < 2; n++) {
        shim::check(end * KMA_UNIT <= 65536, "no room for two heaps");
        heaps[n] = reinterpret_cast<kma_slab *>(base() + size_t{n} * 65536);
        std::memset(static_cast<void *>(heaps[n]), 0xa5, end * KMA_UNIT);
        kma_slab_init(heaps[n], end * KMA_UNIT, 0, KMA_SL_CURSORS, false, 0, 1);
    }
    for (uint way = 0; way < 24; way++) {
        const uint units = 1 + way * 2;
        std::vector<void *> blocks(32);
        const auto heap_of = [&](uint lane) {
            return heaps[way % 3 == 0 ? lane / 16 : way % 3 == 1 ? lane % 2 : lane >= 31];
        };
        shim::lockstep::run(32, 0, [&](uint lane) { blocks[lane] = kma_slab_malloc(heap_of(lane), units * KMA_UNIT); });
        const std::vector<void *> both[2] = {blocks, blocks};
        check_books([&](uint n, uint lane) { return heap_of(lane) == heaps[n]; }, both);
        shim::lockstep::run(
            32, 0, [&](uint lane) { kma_slab_free(heap_of(lane), blocks[way < 12 || lane >= 28 ? lane : lane ^ 2]); });
        check_books([](uint, uint) { return false; }, both);
    }
    // Of what they see the lanes of the first one's heap get a slab.
    std::vector<kma_ref> got(8);
    shim::lockstep::run(8, 0, [&](uint lane) { got[lane] = kma_sl_take_in_view(heaps[lane % 2], 10, 0); });
    for (uint lane = 0; lane < 8; lane++)
        shim::check((got[lane] == KMA_SL_ENOUGH) == (lane % 2 != 0), "which lanes of two heaps get what they see");
    // Cursors of two heaps led them to lines of others, of which they got none: those of the first one's heap move its cursor.
    shim::lockstep::run(8, 0, [&](uint lane) {
        const kma_sl_part none = {0, 0};
        kma_sl_lose(heaps[lane % 2], 0, 20, lane / 2, 4, none);
    });
    // Slabs that look the same, at the same place of each heap: half of the lanes free what they have of the one, half
    // of the other.
    for (kma_slab *const heap : heaps)
        kma_slab_init(heap, end * KMA_UNIT, 0, KMA_SL_CURSORS, true, 0, 1);
    std::vector<void *> blocks[2] = {std::vector<void *>(32), std::vector<void *>(32)};
    for (uint n = 0; n < 2; n++)
        shim::lockstep::run(32, 0, [&](uint lane) { blocks[n][lane] = kma_slab_malloc(heaps[n], 8 * KMA_UNIT); });
    shim::lockstep::run(32, 0, [&](uint lane) { kma_slab_free(heaps[lane / 16], blocks[lane / 16][lane]); });
    check_books([](uint n, uint lane) { return lane / 16 != n; }, blocks);
    shim::lockstep::run(32, 0, [&](uint lane) { kma_slab_free(heaps[1 - lane / 16], blocks[1 - lane / 16][lane]); });
    check_books([](uint, uint) { return false; }, blocks);
}

// What is freed twice, by all or by one beside the others, and what is no block: each is told, and nothing else
// happens.
inline void check_group_wrong_frees()
{
    std::vector<group_sizes> forms = sizes_of_forms();
    forms.push_back(group_sizes(32, 12));
    forms.back()[5] = forms.back()[31] = 0;
    for (const group_sizes &sizes : forms)
        for (uint wrong = 0; wrong < 8; wrong++) {
            group_heap in;
            in.take(sizes);
            std::vector<void *> what = in.blocks;
            auto *const mine = static_cast<uchar *>(what[7]);
            uint *const told = in.log.expected;
            if (wrong == 0) { // all once more
                in.free(what);
                told[KMA_ERROR_DOUBLE_FREE] += static_cast<uint>(what.size() - std::ranges::count(what, nullptr));
            } else if (wrong == 1) { // two the same
                what[8] = mine;
                told[KMA_ERROR_DOUBLE_FREE]++;
            } else if (wrong == 2) { // into a unit
                what[7] = mine + 4;
                told[KMA_ERROR_INVALID_FREE]++;
            } else if (wrong == 3) { // behind the heap
                what[7] = in.at(in.heap->plan.chunks * 1024);
                told[KMA_ERROR_INVALID_FREE]++;
            } else if (wrong == 4) { // in front of it, by the lane that all look where it points
                what[0] = reinterpret_cast<uchar *>(in.heap);
                told[KMA_ERROR_INVALID_FREE]++;
            } else if (wrong == 5) { // where no slab is
                what[0] = in.at((kma_sl_counted_line(&in.sl, KMA_SL_BAND_MANY, 1, 0) + 3) * 32);
                told[KMA_ERROR_DOUBLE_FREE]++;
            } else if (wrong == 6) { // one of them was freed before, alone
                kma_slab_free(in.heap, mine);
                told[KMA_ERROR_DOUBLE_FREE]++;
            } else { // one of another slab
                void *const other = kma_slab_malloc(in.heap, 100 * KMA_UNIT);
                what[7] = other;
            }
            std::vector<void *> kept(32, nullptr);
            for (uint lane = 0; lane < 32; lane++)
                if (what[lane] != in.blocks[lane])
                    kept[lane] = in.blocks[lane];
            in.free(what);
            in.blocks = kept;
            in.check_books();
            in.free_all();
            kma_sl_take_off(in.heap, false);
            shim::check(in.used() == 0, "lines that nobody has");
        }
}

inline void check_slab_frees()
{
    shim::start_watchdog();
    slab_kind::vary(0);
    check_release_some();
    check_release_last();
    check_end();
#if KMA_LONE_PATHS
    check_release_one();
#endif
    check_equal_spots();
    check_group_end();
    check_group_pinned();
    check_group_lookalikes();
    check_group_harmless();
    check_group_of_two_heaps();
    check_group_wrong_frees();
    shim::self().operations = 0;
}

} // namespace calls
