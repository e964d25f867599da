// The heaps' kernels as C++, in the flavour that KMA_HAS_ATOMIC64 and KMA_DEBUG name. A namespace for each flavour,
// since all are linked into one program.
#include <algorithm>
#include <atomic>
#include <bit>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "native_opencl.hpp"

#define KMA_LANES 1 // each work-item for itself

namespace KMA_NATIVE_FLAVOUR {

#include "../host/shim/types.hpp"

namespace shim {

inline place this_place;
inline std::size_t group_size = 1;

inline place &self()
{
    return this_place;
}

// A plain number: there is one thread. What it counts shows kernels that do not end.
template <class T> class word {
public:
    T load(kma_order, location) const { return count(), value_; }
    void store(T value, kma_order, location) { count(), value_ = value; }
    T exchange(T value, kma_order, location) { return replace(value); }
    T cas(T expected, T desired, kma_order, location) { return replace(value_ == expected ? desired : value_); }
    T fetch_add(T value, kma_order, location) { return replace(static_cast<T>(value_ + value)); }
    T fetch_or(T value, kma_order, location) { return replace(value_ | value); }
    T fetch_and(T value, kma_order, location) { return replace(value_ & value); }

private:
    static void count()
    {
        if (++native::operations > native::most_operations) {
            std::fputs("a kernel does not end\n", stderr);
            std::abort();
        }
    }
    T replace(T value)
    {
        count();
        return std::exchange(value_, value);
    }

    T value_;
};

template <class T> using plain = T;

inline void fence(kma_order, location) {}

} // namespace shim

// How a kernel is called: its parameters from arguments.
template <auto function> struct Call;
template <class... Parameters, void (*function)(Parameters...)> struct Call<function> {
    template <class P> static P value_of(const native::Argument &argument)
    {
        if constexpr (std::is_pointer_v<P>) {
            return static_cast<P>(argument.memory);
        } else {
            P value;
            std::memcpy(&value, argument.value, sizeof value);
            return value;
        }
    }

    static void run(const std::vector<native::Argument> &arguments, std::size_t work_items, std::size_t group)
    {
        shim::work_items = work_items;
        shim::group_size = group;
        for (std::size_t id = work_items; id-- != 0;) {
            shim::self().id = id;
            [&]<std::size_t... i>(std::index_sequence<i...>) {
                function(value_of<Parameters>(arguments[i])...);
            }(std::index_sequence_for<Parameters...>());
        }
    }

    static native::Kernel named(const char *name)
    {
        return {name, {(std::is_pointer_v<Parameters> ? 0 : sizeof(Parameters))...}, run};
    }
};

#include "../host/shim/opencl.hpp"

#include "../host/shim/memory.hpp"

// The words have their right sizes here, and so have the queue and its nodes.
#undef KMA_SUPERBLOCK_QUEUE_BYTES
#undef KMA_SUPERBLOCK_NODE_BYTES

// A work-group is one call after the other, so what is local is one for all of them. No barrier is needed where the
// first work-item comes last, if only that one reads what the others wrote.
#undef local
#define local static
#define CLK_LOCAL_MEM_FENCE 0
#define CLK_GLOBAL_MEM_FENCE 0
inline void barrier(int) {}
#define reqd_work_group_size(x, y, z) // an attribute that clang knows for kernels only
inline size_t get_local_id(uint)
{
    return shim::self().id % shim::group_size;
}
inline size_t get_local_size(uint)
{
    return shim::group_size;
}

#include "kma/kma.cl"
#include "kma/heap/bump/kernels.cl"
#include "kma/heap/scatter/kernels.cl"
#include "kma/heap/slab/kernels.cl"
#include "kma/heap/superblock/kernels.cl"

// What fills a heap, in order, by one work-item: blocks, each with the ref of the one before and its number in it.
#define KMA_NATIVE_USE(kind)                                                                                           \
    kernel void native_##kind##_allocate(global kma_##kind *heap, global const ulong *sizes, global uint *refs,        \
                                         uint count)                                                                   \
    {                                                                                                                  \
        for (uint i = 0; i < count; i++) {                                                                             \
            global uint *block = (global uint *)kma_##kind##_malloc(heap, sizes[i]);                                   \
            refs[i] = kma_##kind##_ref_of(heap, block);                                                                \
            if (block) {                                                                                               \
                block[0] = i == 0 ? 0 : refs[i - 1];                                                                   \
                block[1] = i;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    kernel void native_##kind##_free(global kma_##kind *heap, global const uint *refs, uint count)                     \
    {                                                                                                                  \
        for (uint i = 0; i < count; i++)                                                                               \
            kma_##kind##_free(heap, kma_##kind##_deref(heap, refs[i]));                                                \
    }
// Gives each block the size that is asked for it; where it goes is in `refs` afterwards.
#define KMA_NATIVE_REALLOC(kind)                                                                                       \
    kernel void native_##kind##_realloc(global kma_##kind *heap, global const ulong *sizes, global uint *refs,         \
                                        uint count)                                                                    \
    {                                                                                                                  \
        for (uint i = 0; i < count; i++)                                                                               \
            refs[i] =                                                                                                  \
                kma_##kind##_ref_of(heap, kma_##kind##_realloc(heap, kma_##kind##_deref(heap, refs[i]), sizes[i]));    \
    }
KMA_NATIVE_USE(bump)
KMA_NATIVE_USE(scatter)
KMA_NATIVE_USE(slab)
KMA_NATIVE_USE(superblock)
#if KMA_DEBUG // else it does not know its blocks' sizes
KMA_NATIVE_REALLOC(bump)
#endif
KMA_NATIVE_REALLOC(scatter)
KMA_NATIVE_REALLOC(slab)
KMA_NATIVE_REALLOC(superblock)

#define KMA_NATIVE_KERNEL(name) Call<&name>::named(#name)
#define KMA_NATIVE_KERNELS(kind)                                                                                       \
    KMA_NATIVE_KERNEL(kma_##kind##_init_kernel), KMA_NATIVE_KERNEL(kma_##kind##_init_growing_kernel),                  \
        KMA_NATIVE_KERNEL(kma_##kind##_grow_kernel), KMA_NATIVE_KERNEL(kma_##kind##_reset_kernel),                     \
        KMA_NATIVE_KERNEL(kma_##kind##_clear_errors_kernel), KMA_NATIVE_KERNEL(kma_##kind##_stats_kernel),             \
        KMA_NATIVE_KERNEL(native_##kind##_allocate), KMA_NATIVE_KERNEL(native_##kind##_free)
[[maybe_unused]] static const bool is_registered = [] { // clang-format off
    native::flavours().push_back(
        {KMA_HAS_ATOMIC64,
         KMA_DEBUG,
         {
             KMA_NATIVE_KERNELS(bump), KMA_NATIVE_KERNELS(scatter), KMA_NATIVE_KERNELS(slab),
             KMA_NATIVE_KERNELS(superblock), KMA_NATIVE_KERNEL(kma_superblock_width_kernel),
             KMA_NATIVE_KERNEL(kma_superblock_census_kernel), KMA_NATIVE_KERNEL(kma_superblock_classes_kernel),
             KMA_NATIVE_KERNEL(kma_superblock_queue_kernel),
#if KMA_DEBUG
             KMA_NATIVE_KERNEL(native_bump_realloc),
#endif
             KMA_NATIVE_KERNEL(native_scatter_realloc), KMA_NATIVE_KERNEL(native_slab_realloc),
             KMA_NATIVE_KERNEL(native_superblock_realloc),
         }});
    return true;
}();

} // namespace KMA_NATIVE_FLAVOUR
