// OpenCL C sources, the user's and kma's, and their expansion into one translation unit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kma/heap_kind.hpp"

namespace kma {

/// A source text and its name in error messages.
struct Source {
    std::string name; ///< name in error messages and, for headers, in `#include "NAME"`
    std::string text; ///< OpenCL C

    /// Reads a file; the name is `path` as given. Throws Error if it cannot be read.
    static Source from_file(const std::filesystem::path &path);
};

/// kma's device files, byte for byte as in cl/, named as in includes ("kma/kma.cl").
const std::vector<Source> &sources();

/// Returns one text for clCreateProgramWithSource: the `units` in order, with every `#include
/// "NAME"` of a file in `headers` or sources() expanded. #line directives preserve names and line
/// numbers; other includes are left to the compiler. Throws Error for a kma/ file that does not
/// exist and for includes without end.
///
/// Macros that `options` (-DNAME) or the units define do not reach kma's files, except KMA_….
/// kma/kma.cl includes only the heap that `options` or the units name as KMA_HEAP: the compiler
/// must get the same options.
std::string expand(const std::vector<Source> &units, const std::vector<Source> &headers = {},
                   const std::string &options = {});

/// Returns one self-contained text for programs without this library: the API for heaps of `kind`,
/// and the kernels that initialise such a heap and read its statistics. Its head says how to use
/// it.
std::string emit(HeapKind kind);

} // namespace kma
