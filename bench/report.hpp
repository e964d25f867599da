// What the battery found: rows of figures, and sentences about what was left out or is wrong.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "statistics.hpp"

namespace bench {

/// One figure of one line of a suite.
struct Row {
    std::string suite;
    std::string heap;                  ///< a heap's kind, or what it is compared with
    nlohmann::ordered_json parameters; ///< an object: numbers and words that the line is about
    std::string metric;
    std::string unit;
    Statistics figure;
    std::size_t rounds = 1;         ///< samples that count
    std::uint64_t nulls = 0;        ///< requests of these rounds that got NULL
    std::optional<bool> verified{}; ///< whether contents were right and no blocks overlapped; none: nothing to verify
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

/// A row's parameters for people: "work_items=1024 bytes=16".
std::string in_words(const nlohmann::ordered_json &parameters);

} // namespace bench
