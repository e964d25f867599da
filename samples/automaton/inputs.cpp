// Reads the inputs.
#include "inputs.hpp"

#include <limits>

#include "common/text_file.hpp"
#include "kma/error.hpp"

namespace automaton {

Inputs parse_inputs(std::string_view text, const std::string &name, std::uint32_t limit)
{
    Inputs inputs;
    while (!text.empty() && inputs.size() < limit) {
        std::string_view line = samples::take_line(text);
        line.remove_prefix(line.rfind('\t') + 1); // without a tab: npos + 1 is 0
        if (line.size() > most_characters)
            throw kma::Error(name + ":" + std::to_string(inputs.size() + 1) +
                             ": a line of more than " + std::to_string(most_characters) +
                             " characters");
        inputs.text += line;
        if (inputs.text.size() > std::numeric_limits<std::uint32_t>::max())
            throw kma::Error(name + ": more than 4 GiB of text; --limit takes the first lines");
        inputs.starts.push_back(static_cast<std::uint32_t>(inputs.text.size()));
    }
    if (inputs.size() == 0)
        throw kma::Error(name + ": the file is empty");
    return inputs;
}

Inputs read_inputs(const std::filesystem::path &path, std::uint32_t limit)
{
    return parse_inputs(samples::read_text(path, "inputs"), path.string(), limit);
}

} // namespace automaton
