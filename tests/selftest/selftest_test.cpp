// The selftest on the device at hand: passes in every flavour, finds seeded bugs, and refuses heaps on a device that
// fails.
#include <algorithm>
#include <atomic>
#include <thread>

#include "catch.hpp"
#include "environment.hpp"
#include "heap_support.hpp"
#include "kma/kma.hpp"
#include "lockfree/indexed_queue.hpp"
#include "device/internals.hpp"

namespace {

using kma::SelftestResult;
using Verdict = SelftestResult::Verdict;

const std::vector<std::string> names = {"32-bit atomics",          "64-bit atomics", "messages between work-groups",
                                        "messages of lane groups", "lanes together", "lanes apart",
                                        "shared virtual memory"};

SelftestResult named(const std::vector<SelftestResult> &results, const std::string &name)
{
    const auto at = std::ranges::find(results, name, &SelftestResult::name);
    REQUIRE(at != results.end());
    return *at;
}

std::string text_of(const std::vector<SelftestResult> &results)
{
    std::string text;
    for (const SelftestResult &result : results)
        text += result.name + ": " + name_of(result.verdict) + ": " + result.detail + '\n';
    return text;
}

std::vector<SelftestResult> selftest(const std::string &options)
{
    return kma::selftest(test::device(), {.options = options});
}

// Options under which kma's file `name` is another.
template <class Edit> kma::ProgramOptions with_edit(const std::string &name, const Edit &edit)
{
    for (kma::Source source : kma::sources())
        if (source.name == name) {
            edit(source.text);
            return {.headers = {source}};
        }
    throw std::invalid_argument("no file " + name);
}

// The same: `put` stands at its start, or before its last line.
kma::ProgramOptions with_seed(const std::string &name, const std::string &put, bool at_start)
{
    return with_edit(name, [&](std::string &text) { text.insert(at_start ? 0 : text.rfind("#endif"), put); });
}

struct Seed {
    std::string function; // that `body` stands in for; in it, the right one has its own name
    std::string type, parameters, body;
    std::string says; // part of the sentence
};

const std::vector<Seed> narrow_seeds = {
    // All of a work-group load before one stores: no chance is needed for updates to be lost.
    {"kma_fetch_add_u32", "uint", "uint value, kma_order order",
     "const uint before = kma_load_u32(at, KMA_RELAXED); barrier(CLK_GLOBAL_MEM_FENCE);"
     "kma_store_u32(at, before + value, KMA_RELAXED); barrier(CLK_GLOBAL_MEM_FENCE); return before;",
     "times fetch_add of 1"},
    {"kma_fetch_add_u32", "uint", "uint value, kma_order order", "return kma_fetch_add_u32(at, value, order) + value;",
     "relaxed fetch_add by work-item 0 alone"},
    {"kma_cas_u32", "uint", "uint expected, uint desired, kma_order order",
     "return kma_exchange_u32(at, desired, order);", "relaxed fetch_add by work-item 0 alone"},
    {"kma_cas_u32", "uint", "uint expected, uint desired, kma_order order",
     "return kma_cas_u32(at, expected, expected, order);",
     "relaxed compare-and-swap that expects another value by work-item 0 alone"},
    {"kma_cas_u32", "uint", "uint expected, uint desired, kma_order order",
     "return order == KMA_ACQUIRE ? kma_load_u32(at, KMA_RELAXED) : kma_cas_u32(at, expected, desired, order);",
     "acquire compare-and-swap that expects another value by work-item 0 alone"},
    {"kma_fetch_or_u32", "uint", "uint value, kma_order order", "return kma_fetch_or_u32(at, value, order) | value;",
     "relaxed fetch_or by work-item 0 alone"},
    {"kma_fetch_and_u32", "uint", "uint value, kma_order order", // forgets a bit of a set
     "const uint bits = 8 * sizeof(value); return popcount(value) == bits - 1 && get_global_id(0) % 1024 == 5 ? "
     "kma_load_u32(at, KMA_RELAXED) : kma_fetch_and_u32(at, value, order);",
     "fetch_and of every bit left 0x20"},
    {"kma_exchange_u32", "uint", "uint value, kma_order order", // loses a token
     "const uint shift = 4 * sizeof(value); const uint before = kma_exchange_u32(at, value, order);"
     "return before == (((uint)9 << shift) | 9) ? (((uint)8 << shift) | 8) : before;",
     "of tokens that are only exchanged, number 8 was there 1 times before and 2 times after"},
    {"kma_exchange_u32", "uint", "uint value, kma_order order", "kma_exchange_u32(at, value, order); return value;",
     "relaxed exchange by work-item 0 alone"},
    {"kma_store_u32", "void", "uint value, kma_order order", // of half a word
     "kma_store_u32(at, (value >> (4 * sizeof(value))) << (4 * sizeof(value)), order);",
     "relaxed exchange by work-item 0 alone"},
};

// The first of the list above stand for both widths, these for the last of it.
const std::vector<Seed> wide_seeds = {
    {"kma_fetch_add_u64", "ulong", "ulong value, kma_order order", // without a carry into the high half
     "const ulong before = kma_fetch_add_u64(at, value, order);"
     "if (value == 1 && (uint)before == 0xffffffffu) kma_fetch_add_u64(at, -(1ul << 32), KMA_RELAXED); return before;",
     "a word went from 0xffffe000 to 0x2000 by 16384 times fetch_add of 1"},
    {"kma_fetch_add_u64", "ulong", "ulong value, kma_order order",
     "return (uint)kma_fetch_add_u64(at, (uint)value, order);", "relaxed fetch_add by work-item 0 alone"},
    {"kma_cas_u64", "ulong", "ulong expected, ulong desired, kma_order order",
     "return kma_cas_u64(at, expected, (uint)desired, order);",
     "relaxed compare-and-swap that expects another value by work-item 0 alone"},
    {"kma_load_u64", "ulong", "kma_order order", // torn
     "return (kma_load_u64(at, order) & 0xfffffffful) | ((ulong)get_global_id(0) << 32);",
     "relaxed load by work-item 0"},
};

// Those that show where each work-item is alone, too; selftest/judge_test.cpp has the rest. Each is named.
const std::vector<Seed> lane_seeds = {
    {"kma_lane_rank", "uint", "kma_lanes group", "return kma_lane_rank(group) + 1;", " gave lane "},
    {"kma_lanes_count", "uint", "kma_lanes group", "return kma_lanes_count(group) - 1;", " gave lane "},
    {"kma_lane_leads", "bool", "kma_lanes group", "return false;", " gave lane "},
    {"kma_lanes_ballot", "kma_lanes", "kma_lanes group, bool mine",
     "return kma_lanes_ballot(group, mine) | (kma_lanes)1 << kma_lane_id();", " gave lane "},
    {"kma_lanes_match", "kma_lanes", "kma_lanes group, uint value, uint bits",
     "return kma_lanes_match(group, value, bits) & ~((kma_lanes)1 << kma_lane_id());", " by 3 bits gave lane "},
    {"kma_lanes_alike", "kma_lanes", "kma_lanes group, ulong key", "return 0;", " gave lane "},
    {"kma_lanes_shuffle", "uint", "kma_lanes group, uint value, uint lane",
     "return kma_lanes_shuffle(group, value, lane) ^ 1;", " gave lane "},
    {"kma_lanes_first", "uint", "kma_lanes group, uint value", "return kma_lanes_first(group, value) + 0x10000000u;",
     " gave work-item "},
    {"kma_lanes_scan", "kma_scan", "kma_lanes group, uint value",
     "kma_scan scan = kma_lanes_scan(group, value); scan.before = add_sat(scan.before, value); return scan;",
     " gave lane "},
    {"kma_lanes_scan", "kma_scan", "kma_lanes group, uint value",
     "kma_scan scan = kma_lanes_scan(group, value); scan.total = scan.before; return scan;", " gave lane "},
};

std::string as_u64(std::string text)
{
    for (const auto &[from, to] : {std::pair<std::string, std::string>{"u32", "u64"}, {"uint", "ulong"}})
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
            text.replace(at, from.size(), to);
    return text;
}

Seed as_u64(const Seed &seed)
{
    return {as_u64(seed.function), as_u64(seed.type), as_u64(seed.parameters), as_u64(seed.body), seed.says};
}

// A function of another name, and the name made to mean it. `first`: a parameter before those of the seed.
std::string code(const Seed &seed, const std::string &first = {})
{
    return "static inline " + seed.type + " seeded_" + seed.function + "(" + first + seed.parameters + ")\n{\n    " +
           seed.body + "\n}\n#define " + seed.function + " seeded_" + seed.function + "\n";
}

void check_found(const std::vector<SelftestResult> &results, const Seed &seed, const std::string &check)
{
    INFO(seed.function << ": " << seed.body);
    CHECK(named(results, check).verdict == Verdict::failed);
    CHECK_THAT(named(results, check).detail, contains(seed.says) && contains("; update the device's driver"));
}

} // namespace

TEST_CASE("the selftest passes in every flavour", "[selftest]")
{
    // The last of them also where the device has more: OpenCL C 1.2's atomics, and each work-item alone; on NVIDIA the
    // path for GPUs without memory orders.
    std::vector<std::string> all = {"-DKMA_HAS_ATOMIC64=0", "-cl-std=CL1.2", "-cl-std=CL1.2 -DKMA_HAS_ATOMIC64=0",
                                    "-DKMA_LANES=1"};
    if (test::device().target_options().find("KMA_NV_ARCH") != std::string::npos)
        all.push_back("-DKMA_NV_ARCH=60");
    const std::string flavour = GENERATE_COPY(from_range(all));
    const std::vector<SelftestResult> results = selftest(flavour);
    INFO(text_of(results));
    std::vector<std::string> these;
    for (const SelftestResult &result : results) {
        these.push_back(result.name);
        CHECK(result.verdict != Verdict::failed);
        CHECK_FALSE(result.detail.empty());
    }
    CHECK(these == names);
    CHECK(named(results, "32-bit atomics").verdict == Verdict::passed);
    CHECK_THAT(named(results, "32-bit atomics").detail, contains("4096 work-items"));
    const SelftestResult wide = named(results, "64-bit atomics");
    if (flavour.find("ATOMIC64=0") != std::string::npos) {
        CHECK(wide.verdict == Verdict::not_applicable);
        CHECK_THAT(wide.detail, contains("-DKMA_HAS_ATOMIC64=0"));
    }
    for (const char *name : {"messages between work-groups", "messages of lane groups"})
        CHECK_THAT(named(results, name).detail, contains(" seen, all in full") && !contains("but none by"));
    if (flavour == "-DKMA_LANES=1")
        CHECK_THAT(named(results, "lanes together").detail, contains("groups of up to 1 lane"));
    const SelftestResult svm = named(results, "shared virtual memory");
    CHECK((svm.verdict == Verdict::passed) == test::device().has_svm());
    CHECK_THAT(svm.detail, contains(test::device().has_svm() ? "addresses each way" : "no coarse-grained"));
}

TEST_CASE("the selftest finds seeded bugs", "[selftest][long]")
{
    // One of each list at a time, since they do not meddle with each other and programs take long to build. Of atomics
    // the kernels of the other checks keep the right functions.
    const bool wide = named(selftest(""), "64-bit atomics").verdict != Verdict::not_applicable;
    REQUIRE(narrow_seeds.size() == lane_seeds.size());
    for (std::size_t i = 0; i < narrow_seeds.size(); i++) {
        const std::size_t shared = narrow_seeds.size() - wide_seeds.size();
        const Seed seed64 = i < shared ? as_u64(narrow_seeds[i]) : wide_seeds[i - shared];
        // The file is included twice. (#ifndef would be taken for its guard.)
        std::string atomics =
            "#if !defined SEEDED\n#define SEEDED\n" + code(narrow_seeds[i], "global kma_atomic_u32 *at, ");
        if (wide)
            atomics += code(seed64, "global kma_atomic_u64 *at, ");
        kma::ProgramOptions options = with_seed("kma/selftest/word.cl", atomics + "#endif\n", true);
        options.headers.push_back(with_seed("kma/platform/lanes.cl", code(lane_seeds[i]), false).headers[0]);

        const std::vector<SelftestResult> results = kma::selftest(test::device(), options);
        INFO(text_of(results));
        check_found(results, narrow_seeds[i], "32-bit atomics");
        if (wide)
            check_found(results, seed64, "64-bit atomics");
        for (const char *check : {"lanes together", "lanes apart"}) {
            check_found(results, lane_seeds[i], check);
            CHECK_THAT(named(results, check).detail, contains(lane_seeds[i].function + lane_seeds[i].says));
        }
        CHECK(named(results, "messages between work-groups").verdict == Verdict::passed);
    }
}

TEST_CASE("the selftest finds messages that are not there in full", "[selftest]")
{
    // The last word of a letter is never written.
    const auto options = with_edit("kma/selftest/messages.cl", [](std::string &text) {
        const std::string bound = "i < KMA_SELFTEST_LETTER_WORDS; i++)\n        letter->words[i]";
        const std::size_t at = text.find(bound);
        REQUIRE(at != std::string::npos);
        text.insert(at + 1, " + 1");
    });
    const std::vector<SelftestResult> results = kma::selftest(test::device(), options);
    INFO(text_of(results));
    for (const char *name : {"messages between work-groups", "messages of lane groups"}) {
        CHECK(named(results, name).verdict == Verdict::failed);
        CHECK_THAT(named(results, name).detail,
                   contains("were not there in full: word 3 of message ") && contains(" was 0 instead of "));
    }
}

TEST_CASE("the selftest finds words that are not shared", "[selftest][long]")
{
    Seed seed = {"kma_exchange_u32", "uint", "uint value, kma_order order",
                 "kma_exchange_u32(at, value, order); return 0;",
                 "by an acquire-release exchange no work-item found what another work-group put there"};
    const auto results = [&] {
        return kma::selftest(test::device(),
                             with_seed("kma/platform/memory.cl", code(seed, "global kma_atomic_u32 *at, "), false));
    };
    check_found(results(), seed, "messages between work-groups");
    seed.body = "kma_exchange_u32(at, value, order); return 0xfffffff0u;";
    seed.says = "found the number 4294967280, which nobody had put there";
    check_found(results(), seed, "messages of lane groups");
}

TEST_CASE("a compiler that refuses the platform layer is a build error", "[selftest]")
{
    CHECK_THROWS_AS(selftest("-DKMA_MEMORY=77"), kma::BuildError);
}

namespace {

// A device of its own, the selftest on which is one with a seeded bug; counts how often it ran.
struct WrongDevice {
    explicit WrongDevice(bool wrong = true)
    {
        kma::DeviceInternals::selftest_gate(device).replace([wrong, runs = runs](const kma::Device &on) {
            ++*runs;
            return wrong ? kma::selftest(on, with_seed("kma/platform/lanes.cl", code(lane_seeds[0]), false))
                         : kma::selftest(on);
        });
    }

    kma::Device device = kma::Device::select();
    std::shared_ptr<std::atomic<int>> runs = std::make_shared<std::atomic<int>>(0);
};

} // namespace

TEST_CASE("a device that fails the selftest has no heap and no queue", "[selftest]")
{
    const EnvironmentVariable on("KMA_SELFTEST", "on");
    const WrongDevice wrong;
    const std::string sentence =
        "kma cannot run on " + wrong.device.name() +
        ": lanes together: where nothing had diverged, kma_lane_rank gave lane 0 1 instead of 0";
    const auto refused = [&](const auto &action) {
        CHECK_THAT(message_of<kma::Error>(action),
                   contains(sentence) && contains("(1 more of its checks failed)") && contains("KMA_SELFTEST=off"));
    };
    refused([&] { kma::Heap(wrong.device, 1 << 20); });
    refused([&] { kma::Heap(wrong.device, 1 << 20, {.kind = kma::HeapKind::bump}); });
    refused([&] { kma::IndexedQueue(wrong.device, 10, 10); });
    const std::string file = KMA_SCRATCH_DIR "/selftest_heap";
    kma::Heap(test::device(), 1 << 20).save(file);
    refused([&] { kma::Heap::load(wrong.device, file); });
    CHECK(std::string(name_of(Verdict::passed)) + name_of(Verdict::failed) + name_of(Verdict::not_applicable) ==
          "passedfailednot applicable");
    // A copy knows it too, and the test need not run again for that.
    const kma::Device copy = wrong.device;
    refused([&] { kma::Heap(copy, 1 << 20); });
    CHECK(*wrong.runs == 1);
}

TEST_CASE("the selftest runs once for a device and its copies, whichever thread comes first", "[selftest]")
{
    const EnvironmentVariable on("KMA_SELFTEST", "");
    const WrongDevice right(false);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([copy = right.device] { kma::IndexedQueue(copy, 10, 10); });
    for (std::thread &thread : threads)
        thread.join();
    kma::Heap(right.device, 1 << 20);
    CHECK(*right.runs == 1);
}

TEST_CASE("KMA_SELFTEST=off leaves the selftest out", "[selftest]")
{
    const WrongDevice wrong;
    {
        const EnvironmentVariable off("KMA_SELFTEST", "off");
        CHECK_NOTHROW(kma::Heap(wrong.device, 1 << 20));
        CHECK_NOTHROW(kma::IndexedQueue(wrong.device, 10, 10));
        CHECK(*wrong.runs == 0);
    }
    const EnvironmentVariable on("KMA_SELFTEST", "on");
    CHECK_THROWS_AS(kma::IndexedQueue(wrong.device, 10, 10), kma::Error);
    CHECK(*wrong.runs == 1);
}

TEST_CASE("KMA_SELFTEST has two values", "[selftest]")
{
    for (const char *value : {"0", "no", "OFF", "off "}) {
        const EnvironmentVariable variable("KMA_SELFTEST", value);
        CHECK_THAT(message_of<kma::Error>([] { kma::Heap(test::device(), 1 << 20); }),
                   contains("KMA_SELFTEST is \"" + std::string(value) + "\"") && contains("set it to off"));
    }
}
