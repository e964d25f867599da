// Every function of an object store by a lone caller, at its edges: what it returns, what it leaves, and what the error
// log says; and lanes that come together, which a lone caller plays (shim/lockstep.hpp). Threads only.
#pragma once

#include "kma/objects/slots.cl"
#define KMA_TINY_CLASSES 4u
#define KMA_TINY_SLOTS   KMA_SLOTS_BITS // of the last class
#include "objects/calls_world_blocks.hpp"
#include "objects/calls_world_defragment.hpp"

template <uint threads> class scenario {
public:
    void before() {}
    void thread(uint) {}

    void after()
    {
        shim::is_lone = true;
        for (const uint items : {1u, 3u, 64u})
            for (const uint blocks : {1u, 8u, 33u})
                calls::check_world_init(items, blocks);
        calls::check_world_shares();
        calls::check_world_lists();
        calls::check_world_defragment();
        calls::check_world_mending();
        calls::check_world_beginnings();
        calls::check_world_late_ends();
        calls::check_world_damage();
        check_ends();
        check_wrong_deletions();
        check_wrong_hints();
        check_open();
        check_open_misled();
        check_hidden();
        check_full();
        check_lanes();
        check_lanes_together();
    }

private:
    using subject = calls::world_subject;
    using location = shim::location;
    static constexpr uint one = calls::one, two = calls::two, three = calls::three, all = calls::all;

    // All there is room for, by turns of classes; deleted in three orders.
    static void check_ends()
    {
        for (uint order = 0; order < 3; order++)
            for (uint T = 0; T < tiny::classes; T++) {
                subject it(5);
                it.create(T, 1);
                it.create((T + 1) % tiny::classes, 2);
                it.fill(T);
                it.check();
                shim::check(kma_world_new(it.w, T) == 0, "an object without memory");
                it.fails(KMA_ERROR_OUT_OF_MEMORY, 0, 4u << T);
                while (it.living.count != 0) {
                    it.remove(order == 0 ? 0 : order == 1 ? it.living.count - 1 : it.living.count / 2);
                    it.check();
                }
                it.fill(all);
                shim::check(it.living.count == 5 * KMA_SLOTS_BITS, "blocks are not all free again");
            }
    }

    // What is no object, or none any more.
    static void check_wrong_deletions()
    {
        subject it(4);
        it.create(three, 2);
        it.create(two, 1);
        const uint gone = it.remove(1).self, lives = it.living.objects[0].self, other = it.living.objects[1].self;
        it.create(one, 1);
        const uint lone = it.remove(2).self; // and its block ends
        it.changes_nothing([&] { kma_world_delete(it.w, three, 0); });
        it.check();
        for (const uint wild : {1u, kma_world_ref(4, 0), ~0u})
            shim::check(kma_world_type(it.w, wild) == 0, "a block that there is not has a class");
        const struct {
            uint T, self;
            bool is_double;
        } wrongs[] = {{three, gone, true},
                      {one, lone, true},
                      {all, lone, true},
                      {two, lives, false},
                      {all, other, false},
                      {three, lives - kma_world_slot_of(lives) + 3, false}, // the class has no such slot
                      {two, other | KMA_WORLD_SLOT_MASK, false},
                      {three, kma_world_ref(4, 0), false}, // there is no such block
                      {three, 1, false},
                      {three, ~0u, false}};
        for (const auto &[T, self, is_double] : wrongs) {
            it.changes_nothing([&, t = T, s = self] { kma_world_delete(it.w, t, s); });
            it.fails(is_double ? KMA_ERROR_DOUBLE_FREE : KMA_ERROR_INVALID_FREE, self, 4u << T);
        }
        it.remove_all();
    }

    // Bits in active[T] that should not be there: a caller that meets them takes them out, and touches nothing else.
    static void check_wrong_hints()
    {
        subject it(6);
        it.create(two, 2);
        it.create(three, 2);
        it.create(one, 1);
        it.create(all, 1);
        for (uint block = 0; block < 6; block++)
            for (uint T = 0; T < tiny::classes; T++) {
                if (it.world.type(block) == T + 1 && it.world.state(block) != KMA_SLOTS_ALL)
                    continue;
                kma_bit_tree_put(it.active(T), 6, block);
                const kma_world_taken taken = kma_world_claim(it.w, T, block, 1, 5);
                shim::check(taken.slots == 0 && taken.room == 0, "a slot where there is none for the class");
                shim::check(!it.world.is_active(T, block), "a wrong hint is not mended");
                it.check();
                it.changes_nothing([&] { kma_world_claim(it.w, T, block, 1, 5); }); // as by a hint of the shard alone
                kma_bit_tree_put(it.active(T), 6, block);
            }
        it.check();
        for (uint T = 0; T < tiny::classes; T++) // by a caller that wants all there is
            it.fill(T);
        for (uint i = 0; i < tiny::classes * 6; i++)
            shim::check(!it.world.is_active(i / 6, i % 6), "a full block is a hint");
        it.check();
    }

    // Slots that the last enumeration found free, in the list's order; and after it some blocks, before others are used.
    static void check_open()
    {
        subject it(16);
        it.create(all, 20);
        it.world.enumerate(1u << all);
        for (uint i = 0; i < KMA_SLOTS_BITS - 20; i++) {
            it.create(all, 1);
            shim::check(it.living.objects[20 + i].self == kma_world_open(it.w, all)[i], "another slot than the list's");
        }
        it.check();
        kma_atomic_u32 &next = kma_world_class_at(it.w, all)->next[1];
        kma_store_u32(&next, KMA_WORLD_PLACES, KMA_RELAXED); // by so many callers
        it.create(all, 1);
        shim::check(kma_load_u32(&next, KMA_RELAXED) == KMA_WORLD_PLACES / 2, "the list begins again");
        it.world.enumerate((1u << tiny::classes) - 1);
        for (const uint T : {two, all}) { // listed: none, two
            const uint most = (T == all ? 2 : 0) + 16 / KMA_WORLD_BEGIN_SHARE;
            for (uint begun = 0; begun <= most; begun++)
                shim::check(kma_world_may_begin(it.w, T) == (begun < most), "a class may begin more blocks, or fewer");
        }
        it.create(two, 3); // all the same, where active[two] has no block
        it.check();
    }

    // A listed slot that another caller took since; one of a block that has another class since; one of a free block
    // with a clear bit, as an object that was deleted twice leaves it.
    static void check_open_misled()
    {
        subject it(3);
        it.create(three, 1);
        it.world.enumerate(1u << three);
        const uint block = it.block(0), taken = kma_world_open(it.w, three)[0];
        kma_slots_fetch_or(&kma_world_block_at(it.w, block)->state, kma_slots_bit(kma_world_slot_of(taken)), KMA_RELAXED);
        it.living.push({taken, three, 0});
        it.create(three, 1);
        it.check();
        it.remove_all();
        subject late(1);
        late.create(three, 1);
        late.world.enumerate(1u << three);
        late.remove(0);
        late.create(two, 1);
        for (uint time = 0; time < 2; time++) {
            shim::check(kma_world_new(late.w, three) == 0, "a slot of another class's block");
            late.fails(KMA_ERROR_OUT_OF_MEMORY, 0, 16);
        }
        late.create(two, 1);
        late.check();
        subject twice(3);
        twice.create(three, 1);
        twice.world.enumerate(1u << three);
        const uint other = (twice.block(0) + 1) % 3;
        twice.store(other, KMA_SLOTS_ALL - 1);
        kma_world_open(twice.w, three)[0] = kma_world_ref(other, 0);
        twice.create(three, 1);
        twice.fails(KMA_ERROR_DAMAGED, kma_world_ref(other, 0), 16);
    }

    // Bits above level 0 that are gone, as a thread that was stopped in the tree leaves them: a search finds what is
    // there. A caller that looks at level 0 anyway finds it at once.
    static void check_hidden()
    {
        for (uint level = 1; level < 3; level++)
            for (const bool is_free : {false, true}) {
                subject it(8);
                it.create(three, 1);
                if (!is_free)
                    it.fill(all);
                const uint T = is_free ? two : three;
                kma_atomic_u32 *const tree = is_free ? kma_world_free(it.w) : it.active(three);
                for (uint node = 0; node < kma_bit_tree_nodes(8, level); node++)
                    kma_store_u32(tree + kma_bit_tree_base(8, level) + node, 0, KMA_RELAXED);
                for (uint hint = 0; hint < KMA_WORLD_HINTS; hint++)
                    kma_store_u32(&kma_world_hints(it.w, T)[hint], 0, KMA_RELAXED);
                kma_store_u32(&it.w->searching, 8, KMA_RELAXED); // so many have done so in vain
                const uint self = kma_world_new(it.w, T);
                shim::check((self != 0) == !KMA_OBJECTS_HIERARCHY && it.searching() == 8, "without a search");
                if (self != 0)
                    it.living.push({self, T, 0});
                it.world.expected[KMA_ERROR_OUT_OF_MEMORY] += self == 0;
                kma_store_u32(&it.w->searching, 7, KMA_RELAXED);
                it.create(T, 1);
                shim::check(it.searching() == 7, "a caller that has found something counts");
                kma_store_u32(&it.w->searching, 0, KMA_RELAXED);
                it.check(false);
            }
    }

    // Without memory: a search each time, so often; then few steps.
    static void check_full()
    {
        subject it(4);
        it.fill(two);
        for (uint time = 1; time < 12; time++) {
            const uint before = shim::self().operations, self = kma_world_new(it.w, three);
            const uint steps = shim::self().operations - before;
            shim::check(steps <= (KMA_OBJECTS_HIERARCHY ? 10 : 13) || time < 8, "without memory a request has many steps");
            shim::check(self == 0 && it.searching() == std::min(time + 1, 8u), "searches in vain");
            it.fails(KMA_ERROR_OUT_OF_MEMORY, 0, 16);
        }
        it.remove(3); // and room is seen at once
        it.create(two, 1);
        it.check();
    }

    // Lanes of several classes, with memory for all or not; then all delete what they have.
    static void check_lanes()
    {
        for (const uint lanes : {1u, 2u, 5u, 32u, 64u})
            for (const uint mixed : {1u, 2u, 4u})
                for (const uint blocks : {3u, 48u}) {
                    subject it(blocks);
                    uint got[64], served = 0;
                    const auto class_of = [mixed](uint lane) { return two + lane % mixed % 3; };
                    shim::lockstep::run(lanes, 0, [&](uint lane) { got[lane] = kma_world_new(it.w, class_of(lane)); });
                    for (uint lane = 0; lane < lanes; lane++)
                        if (got[lane] != 0) {
                            it.living.push({got[lane], class_of(lane), 0});
                            served++;
                        }
                    it.world.expected[KMA_ERROR_OUT_OF_MEMORY] += lanes - served;
                    it.check();
                    shim::check(mixed == 1 ? served == std::min(lanes, 2 * blocks) : served == lanes || blocks == 3,
                                "a lane gets nothing, and there is room");
                    shim::lockstep::run(lanes, 0, [&](uint lane) { kma_world_delete(it.w, class_of(lane), got[lane]); });
                    it.living.count = 0;
                    it.check();
                }
    }

    // As many as there is room for in one block, by one step; and one object that two lanes delete.
    static void check_lanes_together()
    {
        subject it(2);
        uint got[64];
        shim::lockstep::run(20, 0, [&](uint lane) { got[lane] = kma_world_new(it.w, all); });
        for (uint lane = 0; lane < 20; lane++) {
            shim::check(got[lane] == got[0] + lane && kma_world_slot_of(got[0]) == 0, "slots are not in the lanes' order");
            it.living.push({got[lane], all, 0});
        }
        it.check();
        shim::lockstep::run(10, 0, [&](uint lane) { kma_world_delete(it.w, all, got[lane == 7 ? 3 : lane]); });
        for (const uint lane : {9, 8, 6, 5, 4, 3, 2, 1, 0})
            it.living.pop(lane);
        it.fails(KMA_ERROR_DOUBLE_FREE, got[3], 4u << all);
        const uint left = it.living.count;
        shim::lockstep::run(left + 9, 0, [&](uint lane) { // of two classes, and nothing
            const uint wrong = lane % 3 == 0 ? 0 : kma_world_ref(5, lane);
            kma_world_delete(it.w, lane < left ? all : two, lane < left ? it.living.objects[lane].self : wrong);
        });
        it.world.expected[KMA_ERROR_INVALID_FREE] += 6;
        it.living.count = 0;
        it.check();
    }
};
