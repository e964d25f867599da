// kma::Collector::compact and make_room: objects move, all references lead to them, and memory side
// by side becomes free.
#include <algorithm>
#include <random>

#include "collect/compaction_plan.hpp"
#include "graphs.hpp"

using namespace collecting;

namespace {

// A collector that empties single frames, as many as can be.
kma::CollectorOptions small_regions()
{
    kma::CollectorOptions options;
    options.region_bytes = 8192;
    options.share = 1;
    options.fullest = 1;
    return options;
}

// A list of all nodes of which one of `step` survives, with roots in a buffer of its own.
class Thinned {
public:
    Thinned(const kma::Program &program, kma::Heap &heap, kma::Collector &collector, cl_uint count,
            cl_uint step)
        : program_(program), heap_(heap), left_(count / step, 0)
    {
        const Array<kma::Ref> all(count, 0);
        launch(program, "make_list", in_groups(count, 64), heap, all, count);
        const std::vector<kma::Ref> refs = all.read();
        REQUIRE(std::ranges::count(refs, 0u) == 0);
        std::vector<kma::Ref> kept;
        for (std::size_t i = 0; i < left_.size(); i++)
            kept.push_back(refs[i * step]);
        device().queue().enqueueWriteBuffer(left_.buffer(), CL_TRUE, 0, kept.size() * 4,
                                            kept.data());
        launch(program, "link_list", in_groups(kept.size(), 64), heap, left_,
               cl_uint(kept.size())); // and so a list
        roots.emplace(collector.add_roots(left_.buffer(), kept.size()));
        step_ = step;
    }
    // Nodes that are not what they were, or do not lead to the next one.
    cl_uint wrong() const
    {
        const Array<cl_uint> count(1, 0);
        launch(program_, "compare_list", in_groups(left_.size(), 64), heap_, left_,
               cl_uint(left_.size()), step_, count);
        return count.read()[0];
    }
    std::vector<kma::Ref> refs() const { return left_.read(); }
    std::optional<kma::Collector::Roots> roots;

private:
    const kma::Program &program_;
    kma::Heap &heap_;
    Array<kma::Ref> left_;
    cl_uint step_;
};

// Units in use, in free slots, in free frames; what cannot move.
kma::layout::kma_region region(std::uint32_t units, std::uint32_t holes, std::uint32_t open = 0,
                               std::uint32_t fixed = 0, std::uint32_t entered = 0)
{
    return {{units}, {holes}, {open}, {fixed}, {entered}};
}

using Numbers = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("sources are from the top, targets from the bottom", "[compact]")
{
    using kma::plan_compaction;
    const auto thin = region(20, 80), full = region(90, 10), fixed = region(20, 80, 0, 1),
               free = region(0, 0, 100);
    const kma::CompactionPlan plan =
        plan_compaction({thin, full, thin, free, fixed, thin, thin}, 7, 75);
    CHECK(plan.sources == Numbers{6, 5, 2});
    CHECK(plan.targets == Numbers{0});
    CHECK(plan.is_source == Numbers{0, 0, 1, 0, 0, 1, 1});
    CHECK(plan.units == 60);
    CHECK(plan_compaction({thin, full, thin, thin}, 1, 75).sources == Numbers{3});
    CHECK(plan_compaction({thin, full, thin, thin}, 7, 10).sources.empty()); // all are fuller
    CHECK(plan_compaction({fixed, fixed}, 7, 75).sources.empty());
    CHECK(plan_compaction({full, free, thin}, 7, 75).sources == Numbers{2}); // into free frames
    CHECK(plan_compaction({full, full, thin}, 7, 75).sources.empty());       // there is no room
    CHECK(plan_compaction({}, 7, 75).sources.empty());
}

TEST_CASE("a window is where there is least to move", "[compact]")
{
    using kma::plan_window;
    const auto thin = region(20, 80), thinner = region(10, 90), fixed = region(20, 80, 0, 1),
               free = region(0, 0, 100), entered = region(10, 90, 0, 0, 1);
    CHECK(plan_window({thin, thinner, thin, thin}, {1, 0, true}, 75).sources == Numbers{1});
    CHECK(plan_window({thin, thin, thinner, thin}, {2, 0, true}, 75).sources == Numbers{2, 3});
    CHECK(plan_window({thin, thin, thinner, thin}, {2, 0, false}, 75).sources == Numbers{1, 2});
    CHECK(plan_window({thin, thin, thinner, thin}, {2, 2, false}, 75).sources == Numbers{0, 1});
    CHECK(plan_window({thin, fixed, thin, fixed}, {2, 0, true}, 75).sources.empty());
    CHECK(plan_window({thin, entered, thin}, {1, 0, true}, 75).sources == Numbers{2});
    CHECK(plan_window({thin, entered, thin}, {2, 0, true}, 75).sources == Numbers{0, 1});
    CHECK(plan_window({thin, free, thin}, {1, 0, true}, 75).sources == Numbers{1});
    CHECK(plan_window({thin, thin}, {2, 0, true}, 75).sources.empty()); // nowhere to move to
    CHECK(plan_window({thin, thin}, {3, 0, true}, 75).sources.empty());
    CHECK(plan_window({thin, thinner, region(80, 20)}, {1, 0, true}, 75).targets == Numbers{0});
}

TEST_CASE("after a compaction every reference leads to its object", "[compact]")
{
    std::mt19937 random(3);
    for (const Flavour &flavour : ways()) {
        INFO(flavour.name);
        const kma::Program program = program_of(flavour.options);
        kma::Heap heap = make_heap(flavour, 8 << 20);
        kma::Collector collector(heap, types(), small_regions());
        const std::uint64_t used = heap.stats().used;
        Plain plain(program, heap, 512);
        std::uint64_t moved = 0;
        const std::size_t graphs = scaled(1000, 20);
        for (std::size_t i = 0; i < graphs; i++) {
            const bool is_large = i % 20 == 0;
            Graph graph = random_graph(random, is_large ? 2000 : 40);
            const std::vector<std::uint32_t> roots = random_roots(random, graph);
            INFO("graph " << i << " of " << graph.types.size() << " objects");
            Subject subject(program, heap, std::move(graph));
            moved += subject.compact(collector, roots).moved_objects;
            if (is_large) {
                CHECK(heap.check() == nothing);
                subject.compact(collector, roots, 1 << 20); // those that are left, once more
                CHECK(heap.check() == nothing);
            }
            collector.collect(); // without roots
        }
        CHECK(moved > graphs);
        plain.compare_and_free();
        end(collector, heap, used);
    }
}

TEST_CASE("regions of objects that are thinned out become free side by side", "[compact]")
{
    for (const Flavour &flavour : ways()) {
        INFO(flavour.name);
        const kma::Program program = program_of(flavour.options);
        kma::Heap heap = make_heap(flavour, 16 << 20);
        kma::CollectorOptions options = small_regions();
        options.region_bytes = 64 << 10;
        kma::Collector collector(heap, types(), options);
        const std::uint64_t used = heap.stats().used;
        const cl_uint count = 400000; // 12.2 of 14.6 MiB
        {
            Thinned list(program, heap, collector, count, 8);
            collector.collect();
            CHECK(list.wrong() == 0);
            const kma::Compaction done = collector.compact();
            INFO(done.json());
            CHECK(list.wrong() == 0);
            CHECK(done.collection.marked_objects == count / 8);
            CHECK(done.moved_objects > count / 16);
            CHECK(done.stayed_objects == 0);
            CHECK(done.sources > done.regions / 2);
            CHECK(heap.check() == nothing);
            CHECK(heap.stats().used == used + std::uint64_t{count} / 8 * 32);
            const std::vector<kma::Collector::Piece> pieces = collector.pieces();
            // Nodes lie two in a piece, and densely in targets.
            const auto objects = std::ranges::count(pieces, kma::Collector::Piece::object);
            CHECK(objects >= count / 16);
            CHECK(objects < count / 12);
            const auto blocks = std::ranges::count(pieces, kma::Collector::Piece::block);
            CHECK(std::uint64_t(blocks) ==
                  (kma::Collector::bytes_for(heap.bytes()) + 255) / 256 * 4); // the collector's
            // All sources are one block, but for the heap's last region, which is a part of one.
            CHECK(collector.make_room(std::uint64_t{done.sources - 1} * options.region_bytes));
            CHECK(list.wrong() == 0);
        }
        end(collector, heap, used);
    }
}

TEST_CASE("room for one block is made by the fewest moves, or there is none", "[compact]")
{
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::Heap heap = make_heap(flavour, 16 << 20);
    kma::CollectorOptions options = small_regions();
    options.region_bytes = 64 << 10;
    kma::Collector collector(heap, types(), options);
    const std::uint64_t used = heap.stats().used;
    const cl_uint count = 400000;
    {
        Thinned list(program, heap, collector, count, 8);
        const kma::Compaction done = collector.compact(1 << 20);
        INFO(done.json());
        CHECK(done.sources == 16);
        CHECK(done.stayed_objects == 0);
        CHECK(done.moved_objects <= std::uint64_t{1 << 20} / 32);
        CHECK(list.wrong() == 0);
        CHECK(collector.make_room(1 << 20));
        CHECK(collector.make_room(8 << 20)); // for which more must move
        CHECK(list.wrong() == 0);
        CHECK(!collector.make_room(16 << 20));
        CHECK(heap.error_text().empty());
        CHECK(list.wrong() == 0);
        CHECK(heap.check() == nothing);
    }
    end(collector, heap, used);
}

TEST_CASE("objects of sizes that no target has a slot for get new pages", "[compact]")
{
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::Heap heap = make_heap(flavour, 16 << 20);
    kma::CollectorOptions options = small_regions();
    options.region_bytes = 64 << 10;
    kma::Collector collector(heap, types(), options);
    const std::uint64_t used = heap.stats().used;
    {
        Graph graph; // nodes all over the heap, and arrays of many lengths in it
        std::vector<std::uint32_t> roots;
        for (std::uint32_t i = 0; i < 100000; i++) {
            const std::uint32_t one = graph.add(node);
            if (i % 8 == 0)
                roots.push_back(one);
        }
        for (std::uint32_t length = 1; length < 200; length++)
            roots.push_back(graph.add(numbers | array, length));
        Subject subject(program, heap, std::move(graph));
        const kma::Compaction done = subject.compact(collector, roots, 8 << 20);
        INFO(done.json());
        CHECK(done.sources == 128);
        CHECK(done.stayed_objects == 0);
        CHECK(heap.check() == nothing);
    }
    end(collector, heap, used);
}

TEST_CASE("objects that whole warps took side by side move, also across regions", "[compact]")
{
    for (const cl_uint words : {100u, 25u, 230u}) { // slabs of up to 58 lines
        INFO(words << " words");
        kma::Types large;
        large.add("Large",
                  {"uint number", "Large *next", "uint words[" + std::to_string(words) + "]"});
        const kma::Program program(device(), {{"types.cl", large.text()}, {"large.cl", R"(
            kernel void make(global kma_heap *heap, global kma_ref *refs, uint count)
            {
                const uint i = (uint)get_global_id(0);
                global Large *made = i < count ? Large_new(heap) : 0;
                if (made)
                    made->number = i;
                if (i < count)
                    refs[i] = kma_ref_of(heap, made);
            }
            kernel void thin(global kma_heap *heap, global kma_ref *refs, uint count, uint step)
            {
                const uint i = (uint)get_global_id(0);
                if (i < count && i % step != 0)
                    refs[i] = KMA_NULL;
                else if (i < count)
                    Large_at(heap, refs[i])->next = i + step < count ? refs[i + step] : KMA_NULL;
            }
            kernel void look(global kma_heap *heap, global const kma_ref *refs, uint count, uint step,
                             volatile global uint *wrong)
            {
                const uint i = (uint)get_global_id(0) * step;
                if (i < count && (kma_type_of(heap, Large_at(heap, refs[i])) != 1 ||
                                  Large_at(heap, refs[i])->number != i ||
                                  Large_at(heap, refs[i])->next != (i + step < count ? refs[i + step] : KMA_NULL)))
                    atomic_inc(wrong);
            })"}});
        kma::Heap heap(device(), 64 << 20);
        kma::CollectorOptions options;
        options.region_bytes = 64 << 10;
        options.share = 1;
        kma::Collector collector(heap, large, options);
        const std::uint64_t used = heap.stats().used;
        const auto count = static_cast<cl_uint>((40u << 20) / (words * 4 + 16) / 64 * 64);
        {
            const Array<kma::Ref> refs(count, 0);
            launch(program, "make", in_groups(count, 64), heap, refs, count);
            REQUIRE(std::ranges::count(refs.read(), 0u) == 0);
            const auto roots = collector.add_roots(refs.buffer(), count);
            collector.collect();
            launch(program, "thin", in_groups(count, 64), heap, refs, count, cl_uint{8});
            collector.collect();
            const auto check = [&] {
                const Array<cl_uint> wrong(1, 0);
                launch(program, "look", in_groups(count / 8, 64), heap, refs, count, cl_uint{8},
                       wrong);
                CHECK(wrong.read()[0] == 0);
                CHECK(heap.check() == nothing);
            };
            const kma::Compaction done = collector.compact();
            INFO(done.json());
            CHECK(done.moved_objects > count / 8 / 2);
            CHECK(done.stayed_objects < 100); // slabs of targets that end in a source
            check();
            CHECK(collector.make_room(40 << 20));
            check();
            CHECK(collector.make_room(200 << 10));
        }
        end(collector, heap, used);
    }
}

TEST_CASE("room for blocks that must lie in one group of frames", "[compact]")
{
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    for (const std::uint64_t bytes : {std::uint64_t{200 << 10}, std::uint64_t{256 << 10}}) {
        kma::Heap heap = make_heap(flavour, 16 << 20);
        kma::Collector collector(heap, types(), small_regions());
        const std::uint64_t used = heap.stats().used;
        {
            Thinned list(program, heap, collector, 440000, 8); // all of the heap
            CHECK(collector.make_room(bytes));
            CHECK(list.wrong() == 0);
            CHECK(collector.make_room(0));
            CHECK(!collector.make_room(std::uint64_t{1} << 40));
        }
        end(collector, heap, used);
    }
}

TEST_CASE("a heap that may grow does so where compaction does not make room", "[compact]")
{
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::HeapOptions growing;
    growing.max_bytes = 16 << 20;
    kma::Heap heap(device(), 4 << 20, growing);
    kma::Collector collector(heap, types(), small_regions());
    {
        Thinned list(program, heap, collector, 60000, 1); // all survive
        CHECK(!collector.make_room(15 << 20));
        CHECK(heap.bytes() == 16 << 20);
        CHECK(collector.make_room(8 << 20));
        CHECK(list.wrong() == 0);
        CHECK(heap.check() == nothing);
    }
}

TEST_CASE("what is pinned or has no type stays, and so does the region around it", "[compact]")
{
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::Heap heap = make_heap(flavour, 8 << 20);
    kma::Collector collector(heap, types(), small_regions());
    const std::uint64_t used = heap.stats().used;
    {
        Thinned list(program, heap, collector, 100000, 16);
        Plain plain(program, heap, 64);
        const std::vector<kma::Ref> refs = list.refs();
        for (std::size_t i = 0; i < refs.size(); i += 100)
            collector.pin(refs[i]);
        const kma::Compaction done = collector.compact();
        CHECK(done.moved_objects > 1000);
        CHECK(list.wrong() == 0);
        const std::vector<kma::Ref> now = list.refs();
        for (std::size_t i = 0; i < refs.size(); i += 100) {
            CHECK(now[i] == refs[i]);
            collector.unpin(refs[i]);
        }
        plain.compare_and_free();
        CHECK(heap.check() == nothing);
    }
    end(collector, heap, used);
}

TEST_CASE("references in large arrays are rewritten, with queues of any length", "[compact]")
{
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    for (const std::uint64_t queue_bytes : {0, 16 * 100}) {
        INFO("queues of " << queue_bytes);
        kma::Heap heap = make_heap(flavour, 64 << 20);
        kma::CollectorOptions options = small_regions();
        options.queue_bytes = queue_bytes;
        kma::Collector collector(heap, types(), options);
        const std::uint64_t used = heap.stats().used;
        Graph graph;
        const std::uint32_t wide = graph.add(refs_type | array, 300000);
        for (std::uint32_t i = 0; i < 20000; i++) {
            const std::uint32_t one = graph.add(node);
            if (i % 5 == 0)
                graph.lead(wide, 4 * (i * 15 + i % 15), one);
        }
        Subject subject(program, heap, std::move(graph));
        const kma::Compaction done = subject.compact(collector, {wide});
        INFO(done.json());
        CHECK(done.moved_objects > (queue_bytes == 0 ? 1000 : 100));
        end(collector, heap, used);
    }
}

TEST_CASE("guarded blocks keep their places", "[compact]")
{
    const Flavour flavour = flavours().front();
    for (const int debug : {1, 2, 3}) {
        const kma::Program program = program_of(flavour.options, debug);
        kma::Heap heap = make_heap(flavour, 16 << 20, debug);
        kma::Collector collector(heap, types(), small_regions());
        const std::uint64_t used = heap.stats().used;
        {
            Thinned list(program, heap, collector, 50000, 8);
            CHECK((collector.compact().moved_objects == 0) == (debug >= 2));
            CHECK(list.wrong() == 0);
        }
        end(collector, heap, used);
    }
}

TEST_CASE("a small heap is compacted", "[compact]")
{
    std::mt19937 random(4);
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::Heap heap = make_heap(flavour, 1 << 20);
    kma::Collector collector(heap, types(), small_regions());
    const std::uint64_t used = heap.stats().used;
    Graph graph = random_graph(random, 1);
    while (graph.types.size() < 200 || graph.types.size() > 300)
        graph = random_graph(random, 300);
    const std::vector<std::uint32_t> roots = random_roots(random, graph);
    Subject subject(program, heap, std::move(graph));
    CHECK(subject.compact(collector, roots).moved_objects > 0);
    CHECK(heap.check() == nothing);
    end(collector, heap, used);
}

TEST_CASE("a runner that may move objects makes room for a large block", "[compact]")
{
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::Heap heap = make_heap(flavour, 16 << 20);
    kma::CollectorOptions options = small_regions();
    options.region_bytes = 64 << 10;
    kma::Collector collector(heap, types(), options);
    const std::uint64_t used = heap.stats().used;
    {
        const Array<kma::Ref> array_root(1, 0);
        const auto root = collector.add_roots(array_root.buffer(), 1);
        Thinned list(program, heap, collector, 400000, 8);
        const auto make_array = [&](kma::Heap &now, unsigned) {
            if (array_root.read()[0] == 0)
                launch(program, "make", {1, 1}, now, Array<cl_uint>(1, numbers | array),
                       Array<cl_uint>(1, cl_uint{1 << 21}), array_root, cl_uint{1}, cl_uint{1});
        };
        kma::CollectingRunner stays(heap, collector);
        CHECK(stays.run(make_array) == kma::Room::none); // 8 MiB are free, but not side by side
        heap.clear_errors();
        CHECK(stays.compactions() == 0);
        kma::CollectingRunner moves(heap, collector, 0, true);
        CHECK(moves.run(make_array) == kma::Room::enough);
        CHECK(moves.compactions() == 1);
        CHECK(array_root.read()[0] != 0);
        CHECK(list.wrong() == 0);
        CHECK(heap.check() == nothing);
    }
    end(collector, heap, used);
}

TEST_CASE("options of compaction that cannot be", "[compact]")
{
    kma::Heap heap(device(), 4 << 20);
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{12288}, std::uint64_t{1} << 31}) {
        kma::CollectorOptions options;
        options.region_bytes = bytes;
        CHECK_THROWS_WITH(kma::Collector(heap, types(), options),
                          contains("a power of two from 8192 to 1073741824"));
    }
    for (const double part : {0.0, -1.0, 1.5}) {
        kma::CollectorOptions options;
        options.share = part;
        CHECK_THROWS_WITH(kma::Collector(heap, types(), options),
                          contains("give them more than 0 and at most 1"));
        options.share = 0.1;
        options.fullest = part;
        CHECK_THROWS_WITH(kma::Collector(heap, types(), options),
                          contains("give them more than 0 and at most 1"));
    }
}
