#include "participation.hpp"

#include <algorithm>

namespace conformance {
namespace {

std::vector<Participation> &all()
{
    static std::vector<Participation> noted;
    return noted;
}

std::vector<std::string> &texts()
{
    static std::vector<std::string> told;
    return told;
}

} // namespace

const std::vector<Participation> &participations()
{
    return all();
}

void note(Participation one)
{
    const auto is_same = [&](const Participation &other) {
        return other.test == one.test && other.kind == one.kind && other.debug == one.debug;
    };
    if (std::ranges::none_of(all(), is_same))
        all().push_back(std::move(one));
}

const std::vector<std::string> &remarks()
{
    return texts();
}

void remark_text(std::string text)
{
    texts().push_back(std::move(text));
}

} // namespace conformance
