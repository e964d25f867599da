#include "bench_report.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench_table.hpp"
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

// Switches off the program caches of NVIDIA's driver and PoCL, unless the environment sets them.
// Drivers read this once, when they are loaded.
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
         << " MiB, an empty kernel takes " << figure_text(figures.empty_kernel_ms) << " ms, on\n\n"
         << to_text(report.device) << '\n'
         << general_notes(figures)
         << "Medians; after each its ratio to the row's best among heaps that reclaim memory (not "
            "bump).\n\n";
    for (const std::string &suite : bench::suite_names())
        text << suite_text(figures, suite);
    std::uint64_t nulls = 0;
    for (const bench::Row &row : figures.rows)
        if (!runs_full(row.suite))
            nulls += row.nulls;
    text << figures.rows.size() << " figures, all of which --json and --csv write; "
         << "NULLs where the heap had room: " << nulls << "; "
         << (report.passed() ? "all verified" : "FAILED") << '\n';
    return text.str();
}

std::string to_csv(const BenchReport &report)
{
    std::vector<std::string> names; // names of all rows' members, parameters after the heap
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
            {"notes", ordered_json::array()},
            {"results", ordered_json::array()}};
    for (const bench::Note &note : figures.notes)
        json["notes"].push_back(bench::in_words(note));
    for (const bench::Row &row : figures.rows)
        json["results"].push_back(row_json(row));
}

} // namespace tool
