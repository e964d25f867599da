// An arena over a bump heap: all threads take blocks of one to three objects, and large ones, in short chunks, with memory for all, or not.
//
// Checked: blocks are aligned, and each has memory of its own, within a chunk of the arena; who gets nothing does so for want of memory; the
// newest chunk's books are right, and nobody counts as about to bring one; a lone caller gets what is left of it.
#pragma once

#define KMA_HEAP bump
inline uint arena_patience = 0; // of the arena under test, new for each execution
#define KMA_ARENA_PATIENCE arena_patience
#define KMA_OBJECT_AT(T, memory) shim::objects.construct<T>(memory)
#include "kma/containers/arena.cl"

template <uint threads> class scenario {
public:
    void before()
    {
        is_search_ = shim::chosen.bound != 0;
        variant_ = shim::random(is_search_ ? 4u : 1u << 16);
        arena_patience = is_search_ ? variant_ % 2 : variant_ % 2 * 3;
        is_small_ = !is_search_ && variant_ / 2 % 3 == 0;
        heap_ = shim::objects.construct<kma_heap>(memory_);
        kma_bump_init(heap_, is_small_ ? sizeof(kma_heap) + 16 + sizeof(kma_arena) + 3 * least : sizeof(memory_), 0, 0, 1);
        const kma_ref ref = kma_arena_new(heap_, least, is_search_ ? least : least << variant_ / 6 % 3);
        shim::check(ref != KMA_NULL, "the heap is too small for this test");
        arena_ = kma_arena_at(heap_, ref);
        shim::check(kma_arena_bytes(heap_, arena_) == 0, "a new arena has memory");
        if (variant_ / 2 % 2 == 1) // else the first block meets an arena without a chunk
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
        shim::check(kma_load_u32(&arena_->bringing, KMA_RELAXED) == 0, "somebody counts as about to bring a chunk");
        auto *newest = kma_arena_newest(heap_, arena_);
        for (auto *at = newest; at; at = reinterpret_cast<kma_arena_chunk *>(kma_list_next(heap_, &at->node)))
            check_chunk(at, at == newest);
        const ulong bytes = kma_arena_bytes(heap_, arena_);
        const uint left = newest ? newest->units - kma_load_u32(&newest->used, KMA_RELAXED) : 0;
        if (left != 0 && left <= arena_->most / 4)
            shim::check(kma_arena_alloc(heap_, arena_, left * KMA_UNIT) && kma_arena_bytes(heap_, arena_) == bytes,
                        "a lone caller does not get what is left");
        shim::check(!kma_arena_alloc(heap_, arena_, 0), "there is memory of no bytes");
        kma_arena_clear(heap_, arena_);
        shim::check(kma_arena_bytes(heap_, arena_) == 0, "a cleared arena has memory");
        shim::objects.destroy_all();
    }

private:
    struct Block {
        kma_arena_chunk *chunk; // nullptr: of its own
        uint from, to;          // units, behind the chunk
        KMA_PLAIN(uint) *stamps;
    };

    static constexpr uint max_rounds = 5;
    static constexpr size_t object_bytes = (sizeof(KMA_PLAIN(uint)) + 15) / 16 * 16;
    static constexpr uint least = std::bit_ceil(uint(sizeof(kma_arena_chunk) + 15 * object_bytes)); // 3 objects are a quarter

    uint rounds() const { return shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 2 : max_rounds; }
    uint number(uint me, uint round) const { return variant_ / 8 + me * 5 + round * 3; }
    uint objects(uint me, uint round) const { return 1 + number(me, round) % 3; }
    bool is_large(uint me, uint round) const { return !is_search_ && number(me, round) % 7 == 3; }
    size_t align(uint me, uint round) const { return number(me, round) % 5 == 1 ? 32 : 16; }
    size_t bytes(uint me, uint round) const
    {
        return is_large(me, round) ? (arena_->most / 4 + 1) * KMA_UNIT : objects(me, round) * object_bytes - 3;
    }
    static uint stamp(uint me, uint round, uint k) { return 1 + (me * max_rounds + round) * 4 + k; }

    void take(uint me, uint round)
    {
        global void *memory = kma_arena_aligned_alloc(heap_, arena_, align(me, round), bytes(me, round));
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
        for (kma_list *list : {&arena_->chunks, &arena_->large})
            for (auto *at = kma_list_first(heap_, list); at; at = kma_list_next(heap_, at)) {
                auto *const chunk = reinterpret_cast<uchar *>(at);
                const size_t size = reinterpret_cast<kma_arena_chunk *>(at)->units * size_t{KMA_UNIT};
                homes += memory >= chunk + sizeof(kma_arena_chunk) && memory + bytes(me, round) <= chunk + size;
            }
        shim::check(homes == 1, "a block is in no chunk of the arena");
    }

    // Of the newest chunk nobody found too little and went on to another: what is used is somebody's, but for what alignment took.
    void check_chunk(kma_arena_chunk *chunk, bool is_newest)
    {
        const uint used = kma_load_u32(&chunk->used, KMA_RELAXED);
        shim::check(used <= chunk->units, "the books of a chunk go beyond its end");
        shim::check(used > KMA_ARENA_HEADER, "a chunk of which nobody has anything");
        if (!is_newest || used == chunk->units)
            return;
        uint taken = KMA_ARENA_HEADER;
        for (uint me = 0; me <= threads; me++)
            for (uint round = 0; round < rounds(); round++) {
                const auto *memory = static_cast<uchar *>(blocks_[me][round]);
                if (memory > reinterpret_cast<uchar *>(chunk) && memory < reinterpret_cast<uchar *>(chunk) + chunk->units * size_t{KMA_UNIT})
                    taken += uint((bytes(me, round) + align(me, round) - 16 + 15) / 16);
            }
        shim::check(used == taken, "the books of a chunk are not what was taken of it");
    }

    static constexpr size_t room = sizeof(kma_arena) + 64 + 2 * (threads + 1) * max_rounds * (4 * least + 64);
    alignas(64) uchar memory_[sizeof(kma_heap) + 16 + room];
    kma_heap *heap_;
    kma_arena *arena_;
    void *blocks_[threads + 1][max_rounds] = {};
    uint variant_ = 0;
    bool is_search_ = false;
    bool is_small_ = false; // no memory for all
};
