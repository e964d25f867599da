// Wa-Tor with objects: a fish or shark is an object of its class; a cell refers to its agent.
// Rules: rules.cl.
#include "rules.cl"

static inline void settle(global kma_world *w, Agent self, uint cell, global Agent *agents)
{
    Agent_cell(w, self) = cell;
    agents[cell] = self;
}

// Fills the cells at random. Any number of work-items.
kernel void populate(global kma_world *w, global Agent *agents)
{
    for (uint cell = (uint)get_global_id(0); cell < CELLS; cell += (uint)get_global_size(0)) {
        const uint lot = chance(0, cell, first_agent) & 255u, age = chance(0, cell, first_age);
        agents[cell] = 0;
        if (lot < FISH_SHARE) {
            const Fish fish = Fish_new(w);
            if (fish == 0)
                continue;
            settle(w, fish, cell, agents);
            Fish_age(w, fish) = age % FISH_SPAWN;
        } else if (lot < FISH_SHARE + SHARK_SHARE) {
            const Shark shark = Shark_new(w);
            if (shark == 0)
                continue;
            settle(w, shark, cell, agents);
            Shark_age(w, shark) = age % SHARK_SPAWN;
            Shark_energy(w, shark) = ENERGY_START;
        }
    }
}

// Each requested cell chooses one of the agents that requested it. One work-item for four cells.
kernel void choose(global kma_world *w, uint phase, global const Agent *agents,
                   global uint *requests)
{
    const uint four = (uint)get_global_id(0);
    if (four * 4 >= CELLS)
        return;
    uint chosen[4];
    choose_for(four, phase, requests, chosen);
    Agent its[4];
    for (uint i = 0; i < 4; i++)
        its[i] = chosen[i] != 0 ? agents[neighbour(4 * four + i, chosen[i] - 1)] : 0;
    for (uint i = 0; i < 4; i++)
        if (its[i] != 0)
            Agent_target(w, its[i]) = 4 * four + i;
}

static inline void fish_ask(global kma_world *w, Fish self, uint phase, global const Agent *agents,
                            global kma_atomic_u32 *requests)
{
    const uint cell = Fish_cell(w, self);
    Fish_target(w, self) = cell;
    Fish_age(w, self) = min(Fish_age(w, self) + 1u, 255u);
    uint open = 0;
    for (uint direction = 0; direction < 4; direction++)
        open |= agents[neighbour(cell, direction)] == 0 ? 1u << direction : 0;
    if (open != 0)
        ask(requests, cell, pick(open, chance(phase, cell, where_to)));
}

static inline void fish_move(global kma_world *w, Fish self, global Agent *agents)
{
    const uint cell = Fish_cell(w, self), target = Fish_target(w, self);
    if (target == cell)
        return;
    settle(w, self, target, agents);
    Fish child = 0;
    if (Fish_age(w, self) >= FISH_SPAWN) {
        Fish_age(w, self) = 0;
        child = Fish_new(w);
        if (child != 0) {
            Fish_cell(w, child) = cell;
            Fish_age(w, child) = 0;
        }
    }
    agents[cell] = child;
}

static inline void shark_ask(global kma_world *w, Shark self, uint phase,
                             global const Agent *agents, global kma_atomic_u32 *requests)
{
    const uint cell = Shark_cell(w, self);
    Shark_target(w, self) = cell;
    Shark_age(w, self) = min(Shark_age(w, self) + 1u, 255u);
    if (--Shark_energy(w, self) == 0)
        return;
    uint open = 0, prey = 0;
    for (uint direction = 0; direction < 4; direction++) {
        const Agent other = agents[neighbour(cell, direction)];
        open |= other == 0 ? 1u << direction : 0;
        prey |= Fish_is(w, other) ? 1u << direction : 0;
    }
    if ((open | prey) != 0)
        ask(requests, cell, pick(prey != 0 ? prey : open, chance(phase, cell, where_to)));
}

static inline void shark_move(global kma_world *w, Shark self, global Agent *agents)
{
    const uint cell = Shark_cell(w, self), target = Shark_target(w, self);
    const bool dies = Shark_energy(w, self) == 0;
    if (target == cell && !dies)
        return;
    const Fish prey = dies ? 0 : agents[target];
    Agent_delete(w, dies ? self : prey);
    if (prey != 0)
        Shark_energy(w, self) = min(Shark_energy(w, self) + ENERGY_BOOST, 255u);
    Shark child = 0;
    if (!dies) {
        settle(w, self, target, agents);
        if (Shark_age(w, self) >= SHARK_SPAWN) {
            Shark_age(w, self) = 0;
            child = Shark_new(w);
            if (child != 0) {
                Shark_cell(w, child) = cell;
                Shark_age(w, child) = 0;
                Shark_energy(w, child) = ENERGY_START;
            }
        }
    }
    agents[cell] = child;
}
