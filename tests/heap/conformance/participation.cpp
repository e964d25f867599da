#include "participation.hpp"

#include <algorithm>

namespace conformance {
namespace {

std::vector<Participation> noted;
std::vector<std::string> told;

} // namespace

const std::vector<Participation> &participations()
{
    return noted;
}

void note(Participation one)
{
    const auto is_same = [&](const Participation &other) {
        return other.test == one.test && other.kind == one.kind && other.debug == one.debug;
    };
    if (std::ranges::none_of(noted, is_same))
        noted.push_back(std::move(one));
}

const std::vector<std::string> &remarks()
{
    return told;
}

void remark_text(std::string text)
{
    told.push_back(std::move(text));
}

} // namespace conformance
