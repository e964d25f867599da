// kma/lockfree/indexed_queue.cl on the device, and the host class that creates it.
#include <algorithm>
#include <numeric>

#include "catch.hpp"
#include "lockfree/indexed_queue.hpp"
#include "support.hpp"

using namespace test;

namespace {

constexpr cl_uint empty = 0xffffffffu; // KMA_QUEUE_EMPTY

struct Payload {
    cl_uint stamp = 0;
    cl_uint complement = ~0u;
    cl_uint owners = 0;
};

// A queue in a flavour of the device code.
struct Queue {
    Queue(const Flavour &flavour, cl_uint capacity, cl_uint items, cl_uint first_tag = 0)
        : queue(device(), capacity, items, first_tag, !flavour.atomic64),
          kernels(program("lockfree/indexed_queue.cl", flavour.options))
    {
    }

    // All items that `work_items` of them can take, `each` at most; in the order of work-items.
    std::vector<cl_uint> take(std::size_t work_items, cl_uint each) const
    {
        const Array<cl_uint> out(work_items * each, empty), got(work_items, 0);
        launch(kernels, "take", {work_items, std::min<std::size_t>(work_items, 64)}, queue.buffer(), out, got, each);
        const auto items = out.read(), counts = got.read();
        std::vector<cl_uint> taken;
        for (std::size_t i = 0; i < work_items; i++)
            taken.insert(taken.end(), items.begin() + i * each, items.begin() + i * each + counts[i]);
        return taken;
    }

    // The items from `first` on, `each` by a work-item.
    void put(std::size_t work_items, cl_uint first, cl_uint each) const
    {
        launch(kernels, "put", {work_items, std::min<std::size_t>(work_items, 64)}, queue.buffer(), first, each);
    }

    // The tag of the queue's head, which is its first word.
    cl_ulong head_tag() const
    {
        cl_ulong word = 0;
        device().queue().enqueueReadBuffer(queue.buffer(), CL_TRUE, 0, queue.tag_bits() == 32 ? 8 : 4, &word);
        return word >> queue.tag_bits(); // the index has as many bits as the tag
    }

    kma::IndexedQueue queue;
    kma::Program kernels;
};

std::vector<cl_uint> numbers(cl_uint first, cl_uint end)
{
    std::vector<cl_uint> all(end - first);
    std::iota(all.begin(), all.end(), first);
    return all;
}

std::vector<cl_uint> sorted(std::vector<cl_uint> values)
{
    std::ranges::sort(values);
    return values;
}

struct Churn {
    cl_uint capacity, items, each, first_tag;
};

void check_churn(const Flavour &flavour, const Churn &with, bool must_wrap)
{
    INFO(flavour.name << ", capacity " << with.capacity << ", items " << with.items << ", tags from "
                      << with.first_tag);
    const std::size_t work_items = 64 * scaled(32);
    const Queue it(flavour, with.capacity, with.items, with.first_tag);
    const Array<cl_uint> owner(with.capacity, 0), faults(3, 0), got(work_items, 0);
    const Array<Payload> payloads(with.capacity, Payload{});
    launch(it.kernels, "churn", {work_items, 64}, it.queue.buffer(), owner, payloads, faults, got,
           static_cast<cl_uint>(scaled(16, 2)), with.each);

    CHECK(faults.read() == std::vector<cl_uint>{0, 0, 0});
    CHECK(owner.read() == std::vector<cl_uint>(with.capacity, 0));
    const auto taken = got.read();
    std::size_t owned = 0;
    for (const Payload &payload : payloads.read())
        owned += payload.owners;
    CHECK(std::accumulate(taken.begin(), taken.end(), std::size_t{0}) == owned);
    CHECK(owned > 0);
    // Each item taken is one write of the head.
    const cl_ulong tags = cl_ulong{1} << it.queue.tag_bits();
    CHECK(it.head_tag() == (with.first_tag + owned) % tags);
    if (must_wrap)
        CHECK(with.first_tag + owned >= tags);
    CHECK(sorted(it.take(1, with.capacity + 1)) == numbers(0, with.items));
}

} // namespace

TEST_CASE("a queue gives each of its items once, in order to one, then none", "[indexed_queue]")
{
    for (const Flavour &flavour : flavours()) {
        INFO(flavour.name);
        for (const cl_uint count : {1u, 2u, 1000u}) {
            const Queue it(flavour, count, count);
            CHECK(it.queue.tag_bits() == (flavour.atomic64 ? 32 : 16));
            CHECK(it.take(1, count + 1) == numbers(0, count));
            CHECK(it.take(1, 1).empty());
        }
        const auto count =
            static_cast<cl_uint>(std::min<std::size_t>(scaled(20000, 100), 65534)); // all that 16 bits name
        CHECK(sorted(Queue(flavour, count, count).take((count / 8 + 64) / 64 * 64, 9)) ==
              numbers(0, count)); // 8 are enough
    }
}

TEST_CASE("a queue takes what its creator owns, if it starts empty or with some of its items", "[indexed_queue]")
{
    for (const Flavour &flavour : flavours()) {
        INFO(flavour.name);
        const cl_uint count = static_cast<cl_uint>(std::min<std::size_t>(scaled(4096, 128), 65534));
        const Queue it(flavour, count, 0);
        CHECK(it.take(64, 2).empty());
        const std::size_t work_items = (count / 3 + 64) / 64 * 64;
        for (int round = 0; round < 3; round++) {
            it.put(work_items, 0, 3);
            CHECK(sorted(it.take(work_items, 4)) == numbers(0, count));
        }
        it.put(1, 0, count); // one work-item's own items stay in its order
        CHECK(it.take(1, count) == numbers(0, count));

        const Queue some(flavour, 100, 40);
        some.put(64, 40, 1);
        const std::vector<cl_uint> taken = some.take(1, 101);
        CHECK(std::vector<cl_uint>(taken.begin(), taken.begin() + 40) == numbers(0, 40));
        CHECK(sorted(taken) == numbers(0, 100));
    }
}

TEST_CASE("an item has one owner at a time and brings the last one's words; tags may wrap", "[indexed_queue]")
{
    for (const Flavour &flavour : flavours()) {
        for (const Churn &with : {Churn{1, 1, 1, 0}, Churn{5, 5, 2, 0}, Churn{64, 64, 3, 0}, Churn{3000, 2000, 4, 0}})
            check_churn(flavour, with, false);
        const cl_uint first_tag = flavour.atomic64 ? 0xfffffff0u : 0xfff0u;
        check_churn(flavour, {5, 5, 2, first_tag}, true);
        check_churn(flavour, {64, 64, 3, first_tag}, true);
    }
}

TEST_CASE("a queue that cannot be says why", "[indexed_queue]")
{
    const auto message = [](cl_uint capacity, cl_uint items, bool force_32_bit) {
        return message_of<kma::Error>([&] { kma::IndexedQueue(device(), capacity, items, 0, force_32_bit); });
    };
    CHECK_THAT(message(0, 0, false), contains("capacity 0") && contains("at least 1"));
    CHECK_THAT(message(10, 11, false), contains("capacity 10") && contains("11 items"));
    CHECK_THAT(message(70000, 0, true), contains("70000") && contains("16 tag bits") && contains("65534"));
    CHECK(message(65534, 0, true) == "no error");
    CHECK(kma::IndexedQueue(device(), 1, 0, 0, true).tag_bits() == 16);
}
