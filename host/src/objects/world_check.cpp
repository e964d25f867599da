// Checks the invariants of a world at rest (cl/kma/objects/blocks.cl).
#include <bit>

#include "heap/common/findings.hpp"
#include "objects/world_states.hpp"

namespace kma {
namespace {

void check_header(const WorldStates &states, const Schema::Layout &layout, Findings &findings)
{
    const auto expect = [&](const char *what, std::uint64_t is, std::uint64_t right) {
        if (is != right)
            findings.add("numbers of the header", "the world's ", what, " is ", is, ", should be ",
                         right);
    };
    expect("mark", states.world.head.magic, KMA_HEAP_MAGIC);
    expect("kind", states.world.head.kind, KMA_KIND_WORLD);
    expect("number of blocks", states.world.blocks, states.blocks.size());
    expect("number of classes", states.world.classes, layout.classes.size());
    expect("size of a block", states.world.block_bytes, layout.block_bytes);
    expect("size of a tree", states.world.tree_words, states.tree_words);
}

void check_block(const WorldStates &states, const Schema::Layout &layout, std::uint32_t block,
                 Findings &findings)
{
    const std::uint32_t type = states.blocks[block].type.word;
    const std::uint64_t state = states.blocks[block].state.word,
                        all = WorldStates::lowest(states.slots);
    if (type > layout.classes.size()) {
        findings.add("types", "block ", block, " has type ", type, ", and there are ",
                     layout.classes.size(), " classes");
        return;
    }
    if (type == 0) {
        if (!states.is_in(0, block))
            findings.add("free blocks", "block ", block,
                         " has type 0, and is not in the tree of free blocks");
        if (state != all)
            findings.add("states of free blocks", "block ", block,
                         " is free, and its state is not all ones but ", state);
        return;
    }
    const Schema::Concrete &cls = layout.classes[type - 1];
    if (states.is_in(0, block))
        findings.add("blocks that are not free", "block ", block, " of class ", cls.name,
                     " is in the tree of free blocks");
    const std::uint64_t missing = all & ~WorldStates::lowest(cls.objects);
    if ((state & missing) != missing || (state & ~all) != 0)
        findings.add("states", "block ", block, " of class ", cls.name, " has state ", state,
                     ", which says of slots that are not there that they are free");
    if (states.objects(block, cls.objects) == 0)
        findings.add("empty blocks", "block ", block, " of class ", cls.name,
                     " has no object, and is not free");
    if (state != all && !states.is_in(type, block))
        findings.add("hidden blocks", "block ", block, " of class ", cls.name,
                     " has room, and is not in the tree of such");
}

// Checks that each word that is not 0 has its bit set in the word above.
void check_tree(const WorldStates &states, const std::string &name, std::uint32_t tree,
                Findings &findings)
{
    const std::uint32_t *const words = states.trees.data() + std::size_t{tree} * states.tree_words;
    const auto items = static_cast<std::uint32_t>(states.blocks.size());
    for (std::uint32_t level = 0; level < layout::kma_bit_tree_top(items); level++) {
        const std::uint32_t *const here = words + layout::kma_bit_tree_base(items, level),
                                   *const above =
                                       words + layout::kma_bit_tree_base(items, level + 1);
        for (std::uint32_t node = 0; node < layout::kma_bit_tree_nodes(items, level); node++)
            if (here[node] != 0 && (above[node / 32] >> (node % 32) & 1) == 0)
                findings.add("trees", "the tree of ", name, " hides word ", node, " of level ",
                             level, ", in which there is something");
    }
}

} // namespace

std::vector<std::string> check_world(const WorldStates &states, const Schema::Layout &layout)
{
    Findings findings;
    check_header(states, layout, findings);
    if (!findings.empty())
        return findings.take();
    for (std::uint32_t block = 0; block < states.blocks.size(); block++)
        check_block(states, layout, block, findings);
    check_tree(states, "free blocks", 0, findings);
    for (std::uint32_t i = 0; i < layout.classes.size(); i++)
        check_tree(states, "blocks with room of " + layout.classes[i].name, i + 1, findings);
    return findings.take();
}

} // namespace kma
