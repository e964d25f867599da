// C++ objects in memory that the device files see as raw bytes: a queue's nodes, what KMA_NEW returns.
//
// Relacy's atomics must be constructed and, at the end of an execution, destroyed; both happens here and not in cl/.
#pragma once

#include "types.hpp"

namespace shim {

class object_list {
public:
    template <class T> T *construct(void *place)
    {
        const uint index = count_.fetch_add(1);
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

template <class T, class Heap> T *new_in(Heap *heap)
{
    void *const place = kma_bump_malloc(heap, sizeof(T)); // found when instantiated, beside the heap's type
    return place ? objects.construct<T>(place) : nullptr;
}

} // namespace shim

#define KMA_NEW(heap, T) shim::new_in<T>(heap)
