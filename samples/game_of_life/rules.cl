// The rules of the game of life (Conway; Gardner 1970), which all versions share. In each step, all
// at once, a dead cell with three live neighbours of its eight comes alive; a live cell with two or
// three stays alive, else it dies. Cells beyond the grid's edge are always dead.
//
// A step depends only on the cells before it. All versions agree in every cell, for any order of
// the work-items.
//
// The program defines WIDTH and HEIGHT.
#ifndef LIFE_RULES_CL
#define LIFE_RULES_CL

#include "kma/platform/bits.cl"

#ifndef WIDTH // lets this file compile alone
#define WIDTH  256u
#define HEIGHT 256u
#endif

static inline bool comes_alive(uint neighbours)
{
    return neighbours == 3;
}

static inline bool dies(uint neighbours)
{
    return neighbours < 2 || neighbours > 3;
}

#endif
