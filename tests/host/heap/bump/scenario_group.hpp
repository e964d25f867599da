// The bump heap with one group of lanes and nobody else: a lane that gets nothing must not have fitted.
//
// The leader's add crosses the limit, and what is left then is the group's alone; no lane may come away empty while its
// own request still fits into what the group leaves. At width 1: small requests beside one that is too large to cross.
#pragma once

#ifndef KMA_BUMP_UNCHECKED
#define KMA_BUMP_UNCHECKED 64u // so that the last kind of request goes the way of large ones
#endif
#include "kma/heap/bump.cl"

template <uint threads> class scenario {
public:
    void before()
    {
        heap_ = shim::objects.construct<kma_bump>(memory_);
        kma_bump_init(heap_, sizeof(memory_), 0, 0, 1);
        variant_ = shim::random(request_kinds);
        for (uint id = 0; id < threads; id++)
            asked_[id] = got_[id] = 0;
    }

    void thread(uint me)
    {
        if (!shim::self().group)
            return beside_large(me);
        const kma_lanes group = kma_lanes_active();
        const bool whole = kma_lanes_count(group) == shim::group_lanes;
        if (!whole || me >= shim::group_lanes)
            return; // a part of the group would not be alone, nor would a second group
        asked_[me] = requests[variant_][shim::self().slot];
        got_[me] = kma_bump_take(heap_, group, asked_[me]);
    }

    void after()
    {
        const uint head = static_cast<uint>(kma_bump_load_head(&heap_->head, KMA_RELAXED));
        uint served = 0;
        for (uint id = 0; id < threads; id++) {
            if (got_[id] != 0) {
                served += asked_[id];
                shim::check(got_[id] >= heap_->header.begin && got_[id] + asked_[id] <= head, "a part outside");
                for (uint other = 0; other < id; other++)
                    shim::check(got_[other] == 0 || got_[other] + asked_[other] <= got_[id] ||
                                    got_[id] + asked_[id] <= got_[other],
                                "two parts overlap");
            } else if (asked_[id] != 0) {
                shim::check(asked_[id] > heap_->header.limit - head, "refused, though it fits and nobody else asks");
            }
        }
        shim::check(head == heap_->header.begin + served, "the head does not count what was served");
        shim::objects.destroy_all();
    }

private:
    // Without lanes: one asks for more than is ever added unseen, which refuses nobody else what fits.
    void beside_large(uint me)
    {
        asked_[me] = me == 0 ? KMA_BUMP_UNCHECKED + 1 : 1;
        got_[me] = kma_bump_take(heap_, kma_lanes_active(), asked_[me]);
    }

    static constexpr uint room = 8;
    static constexpr uint request_kinds = 6;
    static constexpr uint requests[request_kinds][shim::group_lanes] = {
        {9, 1, 1, 1}, {3, 3, 3, 1}, {1, 8, 0, 7}, {2, 2, 2, 2}, {8, 8, 8, 8}, {1, 100, 2, 3},
    };
    static constexpr size_t metadata = (sizeof(kma_bump) + KMA_UNIT - 1) / KMA_UNIT * KMA_UNIT;

    alignas(16) uchar memory_[metadata + room * KMA_UNIT];
    kma_bump *heap_;
    uint variant_ = 0;
    uint asked_[threads];
    uint got_[threads];
};
