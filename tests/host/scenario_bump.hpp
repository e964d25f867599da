// The bump heap: two small heaps that run full while threads ask for blocks of mixed sizes and alignments.
//
// Checked: blocks do not overlap; the head counts exactly what was served; every NULL is counted in the error log;
// afterwards one lone request gets all that is left, and the next byte does not fit.
#pragma once

#ifndef KMA_BUMP_UNCHECKED
#define KMA_BUMP_UNCHECKED 6u // so that larger sums go their own way: rooms are 7 and 11 units
#endif
#include "kma/heap/bump.cl"

template <uint threads> class scenario {
public:
    void before()
    {
        variant_ = shim::random(request_kinds);
        for (heap_under_test &each : heaps_)
            each.init();
    }

    void thread(uint me)
    {
        const uint rounds = shim::chosen.rounds ? shim::chosen.rounds : 3;
        for (uint round = 0; round < rounds; round++) {
            // Mostly the first heap, which the lanes of a group ask together; sometimes the second beside it.
            heap_under_test &from = heaps_[(me + 2 * round + variant_) % 5 == 0];
            const request &wanted = requests[(3 * me + round + variant_) % request_kinds];
            void *const block = kma_bump_aligned_alloc(from.heap, wanted.align, wanted.bytes);
            from.note(me, wanted, block);
        }
    }

    void after()
    {
        for (heap_under_test &each : heaps_)
            each.check_at_rest();
        shim::objects.destroy_all();
    }

private:
    struct request {
        size_t align;
        size_t bytes;
    };

    static constexpr uint request_kinds = 7;
    static constexpr request requests[request_kinds] = {
        {16, 16}, {16, 40}, {16, 0}, {32, 16}, {1, 64}, {16, size_t{1} << 40}, {64, 1},
    };

    static ulong blocks_units(const request &wanted) { return (wanted.bytes + KMA_UNIT - 1) / KMA_UNIT; }

    struct heap_under_test {
        static constexpr uint room = 2 * threads + 1; // units: less than the threads ask for
        static constexpr size_t metadata = (sizeof(kma_bump) + KMA_UNIT - 1) / KMA_UNIT * KMA_UNIT;

        alignas(16) uchar memory[metadata + room * KMA_UNIT + 8]; // the 8 are less than a unit
        kma_bump *heap;
        KMA_PLAIN(uint) owner[room]; // of each unit; a block's owner writes without asking
        ulong served[threads] = {};  // units, those lost to alignment included
        ulong marked[threads] = {};  // units that blocks of the thread cover
        uint full[threads] = {};     // requests refused for want of room
        uint too_large[threads] = {};

        void init()
        {
            heap = shim::objects.construct<kma_bump>(memory);
            kma_bump_init(heap, sizeof(memory), 0, 1);
            shim::check(heap->header.limit - heap->header.begin == room, "the heap has not the room it should have");
            for (uint unit = 0; unit < room; unit++)
                owner[unit] = 0;
        }

        void note(uint me, const request &wanted, void *block)
        {
            const ulong units = blocks_units(wanted);
            const ulong align_units = wanted.align <= KMA_UNIT ? 1 : wanted.align / KMA_UNIT;
            if (wanted.bytes == 0)
                return shim::check(!block, "a block of no bytes");
            if (units + align_units - 1 > room) {
                too_large[me]++;
                return shim::check(!block, "a block larger than the heap");
            }
            if (!block) {
                full[me]++;
                return;
            }
            served[me] += units + align_units - 1;
            marked[me] += units;
            const kma_ref ref = kma_bump_ref_of(heap, block);
            shim::check(ref % align_units == 0, "a block is not aligned");
            shim::check(ref >= heap->header.begin && ref + units <= heap->header.limit, "a block is outside the heap");
            const uint first = ref - heap->header.begin;
            for (uint unit = first; unit < first + units; unit++)
                owner[unit] = me + 1;
            shim::linger();
            for (uint unit = first; unit < first + units; unit++)
                shim::check(owner[unit] == me + 1, "a unit has two owners");
        }

        void check_at_rest()
        {
            ulong all_served = 0, all_marked = 0, marks = 0, refused = 0, oversized = 0;
            for (uint id = 0; id < threads; id++) {
                all_served += served[id];
                all_marked += marked[id];
                refused += full[id];
                oversized += too_large[id];
            }
            for (uint unit = 0; unit < room; unit++)
                marks += owner[unit] != 0;
            shim::check(marks == all_marked, "blocks overlap");
            const ulong head = kma_bump_load_head(&heap->head, KMA_RELAXED);
            shim::check(head >= heap->header.begin && head <= heap->header.limit, "the head rests outside the heap");
            shim::check(head - heap->header.begin == all_served, "the head does not count what was served");

            const ulong left = heap->header.limit - head;
            if (left != 0)
                shim::check(kma_bump_malloc(heap, left * KMA_UNIT), "a lone request did not get what is left");
            shim::check(!kma_bump_malloc(heap, 1), "a block beyond the limit");
            check_log(KMA_ERROR_OUT_OF_MEMORY, refused + 1);
            check_log(KMA_ERROR_TOO_LARGE, oversized);
        }

        void check_log(uint code, ulong expected)
        {
            shim::check(kma_load_u32(&heap->header.errors.count[code], KMA_RELAXED) == expected,
                        "the error log does not count the NULLs");
            const kma_error_record *records = &heap->header.errors.first[code * KMA_ERROR_KEPT];
            for (uint n = 0; n < KMA_ERROR_KEPT; n++)
                shim::check(records[n].written == (n < expected), "an error record is missing, or one too many");
        }
    };

    heap_under_test heaps_[2];
    uint variant_ = 0; // which thread asks for what, so that one run sees many mixtures
};
