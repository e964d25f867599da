// The size of a bit tree (bit_tree.cl), shared with the host library like heap/common/header.cl.
//
//   level 0: one bit per item | level 1: one bit per word of level 0 | … | the root: one word
#ifndef KMA_LOCKFREE_BIT_TREE_LAYOUT_CL
#define KMA_LOCKFREE_BIT_TREE_LAYOUT_CL

// A word has 2^5 bits. tests/host takes fewer: a few items then have several levels.
#ifndef KMA_BIT_TREE_SHIFT
#define KMA_BIT_TREE_SHIFT 5u
#endif
#define KMA_BIT_TREE_FANOUT (1u << KMA_BIT_TREE_SHIFT)

// Words in `level` of a tree of `items` (0 counts as 1). Levels above the root have one word, too.
static inline uint kma_bit_tree_nodes(uint items, uint level)
{
    const uint shift = KMA_BIT_TREE_SHIFT * (level + 1);
    return items <= 1 || shift >= 32 ? 1 : ((items - 1) >> shift) + 1;
}

// Words in the levels below `level`: the number of its first word.
static inline uint kma_bit_tree_base(uint items, uint level)
{
    uint base = 0;
    for (uint below = 0; below < level; below++)
        base += kma_bit_tree_nodes(items, below);
    return base;
}

// The level of the root.
static inline uint kma_bit_tree_top(uint items)
{
    uint level = 0;
    while (kma_bit_tree_nodes(items, level) != 1) // at most seven
        level++;
    return level;
}

// Words of the whole tree: 1/31 more than level 0.
static inline uint kma_bit_tree_words(uint items)
{
    return kma_bit_tree_base(items, kma_bit_tree_top(items)) + 1;
}

#endif
