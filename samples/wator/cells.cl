// Wa-Tor by hand, as a structure of arrays without objects: an agent's fields are elements of
// arrays at its cell, and are copied when it moves. Cells without an agent have the same elements.
// Rules: rules.cl. One work-item per cell, or as said.
#include "rules.cl"

enum { none, a_fish, a_shark };
enum { nowhere = 0, dies = 5 }; // values of `going`; others are 1 + a direction

kernel void populate(global uchar *kind, global uchar *age, global uchar *energy,
                     global uchar *going)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= CELLS)
        return;
    const uint lot = chance(0, cell, first_agent) & 255u, draw = chance(0, cell, first_age);
    kind[cell] = lot < FISH_SHARE ? a_fish : lot < FISH_SHARE + SHARK_SHARE ? a_shark : none;
    age[cell] = draw % (lot < FISH_SHARE ? FISH_SPAWN : SHARK_SPAWN);
    energy[cell] = ENERGY_START;
    going[cell] = nowhere;
}

kernel void fish_ask(uint phase, global const uchar *kind, global uchar *age,
                     global kma_atomic_u32 *requests)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= CELLS || kind[cell] != a_fish)
        return;
    age[cell] = min(age[cell] + 1u, 255u);
    uint open = 0;
    for (uint direction = 0; direction < 4; direction++)
        open |= kind[neighbour(cell, direction)] == none ? 1u << direction : 0;
    if (open != 0)
        ask(requests, cell, pick(open, chance(phase, cell, where_to)));
}

// One work-item for four cells.
kernel void choose(uint phase, global uchar *going, global uint *requests)
{
    const uint four = (uint)get_global_id(0);
    if (four * 4 >= CELLS)
        return;
    uint chosen[4];
    choose_for(four, phase, requests, chosen);
    for (uint i = 0; i < 4; i++)
        if (chosen[i] != 0)
            going[neighbour(4 * four + i, chosen[i] - 1)] = 1 + opposite(chosen[i] - 1);
}

// The target is empty or has a fish that gets eaten. Only the agent that moves there writes to it:
// the target's own work-item returns, because its `going` is nowhere.
kernel void fish_move(global uchar *kind, global uchar *age, global uchar *going)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= CELLS || going[cell] == nowhere)
        return;
    const uint target = neighbour(cell, going[cell] - 1), years = age[cell];
    const bool spawns = years >= FISH_SPAWN;
    going[cell] = nowhere;
    kind[target] = a_fish;
    age[target] = spawns ? 0 : years;
    kind[cell] = spawns ? a_fish : none;
    age[cell] = 0;
}

kernel void shark_ask(uint phase, global const uchar *kind, global uchar *age, global uchar *energy,
                      global uchar *going, global kma_atomic_u32 *requests)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= CELLS || kind[cell] != a_shark)
        return;
    age[cell] = min(age[cell] + 1u, 255u);
    const uint left = energy[cell] - 1;
    energy[cell] = left;
    if (left == 0) {
        going[cell] = dies;
        return;
    }
    uint open = 0, prey = 0;
    for (uint direction = 0; direction < 4; direction++) {
        const uint other = kind[neighbour(cell, direction)];
        open |= other == none ? 1u << direction : 0;
        prey |= other == a_fish ? 1u << direction : 0;
    }
    if ((open | prey) != 0)
        ask(requests, cell, pick(prey != 0 ? prey : open, chance(phase, cell, where_to)));
}

kernel void shark_move(global uchar *kind, global uchar *age, global uchar *energy,
                       global uchar *going)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= CELLS || going[cell] == nowhere)
        return;
    if (going[cell] == dies) {
        going[cell] = nowhere;
        kind[cell] = none;
        return;
    }
    const uint target = neighbour(cell, going[cell] - 1), years = age[cell];
    const bool spawns = years >= SHARK_SPAWN;
    going[cell] = nowhere;
    energy[target] = min(energy[cell] + (kind[target] == a_fish ? ENERGY_BOOST : 0u), 255u);
    kind[target] = a_shark;
    age[target] = spawns ? 0 : years;
    kind[cell] = spawns ? a_shark : none;
    age[cell] = 0;
    energy[cell] = ENERGY_START;
}
