// The slab heap in memory. Types and sizes only, shared with the host library like header.cl; the including side also
// has kma_highest_bit and popcount.
//
//   0                                                                                                 begin        limit
//   | kma_slab | heads      | used     | rooms    | pins     | marks    | trees     | words    | pad  | line 0 | line 1 | … |
//   |          | 23.5 words | 1 bit    | 1 bit    | 1 word   | 4 bits   | 48 bits   | 1 word   | to 4 | 32 units, 512 B     |
//   |          | for each   | for each | for each | for each | for each | for each  | for each | KiB  |                     |
//   |          | place      | line     | chunk    | chunk    | line     | chunk,    | line     |      |                     |
//                                                                         and above
//
// A line is 32 units of 16 bytes, a chunk 32 lines, 16 KiB: those of a word of `used`. All that is written while kernels
// run lies in front of `begin`. Per chunk that is 32 words, one of `used`, a bit of `rooms`, one pin, four words of
// marks and 48 bits of trees with 1/31 of that above them: 158.3 bytes, 0.97 %. A heap has a place for each 32 to 64 chunks, up
// to 1,024 of them, so that heads add at most 2.9 bytes for each, 0.018 %; in one of less than 8 MiB twice as many.
//
// A slab is lines side by side that hold up to 32 blocks: its slots. What tells of it:
//
//   its first line's mark   that a slab begins here, and of which form
//   its first line's word   the owners: bit s is set while slot s belongs to somebody
//   the next lines' words   data, bit 31 of which is always set: a header, and where sizes differ their planes
//   words of its lines whose number is a multiple of 8, from the first line's number + 9 on: how many lines back it
//                           begins, so that it is found from any of its blocks by one look
//
//   form     lines   slots                 data
//   fine     1       32 of 16 bytes        none
//   small    3 or 4  32 of 16 to 64 bytes  two planes
//   header   2 …     up to 32              header, and planes if sizes differ
//
// Plane p has in bit s the bit p of slot s's size, for slots 0 to 30; slot 31 has what is left. So a slot's offset is a sum
// of popcounts. Lanes that ask together get one slab, whatever their sizes; each plane is one ballot.
//
// From KMA_DEBUG 2 on there is a kma_guard between trees and words.
#ifndef KMA_HEAP_SLAB_LAYOUT_CL
#define KMA_HEAP_SLAB_LAYOUT_CL

#include "kma/heap/guard_layout.cl"
#include "kma/heap/header.cl"
#include "kma/lockfree/bit_tree_layout.cl"

#define KMA_SL_NONE 0xffffffffu // no line, no slot

#define KMA_SL_LINE_SHIFT 5u // log2 of the units of a line, and of the lines of a chunk: one word tells of each
#define KMA_SL_LINE       (1u << KMA_SL_LINE_SHIFT)
#define KMA_SL_SLOTS      32u

// Where lines begin: the largest alignment this heap gives.
#ifndef KMA_SL_ALIGN
#define KMA_SL_ALIGN 4096u
#endif

// ------ marks: four bits for each line ------------------------------------------------------------------------------

#define KMA_SL_MARKS       8u // lines of a word of marks
#define KMA_SL_MARK_FORM   3u // 0: no slab begins here
#define KMA_SL_MARK_FINE   1u
#define KMA_SL_MARK_HEADER 2u
#define KMA_SL_MARK_SMALL  3u
#define KMA_SL_MARK_CLOSED 4u // it ended while somebody had pinned the chunk (slab_holes.cl)
#define KMA_SL_MARK_HOLEY  8u // it has, or had, a free slot: others than the owners of its blocks look at it

// ------ words of lines behind a slab's first: data ------------------------------------------------------------------
//
//            31   30    29      28     27 … 0
//   header   1    run   mixed          run: lines
//                                      equal: units of a slot << 6 | slots
//                                      mixed: lines << 8 | coarse << 7 | has slot 31 << 6 | planes
//   plane    1    sizes of slots 30 … 0
//   back     1    lines to the slab's first
#define KMA_SL_DATA   0x80000000u
#define KMA_SL_RUN    0x40000000u // one slot, as long as the slab
#define KMA_SL_MIXED  0x20000000u
#define KMA_SL_VALUE  0x0fffffffu
#define KMA_SL_HEADER_COARSE 128u
#define KMA_SL_HEADER_LAST   64u
#define KMA_SL_COARSE_SHIFT  2u // planes of a coarse slab count 64 bytes

#define KMA_SL_PLANES 7u // the most; so data end in the eighth line behind the first, where no `back` is
#define KMA_SL_BACK   9u // the first line behind a slab's first that may have a `back`

// The largest slot of a slab of several lanes with different sizes, and with one, in units: 4 KiB and 16 KiB.
#define KMA_SL_MOST_MIXED 256u
#define KMA_SL_MOST_EQUAL 1024u

// ------ sizes -----------------------------------------------------------------------------------------------------
//
// Of blocks for a lane alone, which shares its slab with those that come after it: 1 to 8 units, then eight sizes for
// each power of two, each at most 12.5 % above the one before:
//
//   class   0 …   7 |   8 …  15 |  16 …  23 | …  47
//   bytes  16 … 128 | 144 … 256 | 288 … 512 | … 4096

#define KMA_SL_CLASSES 48u

// So small that heads are asked for blocks before holes are looked for: their slabs have 16 slots or more, so that a look serves
// many. Larger holes waste more, and are filled one by one.
#ifndef KMA_SL_SMALL_CLASSES
#define KMA_SL_SMALL_CLASSES 4u
#endif

// Units of a block of a class.
static inline uint kma_sl_units(uint size_class)
{
    return size_class < 8 ? size_class + 1 : (9 + size_class % 8) << (size_class / 8 - 1);
}

// The smallest class whose blocks have at least `units`, 1 … 256.
static inline uint kma_sl_class_of(uint units)
{
    const uint last = units - 1;
    if (last < 8)
        return last;
    const uint power = kma_highest_bit(last);
    return 8 * (power - 3) + (last >> (power - 3));
}

// The largest class whose blocks have at most `units`, at least 1.
static inline uint kma_sl_class_within(uint units)
{
    if (units >= KMA_SL_MOST_MIXED)
        return KMA_SL_CLASSES - 1;
    const uint above = kma_sl_class_of(units);
    return kma_sl_units(above) == units ? above : above - 1;
}

// A class in numbers that need not be worked out again. Constant after the initialisation.
typedef struct kma_sl_size {
    uint units; // of a slot
    uint lines; // of a slab of this class
    uint slots; // of that
    uint pad;
} kma_sl_size;

// The fewest lines with four slots or more that leave at most 1/64 of them unused; but for slots of one unit at least two,
// for the header.
static inline kma_sl_size kma_sl_size_of(uint size_class)
{
    kma_sl_size size;
    size.units = kma_sl_units(size_class);
    size.lines = size.units == 1 ? 1 : 2;
    size.slots = min(size.lines * KMA_SL_LINE / size.units, KMA_SL_SLOTS);
    size.pad = 0;
    // At most 32: so many have four slots of 4 KiB, and none of a smaller class unused.
    while (size.slots < 4 || (size.lines * KMA_SL_LINE - size.slots * size.units) * 64 > size.lines * KMA_SL_LINE) {
        size.lines++;
        size.slots = min(size.lines * KMA_SL_LINE / size.units, KMA_SL_SLOTS);
    }
    return size;
}

// The lowest bit of a word that is not 0.
static inline uint kma_sl_first_bit(uint bits)
{
    return popcount((bits - 1) & ~bits);
}

// ------ forms -----------------------------------------------------------------------------------------------------

// For loops in code that is rarely run and often called: unrolled, they keep all planes in registers.
#ifdef __OPENCL_C_VERSION__
#define KMA_ROLLED _Pragma("unroll 1")
#else
#define KMA_ROLLED
#endif

// A slab's form, as its mark and its data tell.
typedef struct kma_sl_form {
    uint mark;
    uint units; // of each slot; 0: planes tell
    uint lines;
    uint slots; // one bit for each
    uint shift; // log2 of what planes count
    uint least; // added to what the planes say: 1 in a small one
    uint count; // planes
    uint planes[KMA_SL_PLANES]; // without the data bit
} kma_sl_form;

// Units of the slots in front of a slot.
static inline uint kma_sl_offset(const kma_sl_form *form, uint slot)
{
    if (form->units != 0)
        return form->units * slot;
    const uint below = (1u << slot) - 1u; // slot 31 at most
    uint sum = form->least * slot;
    KMA_ROLLED
    for (uint p = 0; p < form->count; p++)
        sum += (uint)popcount(form->planes[p] & below) << p;
    return sum << form->shift;
}

// Units of a slot.
static inline uint kma_sl_room(const kma_sl_form *form, uint slot)
{
    if (form->units != 0)
        return form->units;
    if (slot == KMA_SL_SLOTS - 1)
        return form->lines * KMA_SL_LINE - kma_sl_offset(form, slot);
    uint sum = form->least;
    KMA_ROLLED
    for (uint p = 0; p < form->count; p++)
        sum += (form->planes[p] >> slot & 1u) << p;
    return sum << form->shift;
}

static inline uint kma_sl_whole_lines(uint units)
{
    return ((units - 1) >> KMA_SL_LINE_SHIFT) + 1;
}

// Lines of a slab of equal slots, with a header.
static inline uint kma_sl_lines_for(uint units, uint slots)
{
    return max(kma_sl_whole_lines(units * slots), 2u);
}

// Lines of a small slab whose first 31 slots have so many units: then slot 31 has up to four.
static inline uint kma_sl_small_lines(uint units)
{
    return units + 4 <= 3 * KMA_SL_LINE ? 3 : 4;
}

// The lowest `count` slots, 0 … 32.
static inline uint kma_sl_all_slots(uint count)
{
    return count >= KMA_SL_SLOTS ? 0xffffffffu : (1u << count) - 1u;
}

// The form by the mark, and the header if it has one; `count` planes are missing still.
static inline kma_sl_form kma_sl_form_with(uint mark, uint header)
{
    const uint value = header & KMA_SL_VALUE;
    kma_sl_form form;
    form.mark = mark;
    form.units = form.lines = 1;
    form.slots = 0xffffffffu;
    form.shift = form.least = form.count = 0;
    if ((mark & KMA_SL_MARK_FORM) == KMA_SL_MARK_SMALL) {
        form.units = 0;
        form.least = 1;
        form.count = 2;
    } else if ((header & KMA_SL_RUN) != 0) {
        form.lines = value;
        form.units = value << KMA_SL_LINE_SHIFT; // 2^32 units are more than a heap has
        form.slots = 1;
    } else if ((header & KMA_SL_MIXED) != 0) {
        form.units = 0;
        form.lines = value >> 8;
        form.shift = (value & KMA_SL_HEADER_COARSE) != 0 ? KMA_SL_COARSE_SHIFT : 0;
        form.slots = (value & KMA_SL_HEADER_LAST) != 0 ? KMA_SL_DATA : 0; // slot 31, which no plane tells of
        form.count = value & 7u;
    } else if (header != 0) {
        form.units = value >> 6;
        form.lines = kma_sl_lines_for(form.units, value & 63u);
        form.slots = kma_sl_all_slots(value & 63u);
    }
    return form;
}

// The form with its planes.
static inline kma_sl_form kma_sl_form_whole(kma_sl_form form)
{
    if (form.least != 0)
        form.lines = kma_sl_small_lines(kma_sl_offset(&form, KMA_SL_SLOTS - 1));
    else if (form.units == 0) {
        KMA_ROLLED
        for (uint p = 0; p < form.count; p++)
            form.slots |= form.planes[p];
    }
    return form;
}

// The headers of slabs: of equal slots; of one, all of it; with planes.
static inline uint kma_sl_equal_header(uint units, uint slots)
{
    return KMA_SL_DATA | units << 6 | slots;
}

static inline uint kma_sl_run_header(uint lines)
{
    return KMA_SL_DATA | KMA_SL_RUN | lines;
}

static inline uint kma_sl_mixed_header(uint lines, bool is_coarse, bool has_last, uint planes)
{
    return KMA_SL_DATA | KMA_SL_MIXED | lines << 8 | (is_coarse ? KMA_SL_HEADER_COARSE : 0) | (has_last ? KMA_SL_HEADER_LAST : 0) | planes;
}

// The first line of a slab at `first` that has a `back`, if it is so long; then every eighth has.
static inline uint kma_sl_first_back(uint first)
{
    return (first + KMA_SL_BACK + KMA_SL_MARKS - 1) / KMA_SL_MARKS * KMA_SL_MARKS;
}

// ------ heads: which slab lanes alone share (slab_heads.cl) -------------------------------------------------------------
//
// A head's word is 0 if it has none, KMA_SL_HEAD_BUSY while somebody gets it one, and else the slab's first line and the slot of
// it that is the head's own: line << 5 | slot, and 1 more.
#define KMA_SL_HEAD_BUSY 0xffffffffu // no line has so high a number

#define KMA_SL_MANY_PLACES 16u // if there are so many, large classes have heads of fewer

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
// up to about a KiB, of the next eight twice as much, and so on.
static inline uint kma_sl_places_of(uint places, uint size_class)
{
    const uint power = size_class / 8;
    return places < KMA_SL_MANY_PLACES || power < 2 ? places : places >> (power - 1);
}

// The number of a head, one behind the other: of each place those of the first 16 classes; then of each second one those of
// the next eight, and so on.
static inline uint kma_sl_head_number(uint places, uint place, uint size_class)
{
    const uint power = size_class / 8;
    const uint mine = place & (kma_sl_places_of(places, size_class) - 1);
    if (places < KMA_SL_MANY_PLACES)
        return mine * KMA_SL_CLASSES + size_class;
    return power < 2 ? mine * 16 + size_class : 16 * places + 8 * (places - (places >> (power - 2)) + mine) + size_class % 8;
}

// All of them.
static inline uint kma_sl_heads(uint places)
{
    return places < KMA_SL_MANY_PLACES ? places * KMA_SL_CLASSES : 16 * places + 8 * (places - (places >> 4));
}

// The class of a head.
static inline uint kma_sl_head_class(uint places, uint number)
{
    if (places < KMA_SL_MANY_PLACES)
        return number % KMA_SL_CLASSES;
    if (number < 16 * places)
        return number % 16;
    uint power = 2;
    while (number >= 16 * places + 8 * (places - (places >> (power - 1)))) // 5 at most
        power++;
    return power * 8 + number % 8;
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
// Bands of cursors (slab_cursors.cl), and log2 of the lines that a cursor of them has side by side: 128 KiB and 1 MiB.
#define KMA_SL_BAND_FEW   0u
#define KMA_SL_BAND_MANY  1u
#define KMA_SL_BANDS      2u
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
typedef struct kma_sl_plan {
    uint chunks;
    uint room;        // chunks that the metadata have room for
    uint cursors;     // how many
    uint few_rounds;  // shares that each cursor has, of few lines; what is behind them is found by searches only
    uint many_rounds; // the same of many lines
    uint places;      // of heads, a power of two up to KMA_SL_PLACES
    uint tree_words;  // of each tree
    uint heads;       // this and the rest: units from the heap's start
    uint used;
    uint rooms;
    uint pins;
    uint marks;
    uint trees;
    uint words;
    uint begin; // of line 0
    uint limit; // behind the last line
    uint guard; // of the kma_guard; 0 if there is none
} kma_sl_plan;

#if KMA_DEBUG
#define kma_slab KMA_FLAVOUR_OF(kma_slab)
#endif
typedef struct kma_slab {
    kma_heap_header header;
    kma_sl_plan plan;
    kma_sl_size sizes[KMA_SL_CLASSES];
    kma_atomic_u32 headed[KMA_SL_CLASSES]; // of each class, at most so many heads have a slab
    uint pad[21];
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
