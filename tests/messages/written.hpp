// What messages the sources can give, found by reading them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace messages {

struct Written {
    std::string chapter; ///< of docs/messages.md, which shall have it
    std::string message; ///< with … for the variable parts
    std::string where;   ///< file:line
};

/// All of them under the project's root. Throws std::runtime_error on a throw that it cannot read, so that none is left
/// out unseen.
std::vector<Written> written(const std::filesystem::path &root);

} // namespace messages
