// An arena by a lone caller, over a heap that counts (counted_heap.hpp): what is given back when it is cleared, lengths
// of chunks, memory that ends at each call of malloc, a turn that does not end, another caller in the middle of a call;
// and lanes that come together, which a lone caller plays (shim/lockstep.hpp). Threads only.
#pragma once

#define KMA_HEAP counted
#include "heap/counted_heap.hpp"
#include "lockfree/turn_patience.hpp"
inline uint arena_most_taken = 4096;
#define KMA_ARENA_MOST_TAKEN arena_most_taken
#include "kma/containers/arena.cl"

template <uint threads> class scenario {
public:
    void before() {}
    void thread(uint) {}

    void after()
    {
        shim::is_lone = true;
        check_lengths();
        check_end();
        check_out_of_memory();
        check_short_chunks();
        check_room();
        check_turns();
        check_demand();
        check_company();
        check_lanes();
    }

private:
    using location = shim::location;
    static constexpr uint chunk_bytes = 256, header = KMA_ARENA_HEADER; // of the shortest chunk; units

    // An arena of chunks from 256 bytes to `most`, in a heap of its own.
    struct subject {
        kma_counted heap;
        kma_arena *arena = nullptr;

        explicit subject(uint most = 1024, uint least = chunk_bytes)
        {
            turn_patience = 3;
            shim::begin_call();
            arena = kma_arena_at(&heap, kma_arena_new(&heap, least, most));
            shim::check(arena, "there is no arena");
        }
        ~subject() { shim::objects.destroy_all(); }
        subject(const subject &) = delete;

        kma_arena_chunk *newest() { return kma_arena_newest(&heap, arena); }
        uint used() { return newest()->units - (KMA_ARENA_FULL - kma_load_u32(&newest()->taken, KMA_RELAXED)); } // units
        uint chunks() const { return static_cast<uint>(heap.live.size()) - 1; }

        // From now on the heap serves so many calls.
        subject &serves(uint calls)
        {
            heap.served_calls = calls == ~0u ? calls : heap.calls + calls;
            return *this;
        }
        subject &set(kma_atomic_u32 kma_arena::*word, uint value)
        {
            kma_store_u32(&(arena->*word), value, KMA_RELAXED);
            return *this;
        }
        // Within a block of the heap, in front of its header.
        uchar *take(size_t bytes, size_t align = 16)
        {
            auto *const at = static_cast<uchar *>(kma_arena_aligned_alloc(&heap, arena, align, bytes));
            shim::check(!at || std::ranges::any_of(heap.live, [&](const kma_counted::block &each) {
                            return at >= each.at && at + bytes <= each.at + each.bytes - sizeof(kma_arena_chunk);
                        }), "memory that is no chunk's");
            shim::check(!at || align == 0 || (at - heap.memory) % align == 0, "a block is not aligned");
            return at;
        }
        subject &takes(size_t bytes, uint times = 1, location where = location::current())
        {
            while (times-- != 0)
                shim::check(take(bytes), "there is memory, and one gets none", where);
            return *this;
        }
        subject &lacks(size_t bytes, location where = location::current())
        {
            shim::check(!take(bytes), "there is memory where there is none", where);
            return *this;
        }
        subject &has_room(ulong bytes, bool is = true, location where = location::current())
        {
            shim::check(kma_arena_room(&heap, arena, bytes) == is, "room, or none, where it is the other", where);
            return *this;
        }
        // Between two calls. `units` of the newest chunk, if it is not 0.
        subject &has(uint count, uint units = 0, location where = location::current())
        {
            shim::check(chunks() == count, "the arena has other chunks than it should", where);
            shim::check(units == 0 || newest()->units == units, "the newest chunk is too short, or too long", where);
            shim::check(kma_arena_bytes(&heap, arena) == heap.bytes - sizeof(kma_arena), "the arena's bytes", where);
            shim::check(kma_load_u32(&arena->bringing, KMA_RELAXED) == 0, "a turn did not end", where);
            shim::check(kma_load_u32(&arena->lacking, KMA_RELAXED) == 0, "a caller counts that has its memory", where);
            return *this;
        }
    };

    // Chunks double until they are long enough, and lengths are rounded.
    static void check_lengths()
    {
        static constexpr uint rounded[][2] = {{1, 256}, {256, 256}, {257, 512}, {~0u, 1u << KMA_ARENA_MOST_SHIFT}};
        for (const auto &[bytes, chunk] : rounded)
            shim::check(kma_arena_chunk_bytes(bytes) == chunk, "the length of a chunk");
        subject lone(256, 1024), it, large(4096), most(4096);
        shim::check(lone.arena->least == 64 && lone.arena->most == 64, "the longest chunk is shorter than the first");
        it.takes(16, 16 - header).has(1, 16).takes(16, 32 - header).has(2, 32).takes(16, 64 - header).has(3, 64);
        it.takes(16).has(4, 64);
        large.takes(512).has(1, 64);
        arena_most_taken = 31; // units
        most.takes(512).has(1);
        shim::check(!most.newest(), "too much is taken at a time");
        arena_most_taken = 4096;
        it.heap.largest = 1u << 30;
        it.lacks(~size_t{0}).lacks(~size_t{0} - 8);
        shim::check(!it.take(0, 32) && !it.take(0, 1024), "there is memory of no bytes");
        it.has(4, 64);
        subject one(4096, 2048);
        for (const size_t align : {1, 2, 4, 8, 64, 128})
            shim::check(one.takes(16).take(48, align), "no aligned block");
        one.has(1);
    }

    static void check_end()
    {
        subject it;
        it.has(0).takes(48, 40).takes(5008);
        shim::check(it.take(16, 512) && it.chunks() > 5, "there are too few chunks for this test");
        it.has(it.chunks()).set(&kma_arena::bringing, 1).set(&kma_arena::lacking, 5); // of a caller that was stopped
        kma_arena_clear(&it.heap, it.arena);
        it.has(0).takes(48).has(1);
        kma_arena_delete(&it.heap, it.arena);
        shim::check(it.heap.live.empty(), "a deleted arena has left something");
    }

    // Each chunk of which there is memory is used to its end, whatever was refused.
    static void check_out_of_memory()
    {
        subject it(256);
        for (uint chunks = 0; chunks < 3; chunks++) {
            const uint calls = it.heap.calls;
            it.serves(0).lacks(32).lacks(4096).has(chunks);
            shim::check(it.heap.calls == calls + 3, "a refused request asks the heap for other lengths than it should");
            it.serves(~0u).takes(32, (16 - header) / 2).has(chunks + 1);
        }
    }

    // Where the heap has no longer ones, chunks as short as the first; but not too short for the request.
    static void check_short_chunks()
    {
        subject it;
        const auto largest = [&it](size_t bytes) -> subject & { return it.heap.largest = bytes, it; };
        largest(256).takes(48, 20).has(4).lacks(256).has(4); // of 15 units
        largest(272).takes(256).has(5).takes(16).has(6).lacks(272); // with its header
        largest(0).lacks(256).takes(16).has(6);                     // the chunk never had so much
        largest(48);                                                // for one alone
        for (uint i = 0; i < 13; i++)
            it.take(16);
        it.takes(32).has(7);
        largest(~size_t{0}).takes(32).has(8, 16);
    }

    // Memory ahead of time, in one piece: none if there is so much, and never a chunk shorter than the first ones.
    static void check_room()
    {
        subject it;
        it.has_room(0).has(1).has_room(240).has(1, 16).has_room(241).has(2, 16 + header).takes(16).has_room(240).has(2);
        it.has_room((16ul << 30) + 1, false);
        shim::check(kma_load_u32(&it.heap.header.errors.count[KMA_ERROR_TOO_LARGE], KMA_RELAXED) == 1, "no record of that");
        it.has_room(5000).takes(16, 313).has(3);
        kma_fetch_add_u32(&it.newest()->taken, 7, KMA_RELAXED); // of a caller that finds it full now
        it.has_room(16).has(4);
        for (const size_t theirs : {64, 240}) { // another caller's chunk, which will do or not
            subject both;
            both.heap.meanwhile = [&] { both.takes(theirs); };
            both.has_room(176).has(theirs == 64 ? 1 : 2);
        }
        it.serves(0).has_room(240).has_room(241, false).has_room((ulong{1} << 34) + 1, false);
        it.serves(~0u).has_room((ulong{1} << 36) + 300, false).has(4);
    }

    // A caller that has the turn is stopped. Another looks three times, or again three times after a chunk that came
    // and was gone, which has 15 units; and then brings its own.
    static void check_turns()
    {
        for (const size_t theirs : {0, 64, 240}) {
            subject it;
            uint pauses = 0;
            turn_paused = [&] {
                if (++pauses != 2 || theirs == 0)
                    return;
                turn_patience = 0;
                it.takes(theirs);
                turn_patience = 3;
            };
            it.set(&kma_arena::bringing, 1).takes(64);
            turn_paused = nullptr;
            shim::check(pauses == (theirs == 240 ? 4 : 2), "another number of looks for another caller's chunk");
            shim::check(kma_load_u32(&it.arena->bringing, KMA_RELAXED) == 1, "a turn did not end, or another's did");
            it.set(&kma_arena::bringing, 0).has(theirs == 240 ? 2 : 1);
        }
    }

    // A chunk is as long as what others want, too, but not longer than the longest. A caller that has looked for too
    // long brings one for itself.
    static void check_demand()
    {
        for (const uint lacking : {0u, 14u, 15u, 30u, 31u, 62u, 63u, 1000u}) { // units
            subject it;
            it.set(&kma_arena::lacking, lacking).takes(16);
            shim::check(kma_load_u32(&it.arena->lacking, KMA_RELAXED) == lacking, "a caller lacks what it has");
            const uint all = lacking + 1 + header;
            it.set(&kma_arena::lacking, 0).has(1, all <= 16 ? 16 : all <= 32 ? 32 : 64);
        }
        subject late, tight(4096), wrong;
        late.set(&kma_arena::lacking, 60).set(&kma_arena::bringing, 1).takes(16);
        late.set(&kma_arena::lacking, 0).set(&kma_arena::bringing, 0).has(1, 16);
        tight.takes(240).set(&kma_arena::lacking, 200).heap.largest = 600; // none so long: one twice as long as before
        tight.takes(16).set(&kma_arena::lacking, 0).has(2, 32);
        // A caller that counted as stopped when the arena was cleared goes on: metadata are wrong then, memory is not.
        wrong.set(&kma_arena::lacking, ~0u).takes(256).set(&kma_arena::lacking, 0).has(1, 32);
    }

    // Another caller finishes while one brings a chunk: both have memory, of the same chunk if it has so much; and what
    // is left of the newest is used.
    static void check_company()
    {
        for (const uint patience : {0u, 3u})
            for (const size_t bytes : {64, 240}) {
                subject it;
                turn_patience = patience;
                const void *theirs = nullptr;
                it.heap.meanwhile = [&] { theirs = it.take(bytes); };
                const void *const mine = it.take(64);
                shim::check(mine && theirs && mine != theirs, "one of two got no memory, or another's");
                const uint chunks = bytes == 64 ? 1 : 2;
                it.has(chunks).takes(16).has(chunks);
            }
    }

    // Lanes that come together, of one arena or of two; together they may want too much at a time.
    static void check_lanes()
    {
        for (const uint lanes : {1u, 2u, 5u, 32u, 64u})
            for (const uint of_other : {0u, 2u, 3u})
                for (const size_t bytes : {16, 100, 304})
                    check_lanes_of(lanes, of_other, bytes);
        subject tight(4096), none, one, other;
        tight.heap.largest = 256; // there is no chunk for all together, but one for each
        shim::lockstep::run(4, 0, [&](uint) { tight.takes(96); });
        tight.has(2); // two in each, as each looks whether another has brought one
        const uint calls = none.serves(0).heap.calls; // one of several that want nothing asks once
        shim::lockstep::run(4, 0, [&](uint lane) { none.take(lane == 2 ? 32 : 0); });
        shim::check(none.heap.calls == calls + 2, "one of several asks twice");
        const uint before = other.takes(16).used(); // of the second arena's chunk one lane's need alone is taken
        shim::lockstep::run(4, 0, [&](uint lane) { (lane == 3 ? other : one).take(lane == 2 ? 0 : 32); });
        shim::check(other.used() == before + 2 && one.used() == header + 4, "lanes take more than they want");
        one.has(1);
        other.has(1);
    }

    static void check_lanes_of(uint lanes, uint of_other, size_t bytes)
    {
        subject one, other;
        const uchar *got[64];
        shim::lockstep::run(lanes, 0, [&](uint lane) {
            got[lane] = (of_other != 0 && lane % of_other == 1 ? other : one).take(lane % 7 == 6 ? 0 : bytes);
        });
        for (uint lane = 0; lane < lanes; lane++) {
            shim::check((got[lane] != nullptr) == (lane % 7 != 6), "a lane has no memory, or what it did not want");
            for (uint before = 0; before < lane; before++)
                shim::check(!got[lane] || !got[before] || size_t(std::abs(got[before] - got[lane])) >= bytes, "the same memory");
        }
        one.has(one.chunks());
        other.has(other.chunks());
    }
};
