// The version, as defined by the build.
#include "kma/version.hpp"

namespace kma {

const char *version() noexcept
{
    return KMA_VERSION;
}

} // namespace kma
