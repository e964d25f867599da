// Free slots of one block for new objects of a class, by one atomic on its word (paper, 4.2,
// "allocation request coalescing"). Where a leader of lanes, or a lane alone, looks:
//
// 1. In the block that the last request from the same hardware warp left with free slots (a hint).
// 2. Once the class has many blocks with free slots: in some blocks of active[cls].
// 3. In a free block: the one beside that of the hint if it is free, so that a warp's blocks are
//    neighbours.
// 4. In active[cls] until it has no block: stale bits are taken out.
//
// What active[cls] has, the last enumeration has mostly listed, and it is taken by now (new.cl): a
// free block is found faster. Step 2 keeps one class from taking all free blocks with a few objects
// in each.
//
// Without memory there are no slots after few steps: no hint, an empty root of free and of
// active[cls]. A work-item that stopped for ever in a tree may hide blocks below an empty root. A
// few work-items therefore search the lowest levels, too: until KMA_WORLD_SEARCHERS have failed
// since the last enumeration. (One that stops between a block's word and its bit in the tree hides
// that block until the next enumeration.)
#ifndef KMA_OBJECTS_TAKE_CL
#define KMA_OBJECTS_TAKE_CL

#include "kma/objects/blocks.cl"
#include "kma/platform/place.cl"
#include "kma/platform/settled.cl"

// Switches for measurements (paper, figure 12(d)), like KMA_OBJECTS_COALESCE (blocks.cl) and
// KMA_OBJECTS_ROTATE (slots.cl).
#ifndef KMA_OBJECTS_HIERARCHY
// search by the trees; 0: through the lowest level from the caller's position on
#define KMA_OBJECTS_HIERARCHY 1
#endif
#ifndef KMA_OBJECTS_HINTS
#define KMA_OBJECTS_HINTS 1 // step 1
#endif
#ifndef KMA_OBJECTS_LOOKS
#define KMA_OBJECTS_LOOKS 8u // blocks of active[cls] in step 2
#endif

#define KMA_WORLD_TRIES       4u // claims of one word, each after other lanes took the slots
#define KMA_WORLD_SEARCHERS   8u // see the file's head
#define KMA_WORLD_ROOMY_SHARE 8u // see kma_world_may_begin

// Slots of one block that the caller owns.
typedef struct kma_world_taken {
    kma_slots slots; // 0: none
    uint block;
    uint room; // whether the block has more free slots
} kma_world_taken;

// Whether a block, of which the caller took slots by a hint, and of which it then loaded `type`, is
// of class cls. If it is not, takes the hint out, then gives the slots back.
static inline bool kma_world_keeps(global kma_world *w, uint cls, uint block, kma_slots slots,
                                   uint type)
{
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
// slot to begin with. If it has none any more, its bit in active[cls] stays until a look meets it,
// or until the next enumeration. Acquires.
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
    if (kma_load_u32(&b->type, KMA_RELAXED) != cls + 1)
        return taken;
    for (uint tries = 0; tries < KMA_WORLD_TRIES && taken.slots == 0 && state != KMA_SLOTS_ALL;
         tries++) {
        const kma_slots wanted = kma_slots_choose(state, want, turn);
        const kma_slots before = kma_slots_fetch_or(&b->state, wanted, KMA_ACQUIRE);
        taken.slots = wanted & ~before;
        state = before | wanted;
    }
    if (taken.slots == 0)
        return taken;
    // stable: the caller has slots
    const uint type = kma_load_u32(&b->type, KMA_RELAXED);
    if (!kma_world_keeps(w, cls, block, taken.slots, type))
        taken.slots = 0;
    else if (state == KMA_SLOTS_ALL)
        kma_world_count_roomy(w, cls, -1);
    else
        taken.room = 1;
    return taken;
}

// The same for a block that a search found in active[cls]: takes a stale bit out.
static inline kma_world_taken kma_world_claim_found(global kma_world *w, uint cls, uint block,
                                                    uint want, uint turn)
{
    const kma_world_taken taken = kma_world_claim(w, cls, block, want, turn);
    if (taken.slots == 0)
        kma_world_mend(w, cls, block);
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
                taken = kma_world_claim_found(w, cls, block, want, turn);
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
        taken = kma_world_claim_found(w, cls, block, want, from + looks);
    }
    return taken;
}

// Takes up to `want` slots of a free block, `beside` if that is free. No slots if there is none.
static inline kma_world_taken kma_world_take_free(global kma_world *w, uint cls, uint want,
                                                  uint from, uint beside)
{
    kma_world_taken taken;
    taken.slots = 0;
    taken.block = beside;
    taken.room = 0;
    const uint blocks = w->blocks;
    uint place = kma_mix32(from) % blocks;
    // again if another lane took the block
    while (taken.block >= blocks || !kma_bit_tree_take(kma_world_free(w), blocks, taken.block)) {
        taken.block = kma_world_find(w, kma_world_free(w), place);
        if (taken.block == KMA_BIT_TREE_NONE)
            return taken;
        place = kma_mix32(place + from + 1) % blocks;
    }
    taken.slots = kma_world_begin_at(w, cls, taken.block, want);
    taken.room = want < KMA_WORLD_SLOTS(cls);
    return taken;
}

// Whether a class may begin another block before it has looked in active[cls]: it must not have so
// many blocks with free slots, beyond those at its last enumeration, as it had blocks then and an
// eighth of all. These loads do not wait for one another.
static inline bool kma_world_may_begin(global kma_world *w, uint cls)
{
    global kma_world_class *of = kma_world_class_at(w, cls);
    const uint turn = of->turn, listed0 = kma_load_settled_u32(&of->listed[0]),
               listed1 = kma_load_settled_u32(&of->listed[1]),
               roomy0 = kma_load_u32(&of->roomy[0], KMA_RELAXED),
               roomy1 = kma_load_u32(&of->roomy[1], KMA_RELAXED);
    return (int)(turn == 0 ? roomy0 - listed0 : roomy1 - listed1) <
           (int)(w->blocks / KMA_WORLD_ROOMY_SHARE);
}

// Takes up to `want` slots for class cls by steps 2 to 4, and the search of the lowest levels. No
// slots without memory. One lane of a group.
static inline KMA_COLD kma_world_taken kma_world_take(global kma_world *w, uint cls, uint want,
                                                      uint from, uint beside, bool may_begin)
{
    kma_world_taken taken;
    taken.slots = 0;
    if (!may_begin)
        taken = kma_world_take_active(w, cls, want, from, KMA_OBJECTS_LOOKS);
    if (taken.slots == 0)
        taken = kma_world_take_free(w, cls, want, from, beside);
    if (taken.slots == 0) // until active[cls] has no block
        taken = kma_world_take_active(w, cls, want, from, 0xffffffffu);
    return taken.slots != 0 ? taken : kma_world_search(w, cls, want, from);
}

// A hint is 0, or 1 + the block that the last request took slots of, with this bit if it took the
// last ones.
#define KMA_WORLD_HINT_FULL (1u << 31)

// The same, with step 1 first. A warp's blocks are neighbours, as far as they are free.
static inline kma_world_taken kma_world_take_near(global kma_world *w, uint cls, uint want)
{
    const uint from = kma_spread();
    const bool may_begin = kma_world_may_begin(w, cls);
    uint last = 0;
    kma_world_taken taken;
    taken.slots = 0;
#if KMA_OBJECTS_HINTS
    global kma_atomic_u32 *const hint =
        &kma_world_hints(w, cls)[kma_warp_place() & (KMA_WORLD_HINTS - 1)];
    last = kma_load_u32(hint, KMA_RELAXED);
    if (last != 0 && last < KMA_WORLD_HINT_FULL)
        taken = kma_world_claim(w, cls, last - 1, want, from);
#endif
    if (taken.slots == 0) // the block after the last one's; without a last one, none
        taken = kma_world_take(w, cls, want, from,
                               last != 0 ? last & ~KMA_WORLD_HINT_FULL : KMA_BIT_TREE_NONE,
                               may_begin);
#if KMA_OBJECTS_HINTS
    const uint full = taken.room != 0 ? 0 : KMA_WORLD_HINT_FULL,
               next = taken.slots != 0 ? (taken.block + 1) | full : 0;
    if (next != last)
        kma_store_u32(hint, next, KMA_RELAXED);
#endif
    return taken;
}

#endif
