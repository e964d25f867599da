// The rules of Wa-Tor (Dewdney 1984) that all versions share: the torus of cells, and chance. Who
// is where decides what happens, not the order in which work-items come: each draw is a hash of
// seed, step, cell and purpose, so that all versions agree in every cell after any number of steps.
//
// In a step first all fish, then all sharks: everyone grows older and asks for a neighbouring cell;
// each cell chooses one of those who asked for it; everyone who was chosen moves there. Fish ask
// for a free cell. Sharks ask for one with a fish, which they eat, or else for a free one, lose
// energy each step and die without. Who moves when old enough leaves a child where he was.
//
// The program defines WIDTH, HEIGHT, SEED; FISH_SPAWN and SHARK_SPAWN, ages; ENERGY_START,
// ENERGY_BOOST; FISH_SHARE, SHARK_SHARE of 256 cells.
#ifndef WATOR_RULES_CL
#define WATOR_RULES_CL

#include "kma/platform/bits.cl"

#ifndef WIDTH // so that this file compiles by itself
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

enum purpose { who_is_there, first_age, where_to, whom_to_take };

// `phase` 0 is the beginning, 1 and 2 are fish and sharks of the first step, and so on.
static inline uint chance(uint phase, uint cell, enum purpose purpose)
{
    return kma_mix32(kma_mix32(SEED + phase * 4u + purpose) ^ cell);
}

// North, east, south, west.
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

// One of the directions in `mask`, which is not 0, by a draw.
static inline uint pick(uint mask, uint draw)
{
    for (uint n = draw % popcount(mask); n != 0; n--)
        mask &= mask - 1;
    return kma_lowest_bit(mask);
}

// A cell's word has a byte for each direction from which somebody asks for it; each has one writer.
static inline void ask(global uint *requests, uint cell, uint direction)
{
    ((global uchar *)requests)[4 * neighbour(cell, direction) + opposite(direction)] = 1;
}

// The directions of those who asked for a cell.
static inline uint asking(uint request)
{
    return (request & 1u) | (request >> 7 & 2u) | (request >> 14 & 4u) | (request >> 21 & 8u);
}

#endif
