// Every function of the heaps by a lone caller, at its edges: sizes and alignments of all kinds, wrong pointers,
// damaged metadata, initialisation by several work-items of memory that is full of something else. Threads only.
//
// Checked: each result, and that the error log has exactly what happened.
#pragma once

#define KMA_BIT_TREE_SHIFT 3u // between the schedules' 1 and the devices' 5
#define KMA_SLAB_DEVICE_SIZES // of all but shares
#define KMA_SLAB_FEW_SHIFT 5u
#define KMA_SLAB_MANY_SHIFT slab_many_shift

#include "heap/calls.hpp"
#include "heap/calls_aligned.hpp"
#include "heap/scatter/calls.hpp"
#include "heap/slab/calls.hpp"
#include "heap/bump/heap.hpp"
#include "heap/superblock/heap.hpp"

template <uint threads> class scenario {
public:
    void before() {}
    void thread(uint) {}

    void after()
    {
        shim::is_lone = true;
        check_arithmetic();
        check_size_classes();
        check_alignments();
        check_plans();
        check_headers();
        check_bump();
        check_superblock();
        check_growing_plans();
        check_bump_growth();
        check_superblock_growth();
        calls::check_scatter();
        calls::check_aligned_spots();
        calls::check_aligned_requests();
        calls::check_slab();
    }

private:
    template <class Heap> using log_of = calls::log_of<Heap>;
    static uchar *base() { return calls::base(); }

    static void check_arithmetic()
    {
        static constexpr ulong numbers[] = {0, 1, 3, 0xffffffff, 0x100000000, 0x100000001, 0x1ffffffff, ~0ul / 3, ~0ul};
        for (const ulong a : numbers)
            for (const ulong b : numbers)
                shim::check(kma_mul_sat(a, b) == (a != 0 && b > ~0ul / a ? ~0ul : a * b), "mul_sat");
        for (uint items = 1; items < 200; items++)
            shim::check(kma_bitmap_words(items) == (items + 31) / 32, "words of a bitmap");
        for (uint place = 0; place < 4; place++)
            shim::check(kma_ref_in(base(), place != 0 ? base() + place * KMA_UNIT : nullptr) == place,
                        "ref of a place");
        shim::check(kma_deref_in(base(), KMA_NULL) == nullptr, "NULL's place");
    }

    static void check_size_classes()
    {
        for (uint units = 1; units <= 131072; units += units < 3000 ? 1 : 997)
            for (uint align = 1; align <= 256 && align <= 131072 / units; align *= 4) {
                uint right = 0;
                while (kma_class_units(right) < units || kma_class_units(right) % align != 0)
                    right++;
                shim::check(kma_class_of_aligned(units, align) == right, "the class for an alignment");
                if (align == 1)
                    shim::check(kma_class_of(units) == right, "the class for a size");
            }
        for (uint size_class = 1; size_class < KMA_CLASSES; size_class++)
            shim::check(kma_class_units(size_class) > kma_class_units(size_class - 1), "classes do not rise");
    }

    // Which alignments a heap can give, and which one a block keeps: by its place, its size and its heap's place.
    static void check_alignments()
    {
        for (const size_t offset : {0, 16, 32, 96, 1024, 2048}) {
            uchar *const heap = base() + offset;
            for (size_t align = 1; align <= 8192; align *= 2) {
                const bool can = align <= 4096 && offset % align == 0;
                shim::check(kma_can_align(heap, align, 4096) == can, "an alignment that the heap's address does not give");
                shim::check(!kma_can_align(heap, align + 2, 4096) || align <= 2, "no power of two");
            }
            shim::check(!kma_can_align(heap, 0, 4096), "no alignment");
            for (size_t place = 16; place <= 8192; place *= 2)
                for (const size_t bytes : {0, 1, 16, 31, 32, 100, 2048, 5000}) {
                    size_t right = 1;
                    while (right * 2 <= std::min<size_t>(bytes, 1024) && (offset | place) % (right * 2) == 0)
                        right *= 2;
                    shim::check(kma_kept_align(heap, heap + place, bytes, 1024) == right, "another alignment than the block had");
                    shim::check(kma_kept_align(heap, nullptr, bytes, 1024) == KMA_UNIT, "an alignment of nothing");
                }
        }
    }

    static void check_plans()
    {
        for (uint shift = 2; shift <= KMA_SUPERBLOCK_MAX_SHIFT; shift += 5)
            for (const bool atomic64 : {false, true}) {
                const ulong counted = std::min(ulong{65534}, (ulong{1} << (31 - shift)) - 2);
                const ulong most = atomic64 ? 0xfffffffeul : counted;
                shim::check(kma_superblock_most(shift, atomic64) == most, "the most superblocks");
                for (ulong bytes = 0; bytes < ulong{1} << 42; bytes = bytes * 3 + 5000)
                    check_plan(bytes, shift, atomic64, most);
            }
    }

    static void check_plan(ulong bytes, uint shift, bool atomic64, ulong most)
    {
        const ulong units = std::min(bytes / KMA_UNIT, ulong{0xffffffff});
        const uint got = kma_superblock_plan_for(bytes, shift, 0, atomic64).superblocks;
        ulong end;
        kma_superblock_plan_of(got, shift, 0, &end);
        shim::check(got == 0 || (end <= units && got <= most), "a plan with too many superblocks");
        kma_superblock_plan_of(got + 1, shift, 0, &end);
        shim::check(got == most || end > units, "a plan with too few superblocks");
    }

    // Whether a buffer is a heap of a kind: each of the words in turn is wrong.
    static void check_headers()
    {
        auto *const header = reinterpret_cast<kma_heap_header *>(base());
        auto *const heap = reinterpret_cast<kma_bump *>(base());
        for (uint wrong = 0; wrong < 6; wrong++)
            for (const uint kind : {KMA_KIND_BUMP, KMA_KIND_SUPERBLOCK, KMA_KIND_SCATTER}) {
                init_bump(heap, 1000 + sizeof(kma_bump), 1);
                header->kind = kind;
                header->magic ^= wrong == 1;
                header->layout ^= wrong == 2;
                header->kind ^= wrong == 3 ? 3 : 0;
                header->debug ^= wrong == 4;
                header->atomic64 ^= wrong == 5;
                log_of<kma_bump> log{heap};
                shim::check(kma_heap_exists(header, kind) == (wrong == 0 || wrong > 3), "whether a heap exists");
                const bool is = kma_heap_is(base(), kind);
                if (wrong == 0 || (wrong == 5 && kind != KMA_KIND_SUPERBLOCK))
                    log.works(is);
                else if (wrong < 3)
                    log.works(!is); // no heap, so no log
                else
                    log.fails(!is, KMA_ERROR_BAD_HEAP);
            }
        shim::check(!kma_heap_is(nullptr, KMA_KIND_BUMP), "no buffer is no heap");
    }

    // Of `work_items` only the first may write what there is once; the others are told something else.
    static void init_bump(kma_bump *heap, ulong bytes, uint work_items)
    {
        std::memset(static_cast<void *>(heap), 0xa5, sizeof(kma_bump) + 100 * KMA_UNIT);
        for (uint me = 0; me < work_items; me++)
            kma_bump_init(heap, bytes - me * KMA_UNIT, 0, me, work_items);
    }

    static void check_bump()
    {
        auto *const heap = reinterpret_cast<kma_bump *>(base());
        for (const ulong bytes : {ulong{16}, sizeof(kma_bump) + 100 * KMA_UNIT, ulong{1} << 40}) {
            init_bump(heap, bytes, 3);
            const ulong begin = kma_whole_units(sizeof(kma_bump));
            const ulong limit = std::clamp(bytes / KMA_UNIT, begin, ulong{UINT_MAX} - 1);
            shim::check(heap->header.begin == begin && heap->header.limit == limit, "where blocks may be");
        }
        init_bump(heap, sizeof(kma_bump) + 100 * KMA_UNIT, 70);
        log_of<kma_bump> log{heap};
        log.works(true);
        const auto taken = [heap] { return kma_bump_load_head(&heap->head, KMA_RELAXED) - heap->header.begin; };
        for (const size_t align : {1, 3, 64})
            log.works(!kma_bump_aligned_alloc(heap, align, 0) && taken() == 0);
        for (const size_t align : {size_t{0}, size_t{3}, size_t{24}, size_t{1} << 32})
            log.fails(!kma_bump_aligned_alloc(heap, align, 16), KMA_ERROR_BAD_ALIGNMENT);
        log.fails(!kma_bump_aligned_alloc(heap, 4096, 16), KMA_ERROR_TOO_LARGE);
        log.fails(!kma_bump_malloc(heap, 101 * KMA_UNIT), KMA_ERROR_TOO_LARGE);
        log.works(kma_bump_aligned_alloc(heap, 1, 1) && taken() == 1);
        log.works(kma_bump_ref_of(heap, kma_bump_aligned_alloc(heap, 64, 17)) % 4 == 0 && taken() == 6);
        calls::check_contents<bump_kind>(heap, log);
        check_bump_alignment();
        init_bump(heap, sizeof(kma_bump) + 100 * KMA_UNIT, 1);
        shim::check(kma_bump_malloc(heap, 100 * KMA_UNIT), "all that there is");
        kma_bump_reset(heap);
        shim::check(taken() == 0, "a reset heap is not empty");
#if KMA_HAS_ATOMIC64
        kma_bump_store_head(&heap->head, (1ul << 32) + heap->header.begin, KMA_RELAXED); // after very many adds
        shim::check(!kma_bump_malloc(heap, 16), "a block far beyond the limit");
        kma_bump_reset(heap);
#endif
        kma_store_u32(&heap->header.errors.count[0], 0x80000000u, KMA_RELAXED);
        shim::check(!kma_bump_malloc(heap, 99 * KMA_UNIT) == false && !kma_bump_malloc(heap, 32), "no more room");
        shim::check(kma_load_u32(&heap->header.errors.count[0], KMA_RELAXED) == 0x80000000u,
                    "a count goes on for ever");
    }

    // What is kept costs memory here: no more than the block's size tells. And a heap whose address has less refuses more.
    static void check_bump_alignment()
    {
        auto *const heap = reinterpret_cast<kma_bump *>(base());
        init_bump(heap, sizeof(kma_bump) + 400 * KMA_UNIT, 1);
        log_of<kma_bump> log{heap};
        calls::check_kept_alignment<bump_kind>(heap, log);
        const auto head = [heap] { return kma_bump_load_head(&heap->head, KMA_RELAXED); };
        void *const small = kma_bump_aligned_alloc(heap, 256, 17);
        const ulong before = head();
        log.works(kma_bump_realloc_sized(heap, small, 17, 33) && head() == before + 3);
        auto *const other = reinterpret_cast<kma_bump *>(base() + 32);
        init_bump(other, sizeof(kma_bump) + 100 * KMA_UNIT, 1);
        log_of<kma_bump> others{other};
        others.works(kma_bump_aligned_alloc(other, 32, 16));
        others.fails(!kma_bump_aligned_alloc(other, 64, 16), KMA_ERROR_BAD_ALIGNMENT);
    }

    static void init_superblock(kma_superblock *heap, ulong bytes, uint shift, bool keep_log, uint work_items)
    {
        if (!keep_log)
            std::memset(static_cast<void *>(heap), 0xa5, bytes);
        for (uint me = 0; me < work_items; me++)
            kma_superblock_init(heap, bytes, 0, shift, keep_log, me, work_items);
    }

    static ulong bytes_for(uint superblocks, uint shift)
    {
        ulong end;
        kma_superblock_plan_of(superblocks, shift, 0, &end);
        return end * KMA_UNIT;
    }

    static void check_superblock()
    {
        auto *const heap = reinterpret_cast<kma_superblock *>(base());
        heap_patience = 2;
        const ulong bytes = bytes_for(3, 2);
        for (const uint work_items : {1u, 4u, 100u}) {
            init_superblock(heap, bytes, 2, false, work_items);
            log_of<kma_superblock> log{heap};
            log.works(heap->plan.superblocks == 3 && heap->header.max_bytes == bytes);
            kma_superblock_free(heap, base() + size_t{heap->plan.begin} * KMA_UNIT); // of a superblock never used
            log.fails(true, KMA_ERROR_INVALID_FREE);
            check_superblock_requests(heap, log);
            calls::check_contents<superblock_kind>(heap, log);
            check_wrong_pointers(heap, log);
            check_alone(heap, log);
            init_superblock(heap, bytes, 2, true, work_items); // empties the heap, not the log
            log.works(true);
            check_damaged(heap, log);
        }
        init_superblock(heap, bytes_for(6, 6), 6, false, 1);
        log_of<kma_superblock> roomy{heap};
        calls::check_kept_alignment<superblock_kind>(heap, roomy);
        init_superblock(heap, bytes_for(3, 1), 1, false, 1);
        log_of<kma_superblock> log{heap};
        log.fails(!kma_superblock_aligned_alloc(heap, 64, 16), KMA_ERROR_TOO_LARGE); // aligned beyond a superblock
        check_empty(heap);
        check_larger_classes(heap);
    }

    // Three superblocks of blocks of eight units, one of which is left in each: the others serve smaller requests, of sizes
    // that do not fit aligned ones those that are, and their own size first.
    static void check_larger_classes(kma_superblock *heap)
    {
        for (const uint kept : {0u, 1u}) // of them on offer still: of the last superblock, none or all that is free
            for (const uint units : {1u, 3u, 7u, 8u})
                for (const uint align : {1u, 2u, 4u}) {
                    shim::self().operations = 0; // which are limited
                    init_superblock(heap, bytes_for(3, 4), 4, false, 1);
                    log_of<kma_superblock> log{heap};
                    void *blocks[6];
                    for (void *&block : blocks)
                        log.works(block = kma_superblock_malloc(heap, 8 * KMA_UNIT));
                    if (kept == 0)
                        log.fails(!kma_superblock_malloc(heap, 8 * KMA_UNIT), KMA_ERROR_OUT_OF_MEMORY);
                    for (uint n = 0; n < 6; n += 2)
                        kma_superblock_free(heap, blocks[n]);
                    log.fails(!kma_superblock_malloc(heap, 9 * KMA_UNIT), KMA_ERROR_OUT_OF_MEMORY);
                    log.fails(!kma_superblock_malloc(heap, 16 * KMA_UNIT), KMA_ERROR_OUT_OF_MEMORY);
                    bool given[6] = {};
                    for (uint n = 0; n < 3; n++) {
                        void *const block = kma_superblock_aligned_alloc(heap, align * KMA_UNIT, units * KMA_UNIT);
                        const auto which = static_cast<size_t>(std::find(blocks, blocks + 6, block) - blocks);
                        log.works(which < 6 && which % 2 == 0 && !given[which]);
                        log.works(kma_superblock_usable_size(heap, block) == 8 * KMA_UNIT);
                        log.works(kma_superblock_realloc(heap, block, 8 * KMA_UNIT) == block);
                        given[which] = true;
                    }
                    log.fails(!kma_superblock_malloc(heap, units * KMA_UNIT), KMA_ERROR_OUT_OF_MEMORY);
                    for (void *const block : blocks)
                        kma_superblock_free(heap, block);
                    kma_superblock_free(heap, blocks[0]);
                    log.fails(true, KMA_ERROR_DOUBLE_FREE);
                    for (uint n = 0; n < 3; n++)
                        log.works(kma_superblock_malloc(heap, 16 * KMA_UNIT));
                }
        // Of sizes that are no multiple of the alignment none is taken for one, and the smallest that will do.
        init_superblock(heap, bytes_for(3, 4), 4, false, 1);
        log_of<kma_superblock> log{heap};
        void *const five = kma_superblock_malloc(heap, 5 * KMA_UNIT), *const whole = kma_superblock_malloc(heap, 16 * KMA_UNIT);
        void *const eight = kma_superblock_malloc(heap, 8 * KMA_UNIT);
        void *const two = kma_superblock_malloc(heap, 2 * KMA_UNIT);
        log.works(five && whole && eight && kma_superblock_usable_size(heap, two) == 5 * KMA_UNIT);
        void *const pair = kma_superblock_aligned_alloc(heap, 2 * KMA_UNIT, 3 * KMA_UNIT);
        log.works(kma_superblock_usable_size(heap, pair) == 8 * KMA_UNIT);
    }

    static void check_superblock_requests(kma_superblock *heap, log_of<kma_superblock> &log)
    {
        for (const size_t align : {1, 3, 64, 8192})
            log.works(!kma_superblock_aligned_alloc(heap, align, 0));
        for (const bool has_room : {false, true}) {
            void *const first = has_room ? kma_superblock_aligned_alloc(heap, 64, 16) : nullptr;
            void *const other = has_room ? kma_superblock_malloc(heap, 16) : nullptr;
            kma_superblock_free(heap, first); // where any alignment would do
            for (const size_t align : {size_t{0}, size_t{3}, size_t{KMA_SUPERBLOCK_ALIGN} * 2})
                log.fails(!kma_superblock_aligned_alloc(heap, align, 16), KMA_ERROR_BAD_ALIGNMENT);
            kma_superblock_free(heap, other);
        }
        log.fails(!kma_superblock_malloc(heap, 65), KMA_ERROR_TOO_LARGE);
        void *const whole = kma_superblock_aligned_alloc(heap, 64, 64);
        log.works(whole && kma_superblock_ref_of(heap, whole) % 4 == 0);
        void *const pair = kma_superblock_aligned_alloc(heap, 32, 16);
        log.works(pair && kma_superblock_ref_of(heap, pair) % 2 == 0 && kma_superblock_usable_size(heap, pair) == 32);
        void *const small = kma_superblock_aligned_alloc(heap, 1, 1);
        log.works(small && kma_superblock_usable_size(heap, small) == 16);
        log.fails(!kma_superblock_malloc(heap, 64), KMA_ERROR_OUT_OF_MEMORY);
        for (void *const each : {whole, pair, small})
            kma_superblock_free(heap, each);
        log.works(!kma_superblock_usable_size(heap, small));
    }

    // Superblocks 0 and 1 have blocks of three units and of one; 2 was never used, or is free.
    static void check_wrong_pointers(kma_superblock *heap, log_of<kma_superblock> &log)
    {
        auto *const three = static_cast<uchar *>(kma_superblock_malloc(heap, 48));
        auto *const one = static_cast<uchar *>(kma_superblock_malloc(heap, 16));
        log.works(three && one);
        uchar *const begin = base() + size_t{heap->plan.begin} * KMA_UNIT;
        uchar *const limit = base() + size_t{heap->plan.limit} * KMA_UNIT;
        for (uchar *const wrong :
             {base() - 64, three + KMA_UNIT, limit + 64, three + 1, three + 3 * KMA_UNIT, begin - KMA_UNIT, limit})
            check_foreign<superblock_kind>(heap, wrong, kma_superblock_usable_size(heap, wrong), log);
        kma_superblock_free(heap, one);
        kma_superblock_free(heap, one);
        log.fails(!kma_superblock_usable_size(heap, one), KMA_ERROR_DOUBLE_FREE);
        kma_superblock_free(heap, three);
        log.works(true);
    }

    // Without lanes' company, as those of another heap than the leader's.
    static void check_alone(kma_superblock *heap, log_of<kma_superblock> &log)
    {
        kma_ref refs[3];
        for (kma_ref &ref : refs) {
            ref = kma_superblock_take_alone(heap, kma_class_of(4));
            log.works(ref >= heap->plan.begin && ref < heap->plan.limit);
        }
        log.works(kma_superblock_take_alone(heap, kma_class_of(4)) == KMA_NULL);
        check_overdrawn(heap, log);
        for (const kma_ref ref : refs)
            kma_superblock_free(heap, kma_superblock_deref(heap, ref));
        log.works(true);
    }

    // At out of memory, after 2^30 draws in vain: they must not go on until the counter leaves its half of the word.
    static void check_overdrawn([[maybe_unused]] kma_superblock *heap, [[maybe_unused]] log_of<kma_superblock> &log)
    {
#if KMA_HAS_ATOMIC64
        const kma_superblock_offer overdrawn = kma_superblock_offer_of(KMA_SUPERBLOCK_NONE, KMA_SUPERBLOCK_OVERDRAWN + 5);
        kma_superblock_offer_store(&heap->classes[0].offer, kma_superblock_offer_pack(heap, overdrawn), KMA_RELAXED);
        log.fails(!kma_superblock_malloc(heap, 16), KMA_ERROR_OUT_OF_MEMORY);
        shim::check(kma_superblock_look(heap, 0).drawn < KMA_SUPERBLOCK_OVERDRAWN, "an overdrawn offer is not set back");
#endif
    }

    // Metadata that some kernel wrote over: where to look first, and tickets without blocks.
    static void check_damaged(kma_superblock *heap, log_of<kma_superblock> &log)
    {
        for (uint c = 0; c < heap->plan.size_classes; c++)
            kma_store_u32(&heap->classes[c].partial.recent, 0x3fffffff, KMA_RELAXED);
        log.works(kma_superblock_malloc(heap, 16));
        for (uint sb = 0; sb < 3; sb++) {
            kma_store_u32(kma_superblock_bitmap(heap, sb), ~0u, KMA_RELAXED);
            kma_store_u32(&kma_superblock_state_of(heap, sb)->offered, 0, KMA_RELAXED);
        }
        log.fails(!kma_superblock_malloc(heap, 16), KMA_ERROR_DAMAGED);
    }

    static void check_empty(kma_superblock *heap)
    {
        const ulong bytes = sizeof(kma_superblock);
        std::memset(static_cast<void *>(heap), 0xa5, bytes);
        for (uint me = 0; me < 3; me++)
            kma_superblock_init_empty(heap, bytes - me * KMA_UNIT, me, 3);
        log_of<kma_superblock> log{heap};
        log.works(heap->header.bytes == bytes && kma_heap_exists(&heap->header, KMA_KIND_SUPERBLOCK));
        log.fails(!kma_superblock_malloc(heap, 16), KMA_ERROR_TOO_LARGE);
        kma_superblock_free(heap, base() + bytes);
        log.fails(true, KMA_ERROR_INVALID_FREE);
    }

    // Whatever the size at first, everything lies where it will lie at the largest.
    static void check_growing_plans()
    {
        for (const uint most : {1u, 3u, 40u, 100u}) {
            const ulong max_bytes = bytes_for(most, 3) + 40;
            const kma_superblock_plan last = kma_superblock_plan_for(max_bytes, 3, 0, true);
            const ulong begin = ulong{last.begin} * KMA_UNIT, superblock = KMA_UNIT << 3;
            for (ulong bytes = 0; bytes <= max_bytes; bytes += bytes < begin ? begin / 3 : 40) {
                const kma_superblock_plan plan = kma_superblock_plan_growing(bytes, max_bytes, 3, 0, true);
                const ulong fit = bytes < begin ? 0 : (bytes - begin) / superblock;
                shim::check(plan.superblocks == fit && plan.room == most && plan.begin == last.begin &&
                                plan.bitmaps == last.bitmaps && plan.queue == last.queue && plan.shift == 3,
                            "the plan of a heap that grows");
                shim::check(plan.limit == plan.begin + (plan.superblocks << 3), "the limit of a heap that grows");
            }
            const kma_superblock_plan fixed = kma_superblock_plan_growing(max_bytes, 0, 3, 0, true);
            shim::check(fixed.superblocks == most && fixed.room == most, "the plan of a heap that does not grow");
            const kma_superblock_plan beyond = kma_superblock_plan_within(last, max_bytes * 2);
            shim::check(beyond.superblocks == most && beyond.limit == last.limit, "superblocks without metadata");
        }
    }

    static void check_bump_growth()
    {
        auto *const heap = reinterpret_cast<kma_bump *>(base());
        const ulong least = sizeof(kma_bump) + 10 * KMA_UNIT, most = least + 30 * KMA_UNIT + 7;
        std::memset(static_cast<void *>(heap), 0xa5, most);
        for (uint me = 0; me < 3; me++)
            kma_bump_init(heap, least - me * KMA_UNIT, most - me * KMA_UNIT, me, 3);
        const auto is = [heap](ulong bytes, uint units) {
            return heap->header.bytes == bytes && heap->header.limit == heap->header.begin + units;
        };
        log_of<kma_bump> log{heap};
        log.works(is(least, 10) && heap->header.max_bytes == most);
        log.fails(!kma_bump_malloc(heap, 41 * KMA_UNIT), KMA_ERROR_TOO_LARGE);
        log.fails(!kma_bump_malloc(heap, 40 * KMA_UNIT), KMA_ERROR_OUT_OF_MEMORY); // it may grow to that
        log.works(kma_bump_malloc(heap, 10 * KMA_UNIT));
        log.fails(!kma_bump_malloc(heap, 1), KMA_ERROR_OUT_OF_MEMORY);
        for (const ulong bytes : {least - 1, most + 1, ulong{0}}) {
            kma_bump_grow(heap, bytes);
            log.works(is(least, 10));
        }
        kma_bump_grow(heap, least);
        log.works(is(least, 10));
        kma_bump_grow(heap, least + 20 * KMA_UNIT + 5);
        log.works(is(least + 20 * KMA_UNIT + 5, 20 + 10));
        log.works(kma_bump_ref_of(heap, kma_bump_malloc(heap, 20 * KMA_UNIT)) == heap->header.begin + 10);
        log.fails(!kma_bump_malloc(heap, 1), KMA_ERROR_OUT_OF_MEMORY);
        kma_bump_grow(heap, most);
        log.works(is(most, 40) && kma_bump_malloc(heap, 10 * KMA_UNIT));
        log.fails(!kma_bump_malloc(heap, 1), KMA_ERROR_OUT_OF_MEMORY);
        kma_bump_init(heap, least, least - 1, 0, 1); // less than it has: it does not grow
        shim::check(heap->header.max_bytes == least, "the most bytes of a heap that does not grow");
    }

    // Takes blocks of a superblock each until there is none; how many. All lie where no other does.
    static uint take_superblocks(kma_superblock *heap, bool (&taken)[7], log_of<kma_superblock> &log)
    {
        for (uint count = 0;; count++) {
            const uint ref = kma_superblock_ref_of(heap, kma_superblock_malloc(heap, 64));
            if (ref == KMA_NULL) {
                log.fails(true, KMA_ERROR_OUT_OF_MEMORY);
                return count;
            }
            const uint sb = (ref - heap->plan.begin) >> 2;
            log.works(sb < heap->plan.superblocks && ref % 4 == heap->plan.begin % 4 && !taken[sb]);
            taken[sb] = true;
        }
    }

    static void free_superblock(kma_superblock *heap, uint sb)
    {
        kma_superblock_free(heap, kma_superblock_deref(heap, heap->plan.begin + (sb << 2)));
    }

    // Seven superblocks of four units at most.
    static void check_superblock_growth()
    {
        auto *const heap = reinterpret_cast<kma_superblock *>(base());
        heap_patience = 2;
        const ulong most = bytes_for(7, 2);
        const auto with = [most](uint superblocks) { return most - (7 - superblocks) * 4 * KMA_UNIT; };
        const auto is = [heap](ulong bytes, uint superblocks) {
            return heap->header.bytes == bytes && heap->plan.superblocks == superblocks && heap->plan.room == 7 &&
                   heap->plan.limit == heap->plan.begin + superblocks * 4 && heap->header.limit == heap->plan.limit;
        };
        for (const uint freed : {0u, 1u, 3u}) // superblocks in the queue when it grows
            for (const uint work_items : {1u, 5u}) {
                std::memset(static_cast<void *>(heap), 0xa5, most);
                for (uint me = 0; me < work_items; me++)
                    kma_superblock_init(heap, with(3), most, 2, false, me, work_items);
                log_of<kma_superblock> log{heap};
                bool taken[7] = {};
                log.works(is(with(3), 3) && heap->header.max_bytes == most);
                free_superblock(heap, 3); // which is not there yet
                log.fails(true, KMA_ERROR_INVALID_FREE);
                log.works(take_superblocks(heap, taken, log) == 3);
                for (uint sb = 0; sb < freed; sb++) {
                    free_superblock(heap, sb);
                    taken[sb] = false;
                }
                for (const ulong bytes : {with(3) - 1, most + 1, ulong{0}}) {
                    kma_superblock_grow(heap, bytes);
                    log.works(is(with(3), 3));
                }
                kma_superblock_grow(heap, with(4) - 1); // no superblock more
                log.works(is(with(4) - 1, 3));
                kma_superblock_grow(heap, with(5) + 5);
                log.works(is(with(5) + 5, 5));
                log.works(take_superblocks(heap, taken, log) == 2 + freed);
                kma_superblock_grow(heap, most);
                log.works(is(most, 7));
                log.works(take_superblocks(heap, taken, log) == 2);
                for (uint sb = 0; sb < 7; sb++) {
                    free_superblock(heap, sb);
                    taken[sb] = false;
                }
                log.works(take_superblocks(heap, taken, log) == 7);
                kma_superblock_init(heap, most, most, 2, true, 0, 1);
                log.works(is(most, 7));
            }
        std::memset(static_cast<void *>(heap), 0xa5, most);
        kma_superblock_init_empty(heap, sizeof(kma_superblock), 0, 1);
        heap->header.max_bytes = most;
        kma_superblock_grow(heap, most); // of a heap without superblocks
        shim::check(heap->plan.superblocks == 0 && heap->header.bytes == sizeof(kma_superblock), "an empty heap grew");
    }
};
