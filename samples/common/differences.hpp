// The result of comparing the device's results with the host's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace samples {

struct Differences {
    std::size_t difference_count = 0;
    std::vector<std::string> differences; ///< the first ten, one sentence each

    bool verified() const noexcept { return difference_count == 0; }

    /// Notes one difference.
    void differ(const std::string &sentence);

    /// Prints them on standard error, one line each, after the program's name.
    void report(const char *program) const;
};

} // namespace samples
