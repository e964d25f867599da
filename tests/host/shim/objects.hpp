// C++ objects in memory that the device files see as raw bytes: a queue's nodes, what KMA_NEW and KMA_OBJECT_AT return.
//
// Relacy's atomics must be constructed and, at the end of an execution, destroyed; both happens here and not in cl/.
#pragma once

#include "types.hpp"

namespace shim {

class object_list {
public:
    template <class T> T *construct(void *place)
    {
        const uint index = count_.fetch_add(1, std::memory_order_relaxed); // orders nothing for those it counts
        check(index < capacity, "the object list is too short for this test");
        entries_[index] = {place, [](void *object) { static_cast<T *>(object)->~T(); }};
        return ::new (place) T;
    }

    void destroy_all()
    {
        for (uint i = count_.exchange(0); i-- != 0;)
            entries_[i].destroy(entries_[i].object);
    }

    // After an execution that failed half-way, whose objects went with it.
    void forget_all() { count_ = 0; }

private:
    static constexpr uint capacity = 4096;
    struct entry {
        void *object;
        void (*destroy)(void *);
    };
    std::atomic<uint> count_ = 0;
    entry entries_[capacity];
};

inline object_list objects;

// Memory for one heap, of up to `most` bytes. On threads exactly as much as is asked for, by itself, so that a
// sanitizer sees the first byte beyond it; Relacy has operator new for itself while it runs.
template <size_t most> class heap_memory {
public:
    uchar *take(size_t bytes)
    {
        check(bytes <= most, "the heap is too large for this test");
        if constexpr (is_model_checker)
            return inside_;
        release();
        own_ = static_cast<uchar *>(::operator new(bytes, std::align_val_t(alignment)));
        return own_;
    }

    heap_memory() = default;
    heap_memory(const heap_memory &) = delete;
    ~heap_memory() { release(); }

private:
    static constexpr size_t alignment = 4096; // the largest that a heap gives
    void release()
    {
        if constexpr (!is_model_checker)
            ::operator delete(std::exchange(own_, nullptr), std::align_val_t(alignment));
    }

    uchar *own_ = nullptr;
    alignas(alignment) uchar inside_[is_model_checker ? most : 1];
};

template <class T> T *new_at(void *place)
{
    return place ? objects.construct<T>(place) : nullptr;
}

} // namespace shim

#define KMA_NEW(heap, T) shim::new_at<T>(kma_aligned_alloc(heap, alignof(T), sizeof(T)))
#define KMA_OBJECT_AT(T, memory) shim::objects.construct<T>(memory)
