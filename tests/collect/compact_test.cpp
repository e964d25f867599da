// kma::Collector::compact and make_room: objects move, all references lead to them, and memory side
// by side becomes free.
#include <algorithm>

#include "collect/compaction_plan.hpp"
#include "graphs.hpp"

using namespace collecting;

TEST_CASE("sources are from the top, targets from the bottom; a window has the least to move",
          "[compact]")
{
    using kma::layout::kma_region; // units in use, in free slots, in free frames; what cannot move
    const kma_region thin{{20}, {80}, {0}, {0}, {0}}, thinner{{10}, {90}, {0}, {0}, {0}},
        full{{90}, {10}, {0}, {0}, {0}}, fixed{{20}, {80}, {0}, {1}, {0}},
        free{{0}, {0}, {100}, {0}, {0}}, entered{{10}, {90}, {0}, {0}, {1}};
    const kma::CompactionPlan plan =
        kma::plan_compaction({thin, full, thin, free, fixed, thin, thin}, 7, 75);
    CHECK(plan.sources == Objects{6, 5, 2});
    CHECK(plan.targets == Objects{0});
    CHECK(plan.is_source == Objects{0, 0, 1, 0, 0, 1, 1});
    CHECK(plan.units == 60);
    CHECK(kma::plan_compaction({thin, full, thin, thin}, 1, 75).sources == Objects{3});
    CHECK(kma::plan_compaction({thin, thin, thin}, 7, 10).sources.empty()); // all are fuller
    CHECK(kma::plan_compaction({full, full, thin}, 7, 75).sources.empty()); // there is no room
    CHECK(kma::plan_compaction({full, free, thin}, 7, 75).sources == Objects{2}); // in free frames

    struct WindowCase {
        std::vector<kma_region> regions;
        kma::Window window;
        Objects sources;
    };
    for (const WindowCase &one :
         std::vector<WindowCase>{{{thin, thinner, thin, thin}, {1, 0, true}, {1}},
                                 {{thin, thin, thinner, thin}, {2, 0, true}, {2, 3}},
                                 {{thin, thin, thinner, thin}, {2, 0, false}, {1, 2}},
                                 {{thin, thin, thinner, thin}, {2, 2, false}, {0, 1}},
                                 {{thin, fixed, thin, fixed}, {2, 0, true}, {}},
                                 {{thin, entered, thin}, {1, 0, true}, {2}},
                                 {{thin, entered, thin}, {2, 0, true}, {0, 1}},
                                 {{thin, free, thin}, {1, 0, true}, {1}},
                                 {{thin, thin}, {2, 0, true}, {}}, // nowhere to move to
                                 {{thin, thin}, {3, 0, true}, {}}})
        CHECK(kma::plan_window(one.regions, one.window, 75).sources == one.sources);
    CHECK(
        kma::plan_window({thin, thinner, {{80}, {20}, {0}, {0}, {0}}}, {1, 0, true}, 75).targets ==
        Objects{0});
}

TEST_CASE("after a compaction every reference leads to its object", "[compact]")
{
    check_random_graphs(3, true);
}

TEST_CASE("regions of objects that are thinned out become free side by side", "[compact]")
{
    for (const Flavour &flavour : ways()) {
        INFO(flavour.name);
        Place place(
            {.bytes = 16 << 20, .collector = regions(64 << 10), .options = flavour.options});
        constexpr std::uint32_t count = 400000; // 12.2 of 14.6 MiB
        {
            Subject list = thinned(place, count, 8);
            place.collector->collect();
            list.check();
            const kma::Compaction done = place.collector->compact();
            INFO(done.json());
            list.check();
            CHECK(done.collection.marked_objects == count / 8);
            CHECK(done.moved_objects > count / 16);
            CHECK(done.stayed_objects == 0);
            CHECK(done.sources > done.regions / 2);
            CHECK(place.heap.check() == nothing);
            CHECK(place.heap.stats().used == place.used + std::uint64_t{count} / 8 * 32);
            const std::vector<kma::Collector::Piece> pieces = place.collector->pieces();
            // Nodes lie two in a piece, and densely in targets.
            const auto objects = std::ranges::count(pieces, kma::Collector::Piece::object);
            CHECK(objects >= count / 16);
            CHECK(objects < count / 12);
            const auto blocks = std::ranges::count(pieces, kma::Collector::Piece::block);
            CHECK(std::uint64_t(blocks) == // the collector's
                  (kma::Collector::bytes_for(place.heap.bytes()) + 255) / 256 * 4);
            // All sources are one block, but for the heap's last region, which is a part of one.
            CHECK(place.collector->make_room(std::uint64_t{done.sources - 1} << 16));
            list.check();
        }
        place.end();
    }
}

TEST_CASE("room for one block is made by the fewest moves, or there is none", "[compact]")
{
    Place place({.bytes = 16 << 20, .collector = regions(64 << 10)});
    {
        Subject list = thinned(place, 400000, 8);
        const kma::Compaction done = place.collector->compact(1 << 20);
        INFO(done.json());
        CHECK(done.sources == 16);
        CHECK(done.stayed_objects == 0);
        CHECK(done.moved_objects <= std::uint64_t{1 << 20} / 32);
        list.check();
        CHECK(place.collector->make_room(1 << 20));
        CHECK(place.collector->make_room(8 << 20)); // for which more must move
        list.check();
        CHECK(!place.collector->make_room(16 << 20));
        CHECK(place.heap.error_text().empty());
        list.check();
        CHECK(place.heap.check() == nothing);
    }
    place.end();
}

TEST_CASE("objects of sizes that no target has a slot for get new pages", "[compact]")
{
    Place place({.bytes = 16 << 20, .collector = regions(64 << 10)});
    Graph graph; // nodes all over the heap, and arrays of many lengths in it
    Objects roots;
    for (std::uint32_t i = 0; i < 100000; i++)
        if (graph.add(node) % 8 == 0)
            roots.push_back(i);
    for (std::uint32_t length = 1; length < 200; length++)
        roots.push_back(graph.add(numbers | array, length));
    Subject subject(place, std::move(graph));
    const kma::Compaction done = subject.compact(roots, 8 << 20);
    INFO(done.json());
    CHECK(done.sources == 128);
    CHECK(done.stayed_objects == 0);
    CHECK(place.heap.check() == nothing);
    place.end();
}

TEST_CASE("objects that whole warps took side by side move, also across regions", "[compact][long]")
{
    for (const std::uint32_t words : {101u, 26u, 231u}) { // slabs of up to 58 lines
        INFO(words << " words");
        Place place({.bytes = 64 << 20,
                     .collector = {.region_bytes = 64 << 10, .share = 1},
                     .large_words = words});
        const std::uint32_t count = (40u << 20) / (words * 4 + 12) / 64 * 64;
        {
            Subject list = thinned(place, count, 8, large);
            place.collector->collect();
            const kma::Compaction done = place.collector->compact();
            INFO(done.json());
            CHECK(done.moved_objects > count / 8 / 2);
            CHECK(done.stayed_objects < 100); // slabs of targets that end in a source
            list.check();
            CHECK(place.heap.check() == nothing);
            CHECK(place.collector->make_room(40 << 20));
            list.check();
            CHECK(place.heap.check() == nothing);
            CHECK(place.collector->make_room(200 << 10));
        }
        place.end();
    }
}

TEST_CASE("room for blocks that must lie in one group of frames", "[compact]")
{
    Place place({.bytes = 16 << 20, .collector = regions(8192)});
    for (const std::uint64_t bytes : {200 << 10, 256 << 10}) {
        {
            Subject list = thinned(place, 440000, 8); // all of the heap
            CHECK(place.collector->make_room(bytes));
            list.check();
            CHECK(place.collector->make_room(0));
            CHECK(!place.collector->make_room(std::uint64_t{1} << 40));
        }
        place.end();
    }
}

TEST_CASE("a heap that may grow does so where compaction does not make room", "[compact]")
{
    Place place({.bytes = 4 << 20, .collector = regions(8192), .max_bytes = 16 << 20});
    Subject list = thinned(place, 60000, 1); // all survive
    CHECK(!place.collector->make_room(15 << 20));
    CHECK(place.heap.bytes() == 16 << 20);
    CHECK(place.collector->make_room(8 << 20));
    list.check();
    CHECK(place.heap.check() == nothing);
}

TEST_CASE("what is pinned or has no type stays, and so does the region around it", "[compact]")
{
    Place place({.bytes = 8 << 20, .collector = regions(8192)});
    {
        Subject list = thinned(place, 100000, 16);
        const Array<kma::Ref> plain = make_plain(place, 64);
        const std::vector<kma::Ref> refs = list.refs();
        for (std::size_t i = 0; i < refs.size(); i += 1600)
            place.collector->pin(refs[i]);
        CHECK(place.collector->compact().moved_objects > 1000);
        list.check();
        const std::vector<kma::Ref> now = list.refs();
        for (std::size_t i = 0; i < refs.size(); i += 1600) {
            CHECK(now[i] == refs[i]);
            place.collector->unpin(refs[i]);
        }
        compare_and_free(place, plain);
        CHECK(place.heap.check() == nothing);
    }
    place.end();
}

TEST_CASE("references in large arrays are rewritten, with queues of any length", "[compact]")
{
    for (const std::uint64_t queue_bytes : {0, 16 * 100}) {
        INFO("queues of " << queue_bytes);
        kma::CollectorOptions options = regions(8192);
        options.queue_bytes = queue_bytes;
        Place place({.bytes = 64 << 20, .collector = options});
        Graph graph;
        const std::uint32_t long_one = graph.add(refs_type | array, 300000);
        for (std::uint32_t i = 0; i < 20000; i++) {
            const std::uint32_t one = graph.add(node);
            if (i % 5 == 0)
                graph.lead(long_one, 4 * (i * 15 + i % 15), one);
        }
        Subject subject(place, std::move(graph));
        const kma::Compaction done = subject.compact({long_one});
        INFO(done.json());
        CHECK(done.moved_objects > (queue_bytes == 0 ? 1000 : 100));
        place.end();
    }
}

TEST_CASE("guarded blocks keep their places", "[compact][long]")
{
    for (const int debug : {1, 2, 3}) {
        Place place({.bytes = 16 << 20, .collector = regions(8192), .debug = debug});
        {
            Subject list = thinned(place, 50000, 8);
            CHECK((place.collector->compact().moved_objects == 0) == (debug >= 2));
            list.check();
        }
        place.end();
    }
}

// For oclgrind, which sees each access.
TEST_CASE("a small heap is compacted", "[compact]")
{
    std::mt19937 random(4);
    Place place({.bytes = 1 << 20, .collector = regions(8192)});
    Graph graph;
    while (graph.types.size() < 200 || graph.types.size() > 300)
        graph = random_graph(random, 300);
    const Objects roots = random_roots(random, graph);
    Subject subject(place, std::move(graph));
    CHECK(subject.compact(roots).moved_objects > 0);
    CHECK(place.heap.check() == nothing);
    place.end();
}

TEST_CASE("a runner that may move objects makes room for a large block", "[compact]")
{
    Place place({.bytes = 16 << 20, .collector = regions(64 << 10)});
    {
        const Array<kma::Ref> array_root(1, 0);
        const auto root = place.collector->add_roots(array_root.buffer(), 1);
        Subject list = thinned(place, 400000, 8);
        const auto make_array = [&](kma::Heap &, unsigned) {
            if (array_root.read()[0] == 0)
                place.run("make", 1, Array<cl_uint>(1, numbers | array), Array<cl_uint>(1, 1 << 21),
                          array_root, cl_uint{1}, cl_uint{1});
        };
        kma::CollectingRunner stays(*place.collector);
        CHECK(stays.run(make_array) == kma::Room::none); // 8 MiB are free, but not side by side
        place.heap.clear_errors();
        CHECK(stays.compactions() == 0);
        kma::CollectingRunner moves(*place.collector, 0, true);
        CHECK(moves.run(make_array) == kma::Room::enough);
        CHECK(moves.compactions() == 1);
        CHECK(array_root.read()[0] != 0);
        list.check();
        CHECK(place.heap.check() == nothing);
    }
    place.end();
}
