#include "table.hpp"

#include <algorithm>

namespace tool {

std::string joined(const std::vector<std::string> &parts, const std::string &between)
{
    std::string text;
    for (const std::string &part : parts)
        text += (text.empty() ? "" : between) + part;
    return text;
}

std::string table(const std::vector<std::vector<std::string>> &lines, std::size_t right)
{
    std::vector<std::size_t> widths;
    for (const auto &line : lines) {
        widths.resize(std::max(widths.size(), line.size()));
        for (std::size_t i = 0; i < line.size(); i++)
            widths[i] = std::max(widths[i], line[i].size());
    }
    std::string text;
    for (const auto &line : lines) {
        std::string row;
        for (std::size_t i = 0; i < line.size(); i++) {
            const std::string padding(widths[i] - line[i].size(), ' ');
            row += (i == 0 ? "" : "  ") + (i < right ? line[i] + padding : padding + line[i]);
        }
        text += row.substr(0, row.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
}

} // namespace tool
