// The slab heap as a tiny heap: frames of 4 lines of 4 units, classes of 1 and 2 units with pages,
// groups of 4 lanes as whole warps, two shards and two cursors, and two words of a tree for one
// above them. The forms with orders have devices' search at a current page, those with fences
// CPUs'.
#pragma once

#include "heap/tiny_heap.hpp"

#ifndef KMA_BIT_TREE_SHIFT
#define KMA_BIT_TREE_SHIFT 1u
#endif
#ifndef KMA_SLAB_DEVICE_SIZES // which the calls have
#ifdef KMA_SLAB_NARROW        // lines of one unit: slots are longer than lines
#define KMA_SLAB_LINE_SHIFT 0u
#define KMA_SLAB_FRAME_SHIFT 4u
#define KMA_SLAB_FEW_SHIFT 6u
#define KMA_SLAB_MANY_SHIFT 6u
#else
#define KMA_SLAB_LINE_SHIFT 2u
#define KMA_SLAB_FRAME_SHIFT 2u
#define KMA_SLAB_FEW_SHIFT 4u
#define KMA_SLAB_MANY_SHIFT 4u
#endif
#define KMA_SLAB_TEAM_SHIFT 2u
#define KMA_SLAB_PLANES 3u
#define KMA_SLAB_ALIGN 128u
#endif
#define KMA_SLAB_SHARDS 2u
#define KMA_SLAB_SHARD_FRAMES 1u
#define KMA_SLAB_CURSORS 2u
#define KMA_SLAB_CURSOR_STRIDE 2u
#define KMA_SLAB_CURSOR_FRAMES 1u
#define KMA_SLAB_AT_ONCE 2u
#define KMA_SLAB_TRIES 2u
#define KMA_SLAB_VISITS 2u
#define KMA_SLAB_STALE 2u
#define KMA_SLAB_ALIGNED_LOOKS 4u
// These differ from execution to execution.
inline uint slab_paged = 1, slab_spare = 1, slab_many_shift = 7;
#define KMA_SLAB_PATIENCE (shim::chosen.bound != 0 ? 1u : 2u)
#define KMA_SLAB_PAGED slab_paged
#define KMA_SLAB_SPARE slab_spare
#if KMA_SHIM_FENCED
#undef KMA_IS_CPU
#define KMA_IS_CPU 1
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvolatile" // the device files are C
#include "kma/heap/slab.cl"
#pragma GCC diagnostic pop
#if KMA_SHIM_FENCED
#undef KMA_IS_CPU
#define KMA_IS_CPU 0
#endif

#include "heap/slab/metadata.hpp"

struct slab_kind {
    KMA_HOST_FUNCTIONS(slab)
    static constexpr const char *name = "slab heap";
    static constexpr uint most_align = KMA_SLAB_ALIGN;
    static constexpr bool reuses = true;
    static constexpr bool checks_frees = true;
    static constexpr uint rounds = shim::is_model_checker ? 4 : 8;
    // Above 16 units: runs.
    static constexpr heap_shape shapes[] = {
        {4, 2, 0, 0, 2, {1, 16}},      {4, 3, 0, 0, 3, {2, 8, 1}},  {4, 2, 0, 0, 2, {2, 4}},
        {4, 1, 0, 0, 2, {1, 2}},       {4, 4, 0, 0, 3, {16, 5, 2}}, {4, 6, 0, 0, 3, {40, 20, 2}},
        {4, 5, 0, 0, 2, {24, 16}},     {4, 0, 0, 0, 1, {2}},        {4, 8, 0, 0, 4, {1, 3, 6, 12}},
        {4, 2, 30, 27, 2, {1, 2}},     {4, 1, 14, 12, 1, {1}},      {4, 2, 14, 12, 1, {2}},
        {4, 5, 0, 0, 4, {2, 9, 4, 7}},
    };
    // Executions that a search with two switches of threads can end, of the first 25.
    static constexpr uint searched_variants[] = {3, 4, 6, 7, 10, 11, 12, 13, 17, 19, 20};
    static constexpr uint searched = std::size(searched_variants), searched_rounds = 1;
    // Of one operation beside a thread that stopped, as for all, or beside a group. The longest has
    // 825 there: it ends one page without blocks after the other, since a lane that stopped hides
    // the frames that come free.
    static constexpr uint most_atomics(uint threads) { return threads == 3 ? 600 : 900; }
    // Frames. No runs, for which a lane may search sixteen times.
    static constexpr heap_shape frozen(uint threads) { return {4, threads == 3 ? 16u : 28u, 0, 0, 2, {2, 8}}; }
    static constexpr uint roomy(uint threads) { return threads > 5 ? 28 : 20; }
    static constexpr size_t most_metadata = sizeof(kma_slab) + size_t{1200} * sizeof(kma_atomic_u32) + 1024;

    kma_slab *heap = nullptr;

    // Places, and whether there are pages, and how long those without blocks stay.
    static void vary(uint choice)
    {
        static constexpr uint together[] = {1000, 1, 2, 4};
        shim::place_items = together[choice];
        slab_paged = choice == 3 ? 100 : 1;
        slab_spare = choice == 1 ? 2 : 1;
        for (uint slot = 0; slot < shim::group_lanes; slot++)
            shim::lane_numbers[slot] = slot; // a whole warp
    }

    static ulong bytes_of(const heap_shape &shape)
    {
        ulong end;
        kma_slab_plan_of(shape.count, KMA_SLAB_CURSORS, 0, &end);
        return end * KMA_UNIT;
    }

    void init(uchar *memory, ulong bytes, const heap_shape &shape)
    {
        shim::check(1u << shape.shift == KMA_SLAB_FRAME_UNITS, "a heap is measured in frames");
        ulong end;
        const kma_slab_plan plan = kma_slab_plan_of(shape.count, KMA_SLAB_CURSORS, 0, &end);
        heap = reinterpret_cast<kma_slab *>(memory);
        construct_words(heap->header.errors.count);
        construct_words(heap->cursors);
        shim::objects.construct<kma_atomic_u32>(&heap->runs_begun);
        shim::objects.construct<kma_atomic_u32>(&heap->runs_ended);
        construct_array<kma_atomic_u32>(heap, plan.current, plan.shards * KMA_SLAB_PAGE_CLASSES);
        construct_array<kma_atomic_u32>(heap, plan.used, plan.room);
        construct_array<kma_atomic_u32>(heap, plan.trees, plan.tree_words * KMA_SLAB_TREES);
        construct_array<kma_atomic_u32>(heap, plan.words, plan.room * KMA_SLAB_FRAME_LINES);
        kma_slab_init(heap, bytes, 0, KMA_SLAB_CURSORS, false, 0, 1);
        shim::check(heap->plan.frames == shape.count && heap->plan.limit == plan.limit, "the plan is another");
        shim::check(heap->plan.begin % (KMA_SLAB_ALIGN / KMA_UNIT) == 0, "frames are not aligned");
    }

    uint begin() const { return heap->plan.begin; }
    uint units() const { return heap->plan.limit - heap->plan.begin; }
    void took(uint, uint) const {}

    // Of a living block: what it may grow to where it is.
    uint room_of(const block &mine) const
    {
        return static_cast<uint>(kma_slab_usable_size(heap, kma_slab_deref(heap, begin() + mine.first)) / KMA_UNIT);
    }

    void check_block(const block &mine) const
    {
        shim::check(room_of(mine) >= mine.units, "a block is not its owner's, or too small");
    }

    void check_books(const block_list &held) const
    {
        slab_metadata metadata(heap);
        for (const block &each : held) {
            metadata.expect(each.first, each.units);
            shim::check(room_of(each) >= each.units, "usable size");
        }
        metadata.check();
    }

    bool has_room(uint units) const { return slab_metadata(heap).has_room(units); }

    // A group that stops costs the frames that its lanes have blocks in, the frames that they claim
    // or end, and those below the bits of trees that its lanes took away and did not look at again.
    uint least(uint units_of_block, const block_list &living, const block_list &held, const block_list &asked,
               const block_list &refused) const
    {
        const uint run = (units_of_block + KMA_SLAB_FRAME_UNITS - 1) / KMA_SLAB_FRAME_UNITS;
        uint less = 1 + hidden();
        for (const block_list *list : {&living, &held, &asked, &refused})
            for (const block &each : *list)
                less += (each.units + KMA_SLAB_FRAME_UNITS - 1) / KMA_SLAB_FRAME_UNITS + 1;
        const uint left = heap->plan.frames > less ? heap->plan.frames - less : 0;
        return run > 1 ? left / run / 2 : left * (KMA_SLAB_FRAME_UNITS / units_of_block);
    }

    // Frames that are in a tree, below a word whose bit above is missing: one for the thread, or for
    // each lane of the group, that stopped, at most.
    uint hidden() const
    {
        ulong frames = 0;
        uint missing = 0;
        for (uint tree = 0; tree < KMA_SLAB_TREES; tree++) {
            const bool of_groups = tree > KMA_SLAB_WHOLE_TREE && tree < KMA_SLAB_EMPTY_TREE;
            global kma_atomic_u32 *const words = kma_slab_tree(heap, tree);
            const uint room = heap->plan.room;
            for (uint level = 0; level < kma_bit_tree_top(room); level++)
                for (uint node = 0; node < kma_bit_tree_nodes(room, level); node++) {
                    const uint word = kma_bit_tree_base(room, level) + node;
                    if (kma_load_u32(&words[word], KMA_RELAXED) == 0 || kma_bit_tree_tells(words, room, level, node))
                        continue;
                    missing++;
                    const uint shift = (level + 1 + (of_groups ? 1 : 0)) * KMA_BIT_TREE_SHIFT;
                    frames |= (ulong)kma_bits_below(1u << shift) << (node << shift);
                }
        }
        shim::check(missing <= (shim::chosen.width == 1 ? 1 : shim::group_lanes),
                    "more bits are missing than lanes are stopped");
        return static_cast<uint>(std::popcount(frames & kma_bits_below(heap->plan.frames)));
    }
};
