// kma/containers/list.cl: every node that was pushed is in the list, or was taken by one work-item.
#include <algorithm>
#include <set>
#include <utility>

#include "catch.hpp"
#include "subject.hpp"

using namespace test;

namespace {

constexpr std::size_t work_items = 512, group = 64; // PoCL compiles a kernel for each size of groups
constexpr cl_uint rounds = 4;

struct Item { // of list.cl
    kma::Ref next;
    cl_uint owner, number;
};
using Pushed = std::multiset<std::pair<cl_uint, cl_uint>>; // owner and number

struct List {
    const Subject &subject;
    kma::Program kernels = subject.program("list.cl");
    kma::Heap heap{device(), 16 << 20, subject.heap_options()};
    Array<cl_uint> first{1, 0};
    Array<cl_uint> left{work_items * rounds, 0};
    Array<cl_uint> bad{1, 0};

    // What is in the list, of each owner the newest first.
    Pushed there() const
    {
        const kma::Snapshot snapshot = heap.snapshot();
        Pushed found;
        std::vector<cl_uint> last(work_items, rounds);
        for (kma::Ref at = first.read()[0]; at != 0;) {
            const Item *item = snapshot.deref<Item>(at);
            REQUIRE(item->owner < work_items);
            CHECK(item->number < last[item->owner]);
            last[item->owner] = item->number;
            found.emplace(item->owner, item->number);
            REQUIRE(found.size() <= work_items * rounds);
            at = item->next;
        }
        return found;
    }

    // What left it.
    Pushed gone() const
    {
        const std::vector<cl_uint> counts = left.read();
        Pushed found;
        for (cl_uint i = 0; i < counts.size(); i++)
            for (cl_uint n = 0; n < counts[i]; n++)
                found.emplace(i / rounds, i % rounds);
        return found;
    }

    // Every work-item's, or all but the first one's.
    static Pushed all(cl_uint from = 0)
    {
        Pushed every;
        for (cl_uint owner = from; owner < work_items; owner++)
            for (cl_uint number = 0; number < rounds; number++)
                every.emplace(owner, number);
        return every;
    }

    void check(std::size_t blocks) const
    {
        CHECK(bad.read()[0] == 0);
        if (subject.kind != kma::HeapKind::bump)
            CHECK(heap.stats().blocks == blocks);
        CHECK(heap.check().empty());
        CHECK(heap.error_text() == "");
    }
};

void check_list(const Subject &subject)
{
    INFO(kma::name_of(subject.kind) << " " << subject.options << " debug " << subject.debug);
    {
        const List list{subject};
        launch(list.kernels, "push_all", {work_items, group}, list.heap, list.first, rounds, list.bad);
        CHECK(list.there() == List::all());
        list.check(work_items * rounds);
        launch(list.kernels, "take_all", {work_items, group}, list.heap, list.first, rounds, list.left);
        CHECK(list.there().empty());
        CHECK(list.gone() == List::all());
        list.check(0);
    }
    {
        const List list{subject};
        launch(list.kernels, "push_and_take", {work_items, group}, list.heap, list.first, rounds, list.left, list.bad);
        const Pushed left = list.there();
        list.check(left.size());
        Pushed both = list.gone();
        both.insert(left.begin(), left.end());
        CHECK(both == List::all());
        CHECK(left.size() < both.size());
    }
    {
        const List list{subject};
        launch(list.kernels, "push_and_remove", {work_items, group}, list.heap, list.first, rounds, rounds, list.left, list.bad);
        Pushed left = list.there();
        list.check(left.size());
        Pushed both = list.gone();
        both.insert(left.begin(), left.end());
        CHECK(both == List::all(1));
        // Nobody pushes: every second node, beginning with the first.
        const std::size_t before = list.gone().size();
        launch(list.kernels, "push_and_remove", {group, group}, list.heap, list.first, 0u, rounds, list.left, list.bad);
        CHECK(list.gone().size() - before == (left.size() + 1) / 2);
        CHECK(list.there().size() == left.size() / 2);
        list.check(left.size() / 2);
        launch(list.kernels, "take_all", {work_items, group}, list.heap, list.first, rounds, list.left);
        CHECK(list.gone() == List::all(1));
        list.check(0);
    }
}

} // namespace

TEST_CASE("a list loses no node, on every kind of heap", "[list]")
{
    for (const Subject &subject : few_subjects())
        check_list(subject);
}

TEST_CASE("a list of one heap: all push, one takes all, one takes out every second node", "[list]")
{
    check_list({kma::default_heap_kind, "", 0});
}
