// New objects: free slots of blocks of the class, or of a block that begins for it.
//
// Lanes that are together with one class are served together. Where they look:
//
// 1. Among the slots that the last enumeration found free (kma_world_open). One atomic add gives
//    each lane its own places in that list; one atomic on a block's word takes a slot. The list may
//    be stale: a slot that another lane took meanwhile is left to it.
//
// 2. For the lanes that are left, a leader takes slots of one block after the other (take.cl).
#ifndef KMA_OBJECTS_NEW_CL
#define KMA_OBJECTS_NEW_CL

#include "kma/objects/take.cl"
#include "kma/platform/lanes.cl"

// A switch for measurements, like those of take.cl.
#ifndef KMA_OBJECTS_OPEN
#define KMA_OBJECTS_OPEN 1 // step 1
#endif

#define KMA_WORLD_PLACES  (1u << 30) // above twice the places of any list
#define KMA_WORLD_AT_ONCE 4u // slots of the list whose accesses do not wait for one another

// Of the lanes here, those with the caller's world, class and `is_one`, which are served together;
// without the caller if it is alone. Where it is fast, lanes of several classes form several groups
// at once.
static inline kma_lanes kma_world_together(kma_lanes here, global kma_world *w, uint cls,
                                           bool is_one)
{
    const uint alike = 2 * cls + (is_one ? 1 : 0); // below 128, to which worlds are aligned
#ifdef KMA_LANES_APART
    const kma_lanes its = kma_lanes_alike(here, (ulong)w);
    return kma_lane_in(its) ? kma_lanes_match(its, alike, 7) : 0;
#else
    return kma_lanes_alike(here, (ulong)w + alike);
#endif
}

// How many of something each lane of a group wants, as sums over the group. `is_one` is a constant:
// each wants one.
static inline kma_scan kma_world_numbers(kma_lanes group, uint count, bool is_one)
{
    if (!is_one)
        return kma_lanes_scan(group, count);
    kma_scan numbers;
    numbers.before = kma_lane_rank(group);
    numbers.total = kma_lanes_count(group);
    return numbers;
}

// Returns the first of `count` places of the caller's own in a list, whose next place is `next`.
static inline uint kma_world_place(global kma_world *w, uint cls, global kma_atomic_u32 *next,
                                   uint count, bool is_one)
{
#if KMA_OBJECTS_COALESCE
    const kma_lanes together = kma_world_together(kma_lanes_active(), w, cls, is_one);
    if (kma_lane_in(together)) {
        const kma_scan numbers = kma_world_numbers(together, count, is_one);
        uint place = 0;
        if (kma_lane_leads(together))
            place = kma_fetch_add_u32(next, numbers.total, KMA_RELAXED);
        return kma_lanes_first(together, place) + numbers.before;
    }
#endif
    return kma_fetch_add_u32(next, count, KMA_RELAXED);
}

// Step 1 for the places from `place` to `end`, KMA_WORLD_AT_ONCE at most. Returns how many objects
// there are, from refs[0] on. Acquires.
static inline uint kma_world_take_listed(global kma_world *w, uint cls, uint place, uint end,
                                         bool is_one, uint *refs)
{
    uint made = 0, self[KMA_WORLD_AT_ONCE], types[KMA_WORLD_AT_ONCE];
    kma_slots before[KMA_WORLD_AT_ONCE];
    const uint most = is_one ? 1 : KMA_WORLD_AT_ONCE;
    global uint *const open = kma_world_open(w, cls);
    for (uint i = 0; i < most; i++)
        self[i] = place + i < end ? open[place + i] : 0;
    for (uint i = 0; i < most; i++) {
        before[i] = KMA_SLOTS_ALL;
        if (self[i] != 0)
            before[i] = kma_slots_fetch_or(
                &kma_world_block_at(w, kma_world_block_of(self[i]))->state,
                kma_slots_bit(kma_world_slot_of(self[i])), is_one ? KMA_ACQUIRE : KMA_RELAXED);
    }
    if (!is_one)
        kma_fence(KMA_ACQUIRE);
    for (uint i = 0; i < most; i++) {
        global kma_world_block *b = kma_world_block_at(w, kma_world_block_of(self[i]));
        types[i] = 0;
        if ((before[i] & kma_slots_bit(kma_world_slot_of(self[i]))) == 0)
            types[i] = kma_load_u32(&b->type, KMA_RELAXED);
    }
    for (uint i = 0; i < most; i++) {
        const kma_slots slot = kma_slots_bit(kma_world_slot_of(self[i]));
        if ((before[i] & slot) == 0 &&
            kma_world_keeps(w, cls, kma_world_block_of(self[i]), slot, types[i]))
            refs[made++] = self[i];
    }
    return made;
}

// Step 1: creates up to `count` objects in slots that the last enumeration found free: fewer if
// there are not so many, or if some were taken meanwhile. Returns how many. Acquires.
static inline uint kma_world_new_listed(global kma_world *w, uint cls, uint count, bool is_one,
                                        uint *refs)
{
    global kma_world_class *of = kma_world_class_at(w, cls);
    // these loads do not wait for one another
    const uint turn = of->turn, open0 = kma_load_settled_u32(&of->open[0]),
               open1 = kma_load_settled_u32(&of->open[1]),
               open = min(turn == 0 ? open0 : open1, kma_world_open_most(w->blocks));
    if (!KMA_OBJECTS_OPEN || open == 0)
        return 0;
    const uint place = kma_world_place(w, cls, &of->next[turn], count, is_one);
    if (place >= KMA_WORLD_PLACES) // the sum must not begin again at 0
        kma_store_u32(&of->next[turn], KMA_WORLD_PLACES / 2, KMA_RELAXED);
    if (place >= open)
        return 0;
    if (is_one)
        return kma_world_take_listed(w, cls, place, place + 1, true, refs);
    const uint end = place + min(count, open - place);
    uint made = 0;
    for (uint at = place; at < end; at += KMA_WORLD_AT_ONCE)
        made += kma_world_take_listed(w, cls, at, end, false, refs + made);
    return made;
}

// Step 2 for lanes that are together: creates `count` objects for each. Returns how many the
// caller got: fewer without memory. All lanes of the group.
static inline uint kma_world_new_together(global kma_world *w, uint cls, kma_lanes group,
                                          uint count, bool is_one, uint *refs)
{
    const kma_scan numbers = kma_world_numbers(group, count, is_one);
    uint made = 0;
    for (uint served = 0; served < numbers.total;) { // each round serves the free slots of a block
        kma_world_taken taken;
        taken.slots = 0;
        taken.block = 0;
        if (kma_lane_leads(group))
            taken = kma_world_take_near(w, cls, numbers.total - served);
        kma_slots slots = kma_lanes_first(group, (uint)taken.slots);
#if KMA_HAS_ATOMIC64
        slots |= (kma_slots)kma_lanes_first(group, (uint)(taken.slots >> 32)) << 32;
#endif
        const uint block = kma_lanes_first(group, taken.block), got = kma_slots_count(slots);
        if (got == 0)
            break;
        for (; made < count && numbers.before + made - served < got; made++)
            refs[made] =
                kma_world_ref(block, kma_slots_nth(slots, numbers.before + made - served));
        served += got;
    }
    kma_lanes_sync(group); // what the leader acquired, all lanes have
    return made;
}

// The same for a lane alone.
static inline uint kma_world_new_alone(global kma_world *w, uint cls, uint count, uint *refs)
{
    uint made = 0;
    while (made < count) { // each round serves the free slots of a block
        const kma_world_taken taken = kma_world_take_near(w, cls, count - made);
        if (taken.slots == 0)
            break;
        for (kma_slots slots = taken.slots; slots != 0; slots &= slots - 1)
            refs[made++] = kma_world_ref(taken.block, kma_lowest_bit(slots));
    }
    return made;
}

// Step 2: creates `count` objects in any other slots. Returns how many: fewer, with a record,
// without memory. Acquires.
static inline uint kma_world_new_elsewhere(global kma_world *w, uint cls, uint count, bool is_one,
                                           uint *refs)
{
    uint made = 0;
    bool alone = true;
#if KMA_OBJECTS_COALESCE
    const kma_lanes together = kma_world_together(kma_lanes_active(), w, cls, is_one);
    if (kma_lane_in(together)) {
        made = kma_world_new_together(w, cls, together, count, is_one, refs);
        alone = false;
    }
#endif
    if (alone)
        made = kma_world_new_alone(w, cls, count, refs);
    if (made < count)
        kma_report(&w->head, KMA_ERROR_OUT_OF_MEMORY, 0, KMA_WORLD_OBJECT_BYTES(cls));
    return made;
}

// Creates `count` objects of class cls; refs[0] on become their references. Their fields are
// undefined. Returns how many there are: fewer, with a record, without memory. Any work-item,
// converged or not. Acquires.
static inline uint kma_world_new_many(global kma_world *w, uint cls, uint count, uint *refs)
{
    const uint made = kma_world_new_listed(w, cls, count, false, refs);
    return made < count
               ? made + kma_world_new_elsewhere(w, cls, count - made, false, refs + made)
               : made;
}

// Creates an object of class cls and returns its reference; its fields are undefined. 0, with a
// record, if there is no memory. Any work-item, converged or not. Acquires.
static inline uint kma_world_new(global kma_world *w, uint cls)
{
    uint self = 0;
    if (kma_world_new_listed(w, cls, 1, true, &self) == 0)
        kma_world_new_elsewhere(w, cls, 1, true, &self);
    return self;
}

#endif
