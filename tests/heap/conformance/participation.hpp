// What the tests tell beside pass and fail, for reports: which kinds took part in which test, which were exempt and
// why, and remarks.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "kma/kma.hpp"

namespace conformance {

struct Participation {
    std::string test;
    kma::HeapKind kind;
    bool debug;
    std::string exempt_because; ///< empty: it took part
};

/// In the order in which the tests asked, each combination of test, kind and debug once.
inline std::vector<Participation> &participations()
{
    static std::vector<Participation> noted;
    return noted;
}

/// Notes one, unless it is there.
inline void note(const Participation &one)
{
    for (const Participation &other : participations())
        if (other.test == one.test && other.kind == one.kind && other.debug == one.debug)
            return;
    participations().push_back(one);
}

/// Sentences with figures, such as times, in the order of the tests.
inline std::vector<std::string> &remarks()
{
    static std::vector<std::string> told;
    return told;
}

/// The parts one after the other, as a stream writes them.
template <class... Parts> void remark(const Parts &...parts)
{
    std::ostringstream text;
    (text << ... << parts);
    remarks().push_back(text.str());
}

} // namespace conformance
