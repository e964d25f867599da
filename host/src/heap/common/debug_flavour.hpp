// The values of KMA_DEBUG.
#pragma once

#include <string>

#include "kma/error.hpp"

namespace kma {

/// Throws Error if `debug` is no value of KMA_DEBUG; `options` is the name of the options in the
/// message.
inline void check_debug(const std::string &options, int debug)
{
    if (debug < 0 || debug > 3)
        throw Error(options + "::debug = " + std::to_string(debug) +
                    " is no KMA_DEBUG: give 0 (fast), 1 (headers and refs checked), 2 (red zones "
                    "and quarantine) or "
                    "3 (call sites too)");
}

} // namespace kma
