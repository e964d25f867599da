// The selftest of the atomics of one width. selftest/kernels.cl includes this file for each width,
// with KMA_WORD defined as u32 or u64, and KMA_WORD_TYPE as uint or ulong.
#define KMA_JOIN_(a, b) a##b
#define KMA_JOIN(a, b) KMA_JOIN_(a, b)
#define KMA_WORD_ATOMIC KMA_JOIN(kma_atomic_, KMA_WORD)
#define KMA_WORD_LOAD KMA_JOIN(kma_load_, KMA_WORD)
#define KMA_WORD_STORE KMA_JOIN(kma_store_, KMA_WORD)
#define KMA_WORD_EXCHANGE KMA_JOIN(kma_exchange_, KMA_WORD)
#define KMA_WORD_CAS KMA_JOIN(kma_cas_, KMA_WORD)
#define KMA_WORD_ADD KMA_JOIN(kma_fetch_add_, KMA_WORD)
#define KMA_WORD_OR KMA_JOIN(kma_fetch_or_, KMA_WORD)
#define KMA_WORD_AND KMA_JOIN(kma_fetch_and_, KMA_WORD)

// Returns a number that uses all bits of the word.
static inline KMA_WORD_TYPE KMA_JOIN(kma_selftest_operand_, KMA_WORD)(uint me, uint i)
{
    return (KMA_WORD_TYPE)(((ulong)kma_mix32(me * 12u + i + 7u) << 32) |
                           kma_mix32(me * 12u + i + 1u));
}

// Returns `number` in both halves: a torn or truncated value shows.
static inline KMA_WORD_TYPE KMA_JOIN(kma_selftest_twice_, KMA_WORD)(uint number)
{
    return (KMA_WORD_TYPE)number << (4u * sizeof(KMA_WORD_TYPE)) | number;
}

// Records what the operations return on a word that no other work-item touches. `order` is a
// literal.
static inline void KMA_JOIN(kma_selftest_alone_, KMA_WORD)(global KMA_WORD_ATOMIC *word, uint me,
                                                           global ulong *out, kma_order order)
{
    KMA_WORD_TYPE in[6];
    for (uint i = 0; i < 6; i++)
        in[i] = KMA_JOIN(kma_selftest_operand_, KMA_WORD)(me, i);
    KMA_WORD_STORE(word, in[0], KMA_RELAXED);
    out[0] = KMA_WORD_EXCHANGE(word, in[1], order);
    out[1] = KMA_WORD_CAS(word, in[1], in[2], order);
    out[2] = KMA_WORD_CAS(word, in[1], in[0], order); // must not store
    out[3] = KMA_WORD_ADD(word, in[3], order);
    out[4] = KMA_WORD_OR(word, in[4], order);
    out[5] = KMA_WORD_AND(word, in[5], order);
    out[6] = KMA_WORD_LOAD(word, KMA_RELAXED);
}

// One dimension; a multiple of 256 work-items, fewer than 65,536. The words start as 0, except the
// tickets, which may start anywhere, and the second bit set, which is full.
kernel void KMA_JOIN(kma_selftest_kernel_, KMA_WORD)(global KMA_WORD_ATOMIC *words,
                                                     global kma_selftest_word *sights)
{
    const uint me = (uint)get_global_id(0);
    const uint work_items = (uint)get_global_size(0);
    const uint bits = 8u * sizeof(KMA_WORD_TYPE);
    const uint set_bits = work_items / KMA_SELFTEST_SHARE;
    global KMA_WORD_ATOMIC *filled = words + KMA_SELFTEST_SHARED;
    global KMA_WORD_ATOMIC *emptied = filled + set_bits / bits;
    global KMA_WORD_ATOMIC *own = emptied + set_bits / bits + me;
    global kma_selftest_word *out = &sights[me];
    const KMA_WORD_TYPE twice = KMA_JOIN(kma_selftest_twice_, KMA_WORD)(me + 1);

    for (uint i = 0; i < KMA_SELFTEST_ROUNDS; i++) {
        global KMA_WORD_ATOMIC *tickets = &words[KMA_SELFTEST_TICKETS];
        out->tickets[i] =
            i % 2 ? KMA_WORD_ADD(tickets, 1, KMA_ACQUIRE) : KMA_WORD_ADD(tickets, 1, KMA_RELAXED);
        KMA_WORD_ADD(&words[KMA_SELFTEST_SUMS + (me + i) % 8u], twice, KMA_RELEASE);
    }

    // Each failure has another work-item's success as its cause: as many tries as there are
    // successes in all are enough.
    for (uint i = 0; i < KMA_SELFTEST_ROUNDS; i++) {
        global KMA_WORD_ATOMIC *raised = &words[KMA_SELFTEST_RAISED + i % 2];
        KMA_WORD_TYPE seen = KMA_WORD_LOAD(raised, KMA_ACQUIRE);
        bool stored = false;
        for (uint tries = 0; tries < work_items * KMA_SELFTEST_ROUNDS && !stored; tries++) {
            const KMA_WORD_TYPE before = i % 2 ? KMA_WORD_CAS(raised, seen, seen + 1, KMA_ACQUIRE)
                                               : KMA_WORD_CAS(raised, seen, seen + 1, KMA_ACQ_REL);
            stored = before == seen;
            seen = before;
        }
        out->raised[i] = stored ? seen : KMA_SELFTEST_NEVER;
    }

    const uint bit = me % set_bits;
    const KMA_WORD_TYPE mask = (KMA_WORD_TYPE)1 << (bit % bits);
    const bool set = (KMA_WORD_OR(&filled[bit / bits], mask, KMA_ACQUIRE) & mask) == 0;
    const bool cleared = (KMA_WORD_AND(&emptied[bit / bits], ~mask, KMA_RELEASE) & mask) != 0;
    out->won = (set ? 1 : 0) | (cleared ? 2 : 0);

    KMA_WORD_TYPE token = twice;
    for (uint i = 0; i < KMA_SELFTEST_ROUNDS; i++)
        token = KMA_WORD_EXCHANGE(&words[KMA_SELFTEST_TOKENS + (me + i) % 4u], token, KMA_ACQ_REL);
    out->token = token;
    KMA_WORD_STORE(&words[KMA_SELFTEST_STORED], twice, KMA_RELAXED);
    out->stored = KMA_WORD_LOAD(&words[KMA_SELFTEST_STORED], KMA_RELAXED);

    KMA_JOIN(kma_selftest_alone_, KMA_WORD)(own, me, out->alone, KMA_RELAXED);
    KMA_JOIN(kma_selftest_alone_, KMA_WORD)(own, me, out->alone + KMA_SELFTEST_ALONE, KMA_ACQUIRE);
    KMA_JOIN(kma_selftest_alone_, KMA_WORD)
    (own, me, out->alone + 2 * KMA_SELFTEST_ALONE, KMA_RELEASE);
    KMA_JOIN(kma_selftest_alone_, KMA_WORD)
    (own, me, out->alone + 3 * KMA_SELFTEST_ALONE, KMA_ACQ_REL);
}

#undef KMA_JOIN_
#undef KMA_JOIN
#undef KMA_WORD_ATOMIC
#undef KMA_WORD_LOAD
#undef KMA_WORD_STORE
#undef KMA_WORD_EXCHANGE
#undef KMA_WORD_CAS
#undef KMA_WORD_ADD
#undef KMA_WORD_OR
#undef KMA_WORD_AND
