// An array list over a bump heap: all threads let it grow by a few objects at a time, in blocks of few, with room for
// all, or not.
//
// Checked: each index is one thread's, and its object has memory of its own, in the list's order; a thread gets nothing
// only for want of memory; at the end size, credit and blocks add up, and a lone caller gets all that is left.
#pragma once

#define KMA_HEAP bump
#define KMA_ARRAY_LIST_PAGE_SHIFT 3u // Relacy's words are large
#include "lockfree/turn_patience.hpp"
inline uint array_list_extra = 0;
#define KMA_ARRAY_LIST_EXTRA array_list_extra
inline uint array_list_most_added = 0;
#define KMA_ARRAY_LIST_MOST_ADDED array_list_most_added
#include "kma/containers/array_list.cl"

template <uint threads> class scenario {
public:
    void before()
    {
        is_search_ = shim::chosen.bound != 0;
        variant_ = shim::random(is_search_ ? 3u : 1u << 16);
        turn_patience = is_search_ ? variant_ % 2 : variant_ % 2 * 3;
        array_list_extra = is_search_ ? 0 : 1;
        array_list_most_added = is_search_ || variant_ / 144 % 2 == 0 ? 2048 : 1; // by an add, or by compare-and-swaps
        heap_ = shim::objects.construct<kma_heap>(memory_);
        is_small_ = !is_search_ && variant_ / 2 % 3 == 0;
        constexpr size_t few = sizeof(kma_heap) + sizeof(kma_array_list) + 2 * block_bytes + sizeof(kma_array_list_page) + 80;
        kma_bump_init(heap_, is_small_ ? few : sizeof(memory_), 0, 0, 1);
        doublings_ = is_search_ ? 1 : variant_ / 24 % 3;
        const kma_ref ref = kma_array_list_new(heap_, object_bytes, 16, 1u << shift, 1u << (shift + doublings_));
        shim::check(ref != KMA_NULL, "the heap is too small for this test");
        list_ = kma_array_list_at(heap_, ref);
        // With all but one of the objects of the list's own entries somebody's, threads need a page, too.
        const bool is_near_page = is_search_ ? variant_ / 2 != 0 : !is_small_ && doublings_ == 0 && variant_ / 72 % 2 == 0;
        before_ = is_near_page ? room_of(KMA_ARRAY_LIST_ENTRIES) - 1 : 0;
        for (uint i = 0; i < before_; i++)
            shim::check(kma_array_list_grow(heap_, list_, 1) == i, "a lone caller does not get the next index");
    }

    void thread(uint me)
    {
        for (uint round = 0; round < rounds(); round++) {
            const uint n = wanted(me, round);
            const uint first = grow(n, variant_ / 6 + round);
            first_[me][round] = first;
            if (first == KMA_ARRAY_LIST_NONE) {
                shim::check(is_small_, "there was memory, and a thread got nothing");
                continue;
            }
            for (uint i = first; i < first + n; i++)
                *shim::objects.construct<KMA_PLAIN(uint)>(kma_array_list_get(heap_, list_, i)) = stamp(me, round);
            shim::check(kma_array_list_size(list_) >= first + n, "the size does not count what a thread has");
        }
    }

    void after()
    {
        bool taken[most_objects] = {};
        uint sum = before_;
        std::fill(taken, taken + before_, true);
        for (uint me = 0; me < threads; me++)
            for (uint round = 0; round < rounds(); round++) {
                const uint first = first_[me][round];
                if (first == KMA_ARRAY_LIST_NONE)
                    continue;
                sum += wanted(me, round);
                for (uint i = first; i < first + wanted(me, round); i++) {
                    shim::check(i < most_objects && !taken[i], "an index was given twice");
                    taken[i] = true;
                    const uint is = *static_cast<KMA_PLAIN(uint) *>(kma_array_list_get(heap_, list_, i));
                    shim::check(is == stamp(me, round), "an object is another's, too");
                }
            }
        shim::check(kma_array_list_size(list_) == sum, "the size is not the sum of what was given");
        for (uint i = 0; i < sum; i++)
            shim::check(taken[i], "an index below the size was given to nobody");
        const uint turns = kma_load_u32(&list_->growing, KMA_RELAXED) + kma_load_u32(&list_->bringing, KMA_RELAXED);
        shim::check(turns == 0, "a thread counts as about to bring blocks");
        const uint credit = kma_load_u32(&list_->credit, KMA_RELAXED);
        shim::check(sum + credit == room_of(blocks()), "size and credit are not what the blocks have");
        if (credit != 0)
            shim::check(kma_array_list_grow(heap_, list_, credit) == sum, "a lone caller does not get what is left");
        kma_array_list_clear(heap_, list_);
        shim::check(blocks() == 0, "a cleared list has blocks");
        shim::objects.destroy_all();
    }

private:
    // By any of the ways, if each thread is a group of its own; lanes that come together are not.
    uint grow(uint n, uint way)
    {
        kma_group_words words = {};
        return shim::chosen.width != 1 || way % 3 == 0 ? kma_array_list_grow(heap_, list_, n)
               : way % 3 == 1                           ? kma_array_list_grow_local(heap_, list_, n, &words)
                                                        : kma_array_list_grow_max(heap_, list_, n, &words);
    }

    static constexpr uint shift = shim::is_model_checker ? 1 : 2;
    static constexpr uint max_rounds = 6;
    static constexpr uint most_objects = threads * max_rounds * 3 + 40;
    static constexpr uint object_bytes = (sizeof(KMA_PLAIN(uint)) + 15) / 16 * 16;
    static constexpr size_t block_bytes = size_t{object_bytes} << shift;

    uint rounds() const { return shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 2 : max_rounds; }
    uint wanted(uint me, uint round) const { return 1 + (variant_ + me * 5 + round * 3) % (is_search_ ? 2 : 3); }
    static uint stamp(uint me, uint round) { return 1 + me * max_rounds + round; }

    uint room_of(uint blocks) const
    {
        uint sum = 0;
        for (uint block = 0; block < blocks; block++)
            sum += 1u << (shift + std::min(block, doublings_));
        return sum;
    }

    uint blocks()
    {
        uint count = 0;
        for (uint i = 0; i < KMA_ARRAY_LIST_ENTRIES; i++) {
            auto *page = static_cast<kma_array_list_page *>(kma_deref(heap_, kma_ref_load_acquire(&list_->pages[i])));
            auto *entries = i == 0 ? list_->own : page ? page->entries : nullptr;
            for (uint k = 0; entries && k < KMA_ARRAY_LIST_ENTRIES; k++) {
                const bool is_there = kma_ref_load_acquire(&entries[k]) != KMA_NULL;
                shim::check(!is_there || count == i * KMA_ARRAY_LIST_ENTRIES + k, "a block behind an entry without one");
                count += is_there;
            }
        }
        return count;
    }

    static constexpr size_t room =
        sizeof(kma_array_list) + KMA_ARRAY_LIST_ENTRIES * (threads + 1) * (sizeof(kma_array_list_page) + 16) +
        8 * (threads * max_rounds * 3 + 8) * (block_bytes + 16);
    alignas(16) uchar memory_[sizeof(kma_heap) + 16 + room];
    kma_heap *heap_;
    kma_array_list *list_;
    uint first_[threads][max_rounds] = {};
    uint variant_ = 0;
    uint doublings_ = 0;
    uint before_ = 0; // objects that were somebody's before the threads came
    bool is_search_ = false;
    bool is_small_ = false; // no room for all
};
