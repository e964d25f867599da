// memory.cl's names for the word that the tests are built for: -D WORD=u32 -D ctype=uint, or u64 and ulong.
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
