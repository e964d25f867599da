// The rules of traffic on streets (Nagel and Schreckenberg 1992) that all versions share. After
// DynaSOAr's sample (Springer and Masuhara, ECOOP 2019, table 1; constants of its
// example/traffic/configuration.h, but more sinks, for here whoever only passes one goes on). Each
// draw is a hash of seed, step, vehicle or cell, and purpose, and all decide on what was before the
// step, so that all versions agree in every cell after any number of steps.
//
// Streets are rows of cells, one way, from one intersection to another. A cell has room for one
// vehicle. In a step
//
// 1. each source, a cell, makes a vehicle there if it is empty, by chance. It stands still at
//    first;
// 2. all vehicles drive, each by what all others were before. A vehicle
//    - accelerates by one cell a step, up to its own top speed and the street's limit;
//    - brakes, so that it comes no further than the empty cells ahead;
//    - dawdles, by chance: then it is slower by one;
//    - moves so many cells. If that is a sink, it has arrived, and is gone.
//
// At a street's end a vehicle goes on into one of its exits, by chance and by a new draw in each
// step, if its light is green and it is not too fast for the limit there. Of the streets that end
// at one intersection just one has green, in turn. So no two vehicles come to one cell: whoever
// drives into it comes through the cell before it, which at an intersection is the last one of the
// street with green, or from further back in that single line, and only the first in the line has
// empty cells ahead.
//
// The program defines SEED; MAX_SPEED in cells a step; GREEN, steps until the next one's turn;
// SOURCE_CHANCE and DAWDLE_CHANCE of 1024.
#ifndef TRAFFIC_RULES_CL
#define TRAFFIC_RULES_CL

#include "kma/platform/bits.cl"

#ifndef SEED // so that this file compiles by itself
#define SEED          42u
#define MAX_SPEED     10u
#define GREEN         5u
#define SOURCE_CHANCE 20u
#define DAWDLE_CHANCE 205u
#endif

enum purpose { whether_to_make, what_luck, whether_to_dawdle, which_exit };

static inline uint chance(uint step, uint who, enum purpose purpose)
{
    return kma_mix32(kma_mix32(SEED + step * 4u + purpose) ^ who);
}

// A street as the host lays it out (network.hpp).
typedef struct street_plan {
    uint begin, end; // its cells
    uint exits[3];   // streets
    uchar exit_count;
    uchar limit;       // 1 to MAX_SPEED
    uchar turn, turns; // of those that end where it ends
} street_plan;

// Whether a source, in this cell, makes a vehicle if it can.
static inline bool makes_vehicle(uint step, uint cell)
{
    return (chance(step, cell, whether_to_make) & 1023u) < SOURCE_CHANCE;
}

// A vehicle's luck is a number that it has for life; all its draws come of it.
static inline uint luck_of_new(uint step, uint cell)
{
    return chance(step, cell, what_luck);
}

static inline uint top_speed(uint luck)
{
    return MAX_SPEED - luck % (MAX_SPEED / 2 + 1);
}

static inline bool dawdles(uint step, uint luck)
{
    return (chance(step, luck, whether_to_dawdle) & 1023u) < DAWDLE_CHANCE;
}

static inline bool is_green(uint step, uint turn, uint turns)
{
    return step / GREEN % turns == turn;
}

// Of `count` exits, for a vehicle that comes there after `distance` cells in this step.
static inline uint choose_exit(uint step, uint luck, uint distance, uint count)
{
    return chance(step, luck + distance, which_exit) % count;
}

#endif
