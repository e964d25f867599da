// The rules of the sugarscape (Epstein and Axtell, Growing Artificial Societies, 1996), which all
// versions share: the torus of cells, random draws, and the agents' sight and wishes. All actions
// depend on the state before them, and each draw is a hash of seed, step, cell and purpose. All
// versions agree in every cell after any number of steps.
//
// Each cell has a capacity for sugar, given by two hills (land.cpp). In a step
//
// 1. A 64th of each cell's sugar goes to each of its eight neighbours. Then sugar grows, by the
//    amount that fills an empty cell in REGROWTH steps, up to the capacity.
// 2. Each agent requests a cell.
//    - A fertile male courts a fertile female in a cell next to its own.
//    - A courted female with a free neighbouring cell accepts one of these males, and requests such
//      a cell for their child. The male pays it half of its own endowment for the child.
//    - Any other agent requests the free cell with the most sugar, of these the nearest, that it
//      sees along its row and column, if that has more sugar than its own cell.
// 3. Each requested cell grants one request: the agent moves there, or its child is born there. A
//    child begins with half of the endowment of each parent, paid by the mother; it has each other
//    gene from one of the parents.
// 4. Each agent but the newborn ones eats the sugar in its cell, grows older, and spends its
//    metabolism. It dies if no sugar is left, or if it is too old.
//
// An agent is fertile from the age FERTILE_FROM until before FERTILE_UNTIL, if it has at least as
// much sugar as its endowment.
//
// Differences from the book: all agents act at once, and parents do not move. As in DynaSOAr's
// example (Springer and Masuhara, ECOOP 2019), which needs twelve do-alls per step, are the phases,
// the diffusion, the farthest sight, and the 4 males to 5 females at the start.
//
// The program defines WIDTH, HEIGHT, SEED; MALE_SHARE, FEMALE_SHARE, of 256 cells; REGROWTH;
// FERTILE_FROM, FERTILE_UNTIL, ages. Initial genes are drawn: vision from 1 to VISION; metabolism
// from METABOLISM to METABOLISM + METABOLISM_MORE; endowment and life, in steps, in the same way.
#ifndef SUGARSCAPE_RULES_CL
#define SUGARSCAPE_RULES_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"

#ifndef WIDTH // lets this file compile alone
#define WIDTH           256u
#define HEIGHT          256u
#define SEED            42u
#define MALE_SHARE      20u
#define FEMALE_SHARE    25u
#define REGROWTH        15u
#define VISION          2u
#define METABOLISM      20u
#define METABOLISM_MORE 20u
#define ENDOWMENT       100u
#define ENDOWMENT_MORE  100u
#define LIFE            60u
#define LIFE_MORE       40u
#define FERTILE_FROM    15u
#define FERTILE_UNTIL   50u
#endif
#define CELLS ((uint)WIDTH * (uint)HEIGHT)

// ------ chance -----------------------------------------------------------------------------------

enum purpose {
    first_agent,
    first_age,
    first_vision,
    first_metabolism,
    first_endowment,
    first_life,
    where_to,
    which_to_take,
    which_to_court,
    which_to_accept,
    where_born,
    which_sex,
    whose_genes
};

// `step` 0 is the start.
static inline uint chance(uint step, uint cell, enum purpose purpose)
{
    return kma_mix32(kma_mix32(SEED + step * 16u + purpose) ^ cell);
}

// Chooses one of the bits in `mask`, which is not 0, by `draw`.
static inline uint pick(uint mask, uint draw)
{
    for (uint n = draw % popcount(mask); n != 0; n--)
        mask &= mask - 1;
    return kma_lowest_bit(mask);
}

// ------ genes, a byte for each -------------------------------------------------------------------

enum gene { vision, metabolism, endowment, life };

static inline uint gene(uint genes, enum gene which)
{
    return genes >> 8 * which & 255u;
}

static inline uint first_genes(uint cell)
{
    return (1 + chance(0, cell, first_vision) % VISION) |
           (METABOLISM + chance(0, cell, first_metabolism) % (METABOLISM_MORE + 1)) << 8 |
           (ENDOWMENT + chance(0, cell, first_endowment) % (ENDOWMENT_MORE + 1)) << 16 |
           (LIFE + chance(0, cell, first_life) % (LIFE_MORE + 1)) << 24;
}

// Returns a child's genes: each is the mother's or the father's, but the endowment is half of both.
static inline uint child_genes(uint mother, uint father, uint draw)
{
    const uint from_her =
        (draw & 1u) * 0xffu | (draw >> 1 & 1u) * 0xff00u | (draw >> 2 & 1u) * 0xff000000u;
    const uint given = gene(mother, endowment) / 2 + gene(father, endowment) / 2;
    return (((mother & from_her) | (father & ~from_her)) & ~0xff0000u) | given << 16;
}

// ------ cells: a word for each, with its sugar and its agent -------------------------------------

#define SUGAR    0x1fffu // bits of the word
#define FERTILE  0x2000u
#define FEMALE   0x4000u
#define SOMEBODY 0x8000u
#define COURTS   (SOMEBODY | FERTILE)          // a fertile male
#define COURTED  (SOMEBODY | FERTILE | FEMALE) // a fertile female

// Returns the word of a cell with an agent.
static inline uint occupied(uint sugar, bool is_female, uint age, uint wealth, uint genes)
{
    const bool is_fertile =
        age >= FERTILE_FROM && age < FERTILE_UNTIL && wealth >= gene(genes, endowment);
    return sugar | SOMEBODY | (is_female ? FEMALE : 0) | (is_fertile ? FERTILE : 0);
}

// Returns the cell at a distance on a side: north, east, south or west. WIDTH and HEIGHT are at
// least as large as any distance.
static inline uint place(uint cell, uint side, uint distance)
{
    const uint x = cell % WIDTH, y = cell / WIDTH;
    switch (side) {
    case 0:
        return y < distance ? cell + (HEIGHT - distance) * WIDTH : cell - distance * WIDTH;
    case 1:
        return x >= WIDTH - distance ? cell - (WIDTH - distance) : cell + distance;
    case 2:
        return y >= HEIGHT - distance ? cell - (HEIGHT - distance) * WIDTH
                                      : cell + distance * WIDTH;
    default:
        return x < distance ? cell + (WIDTH - distance) : cell - distance;
    }
}

static inline uint opposite(uint side)
{
    return side ^ 2u;
}

// Returns the sugar that a cell gives to each of its neighbours.
static inline uint share(uint word)
{
    return (word & SUGAR) / 64;
}

// Returns the cell's word after diffusion and growth.
static inline uint grown(global const ushort *cells, uint capacity, uint cell)
{
    const uint word = cells[cell], east = place(cell, 1, 1), west = place(cell, 3, 1);
    uint sugar = (word & SUGAR) - 8 * share(word) + share(cells[east]) + share(cells[west]);
    for (uint side = 0; side <= 2; side += 2)
        sugar += share(cells[place(west, side, 1)]) + share(cells[place(cell, side, 1)]) +
                 share(cells[place(east, side, 1)]);
    sugar += min(capacity / REGROWTH, capacity - min(sugar, capacity));
    return (word & ~SUGAR) | min(sugar, SUGAR);
}

// ------ wishes -----------------------------------------------------------------------------------

// A wish is STAYS; or MOVES or BEARS, plus the side and the distance of the requested cell. asker()
// is the requesting agent's bit in that cell's word of requests.
#define STAYS 0u
#define MOVES 32u
#define BEARS 64u

static inline uint wish_for(uint what, uint side, uint distance)
{
    return what | (distance - 1) << 2 | side;
}

static inline uint wished_cell(uint cell, uint wish)
{
    return place(cell, wish & 3u, (wish >> 2 & 7u) + 1);
}

static inline uint asker(uint wish)
{
    return opposite(wish & 31u);
}

static inline void ask(global kma_atomic_u32 *requests, uint cell, uint wish)
{
    if (wish != STAYS)
        kma_fetch_or_u32(&requests[wished_cell(cell, wish)], 1u << asker(wish), KMA_RELAXED);
}

// True if `target` grants the request of that wish. It grants one of its requests, by a draw that
// is the same for all agents.
static inline bool grants(global kma_atomic_u32 *requests, uint target, uint wish, uint step)
{
    const uint lot = chance(step, target, which_to_take);
    return pick(kma_load_u32(&requests[target], KMA_RELAXED), lot) == asker(wish);
}

// Returns the wish for the best cell, which has the largest key: its sugar, then its nearness, then
// the sides in a random order. VISION is at most 8.
static inline uint wish_to_move(global const ushort *cells, uint cell, uint sight, uint step)
{
    const uint lot = chance(step, cell, where_to), here = cells[cell] & SUGAR;
    uint best = here << 5 | 31u;
    for (uint distance = 1; distance <= sight; distance++)
        for (uint side = 0; side < 4; side++) {
            const uint word = cells[place(cell, side, distance)];
            const uint key = word << 5 | (8 - distance) << 2 | ((side + lot) & 3u);
            best = word < SOMEBODY ? max(best, key) : best;
        }
    return best >> 5 == here ? STAYS : wish_for(MOVES, (best - lot) & 3u, 8 - (best >> 2 & 7u));
}

// ------ mating -----------------------------------------------------------------------------------

#define NONE 4u // no side

// Returns the sides on which the neighbouring cell's word without its sugar is `what`.
static inline uint sides_with(global const ushort *cells, uint cell, uint what)
{
    uint sides = 0;
    for (uint side = 0; side < 4; side++)
        sides |= (cells[place(cell, side, 1)] & ~SUGAR) == what ? 1u << side : 0;
    return sides;
}

// Returns the side of the female that the fertile male in `cell` courts, or NONE.
static inline uint courted_side(global const ushort *cells, uint cell, uint step)
{
    const uint sides = sides_with(cells, cell, COURTED);
    return sides == 0 ? NONE : pick(sides, chance(step, cell, which_to_court));
}

// Returns the side of the male that the fertile female in `cell` accepts. NONE if no male courts
// it, or if no neighbouring cell is free.
static inline uint accepted_side(global const ushort *cells, uint cell, uint step)
{
    const uint males = sides_with(cells, cell, COURTS);
    uint sides = 0;
    for (uint side = 0; side < 4; side++)
        if ((males >> side & 1u) != 0 &&
            courted_side(cells, place(cell, side, 1), step) == opposite(side))
            sides |= 1u << side;
    return sides == 0 || sides_with(cells, cell, 0) == 0
               ? NONE
               : pick(sides, chance(step, cell, which_to_accept));
}

// Returns the side of the partner of the agent in `cell`, or NONE.
static inline uint partner(global const ushort *cells, uint cell, uint step)
{
    const uint here = cells[cell] & ~SUGAR;
    if (here != COURTS)
        return here == COURTED ? accepted_side(cells, cell, step) : NONE;
    const uint side = courted_side(cells, cell, step);
    return side != NONE && accepted_side(cells, place(cell, side, 1), step) == opposite(side)
               ? side
               : NONE;
}

// Returns the wish of a female that has a partner.
static inline uint wish_to_bear(global const ushort *cells, uint cell, uint step)
{
    return wish_for(BEARS, pick(sides_with(cells, cell, 0), chance(step, cell, where_born)), 1);
}

#endif
