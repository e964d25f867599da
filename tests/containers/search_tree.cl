// kma/containers/search_tree.cl: work-items add and find nodes; one walks, and takes nodes out.
// With SORTED ordered by key, else mixed.
#ifdef SORTED
#define KMA_TREE_ORDER(key) (key)
#endif
#include "kma/containers/search_tree.cl"

typedef struct entry {
    kma_tree_node node;    // first
    kma_atomic_u32 count;  // how many work-items came with its key
    KMA_PLAIN(uint) twice; // its key
} entry;

// Each work-item brings `rounds` keys. refs[me * rounds + round]: the node that counts the key, 0
// if there was no memory. bad: counts what adds of other work-items must not change.
kernel void add(global kma_heap *heap, global kma_search_tree *tree, global const uint *keys,
                uint rounds, uint looks_first, global kma_ref *refs, global kma_atomic_u32 *bad)
{
    const uint me = (uint)get_global_id(0);
    for (uint round = 0; round < rounds; round++) {
        const uint key = keys[me * rounds + round];
        global entry *there =
            looks_first != 0 ? (global entry *)kma_tree_get(heap, tree, key) : (global entry *)0;
        global entry *mine = there ? there : KMA_NEW(heap, entry);
        if (!there && mine) {
            kma_tree_node_init(&mine->node, key);
            kma_store_u32(&mine->count, 0, KMA_RELAXED);
            mine->twice = 2 * key;
            there = (global entry *)kma_tree_add(heap, tree, &mine->node);
            if (there != mine)
                kma_free(heap, mine);
        }
        refs[me * rounds + round] = kma_ref_of(heap, there);
        if (!there)
            continue;
        kma_fetch_add_u32(&there->count, 1, KMA_RELAXED);
        global entry *behind = (global entry *)kma_tree_after(heap, tree, key);
        const bool is_right = there->node.key == key && there->twice == 2 * key &&
                              kma_tree_get(heap, tree, key) == &there->node &&
                              (!behind || (behind->twice == 2 * behind->node.key &&
                                           KMA_TREE_ORDER(key) < KMA_TREE_ORDER(behind->node.key)));
        kma_fetch_add_u32(bad, is_right ? 0 : 1, KMA_RELAXED);
    }
}

// One work-item visits up to `most` nodes in order, with `takes` takes them out and frees them.
// found: key and count of each; *nodes: how many.
kernel void visit(global kma_heap *heap, global kma_search_tree *tree, uint takes,
                  global uint2 *found, uint most, global uint *nodes)
{
    if (get_global_id(0) != 0)
        return;
    uint n = 0;
    for (; n < most; n++) {
        global kma_tree_node *at = takes != 0 ? kma_tree_take_first(heap, tree)
                                   : n == 0   ? kma_tree_first(heap, tree)
                                              : kma_tree_after(heap, tree, found[n - 1].x);
        if (!at)
            break;
        found[n] = (uint2)(at->key, kma_load_u32(&((global entry *)at)->count, KMA_RELAXED));
        if (takes != 0)
            kma_free(heap, at);
    }
    *nodes = n;
}
