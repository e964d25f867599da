// Two arenas over a bump heap: all threads take blocks of one to three objects, and large ones, in short chunks, with
// memory for all, or not.
//
// Checked: blocks are aligned, and each has memory of its own, within a chunk of its arena; a thread gets nothing only
// for want of memory; what chunks have left is right, and nobody counts as about to bring one.
#pragma once

#define KMA_HEAP bump
#include "lockfree/turn_patience.hpp"
#include "kma/containers/arena.cl"

template <uint threads> class scenario {
public:
    void before()
    {
        is_search_ = shim::chosen.bound != 0;
        variant_ = shim::random(is_search_ ? 4u : 1u << 16);
        turn_patience = is_search_ ? variant_ % 2 : variant_ % 2 * 3;
        is_small_ = !is_search_ && variant_ / 2 % 3 == 0;
        heap_ = shim::objects.construct<kma_heap>(memory_);
        kma_bump_init(heap_, is_small_ ? sizeof(kma_heap) + 16 + 2 * sizeof(kma_arena) + 3 * least : sizeof(memory_), 0, 0, 1);
        most_ = is_search_ ? least : least << variant_ / 6 % 3;
        for (kma_arena *&arena : arenas_) {
            const kma_ref ref = kma_arena_new(heap_, least, most_);
            shim::check(ref != KMA_NULL, "the heap is too small for this test");
            arena = kma_arena_at(heap_, ref);
            shim::check(kma_arena_bytes(heap_, arena) == 0, "a new arena has memory");
        }
        if (is_search_)
            fill_but(variant_ / 2);
        else if (variant_ / 2 % 2 == 1) // else the first block meets an arena without a chunk
            take(threads, 0);
    }

    void thread(uint me)
    {
        for (uint round = 0; round < rounds(); round++)
            take(me, round);
    }

    void after()
    {
        for (uint me = 0; me <= threads; me++)
            for (uint round = 0; round < rounds(); round++)
                check_block(me, round);
        for (kma_arena *arena : arenas_) {
            shim::check(kma_load_u32(&arena->bringing, KMA_RELAXED) == 0, "somebody counts as about to bring a chunk");
            shim::check(kma_load_u32(&arena->lacking, KMA_RELAXED) == 0, "somebody counts as lacking one");
            check_chunks(arena);
            check_alone(arena);
            kma_arena_clear(heap_, arena);
            shim::check(kma_arena_bytes(heap_, arena) == 0, "a cleared arena has memory");
        }
        shim::objects.destroy_all();
    }

private:
    static constexpr uint max_rounds = 5;
    static constexpr size_t object_bytes = (sizeof(KMA_PLAIN(uint)) + 15) / 16 * 16;
    static constexpr uint least = std::max(256u, std::bit_ceil(uint(sizeof(kma_arena_chunk) + 3 * object_bytes)));
    static_assert(object_bytes <= least / 4);

    // Units of a chunk, its header among them, that are not left; more than it has when somebody has just found it
    // full.
    static uint used_of(kma_arena_chunk *chunk) { return chunk->units - (KMA_ARENA_FULL - kma_load_u32(&chunk->taken, KMA_RELAXED)); }

    bool has_room() const { return !is_search_ && variant_ % 5 == 2; } // some ask for it beforehand
    uint rounds() const { return shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 2 : max_rounds; }
    uint number(uint me, uint round) const { return variant_ / 8 + me * 5 + round * 3; }
    uint objects(uint me, uint round) const { return 1 + number(me, round) % std::min<uint>(3, most_ / 4 / object_bytes); }
    kma_arena *arena(uint me, uint round) const { return arenas_[!is_search_ && number(me, round) % 3 == 1]; }
    bool is_large(uint me, uint round) const { return !is_search_ && number(me, round) % 7 == 3; }
    size_t align(uint me, uint round) const { return number(me, round) % 5 == 1 ? 32 : 16; }
    size_t bytes(uint me, uint round) const
    {
        return is_large(me, round) ? most_ / 4 + 1 : objects(me, round) * object_bytes - 3;
    }
    static uint stamp(uint me, uint round, uint k) { return 1 + (me * max_rounds + round) * 4 + k; }

    // Leaves room for so many objects in the first chunk.
    void fill_but(uint objects)
    {
        do {
            shim::check(kma_arena_alloc(heap_, arenas_[0], 16), "there was memory, and a lone caller got none");
            filled_ = kma_arena_newest(heap_, arenas_[0]);
        } while (filled_->units - ++filler_ - KMA_ARENA_HEADER > objects * object_bytes / 16);
    }

    void take(uint me, uint round)
    {
        if (has_room() && number(me, round) % 4 == 1)
            shim::check(kma_arena_room(heap_, arena(me, round), 3 * object_bytes) || is_small_, "there was memory, and no room");
        global void *memory = kma_arena_aligned_alloc(heap_, arena(me, round), align(me, round), bytes(me, round));
        shim::check(memory || is_small_, "there was memory, and a thread got none");
        if (!memory)
            return;
        for (uint k = 0; k < objects(me, round); k++)
            *shim::objects.construct<KMA_PLAIN(uint)>(static_cast<uchar *>(memory) + k * object_bytes) = stamp(me, round, k);
        blocks_[me][round] = memory;
    }

    void check_block(uint me, uint round)
    {
        auto *const memory = static_cast<uchar *>(blocks_[me][round]);
        if (!memory)
            return;
        shim::check((memory - reinterpret_cast<uchar *>(heap_)) % align(me, round) == 0, "a block is not aligned");
        for (uint k = 0; k < objects(me, round); k++) {
            const uint is = *reinterpret_cast<KMA_PLAIN(uint) *>(memory + k * object_bytes);
            shim::check(is == stamp(me, round, k), "a block is another's, too");
        }
        uint homes = 0;
        for (kma_list *list : {&arena(me, round)->chunks, &arena(me, round)->large})
            for (auto *at = kma_list_first(heap_, list); at; at = kma_list_next(heap_, at)) {
                const void *const start = kma_arena_start(reinterpret_cast<kma_arena_chunk *>(at));
                homes += memory >= start && memory + bytes(me, round) <= reinterpret_cast<uchar *>(at);
            }
        shim::check(homes == 1, "a block is in no chunk of the arena");
    }

    void check_chunks(kma_arena *arena)
    {
        ulong bytes = 0;
        kma_arena_chunk *newest = kma_arena_newest(heap_, arena);
        for (kma_list *list : {&arena->chunks, &arena->large})
            for (auto *at = kma_list_first(heap_, list); at; at = kma_list_next(heap_, at)) {
                auto *chunk = reinterpret_cast<kma_arena_chunk *>(at);
                bytes += chunk->units * size_t{KMA_UNIT};
                const bool is_large = list == &arena->large;
                shim::check(chunk->units * size_t{KMA_UNIT} <= most_ || is_large, "a chunk is too long");
                const uint used = used_of(chunk);
                shim::check(used <= chunk->units, "the books of a chunk go beyond its end");
                shim::check(used > KMA_ARENA_HEADER || has_room(), "a chunk of which nobody has anything");
                if (chunk == newest && used != chunk->units)
                    check_newest(chunk, used);
            }
        shim::check(kma_arena_bytes(heap_, arena) == bytes, "an arena does not count its memory");
    }

    // Nobody found too little there: what is used is somebody's, but for what alignment took.
    void check_newest(kma_arena_chunk *chunk, uint used)
    {
        uint taken = KMA_ARENA_HEADER + (chunk == filled_ ? filler_ : 0);
        for (uint me = 0; me <= threads; me++)
            for (uint round = 0; round < rounds(); round++) {
                const auto *memory = static_cast<uchar *>(blocks_[me][round]);
                if (memory >= kma_arena_start(chunk) && memory < reinterpret_cast<uchar *>(chunk))
                    taken += uint((bytes(me, round) + align(me, round) - 16 + 15) / 16);
            }
        shim::check(used == taken, "the books of a chunk are not what was taken of it");
    }

    // Alone: all that is left of a small heap.
    void check_alone(kma_arena *arena)
    {
        shim::check(!kma_arena_aligned_alloc(heap_, arena, 24, 1), "a block at a multiple of 24");
        const uint at = KMA_ERROR_BAD_ALIGNMENT * KMA_ERROR_KEPT + (arena == arenas_[1]);
        shim::check(heap_->header.errors.first[at].size == 24, "no record of a wrong alignment");
        if (!is_small_)
            return;
        while (kma_arena_alloc(heap_, arena, 16)) {} // until the heap is full
        shim::check(!kma_arena_aligned_alloc(heap_, arena, 32, 16), "there is a block where there is no memory");
        while (kma_arena_new(heap_, least, least) != KMA_NULL) {} // until there is no memory for one either
    }

    static constexpr size_t room = 4 * sizeof(kma_arena) + 256 + 2 * (threads + 1) * max_rounds * (4 * least + 64) + 64 * least;
    alignas(4096) uchar memory_[sizeof(kma_heap) + 16 + room];
    kma_heap *heap_;
    kma_arena *arenas_[2] = {};
    uint most_ = 0; // bytes of the longest chunk
    void *blocks_[threads + 1][max_rounds] = {};
    uint variant_ = 0;
    kma_arena_chunk *filled_ = nullptr; // before the threads came
    uint filler_ = 0;                   // units of it
    bool is_search_ = false;
    bool is_small_ = false; // no memory for all
};
