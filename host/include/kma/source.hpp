// OpenCL C texts: the user's and kma's own, and how they become one translation unit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kma/heap_kind.hpp"

namespace kma {

/// A text and the name that error messages give it.
struct Source {
    std::string name; ///< as in error messages and, for headers, in `#include "NAME"`
    std::string text; ///< OpenCL C

    /// Reads a file; its name is the path as given. Throws Error if it cannot be read.
    static Source from_file(const std::filesystem::path &path);
};

/// kma's own device files, exactly as they stand in cl/, named as they are included ("kma/kma.cl").
const std::vector<Source> &sources();

/// One text for clCreateProgramWithSource: `units` one after the other, every `#include "NAME"`
/// whose NAME is in `headers` or in sources() replaced by that text. #line directives keep names
/// and line numbers. Other includes stay for the compiler. Macros that `options` (-DNAME) or the
/// units define do not reach kma's texts, except KMA_…. kma/kma.cl brings the one kind of heap that
/// KMA_HEAP is by `options` or the units: give the compiler the same options. Throws Error on a
/// kma/ file that does not exist and on includes that never end.
std::string expand(const std::vector<Source> &units, const std::vector<Source> &headers = {},
                   const std::string &options = {});

/// One self-contained text for programs that do without this library: the API with heaps of `kind`
/// behind kma_malloc, and the kernels that prepare such a heap and read its statistics. Its head
/// says how to use it.
std::string emit(HeapKind kind);

} // namespace kma
