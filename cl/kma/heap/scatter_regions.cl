// Where in a scatter heap there may be room: the regions and what is above them (ScatterAlloc, 5.4, "meta data").
//
// The paper counts the full pages of a region. A count does not tell whether what is not full would do, so that a request
// that nothing fits any more has to look at each page. Here a region has a bit for each size, and so have 32 regions
// together, and so on up to one word for the whole heap:
//
//   a page has room for c  =>  bit c of its region and of all words above it is set, or somebody is about to set it.
//
// The reverse need not hold: bits go stale when pages fill up, and who looks for room and finds none takes them away.
// So a full heap is known by one word.
//
// The two that might miss each other:
//   who makes room     changes the page's word, then sets the bits, from the region upwards;
//   who takes a bit    clears it, then looks at all that is below once more, and sets it again if there is room: in the
//                      words above, too, from which others may have taken it meanwhile.
// The one releases, the other acquires, and nobody writes the word but by read-modify-writes. If the bit was set before it was cleared, the second
// look sees the room; if it was cleared before, it is set now. Where a bit was set already, whoever set it sees to the
// words above; if he stopped there for ever, the next one who makes room does.
#ifndef KMA_HEAP_SCATTER_REGIONS_CL
#define KMA_HEAP_SCATTER_REGIONS_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/heap/scatter_layout.cl"

// A heap, and its plan as it was read before the first atomic: an acquire may empty the cache.
typedef struct kma_sc_heap {
    global kma_scatter *heap;
    kma_sc_plan plan;
} kma_sc_heap;

static inline kma_sc_heap kma_sc_open(global kma_scatter *heap)
{
    kma_sc_heap sc;
    sc.heap = heap;
    sc.plan = heap->plan;
    return sc;
}

static inline global kma_atomic_u32 *kma_sc_page(const kma_sc_heap *sc, uint page)
{
    return (global kma_atomic_u32 *)((global uchar *)sc->heap + (size_t)sc->plan.table * KMA_UNIT) + page;
}

static inline global kma_atomic_u32 *kma_sc_node(const kma_sc_heap *sc, uint level, uint index)
{
    return (global kma_atomic_u32 *)((global uchar *)sc->heap + (size_t)sc->plan.tree * KMA_UNIT) +
           sc->heap->plan.level[level] + index; // not of the copy: an index would put that into memory
}

// Tells the tree that `page` has room for `bit`, after its word was changed by an atomic that releases.
//
// Where the bit was set already, its setter sees to the words above, or has been stopped. In a region that costs the room
// of 32 pages until somebody takes the bit away; above, where it would be more than a super block, others look.
static inline void kma_sc_announce(const kma_sc_heap *sc, uint page, uint bit)
{
    global kma_atomic_u32 *words =
        (global kma_atomic_u32 *)((global uchar *)sc->heap + (size_t)sc->plan.tree * KMA_UNIT);
    uint nodes = sc->plan.room;
    bool is_new = true;
    for (uint level = 0; level < sc->plan.levels; level++) {
        page /= KMA_SC_FANOUT;
        nodes = (nodes + KMA_SC_FANOUT - 1) / KMA_SC_FANOUT;
        if (is_new || (level > 1 && (kma_load_u32(&words[page], KMA_RELAXED) & bit) == 0))
            is_new = (kma_fetch_or_u32(&words[page], bit, KMA_RELEASE) & bit) == 0;
        words += nodes;
    }
}

// What is below a word of the tree: of the children from `after` on, cyclically, the first that has one of the bits
// `want`. If none has (KMA_SC_FANOUT), `bits` are those of all children.
typedef struct kma_sc_view {
    uint child;
    uint bits;
} kma_sc_view;

static inline uint kma_sc_bits_of(const kma_sc_heap *sc, uint level, uint index)
{
    return level == 0 ? kma_sc_room(kma_load_u32(kma_sc_page(sc, index), KMA_RELAXED), sc->plan.shift)
                      : kma_load_u32(kma_sc_node(sc, level - 1, index), KMA_RELAXED);
}

static inline kma_sc_view kma_sc_look(const kma_sc_heap *sc, uint level, uint index, uint want, uint after)
{
    const uint below = level == 0 ? sc->plan.room : kma_sc_nodes(sc->plan.room, level - 1);
    const uint children = below - index * KMA_SC_FANOUT; // or more, but no word has more than KMA_SC_FANOUT
    kma_sc_view view;
    view.child = KMA_SC_FANOUT;
    view.bits = 0;
    for (uint i = 0; i < KMA_SC_FANOUT && view.child == KMA_SC_FANOUT; i += 4) { // four at once: a load takes long
        uint bits[4];
        for (uint k = 0; k < 4; k++) {
            const uint child = (after + i + k) % KMA_SC_FANOUT;
            bits[k] = child < children ? kma_sc_bits_of(sc, level, index * KMA_SC_FANOUT + child) : 0;
        }
        for (uint k = 0; k < 4; k++) {
            view.bits |= bits[k];
            if ((bits[k] & want) != 0 && view.child == KMA_SC_FANOUT)
                view.child = (after + i + k) % KMA_SC_FANOUT;
        }
    }
    return view;
}

// Sets bits of a word again that were taken from it too early. While it had not got them another may have taken them from
// the words above.
static inline void kma_sc_put_back(const kma_sc_heap *sc, uint level, uint index, uint bits)
{
    for (; bits != 0 && level < sc->plan.levels; level++) {
        bits &= ~kma_fetch_or_u32(kma_sc_node(sc, level, index), bits, KMA_RELEASE);
        index /= KMA_SC_FANOUT;
    }
}

// A child with one of the bits `want`, or KMA_SC_FANOUT: then the word has none of them either, unless one was just set.
static inline uint kma_sc_child(const kma_sc_heap *sc, uint level, uint index, uint want, uint after)
{
    global kma_atomic_u32 *const node = kma_sc_node(sc, level, index);
    const uint bits = kma_load_u32(node, KMA_RELAXED);
    if ((bits & want) == 0)
        return KMA_SC_FANOUT;
    const kma_sc_view first = kma_sc_look(sc, level, index, want, after);
    if (first.child != KMA_SC_FANOUT)
        return first.child;
    const uint stale = bits & ~first.bits; // with all of `want`
    kma_fetch_and_u32(node, ~stale, KMA_ACQUIRE);
    const uint wrong = stale & kma_sc_look(sc, level, index, 0, after).bits;
    kma_sc_put_back(sc, level, index, wrong);
    return (wrong & want) != 0 ? kma_sc_look(sc, level, index, want, after).child : KMA_SC_FANOUT;
}

// A page that has room for one of the bits `want`, or KMA_SC_NONE if there is none: the first from `from` on in its
// region, else the first in the nearest region that has one, going up as far as needed.
static inline uint kma_sc_find(const kma_sc_heap *sc, uint want, uint from)
{
    uint level = 0;
    uint index = from / KMA_SC_FANOUT;
    uint after = from % KMA_SC_FANOUT;
    for (;;) { // each way up or down has cleared a stale bit, or another changed something
        const uint child = kma_sc_child(sc, level, index, want, after);
        if (child != KMA_SC_FANOUT) {
            index = index * KMA_SC_FANOUT + child;
            after = 0;
            if (level == 0)
                return index;
            level--;
        } else if (level + 1 < sc->plan.levels) {
            after = (index + 1) % KMA_SC_FANOUT;
            index /= KMA_SC_FANOUT;
            level++;
        } else if ((kma_load_u32(kma_sc_node(sc, level, 0), KMA_RELAXED) & want) == 0) {
            return KMA_SC_NONE;
        }
    }
}

#endif
