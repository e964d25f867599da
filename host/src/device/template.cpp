// Texts with named placeholders.
#include "device/template.hpp"

namespace kma {

std::string fill_template(std::string_view text,
                          const std::map<std::string_view, std::string> &values)
{
    std::string filled;
    for (std::size_t begin = text.find('$'); begin != text.npos; begin = text.find('$')) {
        const std::size_t end = text.find('$', begin + 1);
        filled += text.substr(0, begin);
        filled += values.at(text.substr(begin + 1, end - begin - 1));
        text.remove_prefix(end + 1);
    }
    return filled.append(text);
}

} // namespace kma
