// Work-items that create, stamp, check and delete objects of the classes of world_test.cpp: Thing,
// and of it Small, Large, and Huge, a Large.

static inline uint create(global kma_world *w, uint cls)
{
    return cls == 0 ? Small_new(w) : cls == 1 ? Large_new(w) : Huge_new(w);
}

// Writes an object's fields, or returns whether they are as they were written.
static inline bool stamp(global kma_world *w, uint self, uint owner, uint number, bool is_new)
{
    bool is = true;
#define STAMP(place, value)                                                                        \
    if (is_new)                                                                                    \
        place = value;                                                                             \
    is = is && place == value;
    STAMP(Thing_owner(w, self), owner)
    STAMP(Thing_number(w, self), (kma_mix32(owner * 2654435761u + number) | 1u))
    if (Large_is(w, self)) {
        STAMP(Large_weight(w, self), ((ulong)owner << 32 | number))
        for (uint i = 0; i < 3; i++) {
            STAMP(Large_place(w, self, i).x, (float)i)
            STAMP(Large_place(w, self, i).y, (float)(owner & 255u))
        }
    }
    for (uint i = 0; Huge_is(w, self) && i < 40; i++) {
        STAMP(Huge_more(w, self, i), owner + i)
    }
    return is;
}

#define HELD 6

// Each work-item creates and deletes by chance for some rounds, HELD at a time at most. counts:
// created, deleted, refused, wrong.
kernel void churn(global kma_world *w, uint rounds, uint seed, uint classes,
                  global kma_atomic_u32 *counts)
{
    const uint me = (uint)get_global_id(0);
    uint held[HELD], numbers[HELD];
    for (uint i = 0; i < HELD; i++)
        held[i] = 0;
    uint created = 0, deleted = 0, refused = 0, wrong = 0;
    for (uint round = 0; round < rounds; round++) {
        const uint draw = kma_mix32(seed + me * 31u + round * 65537u), i = draw % HELD;
        if (held[i] != 0) {
            wrong += stamp(w, held[i], me, numbers[i], false) ? 0 : 1;
            Thing_delete(w, held[i]);
            held[i] = 0;
            deleted++;
            continue;
        }
        const uint cls = (draw >> 8) % classes;
        held[i] = create(w, cls);
        if (held[i] == 0) {
            refused++;
            continue;
        }
        wrong += kma_world_type(w, held[i]) == cls + 1 ? 0 : 1;
        numbers[i] = round;
        stamp(w, held[i], me, round, true);
        created++;
    }
    for (uint i = 0; i < HELD; i++)
        wrong += held[i] == 0 || stamp(w, held[i], me, numbers[i], false) ? 0 : 1;
    kma_fetch_add_u32(&counts[0], created, KMA_RELAXED);
    kma_fetch_add_u32(&counts[1], deleted, KMA_RELAXED);
    kma_fetch_add_u32(&counts[2], refused, KMA_RELAXED);
    kma_fetch_add_u32(&counts[3], wrong, KMA_RELAXED);
}

#define MANY 9

// The same with up to MANY at a time, and some work-items with none.
kernel void churn_many(global kma_world *w, uint rounds, uint seed, uint classes,
                       global kma_atomic_u32 *counts)
{
    const uint me = (uint)get_global_id(0);
    uint held[MANY], count = 0, created = 0, deleted = 0, refused = 0, wrong = 0;
    for (uint round = 0; round < rounds; round++) {
        const uint draw = kma_mix32(seed + me * 31u + round * 65537u), cls = (draw >> 8) % classes;
        for (uint i = 0; i < count; i++) {
            wrong += stamp(w, held[i], me, i, false) ? 0 : 1;
            Thing_delete(w, held[i]);
        }
        deleted += count;
        const uint wanted = draw % (MANY + 1);
        count = cls == 0   ? Small_new_many(w, wanted, held)
                : cls == 1 ? Large_new_many(w, wanted, held)
                           : Huge_new_many(w, wanted, held);
        refused += count != wanted ? 1 : 0;
        for (uint i = 0; i < count; i++) {
            wrong += kma_world_type(w, held[i]) == cls + 1 ? 0 : 1;
            stamp(w, held[i], me, i, true);
        }
        created += count;
    }
    for (uint i = 0; i < count; i++)
        wrong += stamp(w, held[i], me, i, false) ? 0 : 1;
    kma_fetch_add_u32(&counts[0], created, KMA_RELAXED);
    kma_fetch_add_u32(&counts[1], deleted, KMA_RELAXED);
    kma_fetch_add_u32(&counts[2], refused, KMA_RELAXED);
    kma_fetch_add_u32(&counts[3], wrong, KMA_RELAXED);
}

// Each work-item asks for `each` objects of a class, and writes their references.
kernel void fill(global kma_world *w, uint cls, uint each, global uint *references)
{
    for (uint n = 0; n < each; n++)
        references[n * (uint)get_global_size(0) + (uint)get_global_id(0)] = Thing_new_as(w, cls);
}

// One work-item deletes an object, as one of class Small or Large.
kernel void delete_one(global kma_world *w, uint is_large, uint reference)
{
    if (get_global_id(0) == 0 && is_large != 0)
        Large_delete(w, reference);
    else if (get_global_id(0) == 0)
        Small_delete(w, reference);
}

// One work-item calls every generated function that takes a reference with one that is no object's.
// told: what they say it is. Fields only with KMA_DEBUG: else they are the caller's to check.
kernel void use_wild(global kma_world *w, uint wild, global uint *told)
{
    if (get_global_id(0) != 0)
        return;
    told[0] = (uint)Thing_is(w, wild) + (uint)Small_is(w, wild) + (uint)Large_is(w, wild) +
              (uint)Huge_is(w, wild);
    told[1] = Thing_as(w, wild) | Small_as(w, wild) | Large_as(w, wild) | Huge_as(w, wild);
#if KMA_DEBUG
    Thing_owner(w, wild) = 7;
    Large_weight(w, wild) += 7;
    Large_place(w, wild, 2) = (float4)(7);
    Huge_more(w, wild, 39) = 7;
#endif
    Thing_delete(w, wild);
    Small_delete(w, wild);
    Large_delete(w, wild);
    Huge_delete(w, wild);
}

// ------ do-alls ---------------------------------------------------------------------------------

static inline void init_small(global kma_world *w, Small self, uint i, uint first)
{
    Small_owner(w, self) = first + i;
    Small_number(w, self) = 0;
}

static inline void init_large(global kma_world *w, Large self, uint i, uint first)
{
    Large_owner(w, self) = i;
    Large_number(w, self) = 0;
    Large_weight(w, self) = first + i;
}

static inline void visit(global kma_world *w, Thing self, uint by)
{
    Thing_number(w, self) += by;
}

// Those with an odd owner go, the others have a child each.
static inline void replace(global kma_world *w, Small self)
{
    Small_number(w, self) += 1;
    if ((Small_owner(w, self) & 1u) != 0) {
        Small_delete(w, self);
        return;
    }
    const Small child = Small_new(w);
    if (child == 0)
        return;
    Small_owner(w, child) = Small_owner(w, self) | 0x80000000u;
    Small_number(w, child) = 100;
}

// The weights of all Large, Huge ones among them, and how many there are; how loops are left and
// nested; and both by runs.
static inline void look_around(global kma_world *w, Small self, global ulong *sums)
{
    global ulong *mine = &sums[7 * Small_owner(w, self)];
    for (uint i = 0; i < 7; i++)
        mine[i] = 0;
    Large_for_each(w, one)
    {
        mine[0] += Large_weight(w, one);
        mine[1]++;
    }
    Thing_for_each(w, one)
    {
        if (mine[2] == 5)
            break;
        mine[2]++;
    }
    Huge_for_each(w, one)
    {
        if ((Huge_owner(w, one) & 1u) != 0)
            continue;
        mine[3]++;
    }
    Huge_for_each(w, one) Huge_for_each(w, other) mine[4] += one != other ? 1 : 0;
    Large_for_each_run(w, run)
    {
        global const ulong *weights = Large_weight_at(w, run.first);
        for (uint k = 0; k < run.count; k++) {
            mine[5] += weights[k];
            mine[6] += Large_is(w, run.first + k) ? 1 : 0;
        }
    }
}

// Leaves holes between objects: of one, of two, at both ends of a block.
static inline void thin(global kma_world *w, Large self)
{
    if (Large_weight(w, self) % 8 < 3 || Large_weight(w, self) % 8 == 6)
        Large_delete(w, self);
}
