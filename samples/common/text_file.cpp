// Reads text files.
#include "common/text_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "kma/error.hpp"

namespace samples {

std::string read_text(const std::filesystem::path &path, const char *what)
{
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        throw kma::Error(path.string() + ": is a directory, not a file of " + what);
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw kma::Error(path.string() + ": cannot be opened: " + std::strerror(errno));
    std::string text;
    // A pipe has no size. Of a regular file the size only avoids reallocation.
    if (const auto size = std::filesystem::file_size(path, error); !error)
        text.reserve(size);
    char chunk[1 << 16];
    while (file.read(chunk, sizeof chunk), file.gcount() > 0)
        text.append(chunk, static_cast<std::size_t>(file.gcount()));
    if (file.bad())
        throw kma::Error(path.string() + ": cannot be read: " + std::strerror(errno));
    return text;
}

std::string_view take_line(std::string_view &text)
{
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty() && line.back() == '\r')
        line.remove_suffix(1);
    return line;
}

std::string quoted(std::string_view text)
{
    constexpr std::size_t longest = 40;
    std::string shown(text.substr(0, longest));
    const auto unfit = [](unsigned char c) { return c < 0x20 || c > 0x7e; };
    std::replace_if(shown.begin(), shown.end(), unfit, '?');
    return "'" + shown + (text.size() > longest ? "…'" : "'");
}

} // namespace samples
