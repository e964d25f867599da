// What the host makes of a slab heap's metadata, without a device: pages, slabs and runs of every form, which no device
// need make, the blocks in them, and a sentence for each invariant that is broken.
#include <algorithm>
#include <bit>
#include <functional>
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
// Classes, by bytes.
constexpr std::uint32_t of_64 = 3, of_320 = 17, of_768 = 27, of_1024 = 31, of_4096 = 47, of_8192 = 55;

struct Block {
    std::uint32_t unit, units;
    bool operator==(const Block &) const = default;
};

constexpr std::uint32_t longest_run(std::uint32_t free)
{
    std::uint32_t run = 0;
    for (; free != 0; free &= free >> 1)
        run++;
    return run;
}

// The metadata of a heap with a page, a slab or a run of each form, as the device writes them.
class Ledger {
public:
    // Where they begin: pages of 64 and 768 bytes; slabs of 16 slots of 16 and 320 bytes, of two of 4 KiB, of one of
    // 8 KiB; mixed slabs with sizes in units and in fours of them; a run of 79 lines.
    static constexpr std::uint32_t page = 0, full_page = 32, fine = 64, wide = 70, mixed = 96, coarse = 110, pair = 160,
                                   single = 192, run = 256, run_lines = 79;
    /// Units of the slots of the two mixed slabs.
    static constexpr std::uint32_t mixed_units[16] = {1, 2, 3, 4, 100, 6, 7, 8, 1, 1, 1, 2, 5, 5, 1, 3};
    static constexpr std::uint32_t coarse_units[16] = {4, 8, 256, 12, 16, 4, 4, 48, 4, 4, 8, 4, 4, 4, 128, 4};

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
        // Slots 3 and 15 of 16 bytes are free, slot 1 of 320 bytes, slot 0 of 4 KiB.
        add_slab(fine, 0, 4, 1u << 3 | 1u << 15);
        add_slab(wide, of_320, 4, 2);
        add_slab(pair, of_4096, 1, 1);
        add_slab(single, of_8192, 0, 0);
        add_mixed(mixed, false, mixed_units);
        add_mixed(coarse, true, coarse_units);
        claim(run, run_lines);
        metadata.words[run] = KMA_SLAB_RUN | run_lines;
        // Words that ended slabs and runs left, in free lines and within a run.
        const std::uint32_t dead[] = {KMA_SLAB_SLAB | 5u << 22 | 4u << 16, KMA_SLAB_SLAB | KMA_SLAB_MIXED | 9u << 20,
                                      500, kma_slab_rest_word(200, 4)};
        for (std::uint32_t i = 0; i < 4; i++)
            metadata.words[1000 + i] = metadata.words[run + 10 + i] = dead[i];
        for (std::uint32_t frame = 0; frame < frames; frame++)
            if (const std::uint32_t longest = longest_run(~metadata.used[frame]); longest != 0)
                put(KMA_SLAB_RUN_TREE(longest), frame);
        for (std::uint32_t group = 0; group < groups; group++)
            put(KMA_SLAB_GROUP_TREE(whole_run(group)), group);
    }

    std::string check() const
    {
        kma::Findings findings;
        kma::check_slab(plan, metadata, findings);
        std::string text;
        for (const std::string &sentence : findings.take())
            text += sentence + "\n";
        return text;
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

private:
    static kma_slab_plan planned()
    {
        ulong end;
        const kma_slab_plan all = kma_slab_plan_of(room, KMA_SLAB_CURSORS, 0, &end);
        return kma_slab_plan_within(all, (end - (room - frames) * std::uint64_t{KMA_SLAB_FRAME_UNITS}) * KMA_UNIT);
    }

    void claim(std::uint32_t line, std::uint32_t count)
    {
        for (std::uint32_t i = line; i < line + count; i++)
            metadata.used[i / frame_lines] |= 1u << i % frame_lines;
    }

    // Of 64 bytes slots 0, 1, 33 and 127 are taken; of 768 bytes all ten.
    void add_pages()
    {
        for (std::uint32_t i = 0; i < frame_lines; i++) {
            metadata.words[page + i] = kma_slab_page_word(of_64, i);
            metadata.words[full_page + i] = kma_slab_page_word(of_768, i) | (i < 2 ? 3 : i < 8 ? 1 : 0);
        }
        metadata.words[page] |= 1;
        metadata.words[page + 1] |= 3;
        metadata.words[page + 31] |= 8;
        claim(page, 2 * frame_lines);
        put(of_64, page / frame_lines);
        put(KMA_SLAB_EMPTY_TREE, page / frame_lines); // it was empty once
    }

    void add_slab(std::uint32_t line, std::uint32_t size_class, std::uint32_t shift, std::uint32_t free)
    {
        const std::uint32_t units = kma_slab_units(size_class);
        for (std::uint32_t slot = 1; slot < 1u << shift; slot++)
            if (const std::uint32_t back = slot * units / line_units; back != 0)
                metadata.words[line + back] = kma_slab_rest_word(back, shift);
        metadata.words[line] = kma_slab_equal_word(size_class, shift) & ~free;
        claim(line, kma_slab_whole_lines(units << shift));
        if (free != 0)
            put(size_class, line / frame_lines);
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
};

using L = Ledger;
using Action = std::function<void(Ledger &)>;

std::string n(std::uint64_t number)
{
    return std::to_string(number);
}

// What check() says after a change of the metadata: this sentence among others, exactly it, nothing.
std::string after(const Action &action)
{
    Ledger ledger;
    action(ledger);
    return ledger.check();
}
void says(const Action &action, const std::string &sentence) { CHECK_THAT(after(action), contains(sentence)); }
void says_only(const Action &action, const std::string &sentence) { CHECK(after(action) == sentence + "\n"); }
void is_fine(const Action &action) { CHECK(after(action) == ""); }

Action word(std::uint32_t line, std::uint32_t value)
{
    return [=](Ledger &ledger) { ledger.metadata.words[line] = value; };
}
Action tree_word(std::uint32_t number, std::uint32_t at, std::uint32_t value)
{
    return [=](Ledger &ledger) { ledger.tree(number)[at] = value; };
}
Action without(std::uint32_t number, std::uint32_t frame)
{
    return [=](Ledger &ledger) { ledger.remove(number, frame); };
}
Action moved(std::uint32_t from, std::uint32_t to, std::uint32_t frame)
{
    return [=](Ledger &ledger) {
        ledger.remove(from, frame);
        ledger.put(to, frame);
    };
}

} // namespace

TEST_CASE("blocks are where words and planes say, and check finds nothing in them", "[slab]")
{
    CHECK(Ledger().check() == "");
    std::vector<Block> expected = {{0, 4}, {4, 4}, {33 * 4, 4}, {127 * 4, 4}};
    for (std::uint32_t slot = 0; slot < 10; slot++)
        expected.push_back({L::full_page * line_units + slot * 48, 48});
    for (std::uint32_t slot = 0; slot < 15; slot++)
        if (slot != 3)
            expected.push_back({L::fine * line_units + slot, 1});
    for (std::uint32_t slot = 0; slot < 16; slot++)
        if (slot != 1)
            expected.push_back({L::wide * line_units + slot * 20, 20});
    const auto add_mixed = [&](std::uint32_t line, const std::uint32_t(&units)[16]) {
        for (std::uint32_t slot = 0, at = line * line_units; slot < 16; at += units[slot++])
            if (slot != 2 && slot != 14)
                expected.push_back({at, units[slot]});
    };
    add_mixed(L::mixed, L::mixed_units);
    add_mixed(L::coarse, L::coarse_units);
    expected.push_back({L::pair * line_units + 256, 256});
    expected.push_back({L::single * line_units, 512});
    expected.push_back({L::run * line_units, L::run_lines * line_units});
    CHECK(Ledger().visited() == expected);
}

TEST_CASE("check names what is wrong in pages and slabs", "[slab]")
{
    const std::uint32_t right = kma_slab_page_word(of_64, 5), no_class = KMA_SLAB_PAGE | KMA_SLAB_PAGE_CLASSES << 24;
    for (const std::uint32_t wrong :
         {0u, right | 1u << 4, right | KMA_SLAB_ENDING, right ^ 1u << 16, kma_slab_page_word(of_768, 5)})
        says_only(word(L::page + 5, wrong), "the word of line 5 is " + n(wrong) + ", should be " + n(right) +
                                                " and bits of slots that are taken");
    says(word(L::full_page + 8, kma_slab_page_word(of_768, 8) | 1), "the word of line 40 is "); // a line without slots
    CHECK_THAT(
        after(word(L::page, no_class)),
        contains("line 0 has the word " + n(no_class) + " of a page that is none\n") &&
            contains("line 1 has the word " + n(kma_slab_page_word(of_64, 1) | 3) + " of a page that is none\n") &&
            contains("there are 22 more pages\n"));
    says_only(word(1000, right), "line 1000 has the word " + n(right) + " of a page that is none");
    // Another page's word in the first line makes all others wrong.
    CHECK_THAT(after(word(L::page, kma_slab_page_word(of_1024, 0))),
               contains("the word of line 1 is ") && contains("there are 21 more words of pages\n"));

    const auto mixed_word = [](std::uint32_t count, std::uint32_t planes) {
        return KMA_SLAB_SLAB | KMA_SLAB_MIXED | (count - 1) << 20 | planes << 17 | 0xffff;
    };
    const std::uint32_t wide = kma_slab_equal_word(of_320, 4);
    const struct {
        std::uint32_t line, word, count;
    } no_slabs[] = {
        {L::run, KMA_SLAB_RUN, 0},
        {L::run, KMA_SLAB_RUN | (lines - L::run + 1), lines - L::run + 1}, // beyond the heap's end
        {L::wide, kma_slab_equal_word(of_320, 3) | 1u << 8, 10},           // a ninth slot
        {L::fine, KMA_SLAB_SLAB | 1u << 22 | 5u << 16 | 1, 4},             // 32 slots
        {L::fine, KMA_SLAB_SLAB | 1u << 22 | 7u << 16 | 1, 16},
        {L::single, KMA_SLAB_SLAB | KMA_SLAB_CLASSES << 22 | 1, 36}, // of no class
        {lines - 1, wide, 20},
        {L::wide, wide | 1u << 19, 20}, // spare bits
        {L::wide, wide | 1u << 20, 20},
        {L::wide, wide | 1u << 21, 20},
        {L::wide, wide | 1u << 28, 20},
        {L::mixed, Ledger().metadata.words[L::mixed] | 1u << 16, 10},
        {L::mixed, mixed_word(7, 7), 7},                     // the last plane is not in it
        {L::mixed, mixed_word(9, 7), 9},                     // 150 units in nine lines
        {L::mixed, mixed_word(10, 7) | KMA_SLAB_COARSE, 10}, // 600
        {lines - 1, mixed_word(1, 1), 1},
    };
    for (const auto &[line, value, count] : no_slabs)
        says(word(line, value),
             "the slab at line " + n(line) + " has " + n(count) + " lines and a word that no slab has\n");

    const auto astray = [](std::uint32_t first, std::uint32_t back, std::uint32_t wrong) {
        says_only(word(first + back, wrong), "the word of line " + n(first + back) + " is " + n(wrong) +
                                                 ", and should tell that its slab begins " + n(back) + " lines before");
    };
    astray(L::wide, 1, 0);
    astray(L::wide, 18, kma_slab_rest_word(17, 4));
    astray(L::pair, 16, KMA_SLAB_RUN_LINES & 77);
    astray(L::coarse, 17, KMA_SLAB_REST | KMA_SLAB_MIXED | 18 << 20);
    is_fine(word(L::pair + 15, 12345)); // no slot begins at these lines
    is_fine(word(L::coarse + 10, KMA_SLAB_REST));
    const auto within = [](std::uint32_t first, std::uint32_t at, std::uint32_t value) {
        says(word(first + at, value), "line " + n(first + at) + " is of the slab at line " + n(first) +
                                          ", and its word is that of another slab or page\n");
    };
    within(L::single, 1, kma_slab_equal_word(0, 4));
    within(L::single, 31, kma_slab_page_word(0, 31));
    within(L::run, 78, KMA_SLAB_RUN | 1);
    within(L::pair, 16, KMA_SLAB_SLAB | KMA_SLAB_MIXED | 1);

    const auto used = [](std::uint32_t frame, std::uint32_t wrong, std::uint32_t right) {
        says([=](Ledger &ledger) { ledger.metadata.used[frame] = wrong; },
             "the used word of frame " + n(frame) + " is " + n(wrong) + ", should be " + n(right) +
                 " by the slabs and pages that are there\n");
    };
    used(39, 0x8000, 0);
    used(0, ~1u, ~0u);
    used(10, 0x3fff, 0x7fff); // the run's end
    used(40, 0, ~0u);         // one that is still to come
    used(47, ~1u, ~0u);
    // A slab that ended, and one that lives in lines that are free.
    says(word(L::single, 0), "the used word of frame 6 is 4294967295, should be 0 by ");
    says(word(1000, kma_slab_equal_word(0, 4)), "the used word of frame 31 is 0, should be 256 by ");

    for (const std::uint32_t line : {lines, 0x80000000u, KMA_SLAB_NONE - 1})
        says_only([=](Ledger &ledger) { ledger.metadata.current[5 * ledger.plan.shards] = line; },
                  "the current line of size class 5 in shard 0 is " + n(line) + ", and the heap has 1280 lines");
}

TEST_CASE("check names trees that miss something", "[slab]")
{
    std::vector<std::pair<std::uint32_t, std::uint32_t>> free_slots = {{of_64, 0}, {0, 2}, {of_320, 2}, {of_4096, 5}};
    for (const std::uint32_t slot : {2, 14})
        for (const auto &units : {L::mixed_units, L::coarse_units})
            free_slots.emplace_back(kma_slab_class_of(units[slot]), 3);
    for (const auto &[size_class, frame] : free_slots)
        says_only(without(size_class, frame),
                  "frame " + n(frame) + " has a free slot of size class " + n(size_class) + ", and is not in its tree");
    const auto list = [](Ledger &ledger) { ledger.metadata.words[L::page + 2] |= KMA_SLAB_LISTED; };
    is_fine(without(KMA_SLAB_EMPTY_TREE, 0)); // it has blocks
    is_fine(list);
    says_only(
        [&](Ledger &ledger) {
            ledger.remove(KMA_SLAB_EMPTY_TREE, 0);
            list(ledger);
        },
        "line 2 tells that frame 0 is in the tree of empty pages, and it is not");
    const auto empty_page = [](Ledger &ledger) {
        for (std::uint32_t i = 0; i < frame_lines; i++)
            ledger.metadata.words[L::page + i] = kma_slab_page_word(of_64, i);
    };
    is_fine(empty_page);
    says_only(
        [&](Ledger &ledger) {
            empty_page(ledger);
            ledger.remove(KMA_SLAB_EMPTY_TREE, 0);
        },
        "the page in frame 0 has no block, and is not in the tree of empty pages");

    // A frame in the tree of a shorter run is missed as well; in one of a longer run it is found.
    for (const auto &[run, frame] : {std::pair(17u, 10u), std::pair(32u, 39u)}) { // the first is behind the run
        const std::uint32_t of_run = KMA_SLAB_RUN_TREE(run);
        says_only(without(of_run, frame),
                  "frame " + n(frame) + " has " + n(run) + " free lines side by side, and is in no tree that tells");
        CHECK(after(moved(of_run, KMA_SLAB_RUN_TREE(run - 1), frame)) != "");
        is_fine([&](Ledger &ledger) {
            moved(of_run, KMA_SLAB_RUN_TREE(32), frame)(ledger);
            ledger.put(KMA_SLAB_GROUP_TREE(32), frame / 32);
        });
    }
    is_fine([](Ledger &ledger) { // listings that go when a lane looks
        for (std::uint32_t tree = 0; tree < KMA_SLAB_TREES; tree++) {
            const bool is_of_frames = tree <= KMA_SLAB_WHOLE_TREE || tree == KMA_SLAB_EMPTY_TREE;
            for (std::uint32_t i = 0; i < (is_of_frames ? frames : groups); i++)
                ledger.put(tree, i);
        }
        ledger.put(KMA_SLAB_GROUP_TREE(32), 0);
    });
    for (const std::uint32_t group : {0u, 1u}) {
        const std::uint32_t run = Ledger().whole_run(group), of_run = KMA_SLAB_GROUP_TREE(run);
        const std::string sentence =
            "group " + n(group) + " has " + n(run) + " whole frames side by side, and is in no tree that tells";
        says_only(without(of_run, group), sentence);
        says_only(moved(of_run, KMA_SLAB_GROUP_TREE(run - 1), group), sentence);
        is_fine(moved(of_run, KMA_SLAB_GROUP_TREE(32), group));
    }
    says_only([](Ledger &ledger) { ledger.put(KMA_SLAB_GROUP_TREE(3), groups); },
              "the tree of 3 whole frames has group 2 of 2");
    says_only(tree_word(5, 1, 1),
              "word 1 of level 0 of the tree of free slots of size class 5 is not empty, and the word "
              "above it does not tell");
    says_only(tree_word(of_4096, 2, 0),
              "word 0 of level 0 of the tree of free slots of size class 47 is not empty, and "
              "the word above it does not tell");
    says(tree_word(KMA_SLAB_EMPTY_TREE, 1, 0x10001),
         "word 1 of level 0 of the tree of empty pages has bits beyond its 16\n");
    says(tree_word(KMA_SLAB_RUN_TREE(7), 1, 0x10000), " of the tree of 7 free lines has bits beyond its 16\n");
    says_only(tree_word(of_4096, 2, 5),
              "word 0 of level 1 of the tree of free slots of size class 47 has bits beyond its 2");
}

TEST_CASE("check notices every single bit of used words, and of the words of pages", "[slab]")
{
    Ledger ledger;
    const auto each_bit = [&](const char *what, std::uint32_t &at, std::uint32_t number, std::uint32_t bits) {
        for (std::uint32_t bit = 0; bit < 32; bit++) {
            at ^= 1u << bit;
            if (ledger.check().empty() && (bits >> bit & 1u) != 0)
                FAIL_CHECK("nothing about bit " << bit << " of " << what << " " << number);
            at ^= 1u << bit;
        }
    };
    for (std::uint32_t frame = 0; frame < room; frame++)
        each_bit("used word", ledger.metadata.used[frame], frame, ~0u);
    for (std::uint32_t line = L::page; line < L::page + 32; line++) // except taken slots, and that the page is listed
        each_bit("word of line", ledger.metadata.words[line], line, ~(0xfu | KMA_SLAB_LISTED));
    each_bit("word of line", ledger.metadata.words[L::wide], L::wide, ~0xffffu);
    CHECK(ledger.check() == "");
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
            std::uint32_t &there = at[random() % std::min<std::size_t>(at.size(), 350)]; // where slabs are
            there = random() % 2 ? value : there ^ 1u << random() % 32;
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
