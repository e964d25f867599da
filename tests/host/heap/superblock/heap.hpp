// The superblock heap as a tiny heap: superblocks of 2, 4 or 64 units instead of 256 and more, so that a few steps
// reach every state; and what must hold of all its words at rest.
#pragma once

#include "heap/tiny_heap.hpp"

inline uint heap_patience = 0; // of the heap under test, new for each execution

#define KMA_SUPERBLOCK_ALIGN 64u
#define KMA_SUPERBLOCK_PATIENCE heap_patience
#include "kma/heap/superblock.cl"

constexpr uint most_superblocks = 26;

struct superblock_kind {
    KMA_HOST_FUNCTIONS(superblock)
    static constexpr const char *name = "superblock heap";
    static constexpr uint most_align = KMA_SUPERBLOCK_ALIGN;
    static constexpr bool reuses = true;
    static constexpr bool checks_frees = true;
    static constexpr uint rounds = shim::is_model_checker ? 4 : 40;
    // An offer of 32 bits has shift + 1 of them for drawn, up to slots + 2: from four units on.
    static constexpr uint smallest_shift = KMA_HAS_ATOMIC64 ? 1 : 2;
    static constexpr heap_shape shapes[] = {
        {2, 2, 0, 0, 2, {1, 4}}, {2, 2, 0, 0, 1, {1}},    {2, 3, 0, 0, 4, {1, 2, 3, 4}},
        {2, 2, 0, 0, 1, {4}},    {2, 1, 0, 0, 2, {1, 2}}, {smallest_shift, 3, 0, 0, 2, {1, 2}},
        {2, 2, 0, 0, 2, {2, 3}}, {2, 0, 0, 0, 1, {2}},    {2, 1, 0, 0, 2, {4, 1}},
    };
    static constexpr uint searched = 1, searched_rounds = 1;
    static constexpr heap_shape frozen(uint threads) { return {2, threads == 3 ? 4u : 12u, 0, 0, 2, {1, 4}}; }
    static constexpr uint roomy(uint threads) { return 3 * threads + 2; } // superblocks
    static constexpr size_t most_metadata = sizeof(kma_superblock) + 16384;

    kma_superblock *heap = nullptr;

    static void vary(uint choice) { heap_patience = choice; }

    static ulong bytes_of(const heap_shape &shape)
    {
        ulong end;
        kma_superblock_plan_of(shape.count, shape.shift, 0, &end);
        return end * KMA_UNIT;
    }

    void init(uchar *memory, ulong bytes, const heap_shape &shape)
    {
        superblocks_ = shape.count;
        shift_ = shape.shift;
        shim::check(superblocks_ <= most_superblocks, "more superblocks than this test has room for");
        ulong end;
        const kma_superblock_plan plan = kma_superblock_plan_of(superblocks_, shift_, 0, &end);
        heap = reinterpret_cast<kma_superblock *>(memory);
        construct_words(heap->header.errors.count);
        shim::objects.construct<kma_atomic_u32>(&heap->moves);
        for (uint c = 0; c < plan.size_classes; c++)
            shim::objects.construct<kma_superblock_class>(&heap->classes[c]);
        construct_array<kma_superblock_state>(heap, plan.states, superblocks_);
        construct_array<kma_atomic_u32>(heap, plan.sets, plan.size_classes * plan.set_words);
        construct_array<kma_atomic_u32>(heap, plan.bitmaps, superblocks_ * plan.bitmap_words);
        construct_array<kma_queue>(heap, plan.queue, 1);
        shim::check(plan.queue + kma_whole_units(sizeof(kma_queue) + (superblocks_ + 1) * sizeof(kma_queue_node)) <=
                        plan.bitmaps,
                    "the plan has no room for the queue's nodes");
        queue_ = reinterpret_cast<kma_queue *>(memory + size_t{plan.queue} * KMA_UNIT);
        for (uint node = 0; node <= superblocks_; node++)
            shim::objects.construct<kma_queue_node>(kma_queue_nodes(queue_) + node);
        kma_superblock_init(heap, bytes, 0, shift_, false, 0, 1);
        shim::check(heap->plan.superblocks == superblocks_ && heap->plan.limit == plan.limit, "the plan is another");
        shim::check(heap->plan.begin % (KMA_SUPERBLOCK_ALIGN / KMA_UNIT) == 0, "superblocks are not aligned");
    }

    uint begin() const { return heap->plan.begin; }
    uint units() const { return heap->plan.limit - heap->plan.begin; }
    void took(uint, uint) const {}

    // Of the class of its superblock, which may be a larger one; its own if others have freed it.
    uint room_of(const block &mine) const
    {
        const uint what = content(superblock_of(mine));
        return kma_class_units((what & KMA_SUPERBLOCK_FREE) != 0 ? kma_class_of(mine.units) : what);
    }
    // Of the class that a block of the caller's own has; an alignment, or want of memory, makes it larger than it need be.
    uint whole(void *place) const
    {
        return kma_class_units(content((kma_superblock_ref_of(heap, place) - begin()) >> shift_));
    }

    void check_block(const block &mine) const
    {
        const uint within = mine.first & ((1u << shift_) - 1), room = room_of(mine);
        shim::check(mine.units <= room && within % room == 0 && within + room <= 1u << shift_,
                    "a block at an odd place");
    }

    uint classes() const { return heap->plan.size_classes; }
    uint slots_of(uint units_of_block) const { return (1u << shift_) / units_of_block; }
    uint superblock_of(const block &of) const { return of.first >> shift_; }

    void check_books(const block_list &held) const
    {
        bool queued[most_superblocks] = {};
        check_queue(queued);
        shim::check(KMA_SUPERBLOCK_IN_HAND(kma_load_u32(&heap->moves, KMA_RELAXED)) == 0, "a superblock counts as in hand");
        for (uint sb = 0; sb < superblocks_; sb++)
            check_superblock(sb, queued[sb], held);
        for (uint c = 0; c < classes(); c++) {
            const kma_superblock_class &cls = heap->classes[c];
            const kma_superblock_offer offer = offer_of(c);
            shim::check(kma_load_u32(const_cast<kma_atomic_u32 *>(&cls.helpers), KMA_RELAXED) == 0,
                        "somebody counts as a helper");
            shim::check(offer.superblock == KMA_SUPERBLOCK_NONE || offer.superblock < superblocks_, "an offer of nothing");
            shim::check(offer.superblock == KMA_SUPERBLOCK_NONE || content(offer.superblock) == c,
                        "a class offers a superblock of another");
            shim::check(offer.superblock != KMA_SUPERBLOCK_NONE || kma_superblock_left(offer, cls.slots) == 0, "an offer of nothing");
            uint members = 0;
            for (uint sb = 0; sb < superblocks_; sb++)
                members += in_set(c, sb);
            shim::check(kma_load_u32(&heap->classes[c].partial.count, KMA_RELAXED) == members,
                        "a set does not count its members");
        }
    }

    // Blocks lie in superblocks of their size or a larger one, and in one without blocks there may be any.
    uint capacity(uint units_of_block, const block_list &living) const { return count(units_of_block, living, 0, 0); }

    // A group that stops costs the blocks that its lanes have or ask for, which keep a superblock each from other
    // sizes, and one superblock.
    uint least(uint units_of_block, const block_list &living, const block_list &held, const block_list &asked,
               const block_list &) const
    {
        block_list all = living;
        for (const block &each : held)
            all.push(each);
        uint blocks = 0, others = 1;
        for (const block &each : asked)
            (each.units == units_of_block ? blocks : others)++;
        return count(units_of_block, all, others, blocks);
    }

private:
    // With `used` in use, and besides so many superblocks and blocks less.
    uint count(uint units_of_block, const block_list &used, uint superblocks_less, uint blocks_less) const
    {
        uint blocks = 0;
        for (uint sb = 0; sb < superblocks_; sb++) {
            uint taken = 0, room = units_of_block;
            for (const block &each : used)
                if (superblock_of(each) == sb) {
                    taken++;
                    room = room_of(each);
                }
            blocks += room < units_of_block ? 0 : slots_of(room) - taken;
        }
        const uint less = superblocks_less * slots_of(units_of_block) + blocks_less;
        return blocks > less ? blocks - less : 0;
    }

    uint content(uint sb) const { return kma_load_u32(&kma_superblock_state_of(heap, sb)->content, KMA_RELAXED); }
    kma_superblock_offer offer_of(uint c) const { return kma_superblock_look(heap, c); }

    uint taken(uint sb) const
    {
        uint bits = 0;
        for (uint word = 0; word < heap->plan.bitmap_words; word++)
            bits += popcount(kma_load_u32(&kma_superblock_bitmap(heap, sb)[word], KMA_RELAXED));
        return bits;
    }

    bool in_set(uint c, uint sb) const
    {
        return (kma_load_u32(&kma_superblock_set(heap, c)[sb / 32], KMA_RELAXED) >> sb % 32 & 1) != 0;
    }

    void check_queue(bool (&queued)[most_superblocks]) const
    {
        uint node = kma_queue_index(kma_queue_load(&queue_->head, KMA_RELAXED));
        for (uint count = 0;; count++) {
            shim::check(count <= superblocks_, "the free queue has a cycle");
            node = kma_queue_index(kma_queue_load(kma_queue_next(queue_, node), KMA_RELAXED));
            if (node == KMA_QUEUE_END)
                return;
            const uint sb = kma_load_u32(&kma_queue_nodes(queue_)[node].item, KMA_RELAXED);
            shim::check(sb < superblocks_ && !queued[sb], "a superblock is in the queue twice");
            queued[sb] = true;
        }
    }

    void check_superblock(uint sb, bool queued, const block_list &held) const
    {
        const uint what = content(sb);
        const uint word = kma_load_u32(&kma_superblock_state_of(heap, sb)->credit, KMA_RELAXED);
        const bool kept = (word & KMA_SUPERBLOCK_KEPT) != 0;
        const uint credit = kma_superblock_count(word);
        uint offers = 0, sets = 0;
        for (uint c = 0; c < classes(); c++) {
            offers += offer_of(c).superblock == sb;
            sets += in_set(c, sb);
        }
        uint mine = 0; // blocks held of this superblock
        for (const block &each : held) {
            if (superblock_of(each) != sb)
                continue;
            mine++;
            check_block(each);
            const uint slot = (each.first & ((1u << shift_) - 1)) / room_of(each);
            shim::check(kma_superblock_is_set(kma_superblock_bitmap(heap, sb), slot), "a block that is held is not taken");
            shim::check(kma_superblock_usable_size(heap, kma_superblock_deref(heap, begin() + each.first)) ==
                            room_of(each) * KMA_UNIT,
                        "usable size");
        }
        shim::check(taken(sb) == mine, "a block is taken that nobody holds");
        shim::check(offers + sets + queued <= 1, "a superblock is in two places");
        if (queued) {
            shim::check((what & KMA_SUPERBLOCK_FREE) != 0, "a superblock in the queue is not free");
            shim::check(kept && credit == 0, "a free superblock's credit");
            return;
        }
        shim::check(what < classes(), "a free superblock is not in the queue");
        const uint slots = heap->classes[what].slots;
        const uint on_offer = offers ? kma_superblock_left(offer_of(what), slots) : 0;
        shim::check(mine + on_offer + credit == slots, "taken, on offer and credit are not all");
        if (offers) {
            shim::check(kept, "a superblock on offer has no keeper");
            return;
        }
        shim::check(credit != slots, "a superblock all of whose blocks are free is not in the queue");
        shim::check(kept == (credit != 0), "KEPT is wrong");
        shim::check(in_set(what, sb) == (credit != 0), "not in its class's set though it has credit, or the reverse");
    }

    uint superblocks_ = 0;
    uint shift_ = 0;
    kma_queue *queue_ = nullptr;
};
