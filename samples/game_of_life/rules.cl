// The rules of the game of life (Conway; Gardner 1970) that all versions share. Of the cells of a
// grid some live. In each step, at once, a dead cell with three live neighbours of its eight comes
// alive; a live one with two or three stays alive, else it dies. Cells beyond the edge are dead and
// stay so.
//
// A step is decided by what lived before it, so that all versions agree in every cell whatever the
// order in which work-items come.
//
// The program defines WIDTH and HEIGHT.
#ifndef LIFE_RULES_CL
#define LIFE_RULES_CL

#include "kma/platform/bits.cl"

#ifndef WIDTH // so that this file compiles by itself
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
