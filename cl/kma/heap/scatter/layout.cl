// The scatter heap in memory. Types and sizes only, shared with the host library like header.cl;
// the including side also has kma_highest_bit.
//
//   0                                                                                        begin          limit
//   | kma_scatter | cursors | full   | usage table | trees      | bitmaps        |   pad   | page 0 | page 1 | … |
//   |             | 1 word  | 1 word | 1 word per  | 1 bit per  | 1 bit per 16 B |to 4 KiB | chunks of one size  |
//   |             | each    | per    | page        | page each, | of each page   |         | each                |
//   |             |         | super  |             | and above  |                |         |                     |
//                             block
//
// All that is written while kernels run lies in front of `begin`; the pages hold chunks and nothing
// else. Per page of 4 KiB that is 39.1 bytes, of 16 KiB 136.1: 0.95 and 0.83 %.
//
// With KMA_DEBUG 2 there is a kma_guard between trees and bitmaps.
#ifndef KMA_HEAP_SCATTER_LAYOUT_CL
#define KMA_HEAP_SCATTER_LAYOUT_CL

#include "kma/heap/common/guard_layout.cl"
#include "kma/heap/common/header.cl"
#include "kma/heap/common/size_class.cl"
#include "kma/lockfree/bit_tree_layout.cl"

#define KMA_SCATTER_NONE 0xffffffffu // no page

// Units in a page are 2^shift: 4 KiB, 8 KiB or 16 KiB. (The tests of tests/host take less.)
#ifndef KMA_SCATTER_MIN_SHIFT
#define KMA_SCATTER_MIN_SHIFT 8u
#endif
#define KMA_SCATTER_MAX_SHIFT 10u
#define KMA_SCATTER_MAX_SUPER_SHIFT 16u // log2 of the pages of a super block

// Where pages begin: the largest alignment this heap gives.
#ifndef KMA_SCATTER_ALIGN
#define KMA_SCATTER_ALIGN 4096u
#endif

// A page's word in the usage table. While it is not free: chunks reserved, and for which size the
// page is split.
//
//   31     30 … 25   24 … 0
//   | free | split | count |
//
// The count also has reservations that will be taken back at once because they came too late, at
// most one for each work-item that runs; those may come while the page is free, or of a run, as
// well. A free page's `split` says what it was before.
#define KMA_SCATTER_FREE        0x80000000u
#define KMA_SCATTER_SPLIT_SHIFT 25u
#define KMA_SCATTER_COUNT       0x01ffffffu
// Values of `split` beside the classes:
#define KMA_SCATTER_CLASSES 31u // at most; see kma_scatter_class_of
// the first page of a run, which is one block; its length is in the first word of its bitmap
#define KMA_SCATTER_HEAD    60u
#define KMA_SCATTER_REST    61u // another page of a run
// a free page that never was anything else; if it is not free, growth is still to bring it
#define KMA_SCATTER_UNUSED  63u

static inline uint kma_scatter_word(uint split, uint count)
{
    return split << KMA_SCATTER_SPLIT_SHIFT | count;
}

static inline uint kma_scatter_split(uint word)
{
    return (word & ~KMA_SCATTER_FREE) >> KMA_SCATTER_SPLIT_SHIFT;
}

// entries of tables by class; those behind the last are as the last, for lanes that want none
#define KMA_SCATTER_SIZES 32u
#define KMA_SCATTER_MOST_PAGES (1u << 24)

#ifndef KMA_SCATTER_PLACES
#define KMA_SCATTER_PLACES 128u // numbers of places, at most
#endif

// Where everything is. Constant after the initialisation, but for growth, which changes `pages`,
// `supers` and `limit`: all metadata have room for the pages that there may ever be, so that
// nothing has to move.
typedef struct kma_scatter_plan {
    uint pages;
    uint room;         // pages that the metadata have room for
    uint shift;        // log2 of the units of a page
    uint super_shift;  // log2 of the pages of a super block; the last one may have fewer
    uint supers;       // super blocks
    uint places;       // a power of two up to KMA_SCATTER_PLACES
    // of each tree over the pages: that of the free ones, then one for each class
    uint tree_words;
    uint cursors;      // this and the rest: units from the heap's start
    uint full;
    uint table;
    uint trees;
    uint bitmaps;
    uint begin; // of page 0
    uint limit; // behind the last page
    uint guard; // of the kma_guard; 0 if there is none
} kma_scatter_plan;

// A size of chunks, in numbers that need not be worked out again. Constant after the
// initialisation.
typedef struct kma_scatter_size {
    uint units;    // of a chunk
    uint spots;    // chunks in a page
    uint by_units; // 2^32 / units, rounded down, at most 2^32 - 1; see kma_scatter_divide
    uint by_spots;
} kma_scatter_size;

#if KMA_DEBUG
#define kma_scatter KMA_FLAVOUR_OF(kma_scatter)
#endif
typedef struct kma_scatter {
    kma_heap_header header;
    kma_scatter_plan plan;
    uint pad[7];
    kma_scatter_size sizes[KMA_SCATTER_SIZES];
    kma_atomic_u32 active[KMA_SCATTER_PLACES];  // the super block in which each place begins
    kma_atomic_u32 emptier[KMA_SCATTER_PLACES]; // where the place goes on when that is nearly full
    kma_atomic_u32 next_run;               // page where the next run is looked for
    uint pad_run[31];
} kma_scatter;

// ------ sizes of chunks --------------------------------------------------------------------------
//
// Up to an eighth of a page those of size_class.cl; above, what a page divided by 7, 6 … 1 is. The
// number of a class grows with its chunks.

static inline uint kma_scatter_small_classes(uint shift)
{
    return kma_class_of(1u << (shift - 3)) + 1;
}

static inline uint kma_scatter_classes(uint shift)
{
    return kma_scatter_small_classes(shift) + 7;
}

// The smallest class whose chunks have at least `units`, which is at most a page.
static inline uint kma_scatter_class_of(uint units, uint shift)
{
    return units <= 1u << (shift - 3)
               ? kma_class_of(units)
               : kma_scatter_small_classes(shift) + 7 - (1u << shift) / units;
}

// Units of a chunk.
static inline uint kma_scatter_units(uint size_class, uint shift)
{
    const uint small = kma_scatter_small_classes(shift);
    return size_class < small ? kma_class_units(size_class)
                              : (1u << shift) / (7 - (size_class - small));
}

// Chunks in a page.
static inline uint kma_scatter_spots(uint size_class, uint shift)
{
    const uint small = kma_scatter_small_classes(shift);
    return size_class < small ? (1u << shift) / kma_class_units(size_class)
                              : 7 - (size_class - small);
}

// Whether a page is split, with a chunk that nobody has reserved.
static inline bool kma_scatter_has_room(uint word, uint shift)
{
    const uint split = kma_scatter_split(word);
    return (word & KMA_SCATTER_FREE) == 0 && split < KMA_SCATTER_CLASSES &&
           (word & KMA_SCATTER_COUNT) < kma_scatter_spots(split, shift);
}

static inline kma_scatter_size kma_scatter_size_of(uint size_class, uint shift)
{
    kma_scatter_size size;
    size.units = kma_scatter_units(size_class, shift);
    size.spots = kma_scatter_spots(size_class, shift);
    size.by_units = 0xffffffffu / size.units;
    size.by_spots = 0xffffffffu / size.spots;
    return size;
}

// ------ the plan ---------------------------------------------------------------------------------

// Largest power of two that is at most `value`, from 1 to `most`.
static inline uint kma_scatter_power(uint value, uint most)
{
    return value <= 1 ? 1 : min(1u << kma_highest_bit(value), most);
}

static inline uint kma_scatter_supers(uint pages, uint super_shift)
{
    return (pages >> super_shift) + ((pages & ((1u << super_shift) - 1)) != 0 ? 1 : 0);
}

// Of a heap with so many pages and that KMA_DEBUG, however many bytes that takes; the fields in
// units wrap beyond 64 GiB. `*end` is the exact number of units.
static inline kma_scatter_plan kma_scatter_plan_of(uint pages, uint shift, uint super_shift,
                                                   uint debug, ulong *end)
{
    kma_scatter_plan plan;
    plan.pages = plan.room = pages;
    plan.shift = shift;
    plan.super_shift = super_shift;
    plan.supers = kma_scatter_supers(pages, super_shift);
    plan.places = kma_scatter_power(pages / 256, KMA_SCATTER_PLACES);
    plan.tree_words = kma_bit_tree_words(pages);
    const ulong words = (ulong)plan.tree_words * (kma_scatter_classes(shift) + 1);
    const ulong cursors = kma_whole_units(sizeof(kma_scatter));
    const ulong full =
        cursors + kma_whole_units((ulong)plan.places * KMA_SCATTER_SIZES * sizeof(kma_atomic_u32));
    const ulong table = full + kma_whole_units((ulong)plan.supers * sizeof(kma_atomic_u32));
    const ulong trees = table + kma_whole_units((ulong)pages * sizeof(kma_atomic_u32));
    const ulong guard = trees + kma_whole_units(words * sizeof(kma_atomic_u32));
    const ulong bitmaps = guard + kma_guard_room(debug);
    const ulong behind =
        bitmaps + kma_whole_units((ulong)pages * ((1u << shift) / 32) * sizeof(kma_atomic_u32));
    const ulong begin = (behind + KMA_SCATTER_ALIGN / KMA_UNIT - 1) /
                        (KMA_SCATTER_ALIGN / KMA_UNIT) * (KMA_SCATTER_ALIGN / KMA_UNIT);
    *end = begin + ((ulong)pages << shift);
    plan.cursors = (uint)cursors;
    plan.full = (uint)full;
    plan.table = (uint)table;
    plan.trees = (uint)trees;
    plan.guard = debug >= 2 ? (uint)guard : 0;
    plan.bitmaps = (uint)bitmaps;
    plan.begin = (uint)begin;
    plan.limit = (uint)*end;
    return plan;
}

// The plan with the most pages that `bytes` have room for; 0 pages if there is none.
static inline kma_scatter_plan kma_scatter_plan_for(ulong bytes, uint shift, uint super_shift,
                                                    uint debug)
{
    const ulong units = min(bytes / KMA_UNIT, (ulong)0xffffffffu);     // as far as refs reach
    uint pages = 0;                                                    // fit
    // do not, or are too many
    uint beyond = (uint)min(units >> shift, (ulong)KMA_SCATTER_MOST_PAGES) + 1;
    ulong end;
    kma_scatter_plan plan = kma_scatter_plan_of(pages, shift, super_shift, debug, &end);
    while (beyond - pages > 1) { // 25 steps at most
        const uint middle = pages + (beyond - pages) / 2;
        const kma_scatter_plan larger =
            kma_scatter_plan_of(middle, shift, super_shift, debug, &end);
        if (end > units) {
            beyond = middle;
        } else {
            pages = middle;
            plan = larger;
        }
    }
    return plan;
}

// The same plan with only those of its pages that a heap of `bytes` has yet.
static inline kma_scatter_plan kma_scatter_plan_within(kma_scatter_plan plan, ulong bytes)
{
    const ulong units = bytes / KMA_UNIT;
    const ulong fit = units > plan.begin ? (units - plan.begin) >> plan.shift : 0;
    plan.pages = (uint)min(fit, (ulong)plan.room);
    plan.supers = kma_scatter_supers(plan.pages, plan.super_shift);
    plan.limit = plan.begin + (plan.pages << plan.shift);
    return plan;
}

// The plan of a heap that has `bytes` and may grow until it has `max_bytes`.
static inline kma_scatter_plan kma_scatter_plan_growing(ulong bytes, ulong max_bytes, uint shift,
                                              uint super_shift, uint debug)
{
    return kma_scatter_plan_within(
        kma_scatter_plan_for(max(bytes, max_bytes), shift, super_shift, debug), bytes);
}

#endif
