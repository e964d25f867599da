// What the tests tell beside pass and fail, for reports: which kinds took part in which test, which were exempt and why,
// and remarks.
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
const std::vector<Participation> &participations();

/// Notes one, unless it is there.
void note(Participation one);

/// Sentences with figures, such as times, in the order of the tests.
const std::vector<std::string> &remarks();

void remark_text(std::string text);

/// The parts one after the other, as a stream writes them.
template <class... Parts> void remark(const Parts &...parts)
{
    std::ostringstream text;
    (text << ... << parts);
    remark_text(text.str());
}

} // namespace conformance
