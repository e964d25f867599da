// kma::Collector and kma::CollectingRunner for the host: their life, growth, and what they refuse.
#include "graphs.hpp"

using namespace collecting;

namespace {

// The first object leads to the second; the third is garbage.
Graph small_graph()
{
    Graph graph;
    for (int i = 0; i < 3; i++)
        graph.add(node);
    graph.lead(0, 4, 1);
    return graph;
}

} // namespace

TEST_CASE("a collector's tables outlive growth, a second collector and a file, and not a reset",
          "[collect]")
{
    Place place({.bytes = 4 << 20, .max_bytes = 32 << 20});
    kma::Heap &heap = place.heap;
    {
        Subject subject(place, small_graph());
        heap.grow(32 << 20);
        subject.collect({0});
    }
    place.collector.reset();
    kma::Types others = types();
    others.add("More", {"uint x"});
    CHECK_THROWS_WITH(kma::Collector(heap, others),
                      contains("the tables of a collector of other types"));
    place.collector.emplace(heap, types());
    CHECK(place.collector->collect().freed_objects == 2);
    CHECK_THROWS_WITH(kma::Collector(heap, types()), contains("a collector already"));

    Subject kept(place, small_graph());
    const std::string file = KMA_SCRATCH_DIR "/collected.kma";
    heap.save(file);
    kma::Heap loaded = kma::Heap::load(device(), file);
    kma::Collector again(loaded, types());
    again.pin(kept.ref(0));
    const kma::Collection result = again.collect();
    CHECK(result.marked_objects == 2);
    CHECK(result.freed_objects == 1);
    CHECK(loaded.check() == nothing);

    heap.reset();
    CHECK_THROWS_WITH(place.collector->collect(), contains("since it was reset"));
    const Array<cl_uint> none(1, 0);
    place.run("make", 1, Array<cl_uint>(1, node), Array<cl_uint>(1, 1), none, cl_uint{1},
              cl_uint{0});
    CHECK(none.read()[0] == 0);
    CHECK(heap.error_count(kma::ErrorCode::bad_heap) == 1);
    heap.clear_errors();
    kma::Collector next(heap, types()); // while the other one lives, of which nothing is left
    CHECK_THROWS_WITH(place.collector->collect(), contains("since it was reset"));
    place.used = heap.stats().used;
    Subject anew(place, small_graph());
    *place.collector = std::move(next);
    anew.collect({0});
    place.end();
}

TEST_CASE("a heap in shared virtual memory has a collector, too", "[collect]")
{
    if (device().device().getInfo<CL_DEVICE_SVM_CAPABILITIES>() == 0)
        return; // then Heap says so, which heap_test.cpp has
    Place place({.bytes = 4 << 20, .storage = kma::Storage::svm});
    Subject subject(place, small_graph());
    subject.collect({0});
    place.end();
}

TEST_CASE("a runner collects, then lets the heap grow, then says that there is no room",
          "[collect]")
{
    Place place({.bytes = 1 << 20, .max_bytes = 4 << 20});
    kma::Heap &heap = place.heap;
    const Array<kma::Ref> refs(256, 0);
    const Array<cl_uint> made(1, 0);
    kma::CollectingRunner runner(*place.collector);
    CHECK(runner.look() == kma::Room::enough);
    unsigned launches = 0; // all of the first is garbage: there is room without growth
    CHECK(runner.run([&](kma::Heap &, unsigned repetition) {
        launches = repetition + 1;
        if (repetition == 0)
            place.run("fill", 64, refs, made);
    }) == kma::Room::enough);
    CHECK(launches == 2);
    CHECK(runner.collections() == 1);
    CHECK(runner.growths() == 0);
    CHECK(runner.freed_objects() == made.read()[0]);
    CHECK(runner.refused() > 0);
    CHECK(heap.stats().used == place.used);
    CHECK(heap.error_text().empty()); // what was refused is asked for again

    const auto roots = place.collector->add_roots(refs.buffer(), 256); // now all lives
    std::vector<std::uint64_t> bytes;
    CHECK(runner.run([&](kma::Heap &now, unsigned) {
        bytes.push_back(now.bytes());
        for (const kma::Ref ref : refs.read())
            if (ref != 0)
                place.collector->pin(ref); // the next launch writes other refs
        place.run("fill", 256, refs, made);
    }) == kma::Room::none);
    CHECK(bytes.back() == 4 << 20);
    CHECK(runner.growths() == 2);
    CHECK(heap.options().max_bytes == heap.bytes());
    CHECK(heap.error_count(kma::ErrorCode::out_of_memory) > 0); // and these stay
    CHECK(heap.check() == nothing);
    CHECK(runner.look() == kma::Room::enough); // nothing new
}

TEST_CASE("what a collector refuses", "[collect]")
{
    kma::Heap scatter(device(), 16 << 20, {.kind = kma::HeapKind::scatter});
    CHECK_THROWS_WITH(kma::Collector(scatter, types()), contains("a collector needs a slab heap"));
    kma::Heap heap(device(), 4 << 20);
    CHECK_THROWS_WITH(kma::Collector(heap, kma::Types()), contains("declare them by Types::add()"));
    kma::Heap small(device(), 1 << 15);
    kma::Collector fits(small, types());
    const kma::HeapOptions growing{.max_bytes = 64 << 20};
    kma::Heap too_small(device(), kma::Heap::bytes_for(growing, 1 << 20), growing);
    CHECK_THROWS_WITH(kma::Collector(too_small, types()),
                      contains("has no room for a collector, which takes " +
                               std::to_string(kma::Collector::bytes_for(64 << 20))));
    const auto refuses = [&](const kma::CollectorOptions &options, const char *why) {
        CHECK_THROWS_WITH(kma::Collector(heap, types(), options), contains(why));
    };
    for (const std::uint64_t bytes : {0ull, 4096ull, 12288ull, 1ull << 31})
        refuses({.region_bytes = bytes}, "a power of two from 8192 to 1073741824");
    for (const double part : {0.0, -1.0, 1.5}) {
        refuses({.share = part}, "give them more than 0 and at most 1");
        refuses({.fullest = part}, "give them more than 0 and at most 1");
    }
    kma::Collector collector(heap, types());
    CHECK_THROWS_WITH(collector.unpin(1), contains("ref 1 is not pinned"));
    const Array<kma::Ref> roots(4, 0u);
    CHECK_THROWS_WITH(collector.add_roots(roots.buffer(), 3, 2),
                      contains("roots 2 to 4 are not all in their buffer, which has 4 refs"));
}

TEST_CASE("a collection in numbers", "[collect]")
{
    const kma::Compaction one{
        {3, 96, 2, 64, 16, 0, 1, 1.5, 0.25}, 4, 128, 1, 10, 2, 3, 5, 0.5, 1, 2, 0.25};
    CHECK(one.json() ==
          R"({"collection": {"marked_objects": 3, "marked_bytes": 96, )"
          R"("freed_objects": 2, "freed_bytes": 64, "rounds": 16, "repeats": 0, )"
          R"("list_passes": 1, "mark_milliseconds": 1.5, "sweep_milliseconds": 0.25}, )"
          R"("moved_objects": 4, "moved_bytes": 128, "stayed_objects": 1, )"
          R"("regions": 10, "sources": 2, "targets": 3, "rewritten": 5, )"
          R"("census_milliseconds": 0.5, "move_milliseconds": 1, )"
          R"("rewrite_milliseconds": 2, "free_milliseconds": 0.25})");
    CHECK(kma::Collector::bytes_for(1 << 20) == 16 + 65536 + 8192);
    // The largest heap that refs reach.
    constexpr std::uint64_t most = (std::uint64_t{1} << 32) - 128;
    CHECK(kma::Collector::bytes_for(((std::uint64_t{1} << 32) - 2) * 16) == 16 + most + most / 8);
}
