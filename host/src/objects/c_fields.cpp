// Parses declarations of fields.
#include "objects/c_fields.hpp"

#include <algorithm>
#include <map>

namespace kma::c_fields {
namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
constexpr std::string_view digits = "0123456789";

bool is_in(std::string_view set, char c)
{
    return set.find(c) != set.npos;
}

} // namespace

bool is_identifier(std::string_view name)
{
    return !name.empty() && is_in(letters, name[0]) &&
           std::ranges::all_of(name, [](char c) { return is_in(letters, c) || is_in(digits, c); });
}

std::uint32_t bytes_of(const std::string &type)
{
    static const std::map<std::string, std::uint32_t> scalars = {
        {"char", 1},   {"uchar", 1},          {"short", 2},         {"ushort", 2}, {"half", 2},
        {"int", 4},    {"uint", 4},           {"float", 4},         {"long", 8},   {"ulong", 8},
        {"double", 8}, {"kma_atomic_u32", 4}, {"kma_atomic_u64", 8}};
    static const std::map<std::string, std::uint32_t> widths = {
        {"2", 2}, {"3", 4}, {"4", 4}, {"8", 8}, {"16", 16}};
    if (const auto scalar = scalars.find(type); scalar != scalars.end())
        return scalar->second;
    const std::size_t end = type.find_first_of(digits);
    const std::string element = type.substr(0, end);
    const auto width = widths.find(end == type.npos ? "" : type.substr(end));
    const bool is_vector = scalars.contains(element) && element != "half" && width != widths.end();
    return is_vector ? scalars.at(element) * width->second : 0;
}

std::vector<std::string_view> tokens_of(std::string_view text)
{
    std::vector<std::string_view> tokens;
    for (std::size_t at = text.find_first_not_of(blanks); at < text.size();
         at = text.find_first_not_of(blanks, at)) {
        std::size_t end = at;
        while (end < text.size() && (is_in(letters, text[end]) || is_in(digits, text[end])))
            end++;
        end = std::max(end, at + 1);
        tokens.push_back(text.substr(at, end - at));
        at = end;
    }
    return tokens;
}

std::optional<Field> parse(const std::string &text)
{
    std::vector<std::string_view> tokens = tokens_of(text);
    Field field{
        {},    {},
        1,     tokens.size() > 3 && tokens[tokens.size() - 3] == "[" && tokens.back() == "]",
        false, false};
    if (field.is_array) {
        const std::string_view count = tokens[tokens.size() - 2];
        if (count.size() > 6 ||
            !std::ranges::all_of(count, [](char c) { return is_in(digits, c); }))
            return {};
        field.elements = static_cast<std::uint32_t>(std::stoul(std::string(count)));
        tokens.resize(tokens.size() - 3);
    }
    field.is_atomic = tokens.size() >= 3 && tokens[0] == "atomic";
    if (field.is_atomic)
        tokens.erase(tokens.begin());
    field.is_pointer = tokens.size() == 3 && tokens[1] == "*";
    if (field.is_pointer)
        tokens.erase(tokens.begin() + 1);
    if (field.elements == 0 || tokens.size() != 2 || !std::ranges::all_of(tokens, is_identifier))
        return {};
    field.type = tokens[0];
    field.name = tokens[1];
    return field;
}

} // namespace kma::c_fields
