// The slab heap in memory: what a slab is, and what tells of it. Types and sizes only, shared with the host library like
// header.cl; the including side also has kma_highest_bit and popcount. slab_plan.cl has where everything is.
//
//   0                                                                                                 begin        limit
//   | kma_slab | heads      | used     | rooms    | pins     | marks    | trees     | words    | pad  | line 0 | line 1 | … |
//   |          | 35.5 words | 1 bit    | 1 bit    | 1 word   | 4 bits   | 48 bits   | 1 word   | to 4 | 32 units, 512 B     |
//   |          | for each   | for each | for each | for each | for each | for each  | for each | KiB  |                     |
//   |          | place      | line     | chunk    | chunk    | line     | chunk,    | line     |      |                     |
//                                                                         and above
//
// A line is 32 units of 16 bytes, a chunk 32 lines, 16 KiB: those of a word of `used`. All that is written while kernels
// run lies in front of `begin`. Per chunk that is 32 words, one of `used`, a bit of `rooms`, one pin, four words of
// marks and 48 bits of trees with 1/31 of that above them: 158.3 bytes, 0.97 %. A heap has a place for each 32 to 64 chunks, up
// to 1,024 of them, so that heads add at most 4.4 bytes for each, 0.027 %; in one of less than 8 MiB half as much again.
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

#endif
