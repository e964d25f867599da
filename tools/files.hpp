// The device code as files.
#pragma once

#include <filesystem>
#include <string>

namespace tool {

/// The folder to compile with -I: where this program is installed, or was built. Throws kma::Error
/// if it is not there.
std::filesystem::path cl_dir();

/// Writes `text` to `path`, or to standard output if it is "-". Throws kma::Error if that fails.
void write_text(const std::string &path, const std::string &text);

} // namespace tool
