// Bodies that attract each other and merge, as structures in a heap. A list holds references to all
// bodies; each step writes the next list, of the bodies that remain. Rules: rules.cl.
#include "kma/kma.cl"
#include "rules.cl"

typedef struct body {
    float2 place, velocity;
    float mass;
    uint number;
    kma_ref heavier, lighter;
    uint ends;
} body;

// Creates the bodies, their list and their number.
kernel void pointers_init(global kma_heap *heap, global kma_ref *list, global kma_atomic_u32 *alive)
{
    const uint i = (uint)get_global_id(0);
    if (i == 0)
        kma_store_u32(alive, BODIES, KMA_RELAXED);
    if (i >= BODIES)
        return;
    global body *self = KMA_NEW(heap, body);
    list[i] = kma_ref_of(heap, self);
    if (!self)
        return;
    self->number = i;
    self->place = place_at_first(i);
    self->velocity = velocity_at_first(i);
    self->mass = mass_at_first(i);
}

static inline global body *at(global kma_heap *heap, kma_ref ref)
{
    return (global body *)kma_deref(heap, ref);
}

static inline bool outweighs(global const body *one, global const body *other)
{
    return one->mass > other->mass || (one->mass == other->mass && one->number < other->number);
}

kernel void pointers_look(global kma_heap *heap, global const kma_ref *list,
                          global kma_atomic_u32 *alive)
{
    const uint i = (uint)get_global_id(0), all = kma_load_u32(alive, KMA_RELAXED);
    if (i >= all)
        return;
    global body *self = at(heap, list[i]);
    const float2 place = self->place;
    float2 pull = 0;
    kma_ref heavier = 0, lighter = 0;
    for (uint k = 0; k < all; k++) {
        global const body *other = at(heap, list[k]);
        const float2 way = other->place - place;
        const float distance2 = square(way);
        pull += way * (other->mass * strength(distance2));
        if (distance2 >= NEAR)
            continue;
        if (outweighs(other, self) && (heavier == 0 || outweighs(other, at(heap, heavier))))
            heavier = list[k];
        if (outweighs(self, other) && (lighter == 0 || outweighs(other, at(heap, lighter))))
            lighter = list[k];
    }
    self->velocity += TIME_STEP * GRAVITY * pull;
    self->heavier = heavier;
    self->lighter = lighter;
}

// Returns the body that merges into this one, or NULL.
static inline global body *taken_in(global kma_heap *heap, kma_ref ref)
{
    global const body *self = at(heap, ref);
    global body *other = at(heap, self->lighter);
    return other && self->heavier == 0 && other->heavier == ref ? other : (global body *)0;
}

// Also empties the next list.
kernel void pointers_merge_and_move(global kma_heap *heap, global const kma_ref *list,
                                    global kma_atomic_u32 *alive, global kma_atomic_u32 *next_alive)
{
    const uint i = (uint)get_global_id(0);
    if (i == 0)
        kma_store_u32(next_alive, 0, KMA_RELAXED);
    if (i >= kma_load_u32(alive, KMA_RELAXED))
        return;
    global body *self = at(heap, list[i]), *other = taken_in(heap, list[i]);
    self->ends = self->heavier != 0 && taken_in(heap, self->heavier) == self;
    if (self->ends)
        return;
    float2 place = self->place, velocity = self->velocity;
    if (other) {
        place = mean(place, self->mass, other->place, other->mass);
        velocity = mean(velocity, self->mass, other->velocity, other->mass);
        self->mass += other->mass;
    }
    move(&place, &velocity);
    self->place = place;
    self->velocity = velocity;
}

// Frees the bodies that merged into others, and puts the rest into the next list.
kernel void pointers_end(global kma_heap *heap, global const kma_ref *list,
                         global kma_atomic_u32 *alive, global kma_ref *next,
                         global kma_atomic_u32 *next_alive)
{
    const uint i = (uint)get_global_id(0);
    if (i >= kma_load_u32(alive, KMA_RELAXED))
        return;
    global body *self = at(heap, list[i]);
    const bool remains = !self->ends;
    if (!remains)
        kma_free(heap, self);
    const kma_lanes here = kma_lanes_active();
    const kma_scan places = kma_lanes_scan(here, remains ? 1 : 0);
    uint first = 0;
    if (kma_lane_leads(here) && places.total != 0)
        first = kma_fetch_add_u32(next_alive, places.total, KMA_RELAXED);
    first = kma_lanes_first(here, first);
    if (remains)
        next[first + places.before] = list[i];
}
