// Where everything is in a slab heap of some size: how many places have heads, which number a head has, and the parts of
// slab_layout.cl's picture, whose sizes follow from the number of chunks. Shared with the host library like that file.
#ifndef KMA_HEAP_SLAB_PLAN_CL
#define KMA_HEAP_SLAB_PLAN_CL

#include "kma/heap/guard_layout.cl"
#include "kma/heap/header.cl"
#include "kma/heap/slab_layout.cl"
#include "kma/lockfree/bit_tree_layout.cl"

// ------ heads: which slab lanes alone share (slab_heads.cl) -------------------------------------------------------------
//
// A head's word is 0 if it has none, KMA_SL_HEAD_BUSY while somebody gets it one, and else the slab's first line and the slot of
// it that is the head's own: line << 5 | slot, and 1 more.
#define KMA_SL_HEAD_BUSY 0xffffffffu // no line has so high a number

#define KMA_SL_MANY_PLACES  16u // if there are so many, large classes have heads of fewer,
#define KMA_SL_SMALL_PLACES 4u  // and the smallest of so many times as many

static inline bool kma_sl_head_has_slab(uint head)
{
    return head + 1 > 1; // neither 0 nor KMA_SL_HEAD_BUSY
}

static inline uint kma_sl_head_of(uint line, uint slot)
{
    return (line << KMA_SL_LINE_SHIFT | slot) + 1;
}

static inline uint kma_sl_head_line(uint head)
{
    return (head - 1) >> KMA_SL_LINE_SHIFT;
}

// As a bit of the owners.
static inline uint kma_sl_head_own(uint head)
{
    return 1u << ((head - 1) % KMA_SL_SLOTS);
}

// Places that have heads of their own for a class, of a heap with so many: the longer its slabs, the fewer. Those of 16 classes have
// up to about a KiB, of the next eight twice as much, and so on. Of the smallest, which most who come alone want, there are more.
static inline uint kma_sl_places_of(uint places, uint size_class)
{
    const uint power = size_class / 8;
    if (places < KMA_SL_MANY_PLACES)
        return places;
    return size_class < KMA_SL_SMALL_CLASSES ? places * KMA_SL_SMALL_PLACES : power < 2 ? places : places >> (power - 1);
}

// The heads of classes below `power` * 8 of a heap with many places.
static inline uint kma_sl_heads_below(uint places, uint power)
{
    const uint small = places * KMA_SL_SMALL_PLACES * KMA_SL_SMALL_CLASSES;
    return small + places * (16 - KMA_SL_SMALL_CLASSES) + 8 * (places - (places >> (power - 2)));
}

// The number of a head, one behind the other: of each place those of small classes; then of each fourth one those of the other
// of the first 16; then of each second one of these those of the next eight, and so on.
static inline uint kma_sl_head_number(uint places, uint place, uint size_class)
{
    const uint power = size_class / 8;
    const uint mine = place & (kma_sl_places_of(places, size_class) - 1);
    if (places < KMA_SL_MANY_PLACES)
        return mine * KMA_SL_CLASSES + size_class;
    if (size_class < KMA_SL_SMALL_CLASSES)
        return mine * KMA_SL_SMALL_CLASSES + size_class;
    if (power < 2)
        return places * KMA_SL_SMALL_PLACES * KMA_SL_SMALL_CLASSES + mine * (16 - KMA_SL_SMALL_CLASSES) + size_class - KMA_SL_SMALL_CLASSES;
    return kma_sl_heads_below(places, power) + mine * 8 + size_class % 8;
}

// All of them.
static inline uint kma_sl_heads(uint places)
{
    return places < KMA_SL_MANY_PLACES ? places * KMA_SL_CLASSES : kma_sl_heads_below(places, KMA_SL_CLASSES / 8);
}

// The class of a head.
static inline uint kma_sl_head_class(uint places, uint number)
{
    const uint small = places * KMA_SL_SMALL_PLACES * KMA_SL_SMALL_CLASSES;
    if (places < KMA_SL_MANY_PLACES)
        return number % KMA_SL_CLASSES;
    if (number < small)
        return number % KMA_SL_SMALL_CLASSES;
    if (number < kma_sl_heads_below(places, 2))
        return KMA_SL_SMALL_CLASSES + (number - small) % (16 - KMA_SL_SMALL_CLASSES);
    uint power = 2;
    while (number >= kma_sl_heads_below(places, power + 1)) // 5 at most
        power++;
    return power * 8 + (number - kma_sl_heads_below(places, power)) % 8;
}

// ------ the plan --------------------------------------------------------------------------------------------------

#ifndef KMA_SL_PLACES
#define KMA_SL_PLACES 1024u // numbers of places that have heads of their own, at most
#endif
#ifndef KMA_SL_LOOKERS
#define KMA_SL_LOOKERS 128u // those that look for lines each from another chunk on, at most
#endif
#ifndef KMA_SL_LOOKED_STRIDE
#define KMA_SL_LOOKED_STRIDE 8u // words between those of two places, which so are not written side by side
#endif
#ifndef KMA_SL_CURSORS
#define KMA_SL_CURSOR_STRIDE 32u // words between two cursors: a line of the cache each
#define KMA_SL_CURSORS       32u // of each band, at most
#endif
// A place of its own for each so many chunks, and a cursor for each so many.
#ifndef KMA_SL_PLACE_CHUNKS
#define KMA_SL_PLACE_CHUNKS 32u
#endif
#ifndef KMA_SL_CURSOR_CHUNKS
#define KMA_SL_CURSOR_CHUNKS 64u
#endif
// Bands of cursors (slab_cursors.cl), and log2 of the lines that a cursor of them has side by side: 128 KiB, and for many lines
// 1 MiB. Slabs of heads have a band of their own, so that what lives long in them does not part the memory of others.
#define KMA_SL_BAND_FEW   0u
#define KMA_SL_BAND_MANY  1u
#define KMA_SL_BAND_HEADS 2u
#define KMA_SL_BANDS      3u
#ifndef KMA_SL_FEW_SHIFT
#define KMA_SL_FEW_SHIFT  8u
#define KMA_SL_MANY_SHIFT 11u
#endif
// The most lines that are few: 8 KiB. What does not fit into the end of a share stays free, for those who look for gaps.
#ifndef KMA_SL_FEW
#define KMA_SL_FEW (1u << (KMA_SL_FEW_SHIFT - 4))
#endif
// The most lines that a run takes at a cursor: 64 KiB. Too few longer ones would fit into what a cursor has side by side.
#ifndef KMA_SL_DRAWN
#define KMA_SL_DRAWN (1u << (KMA_SL_MANY_SHIFT - 4))
#endif
// The most lines of a run that is not long: whose search may take a walk line by line.
#ifndef KMA_SL_SHORT
#define KMA_SL_SHORT KMA_SL_DRAWN
#endif
#define KMA_SL_USUAL_CURSORS 16u

// Lanes that want a block together: so many get a slab even if there are holes for them.
#ifndef KMA_SL_MANY
#define KMA_SL_MANY 16u
#endif

// Trees of holes over the chunks (slab_holes.cl), one for each class, one behind the other.
#define KMA_SL_TREES KMA_SL_CLASSES

// Where everything is. Constant after the initialisation, but for growth, which changes `chunks` and `limit`: all
// metadata have room for the chunks that there may ever be, so that nothing has to move.
typedef struct __attribute__((aligned(16))) kma_sl_plan { // first what malloc and free of whole warps read, four at a time
    uint used;        // this and others without a remark: units from the heap's start
    uint cursors;     // how many
    uint few_rounds;  // shares that each cursor has, of few lines; what is behind them is found by searches only
    uint many_rounds; // the same of many lines
    uint words;
    uint marks;
    uint begin; // of line 0
    uint chunks;
    uint room;  // chunks that the metadata have room for
    uint limit; // behind the last line
    uint heads;
    uint places; // of heads, a power of two up to KMA_SL_PLACES
    uint trees;
    uint tree_words; // of each tree
    uint rooms;
    uint pins;
    uint guard; // of the kma_guard; 0 if there is none
    uint inverse; // 2^16 / cursors, rounded up
    uint pad[2];
} kma_sl_plan;

#if KMA_DEBUG
#define kma_slab KMA_FLAVOUR_OF(kma_slab)
#endif
typedef struct kma_slab {
    kma_heap_header header;
    kma_sl_plan plan;
    kma_sl_size sizes[KMA_SL_CLASSES];
    kma_atomic_u32 headed[KMA_SL_CLASSES]; // of each class, at most so many heads have a slab
    uint pad[16];
    kma_atomic_u32 cursors[KMA_SL_BANDS * KMA_SL_CURSORS * KMA_SL_CURSOR_STRIDE];
    kma_atomic_u32 looked[KMA_SL_LOOKERS * KMA_SL_LOOKED_STRIDE]; // chunks where places looked last for a gap
    kma_atomic_u32 next_run; // line from which on the next short run is looked for, once round the heap and so on
    kma_atomic_u32 seekers;  // who look at all of the heap
    kma_atomic_u32 scarce;   // so many lines side by side, or more, a walk through the heap did not find; 0: it did
    kma_atomic_u32 next_long; // line from which on long runs are side by side (slab_long.cl)
    uint pad_run[28];
} kma_slab;

// Largest power of two that is at most `value`, from 1 to `most`.
static inline uint kma_sl_power(uint value, uint most)
{
    return value <= 1 ? 1 : min(1u << kma_highest_bit(value), most);
}

// Places that have heads of their own, of a heap with so many chunks.
static inline uint kma_sl_places(uint chunks)
{
    return kma_sl_power(chunks / KMA_SL_PLACE_CHUNKS, KMA_SL_PLACES);
}

static inline uint kma_sl_rounds(kma_sl_plan plan, uint shift)
{
    return ((plan.chunks << KMA_SL_LINE_SHIFT) >> shift) / plan.cursors;
}

// Of a heap with so many chunks and that KMA_DEBUG, however many bytes that takes; the fields in units wrap beyond 64
// GiB. `cursors`: 1 … KMA_SL_CURSORS; a small heap has fewer. `*end` is the exact number of units.
static inline kma_sl_plan kma_sl_plan_of(uint chunks, uint cursors, uint debug, ulong *end)
{
    kma_sl_plan plan;
    plan.chunks = plan.room = chunks;
    plan.cursors = max(min(cursors, chunks / KMA_SL_CURSOR_CHUNKS), 1u);
    plan.inverse = (0xffffu + plan.cursors) / plan.cursors;
    plan.places = kma_sl_places(chunks);
    plan.tree_words = kma_bit_tree_words(chunks);
    plan.few_rounds = kma_sl_rounds(plan, KMA_SL_FEW_SHIFT);
    plan.many_rounds = kma_sl_rounds(plan, KMA_SL_MANY_SHIFT);
    const ulong heads = kma_whole_units(sizeof(kma_slab));
    const ulong used = heads + kma_whole_units((ulong)kma_sl_heads(plan.places) * sizeof(kma_atomic_u32));
    const ulong rooms = used + kma_whole_units((ulong)chunks * sizeof(kma_atomic_u32));
    const ulong pins = rooms + kma_whole_units(((ulong)chunks + 31) / 32 * sizeof(kma_atomic_u32));
    const ulong marks = pins + kma_whole_units((ulong)chunks * sizeof(kma_atomic_u32));
    const ulong trees = marks + kma_whole_units((ulong)chunks * (KMA_SL_LINE / KMA_SL_MARKS) * sizeof(kma_atomic_u32));
    const ulong guard = trees + kma_whole_units((ulong)plan.tree_words * KMA_SL_TREES * sizeof(kma_atomic_u32));
    const ulong words = guard + kma_guard_room(debug);
    // One word more than lines: free looks at the word behind a line's before it knows what it is (slab_release.cl).
    const ulong behind = words + kma_whole_units(((ulong)chunks * KMA_SL_LINE + 1) * sizeof(kma_atomic_u32));
    const ulong begin = (behind + KMA_SL_ALIGN / KMA_UNIT - 1) / (KMA_SL_ALIGN / KMA_UNIT) * (KMA_SL_ALIGN / KMA_UNIT);
    *end = begin + ((ulong)chunks << (2 * KMA_SL_LINE_SHIFT));
    plan.heads = (uint)heads;
    plan.used = (uint)used;
    plan.rooms = (uint)rooms;
    plan.pins = (uint)pins;
    plan.marks = (uint)marks;
    plan.trees = (uint)trees;
    plan.guard = debug >= 2 ? (uint)guard : 0;
    plan.pad[0] = plan.pad[1] = 0;
    plan.words = (uint)words;
    plan.begin = (uint)begin;
    plan.limit = (uint)*end;
    return plan;
}

// The plan with the most chunks that `bytes` have room for; 0 chunks if there is none.
static inline kma_sl_plan kma_sl_plan_for(ulong bytes, uint cursors, uint debug)
{
    const ulong units = min(bytes / KMA_UNIT, (ulong)0xffffffffu); // as far as refs reach
    uint chunks = 0;                                               // fit
    uint beyond = (uint)(units >> (2 * KMA_SL_LINE_SHIFT)) + 1;    // do not
    ulong end;
    kma_sl_plan plan = kma_sl_plan_of(chunks, cursors, debug, &end);
    while (beyond - chunks > 1) { // 23 steps at most
        const uint middle = chunks + (beyond - chunks) / 2;
        const kma_sl_plan larger = kma_sl_plan_of(middle, cursors, debug, &end);
        if (end > units) {
            beyond = middle;
        } else {
            chunks = middle;
            plan = larger;
        }
    }
    return plan;
}

// The same plan with only those of its chunks that a heap of `bytes` has yet.
static inline kma_sl_plan kma_sl_plan_within(kma_sl_plan plan, ulong bytes)
{
    const ulong units = bytes / KMA_UNIT;
    const ulong fit = units > plan.begin ? (units - plan.begin) >> (2 * KMA_SL_LINE_SHIFT) : 0;
    plan.chunks = (uint)min(fit, (ulong)plan.room);
    plan.limit = plan.begin + (plan.chunks << (2 * KMA_SL_LINE_SHIFT));
    plan.few_rounds = kma_sl_rounds(plan, KMA_SL_FEW_SHIFT);
    plan.many_rounds = kma_sl_rounds(plan, KMA_SL_MANY_SHIFT);
    return plan;
}

// The plan of a heap that has `bytes` and may grow until it has `max_bytes`.
static inline kma_sl_plan kma_sl_plan_growing(ulong bytes, ulong max_bytes, uint cursors, uint debug)
{
    return kma_sl_plan_within(kma_sl_plan_for(max(bytes, max_bytes), cursors, debug), bytes);
}

#endif
