// What the host makes of a slab heap's metadata, without a device: pages, slabs and runs of every form, the blocks in
// them, and a sentence for each invariant that is broken. slab/heap_test.cpp has heaps that kernels used.
#include <algorithm>
#include <random>

#include "catch.hpp"
#include "heap/slab/check.hpp"

using kma::SlabMetadata;
using namespace kma::layout;

namespace {

constexpr std::uint32_t frames = 40, room = 48; // of which the last are still to come
constexpr std::uint32_t groups = 2;
constexpr std::uint32_t frame_lines = KMA_SLAB_FRAME_LINES, line_units = KMA_SLAB_LINE_UNITS;
constexpr std::uint32_t lines = frames * frame_lines;
constexpr std::uint32_t of_64 = 3, of_320 = 17, of_768 = 27, of_1024 = 31, of_4096 = 47, of_8192 = 55; // classes, by bytes

struct Block {
    std::uint32_t unit, units;
    bool operator==(const Block &) const = default;
};

// The metadata of a heap with a page, a slab or a run of each form, as the device writes them.
class Ledger {
public:
    // Where they begin: pages of 64 and 768 bytes; slabs of 16 slots of 16 and 320 bytes, of two of 4 KiB, of one of
    // 8 KiB; mixed slabs with sizes in units and in fours of them; a run of 79 lines.
    static constexpr std::uint32_t page = 0, full_page = 32, fine = 64, wide = 70, mixed = 96, coarse = 110,
                                   pair = 160, single = 192, run = 256, run_lines = 79;

    kma_slab_plan plan = planned();
    SlabMetadata metadata;

    Ledger()
    {
        metadata.current.assign(plan.shards * KMA_SLAB_PAGE_CLASSES, KMA_SLAB_NONE);
        metadata.current[of_64 * plan.shards] = page + 2;
        metadata.current[of_768 * plan.shards] = lines - 1; // a hint: any line of the heap is right
        metadata.used.assign(room, 0);
        std::fill(metadata.used.begin() + frames, metadata.used.end(), KMA_SLAB_FULL);
        metadata.trees.resize(std::size_t{plan.tree_words} * KMA_SLAB_TREES);
        metadata.words.resize(std::size_t{room} * frame_lines);
        add_pages();
        add_equal();
        add_mixed(mixed, false, mixed_units);
        add_mixed(coarse, true, coarse_units);
        claim(run, run_lines);
        metadata.words[run] = KMA_SLAB_RUN | run_lines;
        add_dead();
        for (std::uint32_t frame = 0; frame < frames; frame++)
            if (const std::uint32_t longest = longest_run(~metadata.used[frame]); longest != 0)
                put(KMA_SLAB_RUN_TREE(longest), frame);
        for (std::uint32_t group = 0; group < groups; group++)
            put(KMA_SLAB_GROUP_TREE(longest_run(tree(KMA_SLAB_WHOLE_TREE)[group])), group);
    }

    std::vector<std::string> check() const
    {
        kma::Findings findings;
        kma::check_slab(plan, metadata, findings);
        return findings.take();
    }
    std::vector<Block> visited() const
    {
        std::vector<Block> all;
        kma::for_each_slab_block(plan, metadata,
                                 [&](std::uint32_t unit, std::uint32_t units) { all.push_back({unit, units}); });
        return all;
    }
    std::uint32_t *tree(std::uint32_t number) { return &metadata.trees[std::size_t{number} * plan.tree_words]; }
    std::uint32_t whole_run(std::uint32_t group) { return longest_run(tree(KMA_SLAB_WHOLE_TREE)[group]); }
    void put(std::uint32_t number, std::uint32_t frame)
    {
        tree(number)[frame / 32] |= 1u << frame % 32;
        tree(number)[plan.tree_words - 1] |= 1u << frame / 32;
    }
    void remove(std::uint32_t number, std::uint32_t frame) { tree(number)[frame / 32] &= ~(1u << frame % 32); }
    void claim(std::uint32_t line, std::uint32_t count)
    {
        for (std::uint32_t i = line; i < line + count; i++)
            metadata.used[i / frame_lines] |= 1u << i % frame_lines;
    }

    /// Units of the slots of the two mixed slabs.
    static constexpr std::uint32_t mixed_units[16] = {1, 2, 3, 4, 100, 6, 7, 8, 1, 1, 1, 2, 5, 5, 1, 3};
    static constexpr std::uint32_t coarse_units[16] = {4, 8, 256, 12, 16, 4, 4, 48, 4, 4, 8, 4, 4, 4, 128, 4};

private:
    static kma_slab_plan planned()
    {
        ulong end;
        const kma_slab_plan all = kma_slab_plan_of(room, KMA_SLAB_CURSORS, 0, &end);
        return kma_slab_plan_within(all, (end - (room - frames) * std::uint64_t{KMA_SLAB_FRAME_UNITS}) * KMA_UNIT);
    }
    static std::uint32_t longest_run(std::uint32_t free)
    {
        std::uint32_t run = 0;
        for (; free != 0; free &= free >> 1)
            run++;
        return run;
    }

    // Of 64 bytes slots 0, 1, 33 and 127 are taken; of 768 bytes all ten.
    void add_pages()
    {
        for (std::uint32_t i = 0; i < frame_lines; i++) {
            metadata.words[page + i] = kma_slab_page_word(of_64, i);
            metadata.words[full_page + i] = kma_slab_page_word(of_768, i);
        }
        metadata.words[page] |= 1;
        metadata.words[page + 1] |= 3;
        metadata.words[page + 31] |= 8;
        for (std::uint32_t i = 0; i < 8; i++)
            metadata.words[full_page + i] |= i < 2 ? 3 : 1;
        claim(page, 2 * frame_lines);
        put(of_64, page / frame_lines);
        put(KMA_SLAB_EMPTY_TREE, page / frame_lines); // it was empty once
    }

    void add_slab(std::uint32_t line, std::uint32_t size_class, std::uint32_t shift)
    {
        const std::uint32_t units = kma_slab_units(size_class);
        for (std::uint32_t slot = 1; slot < 1u << shift; slot++)
            if (const std::uint32_t back = slot * units / line_units; back != 0)
                metadata.words[line + back] = kma_slab_rest_word(back, shift);
        metadata.words[line] = kma_slab_equal_word(size_class, shift);
        claim(line, kma_slab_whole_lines(units << shift));
    }

    // Slots 3 and 15 of 16 bytes are free, slot 1 of 320 bytes, slot 0 of 4 KiB.
    void add_equal()
    {
        add_slab(fine, 0, 4);
        metadata.words[fine] &= ~(1u << 3 | 1u << 15);
        put(0, fine / frame_lines);
        add_slab(wide, of_320, 4);
        metadata.words[wide] &= ~2u;
        put(of_320, wide / frame_lines);
        add_slab(pair, of_4096, 1);
        metadata.words[pair] &= ~1u;
        put(of_4096, pair / frame_lines);
        add_slab(single, of_8192, 0);
    }

    // As kma_slab_take_mixed writes it; then slots 2 and 14 are freed.
    void add_mixed(std::uint32_t line, bool is_coarse, const std::uint32_t (&units)[16])
    {
        const std::uint32_t unit = is_coarse ? 4 : 1;
        std::uint32_t planes = 0, total = 0;
        for (std::uint32_t slot = 0; slot < 16; slot++) {
            planes = std::max(planes, static_cast<std::uint32_t>(std::bit_width(units[slot] / unit - 1)));
            total += units[slot];
        }
        const std::uint32_t count = std::max(kma_slab_whole_lines(total), planes + 1);
        for (std::uint32_t slot = 0, offset = 0; slot < 16; offset += units[slot++])
            metadata.words[line + offset / line_units] = KMA_SLAB_REST | KMA_SLAB_MIXED | offset / line_units << 20;
        for (std::uint32_t p = 0; p < planes; p++) {
            std::uint32_t plane = 0;
            for (std::uint32_t slot = 0; slot < 16; slot++)
                plane |= ((units[slot] / unit - 1) >> p & 1) << slot;
            metadata.words[line + 1 + p] = KMA_SLAB_REST | KMA_SLAB_MIXED | (p + 1) << 20 | plane;
        }
        metadata.words[line] = KMA_SLAB_SLAB | KMA_SLAB_MIXED | (is_coarse ? KMA_SLAB_COARSE : 0) | (count - 1) << 20 |
                               planes << 17 | 0xbffb;
        claim(line, count);
        for (const std::uint32_t slot : {2, 14})
            put(kma_slab_class_of(units[slot]), line / frame_lines);
    }

    // Words that ended slabs and runs left, in free lines and within a run.
    void add_dead()
    {
        const std::uint32_t dead[] = {KMA_SLAB_SLAB | 5u << 22 | 4u << 16, KMA_SLAB_SLAB | KMA_SLAB_MIXED | 9u << 20,
                                      500, kma_slab_rest_word(200, 4)};
        for (std::uint32_t i = 0; i < 4; i++)
            metadata.words[1000 + i] = metadata.words[run + 10 + i] = dead[i];
    }
};

std::string joined(const std::vector<std::string> &sentences)
{
    std::string text;
    for (const std::string &sentence : sentences)
        text += sentence + "\n";
    return text;
}

// What check() says after a change of the metadata.
template <class Action> std::string after(Action action)
{
    Ledger ledger;
    action(ledger);
    return joined(ledger.check());
}

std::string after_word(std::uint32_t line, std::uint32_t value)
{
    return after([=](Ledger &ledger) { ledger.metadata.words[line] = value; });
}

std::string n(std::uint64_t number)
{
    return std::to_string(number);
}

} // namespace

TEST_CASE("check finds nothing in pages, slabs and runs of every form", "[slab]")
{
    CHECK(joined(Ledger().check()) == "");
}

TEST_CASE("blocks are where words and planes say", "[slab]")
{
    std::vector<Block> expected = {{0, 4}, {4, 4}, {33 * 4, 4}, {127 * 4, 4}};
    for (std::uint32_t slot = 0; slot < 10; slot++)
        expected.push_back({Ledger::full_page * line_units + slot * 48, 48});
    for (std::uint32_t slot = 0; slot < 15; slot++)
        if (slot != 3)
            expected.push_back({Ledger::fine * line_units + slot, 1});
    for (std::uint32_t slot = 0; slot < 16; slot++)
        if (slot != 1)
            expected.push_back({Ledger::wide * line_units + slot * 20, 20});
    const auto add_mixed = [&](std::uint32_t line, const std::uint32_t(&units)[16]) {
        for (std::uint32_t slot = 0, at = line * line_units; slot < 16; at += units[slot++])
            if (slot != 2 && slot != 14)
                expected.push_back({at, units[slot]});
    };
    add_mixed(Ledger::mixed, Ledger::mixed_units);
    add_mixed(Ledger::coarse, Ledger::coarse_units);
    expected.push_back({Ledger::pair * line_units + 256, 256});
    expected.push_back({Ledger::single * line_units, 512});
    expected.push_back({Ledger::run * line_units, Ledger::run_lines * line_units});
    CHECK(Ledger().visited() == expected);
}

TEST_CASE("check names what is wrong in a page", "[slab]")
{
    using L = Ledger;
    const std::uint32_t right = kma_slab_page_word(of_64, 5);
    for (const std::uint32_t wrong :
         {0u, right | 1u << 4, right | KMA_SLAB_ENDING, right ^ 1u << 16, kma_slab_page_word(of_768, 5)})
        CHECK(after_word(L::page + 5, wrong) == "the word of line 5 is " + n(wrong) + ", should be " + n(right) +
                                                    " and bits of slots that are taken\n");
    CHECK_THAT(after_word(L::full_page + 8, kma_slab_page_word(of_768, 8) | 1), // of the lines without slots
               contains("the word of line 40 is "));
    const std::uint32_t no_class = KMA_SLAB_PAGE | KMA_SLAB_PAGE_CLASSES << 24;
    CHECK_THAT(after_word(L::page, no_class),
               contains("line 0 has the word " + n(no_class) + " of a page that is none\n") &&
                   contains("line 1 has the word " + n(kma_slab_page_word(of_64, 1) | 3) + " of a page that is none\n") &&
                   contains("there are 22 more pages\n"));
    CHECK(after_word(1000, right) == "line 1000 has the word " + n(right) + " of a page that is none\n");
    // Another page's word in the first line makes all others wrong.
    CHECK_THAT(after_word(L::page, kma_slab_page_word(of_1024, 0)), contains("the word of line 1 is ") &&
                                                                        contains("there are 21 more words of pages\n"));
}

TEST_CASE("check names words that no slab has", "[slab]")
{
    const auto refused = [](std::uint32_t line, std::uint32_t word, std::uint32_t count) {
        CHECK_THAT(after_word(line, word),
                   contains("the slab at line " + n(line) + " has " + n(count) + " lines and a word that no slab has\n"));
    };
    refused(Ledger::run, KMA_SLAB_RUN, 0);
    refused(Ledger::run, KMA_SLAB_RUN | (lines - Ledger::run + 1), lines - Ledger::run + 1); // beyond the heap's end
    refused(Ledger::wide, kma_slab_equal_word(of_320, 3) | 1u << 8, 10);                      // a ninth slot
    refused(Ledger::fine, KMA_SLAB_SLAB | 1u << 22 | 5u << 16 | 1, 4);                        // 32 slots
    refused(Ledger::fine, KMA_SLAB_SLAB | 1u << 22 | 7u << 16 | 1, 16);
    refused(Ledger::single, KMA_SLAB_SLAB | KMA_SLAB_CLASSES << 22 | 1, 36); // of no class
    refused(lines - 1, kma_slab_equal_word(of_320, 4), 20);
    for (const std::uint32_t spare : {19, 20, 21, 28})
        refused(Ledger::wide, kma_slab_equal_word(of_320, 4) | 1u << spare, 20);
    CHECK_THAT(after([](Ledger &ledger) { ledger.metadata.words[Ledger::mixed] |= 1u << 16; }),
               contains("the slab at line 96 has 10 lines and a word that no slab has\n"));
    const auto mixed_word = [](std::uint32_t count, std::uint32_t planes) {
        return KMA_SLAB_SLAB | KMA_SLAB_MIXED | (count - 1) << 20 | planes << 17 | 0xffff;
    };
    refused(Ledger::mixed, mixed_word(7, 7), 7);                     // the last plane is not in it
    refused(Ledger::mixed, mixed_word(9, 7), 9);                     // 150 units in nine lines
    refused(Ledger::mixed, mixed_word(10, 7) | KMA_SLAB_COARSE, 10); // 600
    refused(lines - 1, mixed_word(1, 1), 1);
}

TEST_CASE("check names ways back that lead elsewhere, and words within another slab", "[slab]")
{
    const auto astray = [](std::uint32_t line, std::uint32_t back, std::uint32_t wrong) {
        CHECK(after_word(line, wrong) == "the word of line " + n(line) + " is " + n(wrong) +
                                             ", and should tell that its slab begins " + n(back) + " lines before\n");
    };
    astray(Ledger::wide + 1, 1, 0);
    astray(Ledger::wide + 18, 18, kma_slab_rest_word(17, 4));
    astray(Ledger::pair + 16, 16, KMA_SLAB_RUN_LINES & 77);
    astray(Ledger::coarse + 17, 17, KMA_SLAB_REST | KMA_SLAB_MIXED | 18 << 20);
    // No slot begins at these lines.
    CHECK(after_word(Ledger::pair + 15, 12345) == "");
    CHECK(after_word(Ledger::coarse + 10, KMA_SLAB_REST) == "");

    const auto within = [](std::uint32_t line, std::uint32_t first, std::uint32_t word) {
        CHECK_THAT(after_word(line, word), contains("line " + n(line) + " is of the slab at line " + n(first) +
                                                    ", and its word is that of another slab or page\n"));
    };
    within(Ledger::single + 1, Ledger::single, kma_slab_equal_word(0, 4));
    within(Ledger::single + 31, Ledger::single, kma_slab_page_word(0, 31));
    within(Ledger::run + 78, Ledger::run, KMA_SLAB_RUN | 1);
    within(Ledger::pair + 16, Ledger::pair, KMA_SLAB_SLAB | KMA_SLAB_MIXED | 1);
}

TEST_CASE("check names used words that are not as slabs and pages have them", "[slab]")
{
    const auto used = [](std::uint32_t frame, std::uint32_t wrong, std::uint32_t right) {
        CHECK_THAT(after([=](Ledger &ledger) { ledger.metadata.used[frame] = wrong; }),
                   contains("the used word of frame " + n(frame) + " is " + n(wrong) + ", should be " + n(right) +
                            " by the slabs and pages that are there\n"));
    };
    used(39, 0x8000, 0);
    used(0, ~1u, ~0u);
    used(10, 0x3fff, 0x7fff); // the run's end
    used(40, 0, ~0u);         // one that is still to come
    used(47, ~1u, ~0u);
    // A slab that ended, and one that lives in lines that are free.
    CHECK_THAT(after_word(Ledger::single, 0), contains("the used word of frame 6 is 4294967295, should be 0 by "));
    CHECK_THAT(after_word(1000, kma_slab_equal_word(0, 4)), contains("the used word of frame 31 is 0, should be 256 by "));
}

TEST_CASE("check names current lines beyond the heap", "[slab]")
{
    for (const std::uint32_t line : {lines, 0x80000000u, KMA_SLAB_NONE - 1})
        CHECK(after([=](Ledger &ledger) { ledger.metadata.current[5 * ledger.plan.shards] = line; }) ==
              "the current line of size class 5 in shard 0 is " + n(line) + ", and the heap has 1280 lines\n");
}

TEST_CASE("check names trees that miss something", "[slab]")
{
    const auto without_class = [](std::uint32_t size_class, std::uint32_t frame) {
        CHECK(after([=](Ledger &ledger) { ledger.remove(size_class, frame); }) ==
              "frame " + n(frame) + " has a free slot of size class " + n(size_class) + ", and is not in its tree\n");
    };
    without_class(of_64, 0);
    without_class(0, 2); // in slabs
    without_class(of_320, 2);
    without_class(of_4096, 5);
    for (const std::uint32_t slot : {2, 14}) {
        without_class(kma_slab_class_of(Ledger::mixed_units[slot]), 3);
        without_class(kma_slab_class_of(Ledger::coarse_units[slot]), 3);
    }
    CHECK(after([](Ledger &ledger) { ledger.remove(KMA_SLAB_EMPTY_TREE, 0); }) == ""); // it has blocks
    CHECK(after_word(Ledger::page + 2, kma_slab_page_word(of_64, 2) | KMA_SLAB_LISTED) == "");
    CHECK(after([](Ledger &ledger) {
              ledger.remove(KMA_SLAB_EMPTY_TREE, 0);
              ledger.metadata.words[Ledger::page + 2] |= KMA_SLAB_LISTED;
          }) == "line 2 tells that frame 0 is in the tree of empty pages, and it is not\n");
    const auto without_blocks = [](bool is_listed) {
        return after([=](Ledger &ledger) {
            for (std::uint32_t i = 0; i < frame_lines; i++)
                ledger.metadata.words[Ledger::page + i] = kma_slab_page_word(of_64, i);
            if (!is_listed)
                ledger.remove(KMA_SLAB_EMPTY_TREE, 0);
        });
    };
    CHECK(without_blocks(true) == "");
    CHECK(without_blocks(false) == "the page in frame 0 has no block, and is not in the tree of empty pages\n");

    const auto without_run = [](std::uint32_t run, std::uint32_t frame) {
        CHECK(after([=](Ledger &ledger) { ledger.remove(KMA_SLAB_RUN_TREE(run), frame); }) ==
              "frame " + n(frame) + " has " + n(run) + " free lines side by side, and is in no tree that tells\n");
        CHECK(after([=](Ledger &ledger) {
                  ledger.remove(KMA_SLAB_RUN_TREE(run), frame);
                  ledger.put(KMA_SLAB_RUN_TREE(run - 1), frame); // of a shorter run
              }) != "");
        CHECK(after([=](Ledger &ledger) {
                  ledger.remove(KMA_SLAB_RUN_TREE(run), frame);
                  ledger.put(KMA_SLAB_RUN_TREE(32), frame); // of a longer one
                  ledger.put(KMA_SLAB_GROUP_TREE(32), frame / 32);
              }) == "");
    };
    without_run(17, 10); // behind the run
    without_run(32, 39);
    CHECK(after([](Ledger &ledger) {
              for (std::uint32_t tree = 0; tree < KMA_SLAB_TREES; tree++)
                  if (tree <= KMA_SLAB_WHOLE_TREE || tree == KMA_SLAB_EMPTY_TREE)
                      for (std::uint32_t frame = 0; frame < frames; frame++)
                          ledger.put(tree, frame); // listings that go when a lane looks
                  else
                      for (std::uint32_t group = 0; group < groups; group++)
                          ledger.put(tree, group);
              ledger.put(KMA_SLAB_GROUP_TREE(32), 0);
          }) == "");
    for (const std::uint32_t group : {0u, 1u}) {
        const std::uint32_t run = Ledger().whole_run(group);
        const std::string sentence = "group " + n(group) + " has " + n(run) +
                                     " whole frames side by side, and is in no tree that tells\n";
        CHECK(after([=](Ledger &ledger) { ledger.remove(KMA_SLAB_GROUP_TREE(run), group); }) == sentence);
        CHECK(after([=](Ledger &ledger) {
                  ledger.remove(KMA_SLAB_GROUP_TREE(run), group);
                  ledger.put(KMA_SLAB_GROUP_TREE(run - 1), group);
              }) == sentence);
        CHECK(after([=](Ledger &ledger) {
                  ledger.remove(KMA_SLAB_GROUP_TREE(run), group);
                  ledger.put(KMA_SLAB_GROUP_TREE(32), group);
              }) == "");
    }
    CHECK(after([](Ledger &ledger) { ledger.put(KMA_SLAB_GROUP_TREE(3), groups); }) ==
          "the tree of 3 whole frames has group 2 of 2\n");

    const auto tree = [](std::uint32_t number, std::uint32_t word, std::uint32_t value) {
        return after([=](Ledger &ledger) { ledger.tree(number)[word] = value; });
    };
    CHECK(tree(5, 1, 1) == "word 1 of level 0 of the tree of free slots of size class 5 is not empty, and the word above it does not tell\n");
    CHECK(tree(of_4096, 2, 0) == "word 0 of level 0 of the tree of free slots of size class 47 is not empty, and the word above it does not tell\n");
    CHECK_THAT(tree(KMA_SLAB_EMPTY_TREE, 1, 0x10001),
               contains("word 1 of level 0 of the tree of empty pages has bits beyond its 16\n"));
    CHECK_THAT(tree(KMA_SLAB_RUN_TREE(7), 1, 0x10000), contains(" of the tree of 7 free lines has bits beyond its 16\n"));
    CHECK(tree(of_4096, 2, 5) == "word 0 of level 1 of the tree of free slots of size class 47 has bits beyond its 2\n");
}

TEST_CASE("check notices every single bit of used words, and of the words of pages", "[slab]")
{
    Ledger ledger;
    const auto each_bit = [&](const char *what, std::uint32_t &word, std::uint32_t number, std::uint32_t bits) {
        for (std::uint32_t bit = 0; bit < 32; bit++) {
            word ^= 1u << bit;
            if (ledger.check().empty() && (bits >> bit & 1u) != 0)
                FAIL_CHECK("nothing about bit " << bit << " of " << what << " " << number);
            word ^= 1u << bit;
        }
    };
    for (std::uint32_t frame = 0; frame < room; frame++)
        each_bit("used word", ledger.metadata.used[frame], frame, ~0u);
    for (std::uint32_t line = Ledger::page; line < Ledger::page + 32; line++) // but whether slots are taken, and the page is listed
        each_bit("word of line", ledger.metadata.words[line], line, ~(0xfu | KMA_SLAB_LISTED));
    each_bit("word of line", ledger.metadata.words[Ledger::wide], Ledger::wide, ~0xffffu);
    CHECK(joined(ledger.check()) == "");
}

TEST_CASE("the blocks of damaged slabs are within the heap, and apart", "[slab]")
{
    std::mt19937 random(1);
    for (int round = 0; round < 3000; round++) {
        CAPTURE(round);
        Ledger ledger;
        for (std::uint32_t count = 1 + random() % 12; count != 0; count--) {
            const std::uint32_t value = random() % 2 ? static_cast<std::uint32_t>(random()) : random() % 64;
            std::vector<std::uint32_t> &at = random() % 3 == 0 ? ledger.metadata.trees : ledger.metadata.words;
            const std::size_t likely = std::min<std::size_t>(at.size(), 350); // where slabs are
            if (random() % 2)
                at[random() % likely] = value;
            else
                at[random() % likely] ^= 1u << random() % 32;
        }
        ledger.check();
        std::uint64_t end = 0;
        for (const Block &block : ledger.visited()) {
            CHECK(block.unit >= end);
            CHECK(block.units != 0);
            end = std::uint64_t{block.unit} + block.units;
            CHECK(end <= lines * std::uint64_t{line_units});
        }
    }
}
