#include "soak_report.hpp"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "table.hpp"

namespace tool {
namespace {

conformance::SoakResult soak_and_tell(const conformance::Subject &subject,
                                      const conformance::SoakOptions &options)
{
    using clock = std::chrono::steady_clock;
    clock::time_point told = clock::now();
    return conformance::soak(subject, options, [&](std::uint64_t pairs) {
        if (clock::now() - told < std::chrono::seconds(5))
            return;
        told = clock::now();
        std::cerr << subject.name() << ": " << pairs << " of " << options.pairs << " pairs\n";
    });
}

std::string rounded(double value, int digits)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return text.str();
}

double nanoseconds_per_pair(const conformance::SoakResult &result)
{
    return result.pairs != 0 ? result.kernel_seconds * 1e9 / static_cast<double>(result.pairs) : 0;
}

} // namespace

bool SoakReport::passed() const
{
    return std::ranges::all_of(heaps, [](const Heap &one) { return one.result.passed(); });
}

SoakReport run_soak(const std::vector<kma::HeapKind> &kinds, int debug,
                    const conformance::SoakOptions &options)
{
    SoakReport report{facts_of(test::device().device()), options, {}};
    report.device.selected = true;
    const test::Flavour fast = test::heap_flavours().front();
    for (const conformance::HeapType &type : conformance::heap_types()) {
        if (std::ranges::find(kinds, type.kind) == kinds.end())
            continue;
        const conformance::Subject subject{&type, fast, debug};
        report.heaps.push_back({subject.name(), soak_and_tell(subject, options)});
    }
    return report;
}

std::string to_text(const SoakReport &report)
{
    std::ostringstream text;
    text << "kma " << kma::version() << ": a soak by " << report.options.work_items
         << " work-items in groups of " << report.options.work_group << ", blocks of up to "
         << report.options.largest << " bytes, on\n\n"
         << to_text(report.device) << '\n';
    std::vector<std::vector<std::string>> lines = {
        {"heap", "pairs verified", "refused", "launches", "kernel seconds", "ns a pair", "wrong"}};
    for (const SoakReport::Heap &one : report.heaps)
        lines.push_back(
            {one.name, std::to_string(one.result.pairs), std::to_string(one.result.refused),
             std::to_string(one.result.launches), rounded(one.result.kernel_seconds, 2),
             rounded(nanoseconds_per_pair(one.result), 3), std::to_string(one.result.wrong)});
    text << table(lines, 1) << '\n';
    for (const SoakReport::Heap &one : report.heaps)
        for (const std::string &finding : one.result.findings)
            text << "FAILED: " << one.name << ": " << finding << '\n';
    text << (report.passed() ? "passed" : "FAILED") << '\n';
    return text.str();
}

void to_json(nlohmann::ordered_json &json, const SoakReport &report)
{
    json = {{"kma", kma::version()},
            {"passed", report.passed()},
            {"device", report.device},
            {"work_items", report.options.work_items},
            {"largest", report.options.largest}};
    for (const SoakReport::Heap &one : report.heaps)
        json["heaps"].push_back({{"heap", one.name},
                                 {"pairs", one.result.pairs},
                                 {"refused", one.result.refused},
                                 {"wrong", one.result.wrong},
                                 {"launches", one.result.launches},
                                 {"kernel_seconds", one.result.kernel_seconds},
                                 {"findings", one.result.findings}});
}

} // namespace tool
