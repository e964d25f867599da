// A file's text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace samples {

/// All of the file, which may be a pipe. Throws kma::Error if it cannot be read; `what` says what
/// should be in it.
std::string read_text(const std::filesystem::path &path, const char *what);

/// The file's first line, without LF or CR LF; takes it off `text`.
std::string_view take_line(std::string_view &text);

/// `text` in quotes, fit for a terminal: cut if long, other than plain characters as '?'.
std::string quoted(std::string_view text);

} // namespace samples
