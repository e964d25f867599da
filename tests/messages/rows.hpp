// docs/messages.md as data: its tables, row by row, and which row a message belongs to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace messages {

/// What stands for the variable parts of a message.
inline constexpr const char *anything = "…";

struct Row {
    std::string chapter; ///< the heading of the second level that it stands under
    std::string message; ///< with … for the variable parts
    std::string advice;  ///< the second column
    int line;            ///< in the file
};

std::vector<Row> rows(const std::filesystem::path &file);

/// Whether `text` is `message`, each … of it replaced by something or nothing. `within`: text is longer at both ends.
bool matches(const std::string &text, const std::string &message, bool within = false);

/// Of the rows that match, the one that says most; nullptr if none does.
const Row *best(const std::vector<const Row *> &among, const std::string &text, bool within = false);

} // namespace messages
