// Traffic by hand, structure of arrays without objects: what a vehicle has is in the arrays of its
// cell, and is copied when it moves. The rules: rules.cl. A cell's speed is 0 without a vehicle,
// else 1 + the vehicle's. Three arrays of speeds take turns: `now` is read, `then` is written where
// vehicles come to, and `after` is cleared to be written in the next step. So a step is one pass
// over the cells.
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
    // now[cell] is the speed and one more
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
    if (distance != 0 && is_sink[at]) // nobody halts at one
        return;
    then[at] = 1 + distance;
    lucks_then[at] = luck;
}

// One work-item for each cell: so those that are in a queue, neighbours mostly, brake together.
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
