// The selftest of messages: a reader that acquires a released word finds what was written before
// the release.
//
// In each round every work-item
// 1. writes a letter,
// 2. posts it in the round's way,
// 3. looks once for a letter that another work-item posted, and reads that.
//
// No work-item waits. Most ways use one word for all work-items: a letter is read as soon as
// possible after it is posted, and there are letters to read even on a device that runs its
// work-groups one after the other.
#ifndef KMA_SELFTEST_MESSAGES_CL
#define KMA_SELFTEST_MESSAGES_CL

#include "kma/selftest/layout.cl"
#include "kma/platform/lanes.cl"
#include "kma/platform/memory.cl"

// Letters have ids from 1 on: me + 1 in the first round, and one more per work-item in each further
// round.
static inline uint kma_selftest_content(uint id, uint word)
{
    return kma_mix32(id * KMA_SELFTEST_LETTER_WORDS + word);
}

static inline void kma_selftest_write(global kma_selftest_letter *letters, uint id, uint companion)
{
    global kma_selftest_letter *letter = &letters[id - 1];
    for (uint i = 0; i < KMA_SELFTEST_LETTER_WORDS; i++)
        letter->words[i] = kma_selftest_content(id, i);
    letter->companion = companion;
}

static inline void kma_selftest_complain(global kma_selftest_post *post, uint way, uint id,
                                         uint word, uint value)
{
    if (post->wrong[way]++ != 0)
        return;
    post->first[way] = id;
    post->word[way] = word;
    post->value[way] = value;
}

// True if the letter is complete; else records its first wrong word.
static inline bool kma_selftest_read(global const kma_selftest_letter *letters, uint most, uint id,
                                     uint way, global kma_selftest_post *post)
{
    if (id - 1 >= most) { // not a valid id
        kma_selftest_complain(post, way, id, KMA_SELFTEST_LETTER_WORDS, id);
        return false;
    }
    for (uint i = 0; i < KMA_SELFTEST_LETTER_WORDS; i++) {
        const uint value = letters[id - 1].words[i];
        if (value != kma_selftest_content(id, i)) {
            kma_selftest_complain(post, way, id, i, value);
            return false;
        }
    }
    return true;
}

// Reads letter `id` (0: none) and the letter that was sent with it.
static inline void kma_selftest_receive(global const kma_selftest_letter *letters, uint most,
                                        uint id, uint way, global kma_selftest_post *post)
{
    if (id == 0 || !kma_selftest_read(letters, most, id, way, post))
        return;
    const uint companion = letters[id - 1].companion;
    if (companion != id)
        kma_selftest_read(letters, most, companion, way, post);
    const uint writer = (id - 1) % (uint)get_global_size(0);
    post->seen[way] += writer / (uint)get_local_size(0) != (uint)get_group_id(0) ? 1 : 0;
}

// The ways. Each posts letter `id` and returns the id of a letter that it found posted; 0 for none.

// Posts by the letter's own flag and looks at the flag of the work-item `distance` away. Reads that
// work-item's letter before its flag, too: a stale copy in a cache must be gone once the flag is
// seen. This read races on purpose; `stale` keeps the compiler from removing it.
static inline uint kma_selftest_by_flag(global kma_selftest_letter *letters,
                                        global kma_atomic_u32 *flags, uint id, uint distance,
                                        global uint *stale)
{
    const uint work_items = (uint)get_global_size(0);
    const uint first = (id - 1) / work_items * work_items; // of this round
    const uint other = first + (id - 1 - first + distance) % work_items;
    *stale += letters[other].words[0];
    kma_selftest_write(letters, id, id);
    kma_store_u32(&flags[id - 1], 1, KMA_RELEASE);
    return kma_load_u32(&flags[other], KMA_ACQUIRE) != 0 ? other + 1 : 0;
}

static inline uint kma_selftest_by_exchange(global kma_selftest_letter *letters,
                                            global kma_atomic_u32 *box, uint id)
{
    kma_selftest_write(letters, id, id);
    return kma_exchange_u32(box, id, KMA_ACQ_REL);
}

// The letter found may be read whether the compare-and-swap stored or not.
static inline uint kma_selftest_by_cas(global kma_selftest_letter *letters,
                                       global kma_atomic_u32 *box, uint id)
{
    kma_selftest_write(letters, id, id);
    uint found = kma_load_u32(box, KMA_RELAXED);
    for (uint tries = 0; tries < 4; tries++) {
        const uint before = kma_cas_u32(box, found, id, KMA_ACQ_REL);
        if (before == found)
            break;
        found = before;
    }
    return found;
}

// The high half of the word is the letter, the low half counts the lanes that found it, as in the
// superblock heap's offers.
static inline uint kma_selftest_by_sequence(global kma_selftest_letter *letters,
                                            global kma_atomic_u32 *box, uint id)
{
    if (id % 2 == 0)
        return kma_fetch_add_u32(box, 1, KMA_ACQUIRE) >> 16;
    kma_selftest_write(letters, id, id);
    return kma_exchange_u32(box, id << 16, KMA_ACQ_REL) >> 16;
}

// The leader posts its own letter, which names that of the group's last lane. All lanes read what
// the leader found.
static inline uint kma_selftest_by_leader(global kma_selftest_letter *letters,
                                          global kma_atomic_u32 *box, uint id)
{
    const kma_lanes group = kma_lanes_active();
    const uint last = kma_lanes_shuffle(group, id, kma_highest_bit(group));
    kma_selftest_write(letters, id, last);
    kma_lanes_sync(group);
    uint found = 0;
    if (kma_lane_leads(group))
        found = kma_exchange_u32(box, id, KMA_ACQ_REL);
    found = kma_lanes_first(group, found);
    kma_lanes_sync(group);
    return found;
}

// One dimension; work-items times rounds are fewer than 65,536. All words start as 0: `letters` and
// `flags` for each work-item and round, `boxes` for each way, `posts` for each work-item. `step`:
// work-groups by which the distance between flags grows each round.
kernel void kma_selftest_messages_kernel(global kma_selftest_letter *letters,
                                         global kma_atomic_u32 *flags, global kma_atomic_u32 *boxes,
                                         global kma_selftest_post *posts, uint rounds, uint step)
{
    const uint work_items = (uint)get_global_size(0);
    global kma_selftest_post *post = &posts[get_global_id(0)];
    for (uint round = 0; round < rounds; round++) {
        const uint id = round * work_items + (uint)get_global_id(0) + 1;
        const uint way = round % KMA_SELFTEST_WAYS;
        uint found;
        switch (way) {
        case KMA_SELFTEST_BY_FLAG:
            found = kma_selftest_by_flag(
                letters, flags, id, (uint)get_local_size(0) * (1 + round * step), &post->stale);
            break;
        case KMA_SELFTEST_BY_EXCHANGE:
            found = kma_selftest_by_exchange(letters, &boxes[way], id);
            break;
        case KMA_SELFTEST_BY_CAS:
            found = kma_selftest_by_cas(letters, &boxes[way], id);
            break;
        case KMA_SELFTEST_BY_SEQUENCE:
            found = kma_selftest_by_sequence(letters, &boxes[way], id);
            break;
        default:
            found = kma_selftest_by_leader(letters, &boxes[way], id);
        }
        kma_selftest_receive(letters, work_items * rounds, found, way, post);
    }
}

#endif
