// What a NULL costs, by the size of the heap: how many atomic operations the first malloc takes that finds no block, on heaps
// of 1 to 64 MiB that are nearly free but have a living block in each page or superblock. With a device's numbers; threads
// only.
//
// Checked: each such malloc gets NULL within a few hundred operations, and takes at most twice as many on the largest heap
// as on the smallest, and some, for more levels of trees and more sizes; and requests that are smaller than the living
// blocks get memory.
#pragma once

#include <algorithm>
#include <sys/mman.h>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvolatile" // the device files are C
#include "kma/heap/scatter.cl"
#include "kma/heap/superblock.cl"
#pragma GCC diagnostic pop

template <uint threads> class scenario {
public:
    void before() {}
    void thread(uint) {}

    void after()
    {
        shim::is_lone = true;
        std::puts("heap        MiB  align  bytes  operations   (of the first malloc that finds nothing)");
        for (const bool was_full : {true, false})
            compare("scatter", {{16, 4096}, {16, 160}, {4096, 4096}, {16, 8192}},
                    [&](uint mib, size_t align, size_t bytes) { return scatter(mib, was_full, align, bytes); });
        for (const uint mib : sizes) // of pages whose only aligned chunk is taken, of which it looks at some
            shim::check(scatter(mib, true, 4096, 100) <= 6 * KMA_ALIGNED_LOOKS, "an aligned NULL takes too many steps");
        compare("superblock", {{16, 144}, {16, 4096}, {4096, 4096}},
                [](uint mib, size_t align, size_t bytes) { return superblock(mib, align, bytes); });
    }

private:
    struct request {
        size_t align, bytes;
    };
    static constexpr uint sizes[] = {1, 8, 64}; // MiB
    static constexpr uint most_steps = 400;     // of a NULL

    template <class Count> static void compare(const char *name, std::initializer_list<request> requests, Count count)
    {
        for (const auto &[align, bytes] : requests) {
            uint least = ~0u, most = 0;
            for (const uint mib : sizes) {
                const uint steps = count(mib, align, bytes);
                std::printf("%-10s %4u %6zu %6zu %11u\n", name, mib, align, bytes, steps);
                least = std::min(least, steps);
                most = std::max(most, steps);
            }
            shim::check(most <= most_steps, "a NULL takes too many steps");
            shim::check(most <= 2 * least + 40, "a NULL takes more steps on a larger heap");
        }
    }

    // Calls `act` and returns how many atomic operations it took.
    template <class Act> static uint steps_of(const Act &act)
    {
        shim::start_watchdog();
        shim::self().operations = 0;
        act();
        return shim::self().operations;
    }

    // Memory that is all zero, and mostly never touched.
    template <class Heap> static Heap *map(size_t bytes)
    {
        void *const memory =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        shim::check(memory != MAP_FAILED, "no address space for a heap");
        return static_cast<Heap *>(memory);
    }

    // In parts, since the operations of a thread are limited.
    template <class Init> static void init(const Init &part)
    {
        for (size_t me = 0; me < 4096; me++)
            steps_of([&] { part(me, size_t{4096}); });
    }

    // Blocks of 128 bytes, one in each page: of pages that were full until the others were freed, or never were.
    static uint scatter(uint mib, bool was_full, size_t align, size_t bytes)
    {
        constexpr uint shift = 8;
        const size_t heap_bytes = size_t{mib} << 20;
        kma_scatter *const heap = map<kma_scatter>(heap_bytes);
        init([&](size_t me, size_t all) { kma_scatter_init(heap, heap_bytes, 0, shift, 11, false, me, all); });
        std::vector<kma_ref> refs;
        const kma_scatter_heap sc = kma_scatter_open(heap);
        const kma_scatter_own own = kma_scatter_own_of(&sc, kma_scatter_class_of(8, shift));
        for (uint page = 0; page < heap->plan.pages; page++)
            steps_of([&] {
                for (uint left = was_full ? own.size.spots : 1; left != 0; left--) {
                    const kma_scatter_share share = kma_scatter_try(&sc, own, page, 1);
                    refs.push_back(kma_scatter_chunk(&sc, page, own.size,
                                                kma_scatter_search_bit(kma_scatter_bitmap(&sc, page), own.size.spots, share.first)));
                }
            });
        uint last = KMA_SCATTER_NONE;
        for (const kma_ref ref : refs) {
            const uint page = (ref - heap->plan.begin) >> shift;
            if (page == last)
                steps_of([&] { kma_scatter_free(heap, kma_scatter_deref(heap, ref)); });
            last = page;
        }
        const uint steps = steps_of([&] { shim::check(!kma_scatter_aligned_alloc(heap, align, bytes), "a block"); });
        for (const size_t less : {16, 112, 128})
            shim::check(kma_scatter_malloc(heap, less), "no block though nearly all memory is free");
        munmap(static_cast<void *>(heap), heap_bytes);
        return steps;
    }

    // The same of superblocks, of which there are 128 at most.
    static uint superblock(uint mib, size_t align, size_t bytes)
    {
        const size_t heap_bytes = size_t{mib} << 20;
        const uint shift = kma_highest_bit(heap_bytes / 128 / KMA_UNIT);
        kma_superblock *const heap = map<kma_superblock>(heap_bytes);
        init([&](size_t me, size_t all) { kma_superblock_init(heap, heap_bytes, 0, shift, false, me, all); });
        std::vector<bool> has_block(heap->plan.superblocks);
        std::vector<kma_ref> refs;
        bool is_full = false;
        while (!is_full)
            steps_of([&] {
                void *const block = kma_superblock_malloc(heap, 128);
                is_full = !block;
                if (block)
                    refs.push_back(kma_superblock_ref_of(heap, block));
            });
        for (const kma_ref ref : refs) {
            const uint sb = (ref - heap->plan.begin) >> shift;
            if (has_block[sb])
                steps_of([&] { kma_superblock_free(heap, kma_superblock_deref(heap, ref)); });
            has_block[sb] = true;
        }
        const uint steps = steps_of([&] { shim::check(!kma_superblock_aligned_alloc(heap, align, bytes), "a block"); });
        for (const size_t less : {16, 96, 112, 128})
            steps_of([&] {
                void *const block = kma_superblock_malloc(heap, less);
                shim::check(block, "no block though nearly all memory is free");
                shim::check(kma_superblock_usable_size(heap, block) == 128, "a block of another size");
            });
        munmap(static_cast<void *>(heap), heap_bytes);
        return steps;
    }
};
