// Results of the selftest's kernels. The host reads this file as C++ (host/src/selftest/judge.hpp).
#ifndef KMA_SELFTEST_LAYOUT_CL
#define KMA_SELFTEST_LAYOUT_CL

// Atomics (selftest/word.cl) of 32 or 64 bits; results of both are stored in 64 bits.
// KMA_SELFTEST_ALONE: results of the operations on a work-item's own word, for each of four orders.
#define KMA_SELFTEST_ALONE  7
#define KMA_SELFTEST_ROUNDS 4  // fetch_adds and compare-and-swaps of each work-item on shared words
#define KMA_SELFTEST_SHARE  4  // work-items for each bit of the sets
#define KMA_SELFTEST_NEVER  (~(ulong)0) // no compare-and-swap succeeded

// Indices of the words that all work-items share. After them come two bit sets, and one word for
// each work-item.
#define KMA_SELFTEST_TICKETS 0  // incremented by every fetch_add
#define KMA_SELFTEST_STORED  1  // stored to by every work-item
#define KMA_SELFTEST_RAISED  2  // and the next: raised by compare-and-swap
#define KMA_SELFTEST_TOKENS  4  // to 7: where tokens are exchanged
#define KMA_SELFTEST_SUMS    8  // to 15: added to
#define KMA_SELFTEST_SHARED  16 // number of these words

typedef struct kma_selftest_word {
    ulong alone[4 * KMA_SELFTEST_ALONE];
    ulong tickets[KMA_SELFTEST_ROUNDS]; // what fetch_add returned
    ulong raised[KMA_SELFTEST_ROUNDS];  // what the compare-and-swap that succeeded found
    ulong token;                        // the token held at the end
    ulong stored;                       // what a load of the word that all store to returned
    // bit 0: found its bit clear when it set it; bit 1: set when it cleared it
    ulong won;
} kma_selftest_word;

// Messages (selftest/messages.cl): the ways to send them.
#define KMA_SELFTEST_BY_FLAG     0 // store-release, load-acquire
#define KMA_SELFTEST_BY_EXCHANGE 1 // an exchange, acquire and release, finds the previous letter
#define KMA_SELFTEST_BY_CAS      2 // a compare-and-swap, likewise
// an exchange releases; other lanes add to the word, and acquire what they find
#define KMA_SELFTEST_BY_SEQUENCE 3
// one lane exchanges for its group, with kma_lanes_sync before and after
#define KMA_SELFTEST_BY_LEADER   4
#define KMA_SELFTEST_WAYS        5

#define KMA_SELFTEST_LETTER_WORDS 4

typedef struct kma_selftest_letter {
    uint words[KMA_SELFTEST_LETTER_WORDS];
    uint companion; // the id of another letter that is sent with this one, or its own
} kma_selftest_letter;

typedef struct kma_selftest_post {
    uint seen[KMA_SELFTEST_WAYS];  // complete letters from other work-groups
    uint wrong[KMA_SELFTEST_WAYS]; // incomplete letters, from any work-group
    uint first[KMA_SELFTEST_WAYS]; // the first incomplete letter: its id,
    uint word[KMA_SELFTEST_WAYS];  // its wrong word (LETTER_WORDS: the id is invalid),
    uint value[KMA_SELFTEST_WAYS]; // and the value found there
    uint stale;                    // not evaluated
} kma_selftest_post;

// Lanes (selftest/lanes.cl): what one lane passed and got at one place of the control flow.
typedef struct kma_selftest_sight {
    ulong group;
    ulong ballot; // of bit 0 of `value`
    ulong match3; // by the three low bits of `value`
    ulong match32;
    ulong alike;
    ulong key;   // passed to alike
    // the leader's work-item * visits + visit: the same for all lanes that were together, and for
    // no other lane
    uint token;
    uint place;  // in the control flow
    uint lane, rank, count;
    uint flags;  // bit 0: leads, bit 1: in `alike`
    uint value;  // passed to the functions
    uint next, next_value; // a lane of the group, and its value by shuffle
    uint before, total;
    uint classes; // passed to match32
} kma_selftest_sight;

#define KMA_SELFTEST_VISITS 10 // sights of each work-item of kma_selftest_lanes_kernel, at most

#endif
