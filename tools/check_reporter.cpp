// A reporter for Catch2, versions 2 and 3.
#define CATCH_CONFIG_EXTERNAL_INTERFACES // version 2: enables reporters in other files
#include "check_reporter.hpp"

#include <chrono>
#include <cstdio>
#include <sstream>
#include <utility>

#include "catch.hpp"

namespace tool {
namespace {

constexpr std::size_t kept_failures = 20; // per case
constexpr int name_width = 80;

struct CaseLines {
    std::FILE *file = stderr;
    std::string head;
};

CaseLines &case_lines()
{
    static CaseLines lines;
    return lines;
}

#if CATCH_VERSION_MAJOR == 2
template <class Derived> using CatchReporter = Catch::StreamingReporterBase<Derived>;
using Config = const Catch::ReporterConfig &;
using AssertionAnswer = bool; // whether messages may be cleared
#else
template <class Derived> using CatchReporter = Catch::StreamingReporterBase;
using Config = Catch::ReporterConfig &&;
using AssertionAnswer = void;
#endif

std::string text_of(const Catch::AssertionStats &stats)
{
    const Catch::AssertionResult &result = stats.assertionResult;
    std::ostringstream text;
    std::string file = result.getSourceInfo().file;
    file.erase(0, file.rfind('/') + 1);
    text << file << ':' << result.getSourceInfo().line << ": ";
    if (result.hasExpression())
        text << result.getExpressionInMacro() << ", that is " << result.getExpandedExpression();
    if (const std::string message(result.getMessage().data(), result.getMessage().size());
        !message.empty())
        text << (result.hasExpression() ? "; " : "") << message;
    for (const Catch::MessageInfo &info : stats.infoMessages)
        text << " [" << info.message << ']';
    return text.str();
}

class CheckReporter : public CatchReporter<CheckReporter> {
public:
    explicit CheckReporter(Config config)
        : CatchReporter<CheckReporter>(static_cast<Config>(config))
    {
    }

    static std::string getDescription() { return "collects the results for kma check"; }

    void testCaseStarting(const Catch::TestCaseInfo &info) override
    {
        case_ = {info.name, 0, 0, {}};
        CaseLines &lines = case_lines();
        std::fprintf(lines.file, "%s%-*s", lines.head.c_str(), name_width, info.name.c_str());
        std::fflush(lines.file);
        lines.head.clear();
        started_ = std::chrono::steady_clock::now();
    }

#if CATCH_VERSION_MAJOR == 2
    void assertionStarting(const Catch::AssertionInfo &) override {}
#endif

    AssertionAnswer assertionEnded(const Catch::AssertionStats &stats) override
    {
        if (!stats.assertionResult.isOk()) {
            failed_++;
            if (failed_ <= kept_failures)
                case_.failures.push_back(text_of(stats));
        }
        return AssertionAnswer(true);
    }

    void testCaseEnded(const Catch::TestCaseStats &stats) override
    {
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started_;
        case_.seconds = took.count();
        case_.checks = stats.totals.assertions.total();
        if (failed_ > kept_failures)
            case_.failures.push_back("and " + std::to_string(failed_ - kept_failures) + " more");
        failed_ = 0;
        std::fprintf(case_lines().file, " %-6s %5.1f s\n", case_.failures.empty() ? "ok" : "FAILED",
                     case_.seconds);
        std::fflush(case_lines().file);
        ended_cases().push_back(std::move(case_));
    }

private:
    CaseResult case_;
    std::size_t failed_ = 0;
    std::chrono::steady_clock::time_point started_;
};

CATCH_REGISTER_REPORTER("kma-check", CheckReporter)

} // namespace

void report_cases_to(std::FILE *lines, std::string head)
{
    case_lines() = {lines, std::move(head)};
}

std::vector<CaseResult> &ended_cases()
{
    static std::vector<CaseResult> cases;
    return cases;
}

} // namespace tool
