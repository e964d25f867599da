// The battery's results: rows of figures, and notes about what was left out or is wrong.
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

/// A parameter of a line, such as the number of work-items: a number or a word.
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

/// As text: "work_items=1024 bytes=16".
std::string in_words(const Parameters &parameters);

/// One figure of one line of a suite.
struct Row {
    std::string suite;
    std::string heap; ///< a heap's kind, or an allocator to compare with
    Parameters parameters;
    std::string metric;
    std::string unit;
    Statistics figure;
    std::size_t rounds = 1;  ///< number of samples
    std::uint64_t nulls = 0; ///< requests in these rounds that returned NULL
    /// whether contents were right and no blocks overlapped; nullopt: nothing to verify
    std::optional<bool> verified{};
};

/// What was left out or stopped early, and why.
struct Note {
    std::string suite;   ///< or "all suites"
    std::string subject; ///< a heap's kind, or another allocator; may be empty
    Parameters line;     ///< the line that it concerns; empty: the whole suite
    std::string sentence;
    bool too_large = false; ///< left out because its blocks need more than half of the heap
};

/// As text: "mixed, slab: work_items=1024 bytes=16 is left out".
std::string in_words(const Note &note);

struct Report {
    std::uint64_t heap_bytes = 0;
    bool quick = false;
    double empty_kernel_ms = 0; ///< median over all suites, on the first heap
    std::vector<Row> rows;      ///< in the order in which they were measured
    std::vector<Note> notes;

    /// Whether every row that could be verified was.
    bool passed() const;
};

} // namespace bench
