// Sentences with numbers in them.
#pragma once

#include <locale>
#include <sstream>
#include <string>

namespace kma {

/// The parts one after the other, as a stream writes them; numbers as in OpenCL C, whatever the
/// program's locale is.
template <class... Parts> std::string say(const Parts &...parts)
{
    std::ostringstream text;
    text.imbue(std::locale::classic());
    (text << ... << parts);
    return text.str();
}

} // namespace kma
