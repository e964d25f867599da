// What runs under oclgrind: a walk through the calls that every kind of heap has, in all flavours;
// and, only by name, programs with a known defect.
#include <numeric>

#include "catch.hpp"
#include "heaps.hpp"

namespace oclgrind {
/// The .cl files of this folder, embedded by the build.
const std::vector<kma::Source> &kernels();
} // namespace oclgrind

using namespace conformance;
using test::Array;

namespace {

constexpr test::Shape few = {16, 4};
constexpr cl_uint most = 12; // blocks that a work-item asks for: half as many again as there are

kma::Program build(const Subject &subject, const std::string &file)
{
    for (const kma::Source &source : oclgrind::kernels())
        if (source.name == file)
            return {test::device(),
                    {source},
                    {.options = subject.flavour.options,
                     .heap = subject.type->kind,
                     .debug = subject.debug}};
    throw std::invalid_argument("no kernel file " + file);
}

std::uint64_t sum(const Array<cl_uint> &wrong)
{
    const std::vector<cl_uint> all = wrong.read();
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

Subject seeded_subject()
{
    return subjects(Breadth::fast, {Ability::reuse}).front();
}

} // namespace

TEST_CASE("walk")
{
    for (const Subject &subject : subjects(Breadth::all)) {
        INFO(subject.name());
        const kma::Heap heap = subject.heap(32 * 4096);
        const kma::Program program = build(subject, "walk.cl");
        const Array<cl_uint> taken(few.work_items, 0), traded(few.work_items, 0),
            wrong(few.work_items, 0);
        for (int round = 0; round < 2; round++) { // then in memory that was freed, if the heap can
            test::launch(program, "walk_take", few, heap, taken, wrong);
            CHECK(sum(wrong) == 0);
            const bool trades = !subject.guarded(); // a free reads the red zones, and poisons
            if (trades)
                test::launch(program, "walk_trade", few, heap, taken, traded);
            const Array<cl_uint> &refs = trades ? traded : taken;
            test::launch(program, "walk_grow", {1, 1}, heap, refs, wrong, cl_uint(few.work_items));
            CHECK(sum(wrong) == 0);
            test::launch(program, "walk_give", few, heap, refs, wrong);
            CHECK(sum(wrong) == 0);
        }
        CHECK(heap.error_text() == "");
        const Array<cl_uint> many(few.work_items * most, 0);
        for (const cl_uint is_free : {0, 1, 0, 1})
            test::launch(program, "walk_exhaust", few, heap, many, most, is_free);
        CHECK(heap.error_count(kma::ErrorCode::out_of_memory) > 0);
        CHECK(heap.check() == std::vector<std::string>());
        if (subject.can(Ability::list_blocks))
            CHECK(heap.leaks().blocks == 0);
    }
}

#define SEEDED(kernel)                                                                             \
    TEST_CASE("seeded " #kernel, "[.]")                                                            \
    {                                                                                              \
        const kma::Heap heap = seeded_subject().heap(16 * 4096);                                   \
        test::launch(build(seeded_subject(), "seeded.cl"), #kernel, few, heap,                     \
                     Array<cl_uint>(few.work_items, 0));                                           \
    }
SEEDED(race_in_group)
SEEDED(race_of_groups)
SEEDED(race_in_heap)
SEEDED(uninitialised)
SEEDED(out_of_bounds)

TEST_CASE("seeded wrong_argument", "[.]")
{
    cl::Kernel kernel = build(seeded_subject(), "seeded.cl").kernel("uninitialised");
    CHECK(clSetKernelArg(kernel(), 1, 3, "no buffer") == CL_INVALID_ARG_SIZE);
}

TEST_CASE("seeded queue_properties", "[.]")
{
    clCreateCommandQueueWithProperties(test::device().context()(), test::device().device()(),
                                       nullptr, nullptr);
}
