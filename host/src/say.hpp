// Sentences with numbers in them.
#pragma once

#include <sstream>
#include <string>

namespace kma {

/// The parts one after the other, as a stream writes them.
template <class... Parts> std::string say(const Parts &...parts)
{
    std::ostringstream text;
    (text << ... << parts);
    return text.str();
}

} // namespace kma
