// Fields as the host declares them, "float mass" or "uint path[4]": names, types and their parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kma::c_fields {

inline constexpr std::string_view blanks = " \t\n\r\f\v";

/// Whether it can name something in OpenCL C.
bool is_identifier(std::string_view name);

/// Bytes of a scalar or vector type of OpenCL C, to which it is aligned, too; 0: it is none. A
/// vector of three is as long as one of four.
std::uint32_t bytes_of(const std::string &type);

/// The parts of a text: identifiers, numbers and single other characters.
std::vector<std::string_view> tokens_of(std::string_view text);

struct Field {
    std::string type, name;
    std::uint32_t elements; ///< 1 if it is no array
    bool is_array, is_atomic, is_pointer;
};

/// "[atomic] TYPE [*]NAME[COUNT]". Nothing if the text is no field.
std::optional<Field> parse(const std::string &text);

} // namespace kma::c_fields
