// What the host refuses of types and collectors.
#include "heap_support.hpp"
#include "provocations.hpp"

namespace messages {
namespace {

using kma::Types;
using test::device;

Types types()
{
    return Types().add("Node", {"uint key", "Node *next"});
}

struct Collected {
    kma::Heap heap{device(), 1 << 20};
    kma::Collector collector{heap, types()};
};

void poke(const kma::Heap &heap, std::uint64_t at, std::uint32_t value)
{
    device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, at, sizeof value, &value);
}

} // namespace

std::vector<Provocation> collector_provocations()
{
    return {
        thrown("names a type as a type of OpenCL C", [] { Types().add("float", {"uint x"}); }),
        thrown("declares a type twice", [] { types().add("Node", {"uint x"}); }),
        thrown("declares 128 types",
               [] {
                   Types types;
                   for (int i = 0; i < 128; i++)
                       types.add("Type_" + std::to_string(i), {"uint x"});
               }),
        thrown("declares a type without fields", [] { Types().add("Empty", {}); }),
        thrown("declares two fields of one name",
               [] {
                   Types().add("Node", {"uint key", "float key"});
               }),
        thrown("declares a field without a type", [] { Types().add("Node", {"key"}); }),
        thrown("declares a struct in a struct", [] { types().add("Pair", {"Node first"}); }),
        thrown("lets a reference lead to a type that there is not",
               [] { Types().add("Node", {"Other *other"}).text(); }),
        thrown("makes a collector for a bump heap",
               [] {
                   kma::Heap heap(device(), 1 << 20, {.kind = kma::HeapKind::bump});
                   kma::Collector(heap, types());
               }),
        thrown("makes a collector without types",
               [] {
                   kma::Heap heap(device(), 1 << 20);
                   kma::Collector(heap, Types());
               }),
        thrown("makes two collectors for a heap",
               [] {
                   Collected its;
                   kma::Collector(its.heap, types());
               }),
        thrown("makes a collector of other types for a heap that had one",
               [] {
                   kma::Heap heap(device(), 1 << 20);
                   kma::Collector(heap, types());
                   kma::Collector(heap, types().add("More", {"uint x"}));
               }),
        thrown("registers roots of another context",
               [] {
                   Collected its;
                   const cl::Context other(device().device());
                   (void)its.collector.add_roots(cl::Buffer(other, CL_MEM_READ_WRITE, 16), 4);
               }),
        thrown("compacts with roots that kernels cannot write",
               [] {
                   Collected its;
                   const auto roots = its.collector.add_roots(
                       cl::Buffer(device().context(), CL_MEM_READ_ONLY, 16), 4);
                   its.collector.compact();
               }),
        thrown("compacts by regions of 100 bytes",
               [] {
                   kma::Heap heap(device(), 1 << 20);
                   kma::Collector(heap, types(), {.region_bytes = 100});
               }),
        thrown("compacts no part of a heap",
               [] {
                   kma::Heap heap(device(), 1 << 20);
                   kma::Collector(heap, types(), {.share = 0});
               }),
        thrown("writes over the type table",
               [] {
                   Collected its;
                   std::uint32_t ref = 0;
                   device().queue().enqueueReadBuffer(its.heap.buffer(), CL_TRUE, 48, sizeof ref, &ref);
                   // The byte of the collector's own first unit, behind its 16 bytes.
                   poke(its.heap, std::uint64_t{ref + 1} * 16 + ref / 4 * 4, 0x80808080);
                   its.collector.collect();
               }),
        thrown("makes a collector for a heap that is full of metadata for its growth",
               [] {
                   kma::HeapOptions options;
                   options.max_bytes = 64 << 20;
                   kma::Heap heap(device(), kma::Heap::bytes_for(options, 1 << 20), options);
                   kma::Collector(heap, types());
               }),
        thrown("registers roots beyond their buffer",
               [] {
                   (void)Collected().collector.add_roots(
                       cl::Buffer(device().context(), CL_MEM_READ_WRITE, 16), 5);
               }),
        thrown("unpins what is not pinned", [] { Collected().collector.unpin(1); }),
        thrown("collects in a heap that was reset",
               [] {
                   Collected its;
                   its.heap.reset();
                   its.collector.collect();
               }),
        thrown("writes over a collector's tables",
               [] {
                   Collected its;
                   poke(its.heap, 48, 1); // the header's ref of them
                   its.collector.collect();
               }),
        thrown("has a root that leads to no object",
               [] {
                   Collected its;
                   its.collector.pin(5);
                   its.collector.collect();
               }),
    };
}

} // namespace messages
