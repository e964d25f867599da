// The rules of the sugarscape (Epstein and Axtell, Growing Artificial Societies, 1996) that all
// versions share: the torus of cells, chance, and what agents see and want. What everyone does
// depends on what was there before anybody did it, and each draw is a hash of seed, step, cell and
// purpose: so all versions agree in every cell after any number of steps.
//
// Each cell has a capacity for sugar, by two hills (land.cpp). In a step
// - a 64th of each cell's sugar goes to each of the eight cells around; and so much grows as fills
//   an empty cell in REGROWTH steps, up to its capacity;
// - each agent asks for a cell. A fertile male courts a fertile female beside him. A female with a
//   free cell beside her accepts one of those who court her, and asks for such a cell for their
//   child; he gives her half of his endowment for it. All others ask for the free cell with the
//   most sugar, then the nearest, as far as they see along row and column, if it has more than
//   their own;
// - each cell that was asked for takes one of those who asked, who moves there, or has the child
//   there. A child begins with half of the endowment of each of its parents, which the mother pays,
//   and has each other gene from one of them;
// - everyone else then eats what is in his cell, grows older, and spends what he needs. Who has
//   nothing left dies, and who is too old.
// Fertile is who has the age for it, and as much sugar as his endowment.
//
// It differs from the book in that all act at once, and that parents do not move. Its phases are
// those of DynaSOAr's example (Springer and Masuhara, ECOOP 2019), which needs twelve do-alls for a
// step; so are diffusion, the farthest sight, and 4 males to 5 females at the beginning.
//
// The program defines WIDTH, HEIGHT, SEED; MALE_SHARE, FEMALE_SHARE of 256 cells; REGROWTH;
// FERTILE_FROM, FERTILE_UNTIL, ages. Genes are drawn at first: from 1 to VISION; from METABOLISM to
// METABOLISM + METABOLISM_MORE; so ENDOWMENT; and LIFE, in steps.
#ifndef SUGARSCAPE_RULES_CL
#define SUGARSCAPE_RULES_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"

#ifndef WIDTH // so that this file compiles by itself
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
    who_is_there,
    first_age,
    first_vision,
    first_metabolism,
    first_endowment,
    first_life,
    where_to,
    whom_to_take,
    whom_to_court,
    whom_to_accept,
    where_born,
    which_sex,
    whose_genes
};

// `step` 0 is the beginning.
static inline uint chance(uint step, uint cell, enum purpose purpose)
{
    return kma_mix32(kma_mix32(SEED + step * 16u + purpose) ^ cell);
}

// One of the bits in `mask`, which is not 0, by a draw.
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

// Of a child: each gene is the mother's or the father's, and the endowment what both give.
static inline uint child_genes(uint mother, uint father, uint draw)
{
    const uint from_her =
        (draw & 1u) * 0xffu | (draw >> 1 & 1u) * 0xff00u | (draw >> 2 & 1u) * 0xff000000u;
    const uint given = gene(mother, endowment) / 2 + gene(father, endowment) / 2;
    return (((mother & from_her) | (father & ~from_her)) & ~0xff0000u) | given << 16;
}

// ------ cells: of each a word, its sugar and who is there ----------------------------------------

#define SUGAR    0x1fffu // of the word
#define FERTILE  0x2000u
#define FEMALE   0x4000u
#define SOMEBODY 0x8000u
#define COURTS   (SOMEBODY | FERTILE)          // a fertile male
#define COURTED  (SOMEBODY | FERTILE | FEMALE) // a fertile female

// The word of a cell with somebody in it.
static inline uint occupied(uint sugar, bool is_female, uint age, uint wealth, uint genes)
{
    const bool is_fertile =
        age >= FERTILE_FROM && age < FERTILE_UNTIL && wealth >= gene(genes, endowment);
    return sugar | SOMEBODY | (is_female ? FEMALE : 0) | (is_fertile ? FERTILE : 0);
}

// A side is north, east, south or west. WIDTH and HEIGHT are not less than any distance.
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

// What a cell gives to each of those around.
static inline uint share(uint word)
{
    return (word & SUGAR) / 64;
}

// The cell's word after diffusion and growth.
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

// Nothing, or a cell at a side and a distance, to move to or for a child. `asker` is how that cell
// sees who asks: a bit of its word of requests.
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

// Whether `target` takes who asked for it by that wish: it takes one of those who asked, by a draw
// that they all know.
static inline bool grants(global kma_atomic_u32 *requests, uint target, uint wish, uint step)
{
    return pick(kma_load_u32(&requests[target], KMA_RELAXED), chance(step, target, whom_to_take)) ==
           asker(wish);
}

// The best cell is the one with the largest key: its sugar, then how near it is, then the sides in
// an order by lot. VISION is 8 at most.
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

// Sides on which the words without their sugar are `what`.
static inline uint sides_with(global const ushort *cells, uint cell, uint what)
{
    uint sides = 0;
    for (uint side = 0; side < 4; side++)
        sides |= (cells[place(cell, side, 1)] & ~SUGAR) == what ? 1u << side : 0;
    return sides;
}

// The side on which the fertile male in `cell` courts a female, or NONE.
static inline uint whom_he_courts(global const ushort *cells, uint cell, uint step)
{
    const uint sides = sides_with(cells, cell, COURTED);
    return sides == 0 ? NONE : pick(sides, chance(step, cell, whom_to_court));
}

// The side on which the male is whom the fertile female in `cell` accepts, or NONE: if nobody
// courts her, or no cell beside her is free.
static inline uint whom_she_accepts(global const ushort *cells, uint cell, uint step)
{
    const uint males = sides_with(cells, cell, COURTS);
    uint sides = 0;
    for (uint side = 0; side < 4; side++)
        if ((males >> side & 1u) != 0 &&
            whom_he_courts(cells, place(cell, side, 1), step) == opposite(side))
            sides |= 1u << side;
    return sides == 0 || sides_with(cells, cell, 0) == 0
               ? NONE
               : pick(sides, chance(step, cell, whom_to_accept));
}

// The side on which the other one of a pair is, or NONE for whoever is in `cell`.
static inline uint partner(global const ushort *cells, uint cell, uint step)
{
    const uint here = cells[cell] & ~SUGAR;
    if (here != COURTS)
        return here == COURTED ? whom_she_accepts(cells, cell, step) : NONE;
    const uint side = whom_he_courts(cells, cell, step);
    return side != NONE && whom_she_accepts(cells, place(cell, side, 1), step) == opposite(side)
               ? side
               : NONE;
}

// Of a female who has a partner.
static inline uint wish_to_bear(global const ushort *cells, uint cell, uint step)
{
    return wish_for(BEARS, pick(sides_with(cells, cell, 0), chance(step, cell, where_born)), 1);
}

#endif
