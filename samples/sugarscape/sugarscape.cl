// The sugarscape with objects: an agent is a Male or a Female, and has its cell's number. Rules:
// rules.cl.
#include "rules.cl"

// Puts an agent of either class into a cell, with `sugar` left on the ground.
static inline void settle(global kma_world *w, Agent self, uint cell, uint sugar, uint age,
                          uint wealth, uint genes, global ushort *cells)
{
    Agent_cell(w, self) = cell;
    Agent_age(w, self) = (uchar)age;
    Agent_wealth(w, self) = wealth;
    cells[cell] = (ushort)occupied(sugar, Female_is(w, self), age, wealth, genes);
}

// Creates an agent in a free cell. False if memory is exhausted: the cell stays free.
static inline bool settle_new(global kma_world *w, bool is_female, uint cell, uint age, uint genes,
                              global ushort *cells)
{
    const Agent agent = Agent_new_as(w, is_female ? KMA_CLASS_Female : KMA_CLASS_Male);
    if (agent == 0)
        return false;
    Agent_genes(w, agent) = genes;
    settle(w, agent, cell, cells[cell], age, gene(genes, endowment), genes, cells);
    return true;
}

// Fills the cells at random. Any number of work-items.
kernel void populate(global kma_world *w, global const uchar *capacities, global ushort *cells)
{
    for (uint cell = (uint)get_global_id(0); cell < CELLS; cell += (uint)get_global_size(0)) {
        const uint lot = chance(0, cell, first_agent) & 255u;
        cells[cell] = capacities[cell];
        if (lot < MALE_SHARE + FEMALE_SHARE)
            settle_new(w, lot >= MALE_SHARE, cell, chance(0, cell, first_age) % LIFE,
                       first_genes(cell), cells);
    }
}

// One work-item per cell.
kernel void grow(global kma_world *w, global const uchar *capacities, global const ushort *before,
                 global ushort *cells, global kma_atomic_u32 *requests)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= CELLS)
        return;
    cells[cell] = (ushort)grown(before, capacities[cell], cell);
    kma_store_u32(&requests[cell], 0, KMA_RELAXED);
}

// A father writes its genes to `fathers` at the mother's cell: a mother accepts at most one.
static inline void agent_ask(global kma_world *w, Agent self, uint step, global const ushort *cells,
                             global kma_atomic_u32 *requests, global uint *fathers)
{
    const uint cell = Agent_cell(w, self), genes = Agent_genes(w, self),
               side = partner(cells, cell, step);
    uint wish = STAYS;
    if (side == NONE) {
        wish = wish_to_move(cells, cell, gene(genes, vision), step);
    } else if (Female_is(w, self)) {
        wish = wish_to_bear(cells, cell, step);
    } else {
        Agent_wealth(w, self) -= gene(genes, endowment) / 2;
        fathers[place(cell, side, 1)] = genes;
    }
    Agent_wish(w, self) = (uchar)wish;
    ask(requests, cell, wish);
}

// A target has no agent: only the agent with the granted request writes its word.
static inline void agent_act(global kma_world *w, Agent self, uint step, global ushort *cells,
                             global kma_atomic_u32 *requests, global const uint *fathers)
{
    const uint genes = Agent_genes(w, self), wish = Agent_wish(w, self),
               age = Agent_age(w, self) + 1u;
    uint cell = Agent_cell(w, self), wealth = Agent_wealth(w, self);
    const uint target = wished_cell(cell, wish);
    const bool is_granted = wish != STAYS && grants(requests, target, wish, step);
    if (wish >= BEARS) {
        const uint father = fathers[cell],
                   child = child_genes(genes, father, chance(step, cell, whose_genes));
        wealth += gene(father, endowment) / 2;
        if (is_granted &&
            settle_new(w, (chance(step, target, which_sex) & 1u) != 0, target, 0, child, cells))
            wealth -= gene(child, endowment);
    } else if (is_granted) {
        cells[cell] &= SUGAR;
        cell = target;
    }
    wealth += cells[cell] & SUGAR;
    if (wealth <= gene(genes, metabolism) || age > gene(genes, life)) {
        cells[cell] = 0;
        Agent_delete(w, self);
        return;
    }
    settle(w, self, cell, 0, age, wealth - gene(genes, metabolism), genes, cells);
}
