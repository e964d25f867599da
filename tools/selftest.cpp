// `kma selftest`.
#include "selftest.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "table.hpp"

namespace tool {

bool SelftestReport::passed() const
{
    return std::ranges::none_of(results, [](const kma::SelftestResult &one) {
        return one.verdict == kma::SelftestResult::Verdict::failed;
    });
}

SelftestReport run_selftest(const std::string &build_options)
{
    const kma::Device device = kma::Device::select();
    SelftestReport report{facts_of(device.device()), {}};
    report.device.selected = true;
    kma::ProgramOptions options;
    options.options = build_options;
    report.results = kma::selftest(device, options);
    return report;
}

std::string to_text(const SelftestReport &report)
{
    std::vector<std::vector<std::string>> lines;
    for (const kma::SelftestResult &one : report.results)
        lines.push_back({one.name, name_of(one.verdict), one.detail});
    return to_text(report.device) + '\n' + table(lines) + '\n' +
           (report.passed()
                ? "kma works here as far as these checks can tell; `kma check` tests the heaps.\n"
                : "kma refuses this device: heaps on it would lose or damage blocks.\n");
}

void to_json(nlohmann::ordered_json &json, const SelftestReport &report)
{
    json = {{"kma", kma::version()}, {"passed", report.passed()}, {"device", report.device}};
    for (const kma::SelftestResult &one : report.results)
        json["checks"].push_back(
            {{"name", one.name}, {"verdict", name_of(one.verdict)}, {"detail", one.detail}});
}

} // namespace tool
