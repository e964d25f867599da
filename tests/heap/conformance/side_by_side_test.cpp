// Two heaps in one kernel, of one kind and of two, with neighbouring work-items in different heaps.
#include <algorithm>
#include <numeric>

#include "blocks.hpp"
#include "catch.hpp"

using namespace conformance;
using namespace test;

namespace {

void check_pair(const Subject &first, const Subject &second, std::size_t group, bool second_is_full)
{
    INFO(first.name() << " and " << second.name() << ", work-groups of " << group
                      << (second_is_full ? ", the second full" : ""));
    const std::size_t count = group * scaled(16, 2);
    const cl_uint rounds = 10;
    std::vector<cl_ulong> all_rounds; // a heap that does not reuse needs room for all of them
    for (std::uint32_t i = 0; i < count * rounds; i++)
        all_rounds.push_back(1 + mix32(i % count) % 300);
    const std::vector<cl_ulong> sizes(all_rounds.begin(), all_rounds.begin() + static_cast<std::ptrdiff_t>(count));
    kma::Heap heaps[2] = {first.heap(ample_room(first, all_rounds, 4096)),
                          second.heap(second_is_full ? 4096 : ample_room(second, all_rounds, 4096))};
    if (second_is_full) {
        while_served(second, heaps[1], 4000);
        while_served(second, heaps[1], 1);
    }

    kma::ProgramOptions build;
    build.options = first.flavour.options + " -DKMA_FIRST=" + first.type->name() +
                    " -DKMA_SECOND=" + second.type->name() + (first.type == second.type ? " -DKMA_SAME_KIND" : "");
    build.debug = first.debug;
    const kma::Program kernels = program("side_by_side.cl", build);
    const Array<cl_uint> refs(count, 0), wrong(count, 0);
    const Array<cl_ulong> wanted(sizes);
    const auto slots = static_cast<cl_uint>(count);
    launch(kernels, "alternate", {count, group}, heaps[0], heaps[1], wanted, refs, rounds, slots);
    const std::vector<cl_uint> all = refs.read();
    for (std::size_t side : {0, 1}) {
        const Subject &subject = side == 0 ? first : second;
        std::vector<cl_uint> own_refs;
        std::vector<cl_ulong> own_sizes;
        for (std::size_t i = side; i < count; i += 2) {
            own_refs.push_back(all[i]);
            own_sizes.push_back(sizes[i]);
        }
        const bool full = side == 1 && second_is_full;
        CHECK(std::ranges::count(own_refs, 0u) == (full ? static_cast<std::ptrdiff_t>(own_refs.size()) : 0));
        check_apart(subject, heaps[side], own_refs, own_sizes);
        if (full)
            CHECK(count_of(heaps[side], kma::ErrorCode::out_of_memory) >= own_refs.size());
        else
            check_books(subject, heaps[side], own_refs, own_sizes);
    }
    launch(kernels, "give_both", {count, group}, heaps[0], heaps[1], wanted, refs, wrong, slots);
    const std::vector<cl_uint> wrongs = wrong.read();
    CHECK(std::accumulate(wrongs.begin(), wrongs.end(), std::uint64_t{0}) == 0);
    CHECK(heaps[0].error_text() == "");
    check_empty(first, heaps[0]);
    if (second_is_full) {
        check_refusals_only(heaps[1]);
        check_reset(second, heaps[1]);
    } else {
        CHECK(heaps[1].error_text() == "");
        check_empty(second, heaps[1]);
    }
}

} // namespace

TEST_CASE("two heaps of any kinds in one kernel", "[long]")
{
    const std::vector<Subject> all = subjects(Breadth::all);
    for (const Subject &first : all)
        for (const Subject &second : all) {
            const bool agree = first.flavour.name == second.flavour.name && first.debug == second.debug;
            if (!agree || (!thorough() && second.type < first.type)) // a program has one flavour
                continue;
            const bool first_flavour = first.debug == 0 && first.flavour.name == all[0].flavour.name;
            const std::size_t usual = test::group(&first == &all[0] ? 64 : 37);
            for (const std::size_t group : group_sizes())
                if ((thorough() && first_flavour) || group == usual)
                    for (const bool second_is_full : {false, true})
                        check_pair(first, second, group, second_is_full);
        }
}
