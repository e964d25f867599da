// The kernels of an object store, by a lone caller, as any number of work-groups of up to 64 work-items; and what the calls
// of an object store have in common.
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
inline void check_world_init()
{
    for (const uint items : {1u, 3u, 64u})
        for (const uint blocks : {1u, 8u, 33u}) {
            world_subject it(blocks);
            const ulong bytes = it.w->head.bytes;
            auto *const memory = reinterpret_cast<uchar *>(it.w);
            std::fill_n(memory, bytes, uchar{0x5a});
            tiny::launch(items, [&] { kma_world_init_kernel(it.w, bytes - 1, blocks); });
            shim::check(std::all_of(memory, memory + bytes, [](uchar byte) { return byte == 0x5a; }), "too little memory");
            tiny::launch(items, [&] { kma_world_init_kernel(it.w, bytes, blocks); });
            const kma_world &w = *it.w;
            shim::check(kma_heap_exists(&w.head, KMA_KIND_WORLD) && w.head.bytes == bytes && w.head.max_bytes == bytes, "header");
            shim::check(w.blocks == blocks && w.classes == tiny::classes && w.block_bytes == KMA_WORLD_BLOCK_BYTES, "numbers");
            for (uint T = 0; T < tiny::classes; T++) {
                for (uint hint = 0; hint < KMA_WORLD_HINTS; hint++)
                    shim::check(kma_load_u32(&kma_world_hints(it.w, T)[hint], KMA_RELAXED) == 0, "a new world has a hint");
                shim::check(kma_world_listed(it.w, T) == 0, "a new world has a list");
                it.fill(T);
                it.check();
                it.remove_all();
            }
            for (uint block = 0; block < blocks; block++)
                shim::check(kma_world_block_at(it.w, block)->iterated == 0, "a new world has objects");
        }
    for (const uint blocks : {1000u, KMA_WORLD_BLOCKS_MOST}) { // more than there are in any test
        const kma_world_plan plan = kma_world_plan_of(5, 384, blocks);
        const ulong tree = kma_world_up(4ul * kma_bit_tree_words(blocks)), states = KMA_WORLD_BEGIN(5) + 384ul * blocks;
        shim::check(plan.states == states && plan.trees == kma_world_up(states + 32ul * blocks), "states and trees");
        shim::check(4ul * plan.tree_words == tree && plan.lists == plan.trees + tree * 6, "lists");
        shim::check(plan.end == plan.lists + 5 * kma_world_up(4ul * blocks), "where a world ends");
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

inline void check_world_counts()
{
    for (const uint items : {1u, 2u, 64u}) {
        world_subject it(20);
        it.create(one, 3);
        it.create(two, 5);
        it.create(all, 2);
        kma_atomic_u32 counts[3 * tiny::classes];
        for (kma_atomic_u32 &each : counts)
            kma_store_u32(&each, 100, KMA_RELAXED);
        tiny::launch(items, [&] { kma_world_count_kernel(it.w, counts); });
        static constexpr uint right[3 * tiny::classes] = {3, 3, 0, 5, 3, 1, 0, 0, 0, 2, 1, 1};
        for (uint i = 0; i < 3 * tiny::classes; i++) // objects, blocks, blocks with room
            shim::check(kma_load_u32(&counts[i], KMA_RELAXED) == 100 + right[i], "a count");
        kma_world_delete(it.w, two, kma_world_ref(20, 0));
        it.fails(KMA_ERROR_INVALID_FREE, kma_world_ref(20, 0), 8);
        tiny::launch(items, [&] { kma_world_clear_errors_kernel(it.w); });
        it.world.expected[KMA_ERROR_INVALID_FREE] = 0;
        it.check();
    }
}

// A field of three bytes, two for each object, of blocks in another order.
inline void check_world_columns()
{
    for (const uint items : {1u, 3u, 64u}) {
        world_subject it(6);
        it.create(three, 8);
        it.remove(4);
        it.create(two, 3);
        constexpr uint begin = 10, bytes = 3, elements = 2, slots = 3;
        auto *const first = static_cast<uchar *>(kma_world_field(it.w, kma_world_ref(0, 0), 0, 1));
        for (uint i = 0; i < 6 * KMA_WORLD_BLOCK_BYTES; i++)
            first[i] = static_cast<uchar>(kma_mix32(i));
        std::vector<uint2> places;
        std::vector<uchar> right(elements * bytes, 0xee), column(2 * 3 + 7 * 6 + 6, 0xee);
        uint row = 1; // the first one is another's
        for (uint block = 6; block-- != 0;) {
            if (it.world.type(block) != three + 1)
                continue;
            places.push_back({block, row});
            for (uint slot = 0; slot < slots; slot++) {
                if (it.which_of(kma_world_ref(block, slot)) == it.living.count)
                    continue;
                row++;
                for (uint byte = 0; byte < elements * bytes; byte++) {
                    const uint at = begin + (byte / bytes * slots + slot) * bytes + byte % bytes;
                    right.push_back(*static_cast<uchar *>(kma_world_field(it.w, kma_world_ref(block, 0), at, bytes)));
                }
            }
        }
        right.resize(column.size(), 0xee);
        const uint count = static_cast<uint>(places.size());
        tiny::launch(items, [&] {
            kma_world_column_kernel(it.w, three, begin, bytes, elements, places.data(), count, column.data());
        });
        shim::check(row == 8 && column == right, "a column");
    }
}

} // namespace calls
