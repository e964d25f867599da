// What a NULL costs, by the size of the heap: how many atomic operations the first malloc takes that finds no block, on
// heaps of 1 to 64 MiB that are nearly free but have a living block of 128 bytes in each page or superblock. With a
// device's numbers; threads only.
//
// Checked: each such malloc gets NULL within a few hundred operations, and takes at most twice as many on the largest
// heap as on the smallest, and some, for more levels of trees and more sizes; and requests that are smaller than the
// living blocks get memory.
#pragma once

#include <sys/mman.h>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvolatile" // the device files are C
#include "kma/heap/scatter.cl"
#include "kma/heap/superblock.cl"
#pragma GCC diagnostic pop

// A kind's functions, by one name for both.
#define KMA_HOST_STEPS(KIND)                                                                                           \
    using heap_type = kma_##KIND;                                                                                      \
    static constexpr const char *name = #KIND;                                                                         \
    static void *aligned_alloc(heap_type *heap, size_t a, size_t n) { return kma_##KIND##_aligned_alloc(heap, a, n); } \
    static void free(heap_type *heap, void *block) { kma_##KIND##_free(heap, block); }                                 \
    static size_t usable_size(heap_type *heap, void *block) { return kma_##KIND##_usable_size(heap, block); }

template <uint threads> class scenario {
public:
    void before() {}
    void thread(uint) {}

    void after()
    {
        shim::is_lone = true;
        std::puts("heap        MiB  align  bytes  operations   (of the first malloc that finds nothing)");
        compare<scatter>({{16, 4096}, {16, 160}, {4096, 4096}, {16, 8192}});
        for (const uint mib : sizes) // of pages whose only aligned block is taken, of which it looks at some
            shim::check(steps<scatter>(mib, 4096, 100) <= 6 * KMA_ALIGNED_LOOKS, "an aligned NULL takes too many steps");
        compare<superblock>({{16, 144}, {16, 4096}, {4096, 4096}});
    }

private:
    struct request {
        size_t align, bytes;
    };
    static constexpr uint sizes[] = {1, 8, 64}; // MiB
    static constexpr uint most_steps = 400;     // of a NULL

    struct scatter {
        KMA_HOST_STEPS(scatter)
        static void init(heap_type *heap, size_t bytes, size_t me, size_t all)
        {
            kma_scatter_init(heap, bytes, 0, 8, 11, false, me, all);
        }
    };
    struct superblock { // of which there are 128 at most
        KMA_HOST_STEPS(superblock)
        static void init(heap_type *heap, size_t bytes, size_t me, size_t all)
        {
            kma_superblock_init(heap, bytes, 0, kma_highest_bit(bytes / 128 / KMA_UNIT), false, me, all);
        }
    };

    template <class Kind> static void compare(std::initializer_list<request> requests)
    {
        for (const auto &[align, bytes] : requests) {
            uint least = ~0u, most = 0;
            for (const uint mib : sizes) {
                const uint n = steps<Kind>(mib, align, bytes);
                std::printf("%-10s %4u %6zu %6zu %11u\n", Kind::name, mib, align, bytes, n);
                least = std::min(least, n);
                most = std::max(most, n);
            }
            shim::check(most <= most_steps, "a NULL takes too many steps");
            shim::check(most <= 2 * least + 40, "a NULL takes more steps on a larger heap");
        }
    }

    // Blocks fill the heap, and all but one of each page or superblock are freed. Then the steps of a NULL.
    template <class Kind> static uint steps(uint mib, size_t align, size_t bytes)
    {
        const size_t heap_bytes = size_t{mib} << 20;
        void *const memory = // all zero, and mostly never touched
            mmap(nullptr, heap_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        shim::check(memory != MAP_FAILED, "no address space for a heap");
        auto *const heap = static_cast<typename Kind::heap_type *>(memory);
        const auto begin_step = [] { // of a thread, whose operations are limited
            shim::start_watchdog();
            shim::begin_call();
        };
        for (size_t me = 0; me < 4096; me++, begin_step())
            Kind::init(heap, heap_bytes, me, 4096);
        std::vector<uchar *> blocks;
        while (auto *const block = static_cast<uchar *>(Kind::aligned_alloc(heap, 16, 128))) {
            blocks.push_back(block);
            begin_step();
        }
        std::ranges::sort(blocks);
        const auto part_of = [heap](const uchar *block) {
            return (static_cast<size_t>(block - reinterpret_cast<uchar *>(heap)) / KMA_UNIT - heap->plan.begin) >> heap->plan.shift;
        };
        for (size_t n = 1; n < blocks.size(); n++, begin_step())
            if (part_of(blocks[n]) == part_of(blocks[n - 1]))
                Kind::free(heap, blocks[n]);
        begin_step();
        shim::check(!Kind::aligned_alloc(heap, align, bytes), "a block");
        const uint result = shim::self().operations;
        for (const size_t less : {16, 96, 112, 128}) {
            begin_step();
            void *const block = Kind::aligned_alloc(heap, 16, less);
            shim::check(block && Kind::usable_size(heap, block) >= less, "no block though nearly all memory is free");
        }
        munmap(memory, heap_bytes);
        return result;
    }
};
