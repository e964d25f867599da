// What the samples' main functions share.
#pragma once

#include <functional>

namespace samples {

/// Calls `program`, which returns whether it succeeded. Returns the exit code. Prints an exception
/// as a line on standard error.
int run_main(const char *name, const std::function<bool()> &program);

} // namespace samples
