// Counts differences, and keeps the first ones.
#include "common/differences.hpp"

#include <cstdio>

namespace samples {

void Differences::differ(const std::string &sentence)
{
    constexpr std::size_t kept = 10;
    if (difference_count++ < kept)
        differences.push_back(sentence);
}

void Differences::report(const char *program) const
{
    for (const std::string &difference : differences)
        std::fprintf(stderr, "%s: %s\n", program, difference.c_str());
    if (difference_count > differences.size())
        std::fprintf(stderr, "%s: and %zu more differences\n", program,
                     difference_count - differences.size());
}

} // namespace samples
