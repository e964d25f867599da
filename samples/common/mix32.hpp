// The device's 32-bit hash, on the host.
#pragma once

#include <cstdint>

namespace samples {

/// Same as the device's kma_mix32 (cl/kma/platform/bits.cl).
constexpr std::uint32_t mix32(std::uint32_t x) noexcept
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

} // namespace samples
