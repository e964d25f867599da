// Damaged heaps, and what check() finds in them. That it finds all is heap_check_test.cpp's; here each kind of finding
// comes up once.
#include "../host_library/heap_support.hpp"
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

std::vector<std::string> bump_head()
{
    const Heap heap(test::device(), 1 << 16, {.kind = kma::HeapKind::bump});
    const cl_ulong wrong = 1, head = 1536; // kma_bump's
    test::device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, head, sizeof wrong, &wrong);
    return heap.check();
}

} // namespace

std::vector<Provocation> check_provocations()
{
    return {
        {"writes over a bump heap's head", bump_head},
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
        damaged("much of a kind",
                [](const Kernels &kernels) {
                    for (cl_uint sb = 4; sb < 16; sb++)
                        kernels.damage("credit", sb, kept | 9);
                }),
    };
}

} // namespace messages
