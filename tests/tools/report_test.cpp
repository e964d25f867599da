// What the tool's reports say when something failed, which no device at hand has to do.
#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "bench_report.hpp"
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

TEST_CASE("of several samples: median, least, most, and how they vary", "[tools]")
{
    const bench::Statistics odd = bench::statistics({3, 1, 2});
    CHECK(odd.median == 2);
    CHECK(odd.min == 1);
    CHECK(odd.max == 3);
    CHECK(odd.cv == 0.5); // the standard deviation is 1, the mean 2
    CHECK(bench::statistics({1, 2, 4, 100}).median == 3);
    CHECK(bench::statistics({5}).median == 5);
    CHECK(bench::statistics({5}).cv == 0);
    CHECK(bench::statistics({0, 0}).cv == 0);
    CHECK(bench::scaled({1, 2}, 3) == std::vector<double>{3, 6});
}

TEST_CASE("the host knows the sizes that the battery's kernels ask for", "[tools]")
{
    const bench::Sizes same{24}, random{4, 61};
    CHECK(same.of(7) == 24);
    CHECK(same.total(10) == 320);
    CHECK(bench::in_words({same.parameter(), {"p", 0.5}}) == "bytes=24 p=0.5");
    CHECK(random.of(7) == 4 + test::mix32(7) % 61);
    CHECK(random.total(1) == (random.of(0) + 15) / 16 * 16);
    CHECK(bench::in_words({random.parameter()}) == "bytes=4..64");
}

TEST_CASE("a benchmark whose blocks are wrong fails, in text, JSON and CSV", "[tools]")
{
    const bench::Row right{.suite = "mixed",
                           .heap = "bump",
                           .parameters = {{"bytes", "4..64"}},
                           .metric = "malloc",
                           .unit = "ms",
                           .figure = {0.125, 0.1, 0.2, 0.3},
                           .rounds = 7,
                           .nulls = 0,
                           .verified = true};
    tool::BenchReport told{{}, "2026-11-22T00:00:00Z", "kma bench", {}};
    told.figures.rows = {right, right};
    told.figures.rows[1].metric = "free, all";
    CHECK(told.passed());
    CHECK_THAT(to_text(told), contains("2 figures; NULLs where the heap had room: 0; all verified\n"));
    told.figures.rows[0].verified = false;
    told.figures.rows[0].nulls = 5;
    told.figures.rows.push_back(right);
    told.figures.rows[2].suite = "large"; // which may run full
    told.figures.rows[2].nulls = 3;
    CHECK_FALSE(told.passed());
    CHECK_THAT(to_text(told), contains("  NO\n") && contains("FAILED: mixed, bump, bytes=4..64, malloc: ") &&
                                  contains("NULLs where the heap had room: 5; FAILED\n"));
    told.figures.rows.pop_back();
    const nlohmann::ordered_json json = told;
    CHECK_FALSE(json["passed"].get<bool>());
    CHECK(json["results"][0]["bytes"] == "4..64");
    CHECK(json["results"][0]["verified"] == false);
    CHECK(to_csv(told) == "suite,heap,bytes,metric,unit,median,min,max,cv,rounds,nulls,verified\n"
                          "mixed,bump,4..64,malloc,ms,0.125,0.1,0.2,0.3,7,5,false\n"
                          "mixed,bump,4..64,\"free, all\",ms,0.125,0.1,0.2,0.3,7,0,true\n");
}

TEST_CASE("columns are as wide as their widest cells", "[tools]")
{
    CHECK(tool::table({}) == "");
    CHECK(tool::table({{"a", "bb", "c"}, {"aaa", "b"}}) == "a    bb  c\naaa  b\n");
    CHECK(tool::table({{"a", "1"}, {"b", "22"}}, 1) == "a   1\nb  22\n");
}
