// The sugarscape by hand, as a structure of arrays without objects: an agent's fields are elements
// of arrays at its cell, and are copied when it moves. Cells without an agent have the same
// elements. Rules: rules.cl. One work-item per cell.
#include "rules.cl"

#define NOBODY 128u // a value of `wishes`: the cell has no agent

// Writes the changing fields of an agent to the arrays.
static inline void settle(uint cell, uint sugar, bool is_female, uint age, uint wealth, uint genes,
                          global ushort *cells, global uint *all_wealth, global uchar *ages)
{
    cells[cell] = (ushort)occupied(sugar, is_female, age, wealth, genes);
    all_wealth[cell] = wealth;
    ages[cell] = (uchar)age;
}

kernel void populate(global const uchar *capacities, global ushort *cells, global uint *genes,
                     global uint *wealth, global uchar *ages)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= CELLS)
        return;
    const uint lot = chance(0, cell, first_agent) & 255u, own = first_genes(cell);
    cells[cell] = capacities[cell];
    genes[cell] = own;
    if (lot < MALE_SHARE + FEMALE_SHARE)
        settle(cell, capacities[cell], lot >= MALE_SHARE, chance(0, cell, first_age) % LIFE,
               gene(own, endowment), own, cells, wealth, ages);
}

kernel void grow(global const uchar *capacities, global const ushort *before, global ushort *cells,
                 global kma_atomic_u32 *requests)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= CELLS)
        return;
    cells[cell] = (ushort)grown(before, capacities[cell], cell);
    kma_store_u32(&requests[cell], 0, KMA_RELAXED);
}

kernel void ask_all(uint step, global const ushort *cells, global kma_atomic_u32 *requests,
                    global const uint *genes, global uint *wealth, global uchar *wishes,
                    global uint *fathers)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= CELLS)
        return;
    if (cells[cell] < SOMEBODY) {
        wishes[cell] = NOBODY;
        return;
    }
    const uint own = genes[cell], side = partner(cells, cell, step);
    uint wish = STAYS;
    if (side == NONE) {
        wish = wish_to_move(cells, cell, gene(own, vision), step);
    } else if ((cells[cell] & FEMALE) != 0) {
        wish = wish_to_bear(cells, cell, step);
    } else {
        wealth[cell] -= gene(own, endowment) / 2;
        fathers[place(cell, side, 1)] = own;
    }
    wishes[cell] = (uchar)wish;
    ask(requests, cell, wish);
}

// A target has no agent at first: its own work-item reads NOBODY in `wishes`, even after an agent
// has moved there. Only the agent with the granted request writes to the target.
kernel void act_all(uint step, global ushort *cells, global kma_atomic_u32 *requests,
                    global uint *genes, global uint *wealth, global uchar *ages,
                    global const uchar *wishes, global const uint *fathers)
{
    uint cell = (uint)get_global_id(0);
    if (cell >= CELLS || wishes[cell] == NOBODY)
        return;
    const uint own = genes[cell], wish = wishes[cell], age = ages[cell] + 1u,
               target = wished_cell(cell, wish);
    const bool is_female = (cells[cell] & FEMALE) != 0,
               is_granted = wish != STAYS && grants(requests, target, wish, step);
    uint left = wealth[cell];
    if (wish >= BEARS) {
        const uint father = fathers[cell],
                   child = child_genes(own, father, chance(step, cell, whose_genes)),
                   given = gene(child, endowment);
        left += gene(father, endowment) / 2;
        if (is_granted) {
            genes[target] = child;
            settle(target, cells[target], (chance(step, target, which_sex) & 1u) != 0, 0, given,
                   child, cells, wealth, ages);
            left -= given;
        }
    } else if (is_granted) {
        cells[cell] &= SUGAR;
        cell = target;
        genes[cell] = own;
    }
    left += cells[cell] & SUGAR;
    if (left > gene(own, metabolism) && age <= gene(own, life))
        settle(cell, 0, is_female, age, left - gene(own, metabolism), own, cells, wealth, ages);
    else
        cells[cell] = 0;
}
