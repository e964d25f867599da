// How often a thread looks for what another brings (kma/lockfree/turn.cl): a scenario chooses it anew for each
// execution. And what happens between two looks of a lone caller.
#pragma once

#include <functional>

#include "shim/types.hpp"
#include "kma/platform/pause.cl"

inline uint turn_patience = 0;
#define KMA_TURN_PATIENCE turn_patience

inline std::function<void()> turn_paused; // called at each pause; of a lone caller only
inline void turn_pause(uint)
{
    if (turn_paused)
        turn_paused();
}
#define kma_pause(...) turn_pause(__VA_ARGS__)
