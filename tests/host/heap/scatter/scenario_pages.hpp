// The scatter heap where its descendants are known to fail, three threads at a time, in heaps of a few pages:
//
//   resets   one empties the only pages there are, another wants them for another size, a third for the old one: no
//            block may be given twice, nor a page keep its size, nor a reservation that came too late stay
//   frees    two free the same block, a third its neighbour in the same word: each is free once, and one is told
//   runs     three want three pages each of as many regions of four, and begin at pages that another needs: a thread that
//            loses a page gives back what it has and goes on, and all must get theirs
//
// Checked: as in scenario_heap.hpp.
#pragma once

#include "heap/scatter/heap.hpp"

template <uint threads> class scenario {
public:
    void before()
    {
        variant_ = shim::random(shim::chosen.bound != 0 ? 2u : 1u << 16);
        frees_ = variant_ % 16 == 14;
        wants_runs_ = variant_ % 2 != 0;
        scatter_kind::vary(wants_runs_ ? 2 : variant_ / 2 % 4);
        shape_ = wants_runs_ ? runs : frees_ ? frees : resets[variant_ / 8 % std::size(resets)];
        heap_.init(shape_);
        if (wants_runs_) // anywhere
            kma_store_u32(&heap_.in.heap->next_run, variant_ / 2 % (shape_.count + 1), KMA_RELAXED);
        for (uint left = shape_.fill; left != 0; left--)
            held_[0].push(heap_.alloc(shape_.kinds[0], stamp(0)));
        for (uint n = held_[0].count; n-- != 0 && shape_.fill > 32;)
            if (held_[0].blocks[n].first < 32) // the others' bits are in another word than those of larger chunks
                heap_.free(held_[0].pop(n));
        if (shim::chosen.bound == 0)
            shim::plan_nap(min(threads, actors));
    }

    void thread(uint me)
    {
        if (me >= actors)
            return;
        if (frees_) {
            if (me == 0)
                heap_.free(held_[0].blocks[0]);
            else if (me == 1)
                heap_.free_again(held_[0].blocks[0]); // or the first is told
            else
                heap_.free(held_[0].blocks[1]);
            return;
        }
        block_list &mine = held_[me];
        if (wants_runs_) {
            const block run = heap_.alloc(96, stamp(me));
            shim::check(run.units != 0, "no run, though there is one for everybody");
            mine.push(run);
            return;
        }
        while (mine.count != 0)
            heap_.free(mine.pop(mine.count - 1));
        for (uint round = 0; round < 3; round++) {
            const block one = heap_.alloc(shape_.kinds[me], stamp(me));
            if (one.units == 0)
                continue;
            heap_.check_contents(one);
            if (round == 2)
                mine.push(one);
            else
                heap_.free(one);
        }
    }

    void after()
    {
        block_list living;
        if (frees_)
            held_[0].count = 0;
        for (block_list &each : held_)
            living.take(each);
        heap_.check_at_rest(living);
        while (living.count != 0)
            heap_.free(living.pop(living.count - 1));
        for (uint kind = 0; kind < shape_.kind_count; kind++)
            heap_.check_lone_caller(shape_.kinds[kind], living);
        shim::objects.destroy_all();
    }

private:
    static constexpr uint actors = 3;
    static constexpr heap_shape runs = {5, 4 * actors, 0, 0, 2, {96, 32}};
    static constexpr heap_shape frees = {5, 1, 2, 0, 2, {8, 32}};
    static constexpr heap_shape resets[] = {
        {5, 1, 1, 0, 3, {32, 16, 32}}, {5, 1, 2, 0, 3, {16, 10, 16}}, {5, 1, 1, 0, 3, {16, 32, 16}},
        {5, 2, 2, 0, 3, {32, 16, 64}}, {5, 1, 3, 0, 3, {10, 32, 8}},  {6, 2, 1, 0, 3, {128, 64, 32}},
        {5, 2, 2, 0, 3, {16, 16, 64}}, {6, 1, 35, 0, 3, {1, 32, 32}},
    };

    uint stamp(uint me) { return (me + 1) << 10 | ++stamps_[me]; }

    tiny_heap<scatter_kind> heap_;
    block_list held_[max(threads, actors)];
    uint stamps_[max(threads, actors)] = {};
    heap_shape shape_{};
    bool wants_runs_ = false;
    bool frees_ = false;
    uint variant_ = 0;
};
