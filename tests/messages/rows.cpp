// Reads the tables of a Markdown file: | `message` | advice |
#include "rows.hpp"

#include <cstring>
#include <fstream>
#include <stdexcept>

namespace messages {
namespace {

// What `message` says apart from its variable parts.
std::vector<std::string> pieces(const std::string &message)
{
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t at; (at = message.find(anything, begin)) != std::string::npos; begin = at + std::strlen(anything))
        parts.push_back(message.substr(begin, at - begin));
    parts.push_back(message.substr(begin));
    return parts;
}

std::size_t said(const std::string &message)
{
    std::size_t length = 0;
    for (const std::string &piece : pieces(message))
        length += piece.size();
    return length;
}

std::string cell_of(const std::string &text)
{
    const std::size_t begin = text.find_first_not_of(" \t");
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

} // namespace

std::vector<Row> rows(const std::filesystem::path &path)
{
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error("cannot read " + path.string());
    std::vector<Row> all;
    std::string chapter;
    std::string line;
    for (int number = 1; std::getline(file, line); number++) {
        if (line.starts_with("## "))
            chapter = line.substr(3);
        if (!line.starts_with("| `"))
            continue;
        const std::size_t end = line.find("` | ");
        const std::size_t last = line.rfind('|');
        if (end == std::string::npos || last < end + 4)
            throw std::runtime_error(path.string() + ":" + std::to_string(number) +
                                     ": is no row | `message` | advice |");
        all.push_back({chapter, line.substr(3, end - 3), cell_of(line.substr(end + 4, last - end - 4)), number});
    }
    return all;
}

bool matches(const std::string &text, const std::string &message, bool within)
{
    std::vector<std::string> parts = pieces(within ? anything + message + anything : message);
    if (parts.size() == 1)
        return text == message;
    const std::string first = parts.front(), last = parts.back();
    if (text.size() < first.size() + last.size() || !text.starts_with(first) || !text.ends_with(last))
        return false;
    std::size_t at = first.size();
    for (std::size_t i = 1; i + 1 < parts.size(); i++) {
        at = text.find(parts[i], at);
        if (at == std::string::npos)
            return false;
        at += parts[i].size();
    }
    return at <= text.size() - last.size();
}

const Row *best(const std::vector<const Row *> &among, const std::string &text, bool within)
{
    const Row *found = nullptr;
    for (const Row *row : among)
        if (matches(text, row->message, within) && (!found || said(row->message) > said(found->message)))
            found = row;
    return found;
}

} // namespace messages
