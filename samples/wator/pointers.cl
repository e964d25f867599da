// Wa-Tor with structures in a heap. An agent is a block, and an array holds references to all
// agents. A newborn agent is appended by one atomic add to a counter. Dead agents are removed from
// the array after each phase. Rules: rules.cl.
#include "kma/kma.cl"
#include "rules.cl"

typedef struct agent {
    uint cell, target;
    uint is_shark;
    uchar age, energy; // energy 0: it is dead
} agent;

// Counters: agents in the array, including newborn ones; agents that `bury` keeps; failed
// allocations.
typedef struct population {
    kma_atomic_u32 agents, alive, failed;
} population;

static inline void settle(global kma_heap *heap, global agent *self, uint cell,
                          global kma_ref *cells)
{
    self->cell = cell;
    cells[cell] = kma_ref_of(heap, self);
}

static inline global agent *born(global kma_heap *heap, uint cell, uint is_shark,
                                 global kma_ref *list, global population *people)
{
    global agent *child = KMA_NEW(heap, agent);
    if (!child) {
        kma_fetch_add_u32(&people->failed, 1, KMA_RELAXED);
        return child;
    }
    child->cell = cell;
    child->target = cell;
    child->is_shark = is_shark;
    child->age = 0;
    child->energy = ENERGY_START;
    list[kma_fetch_add_u32(&people->agents, 1, KMA_RELAXED)] = kma_ref_of(heap, child);
    return child;
}

kernel void populate(global kma_heap *heap, global kma_ref *cells,
                     global kma_ref *list, global population *people)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= CELLS)
        return;
    const uint lot = chance(0, cell, first_agent) & 255u, draw = chance(0, cell, first_age);
    cells[cell] = 0;
    if (lot >= FISH_SHARE + SHARK_SHARE)
        return;
    const uint is_shark = lot >= FISH_SHARE;
    global agent *self = born(heap, cell, is_shark, list, people);
    if (!self)
        return;
    self->age = draw % (is_shark ? SHARK_SPAWN : FISH_SPAWN);
    cells[cell] = kma_ref_of(heap, self);
}

// Returns agent k of the array as it was before the phase; NULL if there is none, or if it is dead
// or of the other class.
static inline global agent *mine(global kma_heap *heap, uint is_shark, uint agents,
                                 global const kma_ref *list, uint k)
{
    if (k >= agents)
        return (global agent *)0;
    global agent *self = (global agent *)kma_deref(heap, list[k]);
    return self->is_shark == is_shark && self->energy != 0 ? self : (global agent *)0;
}

// Saves the number of agents before the moves append newborn ones. One work-item.
kernel void note(global population *people, global uint *before)
{
    *before = kma_load_u32(&people->agents, KMA_RELAXED);
    kma_store_u32(&people->alive, 0, KMA_RELAXED);
}

kernel void ask_all(global kma_heap *heap, uint is_shark, uint phase, global const uint *before,
                    global const kma_ref *cells, global kma_atomic_u32 *requests,
                    global const kma_ref *list)
{
    for (uint k = (uint)get_global_id(0); k < *before; k += (uint)get_global_size(0)) {
        global agent *self = mine(heap, is_shark, *before, list, k);
        if (!self)
            continue;
        const uint cell = self->cell;
        self->target = cell;
        self->age = min(self->age + 1u, 255u);
        if (is_shark && --self->energy == 0)
            continue;
        uint open = 0, prey = 0;
        for (uint direction = 0; direction < 4; direction++) {
            global const agent *other =
                (global const agent *)kma_deref(heap, cells[neighbour(cell, direction)]);
            open |= !other ? 1u << direction : 0;
            prey |= is_shark && other && !other->is_shark ? 1u << direction : 0;
        }
        if ((open | prey) != 0)
            ask(requests, cell, pick(prey != 0 ? prey : open, chance(phase, cell, where_to)));
    }
}

// One work-item for four cells.
kernel void choose(global kma_heap *heap, uint phase, global const kma_ref *cells,
                   global uint *requests)
{
    const uint four = (uint)get_global_id(0);
    if (four * 4 >= CELLS)
        return;
    uint chosen[4];
    choose_for(four, phase, requests, chosen);
    kma_ref its[4];
    for (uint i = 0; i < 4; i++)
        its[i] = chosen[i] != 0 ? cells[neighbour(4 * four + i, chosen[i] - 1)] : 0;
    for (uint i = 0; i < 4; i++)
        if (its[i] != 0)
            ((global agent *)kma_deref(heap, its[i]))->target = 4 * four + i;
}

kernel void move_all(global kma_heap *heap, uint is_shark, global const uint *before,
                     global kma_ref *cells, global kma_ref *list, global population *people)
{
    for (uint k = (uint)get_global_id(0); k < *before; k += (uint)get_global_size(0)) {
        global agent *self = (global agent *)kma_deref(heap, list[k]);
        if (self->is_shark != is_shark)
            continue;
        const uint cell = self->cell, target = self->target;
        if (is_shark && self->energy == 0) {
            cells[cell] = 0;
            continue;
        }
        if (target == cell)
            continue;
        global agent *prey = (global agent *)kma_deref(heap, cells[target]);
        if (prey) {
            prey->energy = 0;
            self->energy = min(self->energy + ENERGY_BOOST, 255u);
        }
        settle(heap, self, target, cells);
        cells[cell] = 0;
        if (self->age < (is_shark ? SHARK_SPAWN : FISH_SPAWN))
            continue;
        self->age = 0;
        global agent *child = born(heap, cell, is_shark, list, people);
        if (child)
            cells[cell] = kma_ref_of(heap, child);
    }
}

// Frees the dead agents, and copies the others to the next list.
kernel void bury(global kma_heap *heap, global const kma_ref *list, global kma_ref *next,
                 global population *people)
{
    const uint agents = kma_load_u32(&people->agents, KMA_RELAXED);
    for (uint k = (uint)get_global_id(0); k < agents; k += (uint)get_global_size(0)) {
        global agent *self = (global agent *)kma_deref(heap, list[k]);
        const bool lives = self->energy != 0;
        if (!lives)
            kma_free(heap, self);
        const kma_lanes here = kma_lanes_active();
        const kma_scan places = kma_lanes_scan(here, lives ? 1 : 0);
        uint first = 0;
        if (kma_lane_leads(here) && places.total != 0)
            first = kma_fetch_add_u32(&people->alive, places.total, KMA_RELAXED);
        first = kma_lanes_first(here, first);
        if (lives)
            next[first + places.before] = list[k];
    }
}

// Makes the survivors the current list. One work-item.
kernel void go_on(global population *people)
{
    kma_store_u32(&people->agents, kma_load_u32(&people->alive, KMA_RELAXED), KMA_RELAXED);
}
