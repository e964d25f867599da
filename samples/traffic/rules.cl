// The rules of traffic on streets (Nagel and Schreckenberg 1992), which all versions share. After
// DynaSOAr's sample (Springer and Masuhara, ECOOP 2019, table 1), with the constants of its
// example/traffic/configuration.h, but more sinks: here a vehicle that only passes a sink goes on.
//
// Each draw is a hash of seed, step, purpose, and vehicle or cell, and all decisions use the state
// before the step. All versions agree in every cell after any number of steps.
//
// Streets are one-way rows of cells from one intersection to another. A cell holds at most one
// vehicle. In a step
//
// 1. each source, which is a cell, creates a vehicle there at random if it is empty; the vehicle's
//    speed is 0 at first;
// 2. all vehicles drive, each by the state of all others before the step. A vehicle
//    - accelerates by one cell per step, up to its own top speed and the street's limit;
//    - brakes, and moves no further than the empty cells ahead;
//    - dawdles, at random: it is slower by one;
//    - moves so many cells. If it ends on a sink, it has arrived and is deleted.
//
// At a street's end a vehicle goes on into a random exit, drawn anew in each step, if its light is
// green and its speed is within the exit's limit. Of the streets that end at one intersection
// exactly one has a green light, in turn.
//
// No two vehicles enter one cell. A vehicle enters a cell through the cell before it; at an
// intersection that is the last cell of the street with green. Of the vehicles in this single line
// only the first has empty cells ahead.
//
// The program defines SEED; MAX_SPEED in cells per step; GREEN, the steps of a green light;
// SOURCE_CHANCE and DAWDLE_CHANCE, of 1024.
#ifndef TRAFFIC_RULES_CL
#define TRAFFIC_RULES_CL

#include "kma/platform/bits.cl"

#ifndef SEED // lets this file compile alone
#define SEED          42u
#define MAX_SPEED     10u
#define GREEN         5u
#define SOURCE_CHANCE 20u
#define DAWDLE_CHANCE 205u
#endif

enum purpose { whether_to_make, what_luck, whether_to_dawdle, which_exit };

static inline uint chance(uint step, uint subject, enum purpose purpose)
{
    return kma_mix32(kma_mix32(SEED + step * 4u + purpose) ^ subject);
}

// A street in the host's layout (network.hpp).
typedef struct street_plan {
    uint begin, end; // its cells: begin … end - 1
    uint exits[3];   // numbers of streets
    uchar exit_count;
    uchar limit;       // 1 to MAX_SPEED
    uchar turn, turns; // among the streets that end at the same place
} street_plan;

// True if a source at this cell creates a vehicle in this step, if it can.
static inline bool makes_vehicle(uint step, uint cell)
{
    return (chance(step, cell, whether_to_make) & 1023u) < SOURCE_CHANCE;
}

// A vehicle's luck is a constant random number; all its draws derive from it.
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

// Returns one of `count` exits, for a vehicle that arrives there after `distance` cells in this
// step.
static inline uint choose_exit(uint step, uint luck, uint distance, uint count)
{
    return chance(step, luck + distance, which_exit) % count;
}

#endif
