// What the selftest's kernels leave for the host, which reads this file as C++
// (host/src/selftest/judge.hpp).
#ifndef KMA_SELFTEST_LAYOUT_CL
#define KMA_SELFTEST_LAYOUT_CL

// Atomics, selftest/word.cl. A width of 32 or 64 bits; results of both are kept in 64.
// results of the operations on a word of one's own, in one order; there are four orders
#define KMA_SELFTEST_ALONE  7
#define KMA_SELFTEST_ROUNDS 4  // fetch_adds and compare-and-swaps of each work-item on shared words
#define KMA_SELFTEST_SHARE  4  // work-items for each bit of the sets
#define KMA_SELFTEST_NEVER  (~(ulong)0) // no compare-and-swap succeeded

// The places of the words that all share; behind them come two bit sets, and a word for each
// work-item.
#define KMA_SELFTEST_TICKETS 0  // raised by one with every fetch_add
#define KMA_SELFTEST_STORED  1  // stored to by all
#define KMA_SELFTEST_RAISED  2  // and the next: raised by compare-and-swap
#define KMA_SELFTEST_TOKENS  4  // to 7: where tokens are exchanged
#define KMA_SELFTEST_SUMS    8  // to 15: added to
#define KMA_SELFTEST_SHARED  16 // of these words

typedef struct kma_selftest_word {
    ulong alone[4 * KMA_SELFTEST_ALONE];
    ulong tickets[KMA_SELFTEST_ROUNDS]; // what fetch_add returned
    ulong raised[KMA_SELFTEST_ROUNDS];  // what the compare-and-swap that succeeded found
    ulong token;                        // the one held in the end
    ulong stored;                       // what a load of the word that all store to returned
    // bit 0: found its bit clear when it set it; bit 1: set when it cleared it
    ulong won;
} kma_selftest_word;

// Messages, selftest/messages.cl: the ways by which they are sent.
#define KMA_SELFTEST_BY_FLAG     0 // store-release, load-acquire
#define KMA_SELFTEST_BY_EXCHANGE 1 // an exchange, acquire and release, finds the letter before
#define KMA_SELFTEST_BY_CAS      2 // so does a compare-and-swap
// an exchange releases, then others add to the word, and what they find acquires
#define KMA_SELFTEST_BY_SEQUENCE 3
// one lane exchanges for its group, which meets in kma_lanes_sync before and after
#define KMA_SELFTEST_BY_LEADER   4
#define KMA_SELFTEST_WAYS        5

#define KMA_SELFTEST_LETTER_WORDS 4

typedef struct kma_selftest_letter {
    uint words[KMA_SELFTEST_LETTER_WORDS];
    uint companion; // the id of another letter that is sent with this one, or its own
} kma_selftest_letter;

typedef struct kma_selftest_post {
    uint seen[KMA_SELFTEST_WAYS];  // letters from other work-groups
    uint wrong[KMA_SELFTEST_WAYS]; // letters that were not there in full, from whomever
    uint first[KMA_SELFTEST_WAYS]; // the first of these: its id,
    uint word[KMA_SELFTEST_WAYS];  // the word of it that was wrong (LETTER_WORDS: the id itself),
    uint value[KMA_SELFTEST_WAYS]; // and what stood there
    uint stale;                    // of no meaning
} kma_selftest_post;

// Lanes, selftest/lanes.cl: what one lane saw and gave at one place of the flow.
typedef struct kma_selftest_sight {
    ulong group;
    ulong ballot; // of lanes that gave bit 0 of `value`
    ulong match3; // by the three low bits of `value`
    ulong match32;
    ulong alike;
    ulong key;   // given to alike
    // of the leader: his work-item and visit. The same for all who were together, and for nobody
    // else.
    uint token;
    uint place;  // in the flow
    uint lane, rank, count;
    uint flags;  // bit 0: leads, bit 1: in `alike`
    uint value;  // given
    uint next, next_value; // a lane of the group, and its value by shuffle
    uint before, total;
    uint classes; // given to match32
} kma_selftest_sight;

#define KMA_SELFTEST_VISITS 10 // sights of each work-item of kma_selftest_lanes_kernel, at most

#endif
