// Malloc by a whole warp: slabs in lines side by side, made and filled at once. All lanes want one
// class of up to 8 KiB, or each 1 byte to 4 KiB, with an alignment of 16 at most.
//
// 1. Draw: lane 0 adds the warp's lines to a cursor, which several multiprocessors may share
//    (fetch_add, relaxed: it protects no data). The old value selects the lines; no other draw of
//    this cursor gets them until the cursor has gone through all its shares.
// 2. Claim: one lane for each frame sets the lines' used bits (fetch_or, acquire: pairs with the
//    release of the lane that gave the lines back). If a bit was set already, each lane clears the
//    bits that it set (fetch_and, acquire and release), and the warp has nothing.
// 3. kma_lanes_sync: what the claiming lanes acquired, the other lanes see.
// 4. Each lane computes its slot. Lanes store the line words of the slabs, all slots taken
//    (relaxed: a free follows the malloc in program order or by publication).
// 5. kma_lanes_sync: all words come before each lane's return.
//
// If that failed, kma_slab_alloc_alone calls again with `looks`, which replaces steps 1 and 2: each
// lane loads the used word of one frame (relaxed), and claims a free run in it (fetch_or, acquire).
// Up to 24 windows of as many frames as lanes; then lanes without a slot go on each for itself
// (stray_alloc.cl).
//
// A cursor has shares of lines side by side. Consecutive shares of a cursor are `cursors` shares
// apart; after the last one comes the first again. A draw that would cross a share's end is
// repeated, six draws at most. Draws of many lines have cursors of their own, which begin in the
// middle of the heap.
#ifndef KMA_HEAP_SLAB_WARP_ALLOC_CL
#define KMA_HEAP_SLAB_WARP_ALLOC_CL

#include "kma/heap/slab/lines.cl"
#include "kma/platform/lanes.cl"

#if KMA_SHORT_PATHS

#define KMA_SLAB_LANES kma_lanes_count(KMA_LANES_ALL) // a constant on devices
#define KMA_SLAB_LOOKS 24u                            // windows of as many frames as lanes

// All lanes: claims lines [first, first + count). False if another lane owns one; then none is
// claimed. Each lane acquires for the frames it claimed in.
static inline KMA_ALWAYS bool kma_slab_claim_together(global kma_slab *heap, uint first, uint count)
{
    const uint low = first >> KMA_SLAB_FRAME_SHIFT;
    const uint frames = ((first + count - 1) >> KMA_SLAB_FRAME_SHIFT) - low + 1; // 33 at most
    const uint lane = kma_lane_of_all();
    bool failed = false;
    uint mine[2] = {0, 0}; // lines that this lane claimed, in two frames
    KMA_UNROLL(2)
    for (uint i = 0; i < 2; i++) {
        const uint frame = low + lane + i * KMA_SLAB_LANES;
        if (lane + i * KMA_SLAB_LANES < frames) {
            const uint mask = kma_slab_part(first, count, frame);
            mine[i] = mask & ~kma_fetch_or_u32(kma_slab_used(heap, frame), mask, KMA_ACQUIRE);
            failed |= mine[i] != mask;
        }
    }
    if (kma_lanes_ballot(KMA_LANES_ALL, failed) == 0)
        return true;
    KMA_UNROLL(2)
    for (uint i = 0; i < 2; i++)
        kma_slab_undo(heap, low + lane + i * KMA_SLAB_LANES, mine[i]);
    return false;
}

// The first line of a cursor's share number `turn`.
static inline uint kma_slab_share(global kma_slab *heap, uint band, uint cursor, uint turn)
{
    const uint shift = band == KMA_SLAB_BAND_FEW ? KMA_SLAB_FEW_SHIFT : KMA_SLAB_MANY_SHIFT;
    const uint rounds = heap->plan.rounds[band];
    const uint shares = rounds * heap->plan.cursors;
    uint share = (turn < rounds ? turn : turn % rounds) * heap->plan.cursors + cursor;
    share += band == KMA_SLAB_BAND_FEW ? 0 : shares / 2;
    share -= share >= shares ? shares : 0;
    return share << shift;
}

// All lanes: draws and claims `count` lines side by side. KMA_SLAB_NONE if another lane owns one of
// those drawn, or no draw fitted into a share.
static inline KMA_ALWAYS uint kma_slab_draw(global kma_slab *heap, uint count)
{
    const uint band = count <= KMA_SLAB_FEW ? KMA_SLAB_BAND_FEW : KMA_SLAB_BAND_MANY;
    const uint shift = count <= KMA_SLAB_FEW ? KMA_SLAB_FEW_SHIFT : KMA_SLAB_MANY_SHIFT;
    uint first = KMA_SLAB_NONE;
    if (kma_lane_of_all() == 0 && heap->plan.rounds[band] != 0) {
        const uint cursor = kma_place() % heap->plan.cursors;
        global kma_atomic_u32 *const counter =
            &heap->cursors[(band * KMA_SLAB_CURSORS + cursor) * KMA_SLAB_CURSOR_STRIDE];
        for (uint tries = 0; tries < 6 && first == KMA_SLAB_NONE; tries++) {
            const uint drawn = kma_fetch_add_u32(counter, count, KMA_RELAXED);
            const uint within = drawn & ((1u << shift) - 1);
            if (within + count <= 1u << shift)
                first = kma_slab_share(heap, band, cursor, drawn >> shift) + within;
        }
    }
    first = kma_lanes_first(KMA_LANES_ALL, first);
    return first != KMA_SLAB_NONE && kma_slab_claim_together(heap, first, count) ? first
                                                                                 : KMA_SLAB_NONE;
}

// All lanes: claims `count` lines side by side, 32 at most, in one frame for each team of 2^shift
// lanes. Returns the first line of the caller's team; KMA_SLAB_NONE if none was found for it.
static inline KMA_COLD uint kma_slab_look(global kma_slab *heap, uint count, uint shift)
{
    const uint lane = kma_lane_of_all();
    uint served = 0; // teams that have lines
    uint mine = KMA_SLAB_NONE;
    uint window = kma_lanes_first(
        KMA_LANES_ALL, kma_mix32((uint)kma_linear_global_id() * 31 + count + kma_place()));
    for (uint looks = 0; looks < KMA_SLAB_LOOKS && served < KMA_SLAB_LANES >> shift; looks++) {
        window = kma_mix32(window);
        const uint frame = (window % heap->plan.frames + lane) % heap->plan.frames;
        global kma_atomic_u32 *const used = kma_slab_used(heap, frame);
        const uint begin = kma_slab_begins(~kma_load_u32(used, KMA_RELAXED) & KMA_SLAB_FULL, count);
        const kma_lanes found = kma_lanes_ballot(KMA_LANES_ALL, begin != 0);
        uint line = KMA_SLAB_NONE;
        if (begin != 0 && kma_lane_rank(found) < (KMA_SLAB_LANES >> shift) - served) {
            const uint mask = kma_slab_mask(kma_lowest_bit(begin), count);
            const uint seen = kma_fetch_or_u32(used, mask, KMA_ACQUIRE);
            if ((seen & mask) == 0)
                line = (frame << KMA_SLAB_FRAME_SHIFT) + kma_lowest_bit(begin);
            else
                kma_slab_undo(heap, frame, mask & ~seen);
        }
        const kma_lanes got = kma_lanes_ballot(KMA_LANES_ALL, line != KMA_SLAB_NONE);
        const uint count_got = kma_lanes_count(got);
        const uint turn = (lane >> shift) - served; // huge for teams served before
        const uint its = kma_lanes_shuffle(KMA_LANES_ALL, line,
                                           turn < count_got ? kma_lanes_nth(got, turn) : lane);
        mine = turn < count_got ? its : mine;
        served += count_got;
    }
    return mine;
}

// All lanes, each wanting a slot of the class: steps 1 to 5, by a draw or by looks. KMA_NULL in
// lanes without a slot. Acquires.
static inline KMA_ALWAYS kma_ref kma_slab_take_equal(global kma_slab *heap, uint size_class,
                                                     bool looks)
{
    const uint units = kma_slab_units(size_class);
    const uint shift = kma_slab_shift(units);
    const uint lane = kma_lane_of_all();
    const uint slot = lane & ((1u << shift) - 1);
    const uint lines = kma_slab_whole_lines(units << shift);
    uint line = looks ? kma_slab_look(heap, lines, shift)
                      : kma_slab_draw(heap, lines * (KMA_SLAB_LANES >> shift));
    kma_lanes_sync(KMA_LANES_ALL); // what the claiming lanes acquired, all lanes have
    const bool has_line = line != KMA_SLAB_NONE;
    line += looks ? 0 : (lane >> shift) * lines;
    const uint offset = slot * units;
    const uint inner = offset >> KMA_SLAB_LINE_SHIFT;
    if (has_line && (slot == 0 || inner != 0)) // lanes with one line store the same
        kma_store_u32(kma_slab_word(heap, line + inner),
                      slot == 0 ? kma_slab_equal_word(size_class, shift)
                                : kma_slab_rest_word(inner, shift),
                      KMA_RELAXED);
    kma_lanes_sync(KMA_LANES_ALL); // all words come before each lane's return
    return has_line ? kma_slab_ref(heap, line, offset) : KMA_NULL;
}

// The bits of the caller's team, from a set of all lanes.
static inline uint kma_slab_of_team(kma_lanes lanes)
{
    return (uint)lanes >> (kma_lane_of_all() & ~(KMA_SLAB_TEAM - 1)) & ((1u << KMA_SLAB_TEAM) - 1);
}

// As kma_slab_take_equal, for lanes that want 1 to KMA_SLAB_MOST_MIXED units each: two slabs of 16
// slots of different sizes in a warp of 32. The sizes are stored as bit planes, one ballot each.
static inline KMA_COLD kma_ref kma_slab_take_mixed(global kma_slab *heap, uint units, bool looks)
{
    const uint lane = kma_lane_of_all();
    const uint slot = lane & (KMA_SLAB_TEAM - 1);
    const uint below = (uint)kma_bits_below(slot);
    const bool is_coarse =
        kma_slab_of_team(kma_lanes_ballot(KMA_LANES_ALL, units > 1u << KMA_SLAB_PLANES)) != 0;
    const uint unit_shift = is_coarse ? 2 : 0;
    const uint less = ((units + (is_coarse ? 3 : 0)) >> unit_shift) - 1; // what the planes hold
    uint before = slot;
    uint total = KMA_SLAB_TEAM;
    uint planes = 0;
    uint mine = 0; // the plane that this lane stores
    for (uint p = 0; p < KMA_SLAB_PLANES; p++) {
        const uint plane = kma_slab_of_team(kma_lanes_ballot(KMA_LANES_ALL, (less >> p & 1) != 0));
        before += (uint)popcount(plane & below) << p;
        total += (uint)popcount(plane) << p;
        planes = plane != 0 ? p + 1 : planes;
        mine = slot == p + 1 ? plane : mine;
    }
    const uint offset = before << unit_shift;
    uint lines = max(kma_slab_whole_lines(total << unit_shift), planes + 1);
    const uint first_lines = kma_lanes_first(KMA_LANES_ALL, lines);
    const uint last_lines = kma_lanes_shuffle(KMA_LANES_ALL, lines, KMA_SLAB_LANES - 1);
    lines = looks ? max(first_lines, last_lines) : lines;
    if (looks && lines > KMA_SLAB_FRAME_LINES)
        return KMA_NULL;
    uint line = looks
                    ? kma_slab_look(heap, lines, KMA_SLAB_TEAM_SHIFT)
                    : kma_slab_draw(heap, KMA_SLAB_LANES > KMA_SLAB_TEAM ? first_lines + last_lines
                                                                         : lines);
    kma_lanes_sync(KMA_LANES_ALL); // what the claiming lanes acquired, all lanes have
    const bool has_line = line != KMA_SLAB_NONE;
    line += looks || lane < KMA_SLAB_TEAM ? 0 : first_lines;
    const uint inner = offset >> KMA_SLAB_LINE_SHIFT;
    const uint word = KMA_SLAB_SLAB | KMA_SLAB_MIXED | (is_coarse ? KMA_SLAB_COARSE : 0) |
                      (lines - 1) << 20 | planes << 17 | ((1u << KMA_SLAB_TEAM) - 1);
    const uint rest = KMA_SLAB_REST | KMA_SLAB_MIXED;
    if (has_line && slot <= planes)
        kma_store_u32(kma_slab_word(heap, line + slot), slot == 0 ? word : rest | slot << 20 | mine,
                      KMA_RELAXED);
    if (has_line && inner > planes) // lanes with one line store the same
        kma_store_u32(kma_slab_word(heap, line + inner), rest | inner << 20, KMA_RELAXED);
    kma_lanes_sync(KMA_LANES_ALL); // all words come before each lane's return
    return has_line ? kma_slab_ref(heap, line, offset) : KMA_NULL;
}

// All lanes: takes a block each, of drawn lines or, with `looks`, of lines found in other frames.
// KMA_NULL in lanes without a block, and in all if their requests differ too much. Acquires.
static inline KMA_ALWAYS kma_ref kma_slab_take_together(global kma_slab *heap, size_t align,
                                                        size_t bytes, bool looks)
{
    const bool can = align <= KMA_UNIT && kma_is_power_of_two(align) &&
                     bytes <= KMA_SLAB_MOST * KMA_UNIT && heap->plan.frames != 0;
    // 0: no bytes, or no request for this path; kma_slab_class_of(0) is at least KMA_SLAB_CLASSES.
    const uint units = can ? (uint)kma_whole_units(bytes) : 0;
    const uint size_class = kma_slab_class_of(units);
    if (kma_lanes_ballot(KMA_LANES_ALL, size_class != kma_lanes_first(KMA_LANES_ALL, size_class)) ==
        0)
        return size_class < KMA_SLAB_CLASSES ? kma_slab_take_equal(heap, size_class, looks)
                                             : KMA_NULL;
    if (kma_lanes_ballot(KMA_LANES_ALL, units == 0 || units > KMA_SLAB_MOST_MIXED) == 0)
        return kma_slab_take_mixed(heap, kma_slab_units(size_class), looks);
    return KMA_NULL;
}

#endif
#endif
