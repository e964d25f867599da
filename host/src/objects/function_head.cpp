// Finds a function's head by its text: the name, its parentheses, and a body or a semicolon.
#include "objects/function_head.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "kma/error.hpp"
#include "objects/c_fields.hpp"
#include "support/say.hpp"

namespace kma {
namespace {

using c_fields::blanks, c_fields::is_identifier, c_fields::tokens_of;

bool is_in_name(char c)
{
    return is_identifier(std::string("_") + c);
}

// The text with blanks in place of comments and of what strings hold.
std::string without_comments(const std::string &text)
{
    std::string code = text;
    for (std::size_t at = 0; at < code.size();) {
        std::size_t end = at + 1;
        if (code.compare(at, 2, "//") == 0)
            end = std::min(code.find('\n', at), code.size());
        else if (code.compare(at, 2, "/*") == 0)
            end = std::min(code.find("*/", at + 2), code.size() - 2) + 2;
        else if (code[at] == '"') {
            while (end < code.size() && code[end] != '"')
                end += code[end] == '\\' ? 2 : 1;
            end = std::min(end + 1, code.size());
        }
        if (end - at > 1)
            code.replace(at, end - at, end - at, ' ');
        at = end;
    }
    return code;
}

// Whether the text before a name may be a return type: not that of a call.
bool ends_a_type(std::string_view before)
{
    const std::vector<std::string_view> tokens =
        tokens_of(before.substr(before.size() - std::min<std::size_t>(before.size(), 64)));
    return !tokens.empty() && (tokens.back() == "*" || is_identifier(tokens.back())) &&
           tokens.back() != "return" && tokens.back() != "else" && tokens.back() != "do";
}

// The text between the parentheses after the name in its definition or declaration.
std::optional<std::string> parameters_in(const std::string &code, const std::string &function)
{
    for (std::size_t at = code.find(function); at != code.npos; at = code.find(function, at + 1)) {
        const std::size_t open = code.find_first_not_of(blanks, at + function.size());
        const std::size_t close = code.find(')', at);
        if (at == 0 || is_in_name(code[at - 1]) || open == code.npos || close == code.npos ||
            code[open] != '(' || !ends_a_type(std::string_view(code).substr(0, at)))
            continue;
        const std::size_t behind = code.find_first_not_of(blanks, close + 1);
        if (behind != code.npos && (code[behind] == '{' || code[behind] == ';'))
            return code.substr(open + 1, close - open - 1);
    }
    return std::nullopt;
}

std::string trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == text.npos)
        return {};
    return std::string(text.substr(first, text.find_last_not_of(blanks) + 1 - first));
}

} // namespace

FunctionHead function_head(const std::vector<Source> &sources, const std::string &function,
                           std::size_t own)
{
    std::optional<std::string> found;
    for (std::size_t i = 0; i < sources.size() && !found; i++)
        found = parameters_in(without_comments(sources[i].text), function);
    if (!found)
        throw Error(
            say("the program has no function ", function,
                "; define it in one of the sources that World gets, and if a macro makes it, "
                "declare it there"));
    FunctionHead head;
    std::size_t count = 0;
    for (std::size_t at = 0; at <= found->size(); count++) {
        const std::size_t end = std::min(found->find(',', at), found->size());
        const std::string parameter = trimmed(std::string_view(*found).substr(at, end - at));
        at = end + 1;
        if (count < own)
            continue;
        const std::vector<std::string_view> tokens = tokens_of(parameter);
        if (tokens.size() < 2 || !is_identifier(tokens.back()))
            throw Error(say("parameter \"", parameter, "\" of ", function,
                            " has no name; give it one"));
        head.parameters += (head.names.empty() ? "" : ", ") + parameter;
        head.names.emplace_back(tokens.back());
    }
    if (count < own)
        throw Error(say(function, " has ", count, " parameters, and must have the first ", own,
                        own == 2 ? ": kma_world *w, CLASS self"
                                 : ": kma_world *w, CLASS self, uint index"));
    return head;
}

} // namespace kma
