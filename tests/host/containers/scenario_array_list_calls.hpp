// Every function of an array list by a lone caller, at its edges, over a heap that counts (counted_heap.hpp): numbers and places
// against plain computation, memory that ends at each call of malloc, another caller in the middle of a call, a full
// list; and groups of up to 64 work-items, which a lone caller plays (shim/lockstep.hpp). Threads only.
//
// Checked: each result, that the list has the blocks that it should, and that all of them are given back.
#pragma once

#define KMA_HEAP counted
#define KMA_ARRAY_LIST_PAGE_SHIFT 3u // so that there is an end to reach
#include "heap/counted_heap.hpp"
#include "lockfree/turn_patience.hpp"
inline uint array_list_extra = 0;
#define KMA_ARRAY_LIST_EXTRA array_list_extra
#include "kma/containers/array_list.cl"

template <uint threads> class scenario {
public:
    void before() {}
    void thread(uint) {}

    void after()
    {
        shim::is_lone = true;
        check_places();
        check_lengths();
        check_new();
        check_growth();
        check_limits();
        check_pages();
        check_full_list();
        check_out_of_memory();
        check_turns();
        check_extra();
        check_company();
        check_room();
        check_end();
        check_lanes();
        check_groups();
    }

private:
    static constexpr uint most_blocks = KMA_ARRAY_LIST_ENTRIES * KMA_ARRAY_LIST_ENTRIES;
    static constexpr uint none = KMA_ARRAY_LIST_NONE;

    // A list for objects of `bytes` in blocks of 1 << shift objects that double so often, in a heap of its own.
    struct subject {
        kma_counted heap;
        kma_array_list *list = nullptr;
        uint bytes, shift, doublings;

        subject(uint object_bytes, uint block_shift, uint block_doublings, uint align = 4)
            : bytes(object_bytes), shift(block_shift), doublings(block_doublings)
        {
            turn_patience = 3;
            array_list_extra = 0;
            shim::self().operations = 0;
            list = kma_array_list_at(&heap, kma_array_list_new(&heap, bytes, align, 1u << shift, 1u << (shift + doublings)));
            shim::check(list, "there is no list");
        }
        ~subject() { shim::objects.destroy_all(); }
        subject(const subject &) = delete;

        uint grow(uint n) { return kma_array_list_grow(&heap, list, n); }
        uint size() { return kma_array_list_size(list); }
        uint credit() { return kma_load_u32(&list->credit, KMA_RELAXED); }
        uint objects_of(uint block) const { return 1u << (shift + std::min(block, doublings)); }
        uint room_of(uint blocks) const
        {
            uint sum = 0;
            for (uint block = 0; block < blocks; block++)
                sum += objects_of(block);
            return sum;
        }
        // How many blocks there are when one of `blocks`, of which `objects` are in use, has grown by n: who lacks credit for all of
        // them brings blocks for all of them.
        uint blocks_with(uint n, uint blocks = 0, uint objects = 0) const
        {
            const uint before = blocks;
            while (room_of(before) - objects < n && room_of(blocks) - room_of(before) < n)
                blocks++;
            return blocks;
        }

        // Between two calls: `blocks`, and the pages that they need, of the right lengths; all that is not in use is credit. So many
        // requests were recorded that no memory would serve.
        void has(uint blocks, uint objects, uint refused = 0, shim::location where = shim::location::current())
        {
            shim::check(kma_load_u32(&heap.header.errors.count[KMA_ERROR_TOO_LARGE], KMA_RELAXED) == refused,
                        "requests for too many objects are not recorded, or others are", where);
            const uint pages = blocks > KMA_ARRAY_LIST_ENTRIES ? (blocks - 1) / KMA_ARRAY_LIST_ENTRIES : 0;
            size_t sum = sizeof(kma_array_list) + pages * sizeof(kma_array_list_page);
            for (uint block = 0; block < blocks; block++)
                sum += std::max<size_t>(size_t{objects_of(block)} * bytes, sizeof(kma_ref));
            shim::check(heap.live.size() == 1 + pages + blocks && heap.bytes == sum, "the list has other blocks than it should", where);
            shim::check(size() == objects, "the list has another size than it should", where);
            shim::check(credit() == room_of(blocks) - objects, "credit is not what the blocks have left", where);
            shim::check(kma_load_u32(&list->known, KMA_RELAXED) == blocks, "not all blocks are known of", where);
            shim::check(kma_load_u32(&list->growing, KMA_RELAXED) + kma_load_u32(&list->bringing, KMA_RELAXED) == 0,
                        "somebody counts as about to bring blocks", where);
        }

        // Each object has memory of its own, within a block of the heap, at the place that its number says.
        void check_objects(shim::location where = shim::location::current())
        {
            uint index = 0;
            for (uint block = 0; index < size(); block++) {
                auto *const first = static_cast<uchar *>(kma_array_list_get(&heap, list, index));
                const auto found = std::find_if(heap.live.begin(), heap.live.end(), [first](const auto &each) { return each.at == first; });
                shim::check(found != heap.live.end() && found->bytes >= size_t{objects_of(block)} * bytes,
                            "the first object of a block is not where the block is", where);
                shim::check(reinterpret_cast<uintptr_t>(first) % list->align == 0, "a block is not aligned", where);
                for (uint within = 0; within < objects_of(block) && index < size(); within++, index++)
                    shim::check(kma_array_list_get(&heap, list, index) == first + size_t{within} * bytes,
                                "an object is not behind the one before", where);
            }
        }
    };

    // ------ numbers ------------------------------------------------------------------------------------------------

    static void check_places()
    {
        for (uint shift = 0; shift < 4; shift++)
            for (uint doublings = 0; doublings < 4; doublings++)
                for (uint index = 0, block = 0, within = 0; index < 300; index++) {
                    const uint its = shift + std::min(block, doublings);
                    const kma_array_list_spot spot = kma_array_list_find(shift, doublings, index);
                    shim::check(spot.block == block && spot.within == within && spot.shift == its, "an object's place");
                    if (++within == 1u << its) {
                        block++;
                        within = 0;
                    }
                }
        static constexpr uint sizes[][2] = {{0, 0}, {1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {1u << 29, 29},
                                            {(1u << 29) + 1, 30}, {1u << 30, 30}, {(1u << 30) + 1, 30}, {~0u, 30}};
        for (const auto &[objects, log2] : sizes)
            shim::check(kma_array_list_log2(objects) == log2, "the logarithm of a number of objects");
    }

    // How many blocks there may be: as many as there are entries, and no more than 2^30 objects.
    static void check_lengths()
    {
        subject all(4, 0, 0);
        for (uint shift = 0; shift <= 30; shift++)
            for (uint doublings = 0; shift + doublings <= 30; doublings++) {
                all.list->shift = shift;
                all.list->doublings = doublings;
                ulong objects = 0;
                uint blocks = 0;
                for (; blocks < most_blocks; blocks++) {
                    objects += ulong{1} << (shift + std::min(blocks, doublings));
                    if (objects > ulong{1} << KMA_ARRAY_LIST_MOST_SHIFT)
                        break;
                }
                shim::check(kma_array_list_most_blocks(all.list) == blocks, "the most blocks of a list");
            }
    }

    static void check_new()
    {
        kma_counted heap;
        heap.served_calls = 0;
        shim::check(kma_array_list_new(&heap, 4, 4, 1, 1) == KMA_NULL, "there is a list without memory");
        static constexpr struct {
            uint objects, most, shift, doublings;
        } rounded[] = {{1, 1, 0, 0}, {0, 0, 0, 0}, {3, 3, 2, 0}, {4, 5, 2, 1}, {8, 4, 3, 0}, {1, 1024, 0, 10}, {5, 17, 3, 2}};
        for (const auto &each : rounded) {
            heap.served_calls = ~0u;
            kma_array_list *const list = kma_array_list_at(&heap, kma_array_list_new(&heap, 12, 8, each.objects, each.most));
            shim::check(list->object_bytes == 12u && list->align == 8u && list->shift == each.shift && list->doublings == each.doublings,
                        "a new list's numbers");
            kma_array_list_delete(&heap, list);
            shim::check(heap.live.empty(), "a list that nobody used has left something");
            shim::objects.destroy_all();
        }
    }

    // ------ growing ------------------------------------------------------------------------------------------------

    static void check_growth()
    {
        for (const uint bytes : {1u, 4u, 24u})
            for (const uint align : {4u, 32u})
                for (const uint doublings : {0u, 1u, 3u})
                    for (const uint n : {1u, 3u, 7u}) {
                        subject it(bytes, 1, doublings, align);
                        for (uint sum = 0, blocks = 0; sum + n <= 40; sum += n) {
                            shim::check(it.grow(n) == sum, "a lone caller does not get the next index");
                            blocks = it.blocks_with(n, blocks, sum);
                            it.has(blocks, sum + n);
                        }
                        it.check_objects();
                        kma_array_list_delete(&it.heap, it.list);
                        shim::check(it.heap.live.empty(), "a deleted list has left something");
                    }
    }

    static void check_limits()
    {
        subject it(1, 4, 13); // 2^17 objects in the longest block
        shim::check(it.grow(0) == none && it.grow(KMA_ARRAY_LIST_MOST + 1) == none && it.grow(~0u) == none, "what cannot be is served");
        it.has(0, 0, 2);
        shim::check(it.grow(KMA_ARRAY_LIST_MOST) == 0, "the most objects at a time");
        it.has(it.blocks_with(KMA_ARRAY_LIST_MOST), KMA_ARRAY_LIST_MOST, 2);
        // Many at a time, as groups want them: all that there is, and not one more; where there are too few, nothing is taken off.
        subject rich(1, 17, 0);
        const uint all_of_it = 1u << 17;
        shim::check(kma_array_list_room(&rich.heap, rich.list, 1), "no room");
        for (const uint n : {KMA_ARRAY_LIST_MOST_ADDED, KMA_ARRAY_LIST_MOST_ADDED + 1, KMA_ARRAY_LIST_MOST + 1, all_of_it}) {
            shim::check(kma_array_list_take_credit(rich.list, n) && rich.credit() == all_of_it - n, "there was credit, and none is taken");
            shim::check(!kma_array_list_take_credit(rich.list, all_of_it - n + 1) && rich.credit() == all_of_it - n, "there is less credit");
            kma_array_list_credit(rich.list, n);
            kma_array_list_credit(rich.list, 0);
            rich.has(1, 0);
        }
        const uint calls = rich.heap.calls;
        shim::check(kma_array_list_take(&rich.heap, rich.list, all_of_it) == 0 && rich.heap.calls == calls, "memory that is there is not used");
        rich.has(1, all_of_it);
        shim::check(kma_array_list_take(&rich.heap, rich.list, KMA_ARRAY_LIST_MOST + 1) == all_of_it, "many objects at a time");
        rich.has(2, all_of_it + KMA_ARRAY_LIST_MOST + 1);
        // Below 0 while others try: that is no credit.
        subject poor(4, 0, 0);
        kma_store_u32(&poor.list->credit, 0u - 5u, KMA_RELAXED);
        shim::check(!kma_array_list_take_credit(poor.list, 1) && poor.credit() == 0u - 5u, "a debt is taken for credit");
        shim::check(!kma_array_list_others_lack(poor.list, 1), "nobody else is there, and lacks something");
    }

    static void check_pages()
    {
        subject it(1, 0, 0, 1);
        for (uint sum = 0; sum < 3 * KMA_ARRAY_LIST_ENTRIES + 2; sum++) {
            shim::check(it.grow(1) == sum, "a lone caller does not get the next index");
            it.has(sum + 1, sum + 1);
        }
        it.check_objects();
        for (const auto &each : it.heap.live)
            shim::check(each.bytes != sizeof(kma_array_list_page) || each.align >= sizeof(kma_ref), "a page is not aligned for its refs");
        kma_array_list_clear(&it.heap, it.list);
        it.has(0, 0);
        shim::check(it.grow(KMA_ARRAY_LIST_ENTRIES + 1) == 0, "a cleared list does not begin anew");
        it.has(KMA_ARRAY_LIST_ENTRIES + 1, KMA_ARRAY_LIST_ENTRIES + 1);
        it.check_objects();
    }

    static void check_full_list()
    {
        subject it(4, 0, 0);
        shim::check(it.grow(most_blocks - 2) == 0, "a list as long as can be, but for two");
        shim::check(it.grow(3) == none, "a list is longer than can be");
        it.has(most_blocks, most_blocks - 2, 1); // two more came, and are credit
        const uint calls = it.heap.calls;
        shim::check(it.grow(3) == none && it.heap.calls == calls, "memory is taken that no list can have");
        shim::check(it.grow(2) == most_blocks - 2, "the last two objects");
        for (uint i = 0; i < most_blocks; i++) // who looked behind the last entry would find something
            std::memset(kma_array_list_get(&it.heap, it.list, i), 0xff, it.bytes);
        it.has(most_blocks, most_blocks, 2);
        shim::check(!kma_array_list_room(&it.heap, it.list, 1) && it.grow(1) == none, "a full list grows");
        it.has(most_blocks, most_blocks, 4);
        it.check_objects();
    }

    // ------ without memory -----------------------------------------------------------------------------------------

    static void check_out_of_memory()
    {
        constexpr uint n = KMA_ARRAY_LIST_ENTRIES + 3; // blocks of one: a page among them
        for (uint served = 0; served < n + 1; served++) {
            subject it(4, 0, 0);
            it.heap.served_calls = it.heap.calls + served;
            shim::check(it.grow(n) == none, "there are objects without memory");
            const uint blocks = served <= KMA_ARRAY_LIST_ENTRIES ? served : served - 1;
            shim::check(it.size() == 0 && it.credit() == blocks, "who got nothing changed the list");
            it.heap.served_calls = ~0u;
            shim::check(it.grow(n) == 0, "there is memory again, and no object");
            it.has(blocks + n, n);
            it.check_objects();
        }
        subject alone(4, 0, 0); // asks once
        alone.heap.served_calls = 0;
        const uint calls = alone.heap.calls;
        shim::check(alone.grow(1) == none && alone.heap.calls == calls + 1, "a lone caller asks again for what there is not");
        // What is left, and what there is memory for, together suffice, or not by one.
        for (const uint n : {7u, 8u, 9u, 10u}) {
            subject it(4, 0, 0);
            shim::check(kma_array_list_room(&it.heap, it.list, 5), "no room");
            it.heap.served_calls = it.heap.calls + 4 + 1; // and a page
            const bool fits = n <= 9;
            shim::check(it.grow(n) == (fits ? 0 : none), "one is refused what there is, or gets what there is not");
            it.has(9, fits ? n : 0);
        }
    }

    // ------ turns --------------------------------------------------------------------------------------------------

    // Somebody has the turn, and is stopped: one looks for a while, and then brings his own.
    static void check_turns()
    {
        for (const uint patience : {1u, 5u}) {
            subject it(4, 0, 0);
            turn_patience = patience;
            kma_store_u32(&it.list->bringing, 1, KMA_RELAXED);
            it.heap.meanwhile = [&it] {
                shim::check(it.list->bringing.peek({}) == 2, "who brings does not count"); // no atomic operation
                shim::check(it.list->growing.peek({}) == 1, "who lacks something does not count");
            };
            const uint before = operations();
            shim::check(it.grow(1) == 0, "who is stopped keeps others from growing");
            const uint looks = operations() - before;
            shim::check(kma_load_u32(&it.list->bringing, KMA_RELAXED) == 1, "a turn did not end");
            kma_store_u32(&it.list->bringing, 0, KMA_RELAXED);
            it.has(1, 1);
            const uint now = operations();
            shim::check(it.grow(1) == 1, "a lone caller does not get the next index");
            // A load of turns, of credit, of known blocks for each look.
            shim::check(looks == operations() - now + 3 * patience - 3, "one looks for another's blocks more often, or less, than he should");
        }
        // Looks begin anew with a block that came and was gone; `theirs` of its objects.
        for (const uint theirs : {0u, 2u, 4u}) {
            subject it(4, 2, 2);
            turn_patience = 3;
            kma_store_u32(&it.list->bringing, 1, KMA_RELAXED);
            uint pauses = 0;
            turn_paused = [&] {
                if (++pauses == 2 && theirs != 0) {
                    turn_patience = 0;
                    shim::check(it.grow(theirs) == 0, "another one gets nothing");
                    turn_patience = 3;
                }
            };
            shim::check(it.grow(1) == theirs, "one gets nothing");
            turn_paused = nullptr;
            shim::check(pauses == (theirs == 4 ? 4 : 2), "one looks for another's blocks more often, or less, than he should");
            kma_store_u32(&it.list->bringing, 0, KMA_RELAXED);
            it.has(theirs == 4 ? 2 : 1, theirs + 1);
        }
        // Credit that came between the first look and the turn is taken, and the turn given back.
        subject late(4, 0, 0);
        shim::check(kma_array_list_room(&late.heap, late.list, 4), "no room");
        for (const uint turns : {0u, 1u}) {
            kma_store_u32(&late.list->bringing, turns, KMA_RELAXED);
            shim::check(kma_array_list_get_more(&late.heap, late.list, 2), "there is credit, and one gets nothing");
            shim::check(kma_load_u32(&late.list->bringing, KMA_RELAXED) == turns, "a turn did not end, or another's did");
        }
        kma_store_u32(&late.list->bringing, 0, KMA_RELAXED);
        kma_array_list_credit(late.list, 4);
        late.has(4, 0);
    }

    // While others lack as much, one brings some blocks more, as long as there is too little credit for one of them.
    static void check_extra()
    {
        for (const uint waiting : {0u, 1u})
            for (uint extra = 0; extra < 5; extra++) {
                subject it(4, 0, 0);
                array_list_extra = extra;
                kma_store_u32(&it.list->growing, waiting, KMA_RELAXED);
                shim::check(it.grow(3) == 0, "a lone caller gets nothing");
                kma_store_u32(&it.list->growing, 0, KMA_RELAXED);
                it.has(3 + waiting * std::min(extra, 3u), 3);
            }
        subject few(4, 0, 0); // for which there is no memory: his own is enough
        array_list_extra = 4;
        kma_store_u32(&few.list->growing, 1, KMA_RELAXED);
        few.heap.served_calls = few.heap.calls + 4;
        shim::check(few.grow(3) == 0, "what others lack, one gets nothing for");
        kma_store_u32(&few.list->growing, 0, KMA_RELAXED);
        few.has(4, 3);
    }

    // Another caller, who finishes in the middle of a call of malloc: of a block, of a page.
    static void check_company()
    {
        for (uint at = 0; at < KMA_ARRAY_LIST_ENTRIES + 2; at++)
            for (const uint theirs : {1u, 2u, 5u})
                for (const uint mine : {1u, 4u}) {
                    subject it(4, 0, 0);
                    turn_patience = 0;
                    for (uint i = 0; i < at; i++)
                        it.grow(1);
                    uint first = none;
                    it.heap.meanwhile = [&] { first = it.grow(theirs); };
                    const uint my_first = it.grow(mine);
                    shim::check(first == at && my_first == at + theirs, "one of two got no objects, or another's");
                    it.has(at + theirs + mine, at + theirs + mine);
                    it.check_objects();
                }
        // What the other brought beyond his own need serves the first one, as far as it goes.
        for (const uint mine : {1u, 3u, 4u, 6u}) {
            subject it(4, 2, 0);
            turn_patience = 0;
            it.heap.meanwhile = [&] { shim::check(it.grow(1) == 0, "the other one got nothing"); };
            shim::check(it.grow(mine) == 1, "the first one got nothing");
            it.has(it.blocks_with(mine, 1, 1), 1 + mine);
        }
    }

    static void check_room()
    {
        subject it(4, 1, 1);
        shim::check(kma_array_list_room(&it.heap, it.list, 0), "no room for none");
        kma_store_u32(&it.list->credit, 0u - 1u, KMA_RELAXED); // somebody tries for one, and another waits
        kma_store_u32(&it.list->growing, 2, KMA_RELAXED);
        array_list_extra = 3;
        shim::check(kma_array_list_room(&it.heap, it.list, 0), "no room for none beside a debt");
        kma_array_list_clear(&it.heap, it.list); // who was stopped meanwhile is forgotten
        it.has(0, 0);
        for (const uint n : {(1u << 30) + 1, 1u << 31, ~0u})
            shim::check(!kma_array_list_room(&it.heap, it.list, n), "room for more than a list may have");
        it.has(0, 0, 3);
        kma_store_u32(&it.heap.header.errors.count[KMA_ERROR_TOO_LARGE], 0, KMA_RELAXED);
        shim::check(kma_array_list_room(&it.heap, it.list, 3), "no room for three");
        it.has(2, 0);
        shim::check(kma_array_list_room(&it.heap, it.list, 6), "no room for as many as there are");
        it.has(2, 0);
        shim::check(kma_array_list_room(&it.heap, it.list, 7), "no room for one more");
        it.has(3, 0);
        it.heap.served_calls = 0;
        shim::check(kma_array_list_room(&it.heap, it.list, 10) && !kma_array_list_room(&it.heap, it.list, 11), "room without memory");
        it.has(3, 0);
        it.heap.served_calls = ~0u;
        turn_patience = 0;
        it.heap.meanwhile = [&it] { shim::check(it.grow(12) == 0, "the other one got nothing"); };
        shim::check(kma_array_list_room(&it.heap, it.list, 12), "no room while another grows");
        shim::check(it.credit() >= 12, "what another brought for himself is taken for room");
        kma_store_u32(&it.list->credit, 0u - 2u, KMA_RELAXED); // two are being tried for
        shim::check(kma_array_list_room(&it.heap, it.list, 4), "no room beside a debt");
        shim::check(it.credit() == 2, "a debt is taken for room");
    }

    static void check_end()
    {
        subject it(4, 1, 0);
        shim::check(it.grow(5) == 0, "a lone caller gets nothing");
        it.has(3, 5);
        kma_store_u32(&it.list->growing, 1, KMA_RELAXED); // of one who was stopped
        kma_store_u32(&it.list->bringing, 1, KMA_RELAXED);
        kma_array_list_rewind(it.list);
        it.has(3, 0);
        const uint calls = it.heap.calls;
        shim::check(it.grow(6) == 0 && it.heap.calls == calls, "a list that began anew has no memory");
        it.check_objects();
        kma_array_list_clear(&it.heap, it.list);
        it.has(0, 0);
        shim::check(it.grow(2) == 0, "a cleared list does not begin anew");
        it.has(1, 2);
        kma_array_list_delete(&it.heap, it.list);
        shim::check(it.heap.live.empty(), "a deleted list has left something");
    }

    // ------ lanes and groups ---------------------------------------------------------------------------------------

    // Lanes that come together, of one list or of two; together they may want too much, or more than there is memory for.
    static void check_lanes()
    {
        for (const uint lanes : {1u, 2u, 5u, 32u, 64u})
            for (const uint of_other : {0u, 2u, 3u})
                for (const uint large : {0u, 1u}) {
                    subject one(4, 3, 2), other(4, 3, 2);
                    uint first[64], wanted[64], sums[2] = {};
                    if (large)
                        one.heap.served_calls = one.heap.calls + 3; // 56 objects
                    shim::lockstep::run(lanes, 0, [&](uint lane) {
                        subject &its = of_other != 0 && lane % of_other == 1 ? other : one;
                        wanted[lane] = lane % 7 == 6 ? 0 : 1 + lane % 3;
                        first[lane] = kma_array_list_grow(&its.heap, its.list, wanted[lane]);
                    });
                    bool taken[2][200] = {};
                    for (uint lane = 0; lane < lanes; lane++) {
                        const bool is_other = of_other != 0 && lane % of_other == 1;
                        subject &its = is_other ? other : one;
                        if (wanted[lane] == 0 || first[lane] == none) {
                            shim::check(first[lane] == none, "no objects have an index");
                            shim::check(wanted[lane] == 0 || (large && !is_other), "there was memory, and a lane got nothing");
                            continue;
                        }
                        sums[is_other] += wanted[lane];
                        for (uint i = first[lane]; i < first[lane] + wanted[lane]; i++) {
                            shim::check(i < its.size() && !taken[is_other][i], "two lanes have one object");
                            taken[is_other][i] = true;
                        }
                    }
                    shim::check(one.size() == sums[0] && other.size() == sums[1], "there are objects that nobody has");
                    one.check_objects();
                    other.check_objects();
                    if (large && lanes == 64 && of_other == 0)
                        shim::check(one.credit() == 0, "each lane alone would have got something");
                }
        subject one(4, 0, 0), other(4, 0, 0); // who is of another list than the leader's asks once
        other.heap.served_calls = 0;
        const uint calls = other.heap.calls;
        shim::lockstep::run(4, 0, [&](uint lane) { kma_array_list_grow(lane < 2 ? &one.heap : &other.heap, lane < 2 ? one.list : other.list, 1); });
        shim::check(other.heap.calls == calls + 2 && one.size() == 2, "lanes of another list ask more than once each");
        subject much(1, 17, 0); // together more than one may ask for
        uint first[2];
        shim::lockstep::run(2, 0, [&](uint lane) { first[lane] = kma_array_list_grow(&much.heap, much.list, KMA_ARRAY_LIST_MOST); });
        shim::check(std::min(first[0], first[1]) == 0 && std::max(first[0], first[1]) == KMA_ARRAY_LIST_MOST, "two that want most");
        much.has(1, 2 * KMA_ARRAY_LIST_MOST);
    }

    static uint local_want(uint way, uint item) { return way == 0 ? 1 : way == 1 ? item % 4 : way == 2 ? 0 : item == 0 ? 9 : 0; }

    // Work-groups: a sum, which all may have, or nobody; and the largest number, for each. Who wants too many is left out.
    static void check_groups()
    {
        for (const uint items : {1u, 2u, 3u, 31u, 32u, 33u, 64u})
            for (uint way = 0; way < 4; way++) {
                subject by_sum(4, 2, 3), by_most(4, 2, 3);
                kma_group_words words = {};
                uint first[64], interleaved[64], sum = 0, most = 0;
                for (uint item = 0; item < items; item++) {
                    sum += local_want(way, item);
                    most = std::max(most, local_want(way, item));
                }
                by_sum.grow(5);
                by_most.grow(5);
                shim::lockstep::run(items, 0, [&](uint item) {
                    first[item] = kma_array_list_grow_local(&by_sum.heap, by_sum.list, local_want(way, item), &words);
                    barrier(0);
                    interleaved[item] = kma_array_list_grow_max(&by_most.heap, by_most.list, local_want(way, item), &words);
                });
                bool taken[400] = {};
                for (uint item = 0; item < items; item++) {
                    shim::check(interleaved[item] == (most != 0 ? 5 + item : none), "a group's interleaved objects");
                    shim::check((first[item] == none) == (sum == 0), "a group's objects, or none");
                    for (uint i = first[item]; sum != 0 && i < first[item] + local_want(way, item); i++) {
                        shim::check(i >= 5 && i < 5 + sum && !taken[i], "two work-items have one object");
                        taken[i] = true;
                    }
                }
                by_sum.has(by_sum.blocks_with(sum, by_sum.blocks_with(5), 5), 5 + sum);
                by_most.has(by_most.blocks_with(most * items, by_most.blocks_with(5), 5), 5 + most * items);
            }
        check_group_limits();
    }

    static void check_group_limits()
    {
        for (const uint wanted : {KMA_ARRAY_LIST_MOST, KMA_ARRAY_LIST_MOST + 1, ~0u})
            for (const bool has_memory : {true, false}) {
                subject it(1, 18, 0), also(1, 18, 0);
                if (!has_memory)
                    it.heap.served_calls = also.heap.served_calls = 0;
                kma_group_words words = {};
                uint first[3], interleaved[3];
                shim::lockstep::run(3, 0, [&](uint item) {
                    first[item] = kma_array_list_grow_local(&it.heap, it.list, item == 1 ? wanted : 1, &words);
                    barrier(0);
                    interleaved[item] = kma_array_list_grow_max(&also.heap, also.list, item == 1 ? wanted : 1, &words);
                });
                const bool may = wanted <= KMA_ARRAY_LIST_MOST;
                for (uint item = 0; item < 3; item++) {
                    const bool served = has_memory && (item != 1 || may);
                    shim::check((first[item] != none) == served, "a group's limit");
                    shim::check((interleaved[item] != none) == (has_memory && may), "a group's limit for each");
                }
                it.has(has_memory, !has_memory ? 0 : may ? KMA_ARRAY_LIST_MOST + 2 : 2, !may);
                also.has(has_memory && may, has_memory && may ? 3 * KMA_ARRAY_LIST_MOST : 0, !may);
                const kma_error_record &record = it.heap.header.errors.first[KMA_ERROR_TOO_LARGE * KMA_ERROR_KEPT];
                shim::check(may || record.size == wanted, "the record of too many objects of one byte");
            }
    }

    static uint operations() { return shim::self().operations; }
};
