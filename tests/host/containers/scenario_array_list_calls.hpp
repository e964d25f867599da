// Every function of an array list by a lone caller, at its edges, over a heap that counts (counted_heap.hpp): numbers
// and places against plain computation, memory that ends at each call of malloc, another caller in the middle of a
// call, a full list; and groups of up to 64 work-items, which a lone caller plays (shim/lockstep.hpp). Threads only.
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
        check_lengths();
        check_new();
        check_growth();
        check_limits();
        check_full_list();
        check_out_of_memory();
        check_turns();
        check_company();
        check_room();
        check_lanes();
        check_groups();
        check_group_limits();
    }

private:
    using location = shim::location;
    using list_type = kma_array_list;
    static constexpr uint entries = KMA_ARRAY_LIST_ENTRIES, most_blocks = entries * entries, most = KMA_ARRAY_LIST_MOST;
    static constexpr uint none = KMA_ARRAY_LIST_NONE;

    // A list for objects of `bytes` in blocks of 1 << shift objects that double so often, in a heap of its own.
    struct subject {
        kma_counted heap;
        list_type *list = nullptr;
        uint bytes, shift, doublings;

        subject(uint object_bytes, uint block_shift, uint block_doublings, uint align = 4)
            : bytes(object_bytes), shift(block_shift), doublings(block_doublings)
        {
            turn_patience = 3;
            array_list_extra = 0;
            shim::begin_call();
            const uint first = 1u << shift;
            list = kma_array_list_at(&heap, kma_array_list_new(&heap, bytes, align, first, first << doublings));
            shim::check(list, "there is no list");
        }
        ~subject() { shim::objects.destroy_all(); }
        subject(const subject &) = delete;

        uint size() { return kma_array_list_size(list); }
        uint credit() { return get(&list_type::credit); }
        uint get(kma_atomic_u32 list_type::*word) { return kma_load_u32(&(list->*word), KMA_RELAXED); }
        uint grow(uint n) { return kma_array_list_grow(&heap, list, n); }
        uint objects_of(uint block) const { return 1u << (shift + std::min(block, doublings)); }
        uint room_of(uint blocks) const { return blocks != 0 ? room_of(blocks - 1) + objects_of(blocks - 1) : 0; }

        // How many blocks there are when one of `blocks`, of which `objects` are in use, has grown by n: a caller that
        // lacks credit for all of them brings blocks for all of them.
        uint blocks_with(uint n, uint blocks = 0, uint objects = 0) const
        {
            const uint before = blocks;
            while (room_of(before) - objects < n && room_of(blocks) - room_of(before) < n)
                blocks++;
            return blocks;
        }

        subject &set(kma_atomic_u32 list_type::*word, uint value)
        {
            kma_store_u32(&(list->*word), value, KMA_RELAXED);
            return *this;
        }
        // From now on the heap serves so many calls.
        subject &serves(uint calls)
        {
            heap.served_calls = calls == ~0u ? calls : heap.calls + calls;
            return *this;
        }
        subject &grows(uint n, uint first, location where = location::current())
        {
            shim::check(grow(n) == first, "another index than the next one", where);
            return *this;
        }
        subject &has_room(uint n, bool is = true, location where = location::current())
        {
            shim::check(kma_array_list_room(&heap, list, n) == is, "room, or none, where it is the other", where);
            return *this;
        }
        subject &clears()
        {
            kma_array_list_clear(&heap, list);
            return has(0, 0);
        }

        // Between two calls: `blocks`, and the pages that they need, of the right lengths; all that is not in use is
        // credit. So many requests were recorded that no memory would serve.
        subject &has(uint blocks, uint objects, uint refused = 0, location where = location::current())
        {
            shim::check(kma_load_u32(&heap.header.errors.count[KMA_ERROR_TOO_LARGE], KMA_RELAXED) == refused,
                        "requests for too many objects are not recorded, or others are", where);
            const uint pages = blocks > entries ? (blocks - 1) / entries : 0;
            size_t sum = sizeof(list_type) + pages * sizeof(kma_array_list_page);
            for (uint block = 0; block < blocks; block++)
                sum += std::max<size_t>(size_t{objects_of(block)} * bytes, sizeof(kma_ref));
            shim::check(heap.live.size() == 1 + pages + blocks && heap.bytes == sum, "the list has other blocks", where);
            shim::check(size() == objects && credit() == room_of(blocks) - objects, "the list's size or credit", where);
            shim::check(get(&list_type::known) == blocks, "not all blocks are known of", where);
            shim::check(get(&list_type::growing) + get(&list_type::bringing) == 0, "a caller counts still", where);
            return *this;
        }

        // Each object has memory of its own, within a block of the heap, at the place that its number says.
        void check_objects(location where = location::current())
        {
            for (uint block = 0, index = 0; index < size(); block++) {
                auto *const first = static_cast<uchar *>(kma_array_list_get(&heap, list, index));
                const auto found = std::ranges::find(heap.live, first, &kma_counted::block::at);
                shim::check(found != heap.live.end() && found->bytes >= size_t{objects_of(block)} * bytes &&
                                reinterpret_cast<uintptr_t>(first) % list->align == 0,
                            "the first object of a block is not where the block is, or not aligned", where);
                for (uint within = 0; within < objects_of(block) && index < size(); within++, index++)
                    shim::check(kma_array_list_get(&heap, list, index) == first + size_t{within} * bytes,
                                "an object is not behind the one before", where);
            }
        }

        void check_delete(location where = location::current())
        {
            kma_array_list_delete(&heap, list);
            shim::check(heap.live.empty(), "a deleted list has left something", where);
        }
    };

    // How many blocks there may be: as many as there are entries, and no more than 2^30 objects.
    static void check_lengths()
    {
        subject it(4, 0, 0);
        for (uint shift = 0; shift <= 30; shift++)
            for (uint doublings = 0; shift + doublings <= 30; doublings++) {
                it.list->shift = shift;
                it.list->doublings = doublings;
                uint blocks = 0;
                for (ulong objects = 0; blocks < most_blocks; blocks++)
                    if ((objects += ulong{1} << (shift + std::min(blocks, doublings))) > ulong{1} << 30)
                        break;
                shim::check(kma_array_list_most_blocks(it.list) == blocks, "the most blocks of a list");
            }
    }

    static void check_new()
    {
        kma_counted heap;
        heap.served_calls = 0;
        shim::check(kma_array_list_new(&heap, 4, 4, 1, 1) == KMA_NULL, "there is a list without memory");
        heap.served_calls = ~0u;
        static constexpr struct {
            uint first, longest; // objects of a block
            uint shift, doublings;
        } all[] = {{1, 1, 0, 0}, {0, 0, 0, 0}, {3, 3, 2, 0}, {4, 5, 2, 1}, {8, 4, 3, 0}, {1, 1024, 0, 10}, {5, 17, 3, 2},
                   {1u << 29, 1, 29, 0}, {(1u << 29) + 1, 1u << 30, 30, 0}, {(1u << 30) + 1, 1, 30, 0}, {2, ~0u, 1, 29}};
        for (const auto &each : all) {
            list_type *const list = kma_array_list_at(&heap, kma_array_list_new(&heap, 12, 8, each.first, each.longest));
            shim::check(list->object_bytes == 12u && list->align == 8u, "a new list's objects");
            shim::check(list->shift == each.shift && list->doublings == each.doublings, "a new list's blocks");
            kma_array_list_delete(&heap, list);
            shim::check(heap.live.empty(), "a list that nobody used has left something");
            shim::objects.destroy_all();
        }
    }

    static void check_growth()
    {
        for (const uint bytes : {1u, 4u, 24u})
            for (const uint align : {4u, 32u})
                for (uint shape = 0; shape < 16; shape++)
                    for (const uint n : {1u, 3u, 7u}) {
                        subject it(bytes, shape / 4, shape % 4, align);
                        for (uint sum = 0, blocks = 0; sum + n <= 40; sum += n) {
                            blocks = it.blocks_with(n, blocks, sum);
                            it.grows(n, sum).has(blocks, sum + n);
                        }
                        it.check_objects();
                        it.check_delete();
                    }
    }

    static void check_limits()
    {
        subject it(1, 4, 13); // 2^17 objects in the longest block
        it.grows(0, none).grows(most + 1, none).grows(~0u, none).has(0, 0, 2);
        it.grows(most, 0).has(it.blocks_with(most), most, 2);
        subject sized(12, 0, 0);
        sized.grows(most + 1, none);
        const auto &records = sized.heap.header.errors.first;
        const ulong size = records[KMA_ERROR_TOO_LARGE * KMA_ERROR_KEPT].size;
        shim::check(size == 12ul * (most + 1), "the record of too many objects");
        // Many at a time, as groups want them: all that there is, and not one more.
        subject rich(1, 17, 0);
        const uint all = 1u << 17;
        rich.has_room(1);
        for (const uint n : {KMA_ARRAY_LIST_MOST_ADDED, KMA_ARRAY_LIST_MOST_ADDED + 1, most + 1, all}) {
            shim::check(kma_array_list_take_credit(rich.list, n), "credit is not taken");
            shim::check(!kma_array_list_take_credit(rich.list, all - n + 1), "there is less credit");
            shim::check(rich.credit() == all - n, "other credit than is left");
            kma_array_list_credit(rich.list, n);
            rich.has(1, 0);
        }
        shim::check(kma_array_list_take(&rich.heap, rich.list, all) == 0, "memory is not used");
        rich.has(1, all);
        shim::check(kma_array_list_take(&rich.heap, rich.list, most + 1) == all, "many objects at a time");
        rich.has(2, all + most + 1).set(&list_type::credit, 0u - 5u); // below 0 while others try
        shim::check(!kma_array_list_take_credit(rich.list, 1) && rich.credit() == 0u - 5u, "a debt is credit");
        shim::check(!kma_array_list_others_lack(rich.list, 1), "nobody else is there, and lacks something");
    }

    // As many blocks of one object as there are entries, on all pages. Then the list begins anew, and is cleared.
    static void check_full_list()
    {
        subject it(4, 0, 0, 1);
        for (uint sum = 0; sum < most_blocks - 2; sum++)
            it.grows(1, sum).has(sum + 1, sum + 1);
        for (const auto &each : it.heap.live)
            shim::check(each.bytes != sizeof(kma_array_list_page) || each.align >= sizeof(kma_ref), "an unaligned page");
        it.grows(3, none).has(most_blocks, most_blocks - 2, 1); // two more came, and are credit
        it.serves(0).grows(3, none).grows(2, most_blocks - 2).serves(~0u);
        for (uint i = 0; i < most_blocks; i++) // a look behind the last entry would find something
            std::memset(kma_array_list_get(&it.heap, it.list, i), 0xff, it.bytes);
        it.has(most_blocks, most_blocks, 2).has_room(1, false).grows(1, none).has(most_blocks, most_blocks, 4);
        it.check_objects();
        kma_store_u32(&it.heap.header.errors.count[KMA_ERROR_TOO_LARGE], 0, KMA_RELAXED);
        it.set(&list_type::growing, 1).set(&list_type::bringing, 1); // of a caller that was stopped
        kma_array_list_rewind(it.list);
        it.has(most_blocks, 0).serves(0).grows(6, 0).serves(~0u).clears();
        it.grows(entries + 1, 0).has(entries + 1, entries + 1).check_delete();
    }

    static void check_out_of_memory()
    {
        constexpr uint n = entries + 3; // blocks of one: a page among them
        for (uint served = 0; served < n + 1; served++) {
            const uint blocks = served <= entries ? served : served - 1;
            subject it(4, 0, 0);
            it.serves(served).grows(n, none);
            shim::check(it.size() == 0 && it.credit() == blocks, "a refused caller changed the list");
            it.serves(~0u).grows(n, 0).has(blocks + n, n).check_objects();
        }
        subject alone(4, 0, 0);
        const uint calls = alone.heap.calls;
        alone.serves(0).grows(1, none);
        shim::check(alone.heap.calls == calls + 1, "a lone caller asks again for what there is not");
        for (const uint wanted : {7u, 8u, 9u, 10u}) { // what is left, and memory for four, suffice, or not by one
            subject it(4, 0, 0);
            it.has_room(5).serves(4 + 1).grows(wanted, wanted <= 9 ? 0 : none).has(9, wanted <= 9 ? wanted : 0);
        }
    }

    // ------ other callers --------------------------------------------------------------------------------------------

    // A caller that has the turn is stopped: another looks for a while, and then brings its own blocks.
    static void check_turns()
    {
        for (const uint patience : {1u, 5u}) {
            subject it(4, 0, 0);
            turn_patience = patience;
            it.set(&list_type::bringing, 1).heap.meanwhile = [&it] { // no atomic operation
                shim::check(it.list->bringing.peek({}) == 2 && it.list->growing.peek({}) == 1, "a caller does not count");
            };
            const auto steps_of = [&it](uint first) {
                const uint before = shim::self().operations;
                it.grows(1, first);
                return shim::self().operations - before;
            };
            const uint looks = steps_of(0);
            shim::check(it.get(&list_type::bringing) == 1, "a turn did not end");
            it.set(&list_type::bringing, 0).has(1, 1);
            // A load of turns, of credit, of known blocks for each look.
            shim::check(looks == steps_of(1) + 3 * patience - 3, "another number of looks");
        }
        // Looks begin anew with a block that came and was gone; `theirs` of its objects.
        for (const uint theirs : {0u, 2u, 4u}) {
            subject it(4, 2, 2);
            uint pauses = 0;
            turn_paused = [&] {
                if (++pauses != 2 || theirs == 0)
                    return;
                turn_patience = 0;
                it.grows(theirs, 0);
                turn_patience = 3;
            };
            it.set(&list_type::bringing, 1).grows(1, theirs).set(&list_type::bringing, 0);
            turn_paused = nullptr;
            shim::check(pauses == (theirs == 4 ? 4 : 2), "another number of looks");
            it.has(theirs == 4 ? 2 : 1, theirs + 1);
        }
        // Credit that came between the first look and the turn is taken, and the turn given back.
        subject late(4, 0, 0);
        late.has_room(4);
        for (const uint turns : {0u, 1u}) {
            late.set(&list_type::bringing, turns);
            shim::check(kma_array_list_get_more(&late.heap, late.list, 2), "there is credit, and one gets nothing");
            shim::check(late.get(&list_type::bringing) == turns, "a turn did not end, or another's did");
        }
        kma_array_list_credit(late.list, 4);
        late.set(&list_type::bringing, 0).has(4, 0);
    }

    static void check_company()
    {
        // While others lack as much, a caller brings some blocks more, as long as there is too little credit for one.
        for (const uint waiting : {0u, 1u})
            for (uint extra = 0; extra < 6; extra++) {
                const bool has_memory = extra != 5; // else for its own and one
                subject it(4, 0, 0);
                array_list_extra = std::min(extra, 4u);
                it.set(&list_type::growing, waiting).serves(has_memory ? ~0u : 3 + waiting).grows(3, 0);
                it.set(&list_type::growing, 0).has(3 + waiting * (has_memory ? std::min(extra, 3u) : 1), 3);
            }
        // Another caller finishes in the middle of a call of malloc: of a block, of a page.
        for (uint at = 0; at < entries + 2; at++)
            for (const uint theirs : {1u, 2u, 5u})
                for (const uint mine : {1u, 4u}) {
                    subject it(4, 0, 0);
                    turn_patience = 0;
                    for (uint i = 0; i < at; i++)
                        it.grow(1);
                    it.heap.meanwhile = [&] { it.grows(theirs, at); };
                    it.grows(mine, at + theirs).has(at + theirs + mine, at + theirs + mine).check_objects();
                }
        // What the other brought beyond its own need serves the first one, as far as it goes.
        for (const uint mine : {1u, 3u, 4u, 6u}) {
            subject it(4, 2, 0);
            turn_patience = 0;
            it.heap.meanwhile = [&] { it.grows(1, 0); };
            it.grows(mine, 1).has(it.blocks_with(mine, 1, 1), 1 + mine);
        }
    }

    static void check_room()
    {
        subject it(4, 1, 1);
        it.has_room(0).set(&list_type::credit, 0u - 1u).set(&list_type::growing, 2); // one tries, and another waits
        array_list_extra = 3;
        it.has_room(0).clears();
        it.has_room((1u << 30) + 1, false).has_room(1u << 31, false).has_room(~0u, false).has(0, 0, 3);
        kma_store_u32(&it.heap.header.errors.count[KMA_ERROR_TOO_LARGE], 0, KMA_RELAXED);
        it.has_room(3).has(2, 0).has_room(6).has(2, 0).has_room(7).has(3, 0);
        it.serves(0).has_room(10).has_room(11, false).has(3, 0).serves(~0u);
        turn_patience = 0;
        it.heap.meanwhile = [&it] { it.grows(12, 0); };
        it.has_room(12);
        shim::check(it.credit() >= 12, "what another caller brought for itself is taken for room");
        it.set(&list_type::credit, 0u - 2u).has_room(4); // two are being tried for
        shim::check(it.credit() == 2, "a debt is taken for room");
    }

    // ------ lanes and groups -----------------------------------------------------------------------------------------

    // Lanes that come together, of one list or of two; together they may want too much, or more than there is memory
    // for.
    static void check_lanes()
    {
        for (const uint lanes : {1u, 2u, 5u, 32u, 64u})
            for (const uint of_other : {0u, 2u, 3u})
                for (const bool is_small : {false, true}) {
                    subject one(4, 3, 2), other(4, 3, 2);
                    const auto is_other = [of_other](uint lane) { return of_other != 0 && lane % of_other == 1; };
                    const auto wanted = [](uint lane) { return lane % 7 == 6 ? 0 : 1 + lane % 3; };
                    uint first[64], sums[2] = {};
                    one.serves(is_small ? 3 : ~0u); // 56 objects
                    shim::lockstep::run(lanes, 0, [&](uint lane) {
                        first[lane] = (is_other(lane) ? other : one).grow(wanted(lane));
                    });
                    bool taken[2][200] = {};
                    for (uint lane = 0; lane < lanes; lane++) {
                        shim::check(wanted(lane) != 0 ? first[lane] != none || (is_small && !is_other(lane))
                                                      : first[lane] == none,
                                    "there was memory, and a lane got nothing, or objects that it did not want");
                        sums[is_other(lane)] += first[lane] != none ? wanted(lane) : 0;
                        for (uint i = first[lane]; i != none && i < first[lane] + wanted(lane); i++)
                            shim::check(i < 200 && !std::exchange(taken[is_other(lane)][i], true), "two have one object");
                    }
                    shim::check(one.size() == sums[0] && other.size() == sums[1], "there are objects that nobody has");
                    one.check_objects();
                    other.check_objects();
                    shim::check(!is_small || lanes != 64 || of_other != 0 || one.credit() == 0, "alone each got more");
                }
        subject one(4, 0, 0), other(4, 0, 0); // a lane of another list than the leader's asks once
        const uint calls = other.serves(0).heap.calls;
        shim::lockstep::run(4, 0, [&](uint lane) { (lane < 2 ? one : other).grow(1); });
        shim::check(other.heap.calls == calls + 2 && one.size() == 2, "lanes of another list ask more than once each");
        subject much(1, 17, 0); // together more than one may ask for
        uint first[2];
        shim::lockstep::run(2, 0, [&](uint lane) { first[lane] = much.grow(most); });
        shim::check(std::min(first[0], first[1]) == 0 && std::max(first[0], first[1]) == most, "two that want most");
        much.has(1, 2 * most);
    }

    // What each item of a group gets, by the group's sum and by its largest number.
    struct group {
        uint first[64], each[64];

        template <class Want> group(uint items, subject &by_sum, subject &by_most, Want want)
        {
            kma_group_words words = {};
            shim::lockstep::run(items, 0, [&](uint item) {
                first[item] = kma_array_list_grow_local(&by_sum.heap, by_sum.list, want(item), &words);
                barrier(0);
                each[item] = kma_array_list_grow_max(&by_most.heap, by_most.list, want(item), &words);
            });
        }
    };

    // A sum, which all may have, or nobody; and the largest number, for each.
    static void check_groups()
    {
        for (const uint items : {1u, 2u, 3u, 31u, 32u, 33u, 64u})
            for (uint way = 0; way < 4; way++) {
                subject by_sum(4, 2, 3), by_most(4, 2, 3);
                const auto want = [way](uint item) { return way == 0 ? 1 : way == 1 ? item % 4 : way == 2 || item != 0 ? 0 : 9; };
                uint sum = 0, largest = 0;
                for (uint item = 0; item < items; item++) {
                    sum += want(item);
                    largest = std::max(largest, want(item));
                }
                by_most.grows(5, 0);
                const group got(items, by_sum.grows(5, 0), by_most, want);
                bool taken[400] = {};
                for (uint item = 0; item < items; item++) {
                    shim::check(got.each[item] == (largest != 0 ? 5 + item : none), "a group's interleaved objects");
                    shim::check((got.first[item] == none) == (sum == 0), "a group's objects, or none");
                    for (uint i = got.first[item]; sum != 0 && i < got.first[item] + want(item); i++)
                        shim::check(i >= 5 && i < 5 + sum && !std::exchange(taken[i], true), "two have one object");
                }
                const uint before = by_sum.blocks_with(5);
                by_sum.has(by_sum.blocks_with(sum, before, 5), 5 + sum);
                by_most.has(by_most.blocks_with(largest * items, before, 5), 5 + largest * items);
            }
    }

    // An item that wants too many is left out.
    static void check_group_limits()
    {
        for (const uint wanted : {most, most + 1, ~0u})
            for (const bool has_memory : {true, false}) {
                subject it(1, 18, 0), also(1, 18, 0);
                const uint served = has_memory ? ~0u : 0;
                const group got(3, it.serves(served), also.serves(served), [wanted](uint item) { return item == 1 ? wanted : 1; });
                const bool may = wanted <= most;
                for (uint item = 0; item < 3; item++)
                    shim::check((got.first[item] != none) == (has_memory && (item != 1 || may)) &&
                                    (got.each[item] != none) == (has_memory && may),
                                "a group's limit");
                it.has(has_memory, !has_memory ? 0 : may ? most + 2 : 2, !may);
                also.has(has_memory && may, has_memory && may ? 3 * most : 0, !may);
                const kma_error_record &record = it.heap.header.errors.first[KMA_ERROR_TOO_LARGE * KMA_ERROR_KEPT];
                shim::check(may || record.size == wanted, "the record of too many objects of one byte");
            }
    }
};
