// The game of life by hand: a byte for each cell, 1 if it lives, in two grids that take turns. The
// rules: rules.cl. One work-item for each word of four cells, which it counts and judges at once.
//
// A row has one dead byte or more behind its last cell, which is also what is west of the next
// row's first one. There is a dead row and a word in front of all, and behind.
#include "rules.cl"

#define ROW  (WIDTH / 4 + 1) // words
#define EACH 0x01010101u     // 1 in each byte

// Of each cell of a word, itself and those east and west of it that live.
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
    const uint differs = (neighbours | alive) ^ 3 * EACH; // 0: three, or two and alive; 15 at most
    const uint lives = ~((differs + 15 * EACH) >> 4) & EACH;
    next[ROW + 1 + i] = i % ROW == ROW - 1 ? lives & ((1u << 8 * (WIDTH % 4)) - 1) : lives;
}
