// The game of life with objects, as in DynaSOAr (Springer and Masuhara, ECOOP 2019, table 1;
// game-of-life/dynasoar_no_cell of github.com/prg-titech/dynasoar). Only a cell that may change has
// an object: a live cell an Alive, a dead cell that may come alive a Candidate. Both are agents.
// Rules: rules.cl.
//
// Unlike there, agents do not read their neighbours' cells. Each cell has a count of its live
// neighbours; an agent that comes alive or dies updates the counts around it. An agent that does
// not change reads one byte. A candidate is created where a live neighbour appears, and is deleted
// in the second step without one.
#include "kma/platform/memory.cl"
#include "rules.cl"

// A cell is a byte: its number of live neighbours, plus TAKEN if it has an agent.
#define TAKEN 16u

// Adds to a cell; returns its previous value. Four cells share a word: no byte overflows, so a
// 32-bit add changes one byte only.
static inline uint cell_add(global kma_atomic_u32 *cells, uint cell, uint change)
{
    const uint shift = 8 * (cell % 4);
    return kma_fetch_add_u32(&cells[cell / 4], change << shift, KMA_RELAXED) >> shift & 255u;
}

static inline uint cell_neighbours(global kma_atomic_u32 *cells, uint cell)
{
    return kma_load_u32(&cells[cell / 4], KMA_RELAXED) >> 8 * (cell % 4) & (TAKEN - 1);
}

// Neighbour i of 0 to 8, row by row; 4 is the cell itself.
static inline uint neighbour(uint cell, uint i)
{
    return cell + i / 3 * WIDTH + i % 3 - WIDTH - 1;
}

// Adds `change` to the counts of the cells around: 1 if this cell came alive, -1 if it died.
// Returns a bit for each neighbour that had the value 0: no agent and no live neighbour.
static inline uint tell_neighbours(uint cell, int change, global kma_atomic_u32 *cells)
{
    const uint west = cell % WIDTH - 1, north = cell / WIDTH - 1; // wraps beyond the edge
    uint before[9], empty = 0;
    for (uint i = 0; i < 9; i++) { // 8 adds that do not wait for one another
        before[i] = 1;
        if (i != 4 && west + i % 3 < WIDTH && north + i / 3 < HEIGHT)
            before[i] = cell_add(cells, neighbour(cell, i), (uint)change);
    }
    for (uint i = 0; i < 9; i++)
        empty |= before[i] == 0 ? 1u << i : 0;
    return empty;
}

// Updates the neighbours of a cell that came alive. The first agent to count at an empty cell
// creates a candidate there.
static inline void appear(global kma_world *w, uint cell, global kma_atomic_u32 *cells)
{
    uint empty = tell_neighbours(cell, 1, cells);
    Candidate candidates[8];
    const uint count = Candidate_new_many(w, popcount(empty), candidates);
    for (uint i = 0; i < count; i++, empty &= empty - 1) {
        const uint there = neighbour(cell, kma_lowest_bit(empty));
        Candidate_cell(w, candidates[i]) = there;
        cell_add(cells, there, TAKEN);
    }
}

// At the start: places one of the live cells.
static inline void alive_place(global kma_world *w, Alive self, uint i, global const uint *live,
                               global kma_atomic_u32 *cells)
{
    Alive_cell(w, self) = live[i];
    cell_add(cells, live[i], TAKEN);
}

// At the start, after all live cells are placed: creates the candidates.
static inline void alive_appear(global kma_world *w, Alive self, global kma_atomic_u32 *cells)
{
    appear(w, Alive_cell(w, self), cells);
}

// Phase one of a step: all agents read their numbers of live neighbours. In phase two all agents
// change by them.
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
    tell_neighbours(cell, -1, cells); // each of them has an agent: it had a live neighbour
}

// A candidate comes alive, or it ends unless a neighbour has come alive meanwhile. A neighbour that
// comes alive afterwards finds the cell empty, and creates a new candidate.
static inline void candidate_change(global kma_world *w, Candidate self, uint neighbours,
                                    global kma_atomic_u32 *cells)
{
    const uint cell = Candidate_cell(w, self);
    uint before = 0;
    if (neighbours == 0)
        before = cell_add(cells, cell, 0u - TAKEN); // lanes that come alive do not wait for it
    Alive alive = 0;
    if (comes_alive(neighbours))
        alive = Alive_new(w);
    if (alive != 0)
        Alive_cell(w, alive) = cell;
    if (alive != 0 || before == TAKEN)
        Candidate_delete(w, self);
    else if (neighbours == 0)
        cell_add(cells, cell, TAKEN);
    if (alive != 0)
        appear(w, cell, cells);
}

static inline void agent_change(global kma_world *w, Agent self, global kma_atomic_u32 *cells)
{
    const uint neighbours = Agent_neighbours(w, self);
    if (!Alive_is(w, self))
        candidate_change(w, self, neighbours, cells);
    else if (dies(neighbours))
        alive_die(w, self, cells);
}
