// `kma check`: runs the conformance cases by Catch2, and tabulates the results of check_reporter.
#include "check.hpp"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "catch_run.hpp"
#include "check_reporter.hpp"
#include "heaps.hpp"
#include "participation.hpp"
#include "table.hpp"

namespace tool {
namespace {

// Whether a failure concerns a kind: its messages name the heap. A failure that names none concerns
// all.
bool concerns(const std::string &failure, kma::HeapKind kind)
{
    bool names_any = false;
    for (const conformance::HeapType &type : conformance::heap_types()) {
        const bool named = failure.find(std::string("[") + type.name() + ", ") != std::string::npos;
        if (named && type.kind == kind)
            return true;
        names_any = names_any || named;
    }
    return !names_any;
}

// "ok", "FAILED", "exempt", "debug only"; "-" for a case that is not run for each kind.
std::string verdict(const CaseResult &one, kma::HeapKind kind)
{
    bool took_part = false;
    bool exempt = false;
    bool fast = false;
    for (const conformance::Participation &each : conformance::participations()) {
        if (each.test != one.name || each.kind != kind)
            continue;
        exempt = exempt || !each.exempt_because.empty();
        took_part = took_part || each.exempt_because.empty();
        fast = fast || (each.exempt_because.empty() && !each.debug);
    }
    const bool failed = std::ranges::any_of(
        one.failures, [&](const std::string &failure) { return concerns(failure, kind); });
    if (!took_part)
        return exempt ? "exempt" : failed ? "FAILED" : "-";
    return failed ? "FAILED" : fast ? "ok" : "debug only";
}

// Escapes characters that have a meaning in Catch2's filters.
std::string escaped(const std::string &name)
{
    std::string text;
    for (const char c : name) {
        if (std::string_view("\\,[]\"").find(c) != std::string_view::npos)
            text += '\\';
        text += c;
    }
    return text;
}

std::string seconds(double value)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << value;
    return text.str();
}

std::string cases_table(const CheckResults &results)
{
    std::vector<std::vector<std::string>> lines = {{"case"}};
    for (const conformance::HeapType &type : conformance::heap_types())
        lines[0].push_back(type.name());
    const std::size_t right = lines[0].size();
    lines[0].insert(lines[0].end(), {"checks", "seconds"});
    for (const CaseResult &one : results.cases) {
        lines.push_back({one.name});
        for (const conformance::HeapType &type : conformance::heap_types())
            lines.back().push_back(verdict(one, type.kind));
        lines.back().insert(lines.back().end(), {std::to_string(one.checks), seconds(one.seconds)});
    }
    return table(lines, right);
}

} // namespace

CheckResults run_check(const std::vector<std::string> &names, std::FILE *lines)
{
    std::string filter;
    for (const std::string &name : names)
        filter += (filter.empty() ? "" : ",") + escaped(name);
    CheckResults results{facts_of(test::device().device()), {}, false};
    results.device.selected = true;
    report_cases_to(lines, std::string("kma ") + kma::version() +
                               ": what every heap must do, on\n\n" + to_text(results.device) +
                               '\n');
    std::vector<const char *> arguments = {"kma check", "--reporter", check_reporter};
    if (!filter.empty())
        arguments.push_back(filter.c_str());
    const int status = run_catch(static_cast<int>(arguments.size()), arguments.data());
    results.cases = ended_cases();
    if (results.cases.empty())
        throw kma::Error("no case of the conformance suite is named \"" + joined(names, "\", \"") +
                         "\"; * at either end stands for any text");
    results.passed = status == 0;
    return results;
}

std::string to_text(const CheckResults &results)
{
    std::ostringstream text;
    text << '\n' << cases_table(results) << '\n';
    const auto failed = std::ranges::count_if(
        results.cases, [](const CaseResult &one) { return !one.failures.empty(); });
    for (const CaseResult &one : results.cases)
        for (const std::string &failure : one.failures)
            text << "FAILED: " << one.name << ": " << failure << '\n';
    for (const std::string &remark : conformance::remarks())
        text << "remark: " << remark << '\n';
    text << conformance::exemption_table() << '\n'
         << results.cases.size() << " cases, " << failed
         << " failed: " << (results.passed ? "passed" : "FAILED") << '\n';
    return text.str();
}

void to_json(nlohmann::ordered_json &json, const CheckResults &results)
{
    json = {{"kma", kma::version()}, {"passed", results.passed}, {"device", results.device}};
    for (const CaseResult &one : results.cases) {
        nlohmann::ordered_json heaps;
        for (const conformance::HeapType &type : conformance::heap_types())
            heaps[type.name()] = verdict(one, type.kind);
        json["cases"].push_back({{"name", one.name},
                                 {"heaps", heaps},
                                 {"checks", one.checks},
                                 {"seconds", one.seconds},
                                 {"failures", one.failures}});
    }
    json["remarks"] = conformance::remarks();
}

} // namespace tool
