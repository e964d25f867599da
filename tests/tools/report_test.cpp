// What the tool's reports say when something failed, which no device at hand has to do.
#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "bench_report.hpp"
#include "bench_table.hpp"
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
            {{"32-bit atomics", verdict, "what was seen"},
             {"lanes apart", SelftestResult::Verdict::passed, "all"}}};
}

} // namespace

TEST_CASE("a failed check of the selftest is told, in text and JSON", "[tools]")
{
    const tool::SelftestReport failed = report(SelftestResult::Verdict::failed);
    CHECK_FALSE(failed.passed());
    CHECK_THAT(to_text(failed), contains("P / D\n") &&
                                    contains("\n32-bit atomics  failed  what was seen\n") &&
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
    CHECK_THAT(to_text(told), contains("\n2 figures, all of which") &&
                                  contains("NULLs where the heap had room: 0; all verified\n"));
    told.figures.rows[0].verified = false;
    told.figures.rows[0].nulls = 5;
    told.figures.rows.push_back(right);
    told.figures.rows[2].suite = "large"; // which may run full
    told.figures.rows[2].nulls = 3;
    CHECK_FALSE(told.passed());
    CHECK_THAT(to_text(told), contains(".125 WRONG\n") &&
                                  contains("\nFAILED: bump, malloc, 4..64 B: ") &&
                                  contains("\nNULLs: bump, malloc, 4..64 B: 5\n") &&
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

TEST_CASE("a suite's table has a row for each line and a column for each heap", "[tools]")
{
    bench::Report report;
    const auto add = [&](const char *heap, const char *metric, const char *unit,
                         std::uint64_t work_items, double median) {
        report.rows.push_back({.suite = "uniform",
                               .heap = heap,
                               .parameters = {{"work_items", work_items}, {"bytes", 16}},
                               .metric = metric,
                               .unit = unit,
                               .figure = {median, 0, 0, 0},
                               .verified = true});
    };
    for (const auto &[heap, factor] : {std::pair{"bump", 0.5}, {"scatter", 1.0}, {"slab", 20.0}}) {
        add(heap, "empty_kernel", "ms", 256, 0.001);
        add(heap, "malloc", "ms", 1024, factor * 0.025);
        add(heap, "malloc_cold", "ms", 1024, 1); // in JSON and CSV only
        if (heap != std::string("bump"))
            add(heap, "free", "ms", 1000, factor * 123);
        add(heap, "share", "of heap", 1, 0.5);
    }
    report.rows[1].verified = false;
    report.rows[1].nulls = 1234;
    const bench::Parameters line = {{"work_items", 1 << 20}, {"bytes", 16}},
                            other = {{"bytes", 4096}};
    report.notes = {{"uniform", "bump", {}, "has no age"},
                    {"uniform", "bump", line, "its 256 MiB are more than half of 256 MiB", true},
                    {"uniform", "scatter", line, "its 256 MiB are more than half of 128 MiB", true},
                    {"uniform", "slab", other, "its 512 MiB are more than half of 256 MiB", true},
                    {"mixed", "slab", {}, "is of another suite"},
                    {"all suites", "", {}, "small"}};
    CHECK(tool::suite_text(report, "uniform") ==
          "uniform: 16 B\n"
          "ms                              bump   scatter      slab\n"
          "malloc, 1 Ki items       .0125 WRONG  .025 1.0     .5 20\n"
          "free, 1,000 items                      123 1.0  2,460 20\n"
          "share (of heap), 1 item     .5          .5         .5\n"
          "FAILED: bump, malloc, 1 Ki items: contents or blocks are not as they must be\n"
          "NULLs: bump, malloc, 1 Ki items: 1,234\n"
          "note: bump: has no age\n"
          "note: all heaps: 1 Mi items; 4 KiB left out: blocks of more than half of the heap\n\n");
    CHECK(tool::suite_text(report, "mixed") == "");
    CHECK(tool::general_notes(report) == "note: small\n");
    CHECK(bench::in_words(report.notes[0]) == "uniform, bump: has no age");
    CHECK(bench::in_words(report.notes[3]) ==
          "uniform, slab: bytes=4096 its 512 MiB are more than half of 256 MiB");
    CHECK(bench::in_words(report.notes[5]) == "all suites: small");
}

TEST_CASE("of the parameters, those that all rows share stand above the table", "[tools]")
{
    bench::Report report;
    for (const std::uint64_t kernel : {12, 24}) // of two looks at a series the last one counts
        report.rows.push_back({.suite = "steady",
                               .heap = "slab",
                               .parameters = {{"work_items", 4096},
                                              {"bytes", 64},
                                              {"p_alloc", 0.75},
                                              {"p_free", 0.75},
                                              {"kernel", kernel}},
                               .metric = "external_fragmentation",
                               .unit = "",
                               .figure = {kernel / 100.0, 0, 0, 0}});
    CHECK(tool::suite_text(report, "steady") == "steady: 64 B, p_alloc .75\n"
                                                "                        slab\n"
                                                "external fragmentation   .24\n\n");
    report.rows.erase(report.rows.begin());
    report.rows.push_back(report.rows[0]);
    report.rows[1].heap = "world, no hints";
    report.rows[1].parameters[1] = {"bytes", "64..960"};
    CHECK(tool::suite_text(report, "steady") == "steady: external fragmentation, p_alloc .75\n"
                                                "                   world,\n"
                                                "           slab  no hints\n"
                                                "64 B        .24\n"
                                                "64..960 B             .24\n\n");
}

TEST_CASE("figures have three digits that matter", "[tools]")
{
    for (const auto &[value, text] : {std::pair{0.0, "0"},
                                      {0.000514999, ".000515"},
                                      {0.0301, ".0301"},
                                      {0.5, ".5"},
                                      {1.0, "1"},
                                      {12.34, "12.3"},
                                      {999.6, "1,000"},
                                      {1234567.0, "1,234,567"}})
        CHECK(tool::figure_text(value) == text);
}

TEST_CASE("columns are as wide as their widest cells", "[tools]")
{
    CHECK(tool::table({}) == "");
    CHECK(tool::table({{"a", "bb", "c"}, {"aaa", "b"}}) == "a    bb  c\naaa  b\n");
    CHECK(tool::table({{"a", "1"}, {"b", "22"}}, 1) == "a   1\nb  22\n");
}
