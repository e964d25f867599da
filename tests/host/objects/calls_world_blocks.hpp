// Single steps of an object store with its blocks, in states that only others' interleaved steps lead to, made by hand:
// a hint is mended, slots are claimed, a block begins, a late thread ends it, words contradict each other.
#pragma once

#include "objects/calls_world_kernels.hpp"

namespace calls {

// The two steps of mending, and a claim's result.
inline void check_world_mending()
{
    world_subject it(3);
    it.create(three, 1);
    const uint block = it.block(0);
    it.changes_nothing([&] { kma_world_mend(it.w, three, block); }); // it has room
    it.changes_nothing([&] { kma_world_mend(it.w, two, block); });   // there is no bit
    for (const uint left : {1u, 0u}) { // slots behind the claim
        const kma_world_taken taken = kma_world_claim(it.w, three, block, left != 0 ? 1 : 5, 2);
        shim::check(kma_slots_count(taken.slots) == 1 && taken.block == block && taken.room == left, "a slot of two");
        it.living.push({kma_world_ref(block, kma_lowest_bit(taken.slots)), three, 0});
        it.check();
    }
    const kma_world_taken taken = kma_world_claim_found(it.w, three, block, 1, 2);
    shim::check(taken.slots == 0 && taken.room == 0, "a slot of a full block");
    shim::check(!it.world.is_active(three, block), "a look at a full block leaves its hint");
    it.remove(1);
    shim::check(it.world.is_active(three, block), "a delete that makes room leaves no hint");
    it.check();
    for (uint turn = 0; turn < KMA_SLOTS_BITS; turn++) { // the first that is clear from there on
        world_subject other(1);
        other.create(all, 1);
        const kma_world_taken taken = kma_world_claim(other.w, all, 0, 1, turn);
        shim::check(taken.slots == kma_slots_bit(turn == 0 ? 1 : turn), "another slot than the one from which to look on");
    }
}

// So many at once of a block that begins.
inline void check_world_beginnings()
{
    for (uint T = 0; T < tiny::classes; T++)
        for (const uint want : {1u, 2u, 3u, 64u}) {
            world_subject it(3);
            const uint slots = tiny::slots_of(T), got = std::min(want, slots);
            const kma_world_taken taken = kma_world_take(it.w, T, want, 77, KMA_BIT_TREE_NONE, true);
            shim::check(taken.slots == kma_slots_below(got) && taken.room == (got < slots), "slots of a block that begins");
            shim::check(it.world.is_active(T, taken.block) == (got < slots), "a hint to a full block, or none");
            for (uint slot = 0; slot < got; slot++)
                it.living.push({kma_world_ref(taken.block, slot), T, 0});
            it.check();
            kma_world_give(it.w, T, taken.block, taken.slots); // all at once
            it.living.count = 0;
            it.check();
        }
}

// A thread is late to end a block, which others have ended and begun for another class since.
inline void check_world_late_ends()
{
    for (const bool is_hint : {true, false}) {
        world_subject it(2);
        it.create(three, 3);
        const uint block = it.block(0);
        it.remove(it.which_of(kma_world_ref(block, 0)));
        it.remove(it.which_of(kma_world_ref(block, 1)));
        shim::check(it.world.state(block) == kma_slots_pad(2), "the word is not as that of an empty block of class two");
        if (!is_hint) // another thread has seen the block full between
            kma_bit_tree_take(it.active(three), 2, block);
        kma_world_settle(it.w, two, block, kma_slots_pad(2) | 1, kma_slots_pad(2));
        it.check();
        it.create(three, 1);
        it.changes_nothing([&] { kma_world_settle(it.w, two, block, kma_slots_pad(2) | 1, kma_slots_pad(2)); });
    }
    world_subject alike(2, {1, 2, 2, KMA_SLOTS_BITS}); // of as many slots: it is empty, and ends as what it is
    alike.create(three, 1);
    const uint block = alike.block(0);
    alike.store(block, kma_slots_pad(2));
    kma_world_settle(alike.w, two, block, kma_slots_pad(2) | 1, kma_slots_pad(2));
    alike.living.count = 0;
    alike.check();
    shim::check(!alike.world.is_active(three, block), "a block ends, and its hint stays");
    world_subject quick(2); // a full block was empty, and another thread was quicker to take a slot
    quick.create(two, 2);
    const uint taken = quick.block(0), gone = kma_world_ref(taken, 0);
    quick.store(taken, quick.world.state(taken) & ~kma_slots{1});
    kma_world_settle(quick.w, two, taken, KMA_SLOTS_ALL, kma_slots_pad(2));
    quick.living.pop(quick.which_of(gone));
    quick.check();
}

// Words that contradict each other are recorded.
inline void check_world_damage()
{
    world_subject it(3);
    kma_bit_tree_take(kma_world_free(it.w), 3, 1);
    it.store(1, KMA_SLOTS_ALL - 1);
    kma_world_begin_at(it.w, two, 1, 1);
    it.living.push({kma_world_ref(1, 0), two, 0});
    it.fails(KMA_ERROR_DAMAGED, kma_world_ref(1, 0), 8);
    it.store(2, kma_slots_pad(2)); // of a free block: deleted twice at a time
    kma_world_settle(it.w, two, 2, KMA_SLOTS_ALL, kma_slots_pad(2));
    it.fails(KMA_ERROR_DAMAGED, kma_world_ref(2, 0), 8);
}

} // namespace calls
