// Formats tables and lists of text.
#pragma once

#include <string>
#include <vector>

namespace tool {

std::string joined(const std::vector<std::string> &parts, const std::string &between);

/// Formats lines of cells, each column as wide as its widest cell; columns from `right` on are
/// right-aligned.
std::string table(const std::vector<std::vector<std::string>> &lines,
                  std::size_t right = ~std::size_t{0});

} // namespace tool
