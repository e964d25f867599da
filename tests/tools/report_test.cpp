// What the tool's reports say when something failed, which no device at hand has to do.
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "selftest.hpp"
#include "table.hpp"

using kma::SelftestResult;

namespace {

tool::SelftestReport report(SelftestResult::Verdict verdict)
{
    tool::DeviceFacts device{};
    device.platform = "P";
    device.name = "D";
    device.obstacle = "none of it is real";
    return {device,
            {{"32-bit atomics", verdict, "what was seen"}, {"lanes apart", SelftestResult::Verdict::passed, "all"}}};
}

} // namespace

TEST_CASE("a failed check of the selftest is told, in text and JSON", "[tools]")
{
    const tool::SelftestReport failed = report(SelftestResult::Verdict::failed);
    CHECK_FALSE(failed.passed());
    CHECK_THAT(to_text(failed), contains("P / D\n") && contains("\n32-bit atomics  failed  what was seen\n") &&
                                    contains("\nlanes apart     passed  all\n") &&
                                    contains("\nkma refuses this device"));
    nlohmann::ordered_json json = failed;
    CHECK_FALSE(json["passed"].get<bool>());
    CHECK(json["checks"][0]["verdict"] == "failed");
}

TEST_CASE("what is not applicable is no failure", "[tools]")
{
    const tool::SelftestReport partial = report(SelftestResult::Verdict::not_applicable);
    CHECK(partial.passed());
    CHECK_THAT(to_text(partial), contains("\n32-bit atomics  not applicable  what was seen\n"));
    CHECK(to_text(partial).find("refuses") == std::string::npos);
}

TEST_CASE("columns are as wide as their widest cells", "[tools]")
{
    CHECK(tool::table({}) == "");
    CHECK(tool::table({{"a", "bb", "c"}, {"aaa", "b"}}) == "a    bb  c\naaa  b\n");
    CHECK(tool::table({{"a", "1"}, {"b", "22"}}, 1) == "a   1\nb  22\n");
}
