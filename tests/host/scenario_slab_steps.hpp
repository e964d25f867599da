// How many steps a malloc of a whole warp takes on an aged slab heap, its steps being the longest chain of atomic operations
// that wait for one another; loads that do not are counted as if they did. A GPU's time, but for what a crowd of warps does to each
// other, as a lone caller plays one warp after the other (shim/lockstep.hpp). The heap is of 128 MiB, with a device's numbers and
// places, and ages as `kma bench --suite uniform` lets it: half full of blocks of 16 to 4080 bytes, of which some come and go
// in each of --rounds kernels. Threads only.
//
// Checked: that the mean for each size is not above what it was when this was written, and a half; that nobody gets NULL.
#pragma once

#include <algorithm>
#include <numeric>
#include <sys/mman.h>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvolatile" // the device files are C
#include "kma/heap/slab.cl"
#pragma GCC diagnostic pop

template <uint threads> class scenario {
public:
    void before() {}
    void thread(uint) {}

    void after()
    {
        shim::is_lone = true;
        shim::place_items = per_place;
        void *const memory = mmap(nullptr, heap_bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); // blocks are never touched
        shim::check(memory != MAP_FAILED, "no address space for a heap");
        heap_ = static_cast<kma_slab *>(memory);
        for (uint me = 0; me < 64; me++) {
            shim::self().operations = 0; // which are limited
            kma_slab_init(heap_, heap_bytes, 0, cursors, true, me, 64);
        }
        age();
        std::puts("bytes   mean  median  99 %  longest   (steps of a warp)");
        for (const auto &[bytes, bound] : bounds)
            measure(bytes, bound);
        munmap(memory, heap_bytes);
    }

private:
    static constexpr size_t heap_bytes = size_t{128} << 20;
    static constexpr uint cursors = 12, multiprocessors = 132, per_place = 1u << 20; // an H100's
    static constexpr uint slots = heap_bytes / 2048, window = slots / 32;
    static constexpr uint chance = static_cast<uint>(0.6 * 4294967296.0);
    struct size_bound {
        uint bytes, mean;
    };
    static constexpr size_bound bounds[] = {{16, 8}, {64, 9}, {256, 10}, {1024, 13}, {4096, 19}, {8192, 37}};

    // The first work-item of a warp, which runs on one multiprocessor after the other.
    static size_t id_of(uint warp) { return size_t{warp % multiprocessors} * per_place + warp % (per_place / 32) * 32; }

    template <class Body> static void run(uint warp, const Body &body)
    {
        shim::start_watchdog(); // for this one
        shim::lockstep::run(32, id_of(warp), body);
    }

    void age()
    {
        refs_.assign(slots, KMA_NULL);
        for (uint first = 0; first < slots; first += window)
            kernel_of(first, 1u << 31, 0, 0);
        const uint kernels = shim::chosen.rounds != 0 ? shim::chosen.rounds : 60;
        for (uint n = 1; n <= kernels; n++)
            kernel_of(static_cast<uint>(ulong{n} * window % slots), chance, chance, n * 0x9e3779b9u);
    }

    // Kernel `steady` of bench/heap.cl.
    void kernel_of(uint first, uint take_below, uint give_below, uint seed)
    {
        for (uint warp = 0; warp < window / 32; warp++)
            run(warp, [&](uint lane) {
                const uint slot = first + warp * 32 + lane;
                const uint random = kma_mix32(kma_mix32(slot) + seed);
                if (refs_[slot] != KMA_NULL && random < give_below) {
                    kma_slab_free(heap_, kma_slab_deref(heap_, refs_[slot]));
                    refs_[slot] = KMA_NULL;
                } else if (refs_[slot] == KMA_NULL && random < take_below) {
                    const uint bytes = 16 + static_cast<uint>(ulong{kma_mix32(random)} * 4065 >> 32);
                    refs_[slot] = kma_slab_ref_of(heap_, kma_slab_malloc(heap_, bytes));
                }
            });
    }

    // An eighth of the heap at most in blocks of a size, and all freed again.
    void measure(uint bytes, uint bound)
    {
        const uint warps = std::min<uint>(512, heap_bytes / 8 / bytes / 32);
        std::vector<void *> blocks(size_t{warps} * 32);
        std::vector<uint> steps;
        for (uint warp = 0; warp < warps; warp++) {
            run(warp, [&](uint lane) { blocks[warp * 32 + lane] = kma_slab_malloc(heap_, bytes); });
            steps.push_back(shim::lockstep::longest);
        }
        shim::check(std::ranges::count(blocks, nullptr) == 0, "no block, though half of the heap is free");
        for (uint warp = 0; warp < warps; warp++)
            run(warp, [&](uint lane) { kma_slab_free(heap_, blocks[warp * 32 + lane]); });
        std::ranges::sort(steps);
        const double mean = std::accumulate(steps.begin(), steps.end(), 0.0) / warps;
        std::printf("%5u %6.1f %7u %5u %8u\n", bytes, mean, steps[warps / 2], steps[warps * 99 / 100], steps.back());
        shim::check(mean <= bound, "a malloc takes more steps on an aged heap than it did");
    }

    kma_slab *heap_ = nullptr;
    std::vector<kma_ref> refs_;
};
