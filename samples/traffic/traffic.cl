// Traffic with objects. Rules: rules.cl. Only vehicles are created and deleted after the start.
//
//   Cell     the next cell of its street, 0 at the end; the steps at which it was taken
//   Vehicle  its cell, its street
//   Street   its first cell, its exits
//   Source   its cell, its street
#include "rules.cl"

// A cell is taken at a step if its word for even or odd steps has that step's number. Vehicles that
// drive read the words of this step, and write those of the next step: no lane writes what another
// lane reads, and old marks need not be cleared.
#define NEVER 0xffffffffu

static inline bool is_taken(global kma_world *w, Cell cell, uint step)
{
    return Cell_taken(w, cell, step & 1u) == step;
}

static inline void take(global kma_world *w, Cell cell, uint step)
{
    Cell_taken(w, cell, step & 1u) = step;
}

// ------ the beginning ----------------------------------------------------------------------------

static inline void cell_init(global kma_world *w, Cell self, uint i, global const uchar *is_sink,
                             global Cell *cells)
{
    cells[i] = self;
    Cell_next(w, self) = 0;
    Cell_is_sink(w, self) = is_sink[i];
    Cell_taken(w, self, 0) = NEVER;
    Cell_taken(w, self, 1) = NEVER;
}

static inline void street_init(global kma_world *w, Street self, uint i,
                               global const street_plan *plans, global Street *streets)
{
    streets[i] = self;
    Street_limit(w, self) = plans[i].limit;
    Street_exit_count(w, self) = plans[i].exit_count;
    Street_turn(w, self) = plans[i].turn;
    Street_turns(w, self) = plans[i].turns;
}

static inline void source_init(global kma_world *w, Source self, uint i, global const uint2 *places,
                               global const Cell *cells, global const Street *streets)
{
    Source_number(w, self) = places[i].x;
    Source_cell(w, self) = cells[places[i].x];
    Source_street(w, self) = streets[places[i].y];
}

// Sets the references that need all objects. One work-item per street. A reference is 0 if its
// object could not be created.
kernel void connect(global kma_world *w, uint count, global const street_plan *plans,
                    global const Cell *cells, global const Street *streets)
{
    const uint i = (uint)get_global_id(0);
    if (i >= count || streets[i] == 0)
        return;
    Street_first(w, streets[i]) = cells[plans[i].begin];
    for (uint k = 0; k < plans[i].exit_count; k++)
        Street_exits(w, streets[i], k) = streets[plans[i].exits[k]];
    for (uint cell = plans[i].begin; cell + 1 < plans[i].end; cell++)
        if (cells[cell] != 0)
            Cell_next(w, cells[cell]) = cells[cell + 1];
}

// ------ a step -----------------------------------------------------------------------------------

static inline void source_make(global kma_world *w, Source self, uint step)
{
    const uint number = Source_number(w, self);
    if (!makes_vehicle(step, number) || is_taken(w, Source_cell(w, self), step))
        return;
    const Vehicle vehicle = Vehicle_new(w);
    if (vehicle == 0)
        return;
    Vehicle_cell(w, vehicle) = Source_cell(w, self);
    Vehicle_street(w, vehicle) = Source_street(w, self);
    Vehicle_speed(w, vehicle) = 0;
    Vehicle_luck(w, vehicle) = luck_of_new(step, number);
    take(w, Source_cell(w, self), step);
}

// Returns the street after the end of `street`, for a vehicle that arrives there after `distance`
// cells; 0 if it must stop.
static inline Street way_on(global kma_world *w, Street street, uint step, uint luck, uint distance)
{
    const uint exits = Street_exit_count(w, street);
    if (exits == 0 || !is_green(step, Street_turn(w, street), Street_turns(w, street)))
        return 0;
    const Street exit = Street_exits(w, street, choose_exit(step, luck, distance, exits));
    return distance < Street_limit(w, exit) ? exit : 0;
}

static inline void vehicle_drive(global kma_world *w, Vehicle self, uint step)
{
    const uint luck = Vehicle_luck(w, self);
    Cell cell = Vehicle_cell(w, self), cell_before = cell; // one cell back, if it dawdles
    Street street = Vehicle_street(w, self), street_before = street;
    uint most =
             min(min(Vehicle_speed(w, self) + 1u, top_speed(luck)), (uint)Street_limit(w, street)),
         distance = 0;
    for (; distance < most; distance++) {
        Cell ahead = Cell_next(w, cell);
        Street ahead_street = street;
        if (ahead == 0) {
            ahead_street = way_on(w, street, step, luck, distance);
            if (ahead_street == 0)
                break;
            ahead = Street_first(w, ahead_street);
            most = min(most, (uint)Street_limit(w, ahead_street));
        }
        if (is_taken(w, ahead, step))
            break;
        cell_before = cell;
        street_before = street;
        cell = ahead;
        street = ahead_street;
    }
    if (distance != 0 && dawdles(step, luck)) {
        distance--;
        cell = cell_before;
        street = street_before;
    }
    if (distance != 0 && Cell_is_sink(w, cell)) { // a vehicle that halts does not arrive
        Vehicle_delete(w, self);
        return;
    }
    Vehicle_cell(w, self) = cell;
    Vehicle_street(w, self) = street;
    Vehicle_speed(w, self) = distance;
    take(w, cell, step + 1);
}
