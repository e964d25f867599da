// The object store: threads create objects of three classes in a few blocks, stamp them, and delete their own and those
// that others handed to them; with memory for all, or not. Blocks fill, end and begin for another class meanwhile,
// while threads are stopped in the middle of an operation; hints may be wrong from the start.
//
// Checked: what world_crew.hpp says, and that a thread gets nothing only for want of memory.
#pragma once

#include "objects/world_crew.hpp"

template <uint threads> class scenario {
public:
    void before()
    {
        is_search_ = shim::chosen.bound != 0;
        variant_ = left_ = shim::random(is_search_ ? 16u : 1u << 20);
        static constexpr uint sizes[] = {1, 2, 3, 5, 2, 4, 3, most_blocks};
        static constexpr uint slots[][tiny::classes] = {{1, 2, 3}, {2, 3, 2}, {3, 1, 2}, {2, 2, 1}, {3, 3, 1}, {1, 1, 1}};
        const uint blocks = sizes[choose(8, 2)];
        is_roomy_ = blocks == most_blocks;
        const bool is_misled = choose(2, 2) == 1, is_early = choose(3, 2) != 0;
        crew_.store.make(blocks, slots[choose(std::size(slots), 2)]);
        static constexpr uint looks[] = {8, 1, 2};
        tiny::looks = looks[choose(3, 1)];
        const uint listed = choose(3, 2); // classes whose slots are listed before or after the first creations
        shim::place_items = choose(2, 1) == 0 ? 4 : 1;
        is_in_step_ = choose(2, 1) == 1;
        used_ = tiny::classes - choose(3, 1);
        mail_ = shim::objects.construct<kma_atomic_u32>(mail_memory_);
        kma_store_u32(mail_, 0, KMA_RELAXED);
        if (is_misled)
            crew_.put_wrong_hints(variant_);
        if (is_early)
            for (uint me = 0; me < threads; me++)
                create(me, number(me, most_rounds));
        if (listed != 0)
            crew_.store.enumerate(listed == 1 ? (1u << tiny::classes) - 1 : variant_ % (1u << tiny::classes));
        shim::plan_nap(threads);
    }

    void thread(uint me)
    {
        for (uint round = 0; round < rounds(); round++) {
            const uint n = number(me, round), held = crew_.held[me].count;
            if (held == 0 || (held < most_held && n % 16 < 9))
                create(me, n);
            else
                crew_.remove(me, n / 16 % held);
        }
    }

    void after()
    {
        crew_.check_rest(variant_, kma_load_u32(mail_, KMA_RELAXED));
        shim::place_items = 4;
        shim::objects.destroy_all();
    }

private:
    static constexpr uint most_held = 3; // by one thread
    static constexpr uint most_rounds = 40;
    static constexpr uint roomy_rounds = shim::is_model_checker ? 2 : 12;
    static constexpr uint most_blocks = threads * (roomy_rounds + 1) + 1; // one that nobody ever begins

    uint rounds() const
    {
        if (is_roomy_)
            return roomy_rounds;
        return shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 4 : most_rounds;
    }
    // One of so many ways, of fewer in a search.
    uint choose(uint ways, uint searched)
    {
        const uint n = is_search_ ? searched : ways;
        return std::exchange(left_, left_ / n) % n;
    }
    // What a thread does in a round. Lanes that do the same create and delete together more often.
    uint number(uint me, uint round) const
    {
        const uint actor = is_in_step_ ? me / shim::group_lanes : me;
        return kma_mix32(variant_ * 64 + actor * 4099 + round * 65537 + 1) >> 8;
    }

    void create(uint me, uint n)
    {
        const uint room = most_held - crew_.held[me].count, count = is_roomy_ ? 1 : std::min(1 + n / 256 % 2, room);
        if (!crew_.create(me, n / 16 % used_, count))
            shim::check(!is_roomy_, "there was memory, and a thread got none");
        else if (n / 64 % 4 == 0)
            hand_on(me);
    }

    // To the next thread that comes; and takes what is there.
    void hand_on(uint me)
    {
        tiny::object mine = crew_.held[me].pop(crew_.held[me].count - 1);
        mine.self = kma_exchange_u32(mail_, mine.self, KMA_ACQ_REL);
        if (mine.self == 0)
            return;
        mine.T = kma_world_type(crew_.store.w, mine.self) - 1;
        crew_.stamp(me, mine);
        crew_.held[me].push(mine);
    }

    tiny::crew<threads, most_blocks, most_held> crew_;
    alignas(kma_atomic_u32) uchar mail_memory_[sizeof(kma_atomic_u32)];
    kma_atomic_u32 *mail_ = nullptr; // an object, or 0
    uint variant_ = 0, left_ = 0;
    uint used_ = tiny::classes; // classes of which there are objects
    bool is_search_ = false;
    bool is_in_step_ = false;
    bool is_roomy_ = false; // memory for all
};
