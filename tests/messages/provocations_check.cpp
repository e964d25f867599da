// Damaged heaps, and what check() finds in them. That it finds all is check_test.cpp's; here each kind of finding
// comes up once.
#include "heap_support.hpp"
#include "provocations.hpp"

namespace messages {
namespace {

using kma::Heap;
using test::Kernels;
using test::Town;

constexpr cl_uint kept = 0x80000000, none = 0xffffffff;
constexpr cl_uint of_64 = 3; // a class

Provocation damaged(const std::string &what, const std::function<void(const Kernels &)> &act,
                    const std::string &build_options = {})
{
    return {what, [=] {
                Town town(test::superblocks(4096, build_options));
                act(town.kernels);
                return town.heap.check();
            }};
}

// One damage with three numbers; heap_support.cpp says what they mean.
Provocation damaged(const std::string &what, cl_uint a, cl_uint b, cl_uint c = 0)
{
    return damaged(what + " " + std::to_string(a), [=](const Kernels &kernels) { kernels.damage(what, a, b, c); });
}

// Of a superblock that there is only when the heap has grown.
Provocation to_come(const std::string &what, cl_uint a, cl_uint b)
{
    return {what + " to come", [=] {
                kma::HeapOptions options = test::superblocks(4096);
                options.max_bytes = test::bytes_for_superblocks(24, 0);
                Town town(options);
                town.kernels.damage(what, a, b);
                return town.heap.check();
            }};
}

// Blocks with KMA_DEBUG 2, of which the last was freed, and one byte written, so far from the start of one of them.
Provocation guarded(const std::string &what, std::size_t block, int offset)
{
    return {what, [=] {
                const Heap heap(test::device(), 1 << 16, {.debug = 2});
                const Kernels kernels(heap);
                const std::vector<kma::Ref> refs = kernels.allocate(3, 100);
                kernels.free({refs[2]});
                const char wrong = 1;
                test::device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, refs[block] * kma::ref_unit + offset,
                                                          1, &wrong);
                return heap.check();
            }};
}

// A word of the quarantine, in which there is one freed block.
std::vector<std::string> quarantine()
{
    const Heap heap(test::device(), 1 << 16, {.debug = 2});
    const Kernels kernels(heap);
    kernels.free(kernels.allocate(1, 100));
    const cl_uint wrong = 4444;
    cl_uint guard = 0; // its unit, as the header says; before the quarantine's places are 1,024 + 128 bytes
    test::device().queue().enqueueReadBuffer(heap.buffer(), CL_TRUE, 36, sizeof guard, &guard);
    test::device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, guard * kma::ref_unit + 1152, sizeof wrong,
                                              &wrong);
    return heap.check();
}

std::vector<std::string> bump_head()
{
    const Heap heap(test::device(), 1 << 16, {.kind = kma::HeapKind::bump});
    const cl_ulong wrong = 1, head = 2560; // kma_bump's
    test::device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, head, sizeof wrong, &wrong);
    return heap.check();
}

} // namespace

std::vector<Provocation> check_provocations()
{
    return {
        {"writes over a bump heap's head", bump_head},
        guarded("writes behind a block", 0, 100),
        guarded("writes in front of a block", 1, -1),
        guarded("writes into a freed block", 2, 50),
        guarded("writes over a guard", 0, -40),
        {"writes over the quarantine", quarantine},
        damaged("header", 0, 1),
        damaged("plan", 0, 17),
        damaged("header", 128 / 4, 1), // a count of the error log
        damaged("moves", 0, 0x70002),
        damaged("slots", of_64, 9),
        damaged("offer", of_64, none, 60),
        damaged("offer", of_64, 100, 0),
        damaged("offer", of_64, 5, 0),
        damaged("helpers", of_64, 1),
        damaged(
            "draws", [](const Kernels &kernels) { kernels.damage("offer", of_64 + 1, none, 54); },
            "-DKMA_HAS_ATOMIC64=0"),
        damaged("put in set", of_64, 20),
        damaged("put in set", of_64, 2),
        damaged("set count", of_64, 7),
        damaged("queue capacity", 0, 3),
        damaged("item", 6, 99),
        damaged("item", 7, 5),
        damaged("item", 7, 2),
        damaged("tail", 0, 6),
        damaged("head", 0, 99),
        damaged("next", 6, 4),
        damaged("carrier", 0, 50),
        damaged("carrier", 0, 6),
        damaged("carrier", 0, 1),
        damaged("content", 0, 77),
        damaged("content", 2, 7 | 0x100),
        damaged("set bit", 5, 9),
        damaged("credit", 5, kept | 1),
        damaged("credit", 0, kept | 5),
        damaged("set bit", 0, 64),
        damaged("put in set", of_64, 1),
        damaged("credit", 0, 3),
        damaged("credit", 2, 2),
        damaged("credit", 0, kept),
        damaged("all blocks free",
                [](const Kernels &kernels) {
                    for (cl_uint bit = 0; bit < 64; bit++)
                        kernels.damage("clear bit", 0, bit);
                    kernels.damage("credit", 0, kept | 64);
                }),
        to_come("content", 20, 3),
        to_come("item", 21, 3),
        damaged("much of a kind",
                [](const Kernels &kernels) {
                    for (cl_uint sb = 4; sb < 16; sb++)
                        kernels.damage("credit", sb, kept | 9);
                }),
    };
}

} // namespace messages
