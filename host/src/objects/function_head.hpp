// The parameters of a do-all's function, read from the program that defines it.
#pragma once

#include <string>
#include <vector>

#include "kma/source.hpp"

namespace kma {

/// The parameters that follow the leading ones of a function.
struct FunctionHead {
    std::string parameters;         ///< as in a kernel's head: "uint step, global float *x"
    std::vector<std::string> names; ///< of them
};

/// The head of `function` in the first of `sources` that declares or defines it, without its first
/// `own` parameters. Comments are skipped, preprocessor conditions are not evaluated. Throws Error
/// if no source has it, if it has fewer than `own` parameters, or one without a name.
FunctionHead function_head(const std::vector<Source> &sources, const std::string &function,
                           std::size_t own);

} // namespace kma
