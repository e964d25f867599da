// What the selftest says of results that are right but for one thing, where selftest_test.cpp's seeded bugs do not
// reach it: on any device, and bugs that show only where several lanes go together.
#include <algorithm>
#include <bit>
#include <functional>

#include "catch.hpp"
#include "heap_support.hpp"
#include "selftest/judge.hpp"

using namespace kma;
using namespace kma::selftest_judge;
using Verdict = SelftestResult::Verdict;

namespace {

constexpr std::uint32_t crowd = 256;

// What the device leaves.
template <class Word> Words right_words()
{
    const kma::Program program(test::device(), {{"(kernels)", "#include \"kma/selftest/kernels.cl\"\n"}});
    Words words{8 * sizeof(Word), first_words(8 * sizeof(Word), crowd), {}, {}};
    const test::Array<Word> shared(std::vector<Word>(words.before.begin(), words.before.end()));
    const test::Array<layout::kma_selftest_word> sights(crowd, {});
    test::launch(program, "kma_selftest_kernel_u" + std::to_string(words.bits), {crowd, 64}, shared, sights);
    const std::vector<Word> after = shared.read();
    words.after.assign(after.begin(), after.end());
    words.sights = sights.read();
    return words;
}

// 16 work-items in sub-groups of 8 lanes, which pass place 0 together, then place 1 with two visits, the odd and the
// even apart.
constexpr std::uint32_t lanes = 8;
constexpr std::uint32_t lane_items = 16;

const LaneFlow lane_flow = {2, lane_items,
                            [](std::uint32_t) {
                                return std::vector<std::uint32_t>{0, 1};
                            },
                            [](std::uint32_t place) { return place == 0 ? 20u : 0u; }};

struct Sights {
    std::vector<layout::kma_selftest_sight> sights = std::vector<layout::kma_selftest_sight>(2 * lane_items);
    std::vector<std::uint32_t> visits = std::vector<std::uint32_t>(lane_items, 2);

    layout::kma_selftest_sight &of(std::uint32_t me, std::uint32_t place) { return sights[2 * me + place]; }

    std::vector<SelftestResult> judge() const { return judge_lanes(examine_lanes(sights, visits, lane_flow), 1); }
};

// What the lanes of the group `set` of sub-group `first` / 8 see at `place`.
void see(Sights &all, std::uint32_t first, std::uint32_t place, std::uint64_t set)
{
    const auto members = [&](const auto &belongs) {
        std::uint64_t found = 0;
        for (std::uint32_t lane = 0; lane < lanes; lane++)
            if ((set >> lane & 1) != 0 && belongs(all.of(first + lane, place)))
                found |= std::uint64_t{1} << lane;
        return found;
    };
    for (std::uint32_t lane = 0; lane < lanes; lane++) {
        layout::kma_selftest_sight &sight = all.of(first + lane, place);
        sight.value = mix32(2 * (first + lane) + place) >> lane_flow.spread(place);
        sight.classes = lane % 3 * 0x80000001u;
        sight.key = lane % 2 + lane / 4 * 5;
    }
    const auto leader = static_cast<std::uint32_t>(std::countr_zero(set));
    std::uint64_t before = 0, total = 0;
    for (std::uint32_t lane = 0; lane < lanes; lane++)
        total += (set >> lane & 1) * all.of(first + lane, place).value;
    for (std::uint32_t lane = 0; lane < lanes; lane++) {
        if ((set >> lane & 1) == 0)
            continue;
        layout::kma_selftest_sight &sight = all.of(first + lane, place);
        const std::uint64_t above = set >> lane >> 1 << lane << 1;
        sight.group = set;
        sight.ballot = members([](const auto &other) { return other.value % 2 != 0; });
        sight.match3 = members([&](const auto &other) { return other.value % 8 == sight.value % 8; });
        sight.match32 = members([&](const auto &other) { return other.classes == sight.classes; });
        sight.alike = members([&](const auto &other) { return other.key == all.of(first + leader, place).key; });
        sight.token = 2 * (first + leader) + place;
        sight.place = place;
        sight.lane = lane;
        sight.rank = static_cast<std::uint32_t>(std::popcount(set & ((std::uint64_t{1} << lane) - 1)));
        sight.count = static_cast<std::uint32_t>(std::popcount(set));
        sight.flags = (lane == leader ? 1 : 0) | (sight.alike >> lane & 1 ? 2 : 0);
        sight.next = static_cast<std::uint32_t>(std::countr_zero(above ? above : set));
        sight.next_value = all.of(first + sight.next, place).value;
        sight.before = static_cast<std::uint32_t>(std::min<std::uint64_t>(before, 0xffffffffu));
        sight.total = static_cast<std::uint32_t>(std::min<std::uint64_t>(total, 0xffffffffu));
        before += sight.value;
    }
}

Sights right_sights()
{
    Sights sights;
    for (const std::uint32_t first : {0u, lanes}) {
        see(sights, first, 0, 0xff);
        see(sights, first, 1, 0x55);
        see(sights, first, 1, 0xaa);
    }
    return sights;
}

} // namespace

TEST_CASE("the verdict on atomics", "[selftest][judge]")
{
    for (const Words &right :
         {right_words<cl_uint>(),
          kma::code_path(test::device()).atomic64 ? right_words<cl_ulong>() : right_words<cl_uint>()}) {
        const unsigned bits = right.bits;
        const auto shared = [bits](Words &words, std::uint32_t i) -> std::uint64_t & {
            return words.after[KMA_SELFTEST_SHARED + (i == 0 ? 0 : crowd / KMA_SELFTEST_SHARE / bits)];
        };
        const auto with_bit = [](Words &words, std::uint32_t bit, const auto &change) {
            for (std::uint32_t me = bit; me < crowd; me += crowd / KMA_SELFTEST_SHARE)
                change(words.sights[me].won);
        };
        const std::pair<std::function<void(Words &)>, std::string> faults[] = {
            {[](Words &words) { words.sights[3].alone[3 + 2 * KMA_SELFTEST_ALONE] = 0x12; },
             "release fetch_add by work-item 3 alone on its word returned 0x12 instead of 0x"},
            {[](Words &words) { words.sights[9].tickets[1] = words.sights[8].tickets[0]; }, " to two callers"},
            {[](Words &words) { words.sights[0].tickets[0] = 1; }, "returned numbers from 0x1 to 0x"},
            {[](Words &words) { words.after[KMA_SELFTEST_SUMS + 3] ^= 0x10000; }, "what fetch_add added up is 0x"},
            {[](Words &words) { words.sights[7].raised[1] = KMA_SELFTEST_NEVER; },
             "1 of 512 compare-and-swaps went on failing"},
            {[](Words &words) { words.after[KMA_SELFTEST_RAISED + 1]--; },
             "raised by 512 compare-and-swaps that succeeded ended as 0x1ff"},
            {[](Words &words) { words.sights[7].raised[1] = words.sights[7].raised[3]; },
             "succeeded with the same expected value, 0x"},
            {[&](Words &words) { shared(words, 0) &= ~std::uint64_t{4}; }, "fetch_or of every bit left 0x"},
            {[&](Words &words) { shared(words, 1) = 8; }, "fetch_and of every bit left 0x8 in a word"},
            {[&](Words &words) { with_bit(words, 5, [](auto &won) { won &= 2; }); },
             "fetch_or told 0 of 4 work-items that they changed bit 5"},
            {[&](Words &words) { with_bit(words, 6, [](auto &won) { won |= 2; }); },
             "fetch_and told 4 of 4 work-items that they changed bit 6"},
            {[](Words &words) { words.sights[30].token ^= 1; }, "which nobody had stored"},
            {[](Words &words) { words.after[KMA_SELFTEST_TOKENS] += 0x2000; }, "which nobody had stored"},
            {[&](Words &words) { words.sights[2].stored ^= std::uint64_t{1} << bits / 2; },
             "a load of a word that others store to returned 0x"},
            {[](Words &words) { words.sights[2].stored = 0; }, "store to returned 0x0,"},
        };
        CHECK(judge_words(right).verdict == Verdict::passed);
        CHECK_THAT(judge_words(right).detail, contains("256 work-items"));
        for (const auto &[damage, says] : faults) {
            Words words = right;
            damage(words);
            const SelftestResult result = judge_words(words);
            CHECK(result.name == std::to_string(bits) + "-bit atomics");
            CHECK(result.verdict == Verdict::failed);
            CHECK_THAT(result.detail,
                       contains(says) && contains(bits == 64 ? "-DKMA_HAS_ATOMIC64=0" : "KMA_CL_STD=CL1.2"));
        }
    }
}

TEST_CASE("the verdict on messages", "[selftest][judge]")
{
    using Post = layout::kma_selftest_post;
    const std::vector<Post> right(8, {{3, 2, 1, 4, 5}, {}, {}, {}, {}, 77});
    const auto judged = [&](const auto &damage) {
        std::vector<Post> posts = right;
        for (Post &post : posts)
            damage(post);
        return judge_messages(posts);
    };
    const std::vector<SelftestResult> results = judge_messages(right);
    REQUIRE(results.size() == 2);
    CHECK(results[0].detail == "80 seen, all in full");
    CHECK(results[1].detail == "40 seen, all in full");
    const char *names[] = {"by store-release and load-acquire", "by an acquire-release exchange",
                           "by an acquire-release compare-and-swap", "by an exchange and others' fetch_add",
                           "by the leader of a lane group and kma_lanes_sync"};
    for (int way = 0; way < KMA_SELFTEST_WAYS; way++) {
        const bool leader = way == KMA_SELFTEST_BY_LEADER;
        const auto set = [way](Post &post, std::uint32_t wrong, std::uint32_t first, std::uint32_t word,
                               std::uint32_t value) {
            post.wrong[way] = wrong;
            post.first[way] = first;
            post.word[way] = word;
            post.value[way] = value;
        };
        const std::string late = "16 were not there in full: word 3 of message 40 was 11 instead of " +
                                 std::to_string(mix32(40 * KMA_SELFTEST_LETTER_WORDS + 3));
        const std::pair<std::function<void(Post &)>, std::string> faults[] = {
            {[&](Post &post) { set(post, 2, 40, 3, 11); }, late},
            {[&](Post &post) { set(post, 1, 70000, KMA_SELFTEST_LETTER_WORDS, 70000); }, "found the number 70000"},
            {[&](Post &post) { set(post, 1, 70000, KMA_SELFTEST_LETTER_WORDS, 70000); }, "and 7 more"},
            {[&](Post &post) { post.seen[way] = 0; }, "no work-item found what another work-group put there"}};
        for (const auto &[damage, says] : faults) {
            const auto told = judged(damage);
            if (way == KMA_SELFTEST_BY_FLAG && &says == &faults[3].second)
                continue; // a matter of chance
            CHECK(told[leader].verdict == Verdict::failed);
            CHECK(told[!leader].verdict == Verdict::passed);
            CHECK_THAT(told[leader].detail, contains(leader ? "-DKMA_LANES=1" : "KMA_CL_STD=CL1.2") &&
                                                contains(names[way]) && contains(says));
        }
    }
    const auto no_flags = judged([](Post &post) { post.seen[KMA_SELFTEST_BY_FLAG] = 0; });
    CHECK(no_flags[0].verdict == Verdict::passed);
    CHECK_THAT(no_flags[0].detail, contains("56 seen") && contains("none by store-release and load-acquire"));
}

TEST_CASE("the verdict on lanes", "[selftest][judge]")
{
    using Sight = layout::kma_selftest_sight;
    const auto results = right_sights().judge();
    REQUIRE(results.size() == 2);
    CHECK(results[0].verdict == Verdict::passed);
    CHECK(results[0].detail == "2 groups of up to 8 lanes");
    CHECK(results[1].verdict == Verdict::passed);
    CHECK(results[1].detail == "4 groups of up to 4 lanes");

    // What work-item 10, lane 2 of the second sub-group, saw wrongly where nothing had diverged, and where it had.
    const struct {
        void (*damage)(Sight &);
        const char *together, *apart;
    } faults[] = {
        {[](Sight &sight) { sight.group = 4; }, "kma_lanes_active gave lane 2 the lanes 0x4 instead of 0xff",
         "0x4 instead of 0x55, which heard the same leader"},
        {[](Sight &sight) { sight.rank++; }, "kma_lane_rank gave lane 2 3 instead of 2", "2 instead of 1"},
        {[](Sight &sight) { sight.count--; }, "kma_lanes_count gave lane 2 7 instead of 8", "3 instead of 4"},
        {[](Sight &sight) { sight.flags |= 1; }, "kma_lane_leads gave lane 2 1 instead of 0", ""},
        {[](Sight &sight) { sight.next++; }, "kma_lanes_shuffle gave lane 2 ", ""},
        {[](Sight &sight) { sight.next_value = sight.value; }, "kma_lanes_shuffle gave lane 2 ", ""},
        // In diverged flow a ballot of lanes that are not here; a match that looks at 31 bits.
        {[](Sight &sight) { sight.ballot ^= 0x2; }, "kma_lanes_ballot gave lane 2", ""},
        {[](Sight &sight) { sight.match3 ^= 0x10; }, "kma_lanes_match by 3 bits gave lane 2", ""},
        {[](Sight &sight) { sight.match32 = sight.group; }, "kma_lanes_match by 32 bits gave lane 2", ""},
        {[](Sight &sight) { sight.alike ^= 0x10; }, "kma_lanes_alike gave lane 2", ""},
        {[](Sight &sight) { sight.flags ^= 2; }, "kma_lane_in gave lane 2", ""},
        {[](Sight &sight) { sight.before++; }, "kma_lanes_scan gave lane 2 of 8 the sums ", ""},
        {[](Sight &sight) { sight.total--; }, "", "kma_lanes_scan gave lane 2 of 4 the sums "},
        {[](Sight &sight) { sight.value++; }, "work-item 10 was lane 2 and computed ", ""},
        {[](Sight &sight) { sight.lane = 64; }, "work-item 10 was lane 64 and computed ", ""},
        {[](Sight &sight) { sight.lane = 4; }, "two work-items heard of one leader as lane 4", ""},
        {[](Sight &sight) { sight.token = 1000; }, "kma_lanes_first gave work-item 10 the number 1000", ""},
    };
    for (const auto &[damage, together, apart] : faults)
        for (const std::uint32_t place : {0u, 1u}) {
            Sights sights = right_sights();
            damage(sights.of(10, place));
            const auto said = sights.judge();
            CHECK(said[place].verdict == Verdict::failed);
            CHECK(said[!place].verdict == Verdict::passed);
            CHECK_THAT(said[place].detail,
                       contains(place ? "where work-items had diverged, " : "where nothing had diverged, ") &&
                           contains("-DKMA_LANES=1") && contains(place ? apart : together));
        }
}

TEST_CASE("the verdict on groups that are no groups", "[selftest][judge]")
{
    // A leader that is not the first lane: all of a group heard of work-item 2 instead of 0.
    Sights sights = right_sights();
    for (std::uint32_t me = 0; me < lanes; me++)
        sights.of(me, 0).token = 2 * 2;
    CHECK_THAT(sights.judge()[0].detail, contains("which is not the group's first lane"));
    // Work-items that went another way, here and in the program.
    sights = right_sights();
    sights.visits[3] = 1;
    CHECK_THAT(sights.judge()[1].detail, contains("work-item 3 passed 1 places of the program instead of 2"));
    sights = right_sights();
    sights.of(10, 1).place = 9;
    CHECK_THAT(sights.judge()[1].detail, contains("work-item 10 noted place 9 of the program instead of 1"));
    // Work-item 2 at place 0 in the group of the odd lanes at place 1.
    sights = right_sights();
    sights.of(2, 0).token = sights.of(1, 1).token;
    sights.of(2, 0).group = 0xae;
    for (const std::uint32_t me : {1u, 3u, 5u, 7u})
        sights.of(me, 1).group = 0xae;
    CHECK_THAT(sights.judge()[1].detail, contains("lanes 1 and 2 were in one group at different places"));
    // With one lane to a group there is nothing to gain from going alone.
    Sights single;
    for (std::uint32_t me = 0; me < lane_items; me++)
        for (const std::uint32_t place : {0u, 1u}) {
            see(single, me & ~7u, place, std::uint64_t{1} << me % 8);
            single.of(me, place).rank += 5;
        }
    CHECK_THAT(single.judge()[0].detail, contains("update the device's driver") && !contains("-DKMA_LANES=1"));
}

TEST_CASE("the verdict on shared virtual memory", "[selftest][judge]")
{
    constexpr std::uint32_t count = 4;
    std::vector<Node> nodes(2 * count);
    const auto address = [&](std::uint32_t i) { return reinterpret_cast<std::uint64_t>(&nodes[i]); };
    for (std::uint32_t i = count; i < 2 * count; i++)
        nodes[i] = {i == count ? 0 : address(i - 1), mix32(i)};
    const SharedList right{nodes.data(), count, address(2 * count - 1), address(0), 55, 55, count};
    CHECK(judge_svm(right).verdict == Verdict::passed);
    CHECK(judge_svm(right).detail == "a list of 4 addresses each way");
    const auto fault = [](const SharedList &list) {
        const SelftestResult result = judge_svm(list);
        CHECK(result.verdict == Verdict::failed);
        CHECK_THAT(result.detail, contains("Storage::buffer"));
        return result.detail;
    };

    SharedList list = right;
    list.address += 64;
    CHECK_THAT(fault(list), contains("has the address ") && contains(" on the device"));
    list = right;
    list.sum_followed = 54;
    CHECK_THAT(fault(list), contains("added up 54 instead of 55"));
    list = right;
    list.followed = 3;
    CHECK_THAT(fault(list), contains("made on the host a kernel followed 3"));
    list = right;
    list.head = address(0);
    CHECK_THAT(fault(list), contains("link number 0 is "));
    nodes[6].next = 1;
    CHECK_THAT(fault(right), contains("link number 2 is 1 instead of "));
    nodes[6].next = address(5);
    nodes[5].value++;
    CHECK_THAT(fault(right), contains("node number 2 holds "));
    nodes[5].value--;
    nodes[4].next = 7;
    CHECK_THAT(fault(right), contains("goes on behind its end, at 7"));
}
