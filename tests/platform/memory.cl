// Every operation of kma/platform/memory.cl in every order under contention, and as messages. Its names for the word that
// the tests are built for: -D WORD=u32 -D ctype=uint, or u64 and ulong.
#include "kma/platform/memory.cl"

#define JOIN_(op, word) kma_##op##_##word
#define JOIN(op, word) JOIN_(op, word)
#define atomic_word JOIN(atomic, WORD)
#define word_load JOIN(load, WORD)
#define word_store JOIN(store, WORD)
#define word_exchange JOIN(exchange, WORD)
#define word_cas JOIN(cas, WORD)
#define word_add JOIN(fetch_add, WORD)
#define word_or JOIN(fetch_or, WORD)
#define word_and JOIN(fetch_and, WORD)

#define TRIES 1000000u

// All work-items on the same words. words[5 * order + …]: 0 a ticket counter, 1 a set filled bit by bit, 2 one emptied,
// 3 a counter raised by compare-and-swap, 4 a place where tokens are exchanged. tickets: work_items * rounds places.
#define CONTEND(number, order)                                                                                         \
    for (uint i = 0; i < rounds; i++)                                                                                  \
        tickets[number * places + (uint)word_add(&words[5 * number], 1, order)] += me + 1;                             \
    won += (word_or(&words[5 * number + 1], bit, order) & bit) == 0 ? 1 : 0;                                           \
    won += (word_and(&words[5 * number + 2], ~bit, order) & bit) != 0 ? 0x10000 : 0;                                   \
    for (uint i = 0; i < rounds; i++) {                                                                                \
        ctype seen = word_load(&words[5 * number + 3], KMA_RELAXED);                                                   \
        bool stored = false;                                                                                           \
        for (uint tries = 0; tries < TRIES && !stored; tries++) { /* a failure is another's success */                 \
            const ctype before = word_cas(&words[5 * number + 3], seen, seen + 1, order);                              \
            stored = before == seen;                                                                                   \
            seen = before;                                                                                             \
        }                                                                                                              \
        raised += stored ? 1 : 0;                                                                                      \
    }                                                                                                                  \
    token = me + 1;                                                                                                    \
    for (uint i = 0; i < rounds; i++)                                                                                  \
        token = word_exchange(&words[5 * number + 4], token, order);                                                   \
    tokens[number * work_items + me] = (uint)token;

// won[me]: in how many of the sets I was the first to change my bit; the low half for filling, the high for emptying.
kernel void together(global atomic_word *words, global uint *tickets, global uint *wins, global uint *raises,
                     global uint *tokens, uint rounds)
{
    const uint me = (uint)get_global_id(0);
    const uint work_items = (uint)get_global_size(0);
    const uint places = work_items * rounds;
    const ctype bit = (ctype)1 << (me % (8 * sizeof(ctype)));
    uint won = 0;
    uint raised = 0;
    ctype token;
    CONTEND(0, KMA_RELAXED)
    CONTEND(1, KMA_ACQUIRE)
    CONTEND(2, KMA_RELEASE)
    CONTEND(3, KMA_ACQ_REL)
    wins[me] = won;
    raises[me] = raised;
}

typedef struct letter {
    uint words[4];
} letter;

static inline uint content(uint writer, uint round, uint i)
{
    return (writer * 64 + round) * 4 + i + 1;
}

// Each work-item writes a letter per round and flags it; then looks, once, whether another's is flagged, and reads it.
// Nobody waits. Before it looks at the flag it reads the letter: an old copy that a cache may keep must be gone once
// the flag was seen. That early read races on purpose; its value goes into `stale` only to be kept by the compiler.
kernel void message(global letter *letters, global atomic_word *flags, global uint *seen, global uint *wrong,
                    global uint *stale, uint rounds)
{
    const uint me = (uint)get_global_id(0);
    const uint work_items = (uint)get_global_size(0);
    uint my_seen = 0;
    uint my_wrong = 0;
    uint my_stale = 0;
    for (uint round = 0; round < rounds; round++) {
        global letter *mine = &letters[round * work_items + me];
        global atomic_word *flag = &flags[round * work_items + me];
        // Half the rounds a work-item of a neighbouring work-group, half one far away.
        const uint step = get_local_size(0) * (round % 2 ? 1 + round : work_items / get_local_size(0) / 2 + round);
        const uint other = (me + step) % work_items;
        global letter *theirs = &letters[round * work_items + other];
        global atomic_word *their_flag = &flags[round * work_items + other];
        my_stale += theirs->words[0] + theirs->words[3];

        for (uint i = 0; i < 4; i++)
            mine->words[i] = content(me, round, i);
        bool flagged = false;
        switch (round % 5) {
        case 0:
            word_store(flag, 1, KMA_RELEASE);
            flagged = word_load(their_flag, KMA_ACQUIRE) != 0;
            break;
        case 1:
            kma_fence(KMA_RELEASE);
            word_store(flag, 1, KMA_RELAXED);
            flagged = word_load(their_flag, KMA_RELAXED) != 0;
            kma_fence(KMA_ACQUIRE);
            break;
        case 2:
            word_exchange(flag, 1, KMA_RELEASE);
            flagged = word_or(their_flag, 0, KMA_ACQUIRE) != 0;
            break;
        case 3: // the second one fails, and must acquire all the same
            word_cas(flag, 0, 1, KMA_ACQ_REL);
            flagged = word_cas(their_flag, 2, 2, KMA_ACQUIRE) != 0;
            break;
        default:
            word_add(flag, 1, KMA_ACQ_REL);
            flagged = word_and(their_flag, ~(ctype)0, KMA_ACQ_REL) != 0;
        }
        if (flagged) {
            my_seen++;
            for (uint i = 0; i < 4; i++)
                my_wrong += theirs->words[i] != content(other, round, i) ? 1 : 0;
        }
    }
    seen[me] = my_seen;
    wrong[me] = my_wrong;
    stale[me] = my_stale;
}
