// The crucial loops of docs/slab-design.md, without a heap around them: what a step of the chain, an atomic and a
// shared counter cost on a device. All blocks have one size, K times 16 bytes, a power of two up to 64; but for the
// kernels of many sizes. Memory is endless and new at the start: nothing is searched for, nobody is refused.
//
// LOG_PLACES: the counters of which each place of execution has one.
#include "kma/platform/bits.cl"
#include "kma/platform/lanes.cl"
#include "kma/platform/memory.cl"
#include "kma/platform/place.cl"

#define PLACE   (kma_place() & ((1u << LOG_PLACES) - 1))
#define STRIDE  32u // words between two counters, a line of the cache
#define NO_SPOT 0xffffffffu

kernel void empty(global uint *refs)
{
}

// By any number of work-items. (Drivers fill large buffers slowly.)
kernel void clear(global uint *words, ulong count)
{
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0))
        words[i] = 0;
}

// ------ design C: units of 512 bytes -------------------------------------------------------------------------------
//
// A slab has 32 slots of K * 16 bytes in K units side by side. used, begins: a bit for each unit; owners: a word for
// each unit, the first one's has the slots' owners, the second one's K.

#define UNITS_PER_BLOCK_LOG 7u // 64 KiB go to a place at a time

static inline uint unit_at(uint position, uint place)
{
    const uint block = position >> UNITS_PER_BLOCK_LOG;
    return (block << LOG_PLACES | place) << UNITS_PER_BLOCK_LOG | (position & ((1u << UNITS_PER_BLOCK_LOG) - 1));
}

// Of the units [first, first + K), those in the word `i` after the first one's.
static inline uint unit_mask(uint first, uint i)
{
    return K >= 32 ? 0xffffffffu : (uint)kma_bits_below(K) << (first % 32);
}

// A chain of 1: the counters alone, as a bump heap with several heads.
kernel void bump_malloc(global kma_atomic_u32 *cursors, global uint *refs)
{
    const kma_lanes group = kma_lanes_active();
    const uint place = kma_lanes_first(group, PLACE);
    uint first = 0;
    if (kma_lane_leads(group))
        first = unit_at(kma_fetch_add_u32(&cursors[place * STRIDE], K, KMA_RELAXED), place);
    refs[get_global_id(0)] = kma_lanes_first(group, first) * 32 + kma_lane_rank(group) * K;
}

kernel void unit_malloc(global kma_atomic_u32 *cursors, global kma_atomic_u32 *used, global kma_atomic_u32 *begins,
                        global kma_atomic_u32 *owners, global uint *refs)
{
    const kma_lanes group = kma_lanes_active();
    uint first = NO_SPOT;
    if (kma_lane_leads(group)) {
        const uint place = PLACE;
        first = unit_at(kma_fetch_add_u32(&cursors[place * STRIDE], K, KMA_RELAXED), place);
        uint taken = 0;
        for (uint i = 0; i < (K + 31) / 32; i++)
            taken |= kma_fetch_or_u32(&used[first / 32 + i], unit_mask(first, i), KMA_ACQUIRE) & unit_mask(first, i);
        // Whoever is told of the block comes after these.
        kma_store_u32(&owners[first], (uint)kma_bits_below(kma_lanes_count(group)), KMA_RELAXED);
        if (K > 1)
            kma_store_u32(&owners[first + 1], K, KMA_RELAXED);
        kma_fetch_or_u32(&begins[first / 32], 1u << (first % 32), KMA_RELAXED);
        if (taken != 0)
            first = NO_SPOT;
    }
    first = kma_lanes_first(group, first);
    kma_lanes_sync(group);
    refs[get_global_id(0)] = first == NO_SPOT ? NO_SPOT : first * 32 + kma_lane_rank(group) * K;
}

kernel void unit_free(global kma_atomic_u32 *used, global kma_atomic_u32 *begins, global kma_atomic_u32 *owners,
                      global uint *refs)
{
    const uint ref = refs[get_global_id(0)];
    const uint unit = ref / 32;
    uint word = unit / 32;
    uint bits = kma_load_u32(&begins[word], KMA_RELAXED) & (uint)kma_bits_below(unit % 32 + 1);
    if (bits == 0) // a slab has at most 64 units
        bits = kma_load_u32(&begins[--word], KMA_RELAXED);
    const uint first = word * 32 + 31 - (uint)clz(bits);
    const uint size = K > 1 ? kma_load_u32(&owners[first + 1], KMA_RELAXED) : 1;
    const uint slot = (ref - first * 32) / size;
    const kma_lanes group = kma_lanes_active();
    const kma_lanes together = kma_lanes_match(group, first, 32);
    const uint mine = kma_lanes_or(group, together, 1u << slot);
    kma_lanes_sync(group);
    if (!kma_lane_leads(together))
        return;
    const uint before = kma_fetch_and_u32(&owners[first], ~mine, KMA_ACQ_REL);
    if (before != mine) // others' slots are left
        return;
    kma_fetch_and_u32(&begins[first / 32], ~(1u << (first % 32)), KMA_RELAXED);
    for (uint i = 0; i < (K + 31) / 32; i++)
        kma_fetch_and_u32(&used[first / 32 + i], ~unit_mask(first, i), KMA_RELEASE);
}

// ------ design B: slabs of 64 KiB, by tickets ----------------------------------------------------------------------
//
// slabs: class << 16 | count; bits: 128 words of each slab. COLD: look at the word before, as on a new heap.

#define SPOTS (4096u / K)

kernel void slab_malloc(global kma_atomic_u32 *cursors, global kma_atomic_u32 *slabs, global kma_atomic_u32 *bits,
                        global uint *refs)
{
    const kma_lanes group = kma_lanes_active();
    uint at = NO_SPOT;
    if (kma_lane_leads(group)) {
        const uint place = PLACE;
        const uint count = kma_lanes_count(group);
        const uint ticket = kma_fetch_add_u32(&cursors[place * STRIDE], count, KMA_RELAXED);
        const uint slab = (ticket / SPOTS) << LOG_PLACES | place;
        uint word = COLD ? kma_load_u32(&slabs[slab], KMA_RELAXED) : (uint)K << 16;
        uint mine = count; // to be counted yet
        if (word >> 16 == K) {
            word = kma_fetch_add_u32(&slabs[slab], count, KMA_ACQUIRE);
            mine = 0;
        }
        uint held = word & 0xffff; // before mine
        word += count - mine;
        while (word >> 16 != K) { // of another class, and empty: once more only if another was quicker
            const uint seen = kma_cas_u32(&slabs[slab], word, (uint)K << 16 | ((word & 0xffff) + mine), KMA_ACQUIRE);
            held = (seen & 0xffff) - (count - mine);
            if (seen == word)
                break;
            word = seen;
            if (seen >> 16 == K && mine != 0)
                held = kma_fetch_add_u32(&slabs[slab], count, KMA_ACQUIRE) & 0xffff;
        }
        const uint spot = ticket % SPOTS;
        const uint mask = (uint)kma_bits_below(count) << (spot % 32);
        const uint taken = kma_fetch_or_u32(&bits[slab * 128 + spot / 32], mask, KMA_ACQUIRE) & mask;
        at = taken != 0 || held + count > SPOTS ? NO_SPOT : slab * 4096 + spot * K;
    }
    at = kma_lanes_first(group, at);
    kma_lanes_sync(group);
    refs[get_global_id(0)] = at == NO_SPOT ? NO_SPOT : at + kma_lane_rank(group) * K;
}

kernel void slab_free(global kma_atomic_u32 *slabs, global kma_atomic_u32 *bits, global uint *refs)
{
    const uint ref = refs[get_global_id(0)];
    const uint slab = ref / 4096;
    const uint size = kma_load_u32(&slabs[slab], KMA_RELAXED) >> 16;
    const uint spot = ref % 4096 / size;
    const kma_lanes group = kma_lanes_active();
    const kma_lanes together = kma_lanes_match(group, slab * 128 + spot / 32, 32);
    const uint mine = kma_lanes_or(group, together, 1u << (spot % 32));
    kma_lanes_sync(group);
    uint cleared = 0;
    if (kma_lane_leads(together))
        cleared = (uint)popcount(kma_fetch_and_u32(&bits[slab * 128 + spot / 32], ~mine, KMA_RELEASE) & mine);
    if (cleared != 0)
        kma_fetch_add_u32(&slabs[slab], 0u - cleared, KMA_RELEASE);
}

// ------ many sizes -------------------------------------------------------------------------------------------------
//
// Every lane for itself, sizes of 1 to 64 units: ticket of the class and place, the slab's count, the bit.

kernel void lone_malloc(global kma_atomic_u32 *cursors, global kma_atomic_u32 *slabs, global kma_atomic_u32 *bits,
                        global uint *refs)
{
    const uint me = (uint)get_global_id(0);
    const uint size = 1 + kma_mix32(me) % 64;
    const uint spots = 4096 / size;
    const kma_lanes group = kma_lanes_active();
    const kma_lanes alike = kma_lanes_match(group, size, 7);
    const uint place = kma_lanes_shuffle(group, PLACE, kma_lowest_bit(alike));
    uint ticket = 0;
    if (kma_lane_leads(alike))
        ticket = kma_fetch_add_u32(&cursors[(size - 1) << LOG_PLACES | place], kma_lanes_count(alike), KMA_RELAXED);
    ticket = kma_lanes_shuffle(group, ticket, kma_lowest_bit(alike)) + kma_lane_rank(alike);
    // A window of 4,096 slabs for each class.
    const uint slab = (size - 1) << 12 | ((ticket / spots << LOG_PLACES | place) & 0xfff);
    const uint spot = ticket % spots;
    const uint before = kma_fetch_add_u32(&slabs[slab], 1, KMA_ACQUIRE);
    const uint bit = 1u << (spot % 32);
    const uint taken = kma_fetch_or_u32(&bits[slab * 128 + spot / 32], bit, KMA_ACQUIRE) & bit;
    refs[me] = taken != 0 || before >= spots ? NO_SPOT : slab * 4096 + spot * size;
}

kernel void lone_free(global kma_atomic_u32 *slabs, global kma_atomic_u32 *bits, global uint *refs)
{
    const uint ref = refs[get_global_id(0)];
    const uint slab = ref / 4096;
    const uint size = 1 + (slab >> 12);
    const uint spot = ref % 4096 / size;
    kma_fetch_and_u32(&bits[slab * 128 + spot / 32], ~(1u << (spot % 32)), KMA_RELEASE);
    kma_fetch_add_u32(&slabs[slab], ~0u, KMA_RELEASE);
}

// ------ design D: packs --------------------------------------------------------------------------------------------
//
// All that a group wants, whatever its sizes, side by side in units of its own: one claim. marks: two bits for each
// unit, where a pack begins. words, one for each unit: the pack's first one's has the owners of its slots, one for each
// lane; the next one's a header, or nothing if there is one unit only; then the slots' sizes by bit planes, unless all
// are equal. MIX: sizes of 1 to MIX units of 16 bytes, 0: all K.

#ifndef MIX
#define MIX 0
#endif
#define MARK_MULTI  1u
#define MARK_SINGLE 2u
#define DATA        0x80000000u // a header, or a plane: bit 31 of both
#define MIXED       0x00001000u // of a header, which has the pack's units above, and below the slots' size or the planes

static inline uint planes_below(const uint *planes, uint count, uint slot)
{
    const uint below = (uint)kma_bits_below(slot);
    uint sum = 0;
    for (uint i = 0; i < 7; i++)
        sum += (uint)popcount(planes[i] & below) << i;
    return sum;
}

kernel void pack_malloc(global kma_atomic_u32 *cursors, global kma_atomic_u32 *used, global kma_atomic_u32 *marks,
                        global kma_atomic_u32 *words, global uint *refs)
{
    const uint me = (uint)get_global_id(0);
    const uint size = MIX ? 1 + kma_mix32(me) % MIX : K;
    const kma_lanes group = kma_lanes_active();
    uint planes[7];
    for (uint i = 0; i < 7; i++)
        planes[i] = kma_lanes_ballot(group, (size >> i & 1) != 0);
    const uint lane = kma_lane_id();
    const uint offset = planes_below(planes, 7, lane);
    uint total = 0;
    uint count = 0;
    bool uniform = true;
    for (uint i = 0; i < 7; i++) {
        total += (uint)popcount(planes[i]) << i;
        count = planes[i] != 0 ? i + 1 : count;
        uniform &= planes[i] == 0 || planes[i] == group;
    }
    const uint units = max((total + 31) / 32, uniform ? (total > 32 ? 2u : 1u) : 2 + count);
    uint first = NO_SPOT;
    const bool leads = kma_lane_leads(group);
    if (leads) {
        const uint place = PLACE;
        for (;;) { // once more only at the end of the place's 64 KiB
            const uint position = kma_fetch_add_u32(&cursors[place * STRIDE], units, KMA_RELAXED);
            first = unit_at(position, place);
            if ((position & ((1u << UNITS_PER_BLOCK_LOG) - 1)) + units <= 1u << UNITS_PER_BLOCK_LOG)
                break;
        }
    }
    first = kma_lanes_first(group, first);
    const uint rank = kma_lane_rank(group);
    uint taken = 0;
    for (uint word = first / 32 + rank; word <= (first + units - 1) / 32; word += kma_lanes_count(group)) {
        const uint begin = max(first, word * 32) - word * 32;
        const uint end = min(first + units, word * 32 + 32) - word * 32;
        const uint mask = (uint)(kma_bits_below(end) & ~kma_bits_below(begin));
        taken |= kma_fetch_or_u32(&used[word], mask, KMA_ACQUIRE) & mask;
    }
    // Whoever is told of the block comes after these.
    const uint header = DATA | units << 16 | (uniform ? size : MIXED | count);
    for (uint word_of = rank; word_of < (units == 1 ? 1 : uniform ? 2 : 2 + count); word_of += kma_lanes_count(group)) {
        uint value = word_of == 0 ? (uint)group : header;
        for (uint i = 0; i < 7; i++)
            value = word_of == i + 2 ? DATA | planes[i] : value;
        kma_store_u32(&words[first + word_of], value, KMA_RELAXED);
    }
    if (leads)
        kma_fetch_or_u32(&marks[first / 16], (units == 1 ? MARK_SINGLE : MARK_MULTI) << (first % 16 * 2), KMA_RELAXED);
    taken = kma_lanes_ballot(group, taken != 0);
    kma_lanes_sync(group);
    refs[me] = taken != 0 ? NO_SPOT : first * 32 + offset;
}

kernel void pack_free(global kma_atomic_u32 *used, global kma_atomic_u32 *marks, global kma_atomic_u32 *words,
                      global uint *refs)
{
    const uint ref = refs[get_global_id(0)];
    const uint unit = ref / 32;
    uint at = unit / 16;
    uint bits = kma_load_u32(&marks[at], KMA_RELAXED) & (uint)kma_bits_below(unit % 16 * 2 + 2);
    for (uint left = 4; bits == 0 && left != 0; left--)
        bits = kma_load_u32(&marks[--at], KMA_RELAXED);
    const uint top = 31 - (uint)clz(bits);
    const uint first = at * 16 + top / 2;
    const uint within = ref - first * 32;
    uint slot = within; // units of 16 bytes, single
    uint units = 1;
    if ((top & 1) == 0) {
        const uint header = kma_load_u32(&words[first + 1], KMA_RELAXED);
        units = header >> 16 & 0xff;
        if ((header & MIXED) == 0) {
            slot = within / (header & 0xfff);
        } else {
            const uint count = header & 7;
            uint planes[7];
            for (uint i = 0; i < 7; i++)
                planes[i] = i < count ? kma_load_u32(&words[first + 2 + i], KMA_RELAXED) : 0;
            slot = kma_lane_id();
            if (planes_below(planes, 7, slot) != within) {
                slot = 0;
                for (uint step = 16; step != 0; step /= 2)
                    if (planes_below(planes, 7, slot + step) <= within)
                        slot += step;
            }
        }
    }
    const kma_lanes group = kma_lanes_active();
    const kma_lanes together = kma_lanes_match(group, first, 32);
    const uint mine = kma_lanes_or(group, together, 1u << slot);
    kma_lanes_sync(group);
    if (!kma_lane_leads(together))
        return;
    const uint before = kma_fetch_and_u32(&words[first], ~mine, KMA_RELEASE);
    if ((before & ~mine) != 0)
        return;
    if (before != 0xffffffffu)
        kma_fence(KMA_ACQ_REL);
    kma_fetch_and_u32(&marks[first / 16], ~(3u << (first % 16 * 2)), KMA_RELAXED);
    for (uint word = first / 32; word <= (first + units - 1) / 32; word++) { // three at most
        const uint begin = max(first, word * 32) - word * 32;
        const uint end = min(first + units, word * 32 + 32) - word * 32;
        kma_fetch_and_u32(&used[word], ~(uint)(kma_bits_below(end) & ~kma_bits_below(begin)), KMA_RELAXED);
    }
}
