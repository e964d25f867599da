// What the scenarios of calls have in common: memory for a heap, its error log, and calls that any kind understands.
#pragma once

#include "heap/tiny_heap.hpp"

namespace calls {

inline constexpr size_t too_much = size_t{1} << 40;

inline uchar *base()
{
    alignas(4096) static uchar memory[4096 + 270336]; // something in front, too
    return memory + 4096;
}

template <class Heap> struct log_of {
    Heap *heap;
    uint expected[KMA_ERROR_CODES] = {};

    void check_at(shim::location where) const
    {
        for (uint code = 0; code < KMA_ERROR_CODES; code++) {
            const kma_error_log &log = heap->header.errors;
            shim::check(kma_load_u32(const_cast<kma_atomic_u32 *>(&log.count[code]), KMA_RELAXED) == expected[code],
                        "the error log does not count what happened", where);
            for (uint n = 0; n < KMA_ERROR_KEPT; n++)
                shim::check(log.first[code * KMA_ERROR_KEPT + n].written == (n < expected[code]),
                            "an error record is missing, or one too many", where);
        }
    }

    // `result` is what a call returned that must leave this record.
    void fails(bool result, uint code, shim::location where = shim::location::current())
    {
        shim::check(result, "a call that must fail did not", where);
        expected[code]++;
        check_at(where);
    }

    void works(bool result, shim::location where = shim::location::current())
    {
        shim::check(result, "a call has the wrong result", where);
        check_at(where);
    }
};

// calloc and realloc of a heap that has at least four units left and blocks of two units.
template <class Kind> void check_contents(typename Kind::heap_type *heap, log_of<typename Kind::heap_type> &log)
{
    log.works(!Kind::calloc(heap, 0, 5) && !Kind::calloc(heap, 5, 0));
    log.fails(!Kind::calloc(heap, size_t{1} << 33, size_t{1} << 33), KMA_ERROR_TOO_LARGE);
    auto *const block = static_cast<uchar *>(Kind::calloc(heap, 2, 10));
    log.works(block && std::all_of(block, block + 32, [](uchar byte) { return byte == 0; }));
    for (uint i = 0; i < 32; i++)
        block[i] = static_cast<uchar>(i + 1);
    log.works(Kind::realloc_sized(heap, block, 20, 32) == block);
    log.works(Kind::realloc_sized(heap, block, 32, 1) == block);
    log.fails(!Kind::realloc_sized(heap, block, 32, too_much), KMA_ERROR_TOO_LARGE);
    auto *const moved = static_cast<uchar *>(Kind::realloc_sized(heap, block, 32, 64));
    log.works(moved && moved != block);
    for (uint i = 0; i < 32; i++)
        log.works(moved[i] == i + 1);
    log.works(!Kind::realloc_sized(heap, moved, 64, 0));
    void *const fresh = Kind::realloc_sized(heap, nullptr, 32, 16); // of no block, whatever size it had
    log.works(fresh);
    Kind::free(heap, fresh);
    log.works(!Kind::realloc_sized(heap, nullptr, 0, 0));
    Kind::free(heap, nullptr);
    log.works(true);
}

// realloc keeps an alignment, wherever the next block of a size would be otherwise. For a heap with a few KiB.
template <class Kind>
void check_kept_alignment(typename Kind::heap_type *heap, log_of<typename Kind::heap_type> &log)
{
    void *taken[24] = {};
    uint count = 0;
    for (uint round = 0; round < 4; round++)
        for (const size_t align : {32, 64}) {
            void *const before = taken[count++] = Kind::malloc(heap, 3 * KMA_UNIT);
            auto *const block = static_cast<uchar *>(Kind::aligned_alloc(heap, align, align));
            log.works(before && block && (block - base()) % align == 0);
            std::fill_n(block, align, uchar(round + 1));
            taken[count++] = Kind::malloc(heap, 3 * KMA_UNIT);
            auto *const moved = static_cast<uchar *>(Kind::realloc_sized(heap, block, align, align + KMA_UNIT));
            log.works(moved && moved != block && (moved - base()) % align == 0);
            log.works(std::count(moved, moved + align, uchar(round + 1)) == static_cast<ptrdiff_t>(align));
            taken[count++] = moved;
        }
    for (void *const each : taken)
        Kind::free(heap, each);
    log.works(true);
}

// A free and a realloc of what is no block, of a heap that knows its blocks. `usable`: the size that it says it has.
template <class Kind>
void check_foreign(typename Kind::heap_type *heap, uchar *wrong, size_t usable, log_of<typename Kind::heap_type> &log)
{
    shim::check(usable == 0, "what is no block has a size");
    Kind::free(heap, wrong);
    const uint n = log.expected[KMA_ERROR_INVALID_FREE];
    log.fails(true, KMA_ERROR_INVALID_FREE);
    const bool within = wrong >= base() && wrong < base() + heap->header.bytes;
    const kma_error_record *records = &heap->header.errors.first[KMA_ERROR_INVALID_FREE * KMA_ERROR_KEPT];
    shim::check(n >= KMA_ERROR_KEPT || records[n].ref == (within ? (wrong - base()) / KMA_UNIT : 0),
                "the record of a wrong pointer names another place");
    log.fails(!Kind::realloc_sized(heap, wrong, 0, 16), KMA_ERROR_INVALID_FREE);
}

} // namespace calls
