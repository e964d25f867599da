// What all versions of the n-body sample share: attraction, and random draws. The program defines
// BODIES, SEED, GRAVITY, TIME_STEP and DAMPING.
#ifndef NBODY_PHYSICS_CL
#define NBODY_PHYSICS_CL

#include "kma/platform/bits.cl"

#ifndef BODIES // lets this file compile alone
#define BODIES    2000u
#define SEED      42u
#define GRAVITY   1e-9f
#define TIME_STEP 0.02f
#define DAMPING   1e-5f
#endif

// Returns the acceleration of a body at `at` by a mass at `other`; 0 for the body itself. DAMPING
// bounds the acceleration of close bodies.
static inline float2 pull(float2 at, float2 other, float mass)
{
    const float2 away = other - at;
    const float inverse = rsqrt(away.x * away.x + away.y * away.y + DAMPING);
    return away * (GRAVITY * mass * inverse * inverse * inverse);
}

// Returns a number in [0, 1), the same as on the host.
static inline float drawn(uint number, uint purpose)
{
    return (kma_mix32(SEED + 4u * number + purpose) >> 8) * (1.0f / 16777216.0f);
}

#endif
