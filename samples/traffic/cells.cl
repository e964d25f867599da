// Traffic by hand, as a structure of arrays without objects: a vehicle's fields are elements of
// arrays at its cell, and are copied when it moves. Rules: rules.cl. A cell's element is 0 without
// a vehicle, else 1 + the vehicle's speed. Three arrays of speeds rotate: a step reads `now`,
// writes moved vehicles to `then`, and clears `after` for the next step. A step is one pass over
// the cells.
#include "rules.cl"

kernel void make(uint step, uint count, global const uint *sources, global uchar *now,
                 global uint *lucks)
{
    const uint i = (uint)get_global_id(0);
    if (i >= count || !makes_vehicle(step, sources[i]) || now[sources[i]] != 0)
        return;
    now[sources[i]] = 1;
    lucks[sources[i]] = luck_of_new(step, sources[i]);
}

static inline void drive_one(uint step, uint cell, global const street_plan *streets,
                             global const uint *street_of, global const uchar *is_sink,
                             global const uchar *now, global uchar *then, global const uint *lucks,
                             global uint *lucks_then)
{
    const uint luck = lucks[cell];
    global const street_plan *street = &streets[street_of[cell]];
    // now[cell] is 1 + the speed: the speed after accelerating
    uint most = min(min((uint)now[cell], top_speed(luck)), (uint)street->limit), distance = 0;
    uint at = cell, before = cell;
    for (; distance < most; distance++) {
        uint ahead = at + 1;
        if (ahead == street->end) {
            if (street->exit_count == 0 || !is_green(step, street->turn, street->turns))
                break;
            street = &streets[street->exits[choose_exit(step, luck, distance, street->exit_count)]];
            if (distance >= street->limit)
                break;
            ahead = street->begin;
            most = min(most, (uint)street->limit);
        }
        if (now[ahead] != 0)
            break;
        before = at;
        at = ahead;
    }
    if (distance != 0 && dawdles(step, luck)) {
        distance--;
        at = before;
    }
    if (distance != 0 && is_sink[at]) // a vehicle that halts does not arrive
        return;
    then[at] = 1 + distance;
    lucks_then[at] = luck;
}

// One work-item per cell. Vehicles in a queue are mostly neighbours, and their lanes diverge
// little.
kernel void drive(uint step, uint cells, global const street_plan *streets,
                  global const uint *street_of, global const uchar *is_sink,
                  global const uchar *now, global uchar *then, global uchar *after,
                  global const uint *lucks, global uint *lucks_then)
{
    const uint cell = (uint)get_global_id(0);
    if (cell >= cells)
        return;
    after[cell] = 0;
    if (now[cell] != 0)
        drive_one(step, cell, streets, street_of, is_sink, now, then, lucks, lucks_then);
}
