// What the battery found: rows of figures, and sentences about what was left out or is wrong.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "statistics.hpp"

namespace bench {

/// What a line is about, such as how many work-items: a number or a word.
struct Parameter {
    template <std::integral T>
    Parameter(const char *name, T number) : name(name), value(static_cast<std::uint64_t>(number))
    {
    }
    Parameter(const char *name, double number) : name(name), value(number) {}
    Parameter(const char *name, std::string word) : name(name), value(std::move(word)) {}

    std::string name;
    std::variant<std::uint64_t, double, std::string> value;
};
using Parameters = std::vector<Parameter>;

/// For people: "work_items=1024 bytes=16".
std::string in_words(const Parameters &parameters);

/// One figure of one line of a suite.
struct Row {
    std::string suite;
    std::string heap; ///< a heap's kind, or what it is compared with
    Parameters parameters;
    std::string metric;
    std::string unit;
    Statistics figure;
    std::size_t rounds = 1;         ///< samples that count
    std::uint64_t nulls = 0;        ///< requests of these rounds that got NULL
    /// whether contents were right and no blocks overlapped; none: nothing to verify
    std::optional<bool> verified{};
};

struct Report {
    std::uint64_t heap_bytes = 0;
    bool quick = false;
    double empty_kernel_ms = 0;     ///< median of what every suite measured, on the first heap
    std::vector<Row> rows;          ///< in the order in which they were measured
    std::vector<std::string> notes; ///< what was left out or stopped early, and why

    /// Whether every row that could be verified was.
    bool passed() const;
};

} // namespace bench
