// Threads that create, stamp and delete objects of a tiny world, and what must hold when all have ended.
//
// Checked: an object is its owner's alone, and its field is ordered between owners, of whatever class; its class stays
// what it is; at rest all that blocks.cl promises, that a lone caller gets all that there is room for, and that all
// blocks are free once all objects are deleted.
#pragma once

#include "objects/tiny_world.hpp"

namespace tiny {

template <uint threads, uint most_blocks, uint most_held> struct crew {
    world<most_blocks> store;
    object_list<most_held> held[threads];
    uint refused[threads] = {}; // how often a thread got nothing

    // False if there was no memory for all.
    bool create(uint me, uint T, uint count = 1)
    {
        uint refs[most_held] = {};
        uint made = 0;
        if (count == 1)
            made = (refs[0] = kma_world_new(store.w, T)) != 0;
        else
            made = kma_world_new_many(store.w, T, count, refs);
        shim::check(made <= count, "more objects than were asked for");
        for (uint i = 0; i < made; i++) {
            object mine = {refs[i], T, 0};
            stamp(me, mine);
            held[me].push(mine);
        }
        refused[me] += made < count ? 1 : 0;
        return made == count;
    }

    void remove(uint me, uint which)
    {
        const object mine = held[me].pop(which);
        check_own(mine);
        kma_world_delete(store.w, mine.T, mine.self);
    }

    // A read and a write that only the word of the block orders after another's.
    void stamp(uint me, object &mine)
    {
        mine.stamp = store.payload(mine.self) / 16 * 16 + 16 + me;
        store.payload(mine.self) = mine.stamp;
        shim::linger();
        check_own(mine);
    }

    void check_own(const object &mine)
    {
        shim::check(store.payload(mine.self) == mine.stamp, "an object has two owners");
        shim::check(kma_world_type(store.w, mine.self) == mine.T + 1, "an object's class is another");
    }

    // Any hint may be of any block, as a late thread leaves it.
    void put_wrong_hints(uint number)
    {
        for (uint T = 0; T < classes; T++) {
            const uint n = kma_mix32(number + T);
            kma_bit_tree_put(kma_world_active(store.w, T), store.blocks(), n % store.blocks());
            kma_bit_tree_put(kma_world_active(store.w, T), store.blocks(), n / 8 % store.blocks());
            global kma_world_class *of = kma_world_class_at(store.w, T);
            const uint open = n / 4096 % (kma_world_open_most(store.blocks()) + 1);
            kma_store_u32(&of->open[of->turn], open, KMA_RELAXED);
            for (uint i = 0; i < open; i++) // of any block and slot
                kma_world_open(store.w, T)[i] = kma_world_ref(kma_mix32(n + i) % store.blocks(), kma_mix32(n ^ i) % most_slots);
            for (uint hint = 0; hint < KMA_WORLD_HINTS; hint++)
                kma_store_u32(&kma_world_hints(store.w, T)[hint], (n / 64 + hint) % (store.blocks() + 1) | (n >> hint << 31), KMA_RELAXED);
        }
    }

    // Alone at the end. `also`: an object that nobody has, or 0.
    void check_rest(uint number, uint also = 0)
    {
        typename world<most_blocks>::list living;
        for (uint me = 0; me < threads; me++) {
            store.expected[KMA_ERROR_OUT_OF_MEMORY] += refused[me];
            for (uint i = 0; i < held[me].count; i++)
                living.push(held[me].objects[i]);
        }
        if (also != 0)
            living.push({also, kma_world_type(store.w, also) - 1, 0});
        store.check_at_rest(living);
        if (number % 4 == 0)
            store.check_enumeration(living, 1 + number % 3);
        store.check_takes_all(number / 16 % classes, living);
        store.check_at_rest(living);
        while (living.count != 0) {
            const object one = living.pop(number % living.count);
            store.payload(one.self) = 0;
            kma_world_delete(store.w, one.T, one.self);
            shim::self().operations = 0; // which are limited
        }
        store.check_at_rest(living);
    }
};

} // namespace tiny
