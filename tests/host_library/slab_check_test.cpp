// What the host makes of a slab heap's metadata, without a device: slabs of every form, the blocks in them, and a
// sentence for each invariant that is broken. slab_heap_test.cpp has heaps that kernels used.
#include <algorithm>
#include <random>

#include "catch.hpp"
#include "slab_check.hpp"

using kma::SlabBooks;
using namespace kma::layout;

namespace {

constexpr std::uint32_t chunks = 40, room = 48; // of which the last are still to come
constexpr std::uint32_t lines = chunks * KMA_SL_LINE;
constexpr std::uint32_t of_96 = 35; // the class of 96 units, the largest that fits into 100

struct Block {
    std::uint32_t unit, units;
    bool operator==(const Block &) const = default;
};

// The books of a heap with a slab of each form; two of these are at heads, two others have holes.
class Ledger {
public:
    // Where slabs begin.
    static constexpr std::uint32_t fine = 0, small = 2, mixed = 8, coarse = 20, equal = 41, shared = 100, run = 132;

    kma_sl_plan plan = planned();
    SlabBooks books;

    Ledger()
    {
        books.heads.resize(kma_sl_heads(plan.places));
        books.used.assign(room, 0);
        std::fill(books.used.begin() + chunks, books.used.end(), ~0u);
        books.pins.resize(room);
        books.marks.resize(std::size_t{room} * (KMA_SL_LINE / KMA_SL_MARKS));
        books.trees.resize(std::size_t{plan.tree_words} * KMA_SL_TREES);
        books.words.resize(std::size_t{room} * KMA_SL_LINE);
        books.rooms = {~0u, (1u << (chunks - 32)) - 1};
        books.seekers = 0;
        books.headed[0] = books.headed[KMA_SL_CLASSES - 1] = 1;
        add_equal();
        add_mixed();
    }

    std::vector<std::string> check() const
    {
        kma::Findings findings;
        kma::check_slab(plan, books, findings);
        return findings.take();
    }
    std::vector<Block> visited() const
    {
        std::vector<Block> all;
        kma::for_each_slab_block(plan, books, [&](std::uint32_t, std::uint32_t unit, std::uint32_t units) {
            all.push_back({unit, units});
        });
        return all;
    }
    void mark(std::uint32_t line, std::uint32_t value)
    {
        std::uint32_t &word = books.marks[line / KMA_SL_MARKS];
        const std::uint32_t shift = line % KMA_SL_MARKS * 4;
        word = (word & ~(15u << shift)) | value << shift;
    }
    std::uint32_t *tree(std::uint32_t size_class) { return &books.trees[std::size_t{size_class} * plan.tree_words]; }

private:
    static kma_sl_plan planned()
    {
        ulong end;
        const kma_sl_plan all = kma_sl_plan_of(room, KMA_SL_CURSORS, 0, &end);
        return kma_sl_plan_within(all, (end - (room - chunks) * 1024ull) * KMA_UNIT);
    }

    void put(std::uint32_t size_class, std::uint32_t chunk)
    {
        tree(size_class)[chunk / 32] |= 1u << chunk % 32;
        tree(size_class)[plan.tree_words - 1] |= 1u << chunk / 32;
    }

    void claim(std::uint32_t line, std::uint32_t count, std::uint32_t form, std::uint32_t owners)
    {
        for (std::uint32_t i = line; i < line + count; i++)
            books.used[i / KMA_SL_LINE] |= 1u << i % KMA_SL_LINE;
        mark(line, form);
        books.words[line] = owners;
        if (owners != 1u) // a run's blocks are found by its start
            for (std::uint32_t at = (line + 9 + 7) / 8 * 8; at < line + count; at += 8)
                books.words[at] = 0x80000000u | (at - line);
    }

    // 16 bytes; twelve of 1,600 bytes, of which two are free; four of 4 KiB; a run of 40 lines.
    void add_equal()
    {
        claim(fine, 1, KMA_SL_MARK_FINE | KMA_SL_MARK_HOLEY, 0x7);
        books.heads[0] = kma_sl_head_of(fine, 0);
        claim(equal, 38, KMA_SL_MARK_HEADER | KMA_SL_MARK_HOLEY, 0xbdf);
        books.words[equal + 1] = 0x80000000u | 100 << 6 | 12;
        put(of_96, equal / 32);
        claim(shared, 32, KMA_SL_MARK_HEADER | KMA_SL_MARK_HOLEY, 0x3);
        books.words[shared + 1] = 0x80000000u | 256 << 6 | 4;
        books.heads[KMA_SL_CLASSES - 1] = kma_sl_head_of(shared, 0);
        claim(run, 40, KMA_SL_MARK_HEADER, 1);
        books.words[run + 1] = 0xc0000000u | 40;
    }

    // 1 + s % 4 units for slot s; then slots 0, 5 and 31 of 3 and 100 units and what is left; then, counted in fours,
    // slots 2, 17 and 30 of 4, 256 and 36 units, the second of which is free.
    void add_mixed()
    {
        claim(small, 3, KMA_SL_MARK_SMALL, ~0u);
        books.words[small + 1] = 0xaaaaaaaau;
        books.words[small + 2] = 0x80000000u | 0x4ccccccc;
        claim(mixed, 9, KMA_SL_MARK_HEADER, 1u | 1u << 5 | 1u << 31);
        books.words[mixed + 1] = 0xa0000000u | 9 << 8 | 1 << 6 | 7;
        const std::uint32_t sizes[] = {3, 100};
        for (std::uint32_t p = 0; p < 7; p++)
            books.words[mixed + 2 + p] = 0x80000000u | (sizes[0] >> p & 1u) | (sizes[1] >> p & 1u) << 5;
        claim(coarse, 10, KMA_SL_MARK_HEADER | KMA_SL_MARK_HOLEY, 1u << 2 | 1u << 30);
        books.words[coarse + 1] = 0xa0000000u | 10 << 8 | 1 << 7 | 7;
        const std::uint32_t fours[] = {1, 64, 9};
        for (std::uint32_t p = 0; p < 7; p++)
            books.words[coarse + 2 + p] =
                0x80000000u | (fours[0] >> p & 1u) << 2 | (fours[1] >> p & 1u) << 17 | (fours[2] >> p & 1u) << 30;
        put(KMA_SL_CLASSES - 1, coarse / 32);
    }
};

std::string joined(const std::vector<std::string> &sentences)
{
    std::string text;
    for (const std::string &sentence : sentences)
        text += sentence + "\n";
    return text;
}

// What check() says after a change of the books.
template <class Action> std::string after(Action action)
{
    Ledger ledger;
    action(ledger);
    return joined(ledger.check());
}

std::string after_word(std::uint32_t line, std::uint32_t value)
{
    return after([=](Ledger &ledger) { ledger.books.words[line] = value; });
}

std::string after_mark(std::uint32_t line, std::uint32_t value)
{
    return after([=](Ledger &ledger) { ledger.mark(line, value); });
}

} // namespace

TEST_CASE("check finds nothing in slabs of every form", "[slab]")
{
    CHECK(joined(Ledger().check()) == "");
}

TEST_CASE("blocks are where marks, headers and planes say", "[slab]")
{
    std::vector<Block> expected = {{1, 1}, {2, 1}};
    std::uint32_t at = Ledger::small * 32;
    for (std::uint32_t slot = 0; slot < 31; slot++) {
        expected.push_back({at, 1 + slot % 4});
        at += 1 + slot % 4;
    }
    expected.push_back({at, 20}); // to the end of the third line
    const std::uint32_t mixed = Ledger::mixed * 32, coarse = Ledger::coarse * 32, equal = Ledger::equal * 32;
    for (const Block &block : {Block{mixed, 3}, Block{mixed + 3, 100}, Block{mixed + 103, 9 * 32 - 103},
                               Block{coarse, 4}, Block{coarse + 4 + 256, 36}})
        expected.push_back(block);
    for (const std::uint32_t slot : {0, 1, 2, 3, 4, 6, 7, 8, 9, 11})
        expected.push_back({equal + slot * 100, 100});
    expected.push_back({Ledger::shared * 32 + 256, 256});
    expected.push_back({Ledger::run * 32, 40 * 32});
    CHECK(Ledger().visited() == expected);
}

TEST_CASE("check names what is wrong in a slab", "[slab]")
{
    using L = Ledger;
    CHECK_THAT(after_word(L::fine, 0), contains("the slab at line 0 has no owners\n"));
    CHECK_THAT(after_word(L::equal, 0x1bdf), contains("the slab at line 41 has owners of slots that it has not\n"));
    CHECK_THAT(after_word(L::coarse, 1u << 2 | 1u << 29), contains("the slab at line 20 has owners of slots that it"));
    CHECK_THAT(after_mark(L::run, KMA_SL_MARK_HEADER | KMA_SL_MARK_CLOSED),
               contains("the slab at line 132 is closed, and nobody has buried it\n"));
    CHECK_THAT(after_mark(L::equal, KMA_SL_MARK_HEADER),
               contains("the slab at line 41 has free slots, and is not marked so\n"));
    CHECK(after_mark(L::run, KMA_SL_MARK_HEADER | KMA_SL_MARK_HOLEY) == ""); // it had a hole
    CHECK_THAT(after_mark(L::run + 39, KMA_SL_MARK_FINE),
               contains("the mark of line 171 is 1, and the slab at line 132 has 40 lines\n"));
    CHECK(after_mark(1000, KMA_SL_MARK_HOLEY) == "the mark of line 1000 is 8, and no slab begins there\n");
    CHECK(after_mark(lines, KMA_SL_MARK_HOLEY) == "the mark of line 1280, which is still to come, is 8, should be 0\n");
    CHECK_THAT(after_mark(1000, KMA_SL_MARK_FINE),
               contains("the slab at line 1000 has no owners\n") &&
                   contains("the word of chunk 31's lines is 0, should be 256 by the slabs that are there\n"));
}

TEST_CASE("check names data that are none, and ways back that lead elsewhere", "[slab]")
{
    const auto no_data = [](std::uint32_t line, std::uint32_t first) {
        const std::string text = after([=](Ledger &ledger) { ledger.books.words[line] &= ~KMA_SL_DATA; });
        CHECK_THAT(text, contains("the word of line " + std::to_string(line) + " is ") &&
                             contains(", and should have bit 31 set: it is of the slab at line " +
                                      std::to_string(first) + "\n"));
    };
    for (const std::uint32_t line : {1, 2})
        no_data(Ledger::small + line, Ledger::small);
    for (std::uint32_t line = 1; line <= 8; line++) {
        no_data(Ledger::mixed + line, Ledger::mixed);
        no_data(Ledger::coarse + line, Ledger::coarse);
    }
    for (const std::uint32_t first : {Ledger::equal, Ledger::shared, Ledger::run})
        no_data(first + 1, first);
    for (const std::uint32_t line : {56, 64, 72})
        CHECK(after_word(line, 5) == "the word of line " + std::to_string(line) + " is 5, should be " +
                                         std::to_string(0x80000000u + line - 41) + ": the slab begins " +
                                         std::to_string(line - 41) + " lines before\n");
    CHECK_THAT(after_word(128, 0x80000000u | 27), contains(": the slab begins 28 lines before\n"));
    CHECK(after_word(Ledger::run + 12, 5) == ""); // 144, of a run
}

TEST_CASE("check names headers and planes that no slab has", "[slab]")
{
    const auto refused = [](std::uint32_t first, std::uint32_t header) {
        CHECK_THAT(after_word(first + 1, header), contains("the slab at line " + std::to_string(first) + " has ") &&
                                                      contains(" lines and a header that no slab has\n"));
    };
    refused(Ledger::run, kma_sl_run_header(lines - Ledger::run + 1)); // beyond the heap's end
    refused(Ledger::run, kma_sl_run_header(1));                       // without room for its header
    refused(Ledger::run, kma_sl_run_header(0));
    refused(Ledger::equal, 0);
    refused(Ledger::equal, kma_sl_equal_header(100, 0));
    refused(Ledger::equal, kma_sl_equal_header(0, 12));
    refused(Ledger::equal, kma_sl_equal_header(KMA_SL_VALUE >> 6, 63));
    refused(Ledger::mixed, kma_sl_mixed_header(8, false, true, 7));  // without room for its planes
    refused(Ledger::mixed, kma_sl_mixed_header(9, true, true, 7));   // 412 units in nine lines
    refused(Ledger::coarse, kma_sl_mixed_header(9, true, false, 7)); // 296 units
    refused(Ledger::coarse, kma_sl_mixed_header(10, true, false, 0));
    const auto room_for_last = [](std::uint32_t units) { // of slot 31, behind slots of 127, 127 and the rest
        return after([=](Ledger &ledger) {
            for (std::uint32_t p = 0; p < 7; p++)
                ledger.books.words[Ledger::mixed + 2 + p] =
                    0x80000000u | 1u | 1u << 5 | ((9 * 32 - 2 * 127 - units) >> p & 1u) << 6;
        });
    };
    CHECK_THAT(room_for_last(1), contains("has free slots") && !contains("no slab has"));
    CHECK_THAT(room_for_last(0), contains("the slab at line 8 has 9 lines and a header that no slab has\n"));
    // A mark at the last line, whose header would be beyond it.
    CHECK_THAT(after_mark(lines - 1, KMA_SL_MARK_HEADER), contains("the slab at line 1279 has "));
    CHECK_THAT(after_mark(lines - 1, KMA_SL_MARK_SMALL), contains("the slab at line 1279 has "));
}

TEST_CASE("check names heads that name nothing, or another's slab", "[slab]")
{
    const auto head = [](std::uint32_t size_class, std::uint32_t value) {
        return after([=](Ledger &ledger) {
            std::uint32_t &changed = ledger.books.heads[size_class];
            ledger.books.headed[size_class] = value != 0 ? 1 : 0;
            changed = value;
        });
    };
    CHECK(head(3, kma_sl_head_of(1000, 0)) == "the head of size class 3 says line 1000, and no slab begins there\n");
    CHECK(head(3, kma_sl_head_of(lines, 0)) == "the head of size class 3 says line 1280, and no slab begins there\n");
    CHECK(head(3, kma_sl_head_of(5000000, 31)) ==
          "the head of size class 3 says line 5000000, and no slab begins there\n");
    CHECK_THAT(head(47, KMA_SL_HEAD_BUSY),
               contains("the head of size class 47 is being given a slab, and nobody is there\n"));
    CHECK_THAT(head(of_96, kma_sl_head_of(Ledger::equal, 0)),
               contains("the head of size class 35 has the slab at line 41, which is of another size\n"));
    CHECK_THAT(head(3, kma_sl_head_of(Ledger::fine, 0)),
               contains("which is of another size\n") && contains("a slot of the slab at line 0 is two heads'\n"));
    CHECK_THAT(head(3, kma_sl_head_of(Ledger::fine, 1)),
               contains("which is of another size\n") && !contains("two heads'"));
    CHECK(after_word(Ledger::shared, 2) ==
          "the head of size class 47 has the slab at line 100, and not its own slot of it\n");
    CHECK(head(47, kma_sl_head_of(Ledger::shared, 2)) ==
          "the head of size class 47 has the slab at line 100, and not its own slot of it\n");
    CHECK(after_word(Ledger::shared + 1, 0x80000000u | 255 << 6 | 4).find("which is of another size\n") !=
          std::string::npos);
    // Without the head its slab's free slots are holes that are not listed.
    CHECK(head(47, 0) == "chunk 3 has a hole of size class 47, and is not in its tree\n");
    CHECK_THAT(after([](Ledger &ledger) {
                   ledger.books.heads[47] = 0;
                   ledger.mark(Ledger::shared, KMA_SL_MARK_HEADER);
               }),
               contains("the slab at line 100 has free slots, and is not marked so\n") &&
                   contains("the heap counts 1 heads of size class 47 with a slab, and there are 0\n"));
    for (const std::uint32_t count : {0u, 2u, ~0u})
        CHECK(after([=](Ledger &ledger) { ledger.books.headed[0] = count; }) ==
              "the heap counts " + std::to_string(count) + " heads of size class 0 with a slab, and there are 1\n");
}

TEST_CASE("check names words of lines, chunks with room and trees that miss something", "[slab]")
{
    CHECK(after([](Ledger &ledger) { ledger.books.used[39] = 0x8000; }) ==
          "the word of chunk 39's lines is 32768, should be 0 by the slabs that are there\n");
    CHECK(after([](Ledger &ledger) { ledger.books.used[3] &= ~1u << 31; }) != "");
    CHECK(after([](Ledger &ledger) { ledger.books.used[40] = 0; }) ==
          "the word of chunk 40's lines is 0, should be 4294967295 by the slabs that are there\n");
    CHECK(after([](Ledger &ledger) { ledger.books.pins[47] = 3; }) ==
          "chunk 47 is pinned 3 times, and nobody is there\n");
    CHECK(after([](Ledger &ledger) { ledger.books.seekers = 2; }) ==
          "2 work-items go through the heap, and nobody is there\n");
    const auto rooms = [](std::uint32_t word, std::uint32_t value) {
        return after([=](Ledger &ledger) { ledger.books.rooms[word] = value; });
    };
    CHECK(rooms(0, ~1u) == "chunk 0 has a free line, and is said to have none\n");
    CHECK(rooms(1, 0x7f) == "chunk 39 has a free line, and is said to have none\n");
    CHECK(rooms(0, ~(1u << 4)) == ""); // all lines of which are in use
    CHECK(rooms(1, 0x1ff) == "chunk 40 is none, and is said to have a free line\n");
    CHECK(rooms(1, 1u << 31 | 0xff) == "chunk 63 is none, and is said to have a free line\n");
    const auto tree = [](std::uint32_t size_class, std::uint32_t word, std::uint32_t value) {
        return after([=](Ledger &ledger) { ledger.tree(size_class)[word] = value; });
    };
    CHECK(tree(of_96, 0, 1) == "chunk 1 has a hole of size class 35, and is not in its tree\n");
    CHECK(tree(of_96, 0, ~0u) == ""); // also of chunks without such a hole
    CHECK(tree(3, 1, 1) == "word 1 of level 0 of the tree of holes of size class 3 is not empty, and the "
                           "word above it does not tell\n");
    CHECK(tree(of_96, 2, 0) == "word 0 of level 0 of the tree of holes of size class 35 is not empty, "
                               "and the word above it does not tell\n");
    CHECK_THAT(tree(3, 1, 0x100ff), contains("word 1 of level 0 of the tree of holes of size class 3 has bits beyond "
                                             "its 16\n"));
    CHECK(tree(of_96, 2, 5) == "word 0 of level 1 of the tree of holes of size class 35 has bits beyond its 2\n");
}

TEST_CASE("check notices every single bit of marks, words and bits of chunks, pins and heads", "[slab]")
{
    Ledger ledger;
    const auto each_bit = [&](const char *what, std::vector<std::uint32_t> &words, auto may_pass) {
        for (std::size_t word = 0; word < words.size(); word++)
            for (std::uint32_t bit = 0; bit < 32; bit++) {
                words[word] ^= 1u << bit;
                if (ledger.check().empty() && !may_pass(word, bit))
                    FAIL_CHECK("nothing about bit " << bit << " of " << what << " " << word);
                words[word] ^= 1u << bit;
            }
    };
    const auto none = [](std::size_t, std::uint32_t) { return false; };
    each_bit("words of lines", ledger.books.used, none);
    each_bit("rooms", ledger.books.rooms, [](std::size_t word, std::uint32_t bit) { // of a chunk without free lines
        return word == 0 && bit == 4;
    });
    each_bit("pins", ledger.books.pins, none);
    each_bit("heads", ledger.books.heads, [](std::size_t word, std::uint32_t bit) { // another slot that is taken
        return word == 0 && bit == 1;
    });
    each_bit("marks", ledger.books.marks, [](std::size_t word, std::uint32_t bit) { // that it had a hole once
        const std::uint32_t starts[] = {Ledger::fine,   Ledger::small,  Ledger::mixed,
                                        Ledger::coarse, Ledger::shared, Ledger::run};
        return bit % 4 == 3 && std::ranges::find(starts, word * 8 + bit / 4) != std::end(starts);
    });
    CHECK(joined(ledger.check()) == "");
}

TEST_CASE("the blocks of damaged slabs are within the heap, and apart", "[slab]")
{
    std::mt19937 random(1);
    for (int round = 0; round < 3000; round++) {
        CAPTURE(round);
        Ledger ledger;
        for (std::uint32_t n = 1 + random() % 12; n != 0; n--) {
            const std::uint32_t value = random() % 2 ? static_cast<std::uint32_t>(random()) : random() % 64;
            std::vector<std::uint32_t> &at = random() % 3 == 0 ? ledger.books.marks : ledger.books.words;
            const std::size_t likely = std::min<std::size_t>(at.size(), 200); // where slabs are
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
            CHECK(end <= lines * 32);
        }
    }
}
