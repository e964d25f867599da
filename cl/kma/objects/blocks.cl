// Blocks of a world: their metadata, how they begin for a class and end, and the trees of those
// with free slots.
//
// A block is free, or belongs to one class cls. `type` says which; `state` says which of its slots
// are objects. At rest, for each block:
//
//   it is in the tree of free blocks  ==  type is 0
//   type is 0                              =>  state is all ones, without objects
//   type is cls and state is not all ones  =>  it is in active[cls]
//
// A bit in active[cls] of a block that has no free slot for the class is stale: blocks become full
// without a change of active[cls]. The search that meets it takes it out, or an enumeration of cls
// if the block still belongs to it. A missing bit would hide free slots:
//
// - A work-item that clears a slot of a word of all ones puts the block in (kma_world_settle).
// - A work-item that takes the block out reads the word afterwards, by a read-modify-write, and
//   puts the block in again if it has a free slot (kma_world_mend). Of these two, the second one to
//   change the word sees what the first one did.
//
// The tree of free blocks is exact: only a block's owner changes its bit there.
//
// `type` is stable while a work-item holds a slot of the block, or the block itself. A work-item
// that takes a slot by a stale hint loads the type afterwards. If that is another one, it first
// takes out the hint, then gives the slot back as the block's class.
//
// A block ends by a compare-and-swap of its word from pad(cls), no object, to all ones. Before
// that, other lanes may have ended it and begun it for another class, in which such a word may have
// objects. The work-item that succeeds holds slots: it loads the type, which is stable now, and
// gives back what it took if the block was not empty for that class.
//
// Orders: deletion releases and creation acquires, by the word; the tree of free blocks hands
// blocks on in the same way.
#ifndef KMA_OBJECTS_BLOCKS_CL
#define KMA_OBJECTS_BLOCKS_CL

#include "kma/heap/common/error_log.cl"
#include "kma/lockfree/bit_tree.cl"
#include "kma/objects/slots.cl"
#include "kma/objects/world_layout.cl"

// A schema of one class: this file compiles by itself.
#ifndef KMA_WORLD_CLASSES
#define KMA_WORLD_CLASSES         1u
#define KMA_WORLD_BLOCK_BYTES     1024u
#define KMA_WORLD_SLOTS(T)        ((T) == 0u ? 32u : 0u)
#define KMA_WORLD_OBJECT_BYTES(T) 16u
#endif

// Whether lanes that are together are served together. Not on CPUs: only Intel's runtime (2026.2)
// has lanes that meet, and its vectorizer miscompiles a kernel's own counters next to objects
// (docs/porting.md).
#ifndef KMA_OBJECTS_COALESCE
#define KMA_OBJECTS_COALESCE (!(KMA_IS_CPU && KMA_LANES == KMA_LANES_SUBGROUP))
#endif

static inline uint kma_world_ref(uint block, uint slot)
{
    return (block + 1) << KMA_WORLD_SLOT_SHIFT | slot;
}

static inline uint kma_world_block_of(uint self)
{
    return (self >> KMA_WORLD_SLOT_SHIFT) - 1;
}

static inline uint kma_world_slot_of(uint self)
{
    return self & KMA_WORLD_SLOT_MASK;
}

// The element of an object's slot in the array at `begin` of its block.
static inline global void *kma_world_field(global kma_world *w, uint self, uint begin, uint bytes)
{
    return (global uchar *)w + KMA_WORLD_BEGIN(KMA_WORLD_CLASSES) +
           (ulong)kma_world_block_of(self) * KMA_WORLD_BLOCK_BYTES + begin +
           kma_world_slot_of(self) * bytes;
}

static inline global kma_world_block *kma_world_block_at(global kma_world *w, uint block)
{
    return (global kma_world_block *)((global uchar *)w + w->states) + block;
}

static inline global kma_world_class *kma_world_class_at(global kma_world *w, uint cls)
{
    return (global kma_world_class *)(w + 1) + cls;
}

static inline global kma_atomic_u32 *kma_world_hints(global kma_world *w, uint cls)
{
    return (global kma_atomic_u32 *)((global kma_world_class *)(w + 1) + KMA_WORLD_CLASSES) +
           (size_t)cls * KMA_WORLD_HINTS;
}

// The list of a class's free slots, as references, at the last enumeration. Relaxed: hints.
static inline global uint *kma_world_open(global kma_world *w, uint cls)
{
    return (global uint *)((global uchar *)w + w->open +
                           kma_world_list_bytes(kma_world_open_most(w->blocks)) * cls);
}

static inline global kma_atomic_u32 *kma_world_free(global kma_world *w)
{
    return (global kma_atomic_u32 *)((global uchar *)w + w->trees);
}

static inline global kma_atomic_u32 *kma_world_active(global kma_world *w, uint cls)
{
    return kma_world_free(w) + (size_t)(cls + 1) * w->tree_words;
}

// Returns 1 + the number of the class of `self`'s block; 0 if it has none, or there is no such
// block. Relaxed.
static inline uint kma_world_type(global kma_world *w, uint self)
{
    const uint block = kma_world_block_of(self); // of reference 0 beyond all blocks
    return block < w->blocks ? kma_load_u32(&kma_world_block_at(w, block)->type, KMA_RELAXED) : 0;
}

// The same for a living object.
static inline uint kma_world_type_of_living(global kma_world *w, uint self)
{
    global kma_world_block *b = kma_world_block_at(w, kma_world_block_of(self));
    return kma_load_u32(&b->type, KMA_RELAXED);
}

// Takes a block that was seen without a free slot out of active[cls]; puts it back if it has one.
static inline KMA_COLD void kma_world_mend(global kma_world *w, uint cls, uint block)
{
    global kma_atomic_u32 *active = kma_world_active(w, cls);
    if (!kma_bit_tree_has(active, block) || !kma_bit_tree_take(active, w->blocks, block))
        return;
    global kma_world_block *b = kma_world_block_at(w, block);
    if (kma_slots_fetch_or(&b->state, 0, KMA_ACQ_REL) != KMA_SLOTS_ALL &&
        kma_load_u32(&b->type, KMA_RELAXED) == cls + 1)
        kma_bit_tree_put(active, w->blocks, block);
}

// Counts a block of class cls that has free slots now (1), or has none any more or ended (-1).
// Relaxed: kma_world_may_begin needs about the right number.
static inline void kma_world_count_roomy(global kma_world *w, uint cls, int more)
{
    global kma_world_class *of = kma_world_class_at(w, cls);
    kma_fetch_add_u32(&of->roomy[of->turn], (uint)more, KMA_RELAXED);
}

// Completes a release that changed the word of a block of class cls from `before` to `after`: ends
// a block without objects; puts a block that was full into active[cls].
static inline KMA_COLD void kma_world_settle(global kma_world *w, uint cls, uint block,
                                             kma_slots before, kma_slots after)
{
    global kma_world_block *b = kma_world_block_at(w, block);
    for (;;) { // again only if other lanes ended the block and began it for another class
        const kma_slots pad = kma_slots_pad(KMA_WORLD_SLOTS(cls));
        if (after != pad || kma_slots_cas(&b->state, pad, KMA_SLOTS_ALL, KMA_ACQUIRE) != pad) {
            // Also if another lane took a slot of the empty block first: it found the block by its
            // own or a stale hint.
            if (before == KMA_SLOTS_ALL) {
                kma_world_count_roomy(w, cls, 1);
                if (!kma_bit_tree_has(kma_world_active(w, cls), block))
                    kma_bit_tree_put(kma_world_active(w, cls), w->blocks, block);
            }
            return;
        }
        // stable: the caller holds all slots that were clear
        const uint type = kma_load_u32(&b->type, KMA_RELAXED);
        // an object was deleted twice, and its block ended in between; the word is correct again
        if (type == 0) {
            kma_report(&w->head, KMA_ERROR_DAMAGED, kma_world_ref(block, 0),
                       KMA_WORLD_OBJECT_BYTES(cls));
            return;
        }
        cls = type - 1;
        if (kma_slots_pad(KMA_WORLD_SLOTS(cls)) == pad) {
            kma_store_u32(&b->type, 0, KMA_RELAXED);
            kma_bit_tree_take(kma_world_active(w, cls), w->blocks, block);
            kma_bit_tree_put(kma_world_free(w), w->blocks, block);
            if (before != KMA_SLOTS_ALL) // else it was not counted
                kma_world_count_roomy(w, cls, -1);
            return;
        }
        before = kma_slots_fetch_and(&b->state, pad, KMA_ACQ_REL);
        after = before & pad;
    }
}

// Gives back slots of a block of class cls, which the caller owns. Acquires and releases.
static inline void kma_world_give(global kma_world *w, uint cls, uint block, kma_slots slots)
{
    global kma_world_block *b = kma_world_block_at(w, block);
    const kma_slots before = kma_slots_fetch_and(&b->state, (kma_slots)~slots, KMA_ACQ_REL),
                    after = before & ~slots;
    if (before == KMA_SLOTS_ALL || after == kma_slots_pad(KMA_WORLD_SLOTS(cls)))
        kma_world_settle(w, cls, block, before, after);
}

// Begins a block for class cls that the caller took out of the free ones. Returns its first slots,
// `want` of them or all, which the caller owns: they keep the block alive before other lanes can
// find it.
static inline kma_slots kma_world_begin_at(global kma_world *w, uint cls, uint block, uint want)
{
    global kma_world_block *b = kma_world_block_at(w, block);
    const uint slots = KMA_WORLD_SLOTS(cls);
    const kma_slots own = kma_slots_below(min(want, slots)), state = kma_slots_pad(slots) | own;
    kma_store_u32(&b->type, cls + 1, KMA_RELAXED);
    // acquire and release: pairs with a lane that mends a stale hint of the block
    if (kma_slots_exchange(&b->state, state, KMA_ACQ_REL) != KMA_SLOTS_ALL)
        kma_report(&w->head, KMA_ERROR_DAMAGED, kma_world_ref(block, 0),
                   KMA_WORLD_OBJECT_BYTES(cls));
    if (state != KMA_SLOTS_ALL) {
        kma_world_count_roomy(w, cls, 1);
        kma_bit_tree_put(kma_world_active(w, cls), w->blocks, block);
    }
    return own;
}

#endif
