// The kernels of an object store, by a lone caller, as any number of work-groups of up to 64 work-items; and what the
// calls of an object store have in common.
#pragma once

#include <vector>

#include "objects/tiny_world.hpp"

namespace calls {

enum : uint { one, two, three, all }; // classes, by the slots that they mostly have

// A world of so many blocks and what is known to live there.
struct world_subject {
    using location = shim::location;
    tiny::world<48> world;
    tiny::world<48>::list living;
    kma_world *w;

    explicit world_subject(uint blocks) : world_subject(blocks, {1, 2, 3, KMA_SLOTS_BITS}) {}
    world_subject(uint blocks, const uint (&slots)[tiny::classes])
    {
        shim::begin_call();
        tiny::looks = 8;
        world.make(blocks, slots);
        w = world.w;
    }
    ~world_subject() { shim::objects.destroy_all(); }
    world_subject(const world_subject &) = delete;

    void create(uint T, uint count, location where = location::current())
    {
        while (count-- != 0) {
            const uint self = kma_world_new(w, T);
            shim::check(self != 0 && kma_world_type(w, self) == T + 1, "there is room, and one gets nothing", where);
            living.push({self, T, 0});
        }
    }
    tiny::object remove(uint which)
    {
        const tiny::object gone = living.pop(which);
        kma_world_delete(w, gone.T, gone.self);
        return gone;
    }
    void remove_all()
    {
        while (living.count != 0)
            remove(0);
        check();
    }
    // Its number among the living; their count, if it is none of them.
    uint which_of(uint self) const
    {
        const auto *const end = living.objects + living.count;
        return static_cast<uint>(std::ranges::find(living.objects, end, self, &tiny::object::self) - living.objects);
    }
    void fill(uint T) { world.check_takes_all(T, living); }

    kma_atomic_u32 *active(uint T) { return kma_world_active(w, T); }
    uint block(uint which) const { return kma_world_block_of(living.objects[which].self); }
    void store(uint block, kma_slots state) { kma_slots_store(&kma_world_block_at(w, block)->state, state, KMA_RELAXED); }
    kma_atomic_u32 &roomy(uint T)
    {
        global kma_world_class *of = kma_world_class_at(w, T);
        return of->roomy[of->turn];
    }
    void forget_hints()
    {
        for (uint T = 0; T < tiny::classes; T++)
            for (uint hint = 0; hint < KMA_WORLD_HINTS; hint++)
                kma_store_u32(&kma_world_hints(w, T)[hint], 0, KMA_RELAXED);
    }
    uint searching() const { return kma_load_u32(&w->searching, KMA_RELAXED); }
    void check(bool told = true, location where = location::current())
    {
        world.check_at_rest(living, told, where);
        shim::begin_call();
    }

    // Of all behind the header.
    template <class Call> void changes_nothing(const Call &call, location where = location::current())
    {
        const auto *const begin = reinterpret_cast<const uchar *>(w + 1);
        const auto *const end = reinterpret_cast<const uchar *>(w) + w->head.bytes;
        const std::vector<uchar> before(begin, end);
        call();
        shim::check(std::equal(begin, end, before.begin()), "a call changes what it should not", where);
    }

    // What was called must leave this record.
    void fails(uint code, uint ref, uint bytes, location where = location::current())
    {
        const uint n = world.expected[code]++;
        const kma_error_record &record = w->head.errors.first[code * KMA_ERROR_KEPT + n];
        shim::check(n >= KMA_ERROR_KEPT || (record.written == 1 && record.ref == ref && record.size == bytes),
                    "an error record tells something else", where);
        check(true, where);
    }
};

// Of memory that is full of something else; not if there is too little.
inline void check_world_init(uint items, uint count)
{
    world_subject it(count);
    const ulong bytes = it.w->head.bytes;
    auto *const memory = reinterpret_cast<uchar *>(it.w);
    std::fill_n(memory, bytes, uchar{0x5a});
    tiny::launch(items, [&] { kma_world_init_kernel(it.w, bytes - 1, count); });
    shim::check(std::all_of(memory, memory + bytes, [](uchar byte) { return byte == 0x5a; }), "too little memory");
    tiny::launch(items, [&] { kma_world_init_kernel(it.w, bytes, count); });
    for (uint block = 0; block < count; block++)
        shim::check(kma_world_block_at(it.w, block)->iterated == 0, "a new world has objects");
    for (uint T = 0; T < tiny::classes; T++) {
        kma_atomic_u32 *const hints = kma_world_hints(it.w, T);
        for (uint i = 0; i < KMA_WORLD_HINTS; i++)
            shim::check(kma_load_u32(&hints[i], KMA_RELAXED) == 0, "a new world has a hint");
        shim::check(kma_world_listed(it.w, T) == 0, "a new world has a list");
        it.fill(T);
        it.check();
        it.remove_all();
    }
    for (const uint blocks : {1000u, KMA_WORLD_BLOCKS_MOST}) { // more than there are in any test
        const kma_world_plan plan = kma_world_plan_of(5, 384, blocks);
        const ulong tree = kma_world_up(4ul * kma_bit_tree_words(blocks)), states = KMA_WORLD_BEGIN(5) + 384ul * blocks;
        shim::check(plan.states == states && plan.trees == kma_world_up(states + 32ul * blocks), "states and trees");
        shim::check(4ul * plan.tree_words == tree && plan.lists == plan.trees + tree * 6, "lists");
        shim::check(plan.open == plan.lists + 5 * kma_world_up(4ul * blocks), "free slots");
        shim::check(plan.end == plan.open + 5 * kma_world_up(16ul * blocks), "where a world ends");
    }
}

// Shares have each number once, in ranges or by turns, whether there are more work-items or more numbers.
inline void check_world_shares()
{
    for (const uint n : {0u, 1u, 5u, 64u, 65u})
        for (const uint items : {1u, 3u, 64u, 100u})
            for (const bool in_ranges : {false, true}) {
                std::vector<uint> met(n);
                for (uint me = 0; me < items; me++) {
                    const kma_world_share share = kma_world_share_of(n, me, items, in_ranges);
                    uint its = 0;
                    for (uint i = share.kma_at; i < share.kma_end; i += share.kma_step, its++)
                        shim::check(i < n && met[i]++ == 0, "a number that there is not, or in two shares");
                    shim::check(its <= n / items + 1, "a share is larger than others");
                }
                shim::check(std::ranges::count(met, 1u) == n, "a number is in no share");
            }
}

// Objects that come and go between enumerations, by groups of any size; a loop may be left, or go on.
inline void check_world_lists()
{
    for (const uint groups : {1u, 2u, 5u})
        for (const uint lanes : {1u, 2u, 31u, 32u, 33u, 64u}) {
            world_subject it(40);
            for (uint round = 0; round < 4; round++) {
                it.world.check_enumeration(it.living, groups, lanes);
                for (uint i = 0; i < 24; i++)
                    it.create(kma_mix32(lanes + i * 64) % tiny::classes, 1);
                it.world.check_enumeration(it.living, groups, lanes);
                for (uint i = 0; i < 15; i++)
                    it.remove(kma_mix32(i) % it.living.count);
                it.check();
            }
        }
    world_subject it(9);
    it.create(two, 5);
    it.create(all, 4);
    it.world.check_enumeration(it.living, 1);
    uint met = 0, passed = 0;
    KMA_WORLD_FOR_EACH(it.w, 0, 3, self)
    {
        if (kma_world_type(it.w, self) == two + 1) {
            passed++;
            continue;
        }
        if (++met == 3)
            break;
    }
    it.create(two, 5); // is not seen
    KMA_WORLD_FOR_EACH(it.w, two, two, self)
        met += self != 0;
    shim::check(met == 3 + 5 && passed == 5, "break or continue in a loop, or one that sees what was created since");
}

} // namespace calls
