// The object store: threads create objects of three classes in a few blocks, stamp them, and delete their own and those that others
// handed to them; with memory for all, or not.
//
// Blocks fill, end and begin for another class meanwhile, under whoever is stopped in the middle of an operation; hints may be wrong from
// the start. Checked: an object is its owner's alone, and its field is ordered between owners, of whatever class; its class stays what it
// is; who gets nothing does so for want of memory; at rest all that blocks.cl promises, that a lone caller gets all that there is room
// for, and that all blocks are free once all objects are deleted.
#pragma once

#include "tiny_world.hpp"

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
        world_.make(blocks, slots[choose(std::size(slots), 2)]);
        static constexpr uint looks[] = {8, 1, 2};
        tiny::looks = looks[choose(3, 1)];
        shim::place_items = choose(2, 1) == 0 ? 4 : 1;
        is_in_step_ = choose(2, 1) == 1;
        used_ = tiny::classes - choose(3, 1);
        mail_ = shim::objects.construct<kma_atomic_u32>(mail_memory_);
        kma_store_u32(mail_, 0, KMA_RELAXED);
        if (is_misled)
            put_wrong_hints();
        if (is_early)
            for (uint me = 0; me < threads; me++)
                create(me, number(me, most_rounds));
        shim::plan_nap(threads);
    }

    void thread(uint me)
    {
        for (uint round = 0; round < rounds(); round++) {
            const uint n = number(me, round);
            if (held_[me].count == 0 || (held_[me].count < most_held && n % 16 < 9))
                create(me, n);
            else
                remove(me, n);
        }
    }

    void after()
    {
        objects living;
        for (uint me = 0; me < threads; me++) {
            world_.expected[KMA_ERROR_OUT_OF_MEMORY] += refused_[me];
            for (uint i = 0; i < held_[me].count; i++)
                living.push(held_[me].objects[i]);
        }
        if (const uint self = kma_load_u32(mail_, KMA_RELAXED))
            living.push({self, kma_world_type(world_.w, self) - 1, 0});
        world_.check_at_rest(living);
        // Who meets more wrong hints than he looks at finds what there is by a search, of which only so many may be in vain between two
        // enumerations.
        if (variant_ % 4 == 0 || tiny::looks < world_.blocks())
            world_.check_enumeration(living, 1 + variant_ % 3);
        world_.check_takes_all(variant_ / 16 % tiny::classes, living);
        world_.check_at_rest(living);
        while (living.count != 0) {
            const tiny::object one = living.pop(variant_ % living.count);
            world_.payload(one.self) = 0;
            kma_world_delete(world_.w, one.T, one.self);
        }
        world_.check_at_rest(living);
        shim::place_items = 4;
        shim::objects.destroy_all();
    }

private:
    static constexpr uint most_held = 3; // by one thread
    static constexpr uint most_rounds = 40;
    static constexpr uint roomy_rounds = shim::is_model_checker ? 2 : 12;
    static constexpr uint most_blocks = threads * (roomy_rounds + 1) + 1; // one that nobody ever begins
    using objects = typename tiny::world<most_blocks>::list;

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
        const uint who = is_in_step_ ? me / shim::group_lanes : me;
        return kma_mix32(variant_ * 64 + who * 4099 + round * 65537 + 1) >> 8;
    }

    // As whoever went on late leaves them: any hint may be of any block.
    void put_wrong_hints()
    {
        for (uint T = 0; T < tiny::classes; T++) {
            const uint n = number(T, most_rounds + 1);
            kma_bit_tree_put(kma_world_active(world_.w, T), world_.blocks(), n % world_.blocks());
            kma_bit_tree_put(kma_world_active(world_.w, T), world_.blocks(), n / 8 % world_.blocks());
            for (uint hint = 0; hint < KMA_WORLD_HINTS; hint++)
                kma_store_u32(&kma_world_hints(world_.w, T)[hint], (n / 64 + hint) % (world_.blocks() + 1), KMA_RELAXED);
        }
    }

    void create(uint me, uint n)
    {
        const uint T = n / 16 % used_;
        tiny::object mine = {kma_world_new(world_.w, T), T, 0};
        if (mine.self == 0) {
            shim::check(!is_roomy_, "there was memory, and a thread got none");
            refused_[me]++;
            return;
        }
        stamp(me, mine);
        if (n / 64 % 4 == 0) { // for whoever comes
            mine.self = kma_exchange_u32(mail_, mine.self, KMA_ACQ_REL);
            if (mine.self == 0)
                return;
            mine.T = kma_world_type(world_.w, mine.self) - 1;
            stamp(me, mine);
        }
        held_[me].push(mine);
    }

    void remove(uint me, uint n)
    {
        const tiny::object mine = held_[me].pop(n / 16 % held_[me].count);
        check_own(mine);
        kma_world_delete(world_.w, mine.T, mine.self);
    }

    // A read and a write that only the word of the block orders after another's.
    void stamp(uint me, tiny::object &mine)
    {
        mine.stamp = world_.payload(mine.self) / 16 * 16 + 16 + me;
        world_.payload(mine.self) = mine.stamp;
        shim::linger();
        check_own(mine);
    }

    void check_own(const tiny::object &mine)
    {
        shim::check(world_.payload(mine.self) == mine.stamp, "an object has two owners");
        shim::check(kma_world_type(world_.w, mine.self) == mine.T + 1, "an object's class is another");
    }

    tiny::world<most_blocks> world_;
    tiny::object_list<most_held> held_[threads];
    uint refused_[threads] = {}; // how often
    alignas(kma_atomic_u32) uchar mail_memory_[sizeof(kma_atomic_u32)];
    kma_atomic_u32 *mail_ = nullptr; // an object, or 0
    uint variant_ = 0, left_ = 0;
    uint used_ = tiny::classes; // classes of which there are objects
    bool is_search_ = false;
    bool is_in_step_ = false;
    bool is_roomy_ = false; // memory for all
};
