// Which kma this is.
#pragma once

namespace kma {

/// The library's version, "MAJOR.MINOR.PATCH".
const char *version() noexcept;

} // namespace kma
