// The scatter heap in memory. Types and sizes only, shared with the host library like header.cl.
// The including file provides kma_highest_bit.
//
//   0                                                                           begin    limit
//   | kma_scatter | cursors | full   | usage table | trees     | bitmaps  | pad | page 0 | … |
//   |             | 1 word  | 1 word | 1 word for  | 1 bit for | 1 bit    |  to | blocks of  |
//   |             | each    | for a  | each page   | each page | for 16 B |   4 | one size   |
//   |             |         | region |             | and above | of each  | KiB | each       |
//   |             |         |        |             |           | page     |     |            |
//
// All metadata lie before `begin`; pages hold blocks and nothing else. Metadata of a page of 4 KiB:
// 39.1 bytes, 0.95 %; of 16 KiB: 136.1 bytes, 0.83 %. With KMA_DEBUG 2 and 3 a kma_guard lies
// between trees and bitmaps.
//
// A region (the paper's super block; `super` in names) is 2^super_shift pages side by side.
#ifndef KMA_HEAP_SCATTER_LAYOUT_CL
#define KMA_HEAP_SCATTER_LAYOUT_CL

#include "kma/heap/common/guard_layout.cl"
#include "kma/heap/common/header.cl"
#include "kma/heap/common/size_class.cl"
#include "kma/lockfree/bit_tree_layout.cl"

#define KMA_SCATTER_NONE 0xffffffffu // no page

// A page has 2^shift units: 4 KiB, 8 KiB or 16 KiB. tests/host uses smaller numbers.
#ifndef KMA_SCATTER_MIN_SHIFT
#define KMA_SCATTER_MIN_SHIFT 8u
#endif
#define KMA_SCATTER_MAX_SHIFT 10u
#define KMA_SCATTER_MAX_SUPER_SHIFT 16u // log2 of the pages of a region

// Where page 0 begins: the heap's largest alignment.
#ifndef KMA_SCATTER_ALIGN
#define KMA_SCATTER_ALIGN 4096u
#endif

// A page's word in the usage table: the blocks that are reserved, and the class that the page is
// split for.
//
//   31     30 … 25   24 … 0
//   | free | split | count |
//
// The count also has reservations that came too late and are taken back at once, at most one for
// each running work-item. They may come while the page is free or part of a run. A free page's
// `split` says what it was before.
#define KMA_SCATTER_FREE        0x80000000u
#define KMA_SCATTER_SPLIT_SHIFT 25u
#define KMA_SCATTER_COUNT       0x01ffffffu
// Other values of `split` than classes:
#define KMA_SCATTER_CLASSES 31u // at most; see kma_scatter_class_of
// the first page of a run, which is one block; the first word of its bitmap has the length in pages
#define KMA_SCATTER_HEAD    60u
#define KMA_SCATTER_REST    61u // another page of a run
// a free page that was never used; without KMA_SCATTER_FREE a page that growth may add
#define KMA_SCATTER_UNUSED  63u

static inline uint kma_scatter_word(uint split, uint count)
{
    return split << KMA_SCATTER_SPLIT_SHIFT | count;
}

static inline uint kma_scatter_split(uint word)
{
    return (word & ~KMA_SCATTER_FREE) >> KMA_SCATTER_SPLIT_SHIFT;
}

// entries of tables by class; those beyond the last class repeat it, for lanes without a request
#define KMA_SCATTER_SIZES 32u
#define KMA_SCATTER_MOST_PAGES (1u << 24)

#ifndef KMA_SCATTER_PLACES
#define KMA_SCATTER_PLACES 128u // shards, at most
#endif

// Where everything is. Only growth changes it: `pages`, `supers` and `limit`. All metadata has
// space for `room` pages from the start.
typedef struct kma_scatter_plan {
    uint pages;
    uint room;         // pages that the metadata has space for
    uint shift;        // log2 of the units of a page
    uint super_shift;  // log2 of the pages of a region; the last one may have fewer
    uint supers;       // regions
    uint places;       // shards: a power of two up to KMA_SCATTER_PLACES
    // of each tree over the pages: the tree of free pages, then one for each class
    uint tree_words;
    uint cursors;      // from here on: offsets in units from the heap's start
    uint full;
    uint table;
    uint trees;
    uint bitmaps;
    uint begin; // of page 0
    uint limit; // after the last page
    uint guard; // of the kma_guard; 0 if there is none
} kma_scatter_plan;

// A block size and what is computed from it. Constant after the initialization.
typedef struct kma_scatter_size {
    uint units;    // of a block
    uint spots;    // blocks in a page
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
    kma_atomic_u32 active[KMA_SCATTER_PLACES];  // the region in which each shard begins
    kma_atomic_u32 emptier[KMA_SCATTER_PLACES]; // the shard's next region when that is nearly full
    kma_atomic_u32 next_run;               // page where the next search for a run begins
    uint pad_run[31];
} kma_scatter;

// ------ sizes of blocks --------------------------------------------------------------------------
//
// Up to an eighth of a page the classes of size_class.cl; above, a page divided by 7, 6 … 1. A
// class's number grows with its size.

static inline uint kma_scatter_small_classes(uint shift)
{
    return kma_class_of(1u << (shift - 3)) + 1;
}

static inline uint kma_scatter_classes(uint shift)
{
    return kma_scatter_small_classes(shift) + 7;
}

// Returns the smallest class of at least `units`, which are at most a page.
static inline uint kma_scatter_class_of(uint units, uint shift)
{
    return units <= 1u << (shift - 3)
               ? kma_class_of(units)
               : kma_scatter_small_classes(shift) + 7 - (1u << shift) / units;
}

// Units of a block.
static inline uint kma_scatter_units(uint size_class, uint shift)
{
    const uint small = kma_scatter_small_classes(shift);
    return size_class < small ? kma_class_units(size_class)
                              : (1u << shift) / (7 - (size_class - small));
}

// Blocks in a page.
static inline uint kma_scatter_spots(uint size_class, uint shift)
{
    const uint small = kma_scatter_small_classes(shift);
    return size_class < small ? (1u << shift) / kma_class_units(size_class)
                              : 7 - (size_class - small);
}

// True if a page with this word is split and has a block that is not reserved.
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

// The largest power of two that is at most `value`, clamped to 1 … `most`.
static inline uint kma_scatter_power(uint value, uint most)
{
    return value <= 1 ? 1 : min(1u << kma_highest_bit(value), most);
}

static inline uint kma_scatter_supers(uint pages, uint super_shift)
{
    return (pages >> super_shift) + ((pages & ((1u << super_shift) - 1)) != 0 ? 1 : 0);
}

// The plan of a heap of so many pages, whatever its size; fields in units wrap beyond 64 GiB.
// `*end` becomes the exact number of units.
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

// The plan with the most pages that fit into `bytes`; 0 pages if none fits.
static inline kma_scatter_plan kma_scatter_plan_for(ulong bytes, uint shift, uint super_shift,
                                                    uint debug)
{
    const ulong units = min(bytes / KMA_UNIT, (ulong)0xffffffffu);     // what refs reach
    uint pages = 0;                                                    // that fit
    // that do not fit, or are too many
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

// The plan with only as many of its pages as a heap of `bytes` holds.
static inline kma_scatter_plan kma_scatter_plan_within(kma_scatter_plan plan, ulong bytes)
{
    const ulong units = bytes / KMA_UNIT;
    const ulong fit = units > plan.begin ? (units - plan.begin) >> plan.shift : 0;
    plan.pages = (uint)min(fit, (ulong)plan.room);
    plan.supers = kma_scatter_supers(plan.pages, plan.super_shift);
    plan.limit = plan.begin + (plan.pages << plan.shift);
    return plan;
}

// The plan of a heap that has `bytes` and may grow to `max_bytes`.
static inline kma_scatter_plan kma_scatter_plan_growing(ulong bytes, ulong max_bytes, uint shift,
                                              uint super_shift, uint debug)
{
    return kma_scatter_plan_within(
        kma_scatter_plan_for(max(bytes, max_bytes), shift, super_shift, debug), bytes);
}

#endif
