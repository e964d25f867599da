// What the samples' main functions do alike.
#pragma once

#include <functional>

namespace samples {

/// Calls `program`, which says whether all went well; the exit code. An exception is a line on
/// standard error.
int run_main(const char *name, const std::function<bool()> &program);

} // namespace samples
