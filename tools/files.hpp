// The device code as files.
#pragma once

#include <filesystem>
#include <string>

namespace tool {

/// The folder for -I: that of the installation, or of the build tree. Throws kma::Error if it does
/// not exist.
std::filesystem::path cl_dir();

/// Writes `text` to `path`, or to standard output if it is "-". Throws kma::Error if that fails.
void write_text(const std::string &path, const std::string &text);

} // namespace tool
