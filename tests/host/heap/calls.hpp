// What the scenarios of calls have in common: memory for a heap, its error log, the blocks that are taken, and checks
// that any kind of heap must pass.
//
// A heap consists of parts: units, superblocks, pages or frames. KIND_calls in KIND/calls.hpp has `kind`; `number`;
// `part_units`; `most_parts` of one block; bytes_of, init, grow and usable_size; has(heap, parts), whether the plan
// says so, with space for eight; check(heap), of the metadata beside the blocks taken; and, if the kind has them,
// init_empty and has_room(heap, units), whether there must be a block.
#pragma once

#include <functional>
#include <vector>

#include "heap/tiny_heap.hpp"

namespace calls {

inline constexpr size_t too_much = size_t{1} << 40;
inline std::vector<void *> taken; // blocks of the heap under test

inline uchar *base()
{
    alignas(4096) static uchar memory[4096 + 270336]; // something in front, too
    return memory + 4096;
}

// A lone caller's next step: time and atomic operations are limited for each.
inline void begin_step()
{
    shim::begin_call();
    shim::start_watchdog();
}

template <class Heap> struct log_of {
    Heap *heap;
    uint expected[KMA_ERROR_CODES] = {};

    const kma_error_record &record(uint code, uint n) const
    {
        return heap->header.errors.first[code * KMA_ERROR_KEPT + n];
    }
    uint count(uint code) const { return kma_load_u32(&heap->header.errors.count[code], KMA_RELAXED); }

    // `result` is what a call returned that must leave no record.
    void works(bool result, shim::location where = shim::location::current())
    {
        begin_step();
        shim::check(result, "a call has the wrong result", where);
        for (uint code = 0; code < KMA_ERROR_CODES; code++) {
            shim::check(count(code) == expected[code], "the error log does not count what happened", where);
            for (uint n = 0; n < KMA_ERROR_KEPT; n++)
                shim::check(record(code, n).written == (n < expected[code]), "an error record is missing, or one too many",
                            where);
        }
    }

    // The same of a call that must leave this record.
    void fails(bool result, uint code, shim::location where = shim::location::current())
    {
        expected[code]++;
        works(result, where);
    }
};
template <class Heap> log_of(Heap *) -> log_of<Heap>;

template <class Calls>
auto *new_heap(ulong bytes, ulong max_bytes = 0, uint work_items = 1)
{
    auto *const heap = reinterpret_cast<typename Calls::kind::heap_type *>(base());
    begin_step();
    taken.clear();
    std::memset(static_cast<void *>(heap), 0xa5, std::max(bytes, max_bytes));
    for (uint me = 0; me < work_items; me++)
        Calls::init(heap, bytes, max_bytes, false, me, work_items);
    return heap;
}

// ------ blocks by their units ----------------------------------------------------------------------------------------

template <class Heap> uchar *unit(Heap *heap, uint number)
{
    return reinterpret_cast<uchar *>(heap) + (size_t{heap->header.begin} + number) * KMA_UNIT;
}

template <class Heap> uint unit_of(Heap *heap, const void *block)
{
    return static_cast<uint>((static_cast<const uchar *>(block) - unit(heap, 0)) / KMA_UNIT);
}

// No block that is taken is in another, nor beyond the heap; and the metadata is right.
template <class Calls, class Heap> void check_taken(Heap *heap)
{
    begin_step();
    std::vector<bool> used(heap->header.limit - heap->header.begin);
    for (void *const each : taken) {
        const size_t first = unit_of(heap, each), units = Calls::usable_size(heap, each) / KMA_UNIT;
        shim::begin_call();
        shim::check(units != 0 && first + units <= used.size(), "a block beyond the heap");
        for (size_t i = first; i < first + units; used[i++] = true)
            shim::check(!used[i], "a block in another");
    }
    Calls::check(heap);
}

// A block of at least `units` at a multiple of `align`; or NULL, with its record.
template <class Calls, class Heap> void *take(Heap *heap, uint units, log_of<Heap> &log, uint align = 1)
{
    const size_t bytes = size_t{units} * KMA_UNIT;
    void *const block =
        align == 1 ? Calls::kind::malloc(heap, bytes) : Calls::kind::aligned_alloc(heap, align * KMA_UNIT, bytes);
    if (!block) {
        if constexpr (requires { Calls::has_room(heap, units); })
            shim::check(align != 1 || !Calls::has_room(heap, units), "a lone caller gets NULL though there is room");
        const uint n = log.expected[KMA_ERROR_OUT_OF_MEMORY];
        log.fails(true, KMA_ERROR_OUT_OF_MEMORY);
        shim::check(n >= KMA_ERROR_KEPT || log.record(KMA_ERROR_OUT_OF_MEMORY, n).size == bytes, "a record of another size");
        return nullptr;
    }
    shim::check(Calls::usable_size(heap, block) >= bytes, "a block is too small");
    shim::check((static_cast<uchar *>(block) - reinterpret_cast<uchar *>(heap)) % (align * KMA_UNIT) == 0, "not aligned");
    taken.push_back(block);
    return block;
}

// All blocks of a size that there are; how many.
template <class Calls, class Heap> uint take_all(Heap *heap, uint units, log_of<Heap> &log)
{
    uint count = 0;
    while (take<Calls>(heap, units, log))
        count++;
    check_taken<Calls>(heap);
    return count;
}

// The blocks of which that is said.
template <class Calls, class Heap, class Is> void free_those(Heap *heap, const Is &is)
{
    for (size_t n = taken.size(); n-- != 0;)
        if (is(unit_of(heap, taken[n]))) {
            Calls::kind::free(heap, taken[n]);
            taken[n] = taken.back();
            taken.pop_back();
        }
    check_taken<Calls>(heap);
}

template <class Calls, class Heap> void free_all(Heap *heap, uint step = 1)
{
    for (size_t n = 0; !taken.empty(); n += step) {
        std::swap(taken[n % taken.size()], taken.back());
        Calls::kind::free(heap, taken.back());
        taken.pop_back();
    }
    check_taken<Calls>(heap);
}

// ------ what any kind must do ----------------------------------------------------------------------------------------

// Requests that are refused whatever is free; then the largest one.
template <class Calls, class Heap> void check_refusals(Heap *heap, log_of<Heap> &log)
{
    using kind = typename Calls::kind;
    for (const size_t align : {size_t{1}, size_t{3}, size_t{64}, size_t{8192}})
        log.works(!kind::aligned_alloc(heap, align, 0));
    for (const size_t align : {size_t{0}, size_t{3}, size_t{24}, size_t{kind::most_align} * 2, too_much}) {
        const uint n = log.expected[KMA_ERROR_BAD_ALIGNMENT];
        log.fails(!kind::aligned_alloc(heap, align, 16), KMA_ERROR_BAD_ALIGNMENT);
        shim::check(n >= KMA_ERROR_KEPT || log.record(KMA_ERROR_BAD_ALIGNMENT, n).size == align, "a record of another size");
    }
    const uint parts = std::min((heap->header.limit - heap->header.begin) / Calls::part_units, Calls::most_parts);
    const size_t most = size_t{parts} * Calls::part_units * KMA_UNIT;
    log.fails(!kind::malloc(heap, most + 1), KMA_ERROR_TOO_LARGE);
    log.fails(!kind::malloc(heap, too_much), KMA_ERROR_TOO_LARGE);
    if constexpr (kind::reuses) {
        void *const block = kind::malloc(heap, most);
        log.works(block && Calls::usable_size(heap, block) == most && unit_of(heap, block) % Calls::part_units == 0);
        kind::free(heap, block);
        log.works(Calls::usable_size(heap, block) == 0);
    }
}

// calloc and realloc of a heap that has at least four units left and blocks of two units.
template <class Kind, class Heap> void check_contents(Heap *heap, log_of<Heap> &log)
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
template <class Kind, class Heap> void check_kept_alignment(Heap *heap, log_of<Heap> &log)
{
    std::vector<void *> blocks;
    for (uint round = 0; round < 4; round++)
        for (const size_t align : {32, 64}) {
            blocks.push_back(Kind::malloc(heap, 3 * KMA_UNIT));
            auto *const block = static_cast<uchar *>(Kind::aligned_alloc(heap, align, align));
            log.works(blocks.back() && block && (block - base()) % align == 0);
            std::fill_n(block, align, uchar(round + 1));
            blocks.push_back(Kind::malloc(heap, 3 * KMA_UNIT));
            auto *const moved = static_cast<uchar *>(Kind::realloc_sized(heap, block, align, align + KMA_UNIT));
            log.works(moved && moved != block && (moved - base()) % align == 0);
            log.works(std::count(moved, moved + align, uchar(round + 1)) == static_cast<ptrdiff_t>(align));
            blocks.push_back(moved);
        }
    for (void *const each : blocks)
        Kind::free(heap, each);
    log.works(true);
}

// Frees and reallocs of what is no block. `insides`: pointers into blocks; where a slab was before, a free counts as
// its block's second one.
template <class Calls, class Heap>
void check_foreign(Heap *heap, std::initializer_list<uchar *> insides, log_of<Heap> &log)
{
    uchar *const limit = unit(heap, heap->header.limit - heap->header.begin);
    for (uchar *const wrong : insides) {
        shim::check(Calls::usable_size(heap, wrong) == 0, "what is no block has a size");
        Calls::kind::free(heap, wrong);
        const bool is_invalid = log.count(KMA_ERROR_INVALID_FREE) != log.expected[KMA_ERROR_INVALID_FREE];
        log.fails(is_invalid || Calls::number == KMA_KIND_SLAB, is_invalid ? KMA_ERROR_INVALID_FREE : KMA_ERROR_DOUBLE_FREE);
    }
    for (uchar *const wrong : {base() - 64, unit(heap, 0) - KMA_UNIT, limit, limit + 64, static_cast<uchar *>(nullptr) + 32}) {
        shim::check(Calls::usable_size(heap, wrong) == 0, "what is no block has a size");
        Calls::kind::free(heap, wrong);
        const uint n = log.expected[KMA_ERROR_INVALID_FREE];
        log.fails(true, KMA_ERROR_INVALID_FREE);
        const bool within = wrong >= base() && wrong < base() + heap->header.bytes;
        shim::check(n >= KMA_ERROR_KEPT ||
                        log.record(KMA_ERROR_INVALID_FREE, n).ref == (within ? (wrong - base()) / KMA_UNIT : 0),
                    "the record of a wrong pointer names another place");
        log.fails(!Calls::kind::realloc_sized(heap, wrong, 0, 16), KMA_ERROR_INVALID_FREE);
    }
}

// The first free of each block works, and no other.
template <class Calls, class Heap>
void check_double_frees(Heap *heap, std::initializer_list<void *> blocks, log_of<Heap> &log)
{
    for (void *const mine : blocks)
        for (uint time = 0; time < 3; time++) {
            Calls::kind::free(heap, mine);
            if (time == 0)
                log.works(Calls::usable_size(heap, mine) == 0);
            else
                log.fails(true, KMA_ERROR_DOUBLE_FREE);
        }
}

// A heap that has no part.
template <class Calls> void check_empty()
{
    using heap_type = typename Calls::kind::heap_type;
    auto *const heap = reinterpret_cast<heap_type *>(base());
    constexpr ulong bytes = sizeof(heap_type);
    std::memset(static_cast<void *>(heap), 0xa5, 2 * bytes);
    for (uint me = 0; me < 3; me++)
        Calls::init_empty(heap, bytes - me * KMA_UNIT, me, 3);
    log_of log{heap};
    log.works(heap->header.bytes == bytes && kma_heap_exists(&heap->header, Calls::number));
    for (const size_t some : {1, 16, 8192, 9000})
        log.fails(!Calls::kind::malloc(heap, some), KMA_ERROR_TOO_LARGE);
    log.works(std::all_of(base() + bytes, base() + 2 * bytes, [](uchar byte) { return byte == 0xa5; }));
    Calls::kind::free(heap, base() + bytes);
    log.fails(true, KMA_ERROR_INVALID_FREE);
    heap->header.max_bytes = 4 * bytes;
    Calls::grow(heap, 4 * bytes);
    shim::check(heap->header.limit == heap->header.begin && heap->header.bytes == bytes, "an empty heap grew");
}

// From three parts to eight, with some of the three free.
template <class Calls> void check_growth()
{
    using kind = typename Calls::kind;
    constexpr size_t part = size_t{Calls::part_units} * KMA_UNIT;
    const ulong most = Calls::bytes_of(8);
    const auto with = [most](uint parts) { return most - (8 - parts) * part; };
    for (const uint freed : {0u, 1u, 3u})
        for (const uint work_items : {1u, 5u}) {
            auto *const heap = new_heap<Calls>(with(3), most, work_items);
            log_of log{heap};
            const auto is = [heap](ulong bytes, uint parts) {
                return heap->header.bytes == bytes && Calls::has(heap, parts) &&
                       heap->header.limit == heap->header.begin + parts * Calls::part_units;
            };
            log.works(is(with(3), 3) && heap->header.max_bytes == most);
            Calls::check(heap);
            if constexpr (kind::checks_frees) {
                kind::free(heap, unit(heap, 3 * Calls::part_units)); // which is not there yet
                log.fails(true, KMA_ERROR_INVALID_FREE);
            }
            log.works(take_all<Calls>(heap, Calls::part_units, log) == 3);
            log.fails(!kind::malloc(heap, std::min(Calls::most_parts, 8u) * part + 1), KMA_ERROR_TOO_LARGE);
            log.fails(!kind::malloc(heap, std::min(Calls::most_parts, 8u) * part), KMA_ERROR_OUT_OF_MEMORY); // it may grow
            const uint again = kind::reuses ? freed : 0;
            free_those<Calls>(heap, [again](uint first) { return first < again * Calls::part_units; });
            for (const ulong bytes : {with(3) - 1, most + 1, ulong{0}, with(3)}) {
                Calls::grow(heap, bytes);
                log.works(is(with(3), 3));
            }
            Calls::grow(heap, with(4) - 1); // no part more
            log.works(is(with(4) - 1, 3));
            Calls::grow(heap, with(5) + 5);
            log.works(is(with(5) + 5, 5) && take_all<Calls>(heap, Calls::part_units, log) == 2 + again);
            Calls::grow(heap, most);
            log.works(is(most, 8) && take_all<Calls>(heap, Calls::part_units, log) == 3);
            Calls::init(heap, most, most, true, 0, 1); // empties the heap, not the log
            taken.clear();
            log.works(is(most, 8) && take_all<Calls>(heap, Calls::part_units, log) == 8);
            if constexpr (kind::reuses)
                free_all<Calls>(heap);
        }
}

} // namespace calls
