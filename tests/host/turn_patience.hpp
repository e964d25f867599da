// How often one looks for what another brings (kma/lockfree/turn.cl): a scenario chooses it anew for each execution.
#pragma once

#include "shim/types.hpp"

inline uint turn_patience = 0;
#define KMA_TURN_PATIENCE turn_patience
