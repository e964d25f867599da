// A heap that knows what it was asked for, can be out of memory at a chosen call, and in a call can let another caller
// go first: what containers take of a heap, and give back, by KMA_HEAP counted. For a lone caller.
#pragma once

#include <functional>
#include <vector>

#include "shim/types.hpp"
#include "kma/heap/common/header.cl"

#define kma_counted_number 5 // a kind of which kma.cl has no file

struct alignas(4096) kma_counted {
    struct block {
        uchar *at;
        size_t align, bytes;
    };

    kma_heap_header header{}; // what containers record
    std::vector<block> live;
    size_t bytes = 0; // of these
    uint calls = 0;
    uint served_calls = ~0u;               // from then on it is full
    size_t largest = ~size_t{0};           // bytes of a request that is served
    std::function<void()> meanwhile;       // runs in the next call, once, before that is served
    static constexpr size_t all = 1u << 20; // its first 4 KiB are nobody's; what is freed does not come again
    uchar *const memory = static_cast<uchar *>(std::aligned_alloc(4096, all));
    size_t next = 4096;

    kma_counted() = default;
    kma_counted(const kma_counted &) = delete;
    ~kma_counted() { std::free(memory); }

    uchar *take(size_t align, size_t size)
    {
        if (meanwhile)
            std::exchange(meanwhile, nullptr)();
        if (calls++ >= served_calls || size > largest)
            return nullptr;
        shim::check(std::has_single_bit(align) && align <= 4096 && size != 0, "a heap is asked for what cannot be");
        const size_t multiple = std::max<size_t>(align, 16);
        uchar *const at = memory + (next + multiple - 1) / multiple * multiple;
        next = static_cast<size_t>(at - memory) + size;
        shim::check(next <= all, "the memory is too small for this test");
        live.push_back({at, align, size});
        bytes += size;
        return at;
    }

    void give(const void *at)
    {
        if (!at)
            return;
        const auto found = std::ranges::find(live, at, &block::at);
        shim::check(found != live.end(), "what is no block is freed");
        bytes -= found->bytes;
        live.erase(found);
    }
};

inline void *kma_counted_aligned_alloc(kma_counted *heap, size_t align, size_t bytes)
{
    return heap->take(align, bytes);
}

inline void *kma_counted_malloc(kma_counted *heap, size_t bytes)
{
    return heap->take(16, bytes);
}

inline void kma_counted_free(kma_counted *heap, const void *at)
{
    heap->give(at);
}

inline uint kma_counted_ref_of(kma_counted *heap, const void *at)
{
    return at ? static_cast<uint>((static_cast<const uchar *>(at) - heap->memory) / 16) : 0;
}

inline void *kma_counted_deref(kma_counted *heap, uint ref)
{
    return ref != 0 ? heap->memory + size_t{ref} * 16 : nullptr;
}
