// The kernels of the suite `defragment`, in a world of two classes, Left and Right, each with a
// reference to an object of the other. Entry k of a class's table is object number k, 0 if deleted.

static inline void left_init(global kma_world *w, Left self, uint i, global uint *lefts)
{
    Left_number(w, self) = i;
    Left_other(w, self) = 0;
    lefts[i] = self;
}

static inline void right_init(global kma_world *w, Right self, uint i, global uint *rights)
{
    Right_number(w, self) = i;
    Right_other(w, self) = 0;
    rights[i] = self;
}

// Deletes `percent` of each hundred objects.
static inline void left_thin(global kma_world *w, Left self, uint percent, global uint *lefts)
{
    const uint number = Left_number(w, self);
    if (kma_mix32(number) % 100 < percent) {
        lefts[number] = 0;
        Left_delete(w, self);
    }
}

static inline void right_thin(global kma_world *w, Right self, uint percent, global uint *rights)
{
    const uint number = Right_number(w, self);
    if (kma_mix32(number + 7) % 100 < percent) {
        rights[number] = 0;
        Right_delete(w, self);
    }
}

static inline uint other_of(uint number, uint objects)
{
    return (uint)(((ulong)kma_mix32(number * 3 + 1) * objects) >> 32);
}

static inline void left_link(global kma_world *w, Left self, uint objects,
                             global const uint *rights)
{
    Left_other(w, self) = rights[other_of(Left_number(w, self), objects)];
}

static inline void right_link(global kma_world *w, Right self, uint objects,
                              global const uint *lefts)
{
    Right_other(w, self) = lefts[other_of(Right_number(w, self), objects)];
}

// Counts objects in counts[0], and those with a wrong reference in counts[1].
static inline void left_look(global kma_world *w, Left self, uint objects, uint percent,
                             global kma_atomic_u32 *counts)
{
    const uint number = other_of(Left_number(w, self), objects), right = Left_other(w, self);
    const bool lives = kma_mix32(number + 7) % 100 >= percent;
    kma_fetch_add_u32(&counts[0], 1, KMA_RELAXED);
    if (lives ? right == 0 || Right_number(w, right) != number : right != 0)
        kma_fetch_add_u32(&counts[1], 1, KMA_RELAXED);
}

static inline void right_look(global kma_world *w, Right self, uint objects, uint percent,
                              global kma_atomic_u32 *counts)
{
    const uint number = other_of(Right_number(w, self), objects), left = Right_other(w, self);
    const bool lives = kma_mix32(number) % 100 >= percent;
    kma_fetch_add_u32(&counts[0], 1, KMA_RELAXED);
    if (lives ? left == 0 || Left_number(w, left) != number : left != 0)
        kma_fetch_add_u32(&counts[1], 1, KMA_RELAXED);
}
