// The game of life by hand: one byte per cell, 1 if it is alive, in two grids that alternate.
// Rules: rules.cl. One work-item per word of four cells: it counts and decides for all four at
// once.
//
// At least one dead byte follows the last cell of a row; it is also the western neighbour of the
// next row's first cell. A dead row and a dead word precede the first row, and follow the last.
#include "rules.cl"

#define ROW  (WIDTH / 4 + 1) // in words
#define EACH 0x01010101u     // 1 in each byte

// Returns for each cell of a word how many are alive of itself and its eastern and western
// neighbours.
static inline uint three(global const uint *word)
{
    return word[0] + (word[0] << 8 | word[-1] >> 24) + (word[0] >> 8 | word[1] << 24);
}

kernel void cells_step(global const uint *now, global uint *next)
{
    const uint i = (uint)get_global_id(0);
    if (i >= HEIGHT * ROW)
        return;
    global const uint *word = &now[ROW + 1 + i];
    const uint alive = word[0],
               neighbours = three(word - ROW) + three(word) - alive + three(word + ROW);
    const uint differs = (neighbours | alive) ^ 3 * EACH; // 0: 3 neighbours, or 2 and alive
    const uint lives = ~((differs + 15 * EACH) >> 4) & EACH;
    next[ROW + 1 + i] = i % ROW == ROW - 1 ? lives & ((1u << 8 * (WIDTH % 4)) - 1) : lives;
}
