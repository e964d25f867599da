#include "bench_report.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "table.hpp"

namespace tool {
namespace {

using nlohmann::ordered_json;

std::string now()
{
    const std::time_t time = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&time, &utc);
    char text[sizeof "2026-11-22T14:03:00Z"];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

// Three or four digits that count: 0.0301, 12.34, 1234.
std::string short_number(double value)
{
    std::ostringstream text;
    text.precision(4);
    text << value;
    return text.str();
}

const char *verdict(const bench::Row &row)
{
    return !row.verified ? "" : *row.verified ? "yes" : "NO";
}

ordered_json row_json(const bench::Row &row)
{
    ordered_json json = {{"suite", row.suite}, {"heap", row.heap}};
    for (const bench::Parameter &one : row.parameters)
        std::visit([&](const auto &value) { json[one.name] = value; }, one.value);
    json["metric"] = row.metric;
    json["unit"] = row.unit;
    json["median"] = row.figure.median;
    json["min"] = row.figure.min;
    json["max"] = row.figure.max;
    json["cv"] = row.figure.cv;
    json["rounds"] = row.rounds;
    json["nulls"] = row.nulls;
    json["verified"] = row.verified ? ordered_json(*row.verified) : ordered_json(nullptr);
    return json;
}

std::string quoted(const ordered_json &value)
{
    if (value.is_null())
        return "";
    if (!value.is_string())
        return value.dump();
    const std::string text = value.get<std::string>();
    return text.find_first_of(",\"") == std::string::npos ? text : value.dump();
}

std::string suite_table(const std::vector<bench::Row> &rows, const std::string &suite)
{
    std::vector<std::vector<std::string>> lines = {{"heap", "line", "metric", "median", "unit",
                                                    "min", "max", "cv %", "rounds", "NULLs",
                                                    "verified"}};
    for (const bench::Row &row : rows)
        if (row.suite == suite)
            lines.push_back({row.heap, bench::in_words(row.parameters), row.metric,
                             short_number(row.figure.median), row.unit,
                             short_number(row.figure.min), short_number(row.figure.max),
                             short_number(row.figure.cv * 100), std::to_string(row.rounds),
                             std::to_string(row.nulls), verdict(row)});
    return lines.size() > 1 ? suite + "\n" + table(lines, 3) + "\n" : "";
}

// The first that are wrong, and how many more.
std::string failures(const std::vector<bench::Row> &rows)
{
    constexpr std::size_t most = 20;
    std::ostringstream text;
    std::size_t count = 0;
    for (const bench::Row &row : rows)
        if (!row.verified.value_or(true) && count++ < most)
            text << "FAILED: " << row.suite << ", " << row.heap << ", "
                 << bench::in_words(row.parameters) << ", " << row.metric
                 << ": contents or blocks are not as they must be\n";
    if (count > most)
        text << "FAILED: and " << count - most << " more\n";
    return text.str();
}

// Switches off the caches of built programs that NVIDIA's driver and PoCL have, unless the
// environment says otherwise. Drivers read this once, when they are loaded.
void switch_caches_off()
{
    setenv("CUDA_CACHE_DISABLE", "1", 0);
    setenv("POCL_KERNEL_CACHE", "0", 0);
}

} // namespace

BenchReport run_bench(const bench::Options &options, const std::string &command)
{
    using clock = std::chrono::steady_clock;
    if (options.suites == std::vector<std::string>{"compile"})
        switch_caches_off();
    const kma::Device device = kma::Device::select();
    BenchReport report{facts_of(device.device()), now(), command, {}};
    report.device.selected = true;
    clock::time_point told = clock::now();
    report.figures = bench::run(device, options, [&](const std::string &doing) {
        if (clock::now() - told < std::chrono::seconds(2))
            return;
        told = clock::now();
        std::cerr << doing << '\n';
    });
    return report;
}

kma::Source replacement(const std::string &text)
{
    const std::size_t at = text.find('=');
    const std::string name = text.substr(0, at);
    if (at == std::string::npos ||
        std::ranges::none_of(kma::sources(),
                             [&](const kma::Source &source) { return source.name == name; }))
        throw kma::Error("--replace \"" + text +
                         "\" names no file of kma: write kma/heap/NAME.cl=FILE");
    std::ifstream file(text.substr(at + 1));
    if (!file)
        throw kma::Error("cannot read " + text.substr(at + 1) + ", which --replace names");
    return {name, {std::istreambuf_iterator<char>(file), {}}};
}

std::string to_text(const BenchReport &report)
{
    const bench::Report &figures = report.figures;
    std::ostringstream text;
    text << "kma " << kma::version() << ": the benchmark battery"
         << (figures.quick ? ", quick" : "") << ", heaps of " << (figures.heap_bytes >> 20)
         << " MiB, an empty kernel takes " << short_number(figures.empty_kernel_ms) << " ms, on\n\n"
         << to_text(report.device) << '\n';
    for (const std::string &suite : bench::suite_names())
        text << suite_table(figures.rows, suite);
    for (const std::string &note : figures.notes)
        text << "note: " << note << '\n';
    std::uint64_t nulls = 0;
    for (const bench::Row &row : figures.rows)
        // whose heaps run full
        if (row.suite != "fill" && row.suite != "steady" && row.suite != "large")
            nulls += row.nulls;
    text << failures(figures.rows);
    text << figures.rows.size() << " figures; NULLs where the heap had room: " << nulls << "; "
         << (report.passed() ? "all verified" : "FAILED") << '\n';
    return text.str();
}

std::string to_csv(const BenchReport &report)
{
    std::vector<std::string> names; // of all rows' members, parameters behind the heap
    for (const bench::Row &row : report.figures.rows) {
        const ordered_json json = row_json(row);
        for (const auto &[name, value] : json.items())
            if (std::ranges::find(names, name) == names.end()) {
                const auto metric = std::ranges::find(names, "metric");
                const bool parameter =
                    std::ranges::find(row.parameters, name, &bench::Parameter::name) !=
                    row.parameters.end();
                names.insert(parameter ? metric : names.end(), name);
            }
    }
    std::string text = joined(names, ",") + '\n';
    for (const bench::Row &row : report.figures.rows) {
        const ordered_json json = row_json(row);
        std::vector<std::string> cells;
        for (const std::string &name : names)
            cells.push_back(json.contains(name) ? quoted(json[name]) : "");
        text += joined(cells, ",") + '\n';
    }
    return text;
}

void to_json(ordered_json &json, const BenchReport &report)
{
    const bench::Report &figures = report.figures;
    json = {{"kma", kma::version()},
            {"passed", report.passed()},
            {"device", report.device},
            {"driver", report.device.driver},
            {"date", report.date},
            {"options", {{"quick", figures.quick}, {"heap_bytes", figures.heap_bytes}}},
            {"command", report.command},
            {"empty_kernel_ms", figures.empty_kernel_ms},
            {"notes", figures.notes},
            {"results", ordered_json::array()}};
    for (const bench::Row &row : figures.rows)
        json["results"].push_back(row_json(row));
}

} // namespace tool
