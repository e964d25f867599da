// Whose turn it is to bring what a crowd lacks: one brings, and the others look meanwhile whether it has come, for a while,
// and then bring their own. So nobody waits for him.
//
//   bool mine = false;
//   for (uint looks = KMA_TURN_PATIENCE; looks != 0 && !mine; looks--) {
//       mine = kma_turn_take(&turns);
//       if (… what is needed is there …) {
//           if (mine)
//               kma_turn_end(&turns);
//           return …;
//       }
//       if (!mine)
//           kma_pause(KMA_TURN_PAUSE);
//   }
//   if (!mine)
//       kma_turn_join(&turns);
//   … bring it …
//   kma_turn_end(&turns);
//
// The word, 0 at first, is how many have a turn: mostly one. Of one who is stopped for ever in his turn it keeps a trace: all
// who come later look for the whole while before they bring. Where lanes run in lockstep who has the turn cannot go on while
// his neighbours look: lanes should do all this one after the other.
//
// Orders: who takes the turn acquires what the one before released at its end; so he sees what that one brought, and looks
// first whether it suffices. Who joins has no such view, and needs none.
#ifndef KMA_LOCKFREE_TURN_CL
#define KMA_LOCKFREE_TURN_CL

#include "kma/platform/memory.cl"
#include "kma/platform/pause.cl"

// How often one looks for what another brings before he brings his own, and how long he pauses in between, in nanoseconds:
// together longer than a heap takes for a large block.
#ifndef KMA_TURN_PATIENCE
#define KMA_TURN_PATIENCE 256u
#endif
#define KMA_TURN_PAUSE 500u

// Whether nobody has a turn, and now the caller has.
static inline bool kma_turn_take(global kma_atomic_u32 *turns)
{
    return kma_load_u32(turns, KMA_RELAXED) == 0 && kma_cas_u32(turns, 0, 1, KMA_ACQUIRE) == 0;
}

// The caller has a turn, beside those who have one.
static inline void kma_turn_join(global kma_atomic_u32 *turns)
{
    kma_fetch_add_u32(turns, 1, KMA_RELAXED);
}

// The caller's turn ends.
static inline void kma_turn_end(global kma_atomic_u32 *turns)
{
    kma_fetch_add_u32(turns, 0u - 1u, KMA_RELEASE);
}

#endif
