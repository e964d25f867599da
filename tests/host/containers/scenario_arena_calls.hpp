// An arena by a lone caller, over a heap that counts (counted_heap.hpp): what is given back when it is cleared, memory that ends at
// each call of malloc, a turn that does not end, another caller in the middle of a call; and lanes that come together, which a
// lone caller plays (shim/lockstep.hpp). Threads only; numbers and lengths are scenario_arena.hpp's.
#pragma once

#define KMA_HEAP counted
#include "heap/counted_heap.hpp"
#include "lockfree/turn_patience.hpp"
#include "kma/containers/arena.cl"

template <uint threads> class scenario {
public:
    void before() {}
    void thread(uint) {}

    void after()
    {
        shim::is_lone = true;
        check_end();
        check_out_of_memory();
        check_short_chunks();
        check_room();
        check_turns();
        check_progress();
        check_demand();
        check_company();
        check_lanes();
    }

private:
    // Units of a chunk, its header among them, that are not left; more than it has when somebody has just found it full.
    static uint used_of(kma_arena_chunk *chunk) { return chunk->units - (KMA_ARENA_FULL - kma_load_u32(&chunk->taken, KMA_RELAXED)); }

    // An arena of chunks from 256 bytes to `most`, in a heap of its own.
    struct subject {
        kma_counted heap;
        kma_arena *arena = nullptr;

        explicit subject(uint most = 1024)
        {
            turn_patience = 3;
            shim::self().operations = 0;
            arena = kma_arena_at(&heap, kma_arena_new(&heap, 256, most));
            shim::check(arena, "there is no arena");
        }
        ~subject() { shim::objects.destroy_all(); }
        subject(const subject &) = delete;

        // Within a block of the heap, in front of its header.
        void *take(size_t bytes, size_t align = 16)
        {
            void *const memory = kma_arena_aligned_alloc(&heap, arena, align, bytes);
            shim::check(!memory || is_there(memory, bytes), "memory that is no chunk's");
            return memory;
        }
        bool is_there(const void *memory, size_t bytes) const
        {
            const auto *const at = static_cast<const uchar *>(memory);
            return std::any_of(heap.live.begin(), heap.live.end(), [at, bytes](const kma_counted::block &each) {
                return at >= each.at && at + bytes <= each.at + each.bytes - sizeof(kma_arena_chunk);
            });
        }
        // Between two calls.
        void has(uint chunks, shim::location where = shim::location::current())
        {
            shim::check(heap.live.size() == 1 + chunks, "the arena has other chunks than it should", where);
            shim::check(kma_arena_bytes(&heap, arena) == heap.bytes - sizeof(kma_arena), "the arena does not count its memory", where);
            shim::check(kma_load_u32(&arena->bringing, KMA_RELAXED) == 0, "a turn did not end", where);
            shim::check(kma_load_u32(&arena->lacking, KMA_RELAXED) == 0, "somebody counts as lacking what he has", where);
        }
    };

    static void check_end()
    {
        subject it;
        it.has(0);
        for (uint i = 0; i < 40; i++)
            shim::check(it.take(48), "there is memory, and one gets none");
        shim::check(it.take(5008) && it.take(16, 512), "there is memory, and a large block is not served");
        shim::check(it.heap.live.size() > 5, "there are too few chunks for this test");
        it.has(static_cast<uint>(it.heap.live.size()) - 1);
        kma_store_u32(&it.arena->bringing, 1, KMA_RELAXED); // of one who was stopped
        kma_store_u32(&it.arena->lacking, 5, KMA_RELAXED);
        kma_arena_clear(&it.heap, it.arena);
        it.has(0);
        shim::check(it.take(48), "a cleared arena serves nobody");
        it.has(1);
        kma_arena_delete(&it.heap, it.arena);
        shim::check(it.heap.live.empty(), "a deleted arena has left something");
    }

    // Each chunk of which there is memory is used to its end, whatever was refused.
    static void check_out_of_memory()
    {
        subject it(256);
        for (uint chunks = 0; chunks < 3; chunks++) {
            it.heap.served_calls = it.heap.calls;
            const uint calls = it.heap.calls;
            shim::check(!it.take(32) && !it.take(4096), "there is memory where there is none");
            shim::check(it.heap.calls == calls + 3, "a refused request asks the heap for other lengths than it should");
            it.has(chunks);
            it.heap.served_calls = ~0u;
            constexpr uint blocks = (256 - KMA_ARENA_HEADER * KMA_UNIT) / 32;
            for (uint i = 0; i < blocks; i++)
                shim::check(it.take(32), "there is memory, and one gets none");
            it.has(chunks + 1);
        }
    }

    // Where the heap has no longer ones, chunks as short as the first; but not too short for who asks.
    static void check_short_chunks()
    {
        subject it(1024);
        it.heap.largest = 256;
        for (uint i = 0; i < 20; i++)
            shim::check(it.take(48), "there is memory, and one gets none");
        it.has(4); // of 15 units
        shim::check(!it.take(256), "a block that is longer than its chunk");
        it.has(4);
        it.heap.largest = 272;
        shim::check(it.take(256), "there is memory, and one gets none"); // in a chunk that is as long as it must be
        it.has(5);
        shim::check(it.take(16), "there is memory, and one gets none");
        it.has(6);
        shim::check(!it.take(272), "a large block where there is no memory"); // with its header
        it.heap.largest = 0;
        shim::check(!it.take(256) && it.take(16), "who was refused left nothing for others"); // whose chunk never had so much
        it.has(6);
        it.heap.largest = 48; // for one alone
        for (uint i = 0; i < 13; i++)
            it.take(16);
        shim::check(it.take(32), "what the heap has is not used");
        it.has(7);
        it.heap.largest = ~size_t{0};
        shim::check(it.take(32), "there is memory, and one gets none");
        shim::check(kma_arena_newest(&it.heap, it.arena)->units == 16, "chunks do not become longer again as they should");
        it.has(8);
    }

    // Memory ahead of time, in one piece: none if there is so much, and never a chunk shorter than the first ones.
    static void check_room()
    {
        subject it;
        shim::check(kma_arena_room(&it.heap, it.arena, 0), "no room for nothing");
        it.has(1);
        shim::check(kma_arena_room(&it.heap, it.arena, 240), "there is room, and one is told that there is none");
        it.has(1);
        shim::check(kma_arena_newest(&it.heap, it.arena)->units == 16, "a chunk that is shorter than the first ones");
        shim::check(kma_arena_room(&it.heap, it.arena, 241) && kma_arena_newest(&it.heap, it.arena)->units == 16 + KMA_ARENA_HEADER,
                    "room is not as much as one wants");
        it.has(2);
        shim::check(it.take(16), "a lone caller gets nothing");
        shim::check(kma_arena_room(&it.heap, it.arena, 240), "room is not used");
        it.has(2);
        shim::check(!kma_arena_room(&it.heap, it.arena, (16ul << 30) + 1), "more room than there may be");
        shim::check(kma_load_u32(&it.heap.header.errors.count[KMA_ERROR_TOO_LARGE], KMA_RELAXED) == 1, "no record of that");
        shim::check(kma_arena_room(&it.heap, it.arena, 5000), "there is memory, and no room");
        for (uint i = 0; i < 313; i++)
            shim::check(it.take(16), "there is room, and one gets nothing");
        it.has(3);
        kma_fetch_add_u32(&kma_arena_newest(&it.heap, it.arena)->taken, 7, KMA_RELAXED); // of one who finds it full now
        shim::check(kma_arena_room(&it.heap, it.arena, 16), "there is memory, and no room");
        it.has(4);
        for (const size_t theirs : {size_t{64}, size_t{240}}) { // another one's chunk, which will do or not
            subject both;
            both.heap.meanwhile = [&] { shim::check(both.take(theirs), "another one gets nothing"); };
            shim::check(kma_arena_room(&both.heap, both.arena, 176), "there is memory, and no room");
            both.has(theirs == 64 ? 1 : 2);
        }
        it.heap.served_calls = 0;
        shim::check(kma_arena_room(&it.heap, it.arena, 240) && !kma_arena_room(&it.heap, it.arena, 241), "room without memory");
        shim::check(!kma_arena_room(&it.heap, it.arena, (ulong{1} << 34) + 1), "more room than a chunk may have");
        it.heap.served_calls = ~0u;
        shim::check(!kma_arena_room(&it.heap, it.arena, (ulong{1} << 36) + 300), "more room than a chunk may have");
        it.has(4);
    }

    // Somebody has the turn, and is stopped: one looks for a while, and then brings his own.
    static void check_turns()
    {
        subject it;
        kma_store_u32(&it.arena->bringing, 1, KMA_RELAXED);
        shim::check(it.take(16), "who is stopped keeps others from their memory");
        shim::check(kma_load_u32(&it.arena->bringing, KMA_RELAXED) == 1, "a turn did not end, or another's did");
        kma_store_u32(&it.arena->bringing, 0, KMA_RELAXED);
        it.has(1);
    }

    // One looks three times, or again three times after a chunk that came and was gone. It has 15 units.
    static void check_progress()
    {
        for (const size_t theirs : {size_t{0}, size_t{64}, size_t{240}}) {
            subject it;
            kma_store_u32(&it.arena->bringing, 1, KMA_RELAXED);
            uint pauses = 0;
            turn_paused = [&] {
                if (++pauses == 2 && theirs != 0) {
                    turn_patience = 0;
                    shim::check(it.take(theirs), "another one gets nothing");
                    turn_patience = 3;
                }
            };
            shim::check(it.take(64), "there is memory, and one gets none");
            turn_paused = nullptr;
            shim::check(pauses == (theirs == 240 ? 4 : 2), "one looks for another's chunk more often, or less, than he should");
            kma_store_u32(&it.arena->bringing, 0, KMA_RELAXED);
            it.has(theirs == 240 ? 2 : 1);
        }
    }

    // A chunk is as long as what others want, too, but not longer than the longest. Who has looked for too long brings one for himself.
    static void check_demand()
    {
        for (const uint lacking : {0u, 14u, 15u, 30u, 31u, 62u, 63u, 1000u}) { // units
            subject it;
            kma_store_u32(&it.arena->lacking, lacking, KMA_RELAXED);
            shim::check(it.take(16), "there is memory, and one gets none");
            const uint units = lacking + 1 + KMA_ARENA_HEADER <= 16 ? 16 : lacking + 1 + KMA_ARENA_HEADER <= 32 ? 32 : 64;
            shim::check(kma_arena_newest(&it.heap, it.arena)->units == units, "a chunk is not as long as what all want of it");
            shim::check(kma_load_u32(&it.arena->lacking, KMA_RELAXED) == lacking, "who has his memory lacks it still");
        }
        subject late;
        kma_store_u32(&late.arena->lacking, 60, KMA_RELAXED);
        kma_store_u32(&late.arena->bringing, 1, KMA_RELAXED);
        shim::check(late.take(16) && kma_arena_newest(&late.heap, late.arena)->units == 16, "who is late brings a chunk for all");
        // Where the heap has none so long, one twice as long as that before.
        subject tight(4096);
        shim::check(tight.take(240), "there is memory, and one gets none");
        kma_store_u32(&tight.arena->lacking, 200, KMA_RELAXED);
        tight.heap.largest = 600;
        shim::check(tight.take(16) && kma_arena_newest(&tight.heap, tight.arena)->units == 32, "a chunk is shorter than it must be");
        // One who was thought to be stopped when the arena was cleared goes on: books are wrong then, and memory is not.
        subject wrong;
        kma_store_u32(&wrong.arena->lacking, ~0u, KMA_RELAXED);
        shim::check(wrong.take(256) && kma_arena_newest(&wrong.heap, wrong.arena)->units == 32, "a chunk is shorter than what is taken of it");
    }

    // Another caller, who finishes while one brings a chunk: both have memory, of the same chunk if it has so much; and what is left of the
    // newest is used.
    static void check_company()
    {
        for (const uint patience : {0u, 3u})
            for (const size_t bytes : {size_t{64}, size_t{240}}) {
                subject it;
                turn_patience = patience;
                void *theirs = nullptr;
                it.heap.meanwhile = [&] { theirs = it.take(bytes); };
                void *const mine = it.take(64);
                shim::check(mine && theirs && mine != theirs, "one of two got no memory, or another's");
                const uint chunks = bytes == 64 ? 1 : 2;
                it.has(chunks);
                kma_arena_chunk *const newest = kma_arena_newest(&it.heap, it.arena);
                shim::check(it.take(16) && kma_arena_newest(&it.heap, it.arena) == newest, "what is left is not used");
                it.has(chunks);
            }
    }

    // Lanes that come together, of one arena or of two; together they may want too much at a time.
    static void check_lanes()
    {
        for (const uint lanes : {1u, 2u, 5u, 32u, 64u})
            for (const uint of_other : {0u, 2u, 3u})
                for (const size_t bytes : {size_t{16}, size_t{100}, size_t{304}})
                    check_lanes_of(lanes, of_other, bytes);
        subject tight(4096); // there is no chunk for all together, but one for each
        tight.heap.largest = 256;
        shim::lockstep::run(4, 0, [&](uint) { shim::check(tight.take(96), "a lane that would be served alone gets nothing"); });
        tight.has(2); // two in each, as each looks whether another has brought one
        subject none; // one of several who want nothing asks once
        none.heap.served_calls = 0;
        const uint calls = none.heap.calls;
        shim::lockstep::run(4, 0, [&](uint lane) { none.take(lane == 2 ? 32 : 0); });
        shim::check(none.heap.calls == calls + 2, "one of several asks twice");
        subject one, other; // of the second arena's chunk one lane's need alone is taken
        shim::check(other.take(16), "there is no memory");
        const uint before = used_of(kma_arena_newest(&other.heap, other.arena));
        shim::lockstep::run(4, 0, [&](uint lane) {
            subject &its = lane == 3 ? other : one;
            its.take(lane == 2 ? 0 : 32);
        });
        shim::check(used_of(kma_arena_newest(&other.heap, other.arena)) == before + 2 &&
                        used_of(kma_arena_newest(&one.heap, one.arena)) == KMA_ARENA_HEADER + 4,
                    "lanes take more than they want");
        one.has(1);
        other.has(1);
    }

    static void check_lanes_of(uint lanes, uint of_other, size_t bytes)
    {
        subject one, other;
        uchar *got[64];
        shim::lockstep::run(lanes, 0, [&](uint lane) {
            subject &its = of_other != 0 && lane % of_other == 1 ? other : one;
            got[lane] = static_cast<uchar *>(its.take(lane % 7 == 6 ? 0 : bytes));
        });
        for (uint lane = 0; lane < lanes; lane++) {
            shim::check((got[lane] != nullptr) == (lane % 7 != 6), "a lane has no memory, or what it did not want");
            for (uint before = 0; before < lane; before++)
                shim::check(!got[lane] || !got[before] || got[before] + bytes <= got[lane] || got[lane] + bytes <= got[before],
                            "two lanes have the same memory");
        }
        one.has(static_cast<uint>(one.heap.live.size()) - 1);
        other.has(static_cast<uint>(other.heap.live.size()) - 1);
    }
};
