// What all versions of the n-body sample share: attraction, and chance. The program defines BODIES,
// SEED, GRAVITY, TIME_STEP and DAMPING.
#ifndef NBODY_PHYSICS_CL
#define NBODY_PHYSICS_CL

#include "kma/platform/bits.cl"

#ifndef BODIES // so that this file compiles by itself
#define BODIES    2000u
#define SEED      42u
#define GRAVITY   1e-9f
#define TIME_STEP 0.02f
#define DAMPING   1e-5f
#endif

// What `other` does to a body: force over its own mass. DAMPING keeps those that are close from
// flying off, and is 0 for itself.
static inline float2 pull(float2 at, float2 other, float mass)
{
    const float2 away = other - at;
    const float inverse = rsqrt(away.x * away.x + away.y * away.y + DAMPING);
    return away * (GRAVITY * mass * inverse * inverse * inverse);
}

// Numbers in [0, 1), the same on the host.
static inline float drawn(uint number, uint purpose)
{
    return (kma_mix32(SEED + 4u * number + purpose) >> 8) * (1.0f / 16777216.0f);
}

#endif
