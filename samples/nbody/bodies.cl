// Bodies that attract each other, as objects.
#include "physics.cl"

static inline void body_init(global kma_world *w, Body self, uint i)
{
    Body_x(w, self) = 2 * drawn(i, 0) - 1;
    Body_y(w, self) = 2 * drawn(i, 1) - 1;
    Body_vx(w, self) = 0;
    Body_vy(w, self) = 0;
    Body_mass(w, self) = 500 + 500 * drawn(i, 2);
}

static inline void body_attract(global kma_world *w, Body self)
{
    const float2 at = (float2)(Body_x(w, self), Body_y(w, self));
    float2 force = 0;
    Body_for_each(w, other)
        force += pull(at, (float2)(Body_x(w, other), Body_y(w, other)), Body_mass(w, other));
    Body_fx(w, self) = force.x;
    Body_fy(w, self) = force.y;
}

static inline void body_move(global kma_world *w, Body self)
{
    Body_vx(w, self) += TIME_STEP * Body_fx(w, self);
    Body_vy(w, self) += TIME_STEP * Body_fy(w, self);
    Body_x(w, self) += TIME_STEP * Body_vx(w, self);
    Body_y(w, self) += TIME_STEP * Body_vy(w, self);
    if (fabs(Body_x(w, self)) > 1)
        Body_vx(w, self) = -Body_vx(w, self);
    if (fabs(Body_y(w, self)) > 1)
        Body_vy(w, self) = -Body_vy(w, self);
}
