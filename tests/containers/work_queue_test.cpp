// kma/containers/work_queue.cl and kma::WorkQueue: rounds of work against the same on the host,
// forward and backward.
#include <set>

#include "subject.hpp"

using namespace test;
using kma::WorkQueue;

namespace {

struct Item {
    cl_uint value, parent;
};
using Items = std::vector<Item>;

struct Round {
    cl_uint items, sum; // of values
    bool operator==(const Round &) const = default;
};
using Rounds = std::vector<Round>;

Items seeds(std::size_t count)
{
    Items items;
    for (std::size_t i = 0; i < count; i++)
        items.push_back({static_cast<cl_uint>(1000 + i * 7919 % 9000), 0});
    return items;
}

// Adds an item and all that it leads to by work_queue.cl. Returns how many these are.
std::size_t follow(cl_uint value, Rounds &rounds, std::size_t round = 0)
{
    rounds.resize(std::max(rounds.size(), round + 1));
    rounds[round].items++;
    rounds[round].sum += value;
    const cl_uint children = value != 0 ? mix32(value) % 4 : 0;
    std::size_t count = children;
    for (cl_uint k = 0; k < children; k++)
        count += follow(mix32(value * 4 + k) % value, rounds, round + 1);
    return count;
}

std::size_t whole_groups(std::size_t items)
{
    return (items + 63) / 64 * 64;
}

// Works until there is no more.
Rounds work(const kma::Program &kernels, const kma::Heap &heap, const WorkQueue &queue, bool keep)
{
    constexpr std::size_t most = 200;
    const Array<cl_uint> sums(most, 0), lost(1, 0);
    Rounds done;
    while (const cl_uint items = queue.turn(keep)) {
        REQUIRE(done.size() < most);
        launch(kernels, "work_step", {whole_groups(items), 64}, heap, queue.ref(), sums,
               cl_uint(done.size()), lost);
        done.push_back({items, sums.read()[done.size()]});
    }
    CHECK(lost.read()[0] == 0);
    return done;
}

} // namespace

TEST_CASE("a work queue's rounds are the host's, and a stack if they are kept",
          "[work_queue][long]")
{
    const Items items = seeds(scaled(1000, 50));
    Rounds rounds;
    std::multiset<std::size_t> descendants;
    for (const Item &item : items)
        descendants.insert(follow(item.value, rounds));
    REQUIRE(rounds.size() > 4);
    for (const Subject &subject : few_subjects()) {
        INFO(subject.name());
        const kma::Program kernels = subject.program("work_queue.cl");
        const kma::Heap heap = subject.heap(32 << 20);
        for (const bool keep : {false, true}) {
            const WorkQueue queue(heap, sizeof(Item), {.objects_per_block = keep ? 128u : 0});
            queue.add(std::span<const Item>(items));
            CHECK(queue.next() == items.size());
            CHECK(queue.now() == 0);
            CHECK(work(kernels, heap, queue, keep) == rounds);
            // What is worked on now is empty; each step back is the round before, whose items
            // count for their parents.
            std::vector<cl_uint> counts(1, 0);
            for (std::size_t round = rounds.size(); keep && round-- != 0;) {
                const std::optional<std::uint32_t> there = queue.back();
                REQUIRE(there == rounds[round].items);
                CHECK(queue.next() == 0);
                if (round == 0)
                    break;
                counts.resize(*there, 0);
                const Array<cl_uint> before(rounds[round - 1].items, 0);
                launch(kernels, "count_down", {whole_groups(*there), 64}, heap, queue.ref(),
                       Array(counts), before);
                counts = before.read();
            }
            if (keep) { // the first round's items lie in any order
                CHECK(std::multiset<std::size_t>(counts.begin(), counts.end()) == descendants);
                CHECK(queue.back() == 0); // the empty bundle that turn found first
                CHECK(queue.back() == std::nullopt);
            }
            queue.destroy();
            subject.check(heap, 0);
        }
    }
}

TEST_CASE("a work queue keeps its memory from round to round", "[work_queue]")
{
    const kma::Heap heap(device(), 8 << 20);
    const WorkQueue queue(heap, 4);
    const std::vector<cl_uint> items(10000, 1);
    std::uint64_t blocks = 0;
    for (int round = 0; round < 6; round++) {
        queue.add(std::span<const cl_uint>(items));
        CHECK(queue.turn() == items.size());
        if (round == 2)
            blocks = heap.stats().blocks;
        CHECK((round < 2 || heap.stats().blocks == blocks));
    }
    CHECK(queue.turn() == 0);
    queue.destroy();
    CHECK(heap.stats().blocks == 0);
}

TEST_CASE("a work-item has a work queue of its own", "[work_queue][long]")
{
    const kma::Heap heap(device(), 1 << 20);
    const Array<cl_uint> out(2, 7);
    launch(Subject{}.program("work_queue.cl"), "alone", {64, 64}, heap, out);
    cl_uint sum = 0, kept = 0;
    for (cl_uint round = 0; round < 20; round++) {
        for (cl_uint k = 0; k < round; k++)
            sum += round * 100 + k;
        // Worked on when an even round put them aside.
        kept += round % 2 == 1 && round < 19 ? round : 0;
    }
    CHECK(out.read() == std::vector<cl_uint>{sum, kept});
    CHECK(heap.stats().blocks == 0);
}

TEST_CASE("without memory a work queue says so and stays as it was", "[work_queue]")
{
    const kma::Heap heap(device(), 64 << 10);
    const WorkQueue queue(heap, 4, {.objects_per_block = 256});
    const std::vector<cl_uint> many(100000, 1);
    CHECK_THROWS_AS(queue.add(std::span<const cl_uint>(many)), kma::Error);
    CHECK_THROWS_AS(queue.add(std::span<const Item>(Items(1))), kma::Error);
    const cl_uint there = queue.next();
    CHECK(there > 0);
    CHECK_THROWS_AS(queue.turn(true), kma::Error);
    CHECK(queue.next() == there);
    CHECK(queue.turn() == there);
    CHECK_THROWS_AS(WorkQueue(heap, 0), kma::Error);
    CHECK_THROWS_AS(WorkQueue(heap, 4), kma::Error);
    queue.destroy();
    CHECK(heap.stats().blocks == 0);
    CHECK(heap.check().empty());
}
