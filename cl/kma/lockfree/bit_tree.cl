// A lock-free set of small integers, one bit each, with summary levels: put some in, take certain
// ones out, find one near a position. It needs no allocator, and no work-item waits for another.
//
// The bits of level 0 are the set. A bit above says that the word below it may not be empty:
//
//   a word is not empty  =>  its bit in the word above is set, or a work-item is about to set it.
//
// The reverse need not hold: a set bit above an empty word is stale, and a search that meets it
// clears it. One load of the root shows an empty set; four loads find an item among 2^20.
//
// Why a put and a removal cannot miss each other:
//
// 1. A put of a word's first bit sets it in the word, then sets the word's bit above (release), and
//    so on up to a word that had other bits.
// 2. A removal of a word's last bit clears it in the word, then clears the word's bit above
//    (acquire); then it loads the word once more, and sets the bits above again if the word is not
//    empty.
// 3. All writes are read-modify-writes. If the bit above was set before it was cleared, the second
//    load sees the put's bit; else the bit above is set now.
//
// A put into a word with other bits does not set the bits above, but looks at one level, each time
// another one. If a work-item stops for ever between clearing a bit and its second load, the items
// that this hides are found again after a few puts near them.
//
// Orders: removal acquires, put releases.
#ifndef KMA_LOCKFREE_BIT_TREE_CL
#define KMA_LOCKFREE_BIT_TREE_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/lockfree/bit_tree_layout.cl"

#define KMA_BIT_TREE_NONE 0xffffffffu // no item
// levels that puts look at in turn (kma_bit_tree_put_all); no tree has more above level 0
#define KMA_BIT_TREE_MEND 8u

// Makes a tree that has the items below `members` of `items`. Called by all work-items of one
// launch.
static inline void kma_bit_tree_init(global kma_atomic_u32 *tree, uint items, uint members,
                                     size_t me, size_t work_items)
{
    uint below = members; // bits that are set in this level, from its start on
    const uint top = kma_bit_tree_top(items);
    for (uint level = 0; level <= top; level++) {
        const uint nodes = kma_bit_tree_nodes(items, level);
        for (size_t node = me; node < nodes; node += work_items) {
            const uint first = (uint)node * KMA_BIT_TREE_FANOUT;
            const uint set = below <= first ? 0 : min(below - first, KMA_BIT_TREE_FANOUT);
            kma_store_u32(&tree[node], (uint)kma_bits_below(set), KMA_RELAXED);
        }
        tree += nodes;
        below = (below >> KMA_BIT_TREE_SHIFT) + ((below & (KMA_BIT_TREE_FANOUT - 1)) != 0 ? 1 : 0);
    }
}

// The attribute of the functions that change the levels above level 0.
#ifndef KMA_BIT_TREE_ABOVE
#define KMA_BIT_TREE_ABOVE KMA_OUTLINE
#endif

// True if the bit above a word, which is not the root, is set. Relaxed.
static inline bool kma_bit_tree_tells(global kma_atomic_u32 *tree, uint items, uint level,
                                      uint node)
{
    const uint above = kma_bit_tree_base(items, level + 1) + (node >> KMA_BIT_TREE_SHIFT);
    return (kma_load_u32(&tree[above], KMA_RELAXED) >> (node & (KMA_BIT_TREE_FANOUT - 1)) & 1u) !=
           0;
}

// Sets the bits above a word that was empty, or that lost its bit above, up to a word that had
// others. Releases.
static inline KMA_BIT_TREE_ABOVE void kma_bit_tree_raise(global kma_atomic_u32 *tree, uint items,
                                                         uint level, uint node)
{
    global kma_atomic_u32 *words = tree + kma_bit_tree_base(items, level);
    uint before = 0;
    // One level each round, at most seven.
    for (uint nodes = kma_bit_tree_nodes(items, level); nodes != 1 && before == 0;
         nodes = kma_bit_tree_nodes(items, ++level)) {
        words += nodes;
        const uint bit = 1u << (node & (KMA_BIT_TREE_FANOUT - 1));
        node >>= KMA_BIT_TREE_SHIFT;
        before = kma_fetch_or_u32(&words[node], bit, KMA_RELEASE);
    }
}

// Clears the bits above a word that was loaded as empty, up to a word with others; sets them again
// if the word is not empty any more. Acquires.
static inline KMA_BIT_TREE_ABOVE void kma_bit_tree_lower(global kma_atomic_u32 *tree, uint items,
                                                         uint level, uint node)
{
    global kma_atomic_u32 *words = tree + kma_bit_tree_base(items, level);
    for (uint nodes = kma_bit_tree_nodes(items, level); nodes != 1;
         nodes = kma_bit_tree_nodes(items, ++level)) {
        global kma_atomic_u32 *const above = words + nodes;
        const uint bit = 1u << (node & (KMA_BIT_TREE_FANOUT - 1));
        const uint before =
            kma_fetch_and_u32(&above[node >> KMA_BIT_TREE_SHIFT], ~bit, KMA_ACQUIRE);
        if (kma_load_u32(&words[node], KMA_RELAXED) != 0) {
            // another work-item may have cleared bits further up meanwhile, too
            kma_bit_tree_raise(tree, items, level, node);
            return;
        }
        if ((before & ~bit) != 0)
            return;
        words = above;
        node >>= KMA_BIT_TREE_SHIFT;
    }
}

// Puts in the items of `mask`, not 0, of a word of level 0. Returns those that were not in.
// Releases.
static inline KMA_OUTLINE uint kma_bit_tree_put_all(global kma_atomic_u32 *tree, uint items,
                                                    uint word, uint mask)
{
    const uint before = kma_fetch_or_u32(&tree[word], mask, KMA_RELEASE);
    uint level = 0; // bits above this level may be missing
    uint node = word;
    if (before != 0) {
        // Missing only if a work-item stopped for ever before it set one again. A look at all
        // levels would cost too much: each put looks at one, which depends on its item and the
        // word.
        level = (kma_lowest_bit(mask) + (uint)popcount(before)) % KMA_BIT_TREE_MEND;
        if (level >= kma_bit_tree_top(items))
            return mask & ~before;
        node = word >> (KMA_BIT_TREE_SHIFT * level);
        if (kma_bit_tree_tells(tree, items, level, node))
            return mask & ~before;
    }
    kma_bit_tree_raise(tree, items, level, node);
    // Another work-item took the item out meanwhile, and found no bit above to clear.
    if (kma_load_u32(&tree[word], KMA_RELAXED) == 0)
        kma_bit_tree_lower(tree, items, 0, word);
    return mask & ~before;
}

// Takes out the items of `mask`, not 0, of a word of level 0. Returns those that were in, which the
// caller owns now. Acquires.
static inline KMA_OUTLINE uint kma_bit_tree_take_all(global kma_atomic_u32 *tree, uint items,
                                                     uint word, uint mask)
{
    const uint before = kma_fetch_and_u32(&tree[word], ~mask, KMA_ACQUIRE);
    if ((before & mask) != 0 && (before & ~mask) == 0)
        kma_bit_tree_lower(tree, items, 0, word);
    return before & mask;
}

static inline uint kma_bit_tree_bit(uint item)
{
    return 1u << (item & (KMA_BIT_TREE_FANOUT - 1));
}

static inline bool kma_bit_tree_has(global kma_atomic_u32 *tree, uint item)
{
    return (kma_load_u32(&tree[item >> KMA_BIT_TREE_SHIFT], KMA_RELAXED) &
            kma_bit_tree_bit(item)) != 0;
}

static inline bool kma_bit_tree_put(global kma_atomic_u32 *tree, uint items, uint item)
{
    return kma_bit_tree_put_all(tree, items, item >> KMA_BIT_TREE_SHIFT, kma_bit_tree_bit(item)) !=
           0;
}

static inline bool kma_bit_tree_take(global kma_atomic_u32 *tree, uint items, uint item)
{
    return kma_bit_tree_take_all(tree, items, item >> KMA_BIT_TREE_SHIFT, kma_bit_tree_bit(item)) !=
           0;
}

// Returns an item near `from`, KMA_BIT_TREE_NONE if there was none. In each word on the way down it
// takes the child towards `from`, or the next one that is set: searches from different positions
// part. Relaxed. The item may be gone by now: only a take makes the caller its owner.
static inline KMA_OUTLINE uint kma_bit_tree_find(global kma_atomic_u32 *tree, uint items, uint from)
{
    const uint top = kma_bit_tree_top(items);
    uint level = top;
    uint node = 0;
    uint base = kma_bit_tree_base(items, top);
    for (;;) { // up again only where it cleared a stale bit, or another work-item changed a word
        const uint bits = kma_load_u32(&tree[base + node], KMA_RELAXED);
        if (bits != 0) {
            const uint towards = (from >> (KMA_BIT_TREE_SHIFT * level)) & (KMA_BIT_TREE_FANOUT - 1);
            const uint ahead = bits & ~(uint)kma_bits_below(towards);
            node = (node << KMA_BIT_TREE_SHIFT) + kma_lowest_bit(ahead != 0 ? ahead : bits);
            if (level == 0)
                return node;
            level--;
            base -= kma_bit_tree_nodes(items, level);
        } else if (level == top) {
            return KMA_BIT_TREE_NONE;
        } else {
            kma_bit_tree_lower(tree, items, level, node);
            base += kma_bit_tree_nodes(items, level);
            level++;
            node >>= KMA_BIT_TREE_SHIFT;
        }
    }
}

// Returns the first item at or after `from`, or KMA_BIT_TREE_NONE. Relaxed, as kma_bit_tree_find.
static inline KMA_OUTLINE uint kma_bit_tree_next(global kma_atomic_u32 *tree, uint items, uint from)
{
    uint level = 0;
    uint base = 0;
    uint bits = items; // in this level
    while (from < bits) { // moves past `from`, or down to the word below a bit
        const uint word = kma_load_u32(&tree[base + (from >> KMA_BIT_TREE_SHIFT)], KMA_RELAXED) &
                          ~(uint)kma_bits_below(from & (KMA_BIT_TREE_FANOUT - 1));
        const uint nodes = kma_bit_tree_nodes(items, level);
        if (word == 0) {
            if (nodes == 1)
                break;
            from = (from >> KMA_BIT_TREE_SHIFT) + 1;
            base += nodes;
            bits = nodes;
            level++;
            continue;
        }
        from = (from & ~(KMA_BIT_TREE_FANOUT - 1)) + kma_lowest_bit(word);
        if (level == 0)
            return from;
        level--;
        base -= kma_bit_tree_nodes(items, level);
        bits = level == 0 ? items : kma_bit_tree_nodes(items, level - 1);
        from <<= KMA_BIT_TREE_SHIFT;
    }
    return KMA_BIT_TREE_NONE;
}

#endif
