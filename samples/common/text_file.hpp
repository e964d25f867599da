// The text of a file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace samples {

/// Returns the whole file, which may be a pipe. Throws kma::Error if it cannot be read; `what`
/// names the expected contents in the message.
std::string read_text(const std::filesystem::path &path, const char *what);

/// Removes the first line from `text`. Returns it without LF or CR LF.
std::string_view take_line(std::string_view &text);

/// Returns `text` in quotes, fit for a terminal: long text is cut, and any character that is not
/// printable ASCII becomes '?'.
std::string quoted(std::string_view text);

} // namespace samples
