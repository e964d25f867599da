// Builds messages from text and numbers.
#pragma once

#include <locale>
#include <sstream>
#include <string>

namespace kma {

/// Concatenates the parts as a stream writes them, in the C locale.
template <class... Parts> std::string say(const Parts &...parts)
{
    std::ostringstream text;
    text.imbue(std::locale::classic());
    (text << ... << parts);
    return text.str();
}

} // namespace kma
