// The version that the build gives.
#include "kma/version.hpp"

namespace kma {

const char *version() noexcept
{
    return KMA_VERSION;
}

} // namespace kma
