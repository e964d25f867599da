// The findings of Heap::check(): for each kind of heap, one heap whose words are overwritten in
// turn. tests/heap shows that check() finds all damage.
#include <array>

#include "catalogue.hpp"
#include "catch.hpp"
#include "heap/common/layout.hpp"
#include "heap/scatter/plan.hpp"
#include "heap/slab/plan.hpp"
#include "heap_support.hpp"

namespace {

using namespace kma;
using namespace kma::layout;
using namespace messages;
using test::device;
using test::Kernels;
using test::superblocks;
using test::Town;

constexpr cl_uint of_64 = 3, of_4096 = 47; // size classes

Damage damage_of(const Heap &heap)
{
    return Damage(heap.buffer(), [&heap] { return heap.check(); });
}

cl_ulong word_at(cl_uint unit, cl_uint index)
{
    return cl_ulong{unit} * ref_unit + cl_ulong{index} * sizeof(cl_uint);
}

void damage_guards(Section &section)
{
    const Heap heap(device(), 1 << 16, {.debug = 2});
    const Kernels kernels(heap);
    const std::vector<Ref> refs = kernels.allocate(3, 100);
    kernels.free({refs[2]});
    Damage damage = damage_of(heap);
    const auto overrun = [&](Ref ref, int byte) {
        section.says(
            damage.write(refs[ref] * ref_unit + static_cast<cl_ulong>(byte), char{1}).found());
    };
    overrun(0, 100); // behind a block
    overrun(1, -1);  // in front of one
    overrun(2, 50);  // into the freed one
    overrun(0, -40); // over a guard

    cl_uint guard = 0; // its unit; the quarantine's places begin 1,024 + 128 bytes behind it
    device().queue().enqueueReadBuffer(heap.buffer(), CL_TRUE, 36, sizeof guard, &guard);
    section.says(damage.write(word_at(guard, 1152 / 4), cl_uint{4444}).found());
}

// test::Town says in what state each superblock is, and heap_support.cpp what the numbers mean.
void damage_superblocks(Section &section)
{
    constexpr cl_uint kept = 0x80000000, none = 0xffffffff;
    const Town town(superblocks(4096));
    Damage damage = damage_of(town.heap);
    using Numbers = std::array<cl_uint, 3>;
    const auto change = [&](const char *what, std::initializer_list<Numbers> each) {
        for (const Numbers &numbers : each) {
            town.kernels.damage(what, numbers[0], numbers[1], numbers[2]);
            section.says(damage.found());
        }
    };
    change("header", {{0, 1}, {32, 1}}); // the latter is a count of the error log
    change("plan", {{0, 17}});
    change("moves", {{0, 0x70002}});
    change("slots", {{of_64, 9}});
    change("helpers", {{of_64, 1}});
    change("offer", {{of_64, none, 60}, {of_64, 100}, {of_64, 5}});
    change("put in set", {{of_64, 20}, {of_64, 2}, {of_64, 1}});
    change("set count", {{of_64, 7}});
    change("queue capacity", {{0, 3}});
    change("item", {{6, 99}, {7, 5}, {7, 2}});
    change("head", {{0, 99}});
    change("tail", {{0, 6}});
    change("next", {{6, 4}});
    change("carrier", {{0, 50}, {0, 6}, {0, 1}});
    change("content", {{0, 77}, {2, 7 | 0x100}});
    change("set bit", {{5, 9}, {0, 64}});
    change("credit", {{5, kept | 1}, {0, kept | 5}, {0, 3}, {2, 2}, {0, kept}});
    for (cl_uint bit = 0; bit < 64; bit++)
        town.kernels.damage("clear bit", 0, bit);
    town.kernels.damage("credit", 0, kept | 64);
    section.says(damage.found());
    for (cl_uint sb = 4; sb < 16; sb++) // more findings of a kind than are named
        town.kernels.damage("credit", sb, kept | 9);
    section.says(damage.found());

    const Town narrow(superblocks(4096, "-DKMA_HAS_ATOMIC64=0"));
    narrow.kernels.damage("offer", of_64 + 1, none, 54);
    section.says(narrow.heap.check());

    HeapOptions options = superblocks(4096);
    options.max_bytes = test::bytes_for_superblocks(24, 0);
    const Town growing(options); // superblocks 16 … 23 are to come
    Damage to_come = damage_of(growing.heap);
    growing.kernels.damage("content", 20, 3);
    section.says(to_come.found());
    growing.kernels.damage("item", 21, 3);
    section.says(to_come.found());
}

// 64 pages of 4 KiB, eight to a super block, and eight pages to come. One page has a block of 64
// bytes, two are a run, and the others are free.
void damage_scatter(Section &section)
{
    HeapOptions options{.kind = HeapKind::scatter,
                        .scatter = {.region_bytes = 8 * 4096, .page_bytes = 4096}};
    options.max_bytes = Heap::bytes_for(options, 72 * 4096);
    const Heap heap(device(), Heap::bytes_for(options, 64 * 4096), options);
    const kma_scatter_plan plan = scatter_plan::plan(options, heap.bytes());
    const std::vector<Ref> refs = Kernels(heap).allocate({64, 5000}, true);
    const cl_uint page = (refs[0] - plan.begin) >> plan.shift,
                  run = (refs[1] - plan.begin) >> plan.shift;
    cl_uint free = 0;
    while (free == page || free == run || free == run + 1)
        free++;

    Damage damage = damage_of(heap);
    const auto change = [&](cl_uint unit, cl_uint index, cl_uint value) {
        section.says(damage.write(word_at(unit, index), value).found());
    };
    const auto change_bits = [&](cl_uint at, cl_uint word, cl_uint bits) {
        change(plan.bitmaps, at * ((1u << plan.shift) / 32) + word, bits);
    };
    change(plan.table, free, KMA_SCATTER_FREE | kma_scatter_word(KMA_SCATTER_UNUSED, 5));
    change(plan.table, free, kma_scatter_word(KMA_SCATTER_REST, 0)); // part of no run
    change(plan.table, free, kma_scatter_word(30, 1));               // no size class
    change(plan.table, free, kma_scatter_word(of_64, 0));            // without blocks
    change(plan.table, page, kma_scatter_word(of_64, 9));            // a wrong count
    change(plan.table, run + 1, kma_scatter_word(KMA_SCATTER_REST, 7));
    change(plan.table, plan.pages, kma_scatter_word(of_64, 1)); // a page to come
    change_bits(free, 0, 2);
    change_bits(page, 2, 1); // behind the last block
    change_bits(run, 0, 9);  // the run's length
    change_bits(run + 1, 3, 1);
    change(plan.trees, free / 32, 0);
    change(plan.trees, plan.tree_words * (of_64 + 1) + page / 32, 0); // pages with free space
    change(plan.trees, plan.tree_words - 1, 0);                       // a root
    change(plan.trees, plan.room / 32, 1u << 31);                     // behind the last page
    change(plan.full, 0, 7);
}

// 80 frames, and eight to come. A page has blocks of 64 bytes, a slab one of 4 KiB, a run has 79
// lines, and the last frames are free.
void damage_slabs(Section &section)
{
    constexpr cl_ulong frame_bytes = cl_ulong{KMA_UNIT} * KMA_SLAB_FRAME_UNITS;
    HeapOptions options{.kind = HeapKind::slab};
    options.max_bytes = Heap::bytes_for(options, 88 * frame_bytes);
    const Heap heap(device(), Heap::bytes_for(options, 80 * frame_bytes), options);
    const kma_slab_plan plan =
        slab_plan::plan(options, heap.bytes(), 1); // so few frames have one cursor
    const std::vector<Ref> refs = Kernels(heap).allocate({64, 64, 64, 4096, 20000}, true);
    const auto line_of = [&](Ref ref) { return (ref - plan.begin) / KMA_SLAB_LINE_UNITS; };
    const cl_uint page = line_of(refs[0]) / KMA_SLAB_FRAME_LINES * KMA_SLAB_FRAME_LINES;
    const cl_uint slab = line_of(refs[3]), run = line_of(refs[4]), last_frame = plan.frames - 1;

    Damage damage = damage_of(heap);
    const auto change = [&](cl_uint unit, cl_uint index, cl_uint value) {
        section.says(damage.write(word_at(unit, index), value).found());
    };
    const auto change_tree = [&](cl_uint tree, cl_uint word, cl_uint value) {
        change(plan.trees, tree * plan.tree_words + word, value);
    };
    change(plan.words, page, KMA_SLAB_PAGE | KMA_SLAB_PAGE_CLASSES << 24);
    change(plan.words, page + 5, kma_slab_page_word(of_64, 5) | KMA_SLAB_ENDING);
    change(plan.words, page + 5, kma_slab_page_word(of_64, 5) | KMA_SLAB_LISTED);
    change(plan.words, run, KMA_SLAB_RUN | 0xfffff);
    change(plan.words, run + 3, kma_slab_equal_word(0, 4));
    change(plan.words, slab, kma_slab_equal_word(of_4096, 1));
    change(plan.current, of_64, 0x7fffffff);
    change(plan.used, last_frame, 1);
    change_tree(of_64, page / 32 / 32, 0);
    change_tree(of_64, plan.tree_words - 1, 0); // a root
    change_tree(of_64, 2, 1u << 31);            // behind the last frame
    change_tree(KMA_SLAB_RUN_TREE(32), last_frame / 32, 0);
    change_tree(KMA_SLAB_GROUP_TREE(32), 0, 0);
    change_tree(KMA_SLAB_GROUP_TREE(7), 0, 1u << 20); // behind the last group
    for (cl_uint i = 0; i < KMA_SLAB_FRAME_LINES; i++)
        damage.write(word_at(plan.words, page + i), kma_slab_page_word(of_64, i));
    section.says(damage.found());
}

} // namespace

TEST_CASE("messages: Heap::check()", "[messages]")
{
    Section section("Heap::check()");
    const Heap bump(device(), 1 << 16, {.kind = HeapKind::bump});
    section.says(damage_of(bump).write(2560, cl_ulong{1}).found()); // kma_bump's head
    damage_guards(section);
    damage_superblocks(section);
    damage_scatter(section);
    damage_slabs(section);
}
