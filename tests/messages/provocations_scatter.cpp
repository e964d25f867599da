// Damaged scatter heaps, and what check() finds in them: each kind of finding once.
#include "heap_support.hpp"
#include "heap/common/layout.hpp"
#include "provocations.hpp"
#include "heap/scatter/plan.hpp"

namespace messages {
namespace {

using namespace kma::layout;
using test::Kernels;

// A scatter heap of 64 pages of 4 KiB, eight to a super block, with room for eight pages to come. One page has a chunk
// of 64 bytes, two are a run, and the others are free.
class Village {
public:
    Village() : heap_(test::device(), kma::Heap::bytes_for(options(), 64 * 4096), options()), kernels_(heap_)
    {
        const std::vector<kma::Ref> refs = kernels_.allocate({64, 5000}, true);
        chunk_ = page_of(refs[0]);
        run_ = page_of(refs[1]);
        while (free_ == chunk_ || free_ == run_ || free_ == run_ + 1)
            free_++;
    }

    const kma_scatter_plan &plan() const { return plan_; }
    std::uint32_t chunk_page() const { return chunk_; }
    std::uint32_t run_page() const { return run_; }
    std::uint32_t free_page() const { return free_; }
    std::vector<std::string> check() const { return heap_.check(); }

    /// Writes over a word, counted from a place of the plan.
    void write(std::uint32_t unit, std::uint32_t index, std::uint32_t value) const
    {
        test::device().queue().enqueueWriteBuffer(heap_.buffer(), CL_TRUE, unit * kma::ref_unit + index * sizeof value,
                                                  sizeof value, &value);
    }
    void write_page(std::uint32_t page, std::uint32_t word) const { write(plan_.table, page, word); }
    void write_bits(std::uint32_t page, std::uint32_t word, std::uint32_t bits) const
    {
        write(plan_.bitmaps, page * ((1u << plan_.shift) / 32) + word, bits);
    }

private:
    static kma::HeapOptions options()
    {
        kma::HeapOptions options;
        options.kind = kma::HeapKind::scatter;
        options.page_bytes = 4096;
        options.superblock_bytes = 8 * 4096;
        options.max_bytes = kma::Heap::bytes_for(options, 72 * 4096);
        return options;
    }
    std::uint32_t page_of(kma::Ref ref) const { return (ref - plan_.begin) >> plan_.shift; }

    kma::Heap heap_;
    Kernels kernels_;
    kma_scatter_plan plan_ = kma::scatter_plan::plan(options(), heap_.bytes());
    std::uint32_t chunk_ = 0, run_ = 0, free_ = 0;
};

Provocation damaged(const std::string &what, const std::function<void(const Village &)> &act)
{
    return {"writes over a scatter heap's " + what, [=] {
                const Village village;
                act(village);
                return village.check();
            }};
}

// The word of a page in the usage table.
Provocation page_word(const std::string &what, std::uint32_t (Village::*page)() const, std::uint32_t word)
{
    return damaged(what, [=](const Village &village) { village.write_page((village.*page)(), word); });
}

} // namespace

std::vector<Provocation> scatter_check_provocations()
{
    constexpr std::uint32_t of_64 = 3; // a class
    return {
        page_word("free page: reservations", &Village::free_page, KMA_SCATTER_FREE | kma_scatter_word(KMA_SCATTER_UNUSED, 5)),
        page_word("free page: a run of which it is no part", &Village::free_page, kma_scatter_word(KMA_SCATTER_REST, 0)),
        page_word("free page: a size that there is not", &Village::free_page, kma_scatter_word(30, 1)),
        page_word("page: its count", &Village::chunk_page, kma_scatter_word(of_64, 9)),
        page_word("page: its last chunk", &Village::free_page, kma_scatter_word(of_64, 0)),
        damaged("free page: a bit", [](const Village &village) { village.write_bits(village.free_page(), 0, 2); }),
        damaged("page: a bit beyond its 64 chunks",
                [](const Village &village) { village.write_bits(village.chunk_page(), 2, 1); }),
        damaged("run: its length", [](const Village &village) { village.write_bits(village.run_page(), 0, 9); }),
        damaged(
            "run: its second page",
            [](const Village &village) { village.write_page(village.run_page() + 1, kma_scatter_word(KMA_SCATTER_REST, 7)); }),
        damaged("run: bits of its second page",
                [](const Village &village) { village.write_bits(village.run_page() + 1, 3, 1); }),
        damaged("page to come",
                [](const Village &village) { village.write_page(village.plan().pages, kma_scatter_word(of_64, 1)); }),
        damaged("free pages",
                [](const Village &village) { village.write(village.plan().trees, village.free_page() / 32, 0); }),
        damaged("list of pages with room",
                [](const Village &village) {
                    const std::uint32_t list = village.plan().tree_words * (of_64 + 1);
                    village.write(village.plan().trees, list + village.chunk_page() / 32, 0);
                }),
        damaged("root of the free pages",
                [](const Village &village) { village.write(village.plan().trees, village.plan().tree_words - 1, 0); }),
        damaged("free pages: a bit beyond the last page",
                [](const Village &village) { village.write(village.plan().trees, village.plan().room / 32, 1u << 31); }),
        damaged("fill level", [](const Village &village) { village.write(village.plan().full, 0, 7); }),
    };
}

} // namespace messages
