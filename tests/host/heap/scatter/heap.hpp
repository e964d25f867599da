// The scatter heap as a tiny heap: pages of 32 or 64 units instead of 256 and more, up to four in a super block, and
// two words of a tree for one above them instead of 32, so that a few pages have as many levels as a heap of gigabytes;
// and what must hold of all its words at rest.
#pragma once

#include "heap/tiny_heap.hpp"

#define KMA_SCATTER_MIN_SHIFT 5u
#define KMA_SCATTER_ALIGN 64u
#ifndef KMA_BIT_TREE_SHIFT
#define KMA_BIT_TREE_SHIFT 1u
#endif
#define KMA_SCATTER_PLACES 2u
#define KMA_SCATTER_RUN_DRAWS 3u
#define KMA_SCATTER_RUN_WINDOW 2u
#include "kma/heap/scatter.cl"
#include "lockfree/check_tree.hpp"

constexpr uint most_pages = 14;

struct scatter_kind {
    KMA_HOST_FUNCTIONS(scatter)
    static constexpr const char *name = "scatter heap";
    static constexpr uint most_align = KMA_SCATTER_ALIGN;
    static constexpr bool reuses = true;
    static constexpr bool checks_frees = true;
    static constexpr uint rounds = shim::is_model_checker ? 4 : 40;
    // Above 32, or 64, units: runs of pages.
    static constexpr heap_shape shapes[] = {
        {5, 2, 0, 0, 2, {8, 32}},  {5, 5, 0, 0, 2, {16, 32}},      {5, 2, 0, 0, 1, {32}},
        {5, 1, 0, 0, 2, {16, 10}}, {5, 3, 0, 0, 4, {5, 8, 4, 32}}, {5, 4, 0, 0, 3, {64, 32, 16}},
        {5, 6, 0, 0, 2, {96, 16}}, {5, 5, 0, 0, 2, {40, 64}},      {6, 2, 124, 120, 2, {1, 64}},
        {5, 0, 0, 0, 1, {2}},      {5, 5, 0, 0, 1, {16}},          {7, 2, 80, 77, 1, {3}},
        {6, 2, 95, 93, 1, {1}},
    };
    static constexpr uint searched = 1, searched_rounds = 1;
    static constexpr heap_shape frozen(uint threads)
    {
        return threads == 3 ? heap_shape{5, 12, 0, 0, 2, {8, 64}} : heap_shape{5, 14, 0, 0, 2, {16, 32}};
    }
    static constexpr uint roomy(uint) { return 12; } // pages
    static constexpr size_t most_metadata = sizeof(kma_scatter) + 16384;

    kma_scatter *heap = nullptr;

    static void vary(uint choice)
    {
        static constexpr uint together[] = {1000, 1, 2, 4};
        shim::place_items = together[choice];
        variant() = choice;
    }

    static ulong bytes_of(const heap_shape &shape)
    {
        ulong end;
        kma_scatter_plan_of(shape.count, shape.shift, super_shift_of(shape), 0, &end);
        return end * KMA_UNIT;
    }

    void init(uchar *memory, ulong bytes, const heap_shape &shape)
    {
        pages_ = shape.count;
        shift_ = shape.shift;
        shim::check(pages_ <= most_pages, "more pages than this test has room for");
        ulong end;
        const kma_scatter_plan plan = kma_scatter_plan_of(pages_, shift_, super_shift_of(shape), 0, &end);
        heap = reinterpret_cast<kma_scatter *>(memory);
        construct_words(heap->header.errors.count);
        construct_words(heap->active);
        construct_words(heap->emptier);
        shim::objects.construct<kma_atomic_u32>(&heap->next_run);
        construct_array<kma_atomic_u32>(heap, plan.cursors, plan.places * KMA_SCATTER_SIZES);
        construct_array<kma_atomic_u32>(heap, plan.full, plan.supers);
        construct_array<kma_atomic_u32>(heap, plan.table, pages_);
        construct_array<kma_atomic_u32>(heap, plan.trees, plan.tree_words * (kma_scatter_classes(shift_) + 1));
        construct_array<kma_atomic_u32>(heap, plan.bitmaps, (pages_ << shift_) / 32);
        kma_scatter_init(heap, bytes, 0, shift_, super_shift_of(shape), false, 0, 1);
        shim::check(heap->plan.pages == pages_ && heap->plan.limit == plan.limit, "the plan is another");
        shim::check(heap->plan.begin % (KMA_SCATTER_ALIGN / KMA_UNIT) == 0, "pages are not aligned");
    }

    uint begin() const { return heap->plan.begin; }
    uint units() const { return heap->plan.limit - heap->plan.begin; }
    void took(uint, uint) const {}

    // Of the block that a living one lies in: what it may grow to where it is.
    uint room_of(const block &mine) const
    {
        const uint word = page_word(page_of(mine));
        return kma_scatter_split(word) == KMA_SCATTER_HEAD ? pages_for(mine.units) << shift_
                                                 : kma_scatter_units(kma_scatter_split(word), shift_);
    }

    void check_block(const block &mine) const
    {
        const uint word = page_word(page_of(mine));
        const uint within = mine.first & ((1u << shift_) - 1);
        shim::check((word & KMA_SCATTER_FREE) == 0, "a block in a free page");
        if (mine.units > 1u << shift_) {
            shim::check(kma_scatter_split(word) == KMA_SCATTER_HEAD && within == 0, "a run at an odd place");
            shim::check(page_of(mine) >> super_shift() == (page_of(mine) + pages_for(mine.units) - 1) >> super_shift(),
                        "a run in two super blocks");
            return;
        }
        shim::check(kma_scatter_split(word) < kma_scatter_classes(shift_), "a chunk of a page that is not split");
        const uint chunk = kma_scatter_units(kma_scatter_split(word), shift_);
        shim::check(mine.units <= chunk && within % chunk == 0 && within + chunk <= 1u << shift_,
                    "a chunk at an odd place");
    }

    void check_books(const block_list &held) const
    {
        uint full[most_pages] = {};
        for (uint page = 0; page < pages_; page++) {
            check_page(page, held);
            check_lists(page);
            const uint word = page_word(page);
            const uint split = kma_scatter_split(word);
            if ((word & KMA_SCATTER_FREE) == 0 && split < KMA_SCATTER_CLASSES && room_in(page) == 0)
                full[page >> super_shift()]++;
        }
        for (uint tree = 0; tree <= kma_scatter_classes(shift_); tree++)
            check_bit_tree(at(heap->plan.trees, tree * heap->plan.tree_words), pages_);
        for (uint super = 0; super < heap->plan.supers; super++)
            shim::check(kma_load_u32(at(heap->plan.full, super), KMA_RELAXED) == full[super],
                        "a super block does not count its full pages");
        for (const block &each : held) {
            const uint bytes = room_of(each) * KMA_UNIT;
            shim::check(kma_scatter_usable_size(heap, kma_scatter_deref(heap, begin() + each.first)) == bytes,
                        "usable size");
        }
    }

    // A page that is free, or split for this size or a larger one and not full; or a run of free pages in a region.
    bool has_room(uint units_of_block) const
    {
        const uint length = pages_for(units_of_block), region = 1u << super_shift();
        for (uint first = 0, run = 0; first < pages_; first++) {
            const uint word = page_word(first), split = kma_scatter_split(word);
            const bool is_free = (word & KMA_SCATTER_FREE) != 0;
            run = !is_free ? 0 : first % region == 0 ? 1 : run + 1;
            if (run >= length || (length == 1 && !is_free && split >= kma_scatter_class_of(units_of_block, shift_) &&
                                  split < KMA_SCATTER_CLASSES && room_in(first) != 0))
                return true;
        }
        return false;
    }

    // A group that stops costs the pages that its lanes have blocks in, as many pages as they ask for, the least being
    // one for each, and what is below one word of a tree's level 1.
    uint least(uint units_of_block, const block_list &living, const block_list &held, const block_list &asked,
               const block_list &) const
    {
        const uint run = pages_for(units_of_block);
        const uint parts = pages_ / run; // pages, or super blocks of as many pages as a run
        bool lost[most_pages] = {};
        for (const block_list *list : {&living, &held})
            for (const block &each : *list)
                for (uint page = page_of(each); page < page_of(each) + pages_for(each.units); page++)
                    lost[page / run] = true;
        uint left = 0;
        for (uint part = 0; part < parts; part++)
            left += !lost[part];
        uint less = KMA_BIT_TREE_FANOUT * KMA_BIT_TREE_FANOUT / run;
        for (const block &each : asked) // sizes are even; one more comes of an alignment, which costs nothing here
            less += (pages_for(each.units / 2 * 2) + run - 1) / run;
        return left > less ? (left - less) * (run > 1 ? 1 : (1u << shift_) / units_of_block) : 0;
    }

private:
    static uint &variant()
    {
        static uint chosen = 0;
        return chosen;
    }

    // At least as large as the largest run.
    static uint super_shift_of(const heap_shape &shape)
    {
        uint most = 0, shift = variant() % 3;
        for (uint kind = 0; kind < shape.kind_count; kind++)
            most = max(most, ((shape.kinds[kind] - 1) >> shape.shift) + 1);
        if (shape.kinds[0] == frozen(3).kinds[0] && shape.kinds[1] == frozen(3).kinds[1])
            return 1; // least() counts super blocks
        while (1u << shift < most)
            shift++;
        return shift;
    }

    kma_atomic_u32 *at(uint where, uint index) const
    {
        return reinterpret_cast<kma_atomic_u32 *>(reinterpret_cast<uchar *>(heap) + size_t{where} * KMA_UNIT) + index;
    }

    uint super_shift() const { return heap->plan.super_shift; }
    uint page_of(const block &of) const { return of.first >> shift_; }
    uint pages_for(uint units_of_block) const { return ((units_of_block - 1) >> shift_) + 1; }
    uint page_word(uint page) const { return kma_load_u32(at(heap->plan.table, page), KMA_RELAXED); }
    uint bits_of(uint page, uint word) const
    {
        return kma_load_u32(at(heap->plan.bitmaps, (page << shift_) / 32 + word), KMA_RELAXED);
    }

    // Chunks that are free in a page that is split.
    uint room_in(uint page) const
    {
        const uint word = page_word(page);
        return kma_scatter_spots(kma_scatter_split(word), shift_) - (word & KMA_SCATTER_COUNT);
    }

    void check_page(uint page, const block_list &held) const
    {
        const uint word = page_word(page), count = word & KMA_SCATTER_COUNT, split = kma_scatter_split(word);
        uint bits = 0, mine = 0, run = 0;
        for (uint i = 0; i < 1u << (shift_ - 5); i++)
            bits += popcount(bits_of(page, i));
        for (const block &each : held) {
            if (page < page_of(each) || page >= page_of(each) + pages_for(each.units))
                continue;
            mine++;
            run = page - page_of(each) + 1;
            check_block(each);
            const uint within = each.first & ((1u << shift_) - 1);
            shim::check(each.units > 1u << shift_ || kma_scatter_is_set(at(heap->plan.bitmaps, (page << shift_) / 32),
                                                                   within / kma_scatter_units(split, shift_)),
                        "a block that is held is not taken");
        }
        if (word & KMA_SCATTER_FREE) {
            shim::check(count == 0 && bits == 0 && mine == 0, "something is left of what a free page was");
        } else if (split == KMA_SCATTER_HEAD || split == KMA_SCATTER_REST) {
            shim::check(count == 0, "reservations are left in a page of a run");
            shim::check(mine == 1 && (split == KMA_SCATTER_HEAD) == (run == 1), "a run that nobody holds");
            shim::check(split == KMA_SCATTER_HEAD || bits == 0, "bits in a page of a run");
        } else {
            shim::check(split < kma_scatter_classes(shift_), "a page is split for no size");
            shim::check(count == mine && bits == mine, "reserved, taken and held are not the same");
            shim::check(count != 0, "a page all of whose chunks are free is not free");
            shim::check(count <= kma_scatter_spots(split, shift_), "more chunks than there are");
        }
    }

    // A page is in the tree of free pages if it is free, and in its size's list if it has room.
    void check_lists(uint page) const
    {
        const uint word = page_word(page);
        const auto is_listed = [&](uint tree) {
            return kma_bit_tree_has(at(heap->plan.trees, tree * heap->plan.tree_words), page);
        };
        shim::check(is_listed(0) || (word & KMA_SCATTER_FREE) == 0, "a free page is not in the tree of free pages");
        shim::check(!kma_scatter_has_room(word, shift_) || is_listed(kma_scatter_split(word) + 1), "a page with room is in no tree");
    }

    uint pages_ = 0;
    uint shift_ = 0;
};
