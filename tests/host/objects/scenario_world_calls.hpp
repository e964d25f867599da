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
        check_open_end();
        check_finds();
        check_roomy();
        check_many();
        check_hidden();
        check_full();
        check_lanes();
        check_lanes_many();
        check_lanes_apart();
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
                const kma_world_taken taken = kma_world_claim_found(it.w, T, block, 1, 5);
                shim::check(taken.slots == 0 && taken.room == 0, "a slot where there is none for the class");
                shim::check(!it.world.is_active(T, block), "a wrong hint is not mended");
                it.check();
                it.changes_nothing([&] { kma_world_claim_found(it.w, T, block, 1, 5); }); // by a hint of the place alone
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
            const uint most = (T == all ? 2 : 0) + 16 / KMA_WORLD_ROOMY_SHARE;
            for (const uint roomy : {~0u, 0u, 1u, most - 1, most, most + 1}) {
                kma_store_u32(&it.roomy(T), roomy, KMA_RELAXED);
                shim::check(kma_world_may_begin(it.w, T) == (roomy == ~0u || roomy < most), "more blocks, or fewer");
            }
        }
        it.create(two, 3); // all the same, where active[two] has no block
        it.check();
    }

    // More free slots than a list has places: what is behind them is no hint.
    static void check_open_end()
    {
        subject it(1);
        it.create(all, 1);
        it.world.enumerate(1u << all);
        const uint most = kma_world_open_most(1), behind = kma_world_ref(0, 20);
        shim::check(most == 4 && kma_load_u32(&kma_world_class_at(it.w, all)->open[1], KMA_RELAXED) > most, "few slots");
        kma_world_open(it.w, all)[most] = behind;
        it.create(all, most + 1);
        shim::check(it.living.objects[most + 1].self != behind, "a slot from behind the list");
        it.check();
    }

    // A block is found wherever a search begins.
    static void check_finds()
    {
        subject it(40);
        kma_bit_tree_put(it.active(two), 40, 1);
        for (uint from = 0; from < 40; from++)
            shim::check(kma_world_find(it.w, it.active(two), from) == 1, "a tree's only block is not found");
        kma_bit_tree_take(it.active(two), 40, 1);
        shim::check(kma_world_find(it.w, it.active(two), 3) == KMA_BIT_TREE_NONE, "a block of an empty tree");
    }

    // The count of blocks with free slots; and blocks that begin beside the last one.
    static void check_roomy()
    {
        subject it(40);
        const auto counts = [&](uint T, uint right) {
            shim::check(kma_load_u32(&it.roomy(T), KMA_RELAXED) == right, "another number of blocks with free slots");
        };
        for (uint i = 0; i < 12; i++) { // whose blocks are full at once
            it.create(one, 1);
            counts(one, 0);
        }
        for (uint i = 1; i < 12; i++)
            shim::check(it.block(i) == it.block(i - 1) + 1 || it.block(i - 1) == 39, "a block is not beside the last one");
        for (uint i = 0; i < 6; i++) {
            it.create(three, 1);
            counts(three, i % 3 == 2 ? 0 : 1);
        }
        it.remove(14); // the second block of three has no free slot: the first one gets one
        counts(three, 1);
        it.remove(12);
        counts(three, 1);
        it.remove(12); // and ends
        counts(three, 0);
        it.remove(0);
        counts(one, 0);
        it.forget_hints();
        const uint before = it.block(it.living.count - 1);
        it.create(three, 1); // in a free block first, though one of three's has room
        counts(three, 1);
        it.forget_hints();
        it.create(three, 1);
        counts(three, 2);
        shim::check(it.block(it.living.count - 1) != before, "a look in active[T] before it has many blocks");
        it.check();
    }

    // Several at once: from the list, in its order, then elsewhere; none; more than there is memory for.
    static void check_many()
    {
        for (uint lists = 0; lists < 3; lists++) { // enumerations before
            subject it(8);
            it.create(three, 4);
            it.remove(1);
            for (uint i = 0; i < lists; i++)
                it.world.enumerate(1u << three);
            it.forget_hints();
            uint refs[32];
            shim::check(kma_world_new_many(it.w, three, 0, refs) == 0, "one of none");
            const uint room = it.world.room(three), listed = lists != 0 ? 3 : 0;
            for (const uint count : {2u, 7u, 2u, 32u}) {
                const uint left = it.world.room(three), made = kma_world_new_many(it.w, three, count, refs);
                shim::check(made == std::min(count, left), "more or fewer than there is room for");
                for (uint i = 0; i < made; i++) {
                    const uint number = room - left + i;
                    shim::check(number >= listed || refs[i] == kma_world_open(it.w, three)[number], "not the list's slot");
                    it.living.push({refs[i], three, 0});
                }
                if (made < count)
                    it.fails(KMA_ERROR_OUT_OF_MEMORY, 0, 16);
                it.check();
            }
            it.remove_all();
        }
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
                it.forget_hints();
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
            shim::check(steps <= (KMA_OBJECTS_HIERARCHY ? 13 : 16) || time < 8, "without memory a request has many steps");
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

    // Lanes that want different numbers, of one class or two, with a list of free slots or not.
    static void check_lanes_many()
    {
        for (const uint lanes : {1u, 5u, 32u, 64u})
            for (const uint mixed : {1u, 2u})
                for (const bool is_listed : {false, true}) {
                    subject it(48);
                    it.create(all, 9);
                    it.create(two, 5);
                    if (is_listed)
                        it.world.enumerate((1u << tiny::classes) - 1);
                    uint got[64][5], made[64];
                    const auto class_of = [mixed](uint lane) { return lane % mixed == 0 ? all : two; };
                    const auto count_of = [mixed](uint lane) { return lane * 7 / 2 % (mixed == 1 ? 6 : 3); };
                    shim::lockstep::run(lanes, 0, [&](uint lane) {
                        made[lane] = kma_world_new_many(it.w, class_of(lane), count_of(lane), got[lane]);
                    });
                    uint of_all = 0;
                    for (uint lane = 0; lane < lanes; lane++) {
                        shim::check(made[lane] == count_of(lane), "a lane gets fewer, and there is room");
                        of_all += class_of(lane) == all ? made[lane] : 0;
                        for (uint i = 0; i < made[lane]; i++)
                            it.living.push({got[lane][i], class_of(lane), 0});
                    }
                    const uint places = kma_load_u32(&kma_world_class_at(it.w, all)->next[1], KMA_RELAXED);
                    shim::check(places == (is_listed ? of_all : 0), "more places of the list than lanes want");
                    it.remove_all();
                }
    }

    // Lanes of two worlds: some go on alone.
    static void check_lanes_apart()
    {
        for (const bool is_listed : {false, true}) {
            subject first(8), second(8);
            subject *const its[2] = {&first, &second};
            uint got[64][2], made[64], one_more[64];
            for (subject *it : its) {
                it->create(three, 1);
                it->create(two, 1);
                if (is_listed)
                    it->world.enumerate((1u << tiny::classes) - 1);
            }
            shim::lockstep::run(9, 0, [&](uint lane) {
                made[lane] = kma_world_new_many(its[lane % 2]->w, three, 1 + lane % 3 / 2, got[lane]);
                one_more[lane] = kma_world_new(its[lane % 2]->w, lane % 4 < 2 ? two : three);
            });
            for (uint lane = 0; lane < 9; lane++) {
                shim::check(made[lane] == 1 + lane % 3 / 2 && one_more[lane] != 0, "a lane alone gets fewer");
                for (uint i = 0; i < made[lane]; i++)
                    its[lane % 2]->living.push({got[lane][i], three, 0});
                its[lane % 2]->living.push({one_more[lane], lane % 4 < 2 ? two : three, 0});
            }
            for (subject *it : its)
                it->remove_all();
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
