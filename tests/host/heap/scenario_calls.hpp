// Every function of the heaps by a lone caller, at its edges: sizes and alignments of all kinds, wrong pointers,
// damaged metadata, initialisation by several work-items of memory that is full of something else. Threads only.
//
// Checked: each result, and that the error log has exactly what happened.
#pragma once

#define KMA_BIT_TREE_SHIFT 3u // between the schedules' 1 and the devices' 5
#define KMA_SLAB_DEVICE_SIZES // of all but shares
#define KMA_SLAB_FEW_SHIFT 5u
#define KMA_SLAB_MANY_SHIFT slab_many_shift

#include "heap/calls_aligned.hpp"
#include "heap/calls_plans.hpp"
#include "heap/slab/calls.hpp"
#include "platform/calls_lanes.hpp"

template <uint threads> class scenario {
public:
    void before() {}
    void thread(uint) {}

    void after()
    {
        shim::is_lone = true;
        calls::check_lanes();
        calls::check_sizes();
        calls::check_plans();
        check_headers();
        calls::check_bump();
        calls::check_superblock();
        calls::check_scatter();
        calls::check_aligned_spots();
        calls::check_aligned_requests();
        calls::check_slab();
    }

private:
    // Whether a buffer is a heap of a kind: each of the words in turn is wrong.
    static void check_headers()
    {
        for (uint wrong = 0; wrong < 6; wrong++)
            for (const uint kind : {KMA_KIND_BUMP, KMA_KIND_SUPERBLOCK, KMA_KIND_SCATTER}) {
                calls::log_of log{calls::new_heap<calls::bump_calls>(calls::bump_calls::bytes_of(100))};
                kma_heap_header *const header = &log.heap->header;
                header->kind = kind;
                header->magic ^= wrong == 1;
                header->layout ^= wrong == 2;
                header->kind ^= wrong == 3 ? 3 : 0;
                header->debug ^= wrong == 4;
                header->atomic64 ^= wrong == 5;
                shim::check(kma_heap_exists(header, kind) == (wrong == 0 || wrong > 3), "whether a heap exists");
                const bool is = kma_heap_is(calls::base(), kind);
                if (wrong == 0 || (wrong == 5 && kind != KMA_KIND_SUPERBLOCK))
                    log.works(is);
                else if (wrong < 3)
                    log.works(!is); // no heap, so no log
                else
                    log.fails(!is, KMA_ERROR_BAD_HEAP);
            }
        shim::check(!kma_heap_is(nullptr, KMA_KIND_BUMP), "no buffer is no heap");
    }
};
