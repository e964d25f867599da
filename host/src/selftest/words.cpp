// Judges the atomics of one width.
#include <algorithm>
#include <array>
#include <optional>

#include "support/say.hpp"
#include "selftest/judge.hpp"

namespace kma::selftest_judge {
namespace {

using Fault = std::optional<std::string>;

constexpr std::array<const char *, KMA_SELFTEST_ALONE> operations = {
    "exchange",  "compare-and-swap", "compare-and-swap that expects another value",
    "fetch_add", "fetch_or",         "fetch_and",
    "load"};
constexpr std::array<const char *, 4> orders = {"relaxed", "acquire", "release", "acquire-release"};

std::string hex(std::uint64_t value)
{
    return say("0x", std::hex, value);
}

class Judge {
public:
    explicit Judge(const Words &words)
        : words_(words), mask_(words.bits == 64 ? ~std::uint64_t{0} : 0xffffffffu),
          work_items_(words.sights.size())
    {
    }

    Fault first_fault() const
    {
        for (const auto check : {&Judge::alone, &Judge::tickets, &Judge::sums, &Judge::raised,
                                 &Judge::sets, &Judge::tokens, &Judge::stored})
            if (Fault fault = (this->*check)())
                return fault;
        return {};
    }

private:
    std::uint64_t operand(std::uint32_t me, std::uint32_t i) const
    {
        return ((std::uint64_t{mix32(me * 12 + i + 7)} << 32) | mix32(me * 12 + i + 1)) & mask_;
    }

    // The same number in both halves.
    std::uint64_t twice(std::uint64_t number) const { return number << (words_.bits / 2) | number; }

    // The inverse of twice(); nullopt if the result is no work-item's number.
    std::optional<std::uint64_t> once(std::uint64_t value) const
    {
        const std::uint64_t number = value & (mask_ >> (words_.bits / 2));
        return number <= work_items_ && value == twice(number) ? std::optional(number)
                                                               : std::nullopt;
    }

    // Each work-item alone on its word: values with all memory orders.
    Fault alone() const
    {
        for (std::uint32_t me = 0; me < work_items_; me++) {
            std::array<std::uint64_t, 6> in;
            for (std::uint32_t i = 0; i < in.size(); i++)
                in[i] = operand(me, i);
            const std::uint64_t sum = (in[2] + in[3]) & mask_;
            const std::array<std::uint64_t, KMA_SELFTEST_ALONE> right = {
                in[0], in[1], in[2], in[2], sum, sum | in[4], (sum | in[4]) & in[5]};
            for (std::size_t i = 0; i < orders.size() * right.size(); i++)
                if (const std::size_t step = i % right.size();
                    words_.sights[me].alone[i] != right[step])
                    return say(orders[i / right.size()], " ", operations[step], " by work-item ",
                               me, " alone on its word returned ", hex(words_.sights[me].alone[i]),
                               " instead of ", hex(right[step]));
        }
        return {};
    }

    // fetch_add on one word: each number is returned once.
    Fault tickets() const
    {
        std::vector<std::uint64_t> drawn;
        for (const auto &sight : words_.sights)
            drawn.insert(drawn.end(), sight.tickets, sight.tickets + KMA_SELFTEST_ROUNDS);
        const std::uint64_t adds = drawn.size();
        const std::uint64_t begin = words_.before[KMA_SELFTEST_TICKETS];
        if (const std::uint64_t end = words_.after[KMA_SELFTEST_TICKETS]; end != begin + adds)
            return say("a word went from ", hex(begin), " to ", hex(end), " by ", adds,
                       " times fetch_add of 1");
        std::ranges::sort(drawn);
        if (const auto twin = std::ranges::adjacent_find(drawn); twin != drawn.end())
            return say("fetch_add of 1 returned ", hex(*twin), " to two callers");
        if (drawn.front() != begin || drawn.back() != begin + adds - 1)
            return say("fetch_add of 1, ", adds, " times from ", hex(begin),
                       " on, returned numbers from ", hex(drawn.front()), " to ",
                       hex(drawn.back()));
        return {};
    }

    // fetch_add on several words.
    Fault sums() const
    {
        constexpr std::size_t count = KMA_SELFTEST_SHARED - KMA_SELFTEST_SUMS;
        std::array<std::uint64_t, count> right = {};
        for (std::size_t me = 0; me < work_items_; me++)
            for (std::size_t i = 0; i < KMA_SELFTEST_ROUNDS; i++)
                right[(me + i) % count] += twice(me + 1);
        for (std::size_t i = 0; i < count; i++)
            if (const std::uint64_t sum = words_.after[KMA_SELFTEST_SUMS + i];
                sum != (right[i] & mask_))
                return say("what fetch_add added up is ", hex(sum), " instead of ",
                           hex(right[i] & mask_));
        return {};
    }

    // Counters incremented by compare-and-swap: one success for each number.
    Fault raised() const
    {
        for (std::size_t counter = 0; counter < 2; counter++) {
            std::vector<std::uint64_t> found;
            for (const auto &sight : words_.sights)
                for (std::size_t i = counter; i < KMA_SELFTEST_ROUNDS; i += 2)
                    found.push_back(sight.raised[i]);
            if (const auto never = std::ranges::count(found, KMA_SELFTEST_NEVER))
                return say(never, " of ", found.size(),
                           " compare-and-swaps went on failing when no other work-item was left to "
                           "succeed");
            if (const std::uint64_t end = words_.after[KMA_SELFTEST_RAISED + counter];
                end != found.size())
                return say("a word raised by ", found.size(),
                           " compare-and-swaps that succeeded ended as ", hex(end));
            std::ranges::sort(found);
            if (const auto twin = std::ranges::adjacent_find(found); twin != found.end())
                return say(
                    "two compare-and-swaps of one word succeeded with the same expected value, ",
                    hex(*twin));
        }
        return {};
    }

    // Sets filled by fetch_or and emptied by fetch_and: each bit is changed by one work-item.
    Fault sets() const
    {
        const std::size_t set_bits = work_items_ / KMA_SELFTEST_SHARE;
        for (const bool filling : {true, false}) {
            const char *operation = filling ? "fetch_or" : "fetch_and";
            std::vector<unsigned> winners(set_bits, 0);
            for (std::size_t me = 0; me < work_items_; me++)
                winners[me % set_bits] += (words_.sights[me].won & (filling ? 1 : 2)) != 0;
            const std::size_t first = KMA_SELFTEST_SHARED + (filling ? 0 : set_bits / words_.bits);
            for (std::size_t word = 0; word < set_bits / words_.bits; word++)
                if (const std::uint64_t end = words_.after[first + word];
                    end != (filling ? mask_ : 0))
                    return say(operation, " of every bit left ", hex(end), " in a word of a set");
            for (std::size_t bit = 0; bit < set_bits; bit++)
                if (winners[bit] != 1)
                    return say(operation, " told ", winners[bit], " of ", KMA_SELFTEST_SHARE,
                               " work-items that they changed bit ", bit,
                               " of a set, where one did");
        }
        return {};
    }

    // Exchanged tokens: the initial zeros and every work-item's token are all still present.
    Fault tokens() const
    {
        std::vector<unsigned> held(work_items_ + 1, 0);
        const auto hold = [&](std::uint64_t token) -> Fault {
            const auto number = once(token);
            if (!number)
                return say("exchange returned ", hex(token), ", which nobody had stored");
            held[*number]++;
            return {};
        };
        for (const auto &sight : words_.sights)
            if (Fault fault = hold(sight.token))
                return fault;
        for (std::size_t i = KMA_SELFTEST_TOKENS; i < KMA_SELFTEST_SUMS; i++)
            if (Fault fault = hold(words_.after[i]))
                return fault;
        for (std::size_t number = 0; number <= work_items_; number++)
            if (const unsigned right = number ? 1 : KMA_SELFTEST_SUMS - KMA_SELFTEST_TOKENS;
                held[number] != right)
                return say("of tokens that are only exchanged, number ", number, " was there ",
                           right, " times before and ", held[number], " times after");
        return {};
    }

    // A word that all work-items store to and load.
    Fault stored() const
    {
        const auto fault_of = [&](std::uint64_t value) -> Fault {
            if (const auto number = once(value); number && *number != 0)
                return {};
            return say("a load of a word that others store to returned ", hex(value),
                       ", which nobody had stored");
        };
        for (const auto &sight : words_.sights)
            if (Fault fault = fault_of(sight.stored))
                return fault;
        return fault_of(words_.after[KMA_SELFTEST_STORED]);
    }

    const Words &words_;
    const std::uint64_t mask_;
    const std::size_t work_items_;
};

} // namespace

std::vector<std::uint64_t> first_words(unsigned bits, std::uint32_t work_items)
{
    const std::size_t set_words = work_items / KMA_SELFTEST_SHARE / bits;
    std::vector<std::uint64_t> words(KMA_SELFTEST_SHARED + 2 * set_words + work_items, 0);
    // The tickets carry from the low half into the high half midway.
    words[KMA_SELFTEST_TICKETS] =
        (std::uint64_t{1} << (bits / 2)) - work_items * KMA_SELFTEST_ROUNDS / 2;
    for (std::size_t i = 0; i < set_words; i++)
        words[KMA_SELFTEST_SHARED + set_words + i] = bits == 64 ? ~std::uint64_t{0} : 0xffffffffu;
    return words;
}

SelftestResult judge_words(const Words &words)
{
    SelftestResult result;
    result.name = say(words.bits, "-bit atomics");
    if (const Fault fault = Judge(words).first_fault()) {
        result.verdict = SelftestResult::Verdict::failed;
        result.detail =
            say(*fault,
                words.bits == 64
                    ? "; update the device's driver, or build everything with -DKMA_HAS_ATOMIC64=0"
                    : "; update the device's driver, or try KMA_CL_STD=CL1.2, which may take "
                      "another path to its atomics");
    } else {
        result.detail = say(words.sights.size(), " work-items: all operations alone on a word in "
                                                 "all orders, then all on the same words");
    }
    return result;
}

} // namespace kma::selftest_judge
