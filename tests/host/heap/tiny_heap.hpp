// A tiny heap for scenarios: its memory, blocks that note their owner, and how often each error must have been counted.
// What is special about a kind of heap is in heap/KIND/heap.hpp, as a struct KIND_kind that has
//
//   KMA_HOST_FUNCTIONS(KIND)           the device functions, under names that all kinds share
//   name, reuses, checks_frees         can freed memory be had again? are wrong frees reported?
//   rounds, shapes                     steps of each thread; the sizes of heaps that scenarios try
//   searched, searched_rounds          variants and rounds of Relacy's search
//   frozen(threads), roomy(threads)    the shape for a stopped thread, of two sizes of blocks; the count for a heap in
//                                      which NULL is never right
//   vary(choice)                       before init: what else may differ from execution to execution
//   bytes_of(shape)                    the memory that a heap of that shape needs
//   init(memory, bytes, shape)         makes it, with the shim's objects in place
//   begin(), units()                   its first unit for blocks, and how many there are
//   took(units, align)                 is told of each block that was given
//   room_of(block)                     units that it may grow to where it is
//   check_block(block)                 whether a block may lie there
//   check_books(living)                at rest: every invariant of its metadata
//   capacity(units, living)            blocks of `units` that a lone caller must get, at rest; or, if that depends on
//   has_room(units)                    where each block lies, whether it must get one more
//   least(units, living, held, asked, refused)
//                                      the same while a group of lanes is stopped for good: at least that. What its
//                                      lanes have and ask for, and what lanes that may have come with them did not get
#pragma once

#include "kma/heap/common/error_log.cl"
#include "kma/heap/common/ref.cl"

// The device functions of a kind. Threads: atomic operations are limited for each call.
#define KMA_HOST_FUNCTIONS(KIND)                                                                                       \
    using heap_type = kma_##KIND;                                                                                      \
    static void *malloc(heap_type *heap, size_t bytes) { return shim::begin_call(), kma_##KIND##_malloc(heap, bytes); } \
    static void *calloc(heap_type *heap, size_t count, size_t bytes)                                                   \
    {                                                                                                                  \
        return shim::begin_call(), kma_##KIND##_calloc(heap, count, bytes);                                            \
    }                                                                                                                  \
    static void *aligned_alloc(heap_type *heap, size_t align, size_t bytes)                                            \
    {                                                                                                                  \
        return shim::begin_call(), kma_##KIND##_aligned_alloc(heap, align, bytes);                                     \
    }                                                                                                                  \
    static void *realloc_sized(heap_type *heap, void *block, size_t old_bytes, size_t bytes)                           \
    {                                                                                                                  \
        return shim::begin_call(), kma_##KIND##_realloc_sized(heap, block, old_bytes, bytes);                          \
    }                                                                                                                  \
    static void free(heap_type *heap, void *block) { shim::begin_call(), kma_##KIND##_free(heap, block); }             \
    static uint ref_of(heap_type *heap, void *block) { return kma_##KIND##_ref_of(heap, block); }

// The shim's objects in an array that begins so many units behind a heap's start.
template <class T, class Heap> void construct_array(Heap *heap, uint at, uint count)
{
    for (uint i = 0; i < count; i++)
        shim::objects.construct<T>(reinterpret_cast<uchar *>(heap) + size_t{at} * KMA_UNIT + i * sizeof(T));
}

template <class Words> void construct_words(Words &words)
{
    for (kma_atomic_u32 &each : words)
        shim::objects.construct<kma_atomic_u32>(&each);
}

// A block, or none (units == 0). Fits into one atomic word, to be handed on.
struct block {
    uint first = 0; // unit, from the heap's first
    uint units = 0;
    uint stamp = 0; // of the malloc that gave it, 14 bits if it is handed on, not 0

    uint word() const { return stamp << 18 | units << 9 | first; }
    static block from(uint word) { return {word & 0x1ff, word >> 9 & 0x1ff, word >> 18}; }
};

constexpr uint most_units = 448;
static_assert(most_units <= 512);

// No std::vector, since Relacy has operator new for itself while it runs.
struct block_list {
    block blocks[most_units];
    uint count = 0;

    const block *begin() const { return blocks; }
    const block *end() const { return blocks + count; }
    void push(const block &one) { blocks[count++] = one; }
    block pop(uint which)
    {
        std::swap(blocks[which], blocks[count - 1]);
        return blocks[--count];
    }
    void take(block_list &other)
    {
        while (other.count != 0)
            push(other.pop(0));
    }
};

struct heap_shape {
    uint shift;   // the heap has count << shift units
    uint count;   // 0: so many that NULL is never right
    uint fill;    // blocks taken before the threads begin, of the first kind; 0: some, of any
    uint ballast; // so many of these that nobody frees before the end, anywhere in the heap
    uint kind_count;
    uint kinds[4]; // units of the blocks asked for
};

template <class Kind> class tiny_heap {
public:
    using kind = Kind;
    Kind in; // what only this kind has

    void init(const heap_shape &shape)
    {
        unclear_ = 0;
        for (std::atomic<uint> &each : counted_)
            each = 0;
        const ulong bytes = Kind::bytes_of(shape);
        uchar *const memory = memory_.take(bytes - (shim::chosen.short_memory ? KMA_UNIT : 0));
        in.init(memory, bytes, shape);
        shim::check(in.units() == shape.count << shape.shift, "the heap has not the room it should have");
        shim::check(in.units() <= most_units, "the heap is too large for this test");
        for (uint unit = 0; unit < in.units(); unit++)
            if constexpr (shim::is_model_checker)
                *shim::objects.construct<KMA_PLAIN(uint)>(&owner(unit)) = 0;
            else if constexpr (!Kind::reuses)
                mark(unit, 0);
    }

    // A block of `units` at `align` units; its owner's stamp in every unit. The contents of a zeroed one are checked.
    block alloc(uint units, uint stamp, uint align = 1, uint bytes_less = 0, bool zeroed = false)
    {
        const size_t bytes = size_t{units} * KMA_UNIT - bytes_less;
        void *const place = zeroed       ? Kind::calloc(in.heap, 1, bytes)
                            : align == 1 ? Kind::malloc(in.heap, bytes)
                                         : Kind::aligned_alloc(in.heap, align * KMA_UNIT, bytes);
        if (!place) {
            expect_error(KMA_ERROR_OUT_OF_MEMORY);
            return {};
        }
        const block mine = found(place, units, stamp, align);
        for (uint unit = mine.first; unit < mine.first + mine.units; unit++)
            if constexpr (!Kind::reuses)
                shim::check(owner(unit) == 0, "memory came back though nothing is reused");
        if (zeroed && !shim::is_model_checker)
            check_words(mine, mine.units, 0, "calloc's block is not zero");
        own(mine);
        return mine;
    }

    // Gives a block another size; none, if there is no room, and then it stays what it was.
    block resize(const block &old, uint units, uint stamp)
    {
        check_contents(old);
        void *const place =
            Kind::realloc_sized(in.heap, place_of(old), size_t{old.units} * KMA_UNIT, size_t{units} * KMA_UNIT);
        if (!place) {
            expect_error(KMA_ERROR_OUT_OF_MEMORY);
            return {};
        }
        if (place == place_of(old)) {
            if (units <= old.units)
                return old;
            shim::check(units <= in.room_of(old), "a block grew where there is no room");
            const block grown = {old.first, units, old.stamp};
            own(grown);
            return grown;
        }
        uint whole = units;
        if constexpr (requires { in.whole(place); })
            whole = in.whole(place);
        const block mine = found(place, whole, stamp, kept_align(old));
        if constexpr (!shim::is_model_checker)
            check_words(mine, min(units, old.units), old.stamp, "realloc lost what the block had");
        own(mine);
        return mine;
    }

    void free(const block &mine)
    {
        check_contents(mine);
        Kind::free(in.heap, place_of(mine));
    }

    void check_contents(const block &mine)
    {
        for (uint unit = mine.first; unit < mine.first + mine.units; unit++)
            shim::check(owner(unit) == mine.stamp, "a unit has two owners");
        if constexpr (!shim::is_model_checker)
            check_words(mine, mine.units, mine.stamp, "a block's contents have changed");
    }

    // What gets NULL: no bytes, too many, a wrong alignment.
    void ask_for_nothing(uint which)
    {
        if (which % 3 == 0) {
            shim::check(!Kind::malloc(in.heap, 0), "a block of no bytes");
        } else if (which % 3 == 1) {
            shim::check(!Kind::malloc(in.heap, size_t{1} << 40), "a block larger than the heap");
            expect_error(KMA_ERROR_TOO_LARGE);
        } else {
            shim::check(!Kind::aligned_alloc(in.heap, 3, KMA_UNIT), "a block at an odd alignment");
            expect_error(KMA_ERROR_BAD_ALIGNMENT);
        }
    }

    // Frees of what is no block, harmless and reported, while my own block keeps its surroundings as they are.
    void free_wrongly(const block &mine, bool inside)
    {
        uchar *const start = place_of(mine);
        Kind::free(in.heap, inside && mine.units > 1 ? start + KMA_UNIT : start + 8);
        expect_error(KMA_ERROR_INVALID_FREE);
    }

    // Frees of a block that is free already, while nobody takes memory.
    void free_again(const block &freed)
    {
        Kind::free(in.heap, place_of(freed));
        expect_error(KMA_ERROR_DOUBLE_FREE);
    }

    // The same while others free: of a page that ends at that moment the lines count as used, and no block begins
    // there, so that the error may be that of a pointer that was never a block's.
    void free_again_beside_others(const block &freed)
    {
        free_again(freed);
        unclear_.fetch_add(1, std::memory_order_relaxed); // orders nothing
    }

    void free_in_front()
    {
        Kind::free(in.heap, unit_at(0) - KMA_UNIT);
        expect_error(KMA_ERROR_INVALID_FREE);
    }

    // Alone: takes all blocks of `units` that there are into `living`.
    void take_all(uint units, block_list &living)
    {
        uint left = 0;
        if constexpr (!requires { in.has_room(units); })
            left = in.capacity(units, living);
        const auto must_give = [&] {
            if constexpr (requires { in.has_room(units); })
                return in.has_room(units);
            else
                return left-- != 0;
        };
        for (uint stamp = 1; must_give(); stamp++) {
            const block one = alloc(units, stamp);
            shim::check(one.units != 0, "a lone caller gets NULL though there is a free block");
            living.push(one);
        }
        shim::check(alloc(units, 1).units == 0, "more blocks than there are");
    }

    // Alone: takes what a lone caller can get of a size, which must be what is free, and gives it back.
    void check_lone_caller(uint units, block_list &living)
    {
        const uint others = living.count;
        take_all(units, living);
        check_at_rest(living);
        while (living.count > others)
            free(living.pop(living.count - 1));
        check_at_rest(living);
    }

    // With exactly `living` taken and nobody else about.
    void check_at_rest(const block_list &living)
    {
        for (const block &each : living)
            check_contents(each);
        kma_error_log &log = in.heap->header.errors;
        const auto count = [&log](uint code) { return kma_load_u32(&log.count[code], KMA_RELAXED); };
        const uint odd = count(KMA_ERROR_INVALID_FREE) - counted_[KMA_ERROR_INVALID_FREE]; // of unclear ones
        shim::check(odd <= unclear_, "the error log does not count what happened");
        for (uint code = 0; code < KMA_ERROR_CODES; code++) {
            const uint more = code == KMA_ERROR_INVALID_FREE ? odd : code == KMA_ERROR_DOUBLE_FREE ? 0u - odd : 0u;
            const uint expected = counted_[code] + more;
            shim::check(count(code) == expected, "the error log does not count what happened");
            for (uint n = 0; n < KMA_ERROR_KEPT; n++)
                shim::check(log.first[code * KMA_ERROR_KEPT + n].written == (n < expected),
                            "an error record is missing, or one too many");
        }
        in.check_books(living);
    }

private:
    static constexpr size_t most_bytes = Kind::most_metadata + size_t{most_units} * KMA_UNIT + 64;

    void expect_error(uint code) { counted_[code].fetch_add(1, std::memory_order_relaxed); } // orders nothing

    block found(void *place, uint units, uint stamp, uint align)
    {
        const uint ref = Kind::ref_of(in.heap, place);
        shim::check(ref % align == 0, "a block is not aligned");
        shim::check(ref >= in.begin() && ref + units <= in.begin() + in.units(), "a block outside the heap");
        const block mine = {ref - in.begin(), units, stamp};
        in.check_block(mine);
        in.took(units, align);
        return mine;
    }

    // In units: what its place and size tell. Where a block has more than it was asked for, it may be more.
    uint kept_align(const block &old)
    {
        const uint place = in.begin() + old.first;
        return std::min({place & (0u - place), std::bit_floor(old.units), Kind::most_align / KMA_UNIT});
    }

    // Plain fields: each owner before must have been ordered before this.
    void own(const block &mine)
    {
        for (uint unit = mine.first; unit < mine.first + mine.units; unit++)
            mark(unit, mine.stamp);
        shim::linger();
    }

    uchar *unit_at(uint unit) { return reinterpret_cast<uchar *>(in.heap) + (size_t{in.begin()} + unit) * KMA_UNIT; }
    uchar *place_of(const block &of) { return unit_at(of.first); }

    // On threads the owner is noted in the block itself, in each of its words; Relacy's words do not fit in there.
    KMA_PLAIN(uint) & owner(uint unit)
    {
        if constexpr (shim::is_model_checker)
            return reinterpret_cast<KMA_PLAIN(uint) *>(owner_memory_)[unit];
        else
            return *reinterpret_cast<KMA_PLAIN(uint) *>(unit_at(unit));
    }

    void mark(uint unit, uint stamp)
    {
        owner(unit) = stamp;
        if constexpr (!shim::is_model_checker)
            for (uint word = 1; word < KMA_UNIT / sizeof(uint); word++)
                (&owner(unit))[word] = stamp;
    }

    void check_words(const block &of, uint units, uint value, const char *what)
    {
        const uint *const words = reinterpret_cast<const uint *>(place_of(of));
        for (uint word = 0; word < units * KMA_UNIT / sizeof(uint); word++)
            shim::check(words[word] == value, what);
    }

    std::atomic<uint> counted_[KMA_ERROR_CODES]; // errors that the log must have
    std::atomic<uint> unclear_ = 0;               // of the double frees, those that may be told as invalid ones
    alignas(64) uchar owner_memory_[shim::is_model_checker ? most_units * sizeof(KMA_PLAIN(uint)) : 1];
    shim::heap_memory<most_bytes> memory_;
};
