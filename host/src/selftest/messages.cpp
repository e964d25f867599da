// Judges messages between work-groups, within lane groups, and through shared virtual memory.
#include <array>

#include "support/say.hpp"
#include "selftest/judge.hpp"

namespace kma::selftest_judge {
namespace {

using Verdict = SelftestResult::Verdict;

constexpr std::array<const char *, KMA_SELFTEST_WAYS> ways = {
    "store-release and load-acquire", "an acquire-release exchange",
    "an acquire-release compare-and-swap", "an exchange and others' fetch_add after it",
    "an exchange by the leader of a lane group and kma_lanes_sync"};

// The sums over all work-items, and the first wrong message of each way.
struct Way {
    std::uint64_t seen = 0, wrong = 0;
    std::uint32_t first = 0, word = 0, value = 0;
};

std::array<Way, KMA_SELFTEST_WAYS> sums(const std::vector<layout::kma_selftest_post> &posts)
{
    std::array<Way, KMA_SELFTEST_WAYS> sums;
    for (const layout::kma_selftest_post &post : posts)
        for (std::size_t way = 0; way < sums.size(); way++) {
            if (sums[way].wrong == 0 && post.wrong[way] != 0) {
                sums[way].first = post.first[way];
                sums[way].word = post.word[way];
                sums[way].value = post.value[way];
            }
            sums[way].seen += post.seen[way];
            sums[way].wrong += post.wrong[way];
        }
    return sums;
}

std::string fault_of(std::size_t number, const Way &way)
{
    if (way.wrong != 0 && way.word == KMA_SELFTEST_LETTER_WORDS)
        return say("by ", ways[number], " work-items found the number ", way.value,
                   ", which nobody had put there, and ", way.wrong - 1, " more");
    if (way.wrong != 0)
        return say("of the messages seen by ", ways[number], ", ", way.wrong,
                   " were not there in full: word ", way.word, " of message ", way.first, " was ",
                   way.value, " instead of ",
                   mix32(way.first * KMA_SELFTEST_LETTER_WORDS + way.word));
    // Read-modify-writes of one word see one another in any schedule. Flags may be read too early
    // by all work-items.
    if (way.seen == 0 && number != KMA_SELFTEST_BY_FLAG)
        return say("by ", ways[number], " no work-item found what another work-group put there");
    return {};
}

} // namespace

std::vector<SelftestResult> judge_messages(const std::vector<layout::kma_selftest_post> &posts)
{
    const auto all = sums(posts);
    SelftestResult groups{"messages between work-groups", Verdict::passed, {}};
    SelftestResult lanes{"messages of lane groups", Verdict::passed, {}};
    std::uint64_t seen = 0;
    for (std::size_t way = 0; way < all.size(); way++) {
        SelftestResult &result = way == KMA_SELFTEST_BY_LEADER ? lanes : groups;
        if (way != KMA_SELFTEST_BY_LEADER)
            seen += all[way].seen;
        if (const std::string fault = fault_of(way, all[way]);
            !fault.empty() && result.verdict == Verdict::passed) {
            result.verdict = Verdict::failed;
            result.detail =
                fault +
                (way == KMA_SELFTEST_BY_LEADER
                     ? "; update the device's driver, or build everything with -DKMA_LANES=1, "
                       "which lets each work-item go alone"
                     : "; update the device's driver, or try another path to its memory, such as "
                       "KMA_CL_STD=CL1.2");
        }
    }
    if (groups.verdict == Verdict::passed)
        groups.detail =
            say(seen, " seen, all in full",
                all[KMA_SELFTEST_BY_FLAG].seen == 0
                    ? ", but none by store-release and load-acquire, which this run does not prove"
                    : "");
    if (lanes.verdict == Verdict::passed)
        lanes.detail = say(all[KMA_SELFTEST_BY_LEADER].seen, " seen, all in full");
    return {groups, lanes};
}

SelftestResult judge_svm(const SharedList &list)
{
    SelftestResult result{"shared virtual memory", Verdict::failed, {}};
    const auto begin = reinterpret_cast<std::uint64_t>(list.nodes);
    const char *advice = "; update the device's driver, or keep to Storage::buffer";
    if (list.address != begin) {
        result.detail =
            say("memory at ", begin, " has the address ", list.address, " on the device", advice);
        return result;
    }
    if (list.followed != list.count || list.sum_followed != list.sum) {
        result.detail = say("of a list of ", list.count,
                            " nodes made on the host a kernel followed ", list.followed,
                            " and added up ", list.sum_followed, " instead of ", list.sum, advice);
        return result;
    }
    std::uint64_t at = list.head;
    for (std::uint32_t i = 2 * list.count; i-- > list.count;) {
        const std::uint64_t right = begin + i * sizeof(Node);
        if (at != right) {
            result.detail =
                say("in a list of ", list.count, " nodes made by a kernel, link number ",
                    2 * list.count - 1 - i, " is ", at, " instead of ", right, advice);
            return result;
        }
        const Node &node = *reinterpret_cast<const Node *>(at);
        if (node.value != mix32(i)) {
            result.detail = say("in a list of ", list.count,
                                " nodes made by a kernel, node number ", 2 * list.count - 1 - i,
                                " holds ", node.value, " instead of ", mix32(i), advice);
            return result;
        }
        at = node.next;
    }
    if (at != 0) {
        result.detail = say("a list of ", list.count,
                            " nodes made by a kernel goes on behind its end, at ", at, advice);
        return result;
    }
    result.verdict = Verdict::passed;
    result.detail = say("a list of ", list.count, " addresses each way");
    return result;
}

} // namespace kma::selftest_judge
