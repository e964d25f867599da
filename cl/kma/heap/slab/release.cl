// Free.
//
// By a whole warp, of blocks that it took together, each lane its own slot:
//
// 1. Each lane loads the word of its block's line (relaxed: its block keeps the slab alive). This
//    word has the number of slots, and with it the team of lanes that shares the slab.
// 2. Each lane compares this number, and its block, with what the word of its team's first lane
//    says: the slab's number of slots, and the slot of the lane's number.
// 3. kma_lanes_sync; if all lanes of a team are right, the first one ends the slab: a
//    compare-and-swap from all slots taken to none (relaxed: no claim succeeds on a full or a dead
//    word; step 4 releases).
// 4. A lane for each frame gives the lines back (fetch_and of the used word, acquire and release).
//    The first lane has the slab's first frame: the word's end comes before its lines are free.
//    Lines in other frames may be seen free before that end, since the ballot between steps 3 and 4
//    orders no memory. That is harmless: no lane claims from a full word.
//
// Other lanes free each for itself: a fetch_and of the slot's bit (acquire and release), then what
// its result demands: list the frame, end or list an empty page, give a slab's lines back.
#ifndef KMA_HEAP_SLAB_RELEASE_CL
#define KMA_HEAP_SLAB_RELEASE_CL

#include "kma/heap/slab/large.cl"
#include "kma/heap/slab/pages.cl"

// Frees a slot of a page. Lists the frame if the word had no free slot; ends or lists the page if
// it has no block left. False if the slot was free. Acquires and releases, as
// kma_slab_release_slot_of.
static inline bool kma_slab_release_page_slot(global kma_slab *heap, uint line, uint bit)
{
    const uint before = kma_fetch_and_u32(kma_slab_word(heap, line), ~bit, KMA_ACQ_REL);
    if ((before & bit) == 0)
        return false;
    const uint size_class = kma_slab_page_class(before);
    const uint slots = kma_slab_page_slots(before), frame = line >> KMA_SLAB_FRAME_SHIFT;
    if ((before & slots) == slots && !kma_bit_tree_has(kma_slab_tree(heap, size_class), frame))
        kma_slab_put(heap, size_class, frame);
    if ((before & slots) == bit && (before & KMA_SLAB_LISTED) == 0)
        kma_slab_page_may_be_empty(heap, line, before & ~bit);
    return true;
}

// Frees the block at `ptr` that is not in a page, or reports why that is impossible.
static inline KMA_COLD void kma_slab_release_rest(global kma_slab *heap, global void *ptr)
{
    const kma_slab_spot spot = kma_slab_spot_of(heap, ptr);
    uint error = spot.error;
    if (error == KMA_ERROR_CODES) {
        bool is_freed;
        if ((spot.word & KMA_SLAB_FORM) == KMA_SLAB_PAGE)
            is_freed = false; // kma_slab_release found the slot free
        else if (spot.bit != KMA_SLAB_RUN)
            is_freed = kma_slab_release_slot_of(heap, spot.line, spot.bit, spot.units);
        else
            is_freed = kma_slab_release_run(heap, spot.line, spot.word);
        error = is_freed ? KMA_ERROR_CODES : KMA_ERROR_DOUBLE_FREE;
    }
    if (error != KMA_ERROR_CODES)
        kma_slab_report(heap, error, kma_wrong_ref(&heap->header, ptr), 0);
}

#if KMA_SHORT_PATHS

// True if all lanes of a warp are here with one heap. `why` differs from call to call: lanes that
// reach this function for different reasons are not together.
static inline bool kma_slab_is_together(global kma_slab *heap, uint why)
{
    return kma_lanes_count(KMA_LANES_ALL) >= KMA_SLAB_TEAM && kma_lanes_active() == KMA_LANES_ALL &&
           kma_lanes_alike(KMA_LANES_ALL, (ulong)heap + why) == KMA_LANES_ALL;
}

// All lanes: frees the blocks of complete teams. `unit` is the block's, from frame 0's start on, or
// beyond the last line. True in lanes with a freed block. Acquires and releases.
static inline bool kma_slab_free_together(global kma_slab *heap, uint unit)
{
    const uint lane = kma_lane_of_all();
    const uint own = unit >> KMA_SLAB_LINE_SHIFT;
    const bool is_in = own < heap->plan.frames << KMA_SLAB_FRAME_SHIFT;
    const uint word = is_in ? kma_load_u32(kma_slab_word(heap, own), KMA_RELAXED) : 0;
    const bool is_mixed = (word & KMA_SLAB_MIXED) != 0; // if it is a slab's word; is_right checks
    const uint shift =
        is_mixed ? KMA_SLAB_TEAM_SHIFT : min(kma_slab_equal_shift(word), KMA_SLAB_TEAM_SHIFT);
    const uint slot = lane & ((1u << shift) - 1);
    const uint leader = lane - slot;
    const uint lead_unit = kma_lanes_shuffle(KMA_LANES_ALL, unit, leader);
    const uint control = kma_lanes_shuffle(KMA_LANES_ALL, word, leader);
    const uint first = lead_unit >> KMA_SLAB_LINE_SHIFT;
    uint offset = slot * kma_slab_units(kma_slab_equal_class(control));
    if (kma_lanes_ballot(KMA_LANES_ALL, is_mixed) != 0) {
        const uint planes = (control & KMA_SLAB_MIXED) != 0 ? control >> 17 & 7 : 0;
        const uint plane =
            slot - 1 < planes ? kma_load_u32(kma_slab_word(heap, first + slot), KMA_RELAXED) : 0;
        const uint below = (uint)kma_bits_below(slot);
        uint before = slot;
        for (uint p = 0; p < KMA_SLAB_PLANES; p++) // planes beyond `planes` are 0
            before += (uint)popcount(kma_lanes_shuffle(
                                         KMA_LANES_ALL, plane,
                                         min(leader + 1 + p, kma_lanes_count(KMA_LANES_ALL) - 1)) &
                                     below)
                      << p;
        offset = is_mixed ? before << ((control & KMA_SLAB_COARSE) != 0 ? 2 : 0) : offset;
    }
    const bool is_full = (control & KMA_SLAB_FORM) == KMA_SLAB_SLAB &&
                         (control & KMA_SLAB_OCCUPANCY) == kma_slab_slots(control) &&
                         ((control & KMA_SLAB_MIXED) != 0) == is_mixed;
    // All teams must have one size. Otherwise a lane of a smaller team may count for the larger one
    // around.
    const bool is_usual = shift == kma_lanes_first(KMA_LANES_ALL, shift);
    const bool is_right = is_full && is_usual &&
                          (is_mixed || kma_slab_equal_shift(control) == shift) &&
                          unit == (first << KMA_SLAB_LINE_SHIFT) + offset;
    const kma_lanes right = kma_lanes_ballot(KMA_LANES_ALL, is_right);
    const kma_lanes team = (kma_lanes)kma_bits_below(1u << shift) << leader;
    kma_lanes_sync(KMA_LANES_ALL); // each lane's uses come before the word's end
    bool has_ended = false;
    if (slot == 0 && is_right && (right & team) == team)
        has_ended = kma_cas_u32(kma_slab_word(heap, first), control, control & ~KMA_SLAB_OCCUPANCY,
                                KMA_RELAXED) == control;
    const kma_lanes ended = kma_lanes_ballot(KMA_LANES_ALL, has_ended);
    if (!is_right || (ended >> leader & 1) == 0)
        return false;
    const uint lines = kma_slab_lines_of(control);
    const uint last = (first + lines - 1) >> KMA_SLAB_FRAME_SHIFT;
    for (uint frame = (first >> KMA_SLAB_FRAME_SHIFT) + slot; frame <= last; frame += 1u << shift)
        kma_slab_give_back_part(heap, frame, kma_slab_part(first, lines, frame));
    return true;
}

#endif

// Frees the block at `ptr`, or reports why that is impossible. Blocks in pages take the short way.
// Any lane, converged or not. Releases: pairs with the next owner's claim.
static inline void kma_slab_release(global kma_slab *heap, global void *ptr)
{
    // Huge if `ptr` lies before frame 0.
    const ulong offset = (ulong)ptr - (ulong)heap - (ulong)heap->plan.begin * KMA_UNIT;
    const bool is_in = offset % KMA_UNIT == 0 &&
                       offset / KMA_UNIT < (ulong)heap->plan.frames * KMA_SLAB_FRAME_UNITS;
    const uint unit = is_in ? (uint)(offset / KMA_UNIT) : KMA_SLAB_NONE;
#if KMA_SHORT_PATHS
    if (kma_slab_is_together(heap, 0) && kma_slab_free_together(heap, unit))
        return;
#endif
    const uint within = unit % KMA_SLAB_FRAME_UNITS, line = unit >> KMA_SLAB_LINE_SHIFT;
    const uint word = is_in ? kma_load_u32(kma_slab_word(heap, line), KMA_RELAXED) : 0;
    kma_slab_spot spot;
    if ((word & KMA_SLAB_FORM) == KMA_SLAB_PAGE &&
        kma_slab_spot_equal(&spot, (unit - within) >> KMA_SLAB_LINE_SHIFT, word, within) &&
        kma_slab_release_page_slot(heap, spot.line, spot.bit))
        return;
    kma_slab_release_rest(heap, ptr);
}

#endif
