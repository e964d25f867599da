// Whose turn it is to bring what a crowd lacks: one brings, and the others look meanwhile whether
// it has come, for a while, and then bring their own. So nobody waits for him. The while begins
// anew (looks = 0, not shown) when something has come that was too little, or was gone: that is
// another's progress, and the next one is about to bring more.
//
//   bool mine = false;
//   for (uint looks = 0; looks != KMA_TURN_PATIENCE && !mine; looks++) {
//       kma_turn_pause(looks);
//       mine = kma_turn_take(&turns);
//       if (… what is needed is there …) {
//           if (mine)
//               kma_turn_end(&turns);
//           return …;
//       }
//   }
//   if (!mine)
//       kma_turn_join(&turns);
//   … bring it …
//   kma_turn_end(&turns);
//
// The word, 0 at first, is how many have a turn: mostly one. Of one who is stopped for ever in his
// turn it keeps a trace: all who come later look for the whole while before they bring. Where lanes
// run in lockstep who has the turn cannot go on while his neighbours look: lanes should do all this
// one after the other.
//
// Orders: who takes the turn acquires what the one before released at its end; so he sees what that
// one brought, and looks first whether it suffices. Who joins has no such view, and needs none.
#ifndef KMA_LOCKFREE_TURN_CL
#define KMA_LOCKFREE_TURN_CL

#include "kma/platform/memory.cl"
#include "kma/platform/pause.cl"

// How often one looks for what another brings before he brings his own: together, on GPUs, longer
// than a heap takes for the largest blocks.
#ifndef KMA_TURN_PATIENCE
#define KMA_TURN_PATIENCE 128u
#endif

// Behind so many looks, before the next one; nothing before the first. Half a microsecond, later up
// to four, since thousands who look at one word keep him from it who brings. All 128 take 450 µs,
// where there is a pause.
static inline void kma_turn_pause(uint looks)
{
    if (looks != 0)
        kma_pause(500u << min(looks / 8, 3u));
}

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
