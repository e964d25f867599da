// kma's version.
#pragma once

namespace kma {

/// The library's version, "MAJOR.MINOR.PATCH".
const char *version() noexcept;

} // namespace kma
