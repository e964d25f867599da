// A tiny superblock heap for scenarios: its objects in place, blocks that note who owns them, and what must hold of it
// at rest. Superblocks of 2, 4 or 64 units instead of 256 and more, so that a few steps reach every state.
#pragma once

inline uint heap_patience = 0; // of the heap under test, new for each execution

#define KMA_SB_ALIGN 64u
#define KMA_SB_PATIENCE heap_patience
#include "kma/heap/superblock.cl"

// A block, or none (units == 0). Fits into one atomic word, to be handed on.
struct block {
    uint first = 0; // unit, from the heap's first
    uint units = 0;
    uint stamp = 0; // of the malloc that gave it, 16 bits, not 0

    uint word() const { return stamp << 16 | units << 8 | first; }
    static block from(uint word) { return {word & 0xff, word >> 8 & 0xff, word >> 16}; }
};

constexpr uint most_superblocks = 26;
constexpr uint most_units = 192;
static_assert(most_units < 256);

// No std::vector, since Relacy has operator new for itself while it runs.
struct block_list {
    block blocks[most_units];
    uint count = 0;

    const block *begin() const { return blocks; }
    const block *end() const { return blocks + count; }
    void push(const block &one) { blocks[count++] = one; }
    block pop(uint which)
    {
        std::swap(blocks[which], blocks[count - 1]);
        return blocks[--count];
    }
};

class superblock_heap {
public:
    uint units = 0;                            // in all superblocks together
    uint nulls = 0, doubles = 0, invalids = 0; // that the error log must count, of lone calls; threads bring their own

    void init(uint superblocks, uint shift)
    {
        superblocks_ = superblocks;
        shift_ = shift;
        units = superblocks << shift;
        shim::check(superblocks <= most_superblocks && units <= most_units, "the heap is too large for this test");
        ulong end;
        const kma_sb_plan plan = kma_sb_plan_of(superblocks, shift, &end);
        const ulong bytes = end * KMA_UNIT;
        shim::check(bytes <= sizeof(memory_), "the heap's memory is too small");
        heap_ = reinterpret_cast<kma_superblock *>(memory_);
        for (kma_atomic_u32 &count : heap_->header.errors.count)
            shim::objects.construct<kma_atomic_u32>(&count);
        shim::objects.construct<kma_atomic_u32>(&heap_->moves);
        for (uint c = 0; c < plan.size_classes; c++)
            shim::objects.construct<kma_sb_class>(&heap_->classes[c]);
        construct_array<kma_sb_state>(plan.states, superblocks);
        construct_array<kma_atomic_u32>(plan.sets, plan.size_classes * plan.set_words);
        construct_array<kma_atomic_u32>(plan.bitmaps, superblocks * plan.bitmap_words);
        construct_array<kma_queue>(plan.queue, 1);
        shim::check(plan.queue + kma_whole_units(sizeof(kma_queue) + (superblocks + 1) * sizeof(kma_queue_node)) <=
                        plan.bitmaps,
                    "the plan has no room for the queue's nodes");
        queue_ = reinterpret_cast<kma_queue *>(memory_ + size_t{plan.queue} * KMA_UNIT);
        for (uint node = 0; node <= superblocks; node++)
            shim::objects.construct<kma_queue_node>(kma_queue_nodes(queue_) + node);
        for (uint unit = 0; unit < units; unit++)
            *shim::objects.construct<KMA_PLAIN(uint)>(&owner(unit)) = 0;

        kma_superblock_init(heap_, bytes, shift, false, 0, 1);
        shim::check(heap_->plan.superblocks == superblocks && heap_->plan.limit == plan.limit, "the plan is another");
        shim::check(heap_->plan.begin % (KMA_SB_ALIGN / KMA_UNIT) == 0, "superblocks are not aligned");
    }

    uint classes() const { return heap_->plan.size_classes; }
    uint slots_of(uint units_of_block) const { return (1u << shift_) / units_of_block; }
    uint superblock_of(const block &of) const { return of.first >> shift_; }
    uint shift() const { return shift_; }
    uint superblocks() const { return superblocks_; }

    // A block of `units_wanted`, which a class has exactly, at `align` units; its owner's stamp in every unit.
    block alloc(uint units_wanted, uint stamp, uint align = 1, uint bytes_less = 0)
    {
        void *const place = align == 1 ? kma_superblock_malloc(heap_, units_wanted * KMA_UNIT - bytes_less)
                                       : kma_superblock_aligned_alloc(heap_, align * KMA_UNIT, units_wanted * KMA_UNIT);
        if (!place)
            return {};
        const uint ref = kma_superblock_ref_of(heap_, place);
        shim::check(ref % align == 0, "a block is not aligned");
        shim::check(ref >= heap_->plan.begin && ref + units_wanted <= heap_->plan.limit, "a block outside the heap");
        const block mine = {ref - heap_->plan.begin, units_wanted, stamp};
        const uint within = mine.first & ((1u << shift_) - 1);
        shim::check(within % units_wanted == 0 && within + units_wanted <= 1u << shift_, "a block at an odd place");
        // A plain field: whoever wrote here before must have been ordered before this. What the block was before may
        // have been anybody's; what stands here while it is mine is mine.
        for (uint unit = mine.first; unit < mine.first + mine.units; unit++)
            owner(unit) = stamp;
        shim::linger();
        return mine;
    }

    void check_contents(const block &mine)
    {
        for (uint unit = mine.first; unit < mine.first + mine.units; unit++)
            shim::check(owner(unit) == mine.stamp, "a unit has two owners");
    }

    void free(const block &mine)
    {
        check_contents(mine);
        kma_superblock_free(heap_, place_of(mine.first));
    }

    // Frees of what is no block, harmless and reported.
    void free_inside(const block &mine) { kma_superblock_free(heap_, place_of(mine.first) + 8); }
    void free_unit(uint first) { kma_superblock_free(heap_, place_of(first)); }
    void free_in_front() { kma_superblock_free(heap_, place_of(0) - KMA_UNIT); }

    size_t usable_size(const block &mine) { return kma_superblock_usable_size(heap_, place_of(mine.first)); }

    // At rest: every invariant of the device files' heads, with exactly `held` taken.
    void check_books(const block_list &held)
    {
        bool queued[most_superblocks] = {};
        check_queue(queued);
        shim::check(KMA_SB_IN_HAND(kma_load_u32(&heap_->moves, KMA_RELAXED)) == 0, "a superblock counts as in hand");
        for (uint sb = 0; sb < superblocks_; sb++)
            check_superblock(sb, queued[sb], held);
        for (uint c = 0; c < classes(); c++) {
            const kma_sb_class &cls = heap_->classes[c];
            const kma_sb_offer offer = offer_of(c);
            shim::check(offer.superblock == KMA_SB_NONE || offer.superblock < superblocks_, "an offer of nothing");
            shim::check(offer.superblock == KMA_SB_NONE || content(offer.superblock) == c,
                        "a class offers a superblock of another");
            shim::check(offer.superblock != KMA_SB_NONE || kma_sb_left(offer, cls.slots) == 0, "an offer of nothing");
            uint members = 0;
            for (uint sb = 0; sb < superblocks_; sb++)
                members += in_set(c, sb);
            shim::check(kma_load_u32(&heap_->classes[c].partial.count, KMA_RELAXED) == members,
                        "a set does not count its members");
        }
    }

    // How many blocks of a class a lone caller must get, at rest.
    uint capacity(uint units_of_block) const
    {
        const uint c = kma_class_of(units_of_block);
        uint blocks = 0;
        for (uint sb = 0; sb < superblocks_; sb++) {
            const uint what = content(sb);
            const uint used = taken(sb);
            if (what & KMA_SB_FREE || (what != c && used == 0))
                blocks += slots_of(units_of_block);
            else if (what == c)
                blocks += slots_of(units_of_block) - used;
        }
        return blocks;
    }

    void check_log(uint code, uint expected, const char *what)
    {
        shim::check(kma_load_u32(&heap_->header.errors.count[code], KMA_RELAXED) == expected, what);
        const kma_error_record *records = &heap_->header.errors.first[code * KMA_ERROR_KEPT];
        for (uint n = 0; n < KMA_ERROR_KEPT; n++)
            shim::check(records[n].written == (n < expected), "an error record is missing, or one too many");
    }

private:
    template <class T> void construct_array(uint at, uint count)
    {
        for (uint i = 0; i < count; i++)
            shim::objects.construct<T>(memory_ + size_t{at} * KMA_UNIT + i * sizeof(T));
    }

    uchar *place_of(uint unit) { return memory_ + (size_t{heap_->plan.begin} + unit) * KMA_UNIT; }

    KMA_PLAIN(uint) & owner(uint unit) { return reinterpret_cast<KMA_PLAIN(uint) *>(owner_memory_)[unit]; }

    uint content(uint sb) const { return kma_load_u32(&kma_sb_state_of(heap_, sb)->content, KMA_RELAXED); }
    kma_sb_offer offer_of(uint c) const { return kma_sb_look(heap_, c); }

    uint taken(uint sb) const
    {
        uint bits = 0;
        for (uint word = 0; word < heap_->plan.bitmap_words; word++)
            bits += popcount(kma_load_u32(&kma_sb_bitmap(heap_, sb)[word], KMA_RELAXED));
        return bits;
    }

    bool in_set(uint c, uint sb) const
    {
        return (kma_load_u32(&kma_sb_set(heap_, c)[sb / 32], KMA_RELAXED) >> sb % 32 & 1) != 0;
    }

    void check_queue(bool (&queued)[most_superblocks])
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

    void check_superblock(uint sb, bool queued, const block_list &held)
    {
        const uint what = content(sb);
        const uint word = kma_load_u32(&kma_sb_state_of(heap_, sb)->credit, KMA_RELAXED);
        const bool kept = (word & KMA_SB_KEPT) != 0;
        const uint credit = kma_sb_count(word);
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
            shim::check(kma_class_of(each.units) == what, "a block of another class than its superblock");
            const uint slot = (each.first & ((1u << shift_) - 1)) / each.units;
            shim::check(kma_sb_is_set(kma_sb_bitmap(heap_, sb), slot), "a block that is held is not taken");
            shim::check(usable_size(each) == each.units * KMA_UNIT, "usable size");
        }
        shim::check(taken(sb) == mine, "a block is taken that nobody holds");
        shim::check(offers + sets + queued <= 1, "a superblock is in two places");
        if (queued) {
            shim::check((what & KMA_SB_FREE) != 0, "a superblock in the queue is not free");
            shim::check(kept && credit == 0, "a free superblock's credit");
            return;
        }
        shim::check(what < classes(), "a free superblock is not in the queue");
        const uint slots = heap_->classes[what].slots;
        const uint on_offer = offers ? kma_sb_left(offer_of(what), slots) : 0;
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
    kma_superblock *heap_ = nullptr;
    kma_queue *queue_ = nullptr;
    alignas(64) uchar owner_memory_[most_units * sizeof(KMA_PLAIN(uint))];
    alignas(64) uchar memory_[sizeof(kma_superblock) + 16384 + most_units * KMA_UNIT];
};
