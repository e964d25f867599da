// Words of slots, references and layouts of an object store, against plain computation.
#pragma once

#include "objects/tiny_world.hpp"

namespace calls {

// The slots that are clear in `state` from `turn` on, round about, `want` of them.
inline kma_slots plain_choice(kma_slots state, uint want, uint turn)
{
    kma_slots chosen = 0;
    for (uint i = 0; i < KMA_SLOTS_BITS; i++) {
        const kma_slots bit = kma_slots{1} << (turn + i) % KMA_SLOTS_BITS;
        if ((state & bit) == 0 && want != 0) {
            chosen |= bit;
            want--;
        }
    }
    return chosen;
}

// Empty, full, one slot, all but one, halves, and as they come.
inline kma_slots slots_like(uint number)
{
    const auto some = static_cast<kma_slots>(ulong{kma_mix32(number)} << 32 | kma_mix32(number + 9999));
    switch (number % 5) {
    case 0: return number == 0 ? 0 : kma_slots{1} << number % KMA_SLOTS_BITS;
    case 1: return number == 1 ? KMA_SLOTS_ALL : static_cast<kma_slots>(~(kma_slots{1} << number % KMA_SLOTS_BITS));
    case 2: return KMA_SLOTS_ALL << number % KMA_SLOTS_BITS;
    case 3: return KMA_SLOTS_ALL >> number % KMA_SLOTS_BITS;
    default: return some;
    }
}

inline void check_world_slots()
{
    static_assert(KMA_SLOTS_BITS == 8 * sizeof(kma_slots));
    shim::check(kma_slots_below(0) == 0 && kma_slots_below(KMA_SLOTS_BITS) == KMA_SLOTS_ALL, "no slot, and all");
    shim::check(kma_slots_pad(KMA_SLOTS_BITS) == 0 && kma_slots_pad(0) == KMA_SLOTS_ALL, "a class of all slots has no pad");
    for (uint n = 0; n < KMA_SLOTS_BITS; n++) {
        const kma_slots below = (kma_slots{1} << n) - 1;
        shim::check(kma_slots_bit(n) == kma_slots{1} << n && kma_slots_bit(n + KMA_SLOTS_BITS) == kma_slots_bit(n), "a slot's bit");
        shim::check(kma_slots_below(n) == below && kma_slots_pad(n) == static_cast<kma_slots>(~below), "the first slots, and the rest");
    }
    for (uint number = 0; number < 400; number++) {
        const kma_slots slots = slots_like(number);
        uint n = 0;
        for (uint slot = 0; slot < KMA_SLOTS_BITS; slot++)
            if ((slots >> slot & 1) != 0)
                shim::check(kma_slots_nth(slots, n++) == slot, "the n-th slot");
        shim::check(kma_slots_count(slots) == n, "how many slots");
        for (uint turn = 0; turn < KMA_SLOTS_BITS; turn++) {
            shim::check(kma_slots_turned(slots, turn) == std::rotr(slots, static_cast<int>(turn)), "slots that are turned");
            for (const uint want : {1u, 2u, 3u, KMA_SLOTS_BITS - 1, KMA_SLOTS_BITS, KMA_SLOTS_BITS + 5})
                for (const uint from : {turn, turn + 7 * KMA_SLOTS_BITS})
                    shim::check(kma_slots_choose(slots, want, from) == plain_choice(slots, want, from), "the slots that one wants");
        }
    }
}

inline void check_world_references()
{
    for (const uint block : {0u, 1u, 2u, 31u, 1000u, KMA_WORLD_BLOCKS_MOST - 1})
        for (uint slot = 0; slot < 64; slot++) {
            const uint self = kma_world_ref(block, slot);
            shim::check(self != 0 && kma_world_block_of(self) == block && kma_world_slot_of(self) == slot, "a reference");
        }
    shim::check(kma_world_block_of(0) >= KMA_WORLD_BLOCKS_MOST, "NULL's block is one");
    alignas(128) static uchar memory[KMA_WORLD_BEGIN(KMA_WORLD_CLASSES) + 4 * KMA_WORLD_BLOCK_BYTES];
    auto *const w = reinterpret_cast<kma_world *>(memory);
    for (uint block = 0; block < 4; block++)
        for (uint slot = 0; slot < 16; slot++)
            shim::check(static_cast<uchar *>(kma_world_field(w, kma_world_ref(block, slot), 24, 8)) ==
                            memory + KMA_WORLD_BEGIN(KMA_WORLD_CLASSES) + block * KMA_WORLD_BLOCK_BYTES + 24 + slot * 8,
                        "where a field is");
}

inline void check_world_layout()
{
    static_assert(sizeof(kma_world_block) == 32 && sizeof(kma_world_class) == 128);
    for (const ulong bytes : {ulong{0}, ulong{1}, ulong{127}, ulong{128}, ulong{129}, ulong{1} << 33})
        shim::check(kma_world_up(bytes) == (bytes + 127) / 128 * 128, "bytes of whole lines");
    for (const uint classes : {1u, 2u, 5u, KMA_WORLD_CLASSES_MOST})
        for (const uint blocks : {1u, 2u, 3u, 31u, 32u, 33u, 1000u, KMA_WORLD_BLOCKS_MOST}) {
            const ulong begin = KMA_WORLD_BEGIN(classes), behind = sizeof(kma_world) + classes * (128 + 4 * KMA_WORLD_HINTS);
            shim::check(begin >= behind && begin < behind + 128 && begin % 128 == 0, "where blocks begin");
            const kma_world_plan plan = kma_world_plan_of(classes, 384, blocks);
            const ulong tree = kma_world_up(4ul * kma_bit_tree_words(blocks));
            shim::check(plan.states == begin + 384ul * blocks, "where states begin");
            shim::check(plan.trees == kma_world_up(plan.states + 32ul * blocks), "where trees begin");
            shim::check(4ul * plan.tree_words == tree && plan.lists == plan.trees + tree * (classes + 1), "where lists begin");
            shim::check(plan.end == plan.lists + classes * kma_world_up(4ul * blocks), "where a world ends");
        }
}

} // namespace calls
