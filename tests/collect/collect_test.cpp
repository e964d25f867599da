// kma::Collector: exactly what roots lead to survives, each object as it was, and all memory
// without a type.
#include <algorithm>
#include <cstdio>
#include <random>

#include "graphs.hpp"
#include "own_names.hpp"

using namespace collecting;

TEST_CASE("of random graphs exactly what roots lead to survives", "[collect]")
{
    std::printf("lanes that meet: %u\n", path().lanes_met);
    std::mt19937 random(1);
    for (const Flavour &flavour : ways()) {
        INFO(flavour.name);
        const kma::Program program = program_of(flavour.options);
        kma::Heap heap = make_heap(flavour, 8 << 20);
        kma::Collector collector(heap, types());
        const std::uint64_t used = heap.stats().used;
        Plain plain(program, heap, 512);
        for (std::size_t i = 0; i < scaled(1000, 20); i++) {
            const bool is_large = i % 100 == 0;
            Graph graph = random_graph(random, is_large ? 2000 : 40);
            const std::vector<std::uint32_t> roots = random_roots(random, graph);
            INFO("graph " << i << " of " << graph.types.size() << " objects");
            Subject subject(program, heap, std::move(graph));
            subject.collect(collector, roots);
            collector.collect(); // without roots
            if (is_large)
                CHECK(heap.check() == nothing);
        }
        plain.compare_and_free();
        end(collector, heap, used);
    }
}

TEST_CASE("graphs of every shape", "[collect]")
{
    Graph graph;
    const std::uint32_t self = graph.add(node); // leads to itself
    graph.lead(self, 4, self);
    const std::uint32_t one = graph.add(node), other = graph.add(node); // a cycle
    graph.lead(one, 8, other);
    graph.lead(other, 12, one); // by the atomic reference
    const std::uint32_t any = graph.add(node),
                        numbers_of = graph.add(numbers | array, 1000); // by void *
    graph.lead(any, 16, numbers_of);
    const std::uint32_t outer = graph.add(lists | array, 100); // arrays of arrays of nodes
    for (std::uint32_t i = 0; i < 100; i++) {
        const std::uint32_t inner = graph.add(refs_type | array, 10 * i);
        graph.lead(outer, 4 * i, inner);
        if (i != 0)
            graph.lead(inner, 4 * (10 * i - 1), graph.add(node));
    }
    const std::uint32_t top = graph.add(node); // a tree of depth 12
    std::vector<std::uint32_t> level{top};
    for (int depth = 0; depth < 12; depth++) {
        std::vector<std::uint32_t> next;
        for (const std::uint32_t parent : level)
            for (const std::uint32_t offset : {4u, 8u}) {
                next.push_back(graph.add(node));
                graph.lead(parent, offset, next.back());
            }
        level = std::move(next);
    }
    const std::uint32_t wide =
        graph.add(refs_type | array, 100000); // an array in parts, its last elements too
    for (const std::uint32_t element : {0u, 63u, 64u, 2047u, 2048u, 65535u, 65536u, 99999u})
        graph.lead(wide, 4 * element, graph.add(node));
    const std::uint32_t structs =
        graph.add(pair | array, 300); // an array of objects with references
    graph.lead(structs, 299 * 48 + 32, graph.add(refs_type | array, 3));
    const std::uint32_t alone = graph.add(node);   // only a root leads to it
    const std::uint32_t towards = graph.add(node); // leads to a root, nothing to it
    graph.lead(towards, 4, alone);
    const std::vector<std::vector<std::uint32_t>> roots = {
        {self, one, any, outer, top, wide, structs, alone},
        {},
        {top},
        {alone, alone},
        {outer, self},
        {structs},
        {wide},
        {any, other}};
    const Flavours all = ways();
    for (const Flavour &flavour : all) {
        for (const int debug : {0, 2, 3}) {
            if (debug != 0 && &flavour != &all.front())
                continue; // a minute of PoCL's compiler each
            INFO(flavour.name << ", debug " << debug);
            const kma::Program program = program_of(flavour.options, debug);
            kma::Heap heap = make_heap(flavour, 32 << 20, debug);
            kma::Collector collector(heap, types());
            const std::uint64_t used = heap.stats().used;
            for (const auto &some : roots) {
                Subject subject(program, heap, graph);
                subject.collect(collector, some);
                end(collector, heap, used);
            }
        }
    }
}

TEST_CASE("queues with hardly any room drop objects, and all are marked all the same", "[collect]")
{
    std::mt19937 random(2);
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::Heap heap = make_heap(flavour, 16 << 20);
    kma::CollectorOptions options;
    options.queue_bytes = 16 * 100; // 100 objects each
    kma::Collector collector(heap, types(), options);
    const std::uint64_t used = heap.stats().used;
    for (std::size_t i = 0; i < scaled(10, 3); i++) {
        Graph graph = random_graph(random, 2000);
        const std::uint32_t wide = graph.add(refs_type | array, 100000);
        for (std::uint32_t element = 0; element < 100000; element += 50 + random() % 50)
            graph.lead(wide, 4 * element, graph.add(node));
        Subject subject(program, heap, std::move(graph));
        subject.collect(collector, {wide, 0});
        end(collector, heap, used);
    }
    const Array<kma::Ref> lists_of(5000, 0); // each work-item pushes one
    launch(program, "make_list", in_groups(5000, 64), heap, lists_of, cl_uint{5000});
    const auto roots = collector.add_roots(lists_of.buffer(), 5000);
    const kma::Collection result = collector.collect();
    CHECK(result.marked_objects == 5000);
    CHECK(result.freed_objects == 0);
    CHECK(result.repeats > 0);
}

TEST_CASE("a long list is marked, whole and in part", "[collect]")
{
    const cl_uint count = static_cast<cl_uint>(scaled(100000, 1000));
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::Heap heap = make_heap(flavour, (std::uint64_t{64} << 20) + count * 48);
    kma::Collector collector(heap, types());
    const std::uint64_t used = heap.stats().used;
    const Array<kma::Ref> refs(count, 0);
    launch(program, "make_list", in_groups(count, 64), heap, refs, count);
    launch(program, "link_list", in_groups(count, 64), heap, refs, count);
    const std::vector<kma::Ref> all = refs.read();
    for (const cl_uint from : {0u, count / 3, count - 1}) {
        collector.pin(all[from]);
        const kma::Collection result = collector.collect();
        CHECK(result.marked_objects == count - from);
        CHECK(result.marked_bytes == std::uint64_t{count - from} * 32);
        collector.unpin(all[from]);
    }
    end(collector, heap, used);
}

TEST_CASE("a long list in any order is marked from many of its objects at once", "[collect]")
{
    const Flavour flavour = flavours().front();
    Flavour impatient = flavour; // a work-item visits four objects at a time
    impatient.options += " -DKMA_MARK_STEPS=4u";
    const kma::Program program = program_of(flavour.options);
    kma::Heap heap = make_heap(impatient, 16 << 20);
    kma::Collector collector(heap, types());
    const std::uint64_t used = heap.stats().used;
    constexpr cl_uint count = 50000;
    for (const cl_uint by : {0, 1, 2}) {
        INFO("by " << by);
        const Array<kma::Ref> refs(count, 0);
        launch(program, "make_list", in_groups(count, 64), heap, refs, count);
        launch(program, "link_by_chance", in_groups(count, 64), heap, refs, count, cl_uint{7919},
               by);
        collector.pin(refs.read()[0]);
        const kma::Collection result = collector.collect(); // the second half is garbage
        CHECK(result.marked_objects == count / 2);
        CHECK(result.freed_objects == count / 2);
        CHECK(result.list_passes > 0);
        CHECK(result.rounds < 1000); // one by one: 25,000 / 4 of them
        collector.unpin(refs.read()[0]);
        end(collector, heap, used);
    }
}

TEST_CASE("a heap that is full when the collection begins", "[collect]")
{
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::Heap heap = make_heap(flavour, 4 << 20);
    kma::Collector collector(heap, types());
    const std::uint64_t used = heap.stats().used;
    const Array<kma::Ref> refs(256, 0);
    std::vector<cl_uint> before;
    for (int turn = 0; turn < 3; turn++) {
        const Array<cl_uint> made(1, 0);
        launch(program, "fill", in_groups(256, 64), heap, refs, made);
        const std::vector<kma::Ref> all = refs.read();
        {
            const auto half = collector.add_roots(Array(all).buffer(), 128, 128);
            const kma::Collection result = collector.collect();
            CHECK(result.marked_objects + result.freed_objects == made.read()[0]);
            CHECK(result.marked_objects > 0);
            CHECK(result.freed_objects > 0);
            CHECK(heap.check() == nothing);
        }
        heap.clear_errors(); // each work-item was refused
        before.push_back(made.read()[0]);
        end(collector, heap, used);
    }
    CHECK(before[1] >= before[0] / 10 * 9); // a lane stops at its first NULL
    CHECK(before[2] >= before[0] / 10 * 9);
}

TEST_CASE("damaged references are reported, and nothing is freed", "[collect]")
{
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::Heap heap = make_heap(flavour, 8 << 20);
    kma::Collector collector(heap, types());
    const std::uint64_t used = heap.stats().used;
    Graph graph;
    const std::uint32_t first = graph.add(node), second = graph.add(node),
                        list = graph.add(refs_type | array, 100), garbage = graph.add(node);
    graph.lead(first, 4, second);
    graph.lead(first, 16, list);
    (void)garbage;
    Subject subject(program, heap, graph);
    const kma::Ref root = subject.ref(first);
    collector.pin(root);
    const auto refused = [&](const std::string &why) {
        CHECK_THROWS_WITH(collector.collect(), contains("nothing was collected") && contains(why));
    };
    const auto poke = [&](kma::Ref ref, cl_int word, cl_uint value) {
        launch(program, "poke", {1, 1}, heap, cl_uint{ref}, word, value);
    };
    for (const cl_uint wild :
         {0xffffffffu, 5u, root + 1, heap.bytes() > 0 ? cl_uint(heap.bytes() / 16) : 0}) {
        poke(root, 2, wild);
        refused("in the object at ref " + std::to_string(root) +
                ", 8 bytes from its begin: " + std::to_string(wild));
    }
    poke(root, 2, subject.ref(list)); // of another type than the field's
    refused("8 bytes from its begin");
    poke(root, 2, 0);
    poke(subject.ref(list), -1, 1000000); // a length beyond its block
    refused("the array at ref " + std::to_string(subject.ref(list)) + " has a length of 1000000");
    poke(subject.ref(list), -1, 100);
    collector.pin(77);
    refused("pinned: 77");
    collector.unpin(77);
    subject.collect(collector, {first}); // all as it was; garbage is freed only now
    launch(program, "drop", {1, 1}, heap, cl_uint{subject.ref(second)});
    refused("4 bytes from its begin: " + std::to_string(subject.ref(second)));
    poke(root, 1, 0);
    collector.unpin(root);
    end(collector, heap, used);
}

TEST_CASE("a collector's tables outlive growth, a second collector and a file, and not a reset",
          "[collect]")
{
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::HeapOptions options;
    options.max_bytes = 32 << 20;
    kma::Heap heap(device(), 4 << 20, options);
    Graph graph;
    const std::uint32_t first = graph.add(node), second = graph.add(node);
    graph.add(node);
    graph.lead(first, 4, second);
    {
        kma::Collector collector(heap, types());
        Subject subject(program, heap, graph);
        heap.grow(32 << 20);
        subject.collect(collector, {first});
    }
    kma::Types others = types();
    others.add("More", {"uint x"});
    CHECK_THROWS_WITH(kma::Collector(heap, others),
                      contains("the tables of a collector of other types"));
    kma::Collector collector(heap, types());
    CHECK(collector.collect().freed_objects == 2);
    CHECK_THROWS_WITH(kma::Collector(heap, types()), contains("a collector already"));

    Subject kept(program, heap, graph);
    const std::string file = std::string(KMA_SCRATCH_DIR) + "/collected.kma";
    heap.save(file);
    kma::Heap loaded = kma::Heap::load(device(), file);
    kma::Collector again(loaded, types());
    again.pin(kept.ref(first));
    const kma::Collection result = again.collect();
    CHECK(result.marked_objects == 2);
    CHECK(result.freed_objects == 1);
    CHECK(loaded.check() == nothing);

    heap.reset();
    CHECK_THROWS_WITH(collector.collect(), contains("since it was reset"));
    const Array<cl_uint> none(1, 0);
    launch(program, "make", {1, 1}, heap, Array<cl_uint>(1, cl_uint{node}), Array<cl_uint>(1, 1u),
           none, cl_uint{1}, cl_uint{0});
    CHECK(none.read()[0] == 0);
    CHECK(heap.error_count(kma::ErrorCode::bad_heap) == 1);
    heap.clear_errors();
    kma::Collector next(heap, types()); // while the other one lives, of which nothing is left
    CHECK_THROWS_WITH(collector.collect(), contains("since it was reset"));
    const std::uint64_t used = heap.stats().used;
    Subject anew(program, heap, graph);
    collector = std::move(next);
    anew.collect(collector, {first});
    end(collector, heap, used);
}

TEST_CASE("objects and arrays that kernels delete", "[collect]")
{
    for (const int debug : {0, 2}) {
        const Flavour flavour = flavours().front();
        const kma::Program program = program_of(flavour.options, debug);
        kma::Heap heap = make_heap(flavour, 8 << 20, debug);
        kma::Collector collector(heap, types());
        const std::uint64_t used = heap.stats().used;
        const Array<kma::Ref> refs(2048, 0);
        const Array<cl_uint> wrong(1, 0);
        for (cl_uint turn = 0; turn < 5; turn++) // half of them delete, and make others at once
            launch(program, "replace", in_groups(2048, 64), heap, refs, turn, wrong);
        CHECK(wrong.read()[0] == 0);
        {
            const auto roots = collector.add_roots(refs.buffer(), 2048);
            const kma::Collection result = collector.collect();
            CHECK(result.marked_objects == 2048);
            CHECK(result.freed_objects == 0);
        }
        end(collector, heap, used);
        Graph graph;
        const std::uint32_t object = graph.add(refs_type | array, 10);
        Subject subject(program, heap, graph);
        for (const cl_uint times : {1, 2}) { // a second time is a double free
            launch(program, "drop", {1, 1}, heap, cl_uint{subject.ref(object)});
            CHECK(heap.error_count(kma::ErrorCode::double_free) +
                      heap.error_count(kma::ErrorCode::invalid_free) ==
                  times - 1);
        }
        heap.clear_errors();
        end(collector, heap, used);
    }
}

TEST_CASE("what a kernel wrote over the collector's tables", "[collect]")
{
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::Heap heap = make_heap(flavour, 4 << 20);
    kma::Collector collector(heap, types());
    const std::uint64_t used = heap.stats().used;
    std::uint32_t tables = 0;
    device().queue().enqueueReadBuffer(heap.buffer(), CL_TRUE, 48, 4, &tables);
    const auto write = [&](std::uint64_t at, std::vector<std::uint8_t> bytes) {
        device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, at, bytes.size(), bytes.data());
    };
    const std::uint64_t table = std::uint64_t{tables + 1} * 16, marks = table + heap.bytes() / 16;
    const std::uint64_t units = heap.bytes() / 16;
    Graph graph;
    const std::uint32_t first = graph.add(node), second = graph.add(node);
    graph.lead(first, 4, second);
    Subject subject(program, heap, graph);
    const std::uint64_t there = subject.ref(first);
    // Stray mark bits, of the two and of units without a type, mean nothing.
    write(marks, std::vector<std::uint8_t>(units / 8, 0xff));
    subject.collect(collector, {first});
    // Types that there are not, and objects that do not end in the heap.
    const auto refused = [&](std::uint64_t unit, std::uint8_t type) {
        write(table + unit, {type});
        CHECK_THROWS_WITH(collector.collect(), contains("garbage was collected, but for objects") &&
                                                   contains("at ref " + std::to_string(unit) +
                                                            ": type " + std::to_string(type)));
        write(table + unit, {0});
    };
    collector.pin(subject.ref(first));
    for (const std::uint8_t type : {6, 127, 128, 134, 255})
        refused(there + 100, type);
    refused(0, array | node);
    refused(1, node);
    std::uint32_t limit = 0;
    device().queue().enqueueReadBuffer(heap.buffer(), CL_TRUE, 28, 4, &limit);
    refused(limit - 1, node);
    collector.unpin(subject.ref(first));
    end(collector, heap, used);
}

TEST_CASE("objects with more references than a part of an array has elements", "[collect]")
{
    kma::Types wide;
    wide.add("Wide", {"Wide *to[300]", "void *any"});
    const kma::Program program(
        device(), {{"types.cl", wide.text()},
                   {"wide.cl", "kernel void chain(global kma_heap *heap, global kma_ref *root)\n"
                               "{\n"
                               "    global Wide *all = Wide_new_array(heap, 100);\n"
                               "    root[0] = kma_ref_of(heap, all);\n"
                               "    for (uint i = 0; all && i < 100; i++)\n"
                               "        for (uint r = 0; r < 300; r += 37)\n"
                               "            all[i].to[r] = kma_ref_of(heap, Wide_new(heap));\n"
                               "    if (all)\n"
                               "        all[99].any = root[0];\n"
                               "}\n"}});
    kma::Heap heap(device(), 8 << 20);
    kma::Collector collector(heap, wide);
    const std::uint64_t used = heap.stats().used;
    const Array<kma::Ref> root(1, 0);
    launch(program, "chain", {1, 1}, heap, root);
    {
        const auto roots = collector.add_roots(root.buffer(), 1);
        CHECK(collector.collect().marked_objects == 1 + 100 * 9);
    }
    end(collector, heap, used);
}

TEST_CASE("a heap in shared virtual memory has a collector, too", "[collect]")
{
    if (device().device().getInfo<CL_DEVICE_SVM_CAPABILITIES>() == 0)
        return; // then Heap says so, which heap_test.cpp has
    const kma::Program program = program_of("");
    kma::HeapOptions options;
    options.storage = kma::Storage::svm;
    kma::Heap heap(device(), 4 << 20, options);
    kma::Collector collector(heap, types());
    const std::uint64_t used = heap.stats().used;
    Graph graph;
    const std::uint32_t first = graph.add(node), second = graph.add(node);
    graph.add(node);
    graph.lead(first, 8, second);
    Subject subject(program, heap, graph);
    subject.collect(collector, {first});
    end(collector, heap, used);
}

TEST_CASE("a runner collects, then lets the heap grow, then says that there is no room",
          "[collect]")
{
    const Flavour flavour = flavours().front();
    const kma::Program program = program_of(flavour.options);
    kma::HeapOptions options;
    options.max_bytes = 4 << 20;
    kma::Heap heap(device(), 1 << 20, options);
    kma::Collector collector(heap, types());
    const std::uint64_t used = heap.stats().used;
    const Array<kma::Ref> refs(256, 0);
    const Array<cl_uint> made(1, 0);
    kma::CollectingRunner runner(heap, collector);
    const auto fill = [&](kma::Heap &now, unsigned) {
        launch(program, "fill", in_groups(64, 64), now, refs, made);
    };

    CHECK(runner.look() == kma::Room::enough);
    unsigned launches = 0; // all of the first is garbage: there is room without growth
    CHECK(runner.run([&](kma::Heap &now, unsigned repetition) {
        launches = repetition + 1;
        if (repetition == 0)
            fill(now, 0);
    }) == kma::Room::enough);
    CHECK(launches == 2);
    CHECK(runner.collections() == 1);
    CHECK(runner.growths() == 0);
    CHECK(runner.freed_objects() == made.read()[0]);
    CHECK(runner.refused() > 0);
    CHECK(heap.stats().used == used);
    CHECK(heap.error_text().empty()); // what was refused is asked for again

    const auto roots = collector.add_roots(refs.buffer(), 256); // now all lives
    std::vector<std::uint64_t> bytes;
    const Array<kma::Ref> kept(256, 0);
    CHECK(runner.run([&](kma::Heap &now, unsigned) {
        bytes.push_back(now.bytes());
        std::vector<kma::Ref> pinned = refs.read();
        for (const kma::Ref ref : pinned)
            if (ref != 0)
                collector.pin(ref); // the next launch writes other refs
        launch(program, "fill", in_groups(256, 64), now, refs, made);
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
    kma::HeapOptions other;
    other.kind = kma::HeapKind::scatter;
    kma::Heap scatter(device(), 16 << 20, other);
    CHECK_THROWS_WITH(kma::Collector(scatter, types()), contains("a collector needs a slab heap"));
    kma::Heap heap(device(), 4 << 20);
    CHECK_THROWS_WITH(kma::Collector(heap, kma::Types()), contains("declare them by Types::add()"));
    kma::Heap small(device(), 1 << 15);
    kma::Collector fits(small, types());
    kma::HeapOptions growing;
    growing.max_bytes = 64 << 20;
    kma::Heap too_small(device(), kma::Heap::bytes_for(growing, 1 << 20), growing);
    CHECK_THROWS_WITH(kma::Collector(too_small, types()),
                      contains("has no room for a collector, which takes " +
                               std::to_string(kma::Collector::bytes_for(64 << 20))));
    kma::Collector collector(heap, types());
    CHECK_THROWS_WITH(collector.unpin(1), contains("ref 1 is not pinned"));
    const Array<kma::Ref> roots(4, 0u);
    CHECK_THROWS_WITH(collector.add_roots(roots.buffer(), 3, 2),
                      contains("roots 2 to 4 are not all in their buffer, which has 4 refs"));
}

TEST_CASE("a collection in numbers", "[collect]")
{
    const kma::Collection one{3, 96, 2, 64, 16, 0, 1, 1.5, 0.25};
    CHECK(one.json() ==
          "{\"marked_objects\": 3, \"marked_bytes\": 96, \"freed_objects\": 2, "
          "\"freed_bytes\": 64, \"rounds\": 16, \"repeats\": 0, "
          "\"list_passes\": 1, \"mark_milliseconds\": 1.5, \"sweep_milliseconds\": 0.25}");
    CHECK(kma::Collector::bytes_for(1 << 20) == 16 + 65536 + 8192);
    const kma::Compaction other{one, 4, 128, 1, 10, 2, 3, 5, 0.5, 1, 2, 0.25};
    CHECK(other.json() ==
          "{\"collection\": " + one.json() +
              ", \"moved_objects\": 4, \"moved_bytes\": 128, \"stayed_objects\": 1, "
              "\"regions\": 10, \"sources\": 2, \"targets\": 3, \"rewritten\": 5, "
              "\"census_milliseconds\": 0.5, \"move_milliseconds\": 1, "
              "\"rewrite_milliseconds\": 2, \"free_milliseconds\": 0.25}");
    // The largest heap that refs reach.
    constexpr std::uint64_t most = (std::uint64_t{1} << 32) - 128;
    CHECK(kma::Collector::bytes_for(((std::uint64_t{1} << 32) - 2) * 16) == 16 + most + most / 8);
}
