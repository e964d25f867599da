// Damaged slab heaps, and what check() finds in them: each kind of finding once.
#include <cstddef>

#include "heap_support.hpp"
#include "heap/common/layout.hpp"
#include "provocations.hpp"
#include "heap/slab/plan.hpp"

namespace messages {
namespace {

using namespace kma::layout;
using test::Kernels;

constexpr std::uint32_t of_64 = 3, of_4096 = 47; // classes

// A slab heap of 80 frames with room for eight to come. A page has blocks of 64 bytes, a slab one of 4 KiB; a run has
// 79 lines. The last frames are free.
class Street {
public:
    Street() : heap_(test::device(), kma::Heap::bytes_for(options(), 80 * frame_bytes), options()), kernels_(heap_)
    {
        const std::vector<kma::Ref> refs = kernels_.allocate({64, 64, 64, 4096, 20000}, true);
        page_ = line_of(refs[0]) / KMA_SLAB_FRAME_LINES * KMA_SLAB_FRAME_LINES;
        slab_ = line_of(refs[3]);
        run_ = line_of(refs[4]);
    }

    const kma_slab_plan &plan() const { return plan_; }
    std::uint32_t page() const { return page_; }
    std::uint32_t slab() const { return slab_; }
    std::uint32_t run() const { return run_; }
    std::uint32_t last_frame() const { return plan_.frames - 1; }
    std::vector<std::string> check() const { return heap_.check(); }

    /// Writes over a word, counted from a place of the plan.
    void write(std::uint32_t unit, std::uint32_t index, std::uint32_t value) const
    {
        test::device().queue().enqueueWriteBuffer(heap_.buffer(), CL_TRUE, unit * kma::ref_unit + index * sizeof value,
                                                  sizeof value, &value);
    }
    void write_word(std::uint32_t line, std::uint32_t value) const { write(plan_.words, line, value); }
    void write_tree(std::uint32_t tree, std::uint32_t word, std::uint32_t value) const
    {
        write(plan_.trees, tree * plan_.tree_words + word, value);
    }

private:
    static constexpr std::uint64_t frame_bytes = std::uint64_t{KMA_UNIT} * KMA_SLAB_FRAME_UNITS;

    static kma::HeapOptions options()
    {
        kma::HeapOptions options;
        options.kind = kma::HeapKind::slab;
        options.max_bytes = kma::Heap::bytes_for(options, 88 * frame_bytes);
        return options;
    }
    std::uint32_t line_of(kma::Ref ref) const { return (ref - plan_.begin) / KMA_SLAB_LINE_UNITS; }

    kma::Heap heap_;
    Kernels kernels_;
    kma_slab_plan plan_ = kma::slab_plan::plan(options(), heap_.bytes(), 1); // so few frames have one cursor
    std::uint32_t page_ = 0, slab_ = 0, run_ = 0;
};

Provocation damaged(const std::string &what, const std::function<void(const Street &)> &act)
{
    return {"writes over a slab heap's " + what, [=] {
                const Street street;
                act(street);
                return street.check();
            }};
}

Provocation word(const std::string &what, std::uint32_t (Street::*line)() const, std::uint32_t further,
                 std::uint32_t value)
{
    return damaged(what, [=](const Street &street) { street.write_word((street.*line)() + further, value); });
}

} // namespace

std::vector<Provocation> slab_check_provocations()
{
    return {
        word("page: its first line's word", &Street::page, 0, KMA_SLAB_PAGE | KMA_SLAB_PAGE_CLASSES << 24),
        word("page: a word that says it is ending", &Street::page, 5, kma_slab_page_word(of_64, 5) | KMA_SLAB_ENDING),
        word("page: a word that says it is listed", &Street::page, 5, kma_slab_page_word(of_64, 5) | KMA_SLAB_LISTED),
        damaged("page: all its words",
                [](const Street &street) {
                    for (std::uint32_t i = 0; i < KMA_SLAB_FRAME_LINES; i++)
                        street.write_word(street.page() + i, kma_slab_page_word(of_64, i));
                }),
        word("run: its length", &Street::run, 0, KMA_SLAB_RUN | 0xfffff),
        word("run: the word of a line in it", &Street::run, 3, kma_slab_equal_word(0, 4)),
        word("slab: its word, by one of two slots", &Street::slab, 0, kma_slab_equal_word(of_4096, 1)),
        damaged("current lines",
                [](const Street &street) { street.write(street.plan().current, of_64, 0x7fffffff); }),
        damaged("used words", [](const Street &street) { street.write(street.plan().used, street.last_frame(), 1); }),
        damaged("tree of free slots",
                [](const Street &street) { street.write_tree(of_64, street.page() / 32 / 32, 0); }),
        damaged("tree of free lines",
                [](const Street &street) { street.write_tree(KMA_SLAB_RUN_TREE(32), street.last_frame() / 32, 0); }),
        damaged("tree of whole groups",
                [](const Street &street) { street.write_tree(KMA_SLAB_GROUP_TREE(32), 0, 0); }),
        damaged("tree of groups: one beyond the last",
                [](const Street &street) { street.write_tree(KMA_SLAB_GROUP_TREE(7), 0, 1u << 20); }),
        damaged("trees: a root",
                [](const Street &street) { street.write_tree(of_64, street.plan().tree_words - 1, 0); }),
        damaged("trees: a bit beyond the last frame",
                [](const Street &street) { street.write_tree(of_64, 2, 1u << 31); }),
    };
}

} // namespace messages
