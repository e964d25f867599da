// The rules of Wa-Tor (Dewdney 1984), which all versions share: the torus of cells, and random
// draws. The state of the cells decides what happens, not the order of work-items: each draw is a
// hash of seed, phase, cell and purpose. All versions agree in every cell after any number of
// steps.
//
// A step is a phase of all fish, then a phase of all sharks. In a phase
//
// 1. each agent grows older and requests a neighbouring cell. A fish requests a free one. A shark
//    requests one with a fish, else a free one; it loses energy, and dies at 0;
// 2. each requested cell chooses one of the agents that requested it;
// 3. each chosen agent moves to the cell. A shark eats the fish there. An agent that is old enough
//    leaves a child in its old cell.
//
// The program defines WIDTH, HEIGHT, SEED; FISH_SPAWN and SHARK_SPAWN, ages; ENERGY_START,
// ENERGY_BOOST; FISH_SHARE and SHARK_SHARE, of 256 cells.
#ifndef WATOR_RULES_CL
#define WATOR_RULES_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"

#ifndef WIDTH // lets this file compile alone
#define WIDTH        256u
#define HEIGHT       256u
#define SEED         42u
#define FISH_SPAWN   4u
#define SHARK_SPAWN  4u
#define ENERGY_START 2u
#define ENERGY_BOOST 4u
#define FISH_SHARE   64u
#define SHARK_SHARE  64u
#endif
#define CELLS ((uint)WIDTH * (uint)HEIGHT)

enum purpose { first_agent, first_age, where_to, which_to_take };

// `phase` 0 is the start; 1 and 2 are the fish and the sharks of the first step, and so on.
static inline uint chance(uint phase, uint cell, enum purpose purpose)
{
    return kma_mix32(kma_mix32(SEED + phase * 4u + purpose) ^ cell);
}

// Returns the neighbour in a direction: 0 north, 1 east, 2 south, 3 west.
static inline uint neighbour(uint cell, uint direction)
{
    const uint x = cell % WIDTH, y = cell / WIDTH;
    switch (direction) {
    case 0:
        return y == 0 ? cell + (HEIGHT - 1) * WIDTH : cell - WIDTH;
    case 1:
        return x == WIDTH - 1 ? cell - (WIDTH - 1) : cell + 1;
    case 2:
        return y == HEIGHT - 1 ? cell - (HEIGHT - 1) * WIDTH : cell + WIDTH;
    default:
        return x == 0 ? cell + (WIDTH - 1) : cell - 1;
    }
}

static inline uint opposite(uint direction)
{
    return direction ^ 2u;
}

// Chooses one of the directions in `mask`, which is not 0, by `draw`.
static inline uint pick(uint mask, uint draw)
{
    for (uint n = draw % popcount(mask); n != 0; n--)
        mask &= mask - 1;
    return kma_lowest_bit(mask);
}

// Requests the neighbouring cell in `direction`. A word has a byte for each of four cells, with a
// bit for each direction from which a request comes.
static inline void ask(global kma_atomic_u32 *requests, uint cell, uint direction)
{
    const uint asked = neighbour(cell, direction);
    kma_fetch_or_u32(&requests[asked / 4], 1u << (8 * (asked % 4) + opposite(direction)),
                     KMA_RELAXED);
}

// Chooses for the cells 4 * `four` to 4 * `four` + 3: their loads do not wait for one another.
// Clears their requests. Writes to `chosen` 1 + the chosen direction, 0 without a request.
static inline void choose_for(uint four, uint phase, global uint *requests, uint *chosen)
{
    const uint asked = requests[four];
    if (asked != 0)
        requests[four] = 0;
    for (uint i = 0; i < 4; i++) {
        const uint asking = asked >> 8 * i & 15u;
        chosen[i] =
            asking == 0 ? 0 : 1 + pick(asking, chance(phase, 4 * four + i, which_to_take));
    }
}

#endif
