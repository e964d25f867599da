// Damaged slab heaps, and what check() finds in them: each kind of finding once.
#include <cstddef>

#include "../host_library/heap_support.hpp"
#include "layout.hpp"
#include "provocations.hpp"
#include "slab_plan.hpp"

namespace messages {
namespace {

using namespace kma::layout;
using test::Kernels;

constexpr std::uint32_t of_64 = 3, of_144 = 8; // classes

// A slab heap of 40 chunks with room for eight to come. Of 64-byte blocks one slab is full but for a hole, and another
// at a head; those of 16 bytes and 4 KiB are at heads too. A run has 40 lines. The last chunks are free.
class Street {
public:
    Street() : heap_(test::device(), kma::Heap::bytes_for(options(), 40 * chunk_bytes), options()), kernels_(heap_)
    {
        std::vector<cl_ulong> sizes(17, 64);
        sizes.insert(sizes.end(), {16, 4096, 20000});
        const std::vector<kma::Ref> refs = kernels_.allocate(sizes, true);
        holey_ = line_of(refs[0]);
        at_head_ = line_of(refs[16]);
        fine_ = line_of(refs[17]);
        long_ = line_of(refs[18]) - 4096 / line_bytes; // slot 0 is the head's
        run_ = line_of(refs[19]);
        kernels_.free({refs[3]});
    }

    const kma_sl_plan &plan() const { return plan_; }
    std::uint32_t holey() const { return holey_; }
    std::uint32_t at_head() const { return at_head_; }
    std::uint32_t fine() const { return fine_; }
    std::uint32_t of_4096() const { return long_; }
    std::uint32_t run() const { return run_; }
    std::uint32_t last_chunk() const { return plan_.chunks - 1; }
    std::vector<std::string> check() const { return heap_.check(); }

    /// Writes over a word, counted from a place of the plan.
    void write(std::uint32_t unit, std::uint32_t index, std::uint32_t value) const
    {
        test::device().queue().enqueueWriteBuffer(heap_.buffer(), CL_TRUE, unit * kma::ref_unit + index * sizeof value,
                                                  sizeof value, &value);
    }
    std::uint32_t read(std::uint32_t unit, std::uint32_t index) const
    {
        std::uint32_t value = 0;
        test::device().queue().enqueueReadBuffer(heap_.buffer(), CL_TRUE, unit * kma::ref_unit + index * sizeof value,
                                                 sizeof value, &value);
        return value;
    }
    void write_word(std::uint32_t line, std::uint32_t value) const { write(plan_.words, line, value); }
    void write_mark(std::uint32_t line, std::uint32_t mark) const
    {
        const std::uint32_t shift = line % KMA_SL_MARKS * 4, at = line / KMA_SL_MARKS;
        write(plan_.marks, at, (read(plan_.marks, at) & ~(15u << shift)) | mark << shift);
    }
    void write_tree(std::uint32_t tree, std::uint32_t word, std::uint32_t value) const
    {
        write(plan_.trees, tree * plan_.tree_words + word, value);
    }

private:
    static constexpr std::uint64_t line_bytes = 512, chunk_bytes = 32 * line_bytes;

    static kma::HeapOptions options()
    {
        kma::HeapOptions options;
        options.kind = kma::HeapKind::slab;
        options.max_bytes = kma::Heap::bytes_for(options, 48 * chunk_bytes);
        return options;
    }
    std::uint32_t line_of(kma::Ref ref) const { return (ref - plan_.begin) / KMA_SL_LINE; }

    kma::Heap heap_;
    Kernels kernels_;
    kma_sl_plan plan_ = kma::slab_plan::plan(options(), heap_.bytes(), 1); // so few chunks have one cursor
    std::uint32_t holey_ = 0, at_head_ = 0, fine_ = 0, long_ = 0, run_ = 0;
};

Provocation damaged(const std::string &what, const std::function<void(const Street &)> &act)
{
    return {"writes over a slab heap's " + what, [=] {
                const Street street;
                act(street);
                return street.check();
            }};
}

Provocation mark(const std::string &what, std::uint32_t (Street::*line)() const, std::uint32_t further,
                 std::uint32_t value)
{
    return damaged(what, [=](const Street &street) { street.write_mark((street.*line)() + further, value); });
}

Provocation word(const std::string &what, std::uint32_t (Street::*line)() const, std::uint32_t further,
                 std::uint32_t value)
{
    return damaged(what, [=](const Street &street) { street.write_word((street.*line)() + further, value); });
}

void add_slabs(std::vector<Provocation> &all)
{
    all.insert(
        all.end(),
        {
            mark("run: that it is closed", &Street::run, 0, KMA_SL_MARK_HEADER | KMA_SL_MARK_CLOSED),
            mark("run: the mark of its second line", &Street::run, 1, KMA_SL_MARK_FINE),
            mark("slab with a hole: that it has one", &Street::holey, 0, KMA_SL_MARK_HEADER),
            damaged("free line: its mark",
                    [](const Street &street) { street.write_mark(street.last_chunk() * 32, KMA_SL_MARK_HOLEY); }),
            damaged("line to come: its mark",
                    [](const Street &street) { street.write_mark(street.plan().chunks * 32, KMA_SL_MARK_FINE); }),
            word("run: its length", &Street::run, 1, kma_sl_run_header(0xfffff)),
            word("run: that its header is data", &Street::run, 1, kma_sl_run_header(40) & ~KMA_SL_DATA),
            word("slab of 16-byte blocks: its owners", &Street::fine, 0, 0),
            word("slab of 64-byte blocks: owners beyond its 16 slots", &Street::holey, 0, 0x1ffff),
            damaged(
                "slab of 4 KiB blocks: the way back",
                [](const Street &street) { street.write_word(kma_sl_first_back(street.of_4096()), KMA_SL_DATA | 1); }),
        });
}

void add_heads(std::vector<Provocation> &all)
{
    all.insert(all.end(),
               {
                   damaged("head: a line where nothing is",
                           [](const Street &street) {
                               street.write(street.plan().heads, of_144, kma_sl_head_of(street.last_chunk() * 32, 0));
                           }),
                   damaged("head: a slab of others",
                           [](const Street &street) {
                               street.write(street.plan().heads, of_144, kma_sl_head_of(street.at_head(), 0));
                           }),
                   damaged("head: somebody is there",
                           [](const Street &street) { street.write(street.plan().heads, of_144, KMA_SL_HEAD_BUSY); }),
                   word("slab at a head: slot 0", &Street::at_head, 0, 2),
               });
}

void add_chunks(std::vector<Provocation> &all)
{
    all.insert(
        all.end(),
        {
            damaged("word of lines",
                    [](const Street &street) { street.write(street.plan().used, street.last_chunk(), 1); }),
            damaged("pins", [](const Street &street) { street.write(street.plan().pins, street.last_chunk(), 3); }),
            damaged("number of those who search",
                    [](const Street &street) { street.write(0, offsetof(kma_slab, seekers) / 4, 2); }),
            damaged("number of slabs at heads",
                    [](const Street &street) { street.write(0, offsetof(kma_slab, headed) / 4 + of_64, 0); }),
            damaged("bits of chunks with room",
                    [](const Street &street) { street.write(street.plan().rooms, street.last_chunk() / 32, 0); }),
            damaged("bits of chunks with room: one beyond the last chunk",
                    [](const Street &street) { street.write(street.plan().rooms, 1, 1u << 31 | 0xff); }),
            damaged("tree of holes",
                    [](const Street &street) { street.write_tree(of_64, street.holey() / 32 / 32, 0); }),
            damaged("trees: a root",
                    [](const Street &street) { street.write_tree(of_64, street.plan().tree_words - 1, 0); }),
            damaged("trees: a bit beyond the last chunk",
                    [](const Street &street) { street.write_tree(of_64, 1, 1u << 31); }),
        });
}

} // namespace

std::vector<Provocation> slab_check_provocations()
{
    std::vector<Provocation> all;
    add_slabs(all);
    add_heads(all);
    add_chunks(all);
    return all;
}

} // namespace messages
