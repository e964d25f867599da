// kma/containers/list.cl: every node that was pushed is in the list, or one work-item took it.
#include <numeric>

#include "subject.hpp"

using namespace test;

namespace {

constexpr std::size_t work_items = 512, group = 64; // PoCL compiles a kernel for each group size
constexpr cl_uint rounds = 4;                       // ROUNDS of list.cl
constexpr std::size_t items = work_items * rounds;

enum Way { walk, take, remove_half }; // of list.cl

struct List {
    const Subject &subject;
    kma::Program kernels = subject.program("list.cl");
    kma::Heap heap = subject.heap(16 << 20);
    Array<cl_uint> first{1, 0}, left{items, 0};
    std::size_t there = 0; // nodes in the list

    // Runs a kernel in which work-items push so many items, and returns how many left the list.
    std::size_t run(Way way, std::size_t pushed)
    {
        const auto gone = [&] {
            const std::vector<cl_uint> all = left.read();
            return std::accumulate(all.begin(), all.end(), std::size_t{0});
        };
        const Array<cl_uint> bad(1, 0);
        const std::size_t before = gone();
        launch(kernels, "work", {work_items, group}, heap, first, cl_uint(way),
               cl_uint(pushed != 0), pushed != 0 ? rounds : 1, left, bad);
        CHECK(bad.read()[0] == 0);
        const std::size_t taken = gone() - before;
        there += pushed - taken;
        subject.check(heap, there);
        return taken;
    }

    // Takes what is left, and checks that each item of these work-items was taken once.
    void end(std::size_t first_pusher = 0)
    {
        run(take, 0);
        CHECK(there == 0);
        CHECK(first.read()[0] == 0);
        std::vector<cl_uint> once(items, 1);
        std::fill_n(once.begin(), first_pusher * rounds, 0);
        CHECK(left.read() == once);
    }
};

void check_list(const Subject &subject)
{
    INFO(subject.name());
    List pushed{subject};
    CHECK(pushed.run(walk, items) == 0);
    pushed.end();

    List taken{subject};
    CHECK(taken.run(take, items) > 0);
    taken.end();

    List removed{subject};
    removed.run(remove_half, items - rounds); // the first work-item pushes nothing
    const std::size_t before = removed.there;
    CHECK(removed.run(remove_half, 0) == (before + 1) / 2);
    removed.end(1);
}

} // namespace

TEST_CASE("a list loses no node, on every kind of heap", "[list][long]")
{
    for (const Subject &subject : few_subjects())
        check_list(subject);
}

TEST_CASE("a list of one heap: all push, one takes all, one takes out every second node", "[list]")
{
    check_list({});
}
