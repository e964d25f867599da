// Heap::check() of the scatter heap: pages, bit trees and regions. cl/kma/heap/scatter/pages.cl and
// scatter/regions.cl describe the invariants.
#include "heap/scatter/check.hpp"

#include <algorithm>
#include <string>

namespace kma {
namespace {

using namespace layout;

class ScatterChecker {
public:
    ScatterChecker(const kma_scatter_plan &plan, const ScatterBooks &books, Findings &findings)
        : plan_(plan), books_(books), findings_(findings)
    {
    }

    void run()
    {
        for (std::uint32_t page = 0; page < plan_.pages;)
            page += kma_scatter_split(books_.table[page]) == KMA_SCATTER_HEAD && !is_free(page)
                        ? run_of_pages(page)
                        : one(page);
        for (std::uint32_t page = plan_.pages; page < plan_.room; page++)
            if (books_.table[page] != kma_scatter_word(KMA_SCATTER_UNUSED, 0))
                findings_.add("pages to come", "the word of page ", page,
                              ", which is still to come, is ", books_.table[page], ", should be ",
                              kma_scatter_word(KMA_SCATTER_UNUSED, 0));
        free_pages();
        for (std::uint32_t size_class = 0; size_class < kma_scatter_classes(plan_.shift);
             size_class++)
            list_of(size_class);
        super_blocks();
    }

private:
    bool is_free(std::uint32_t page) const { return (books_.table[page] & KMA_SCATTER_FREE) != 0; }
    std::uint32_t count_of(std::uint32_t page) const
    {
        return books_.table[page] & KMA_SCATTER_COUNT;
    }
    std::uint32_t words_per_page() const { return (1u << plan_.shift) / 32; }
    std::uint32_t bitmap(std::uint32_t page, std::uint32_t word) const
    {
        return books_.bitmaps[std::size_t{page} * words_per_page() + word];
    }
    std::uint32_t super_end(std::uint32_t page) const
    {
        return std::min(((page >> plan_.super_shift) + 1) << plan_.super_shift, plan_.pages);
    }

    // Number of bits set in the page's bitmap in [first, behind).
    std::uint32_t bits(std::uint32_t page, std::uint32_t first, std::uint32_t behind) const
    {
        std::uint32_t set = 0;
        for (std::uint32_t bit = first; bit < behind; bit++)
            set += bitmap(page, bit / 32) >> (bit % 32) & 1u;
        return set;
    }

    std::uint32_t one(std::uint32_t page)
    {
        const std::uint32_t split = kma_scatter_split(books_.table[page]);
        const std::uint32_t all = 1u << plan_.shift;
        if (is_free(page)) {
            if (count_of(page) != 0)
                findings_.add("free pages with reservations", "page ", page, " is free, and has ",
                              count_of(page), " reservations");
            if (const std::uint32_t set = bits(page, 0, all))
                findings_.add("free pages with blocks", "page ", page, " is free, and ", set,
                              " bits of it are set");
        } else if (split == KMA_SCATTER_REST) {
            findings_.add("pages of no run", "page ", page,
                          " says that it belongs to a run, and none is there");
        } else if (split >= kma_scatter_classes(plan_.shift)) {
            findings_.add("pages without a size", "page ", page, " is split for size class ", split,
                          ", of ", kma_scatter_classes(plan_.shift));
        } else {
            chunks(page, split);
        }
        return 1;
    }

    void chunks(std::uint32_t page, std::uint32_t split)
    {
        const std::uint32_t spots = kma_scatter_spots(split, plan_.shift);
        const std::uint32_t taken = bits(page, 0, spots);
        if (count_of(page) != taken)
            findings_.add("counts of pages", "page ", page, " counts ", count_of(page),
                          " chunks that are taken, and ", taken, " bits are set");
        if (count_of(page) == 0)
            findings_.add("empty pages", "page ", page,
                          " is not free though none of its chunks is taken");
        if (const std::uint32_t beyond = bits(page, spots, 1u << plan_.shift))
            findings_.add("bits beyond the last chunk", beyond, " bits of page ", page,
                          " are set beyond its ", spots, " chunks");
    }

    // Checks that a run's pages follow its first page within one region. Returns their number.
    std::uint32_t run_of_pages(std::uint32_t page)
    {
        const std::uint32_t length = bitmap(page, 0);
        if (length == 0 || length > super_end(page) - page) {
            findings_.add("lengths of runs", "the run that begins at page ", page, " has ", length,
                          " pages, and its region has ", super_end(page) - page,
                          " from there on");
            return 1;
        }
        for (std::uint32_t i = 0; i < length; i++) {
            const std::uint32_t right =
                kma_scatter_word(i == 0 ? KMA_SCATTER_HEAD : KMA_SCATTER_REST, 0);
            if (books_.table[page + i] != right)
                findings_.add("pages of runs", "the word of page ", page + i, " is ",
                              books_.table[page + i], ", should be ", right, ": the run from page ",
                              page, " on has ", length, " pages");
            if (bits(page + i, i == 0 ? 32 : 0, 1u << plan_.shift) != 0)
                findings_.add("bits of runs", "bits of page ", page + i,
                              " are set, which is part of a run");
        }
        return length;
    }

    // Tree `number`: 0 is that of the free pages, then one for each class.
    const std::uint32_t *tree(std::uint32_t number) const
    {
        return &books_.trees[std::size_t{number} * plan_.tree_words];
    }

    static bool has(const std::uint32_t *words, std::uint32_t bit)
    {
        return (words[bit >> KMA_BIT_TREE_SHIFT] >> (bit & (KMA_BIT_TREE_FANOUT - 1)) & 1u) != 0;
    }

    void free_pages()
    {
        for (std::uint32_t page = 0; page < plan_.room; page++) {
            if (is_free(page) && !has(tree(0), page))
                findings_.add("the tree of free pages", "page ", page,
                              " is free, and is not in the tree of free pages");
        }
        words_of(0, "the free pages");
    }

    void list_of(std::uint32_t size_class)
    {
        for (std::uint32_t page = 0; page < plan_.pages; page++)
            if (kma_scatter_split(books_.table[page]) == size_class &&
                kma_scatter_has_room(books_.table[page], plan_.shift) &&
                !has(tree(size_class + 1), page))
                findings_.add("the lists of pages with room", "page ", page,
                              " has room for size class ", size_class, ", and is not in its list");
        words_of(size_class + 1, "size class " + std::to_string(size_class));
    }

    // Checks the words of a tree. Each word that is not 0 must have its bit set in the word above.
    // No bit may be set beyond the last page, or beyond the last word of the level below: it would
    // lead kernels out of the heap.
    void words_of(std::uint32_t number, const std::string &name)
    {
        const std::uint32_t *words = tree(number);
        std::uint32_t bits = plan_.room; // bits of this level
        for (std::uint32_t level = 0;; level++) {
            const std::uint32_t nodes = kma_bit_tree_nodes(plan_.room, level);
            const std::uint32_t in_last = bits - (nodes - 1) * KMA_BIT_TREE_FANOUT;
            if (in_last < KMA_BIT_TREE_FANOUT && words[nodes - 1] >> in_last != 0)
                findings_.add("bits beyond the trees", "word ", nodes - 1, " of level ", level,
                              " of the tree of ", name, " has bits beyond its ", in_last);
            if (nodes == 1)
                return;
            for (std::uint32_t node = 0; node < nodes; node++)
                if (words[node] != 0 && !has(words + nodes, node))
                    findings_.add("words of the trees over the pages", "word ", node, " of level ",
                                  level, " of the tree of ", name,
                                  " is not empty, and the word above it does not tell");
            words += nodes;
            bits = nodes;
        }
    }

    void super_blocks()
    {
        std::vector<std::uint32_t> full(books_.full.size());
        for (std::uint32_t page = 0; page < plan_.pages; page++) {
            const std::uint32_t split = kma_scatter_split(books_.table[page]);
            if (!is_free(page) && split < kma_scatter_classes(plan_.shift) &&
                count_of(page) >= kma_scatter_spots(split, plan_.shift))
                full[page >> plan_.super_shift]++;
        }
        for (std::size_t i = 0; i < full.size(); i++)
            if (full[i] != books_.full[i])
                findings_.add("fill levels", "region ", i, " counts ", books_.full[i],
                              " full pages, and has ", full[i]);
    }

    const kma_scatter_plan &plan_;
    const ScatterBooks &books_;
    Findings &findings_;
};

} // namespace

void check_scatter(const kma_scatter_plan &plan, const ScatterBooks &books, Findings &findings)
{
    ScatterChecker(plan, books, findings).run();
}

} // namespace kma
