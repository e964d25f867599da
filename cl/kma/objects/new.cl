// New objects: free slots of blocks of the class, or of a block that begins for it.
//
// Lanes that are together with one class are served together. Where they look:
//
// 1. Among the slots that the last enumeration found free (kma_world_open). One atomic add gives
//    each lane its own place in that list; one atomic on the block's word takes the slot. The list
//    may be stale: a slot that another lane took meanwhile is left to it.
//
// For the lanes that are left, a leader takes slots by one atomic on one word (paper, 4.2,
// "allocation request coalescing"):
//
// 2. In the block that the last request from the same hardware warp left with free slots (a hint).
// 3. Once the class has begun many blocks since its enumeration: in some blocks of active[cls].
// 4. In a free block.
// 5. In active[cls] until it has no block: stale hints are taken out.
//
// What active[cls] has was mostly in the list of step 1, and is taken by now: a free block is found
// faster. Step 3 keeps one class from taking all free blocks with a few objects in each.
//
// Without memory the result is 0 after few steps: no hint, an empty root of free and of
// active[cls]. A work-item that stopped for ever in a tree may hide blocks below an empty root. A
// few work-items therefore search the lowest levels, too: until KMA_WORLD_SEARCHERS have failed
// since the last enumeration. (One that stops between a block's word and its bit in the tree hides
// that block until the next enumeration.)
#ifndef KMA_OBJECTS_NEW_CL
#define KMA_OBJECTS_NEW_CL

#include "kma/objects/blocks.cl"
#include "kma/platform/lanes.cl"
#include "kma/platform/place.cl"
#include "kma/platform/settled.cl"

// Switches for measurements (paper, figure 12(d), and step 1), like KMA_OBJECTS_COALESCE
// (blocks.cl) and KMA_OBJECTS_ROTATE (slots.cl).
#ifndef KMA_OBJECTS_HIERARCHY
// search by the trees; 0: through the lowest level from the caller's position on
#define KMA_OBJECTS_HIERARCHY 1
#endif
#ifndef KMA_OBJECTS_LOOKS
#define KMA_OBJECTS_LOOKS 8u // blocks of active[cls] in step 3
#endif
#ifndef KMA_OBJECTS_OPEN
#define KMA_OBJECTS_OPEN 1 // step 1
#endif
#ifndef KMA_OBJECTS_HINTS
#define KMA_OBJECTS_HINTS 1 // step 2
#endif

#define KMA_WORLD_TRIES     4u // claims of one word, each after other lanes took the slots
#define KMA_WORLD_SEARCHERS 8u // see the file's head
// one of so many blocks that a class may begin before step 3, beyond the number that it has
#define KMA_WORLD_BEGIN_SHARE 8u
#define KMA_WORLD_PLACES    (1u << 30) // above twice the places of any list

// Slots of one block that the caller owns.
typedef struct kma_world_taken {
    kma_slots slots; // 0: none
    uint block;
    uint room; // whether the block has more free slots
} kma_world_taken;

// Whether a block, of which the caller took slots by a hint, is of class cls. If it is not, takes
// the hint out, then gives the slots back.
static inline bool kma_world_keeps(global kma_world *w, uint cls, uint block, kma_slots slots)
{
    // stable: the caller has slots
    const uint type = kma_load_u32(&kma_world_block_at(w, block)->type, KMA_RELAXED);
    if (type == cls + 1)
        return true;
    kma_bit_tree_take(kma_world_active(w, cls), w->blocks, block);
    if (type != 0)
        kma_world_give(w, type - 1, block, slots);
    else // a free block had a clear bit: an object was deleted twice
        kma_report(&w->head, KMA_ERROR_DAMAGED, kma_world_ref(block, 0),
                   KMA_WORLD_OBJECT_BYTES(cls));
    return false;
}

// Takes up to `want` slots of a block, if it is of class cls and has free slots. `turn` selects the
// slot to begin with. A block that does not fit is taken out of active[cls]. Acquires.
static inline kma_world_taken kma_world_claim(global kma_world *w, uint cls, uint block, uint want,
                                              uint turn)
{
    global kma_world_block *b = kma_world_block_at(w, block);
    kma_world_taken taken;
    taken.slots = 0;
    taken.block = block;
    taken.room = 0;
    kma_slots state = kma_slots_load(&b->state, KMA_RELAXED);
    // a stale hint is mostly noticed here: a claim would make another class's block look full
    if (kma_load_u32(&b->type, KMA_RELAXED) != cls + 1) {
        kma_world_mend(w, cls, block);
        return taken;
    }
    for (uint tries = 0; tries < KMA_WORLD_TRIES && taken.slots == 0 && state != KMA_SLOTS_ALL;
         tries++) {
        const kma_slots wanted = kma_slots_choose(state, want, turn);
        const kma_slots before = kma_slots_fetch_or(&b->state, wanted, KMA_ACQUIRE);
        taken.slots = wanted & ~before;
        state = before | wanted;
    }
    taken.room = state != KMA_SLOTS_ALL;
    if (taken.slots != 0 && !kma_world_keeps(w, cls, block, taken.slots)) {
        taken.slots = 0;
        taken.room = 0;
    } else if (state == KMA_SLOTS_ALL) {
        kma_world_mend(w, cls, block);
    }
    return taken;
}

// Returns a block of a tree near `from`. Relaxed: a hint.
static inline uint kma_world_find(global kma_world *w, global kma_atomic_u32 *tree, uint from)
{
#if KMA_OBJECTS_HIERARCHY
    return kma_bit_tree_find(tree, w->blocks, from);
#else
    const uint words = kma_bit_tree_nodes(w->blocks, 0);
    uint word = from >> KMA_BIT_TREE_SHIFT;
    for (uint looks = 0; looks < words; looks++) {
        const uint bits = kma_load_u32(&tree[word], KMA_RELAXED);
        if (bits != 0)
            return (word << KMA_BIT_TREE_SHIFT) + kma_lowest_bit(bits);
        word = word + 1 < words ? word + 1 : 0;
    }
    return KMA_BIT_TREE_NONE;
#endif
}

// Searches the lowest level of active[cls], then that of the free blocks. No slots if there are
// none, or KMA_WORLD_SEARCHERS searches have failed.
static inline KMA_COLD kma_world_taken kma_world_search(global kma_world *w, uint cls, uint want,
                                                        uint turn)
{
    kma_world_taken taken;
    taken.slots = 0;
    taken.block = 0;
    taken.room = 0;
    const uint words = kma_bit_tree_nodes(w->blocks, 0);
    if (kma_load_u32(&w->searching, KMA_RELAXED) >= KMA_WORLD_SEARCHERS)
        return taken;
    kma_fetch_add_u32(&w->searching, 1, KMA_RELAXED); // a few more may begin at the same moment
    for (uint i = 0; i < 2 * words && taken.slots == 0; i++) {
        const bool is_free = i >= words;
        global kma_atomic_u32 *tree = is_free ? kma_world_free(w) : kma_world_active(w, cls);
        const uint word = is_free ? i - words : i;
        for (uint bits = kma_load_u32(&tree[word], KMA_RELAXED); bits != 0 && taken.slots == 0;
             bits &= bits - 1) {
            const uint block = (word << KMA_BIT_TREE_SHIFT) + kma_lowest_bit(bits);
            taken.block = block;
            if (!is_free)
                taken = kma_world_claim(w, cls, block, want, turn);
            else if (kma_bit_tree_take(tree, w->blocks, block))
                taken.slots = kma_world_begin_at(w, cls, block, want);
        }
    }
    if (taken.slots != 0)
        kma_fetch_add_u32(&w->searching, ~0u, KMA_RELAXED);
    return taken;
}

// Takes up to `want` slots of one of up to `most` blocks of active[cls]. No slots if it has no
// block, or none of those had free slots.
static inline kma_world_taken kma_world_take_active(global kma_world *w, uint cls, uint want,
                                                    uint from, uint most)
{
    kma_world_taken taken;
    taken.slots = 0;
    taken.block = 0;
    taken.room = 0;
    // each failed look took a stale hint out, or other lanes took the slots
    for (uint looks = 0; looks < most && taken.slots == 0; looks++) {
        const uint block =
            kma_world_find(w, kma_world_active(w, cls), kma_mix32(from + looks) % w->blocks);
        if (block == KMA_BIT_TREE_NONE)
            break;
        taken = kma_world_claim(w, cls, block, want, from + looks);
    }
    return taken;
}

// Takes up to `want` slots of a free block. No slots if there is none.
static inline kma_world_taken kma_world_take_free(global kma_world *w, uint cls, uint want,
                                                  uint from)
{
    kma_world_taken taken;
    taken.slots = 0;
    taken.block = 0;
    taken.room = 0;
    const uint blocks = w->blocks;
    uint place = kma_mix32(from) % blocks;
    while (taken.slots == 0) { // again if another lane took the block
        const uint block = kma_world_find(w, kma_world_free(w), place);
        if (block == KMA_BIT_TREE_NONE)
            break;
        if (kma_bit_tree_take(kma_world_free(w), blocks, block)) {
            taken.block = block;
            taken.slots = kma_world_begin_at(w, cls, block, want);
            taken.room = want < KMA_WORLD_SLOTS(cls);
        }
        place = kma_mix32(place + from + 1) % blocks;
    }
    return taken;
}

// Whether the class may begin another block at once: since its last enumeration not more than it
// had then, and an eighth of all. Counts the caller.
static inline bool kma_world_may_begin(global kma_world *w, uint cls)
{
    global kma_world_class *of = kma_world_class_at(w, cls);
    const uint turn = of->turn,
               most = kma_load_settled_u32(&of->listed[turn]) + w->blocks / KMA_WORLD_BEGIN_SHARE;
    return kma_load_u32(&of->begun[turn], KMA_RELAXED) < most &&
           kma_fetch_add_u32(&of->begun[turn], 1, KMA_RELAXED) < most;
}

// Takes up to `want` slots for class cls by steps 3 to 5, and the search of the lowest levels. No
// slots without memory. One lane of a group.
static inline KMA_COLD kma_world_taken kma_world_take(global kma_world *w, uint cls, uint want,
                                                      uint from)
{
    kma_world_taken taken;
    taken.slots = 0;
    if (!kma_world_may_begin(w, cls))
        taken = kma_world_take_active(w, cls, want, from, KMA_OBJECTS_LOOKS);
    if (taken.slots == 0)
        taken = kma_world_take_free(w, cls, want, from);
    if (taken.slots == 0) // until active[cls] has no block
        taken = kma_world_take_active(w, cls, want, from, 0xffffffffu);
    return taken.slots != 0 ? taken : kma_world_search(w, cls, want, from);
}

// The same, with step 2 first.
static inline kma_world_taken kma_world_take_near(global kma_world *w, uint cls, uint want)
{
    const uint from = kma_spread();
    kma_world_taken taken;
    taken.slots = 0;
#if KMA_OBJECTS_HINTS
    global kma_atomic_u32 *const hint =
        &kma_world_hints(w, cls)[kma_warp_place() & (KMA_WORLD_HINTS - 1)];
    const uint last = kma_load_u32(hint, KMA_RELAXED);
    if (last != 0)
        taken = kma_world_claim(w, cls, last - 1, want, from);
#endif
    if (taken.slots == 0)
        taken = kma_world_take(w, cls, want, from);
#if KMA_OBJECTS_HINTS
    const uint next = taken.slots != 0 && taken.room != 0 ? taken.block + 1 : 0;
    if (next != last)
        kma_store_u32(hint, next, KMA_RELAXED);
#endif
    return taken;
}

// Returns a place of the caller's own in a list, whose next place is `next`.
static inline uint kma_world_place(global kma_world *w, uint cls, global kma_atomic_u32 *next)
{
#if KMA_OBJECTS_COALESCE
    // worlds are further apart in memory than the number of classes
    const kma_lanes together = kma_lanes_alike(kma_lanes_active(), (ulong)w + cls);
    if (kma_lane_in(together)) {
        uint place = 0;
        if (kma_lane_leads(together))
            place = kma_fetch_add_u32(next, kma_lanes_count(together), KMA_RELAXED);
        return kma_lanes_first(together, place) + kma_lane_rank(together);
    }
#endif
    return kma_fetch_add_u32(next, 1, KMA_RELAXED);
}

// Step 1: creates an object in a slot that the last enumeration found free. 0 if there is none, or
// if the caller's was taken meanwhile. Acquires.
static inline uint kma_world_new_listed(global kma_world *w, uint cls)
{
    global kma_world_class *of = kma_world_class_at(w, cls);
    const uint turn = of->turn,
               open = min(kma_load_settled_u32(&of->open[turn]), kma_world_open_most(w->blocks));
    if (!KMA_OBJECTS_OPEN || open == 0)
        return 0;
    const uint place = kma_world_place(w, cls, &of->next[turn]);
    if (place >= open) {
        if (place >= KMA_WORLD_PLACES) // the sum must not begin again at 0
            kma_store_u32(&of->next[turn], KMA_WORLD_PLACES / 2, KMA_RELAXED);
        return 0;
    }
    const uint self = kma_world_open(w, cls)[place], block = kma_world_block_of(self);
    const kma_slots slot = kma_slots_bit(kma_world_slot_of(self));
    if ((kma_slots_fetch_or(&kma_world_block_at(w, block)->state, slot, KMA_ACQUIRE) & slot) != 0)
        return 0;
    // The block may be full now. Its stale bit in active[cls] stays until the next enumeration, or
    // until step 4 meets it.
    return kma_world_keeps(w, cls, block, slot) ? self : 0;
}

// Steps 2 to 5: creates an object in any other slot. 0, with a record, without memory. Acquires.
static inline uint kma_world_new_elsewhere(global kma_world *w, uint cls)
{
    uint self = 0;
#if KMA_OBJECTS_COALESCE
    const kma_lanes together = kma_lanes_alike(kma_lanes_active(), (ulong)w + cls);
    if (kma_lane_in(together)) {
        const uint rank = kma_lane_rank(together), lanes = kma_lanes_count(together);
        for (uint served = 0; served < lanes;) { // each round serves the free slots of one block
            kma_world_taken taken;
            taken.slots = 0;
            taken.block = 0;
            if (rank == 0)
                taken = kma_world_take_near(w, cls, lanes - served);
            kma_slots slots = kma_lanes_first(together, (uint)taken.slots);
#if KMA_HAS_ATOMIC64
            slots |= (kma_slots)kma_lanes_first(together, (uint)(taken.slots >> 32)) << 32;
#endif
            const uint block = kma_lanes_first(together, taken.block), got = kma_slots_count(slots);
            if (got == 0)
                break;
            if (rank >= served && rank < served + got)
                self = kma_world_ref(block, kma_slots_nth(slots, rank - served));
            served += got;
        }
        kma_lanes_sync(together); // what the leader acquired, all lanes have
    }
    const bool alone = !kma_lane_in(together);
#else
    const bool alone = true;
#endif
    if (alone) {
        const kma_world_taken taken = kma_world_take_near(w, cls, 1);
        if (taken.slots != 0)
            self = kma_world_ref(taken.block, kma_lowest_bit(taken.slots));
    }
    if (self == 0)
        kma_report(&w->head, KMA_ERROR_OUT_OF_MEMORY, 0, KMA_WORLD_OBJECT_BYTES(cls));
    return self;
}

// Creates an object of class cls and returns its reference; its fields are undefined. 0, with a
// record, if there is no memory. Any work-item, converged or not. Acquires.
static inline uint kma_world_new(global kma_world *w, uint cls)
{
    const uint listed = kma_world_new_listed(w, cls);
    return listed != 0 ? listed : kma_world_new_elsewhere(w, cls);
}

#endif
