// The n-body simulation without the object store: in arrays, one per field; and as structures in a
// heap, through an array of references.
#include "kma/kma.cl"
#include "physics.cl"

// ------ arrays: x, y, vx, vy, fx, fy, mass, each of BODIES ---------------------------------------

kernel void arrays_init(global float *fields)
{
    const uint i = (uint)get_global_id(0);
    if (i >= BODIES)
        return;
    fields[i] = 2 * drawn(i, 0) - 1;
    fields[BODIES + i] = 2 * drawn(i, 1) - 1;
    fields[2 * BODIES + i] = 0;
    fields[3 * BODIES + i] = 0;
    fields[6 * BODIES + i] = 500 + 500 * drawn(i, 2);
}

kernel void arrays_attract(global float *fields)
{
    const uint i = (uint)get_global_id(0);
    if (i >= BODIES)
        return;
    const float2 at = (float2)(fields[i], fields[BODIES + i]);
    float2 force = 0;
    for (uint other = 0; other < BODIES; other++)
        force +=
            pull(at, (float2)(fields[other], fields[BODIES + other]), fields[6 * BODIES + other]);
    fields[4 * BODIES + i] = force.x;
    fields[5 * BODIES + i] = force.y;
}

kernel void arrays_move(global float *fields)
{
    const uint i = (uint)get_global_id(0);
    if (i >= BODIES)
        return;
    for (uint axis = 0; axis < 2; axis++) {
        global float *at = &fields[axis * BODIES + i], *v = &fields[(2 + axis) * BODIES + i];
        *v += TIME_STEP * fields[(4 + axis) * BODIES + i];
        *at += TIME_STEP * *v;
        if (fabs(*at) > 1)
            *v = -*v;
    }
}

// ------ structures in a heap ---------------------------------------------------------------------

typedef struct body {
    float x, y, vx, vy, fx, fy, mass;
} body;

kernel void pointers_init(global kma_heap *heap, global kma_ref *bodies)
{
    const uint i = (uint)get_global_id(0);
    if (i >= BODIES)
        return;
    global body *self = KMA_NEW(heap, body);
    bodies[i] = kma_ref_of(heap, self);
    if (!self)
        return;
    self->x = 2 * drawn(i, 0) - 1;
    self->y = 2 * drawn(i, 1) - 1;
    self->vx = 0;
    self->vy = 0;
    self->mass = 500 + 500 * drawn(i, 2);
}

kernel void pointers_attract(global kma_heap *heap, global const kma_ref *bodies)
{
    const uint i = (uint)get_global_id(0);
    if (i >= BODIES)
        return;
    global body *self = (global body *)kma_deref(heap, bodies[i]);
    const float2 at = (float2)(self->x, self->y);
    float2 force = 0;
    for (uint k = 0; k < BODIES; k++) {
        const global body *other = (const global body *)kma_deref(heap, bodies[k]);
        force += pull(at, (float2)(other->x, other->y), other->mass);
    }
    self->fx = force.x;
    self->fy = force.y;
}

kernel void pointers_move(global kma_heap *heap, global const kma_ref *bodies)
{
    const uint i = (uint)get_global_id(0);
    if (i >= BODIES)
        return;
    global body *self = (global body *)kma_deref(heap, bodies[i]);
    self->vx += TIME_STEP * self->fx;
    self->vy += TIME_STEP * self->fy;
    self->x += TIME_STEP * self->vx;
    self->y += TIME_STEP * self->vy;
    if (fabs(self->x) > 1)
        self->vx = -self->vx;
    if (fabs(self->y) > 1)
        self->vy = -self->vy;
}
