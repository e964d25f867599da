// kma/platform/memory.cl: the atomicity of its operations, and that messages arrive whole. What an operation alone
// returns the selftest checks in every flavour.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "catch.hpp"
#include "support.hpp"

using namespace test;

namespace {

struct Letter {
    cl_uint words[4];
};

template <class Word> std::string word_options(const Flavour &flavour)
{
    return flavour.options + (sizeof(Word) == 8 ? " -DWORD=u64 -Dctype=ulong" : " -DWORD=u32 -Dctype=uint");
}

template <class Word> void check_together(const Flavour &flavour)
{
    constexpr cl_uint rounds = 4;
    const std::size_t work_items = 64 * scaled(64, 2);
    const std::size_t places = work_items * rounds;
    std::vector<Word> start(20, 0);
    for (unsigned order = 0; order < 4; order++)
        start[5 * order + 2] = ~Word{0};
    const Array<Word> words(start);
    const Array<cl_uint> tickets(4 * places, 0), wins(work_items, 0), raises(work_items, 0), tokens(4 * work_items, 0);
    launch(program("platform/memory.cl", word_options<Word>(flavour)), "together", {work_items, 64}, words, tickets,
           wins, raises, tokens, rounds);

    const std::vector<Word> ends = words.read();
    const auto ticket = tickets.read(), win = wins.read(), token = tokens.read();
    for (unsigned order = 0; order < 4; order++) {
        INFO("order " << order);
        CHECK(ends[5 * order] == places);
        CHECK(ends[5 * order + 1] == static_cast<Word>(~Word{0}));
        CHECK(ends[5 * order + 2] == 0);
        CHECK(ends[5 * order + 3] == places);
        // Every ticket was drawn once: a place written twice would hold a sum, and one be left empty.
        std::vector<cl_uint> drawn(ticket.begin() + order * places, ticket.begin() + (order + 1) * places);
        std::ranges::sort(drawn);
        bool once = true;
        for (std::size_t i = 0; i < places; i++)
            once &= drawn[i] == i / rounds + 1;
        CHECK(once);
        // The tokens 1 … n and the 0 that lay there are all still there.
        std::vector<cl_uint> held(token.begin() + order * work_items, token.begin() + (order + 1) * work_items);
        held.push_back(static_cast<cl_uint>(ends[5 * order + 4]));
        std::ranges::sort(held);
        std::vector<cl_uint> all(work_items + 1);
        std::iota(all.begin(), all.end(), 0);
        CHECK(held == all);
    }
    const auto raised = raises.read();
    CHECK(std::accumulate(raised.begin(), raised.end(), std::size_t{0}) == 4 * places);
    // Each bit of each set was changed by exactly one.
    const std::size_t winners = std::accumulate(win.begin(), win.end(), std::size_t{0});
    CHECK(winners % 0x10000 == 4 * 8 * sizeof(Word));
    CHECK(winners / 0x10000 == 4 * 8 * sizeof(Word));
}

template <class Word> void check_messages(const Flavour &flavour)
{
    constexpr cl_uint rounds = 40;
    const std::size_t work_items = 64 * scaled(128, 4);
    const kma::Program kernels = program("platform/memory.cl", word_options<Word>(flavour));
    std::size_t seen_overall = 0;
    for (std::size_t repeat = 0; repeat < scaled(4); repeat++) {
        const Array<Letter> letters(work_items * rounds, Letter{});
        const Array<Word> flags(work_items * rounds, 0);
        const Array<cl_uint> seen(work_items, 0), wrong(work_items, 0), stale(work_items, 0);
        launch(kernels, "message", {work_items, 64}, letters, flags, seen, wrong, stale, rounds);
        const auto sees = seen.read(), wrongs = wrong.read();
        seen_overall += std::accumulate(sees.begin(), sees.end(), std::size_t{0});
        CHECK(std::accumulate(wrongs.begin(), wrongs.end(), std::size_t{0}) == 0);
    }
    std::printf("messages, %s, %zu bits: %zu of %zu seen\n", flavour.name.c_str(), 8 * sizeof(Word), seen_overall,
                work_items * rounds * scaled(4));
    // Work-groups that ran before are seen even where one runs after the other.
    CHECK(seen_overall > 0);
}

} // namespace

TEST_CASE("the paths that this device takes", "[memory][lanes][paths]")
{
    for (const Flavour &flavour : flavours()) {
        const kma::CodePath taken = path(flavour.options);
        std::printf("paths, %s: %s, %s\n", flavour.name.c_str(), describe(taken.memory), describe(taken.lanes));
        CHECK(describe(taken.memory) != std::string("unknown"));
        CHECK(describe(taken.lanes) != std::string("unknown"));
        CHECK(taken.atomic64 == flavour.atomic64);
        if (taken.lanes == kma::LanesPath::single)
            CHECK(taken.lanes_met == 1);
        else
            CHECK((taken.lanes_met > 1 && taken.lanes_met <= 64));
    }
}

TEST_CASE("operations on shared words are atomic", "[memory]")
{
    for (const Flavour &flavour : flavours()) {
        INFO(flavour.name);
        check_together<cl_uint>(flavour);
        if (flavour.atomic64)
            check_together<cl_ulong>(flavour);
    }
}

TEST_CASE("what was written before a release is read after the acquire that saw it", "[memory]")
{
    for (const Flavour &flavour : flavours()) {
        INFO(flavour.name);
        check_messages<cl_uint>(flavour);
        if (flavour.atomic64)
            check_messages<cl_ulong>(flavour);
    }
}
