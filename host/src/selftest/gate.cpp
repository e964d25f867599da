// Runs the selftest before the first heap or queue on a device.
#include "selftest/gate.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "kma/error.hpp"
#include "support/say.hpp"

namespace kma {
namespace {

bool wanted()
{
    const char *variable = std::getenv("KMA_SELFTEST");
    const std::string_view value = variable ? variable : "";
    if (value == "off")
        return false;
    if (value.empty() || value == "on")
        return true;
    throw Error(say(
        "the environment variable KMA_SELFTEST is \"", value,
        "\"; set it to off to leave the selftest out, or to on, which is what it is by default"));
}

} // namespace

std::string refusal_of(const std::string &device_name, const std::vector<SelftestResult> &results)
{
    const auto failed = [](const SelftestResult &result) {
        return result.verdict == SelftestResult::Verdict::failed;
    };
    const auto first = std::ranges::find_if(results, failed);
    if (first == results.end())
        return {};
    const auto more = std::ranges::count_if(results, failed) - 1;
    return say("kma cannot run on ", device_name, ": ", first->name, ": ", first->detail,
               more ? say(" (", more, " more of its checks failed)") : "",
               ". Programs would get wrong results there; KMA_SELFTEST=off in the environment lets "
               "them run all the same");
}

void SelftestGate::require_passed(const Device &device)
{
    if (!wanted())
        return;
    // Held while the test runs: two threads that make heaps run it once.
    const std::lock_guard lock(mutex_);
    if (!refusal_)
        refusal_ = refusal_of(device.name(), test_(device));
    if (!refusal_->empty())
        throw Error(*refusal_);
}

void SelftestGate::replace(Test test)
{
    const std::lock_guard lock(mutex_);
    test_ = std::move(test);
    refusal_.reset();
}

} // namespace kma
