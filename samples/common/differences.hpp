// What a comparison of the device's results with the host's own found out.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace samples {

struct Differences {
    std::size_t difference_count = 0;
    std::vector<std::string> differences; ///< the first ten, as sentences

    bool verified() const noexcept { return difference_count == 0; }

    /// Notes one more.
    void differ(const std::string &sentence);

    /// Says them on standard error, each as a line that begins with the name of the program.
    void report(const char *program) const;
};

} // namespace samples
