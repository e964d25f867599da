// kma::Collector: exactly what roots lead to survives, each object as it was, and all memory
// without a type.
#include <algorithm>
#include <cstdio>

#include "graphs.hpp"

using namespace collecting;

TEST_CASE("of random graphs exactly what roots lead to survives", "[collect][long]")
{
    std::printf("lanes that meet: %u\n", path().lanes_met);
    check_random_graphs(1, false);
}

TEST_CASE("graphs of every shape", "[collect][long]")
{
    Graph graph;
    const std::uint32_t self = graph.add(node); // leads to itself
    graph.lead(self, 4, self);
    const std::uint32_t one = graph.add(node), other = graph.add(node); // a cycle
    graph.lead(one, 8, other);
    graph.lead(other, 12, one); // by the atomic reference
    const std::uint32_t any = graph.add(node);
    graph.lead(any, 16, graph.add(numbers | array, 1000));     // by void *
    const std::uint32_t outer = graph.add(lists | array, 100); // arrays of arrays of nodes
    for (std::uint32_t i = 0; i < 100; i++) {
        const std::uint32_t inner = graph.add(refs_type | array, 10 * i);
        graph.lead(outer, 4 * i, inner);
        if (i != 0)
            graph.lead(inner, 4 * (10 * i - 1), graph.add(node));
    }
    const std::uint32_t top = graph.add(node); // a tree of depth 12
    Objects level{top};
    for (int depth = 0; depth < 12; depth++) {
        Objects next;
        for (const std::uint32_t parent : level)
            for (const std::uint32_t offset : {4u, 8u}) {
                next.push_back(graph.add(node));
                graph.lead(parent, offset, next.back());
            }
        level = std::move(next);
    }
    const std::uint32_t long_one = graph.add(refs_type | array, 100000); // visited in parts
    for (const std::uint32_t element : {0u, 63u, 64u, 2047u, 2048u, 65535u, 65536u, 99999u})
        graph.lead(long_one, 4 * element, graph.add(node));
    const std::uint32_t structs = graph.add(pair | array, 300);
    graph.lead(structs, 299 * 48 + 32, graph.add(refs_type | array, 3));
    // More references than a part of an array has elements.
    const std::uint32_t wides = graph.add(wide | array, 100);
    for (std::uint32_t i = 0; i < 100 * 9; i++)
        graph.lead(wides, i / 9 * 301 * 4 + i % 9 * 37 * 4, graph.add(wide));
    graph.lead(wides, 99 * 301 * 4 + 300 * 4, wides);
    const std::uint32_t alone = graph.add(node);   // only a root leads to it
    const std::uint32_t towards = graph.add(node); // leads to a root, nothing to it
    graph.lead(towards, 4, alone);
    const std::vector<Objects> roots = {
        {self, one, any, outer, top, long_one, structs, wides, alone},
        {},
        {top},
        {alone, alone},
        {outer, self},
        {structs},
        {wides},
        {long_one},
        {any, other}};
    for (const Flavour &flavour : ways())
        for (const int debug : {0, 2, 3}) {
            if (debug != 0 && flavour.options != flavours().front().options)
                continue; // a minute of PoCL's compiler each
            INFO(flavour.name << ", debug " << debug);
            Place place({.bytes = 32 << 20, .options = flavour.options, .debug = debug});
            for (const Objects &some : roots) {
                Subject subject(place, graph);
                subject.collect(some);
                place.end();
            }
        }
}

TEST_CASE("queues with hardly any room drop objects, and all are marked all the same", "[collect]")
{
    std::mt19937 random(2);
    Place place({.bytes = 16 << 20, .collector = {.queue_bytes = 16 * 100}}); // 100 objects each
    for (std::size_t i = 0; i < scaled(10, 3); i++) {
        Graph graph = random_graph(random, 2000);
        const std::uint32_t long_one = graph.add(refs_type | array, 100000);
        for (std::uint32_t element = 0; element < 100000; element += 50 + random() % 50)
            graph.lead(long_one, 4 * element, graph.add(node));
        Subject subject(place, std::move(graph));
        subject.collect({long_one, 0});
        place.end();
    }
    Subject many = thinned(place, 5000, 1); // each work-item pushes one
    CHECK(place.collector->collect().repeats > 0);
    many.check();
}

TEST_CASE("a long list is marked, whole and in part", "[collect][long]")
{
    const auto count = static_cast<std::uint32_t>(scaled(100000, 1000));
    Graph graph;
    for (std::uint32_t i = 0; i < count; i++)
        if (graph.add(node) != 0)
            graph.lead(i - 1, 4, i);
    Place place({.bytes = (std::uint64_t{64} << 20) + count * 48});
    for (const std::uint32_t from : {0u, count / 3, count - 1}) {
        Subject subject(place, graph);
        CHECK(subject.collect({from}).marked_bytes == std::uint64_t{count - from} * 32);
        place.end();
    }
}

TEST_CASE("a long list in any order is marked from many of its objects at once", "[collect][long]")
{
    // A work-item visits four objects at a time.
    Place place({.bytes = 16 << 20, .heap_options = " -DKMA_MARK_STEPS=4u"});
    constexpr std::uint32_t count = 50000, middle = count / 2;
    const auto at = [](std::uint32_t position) {
        return std::uint32_t(std::uint64_t{position} * 7919 % count);
    };
    // By one reference, by the atomic one, and in both directions.
    for (const std::uint32_t offset : {4, 12, 8}) {
        INFO("by the reference at " << offset);
        Graph graph;
        for (std::uint32_t i = 0; i < count; i++)
            graph.add(node);
        for (std::uint32_t i = 0; i + 1 < count; i++) {
            if (i + 1 == middle) // the second half is garbage, a list of its own
                continue;
            graph.lead(at(i), offset, at(i + 1));
            if (offset == 8)
                graph.lead(at(i + 1), 4, at(i));
        }
        graph.lead(at(count - 1), offset, at(middle / 2)); // which ends in the first half
        Subject subject(place, std::move(graph));
        const kma::Collection result = subject.collect({at(0)});
        CHECK(result.marked_objects == middle);
        CHECK(result.list_passes > 0);
        CHECK(result.rounds < 1000); // one by one: 25,000 / 4 of them
        place.end();
    }
}

TEST_CASE("a heap that is full when the collection begins", "[collect]")
{
    Place place({.bytes = 4 << 20});
    const Array<kma::Ref> refs(256, 0);
    std::vector<cl_uint> before;
    for (int turn = 0; turn < 3; turn++) {
        const Array<cl_uint> made(1, 0);
        place.run("fill", 256, refs, made);
        {
            const Array<kma::Ref> all(refs.read());
            const auto half = place.collector->add_roots(all.buffer(), 128, 128);
            const kma::Collection result = place.collector->collect();
            CHECK(result.marked_objects + result.freed_objects == made.read()[0]);
            CHECK(result.marked_objects > 0);
            CHECK(result.freed_objects > 0);
            CHECK(place.heap.check() == nothing);
        }
        place.heap.clear_errors(); // each work-item was refused
        before.push_back(made.read()[0]);
        place.end();
    }
    CHECK(before[1] >= before[0] / 10 * 9); // a lane stops at its first NULL
    CHECK(before[2] >= before[0] / 10 * 9);
}

TEST_CASE("damaged references are reported, and nothing is freed", "[collect]")
{
    Place place({.bytes = 8 << 20});
    kma::Collector &collector = *place.collector;
    Graph graph;
    const std::uint32_t first = graph.add(node), second = graph.add(node),
                        list = graph.add(refs_type | array, 100);
    graph.add(node); // garbage
    graph.lead(first, 4, second);
    graph.lead(first, 16, list);
    Subject subject(place, graph);
    const kma::Ref root = subject.ref(first), array_ref = subject.ref(list);
    collector.pin(root);
    const auto refused = [&](const std::string &why) {
        CHECK_THROWS_WITH(collector.collect(), contains("nothing was collected") && contains(why));
    };
    const auto poke = [&](kma::Ref ref, cl_int word, cl_uint value) {
        place.run("poke", 1, cl_uint{ref}, word, value);
    };
    for (const cl_uint wild : {0xffffffffu, 5u, root + 1, cl_uint(place.heap.bytes() / 16)}) {
        poke(root, 2, wild);
        refused("in the object at ref " + std::to_string(root) +
                ", 8 bytes from its begin: " + std::to_string(wild));
    }
    poke(root, 2, array_ref); // of another type than the field's
    refused("8 bytes from its begin");
    poke(root, 2, 0);
    poke(array_ref, -1, 1000000); // a length beyond its block
    refused("the array at ref " + std::to_string(array_ref) + " has a length of 1000000");
    poke(array_ref, -1, 100);
    collector.pin(77);
    refused("pinned: 77");
    collector.unpin(77);
    subject.collect({first}); // all as it was; garbage is freed only now
    place.run("drop", 1, cl_uint{subject.ref(second)});
    refused("4 bytes from its begin: " + std::to_string(subject.ref(second)));
    poke(root, 1, 0);
    collector.unpin(root);
    place.end();
}

TEST_CASE("objects and arrays that kernels delete", "[collect][long]")
{
    for (const int debug : {0, 2}) {
        Place place({.bytes = 8 << 20, .debug = debug});
        const Array<kma::Ref> refs(2048, 0);
        const Array<cl_uint> wrong(1, 0);
        for (cl_uint turn = 0; turn < 5; turn++) // half of them delete, and make others at once
            place.run("replace", 2048, refs, turn, wrong);
        CHECK(wrong.read()[0] == 0);
        {
            const auto roots = place.collector->add_roots(refs.buffer(), 2048);
            const kma::Collection result = place.collector->collect();
            CHECK(result.marked_objects == 2048);
            CHECK(result.freed_objects == 0);
        }
        place.end();
        Graph graph;
        const std::uint32_t object = graph.add(refs_type | array, 10);
        Subject subject(place, graph);
        for (const cl_uint times : {1, 2}) { // a second time is a double free
            place.run("drop", 1, cl_uint{subject.ref(object)});
            CHECK(place.heap.error_count(kma::ErrorCode::double_free) +
                      place.heap.error_count(kma::ErrorCode::invalid_free) ==
                  times - 1);
        }
        place.heap.clear_errors();
        place.end();
    }
}

TEST_CASE("what a kernel wrote over the collector's tables", "[collect]")
{
    Place place({.bytes = 4 << 20});
    const cl::CommandQueue queue = device().queue();
    const auto word = [&](std::uint64_t at) {
        std::uint32_t value = 0;
        queue.enqueueReadBuffer(place.heap.buffer(), CL_TRUE, at, 4, &value);
        return value;
    };
    const auto write = [&](std::uint64_t at, std::vector<std::uint8_t> bytes) {
        queue.enqueueWriteBuffer(place.heap.buffer(), CL_TRUE, at, bytes.size(), bytes.data());
    };
    const std::uint64_t units = place.heap.bytes() / 16, limit = word(28);
    const std::uint64_t table = std::uint64_t{word(48) + 1} * 16, marks = table + units;
    Graph graph;
    const std::uint32_t first = graph.add(node);
    graph.lead(first, 4, graph.add(node));
    Subject subject(place, graph);
    const std::uint64_t there = subject.ref(first);
    // Stray mark bits, of the two and of units without a type, mean nothing.
    write(marks, std::vector<std::uint8_t>(units / 8, 0xff));
    subject.collect({first});
    // Types that there are not, and objects that do not end in the heap.
    const auto refused = [&](std::uint64_t unit, std::uint8_t type) {
        write(table + unit, {type});
        CHECK_THROWS_WITH(
            place.collector->collect(),
            contains("garbage was collected, but for objects") &&
                contains("at ref " + std::to_string(unit) + ": type " + std::to_string(type)));
        write(table + unit, {0});
    };
    place.collector->pin(subject.ref(first));
    for (const std::uint8_t type : {8, 127, 128, 136, 255})
        refused(there + 100, type);
    refused(0, array | node);
    refused(1, node);
    refused(limit - 1, node);
    place.collector->unpin(subject.ref(first));
    place.end();
}
