// Parses declarations of fields, such as "float mass" or "uint path[4]".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kma::c_fields {

inline constexpr std::string_view blanks = " \t\n\r\f\v";

/// Whether `name` is an identifier of OpenCL C.
bool is_identifier(std::string_view name);

/// Size and alignment of a scalar or vector type of OpenCL C, in bytes; 0 for other types. A vector
/// of three has the size of one of four.
std::uint32_t bytes_of(const std::string &type);

/// Splits a text into identifiers, numbers and other single characters.
std::vector<std::string_view> tokens_of(std::string_view text);

struct Field {
    std::string type, name;
    std::uint32_t elements; ///< 1 if not an array
    bool is_array, is_atomic, is_pointer;
};

/// Parses "[atomic] TYPE [*]NAME[COUNT]"; nullopt if the text is no field.
std::optional<Field> parse(const std::string &text);

} // namespace kma::c_fields
