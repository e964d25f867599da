// The game of life with objects, as DynaSOAr has it (Springer and Masuhara, ECOOP 2019, table 1;
// game-of-life/dynasoar_no_cell of github.com/prg-titech/dynasoar): only what may change is an
// object. A live cell is an Alive, a dead one that may come alive a Candidate. Both are agents. The
// rules: rules.cl.
//
// Unlike there, nobody looks around: a cell counts its live neighbours, and who comes alive or dies
// tells them. So an agent that stays what it is reads one byte. A candidate begins where a live
// neighbour appears, and ends in the second step without one.
#include "kma/platform/memory.cl"
#include "rules.cl"

// A cell is a byte: the number of live neighbours, and TAKEN if an agent is there.
#define TAKEN 16u

// Adds to a cell; the result is what it was before. Four cells share a word: as none of them ever
// passes its bounds, they add as one.
static inline uint cell_add(global kma_atomic_u32 *cells, uint cell, uint change)
{
    const uint shift = 8 * (cell % 4);
    return kma_fetch_add_u32(&cells[cell / 4], change << shift, KMA_RELAXED) >> shift & 255u;
}

static inline uint cell_neighbours(global kma_atomic_u32 *cells, uint cell)
{
    return kma_load_u32(&cells[cell / 4], KMA_RELAXED) >> 8 * (cell % 4) & (TAKEN - 1);
}

// The cells around are number 0 to 8, row by row; 4 is the cell itself.
static inline uint neighbour(uint cell, uint i)
{
    return cell + i / 3 * WIDTH + i % 3 - WIDTH - 1;
}

// Tells the cells around that this one came alive, `change` 1, or died, -1. Of those where nobody
// was the result has a bit each.
static inline uint tell_neighbours(uint cell, int change, global kma_atomic_u32 *cells)
{
    const uint west = cell % WIDTH - 1, north = cell / WIDTH - 1; // very large beyond the edge
    uint empty = 0;
    for (uint i = 0; i < 9; i++)
        if (i != 4 && west + i % 3 < WIDTH && north + i / 3 < HEIGHT &&
            cell_add(cells, neighbour(cell, i), (uint)change) == 0)
            empty |= 1u << i;
    return empty;
}

// A cell comes alive. Who is the first to tell a cell where nobody is puts a candidate there.
static inline void appear(global kma_world *w, uint cell, global kma_atomic_u32 *cells)
{
    for (uint empty = tell_neighbours(cell, 1, cells); empty != 0; empty &= empty - 1) {
        const Candidate candidate = Candidate_new(w);
        if (candidate == 0)
            break;
        const uint there = neighbour(cell, kma_lowest_bit(empty));
        Candidate_cell(w, candidate) = there;
        cell_add(cells, there, TAKEN);
    }
}

// At the beginning: one of the cells that live.
static inline void alive_place(global kma_world *w, Alive self, uint i, global const uint *live,
                               global kma_atomic_u32 *cells)
{
    Alive_cell(w, self) = live[i];
    cell_add(cells, live[i], TAKEN);
}

// When all of them are there.
static inline void alive_appear(global kma_world *w, Alive self, global kma_atomic_u32 *cells)
{
    appear(w, Alive_cell(w, self), cells);
}

// First all agents note how many live around them, then all change by that.
static inline void agent_count(global kma_world *w, Agent self, global kma_atomic_u32 *cells)
{
    Agent_neighbours(w, self) = cell_neighbours(cells, Agent_cell(w, self));
}

static inline void alive_die(global kma_world *w, Alive self, global kma_atomic_u32 *cells)
{
    const uint cell = Alive_cell(w, self);
    const Candidate candidate = Candidate_new(w);
    if (candidate == 0)
        return;
    Candidate_cell(w, candidate) = cell;
    Alive_delete(w, self);
    tell_neighbours(cell, -1, cells); // somebody is in each of them, for a neighbour lived
}

static inline void candidate_come_alive(global kma_world *w, Candidate self,
                                        global kma_atomic_u32 *cells)
{
    const uint cell = Candidate_cell(w, self);
    const Alive alive = Alive_new(w);
    if (alive == 0)
        return;
    Alive_cell(w, alive) = cell;
    Candidate_delete(w, self);
    appear(w, cell, cells);
}

// Unless a neighbour has come alive meanwhile. Who does so from now on finds nobody here.
static inline void candidate_end(global kma_world *w, Candidate self, global kma_atomic_u32 *cells)
{
    const uint cell = Candidate_cell(w, self);
    if (cell_add(cells, cell, 0u - TAKEN) == TAKEN)
        Candidate_delete(w, self);
    else
        cell_add(cells, cell, TAKEN);
}

static inline void agent_change(global kma_world *w, Agent self, global kma_atomic_u32 *cells)
{
    const uint neighbours = Agent_neighbours(w, self);
    if (Alive_is(w, self)) {
        if (dies(neighbours))
            alive_die(w, self, cells);
    } else if (comes_alive(neighbours)) {
        candidate_come_alive(w, self, cells);
    } else if (neighbours == 0) {
        candidate_end(w, self, cells);
    }
}
