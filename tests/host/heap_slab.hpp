// The slab heap as a tiny heap: three chunks, of which a few lines side by side are left between two blocks that nobody
// frees; shares of cursors of 8 and 32 lines, two places, and few looks before a search goes through the heap. And what
// must hold of all its words at rest.
#pragma once

#include "tiny_heap.hpp"

#ifndef KMA_BIT_TREE_SHIFT
#define KMA_BIT_TREE_SHIFT 1u
#endif
#define KMA_SL_ALIGN 1024u
#define KMA_SL_PLACES 2u
#define KMA_SL_PLACE_CHUNKS 1u
#define KMA_SL_CURSOR_CHUNKS 1u
#define KMA_SL_LOOKERS 2u
#define KMA_SL_CURSORS 2u
#define KMA_SL_CURSOR_STRIDE 2u
#define KMA_SL_LOOKED_STRIDE 1u
#define KMA_SL_FEW_SHIFT 3u
#define KMA_SL_MANY_SHIFT 5u
#define KMA_SL_FEW 2u
#define KMA_SL_DRAWN 16u // runs of a chunk are longer
#define KMA_SL_SHORT 62u // runs of two chunks are long: one of their chunks is theirs as a whole, wherever they begin
#define KMA_SL_ABREAST 2u
#define KMA_SL_SIGHT 4u
#define KMA_SL_FAR_SIGHT 2u
#define KMA_SL_DRAWS 2u
#define KMA_SL_RUN_DRAWS 2u
#define KMA_SL_REDRAWS 3u
#ifndef KMA_SL_LOOKS
#define KMA_SL_LOOKS 2u
#endif
#define KMA_SL_VIEWS 8u
#define KMA_SL_MANY 3u // of groups of four
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvolatile" // the device files are C
#include "kma/heap/slab.cl"
#pragma GCC diagnostic pop

#include "slab_books.hpp"

struct slab_kind {
    using heap_type = kma_slab;
    static constexpr const char *name = "slab heap";
    static constexpr uint most_align = KMA_SL_ALIGN;
    static constexpr bool reuses = true;
    static constexpr bool checks_frees = true;
    static constexpr uint rounds = shim::is_model_checker ? 4 : 12;
    // Lines between the walls. Groups get a slab of blocks of 8 units and more, and, of sizes that differ, of 24 and
    // more.
    static constexpr heap_shape shapes[] = {
        {5, 2, 0, 0, 2, {8, 32}},       {5, 3, 0, 0, 2, {16, 5}},       {5, 6, 0, 0, 2, {16, 32}},
        {5, 14, 0, 0, 3, {30, 28, 24}}, {5, 8, 0, 0, 3, {33, 16, 100}}, {5, 4, 62, 58, 2, {2, 8}},
        {5, 2, 31, 29, 2, {2, 1}},      {5, 1, 31, 28, 1, {1}},         {5, 13, 0, 0, 2, {290, 32}},
        {5, 0, 0, 0, 1, {2}},           {5, 5, 0, 0, 1, {20}},          {5, 14, 0, 0, 2, {130, 90}},
        {5, 6, 0, 0, 3, {8, 9, 3}},
    };
    static constexpr uint searched = 1, searched_rounds = 1;
    static constexpr uint roomy(uint) { return 14; } // lines
    static constexpr uint chunks = 3;
    static constexpr size_t most_metadata =
        sizeof(kma_slab) + size_t{512} * sizeof(kma_atomic_u32) + size_t{chunks + 1} * 1024 * KMA_UNIT;

    kma_slab *heap = nullptr;

    static void vary(uint choice)
    {
        static constexpr uint together[] = {1000, 1, 2, 4};
        shim::place_items = together[choice];
        variant() = choice;
        number_lanes(choice != 3);
    }
    static void *malloc(kma_slab *heap, size_t bytes)
    {
        begin_call();
        return kma_slab_malloc(heap, bytes);
    }
    static void *calloc(kma_slab *heap, size_t count, size_t bytes)
    {
        begin_call();
        return kma_slab_calloc(heap, count, bytes);
    }
    static void *aligned_alloc(kma_slab *heap, size_t align, size_t bytes)
    {
        begin_call();
        return kma_slab_aligned_alloc(heap, align, bytes);
    }
    static void *realloc_sized(kma_slab *heap, void *block, size_t old_bytes, size_t bytes)
    {
        begin_call();
        return kma_slab_realloc_sized(heap, block, old_bytes, bytes);
    }
    static void free(kma_slab *heap, void *block)
    {
        begin_call();
        kma_slab_free(heap, block);
    }
    static uint ref_of(kma_slab *heap, void *block) { return kma_slab_ref_of(heap, block); }

    static ulong bytes_of(const heap_shape &)
    {
        ulong end;
        kma_sl_plan_of(chunks, KMA_SL_CURSORS, 0, &end);
        return end * KMA_UNIT;
    }

    void init(uchar *memory, ulong bytes, const heap_shape &shape)
    {
        heap = make(memory, bytes, chunks);
        shim::check(shape.shift == KMA_SL_LINE_SHIFT, "a heap is measured in lines");
        lines_ = shape.count;
        // In two chunks, or at the heap's end, or its start.
        first_ = variant() == 1 ? chunks * KMA_SL_LINE - lines_ : variant() == 2 ? 0 : KMA_SL_LINE - lines_ / 2;
        wall(0, first_);
        wall(first_ + lines_, chunks * KMA_SL_LINE - first_ - lines_);
        const kma_sl_heap sl = kma_sl_open(heap);
        for (uint cursor = 0; cursor < sl.plan.cursors; cursor++) // some where there are lines
            kma_store_u32(kma_sl_cursor(heap, KMA_SL_BAND_FEW, cursor),
                          (first_ >> KMA_SL_FEW_SHIFT) / sl.plan.cursors << KMA_SL_FEW_SHIFT | first_ % 8, KMA_RELAXED);
    }

    // A heap of whole chunks without walls.
    static kma_slab *make(uchar *memory, ulong bytes, uint count)
    {
        ulong end;
        const kma_sl_plan plan = kma_sl_plan_of(count, KMA_SL_CURSORS, 0, &end);
        auto *const made = reinterpret_cast<kma_slab *>(memory);
        for (kma_atomic_u32 &each : made->header.errors.count)
            shim::objects.construct<kma_atomic_u32>(&each);
        for (kma_atomic_u32 &each : made->cursors)
            shim::objects.construct<kma_atomic_u32>(&each);
        for (kma_atomic_u32 &each : made->looked)
            shim::objects.construct<kma_atomic_u32>(&each);
        for (kma_atomic_u32 &each : made->headed)
            shim::objects.construct<kma_atomic_u32>(&each);
        for (kma_atomic_u32 *each : {&made->next_run, &made->seekers, &made->scarce, &made->next_long})
            shim::objects.construct<kma_atomic_u32>(each);
        construct_words(made, plan.heads, kma_sl_heads(plan.places));
        construct_words(made, plan.used, count);
        construct_words(made, plan.rooms, (count + 31) / 32);
        construct_words(made, plan.pins, count);
        construct_words(made, plan.marks, count * (KMA_SL_LINE / KMA_SL_MARKS));
        construct_words(made, plan.trees, plan.tree_words * KMA_SL_TREES);
        construct_words(made, plan.words, count * KMA_SL_LINE + 1);
        kma_slab_init(made, bytes, 0, KMA_SL_CURSORS, false, 0, 1);
        shim::check(made->plan.chunks == count && made->plan.limit == plan.limit, "the plan is another");
        shim::check(made->plan.begin % (KMA_SL_ALIGN / KMA_UNIT) == 0, "lines are not aligned");
        return made;
    }

    // Lanes of one half of 32, which ask together, or of both.
    static void number_lanes(bool one_half)
    {
        static constexpr uint numbers[2][shim::group_lanes] = {{2, 31, 32, 63}, {0, 7, 30, 31}};
        std::copy_n(numbers[one_half], shim::group_lanes, shim::lane_numbers);
    }

    uint first_line() const { return first_; }
    uint begin() const { return heap->plan.begin + first_ * KMA_SL_LINE; }
    uint units() const { return lines_ * KMA_SL_LINE; }
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
        slab_books books(heap);
        if (first_ != 0)
            books.expect(0);
        if (first_ + lines_ != chunks * KMA_SL_LINE)
            books.expect((first_ + lines_) * KMA_SL_LINE);
        for (const block &each : held) {
            books.expect(first_ * KMA_SL_LINE + each.first);
            shim::check(room_of(each) >= each.units, "usable size");
        }
        books.check();
    }

    bool has_room(uint units) const { return slab_books(heap).has_room(units); }

private:
    // A request for which there is no room looks at every class: on threads operations are limited for each call.
    static void begin_call()
    {
        if constexpr (!shim::is_model_checker)
            shim::self().operations = 0;
    }

    static uint &variant()
    {
        static uint chosen = 0;
        return chosen;
    }

    static void construct_words(kma_slab *made, uint where, uint count)
    {
        for (uint i = 0; i < count; i++)
            shim::objects.construct<kma_atomic_u32>(kma_sl_at(made, where) + i);
    }

    void wall(uint first, uint lines)
    {
        if (lines == 0)
            return;
        const kma_sl_heap sl = kma_sl_open(heap);
        shim::check(kma_sl_take_lines(heap, first, lines), "no room for a wall");
        kma_sl_make_run(heap, first, lines);
        kma_sl_put_backs(&sl, first, lines, 0, 1);
    }

    uint first_ = 0; // line
    uint lines_ = 0;
};
