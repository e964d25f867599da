// kma/heap/common/ref.cl: refs mean the same everywhere, and what they lead to arrives with them.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "catch.hpp"
#include "support.hpp"

using namespace test;

namespace {

constexpr cl_uint words = 12;

struct Message {
    cl_uint words[::words];
};

std::size_t sum(const Array<cl_uint> &values)
{
    const auto all = values.read();
    return std::accumulate(all.begin(), all.end(), std::size_t{0});
}

// A message is whole if its words count on from a writer's first.
bool is_whole(const Message &message, std::size_t writers)
{
    const cl_uint writer = (message.words[0] - 1) / words;
    for (cl_uint i = 0; i < words; i++)
        if (message.words[i] != writer * words + i + 1)
            return false;
    return writer < writers;
}

} // namespace

TEST_CASE("refs and pointers translate into each other", "[ref]")
{
    for (const Flavour &flavour : flavours()) {
        INFO(flavour.name);
        const kma::Heap heap(device(), kma::Heap::bytes_for(kma::HeapKind::bump, 1024), {.kind = kma::HeapKind::bump});
        const Array<cl_uint> word(1, 0), out(10, 77);
        launch(program("platform/ref.cl", flavour.options), "arithmetic", {1, 1}, heap, word, out);
        const auto first = static_cast<cl_uint>(kma::Heap::bytes_for(kma::HeapKind::bump, 0) / kma::ref_unit);
        CHECK(out.read() == std::vector<cl_uint>{0, 1, 1, 9, 0, 7, 7, 0, 0, first});
    }
}

TEST_CASE("of many that publish in one slot one wins, and a published ref brings its message whole", "[ref]")
{
    struct Announced {
        cl_uint found, wrong;
    };
    for (const Flavour &flavour : flavours()) {
        INFO(flavour.name);
        const std::size_t work_items = 64 * scaled(128, 2);
        const cl_uint slot_count = static_cast<cl_uint>(work_items / 4);
        const kma::Program kernels = program("platform/ref.cl", flavour.options);
        std::size_t found_overall = 0, announced_overall = 0;
        for (std::size_t repeat = 0; repeat < scaled(8, 2); repeat++) {
            const kma::Heap heap(device(), kma::Heap::bytes_for(kma::HeapKind::bump, work_items * sizeof(Message)),
                                 {.kind = kma::HeapKind::bump});
            const Array<cl_uint> slots(slot_count, 0), places(work_items, 0), won(work_items, 0), found(work_items, 0),
                wrong(work_items, 0);
            const Array<Announced> announced(work_items, Announced{});
            launch(kernels, "publish", {work_items, 64}, heap, slots, slot_count, places, won, found, wrong, announced,
                   cl_uint{16});
            CHECK(sum(wrong) == 0);
            found_overall += sum(found);
            cl_uint wrong_announced = 0;
            for (const Announced &one : announced.read()) {
                wrong_announced += one.wrong;
                announced_overall += one.found;
            }
            CHECK(wrong_announced == 0);

            std::vector<cl_uint> winners;
            for (const cl_uint slot : won.read())
                if (slot != 0)
                    winners.push_back(slot - 1);
            std::ranges::sort(winners);
            CHECK(winners.size() == slot_count); // each slot had at least one that tried
            CHECK(std::ranges::adjacent_find(winners) == winners.end());

            const kma::Snapshot snapshot = heap.snapshot();
            for (const kma::Ref ref : slots.read()) {
                const Message *message = snapshot.deref<Message>(ref);
                REQUIRE(message);
                REQUIRE(is_whole(*message, work_items));
            }
            const std::vector<kma::Ref> refs = places.read();
            for (std::size_t i = 0; i < work_items; i++) {
                REQUIRE(refs[i] != 0);
                REQUIRE(snapshot.deref<Message>(refs[i])->words[0] == i * words + 1);
            }
        }
        std::printf("refs, %s: %zu messages found and read\n", flavour.name.c_str(), found_overall + announced_overall);
        CHECK(found_overall > 0);
        CHECK(announced_overall > 0);
    }
}
