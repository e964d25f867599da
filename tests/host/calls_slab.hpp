// Every function of the slab heap by a lone caller, at its edges; see scenario_calls.hpp.
#pragma once

#include "calls_slab_frees.hpp"
#include "calls_slab_tries.hpp"
#include "calls_slab_heads.hpp"
#include "calls_slab_lines.hpp"
#include "calls_slab_lone.hpp"
#include "calls_slab_numbers.hpp"
#include "calls_slab_search.hpp"

namespace calls {

using slab_log = log_of<kma_slab>;

// ------ a heap of chunks, shares of 8 and 32 lines, two cursors and places ------------------------------------------

inline ulong slab_bytes(uint chunks)
{
    ulong end;
    kma_sl_plan_of(chunks, KMA_SL_CURSORS, 0, &end);
    return end * KMA_UNIT;
}

inline kma_slab *new_slab(ulong bytes, ulong max_bytes, uint work_items)
{
    auto *const heap = reinterpret_cast<kma_slab *>(base());
    std::memset(static_cast<void *>(heap), 0xa5, std::max(bytes, max_bytes));
    for (uint me = 0; me < work_items; me++)
        kma_slab_init(heap, bytes, max_bytes, KMA_SL_CURSORS, false, me, work_items);
    return heap;
}

inline uchar *slab_unit(kma_slab *heap, uint unit)
{
    return reinterpret_cast<uchar *>(heap) + (size_t{heap->plan.begin} + unit) * KMA_UNIT;
}

inline uint slab_unit_of(kma_slab *heap, void *block)
{
    return kma_slab_ref_of(heap, block) - heap->plan.begin;
}

// Blocks, as many as there may be of one unit in three chunks.
struct slab_blocks {
    void *blocks[3 * 1024];
    uint count = 0;
};

inline slab_blocks taken;

inline void check_slab_books(kma_slab *heap)
{
    shim::self().operations = 0; // which are limited
    slab_books books(heap);
    for (uint n = 0; n < taken.count; n++)
        books.expect(slab_unit_of(heap, taken.blocks[n]));
    books.check();
}

// Takes all blocks of a size that there are: none where another is, all at a multiple of `align` units.
inline void take_all_of(kma_slab *heap, uint units, uint align, slab_log &log)
{
    const uint others = taken.count;
    while (align != 1 || slab_books(heap).has_room(units)) {
        shim::self().operations = 0;
        void *const block = kma_slab_aligned_alloc(heap, size_t{align} * KMA_UNIT, size_t{units} * KMA_UNIT);
        if (!block && align != 1)
            break;
        shim::check(block, "a lone caller gets NULL though there is room");
        shim::check((slab_unit_of(heap, block) + heap->plan.begin) % align == 0, "a block is not aligned");
        shim::check(kma_slab_usable_size(heap, block) >= size_t{units} * KMA_UNIT, "a block is too small");
        taken.blocks[taken.count++] = block;
    }
    if (align == 1)
        shim::check(!kma_slab_malloc(heap, size_t{units} * KMA_UNIT), "more blocks than there are");
    shim::self().operations = 0;
    log.expected[KMA_ERROR_OUT_OF_MEMORY]++;
    log.works(true);
    shim::check(taken.count != others || others != 0, "no block of this size");
    check_slab_books(heap);
}

inline void free_all_of(kma_slab *heap, uint step)
{
    for (uint n = 0; taken.count != 0; n++) {
        shim::self().operations = 0;
        const uint which = n * step % taken.count;
        std::swap(taken.blocks[which], taken.blocks[taken.count - 1]);
        kma_slab_free(heap, taken.blocks[--taken.count]);
    }
    check_slab_books(heap);
}

inline void check_slab_requests(kma_slab *heap, slab_log &log)
{
    for (const size_t align : {1, 3, 64, 8192})
        log.works(!kma_slab_aligned_alloc(heap, align, 0));
    const auto check_record = [heap, &log](uint code, ulong size) {
        const uint n = log.expected[code] - 1;
        shim::check(n >= KMA_ERROR_KEPT || heap->header.errors.first[code * KMA_ERROR_KEPT + n].size == size,
                    "what the record of a request says that was wrong");
    };
    for (const size_t align : {size_t{0}, size_t{3}, size_t{KMA_SL_ALIGN} * 2}) {
        log.fails(!kma_slab_aligned_alloc(heap, align, 16), KMA_ERROR_BAD_ALIGNMENT);
        check_record(KMA_ERROR_BAD_ALIGNMENT, align);
    }
    const size_t whole = size_t{heap->plan.room} * 16384;
    log.fails(!kma_slab_malloc(heap, whole + 1), KMA_ERROR_TOO_LARGE);
    check_record(KMA_ERROR_TOO_LARGE, whole + 1);
    void *const all = kma_slab_malloc(heap, whole);
    log.works(all && slab_unit_of(heap, all) == 0 && kma_slab_usable_size(heap, all) == whole);
    log.fails(!kma_slab_malloc(heap, 1), KMA_ERROR_OUT_OF_MEMORY);
    log.fails(!kma_slab_aligned_alloc(heap, KMA_SL_ALIGN, 8192), KMA_ERROR_OUT_OF_MEMORY);
    kma_slab_free(heap, all);
    void *const byte = kma_slab_aligned_alloc(heap, 1, 1);
    log.works(byte && kma_slab_usable_size(heap, byte) == KMA_UNIT);
    for (const size_t align : {0, 3}) // though a head has such blocks now
        log.fails(!kma_slab_aligned_alloc(heap, align, 1), KMA_ERROR_BAD_ALIGNMENT);
    kma_slab_free(heap, byte);
    for (const uint units : {1u, 3u, 9u, 17u, 33u, 255u, 256u, 257u, 300u}) {
        for (uint align = 1; align <= KMA_SL_ALIGN / KMA_UNIT; align *= 2) {
            void *const some = kma_slab_aligned_alloc(heap, size_t{align} * KMA_UNIT, units * KMA_UNIT - 15);
            log.works(some && kma_slab_ref_of(heap, some) % align == 0);
            log.works(kma_slab_usable_size(heap, some) >= units * KMA_UNIT);
            taken.blocks[taken.count++] = some;
            check_slab_books(heap);
            if (heap->plan.chunks != 3) // so small a heap has no room for all
                free_all_of(heap, 1);
        }
        free_all_of(heap, 3);
    }
}

// Runs are made longer where they are, if the lines behind them are free. In a heap without any other slab.
inline void check_slab_extension(kma_slab *heap, slab_log &log)
{
    auto *const run = static_cast<uchar *>(kma_slab_malloc(heap, 300 * KMA_UNIT));
    std::memset(run, 0x5a, 300 * KMA_UNIT);
    const uint lines = heap->plan.chunks * 32 - slab_unit_of(heap, run) / 32;
    if (lines > 40) {
        log.works(kma_slab_realloc(heap, run, 40 * 512) == run && kma_slab_usable_size(heap, run) == 40 * 512);
        log.works(kma_slab_realloc(heap, run, 512) == run && kma_slab_usable_size(heap, run) == 40 * 512);
        log.works(kma_slab_realloc(heap, run, size_t{lines} * 512) == run);
    }
    log.works(run[0] == 0x5a && run[300 * KMA_UNIT - 1] == 0x5a);
    taken.blocks[taken.count++] = run;
    check_slab_books(heap);
    log.fails(!kma_slab_realloc(heap, run, (size_t{1} << 36) + 300 * KMA_UNIT), KMA_ERROR_TOO_LARGE); // 2^32 units more
    if (lines > 40) // nothing is behind it
        log.fails(!kma_slab_realloc(heap, run, size_t{lines} * 512 + 1),
                  lines == heap->plan.chunks * 32 ? KMA_ERROR_TOO_LARGE : KMA_ERROR_OUT_OF_MEMORY);
    free_all_of(heap, 1);
}

inline void check_slab_pointers(kma_slab *heap, slab_log &log)
{
    auto *const large = static_cast<uchar *>(kma_slab_malloc(heap, 64 * KMA_UNIT));
    auto *const run = static_cast<uchar *>(kma_slab_malloc(heap, 300 * KMA_UNIT));
    auto *const small = static_cast<uchar *>(kma_slab_malloc(heap, KMA_UNIT));
    log.works(large && run && small && kma_slab_usable_size(heap, run) == 10 * 512);
    uchar *const begin = slab_unit(heap, 0), *const limit = slab_unit(heap, heap->plan.chunks * 1024);
    for (uchar *const wrong : {base() - 64, large + KMA_UNIT, run + KMA_UNIT, run + 512, run + 8, small + 1, limit + 64,
                               begin - KMA_UNIT, limit})
        check_foreign<slab_kind>(heap, wrong, kma_slab_usable_size(heap, wrong), log);
    heap->header.errors.pad = 0; // behind the counts: no code of an error
    for (uchar *const mine : {large, run, small})
        for (uint time = 0; time < 3; time++) {
            kma_slab_free(heap, mine);
            if (time == 0)
                log.works(!kma_slab_usable_size(heap, mine));
            else
                log.fails(true, KMA_ERROR_DOUBLE_FREE);
        }
    shim::check(heap->header.errors.pad == 0, "a free that is right counts as an error");
    check_slab_books(heap);
}

// All that there is in many sizes, one after the other, from slabs that the sizes before have left; and with holes of
// others.
inline void check_slab_exhaustion(kma_slab *heap, slab_log &log)
{
    for (const uint units : {1u, 32u, 2u, 5u, 256u, 16u, 300u, 3u, 10u, 100u, 1024u, 33u, 544u}) {
        take_all_of(heap, units, 1, log);
        free_all_of(heap, 7);
    }
    for (const uint align : {2u, 8u, 32u, 64u}) {
        take_all_of(heap, 24, align, log);
        take_all_of(heap, 3, align, log);
        free_all_of(heap, 5);
    }
    for (const uint first : {8u, 40u, 256u}) {
        take_all_of(heap, first, 1, log);
        for (uint n = taken.count; n-- != 0;) // every third is free
            if (n % 3 == 0) {
                kma_slab_free(heap, taken.blocks[n]);
                taken.blocks[n] = taken.blocks[--taken.count];
            }
        check_slab_books(heap);
        for (const uint units : {300u, first + 1, first, first - 1, 1u})
            take_all_of(heap, units, 1, log);
        free_all_of(heap, 11);
    }
}

// Of a slab whose sizes planes tell: every unit is a slot's start, or is none; blocks are freed one by one.
inline void check_slab_planes(kma_slab *heap, slab_log &log)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    for (uint variant = 0; variant < 24; variant++) {
        const auto kind = static_cast<slab_sizes>(variant % 3);
        uint sizes[KMA_SL_SLOTS];
        for (uint slot = 0; slot < KMA_SL_SLOTS; slot++) {
            const uint random = kma_mix32(variant * 64 + slot);
            sizes[slot] = kind == slab_sizes::small   ? 1 + random % 4
                          : kind == slab_sizes::plain ? random % (variant < 12 ? 9 : 40)
                                                      : random % 60;
        }
        const made_slab made = make_planes(heap, variant % 13, sizes, kind);
        for (uint unit = 0; unit < made.lines * 32; unit++) {
            const kma_sl_spot at = kma_sl_spot_of(heap, slab_unit(heap, made.first * 32 + unit));
            const uint *const found = std::find(made.offsets, made.offsets + KMA_SL_SLOTS, unit);
            uint slot = static_cast<uint>(found - made.offsets);
            while (slot < KMA_SL_SLOTS && sizes[slot] == 0)
                slot++;
            const bool is_slot = slot < KMA_SL_SLOTS && made.offsets[slot] == unit;
            shim::check(is_slot == (at.error == KMA_ERROR_CODES), "a slot is not found, or where there is none");
            shim::check(is_slot || at.error == KMA_ERROR_INVALID_FREE, "what a free of no slot would be");
            if (is_slot) {
                const uint room = slot == 31 ? made.lines * 32 - unit : made.offsets[slot + 1] - unit;
                shim::check(at.slot == slot && kma_sl_units_at(&sl, at) == room, "another slot, or of another size");
                taken.blocks[taken.count++] = slab_unit(heap, made.first * 32 + unit);
            }
        }
        check_slab_books(heap);
        kma_slab_free(heap, slab_unit(heap, made.first * 32 + made.lines * 32)); // the line behind it
        log.fails(true, KMA_ERROR_DOUBLE_FREE);
        if (variant % 2 != 0)
            std::reverse(taken.blocks, taken.blocks + taken.count);
        while (taken.count != 0) {
            kma_slab_free(heap, taken.blocks[--taken.count]);
            check_slab_books(heap);
        }
        log.works(true);
    }
}

inline void check_slab_empty()
{
    auto *const heap = reinterpret_cast<kma_slab *>(base());
    const ulong bytes = sizeof(kma_slab);
    std::memset(static_cast<void *>(heap), 0xa5, bytes);
    for (uint me = 0; me < 3; me++)
        kma_slab_init_empty(heap, bytes - me * KMA_UNIT, me, 3);
    slab_log log{heap};
    log.works(heap->header.bytes == bytes && kma_heap_exists(&heap->header, KMA_KIND_SLAB));
    // What lies behind is no heap's, though it looks like heads with slabs.
    constexpr uint foreign = 512;
    auto *const behind = reinterpret_cast<uint *>(base() + bytes);
    const uint words = heap->plan.words * KMA_UNIT / sizeof(uint) - static_cast<uint>(bytes / sizeof(uint));
    for (uint n = 0; n < foreign; n++)
        behind[n] = n < KMA_SL_CLASSES ? 1 : n >= words ? 2 : 0;
    log.fails(!kma_slab_malloc(heap, 16), KMA_ERROR_TOO_LARGE);
    for (uint n = 0; n < foreign; n++)
        shim::check(behind[n] == (n < KMA_SL_CLASSES ? 1u : n >= words ? 2u : 0u), "a heap wrote behind its end");
    kma_slab_free(heap, base() + bytes);
    log.fails(true, KMA_ERROR_INVALID_FREE);
    heap->header.max_bytes = 4 * bytes;
    kma_slab_grow(heap, 4 * bytes, 0, 1);
    shim::check(heap->plan.chunks == 0 && heap->header.bytes == bytes, "an empty heap grew");
}

// Three chunks at most.
inline void check_slab_growth()
{
    const ulong most = slab_bytes(3);
    const auto with = [most](uint chunks) { return most - (3 - chunks) * 16384; };
    for (const uint work_items : {1u, 5u}) {
        kma_slab *const heap = new_slab(with(1), most, work_items);
        const auto is = [heap](ulong bytes, uint chunks) {
            return heap->header.bytes == bytes && heap->plan.chunks == chunks && heap->plan.room == 3 &&
                   heap->plan.limit == heap->plan.begin + chunks * 1024 && heap->header.limit == heap->plan.limit;
        };
        slab_log log{heap};
        log.works(is(with(1), 1) && heap->header.max_bytes == most);
        check_slab_books(heap);
        kma_slab_free(heap, slab_unit(heap, 1024)); // of a chunk that is not there yet
        log.fails(true, KMA_ERROR_INVALID_FREE);
        take_all_of(heap, 512, 1, log);
        log.works(taken.count == 2);
        log.fails(!kma_slab_malloc(heap, 3 * 16384), KMA_ERROR_OUT_OF_MEMORY); // it may grow to that
        for (const ulong bytes : {with(1) - 1, most + 1, ulong{0}}) {
            kma_slab_grow(heap, bytes, 0, 1);
            log.works(is(with(1), 1));
        }
        kma_slab_grow(heap, with(2) - 1, 0, 1); // no chunk more
        log.works(is(with(2) - 1, 1));
        kma_slab_grow(heap, with(2) + 5, 0, 1);
        log.works(is(with(2) + 5, 2));
        take_all_of(heap, 512, 1, log);
        log.works(taken.count == 4);
        kma_slab_grow(heap, most, 0, 1);
        log.works(is(most, 3));
        take_all_of(heap, 1024, 1, log);
        log.works(taken.count == 5);
        free_all_of(heap, 1);
        kma_slab_init(heap, most, most, KMA_SL_CURSORS, true, 0, 1); // empties the heap, not the log
        log.works(is(most, 3));
        check_slab_exhaustion(heap, log);
    }
}

inline void check_slab()
{
    check_slab_numbers();
    check_slab_lines();
    check_slab_heads();
    slab_kind::vary(1);
    check_slab_search();
    for (const uint chunks : {1u, 2u, 3u})
        for (const uint work_items : {1u, 4u, 100u}) {
            const ulong bytes = slab_bytes(chunks);
            kma_slab *const heap = new_slab(bytes, 0, work_items);
            slab_log log{heap};
            log.works(heap->plan.chunks == chunks && heap->header.max_bytes == bytes);
            check_slab_books(heap);
            kma_slab_free(heap, slab_unit(heap, 0)); // of a line that was never used
            log.fails(true, KMA_ERROR_DOUBLE_FREE);
            check_slab_extension(heap, log);
            check_slab_requests(heap, log);
            check_contents<slab_kind>(heap, log);
            check_kept_alignment<slab_kind>(heap, log);
            check_slab_pointers(heap, log);
            check_slab_exhaustion(heap, log);
        }
    kma_slab *const heap = new_slab(slab_bytes(3), 0, 1);
    slab_log log{heap};
    check_slab_planes(heap, log);
    check_slab_empty();
    check_slab_growth();
    check_slab_lone();
    check_slab_groups();
    check_slab_frees();
}

} // namespace calls
