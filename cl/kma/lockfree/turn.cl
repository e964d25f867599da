// A turn: of many work-items that need a resource, such as an extent, one supplies it. The others
// poll a bounded number of times, then supply their own: no work-item depends on another. The
// polling starts over (looks = 0, not shown) when a resource arrived that was too small or already
// used up: another work-item made progress, and the next one is about to supply more.
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
// The word, 0 at first, is the number of work-items with a turn, mostly one. If one stops for ever
// in its turn, the word stays above 0: all later ones first poll to the limit. Where lanes run in
// lockstep, a lane with the turn cannot go on while its neighbours poll: lanes should do all this
// one after the other.
//
// Orders: taking the turn acquires, ending it releases. The taker sees what the last turn supplied,
// and first checks whether that suffices. Joining is relaxed.
#ifndef KMA_LOCKFREE_TURN_CL
#define KMA_LOCKFREE_TURN_CL

#include "kma/platform/memory.cl"
#include "kma/platform/pause.cl"

// Polls for a resource from another work-item, before a work-item supplies its own. On GPUs their
// total time exceeds a heap's time for the largest blocks.
#ifndef KMA_TURN_PATIENCE
#define KMA_TURN_PATIENCE 128u
#endif

// Pauses before the next look: not before the first; then 0.5 µs, later up to 4 µs. Thousands that
// load one word would slow down the work-item with the turn. All 128 pauses take 450 µs, where
// there are any.
static inline void kma_turn_pause(uint looks)
{
    if (looks != 0)
        kma_pause(500u << min(looks / 8, 3u));
}

// Takes the turn. False if another work-item has one. Acquires.
static inline bool kma_turn_take(global kma_atomic_u32 *turns)
{
    return kma_load_u32(turns, KMA_RELAXED) == 0 && kma_cas_u32(turns, 0, 1, KMA_ACQUIRE) == 0;
}

// Gives the caller a turn, too. Relaxed.
static inline void kma_turn_join(global kma_atomic_u32 *turns)
{
    kma_fetch_add_u32(turns, 1, KMA_RELAXED);
}

// Ends the caller's turn. Releases.
static inline void kma_turn_end(global kma_atomic_u32 *turns)
{
    kma_fetch_add_u32(turns, 0u - 1u, KMA_RELEASE);
}

#endif
