// What holds of every bit tree at rest.
#pragma once

#include "shim/shim.hpp"
#include "kma/lockfree/bit_tree.cl"

// Every word that is not empty is told of by the word above.
inline void check_bit_tree(kma_atomic_u32 *tree, uint items, shim::location where = shim::location::current())
{
    for (uint level = 0; level < kma_bit_tree_top(items); level++)
        for (uint node = 0; node < kma_bit_tree_nodes(items, level); node++) {
            const uint word = kma_load_u32(tree + kma_bit_tree_base(items, level) + node, KMA_RELAXED);
            shim::check(word == 0 || kma_bit_tree_tells(tree, items, level, node), "a word that no bit above tells of", where);
        }
}
