// kma/containers/work_queue.cl and kma::WorkQueue: rounds of work against the same on the host, forward and backward.
#include <numeric>
#include <set>

#include "catch.hpp"
#include "subject.hpp"
#include "support.hpp"

using namespace test;
using kma::WorkQueue;

namespace {

struct Item {
    cl_uint value, parent;
};

// The rules of work_queue.cl.
cl_uint children(cl_uint value)
{
    return value != 0 ? mix32(value) % 4 : 0;
}

cl_uint child(cl_uint value, cl_uint k)
{
    return mix32(value * 4 + k) % value;
}

std::vector<Item> seeds(std::size_t count)
{
    std::vector<Item> items;
    for (std::size_t i = 0; i < count; i++)
        items.push_back({static_cast<cl_uint>(1000 + i * 7919 % 9000), 0});
    return items;
}

// Values of each round, in the order of their items' parents.
std::vector<std::vector<cl_uint>> rounds_of(const std::vector<Item> &items)
{
    std::vector<std::vector<cl_uint>> rounds(1);
    for (const Item &item : items)
        rounds[0].push_back(item.value);
    while (!rounds.back().empty()) {
        std::vector<cl_uint> next;
        for (const cl_uint value : rounds.back())
            for (cl_uint k = 0; k < children(value); k++)
                next.push_back(child(value, k));
        rounds.push_back(std::move(next));
    }
    rounds.pop_back();
    return rounds;
}

// How many items descend from each of the first round.
std::size_t descendants(cl_uint value)
{
    std::size_t count = 0;
    std::vector<cl_uint> open{value};
    while (!open.empty()) {
        const cl_uint one = open.back();
        open.pop_back();
        for (cl_uint k = 0; k < children(one); k++)
            open.push_back(child(one, k));
        count += children(one);
    }
    return count;
}

std::size_t whole_groups(std::size_t items)
{
    return (items + 63) / 64 * 64;
}

kma::Program program_for(kma::HeapKind kind, int debug)
{
    kma::ProgramOptions options;
    options.heap = kind;
    options.debug = debug;
    return program("work_queue.cl", options);
}

constexpr std::size_t most_rounds = 200;

// Works until there is no more: the sums of the rounds, and how many items each had.
struct Done {
    std::vector<cl_uint> sums, items;
};

Done work(const kma::Program &kernels, const kma::Heap &heap, const WorkQueue &queue, bool keep)
{
    const Array<cl_uint> sums(most_rounds, 0), lost(1, 0);
    Done done;
    while (const cl_uint items = queue.turn(heap, keep)) {
        REQUIRE(done.items.size() < most_rounds);
        launch(kernels, "work_step", {whole_groups(items), 64}, heap, queue.ref(), sums, static_cast<cl_uint>(done.items.size()), lost);
        done.items.push_back(items);
    }
    CHECK(lost.read()[0] == 0);
    done.sums = sums.read();
    done.sums.resize(done.items.size());
    return done;
}

} // namespace

TEST_CASE("a work queue's rounds are the host's, on every kind of heap", "[work_queue]")
{
    const std::vector<Item> items = seeds(scaled(1000, 50));
    const std::vector<std::vector<cl_uint>> rounds = rounds_of(items);
    REQUIRE(rounds.size() > 4);
    for (const Subject &subject : few_subjects()) {
        INFO(kma::name_of(subject.kind) << " " << subject.options << " debug " << subject.debug);
        const kma::Heap heap(device(), 32 << 20, subject.heap_options());
        const kma::Program kernels = subject.program("work_queue.cl");
        const WorkQueue queue(device(), heap, sizeof(Item));
        queue.add(heap, std::span<const Item>(items));
        CHECK(queue.next(heap) == items.size());
        CHECK(queue.now(heap) == 0);
        const Done done = work(kernels, heap, queue, false);
        REQUIRE(done.items.size() == rounds.size());
        for (std::size_t round = 0; round < rounds.size(); round++) {
            CHECK(done.items[round] == rounds[round].size());
            CHECK(done.sums[round] == std::accumulate(rounds[round].begin(), rounds[round].end(), cl_uint{0}));
        }
        queue.destroy(heap);
        CHECK(heap.check().empty());
        CHECK(heap.error_text() == "");
        if (subject.kind != kma::HeapKind::bump)
            CHECK(heap.stats().blocks == 0);
    }
}

TEST_CASE("a work queue is a stack of the rounds that were kept", "[work_queue]")
{
    const std::vector<Item> items = seeds(scaled(500, 50));
    const kma::Heap heap(device(), 32 << 20);
    const kma::Program kernels = program_for(kma::default_heap_kind, 0);
    const WorkQueue queue(device(), heap, sizeof(Item), {.objects_per_block = 128});
    queue.add(heap, std::span<const Item>(items));
    const Done done = work(kernels, heap, queue, true);
    // What is worked on now is empty; each step back is the round before, whose items count for their parents.
    std::vector<cl_uint> counts(1, 0);
    for (std::size_t round = done.items.size(); round-- != 0;) {
        const std::optional<std::uint32_t> there = queue.back(heap);
        REQUIRE(there == done.items[round]);
        CHECK(queue.next(heap) == 0);
        if (round == 0)
            break;
        counts.resize(*there, 0);
        const Array<cl_uint> of_these(counts), before(done.items[round - 1], 0);
        launch(kernels, "count_down", {whole_groups(*there), 64}, heap, queue.ref(), of_these, before);
        counts = before.read();
    }
    // The first round's items lie in any order.
    std::multiset<std::size_t> wanted, found(counts.begin(), counts.end());
    for (const Item &item : items)
        wanted.insert(descendants(item.value));
    CHECK(found == wanted);
    CHECK(queue.back(heap) == 0); // the empty bundle that turn found first
    CHECK(queue.back(heap) == std::nullopt);
    queue.destroy(heap);
    CHECK(heap.stats().blocks == 0);
    CHECK(heap.check().empty());
}

TEST_CASE("a work queue keeps its memory from round to round", "[work_queue]")
{
    const kma::Heap heap(device(), 8 << 20);
    const WorkQueue queue(device(), heap, 4);
    const std::vector<cl_uint> items(10000, 1);
    std::uint64_t blocks = 0;
    for (int round = 0; round < 6; round++) {
        queue.add(heap, std::span<const cl_uint>(items));
        CHECK(queue.turn(heap) == items.size());
        if (round == 2)
            blocks = heap.stats().blocks;
        CHECK((round < 2 || heap.stats().blocks == blocks));
    }
    CHECK(queue.turn(heap) == 0);
    queue.destroy(heap);
    CHECK(heap.stats().blocks == 0);
}

TEST_CASE("a work-item has a work queue of its own", "[work_queue]")
{
    const kma::Heap heap(device(), 1 << 20);
    const Array<cl_uint> out(2, 7);
    launch(program_for(kma::default_heap_kind, 0), "alone", {64, 64}, heap, out);
    cl_uint sum = 0, kept = 0;
    for (cl_uint round = 0; round < 20; round++) {
        for (cl_uint k = 0; k < round; k++)
            sum += round * 100 + k;
        kept += round % 2 == 1 && round < 19 ? round : 0; // worked on when an even round put them aside
    }
    CHECK(out.read() == std::vector<cl_uint>{sum, kept});
    CHECK(heap.stats().blocks == 0);
}

TEST_CASE("without memory a work queue says so and stays as it was", "[work_queue]")
{
    const kma::Heap heap(device(), 64 << 10);
    const WorkQueue queue(device(), heap, 4, {.objects_per_block = 256});
    const std::vector<cl_uint> many(100000, 1);
    CHECK_THROWS_AS(queue.add(heap, std::span<const cl_uint>(many)), kma::Error);
    CHECK_THROWS_AS(queue.add(heap, std::span<const Item>(std::vector<Item>(1))), kma::Error);
    const cl_uint there = queue.next(heap);
    CHECK(there > 0);
    CHECK_THROWS_AS(queue.turn(heap, true), kma::Error);
    CHECK(queue.next(heap) == there);
    CHECK(queue.turn(heap) == there);
    CHECK_THROWS_AS(WorkQueue(device(), heap, 0), kma::Error);
    CHECK_THROWS_AS(WorkQueue(device(), heap, 4), kma::Error);
    queue.destroy(heap);
    CHECK(heap.stats().blocks == 0);
    CHECK(heap.check().empty());
}
