// kma/containers/array_list.cl and kma::ArrayList: every object has its index and its memory, in
// groups of any size.
#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "subject.hpp"

using namespace test;
using kma::ArrayList;
using kma::ArrayListOptions;

namespace {

constexpr cl_uint none = 0xffffffff;
constexpr const char *file = "array_list.cl";
constexpr const char *ways[] = {"grow", "grow_local", "grow_max"};

using Numbers = std::vector<cl_uint>; // of work-item `me` in a round: [me * rounds + round]

struct Object {
    cl_uint owner, round, k;
    auto operator<=>(const Object &) const = default;
};
using Objects = std::vector<Object>;

std::vector<std::size_t> sizes_here()
{
    std::vector<std::size_t> sizes = {1, 3, 64, 200, 256, 1024};
    const std::size_t most = device().device().getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
    std::erase_if(sizes, [&](std::size_t size) { return size > most; });
    return sizes;
}

Numbers random_numbers(std::size_t count, cl_uint most)
{
    Numbers numbers(count);
    for (cl_uint i = 0; i < count; i++)
        numbers[i] = mix32(i) % (most + 1);
    return numbers;
}

// Has work-items ask for so many objects. Returns the indices.
Numbers grow(const kma::Program &kernels, const char *way, std::size_t group, const kma::Heap &heap,
             const ArrayList &list, const Numbers &asks, cl_uint rounds = 1)
{
    const Array<cl_uint> first(asks.size(), 77);
    launch(kernels, way, {asks.size() / rounds, group}, heap, list.ref(), rounds, Array(asks),
           first);
    return first.read();
}

// What a list must hold from these indices on, of which each is of so many objects, `step` apart.
Objects expected(const Numbers &first, const Numbers &counts, std::size_t size, cl_uint rounds = 1,
                 std::size_t step = 1)
{
    Objects objects(size, Object{none, none, none});
    for (cl_uint i = 0; i < first.size(); i++)
        for (cl_uint k = 0; first[i] != none && k < counts[i]; k++) {
            const std::size_t at = first[i] + k * step;
            if (at >= size || objects[at].owner != none)
                FAIL("work-item " << i / rounds << " got object " << at << " of " << size);
            objects[at] = {i / rounds, i % rounds, k};
        }
    return objects;
}

// Numbers of each group in each round: its place among them, of place i in Numbers.
std::size_t place_of(std::size_t i, std::size_t group, cl_uint rounds)
{
    return i / rounds / group * rounds + i % rounds;
}

void check_growth(const Subject &subject, const kma::Program &kernels, cl_uint way,
                  std::size_t group)
{
    INFO(subject.name() << ", " << ways[way] << ", groups of " << group);
    constexpr cl_uint rounds = 3;
    const std::size_t groups = group < 64 ? 64 : 4;
    Numbers counts = random_numbers(groups * group * rounds, 5);
    std::fill_n(counts.end() - rounds, rounds, 0); // the last one asks for nothing
    const kma::Heap heap = subject.heap(16 << 20);
    const ArrayList list(heap, sizeof(Object),
                         {.align = 4, .objects_per_block = 16, .most_objects_per_block = 128});
    const Numbers first = grow(kernels, ways[way], group, heap, list, counts, rounds);
    Numbers most(groups * rounds, 0);
    for (std::size_t i = 0; i < counts.size(); i++)
        most[place_of(i, group, rounds)] = std::max(most[place_of(i, group, rounds)], counts[i]);
    for (std::size_t i = 0; i < counts.size(); i++) {
        counts[i] = way == 2 ? most[place_of(i, group, rounds)] : counts[i];
        CHECK((counts[i] == 0 || first[i] != none)); // there is room for all
    }
    const cl_uint sum = std::accumulate(counts.begin(), counts.end(), 0u);
    REQUIRE(list.size() == sum);
    CHECK(list.room() >= sum);
    const Objects objects = expected(first, counts, sum, rounds, way == 2 ? group : 1);
    CHECK(list.read<Object>() == objects);
    if (way == 1) { // the objects of a group in a round lie side by side
        std::vector<std::size_t> pieces;
        for (const Object &one : objects)
            pieces.push_back(place_of(one.owner * rounds + one.round, group, rounds));
        pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
        CHECK(std::set(pieces.begin(), pieces.end()).size() == pieces.size());
    }

    const kma::Snapshot snapshot = heap.snapshot();
    const kma::ArrayListView view(snapshot, list.ref());
    REQUIRE(view.size() == sum);
    for (cl_uint at = 0, length = 0; at < sum; at += length) {
        const std::span<const Object> run = view.run<Object>(at);
        length = cl_uint(run.size());
        REQUIRE((length != 0 && length <= sum - at));
        CHECK(std::ranges::equal(run, std::span(objects).subspan(at, length)));
    }

    list.clear();
    CHECK(list.size() == 0);
    CHECK(list.room() == 0);
    list.destroy();
    subject.check(heap, 0);
}

} // namespace

TEST_CASE("a work-group's sums and maxima are right", "[group][long]")
{
    constexpr cl_uint rounds = 3, groups = 4;
    for (const Flavour &flavour : flavours())
        for (const std::size_t group : sizes_here()) {
            INFO(flavour.name << ", groups of " << group);
            const Numbers numbers = random_numbers(groups * group * rounds, 50);
            const std::size_t count = numbers.size();
            const Array<cl_uint> before(count, 0), total(count, 0), most(count, 0);
            launch(program(file, flavour.options), "sums", {groups * group, group}, Array(numbers),
                   rounds, before, total, most);
            Numbers sums(groups * rounds, 0), largest = sums, begins = before.read();
            for (std::size_t i = 0; i < count; i++) {
                const std::size_t place = place_of(i, group, rounds);
                sums[place] += numbers[i];
                largest[place] = std::max(largest[place], numbers[i]);
            }
            const Numbers totals = total.read(), mosts = most.read();
            for (std::size_t i = 0; i < count; i++) {
                const auto place = sums.begin() + place_of(i, group, rounds);
                CHECK(totals[i] == *place);
                CHECK(mosts[i] == largest[place - sums.begin()]);
                begins[i] += std::accumulate(sums.begin(), place, 0u);
            }
            // All numbers of a group lie side by side, and no two at the same place.
            expected(begins, numbers, std::accumulate(sums.begin(), sums.end(), 0u), rounds);
        }
}

TEST_CASE("an array list grows by work-items, by groups, and by their maximum",
          "[array_list][long]")
{
    const std::vector<Subject> all = subjects();
    for (const Subject &subject : all) {
        const kma::Program kernels = subject.program(file);
        const bool is_first = &subject == &all[0];
        const bool is_default = subject.is_usual() && subject.kind == kma::default_heap_kind;
        for (const std::size_t group : sizes_here()) { // some compilers make a program for each
            // As many registers as a work-item of so large a group may have.
            const bool is_large = group > 512 && device().has_extension("cl_nv_compiler_options");
            const kma::Program its =
                is_large ? subject.program(file, " -cl-nv-maxrregcount=64") : kernels;
            for (const cl_uint way : {0u, 1u, 2u})
                if ((scaled(1) > 1 && is_default) || (group == 200 && (way == 1 || is_first)) ||
                    (is_first && way == 1 && (group == 1 || group == 1024)))
                    check_growth(subject, its, way, group);
        }
    }
}

TEST_CASE("a million objects by value and index", "[array_list][long]")
{
    const std::size_t items = scaled(std::size_t{1} << 18, 1024) / 256 * 256 * 2;
    const Numbers asks = random_numbers(items, 4);
    for (const std::uint32_t equal : {1024, 0}) { // equal blocks, and not
        const kma::Heap heap(device(), 64 << 20);
        const ArrayList list(heap, sizeof(Object), {.objects_per_block = equal});
        const Numbers first = grow(program(file), ways[1], 256, heap, list, asks, 2);
        const Objects objects = expected(first, asks, list.size(), 2);
        CHECK((scaled(1) < 1 || objects.size() > 1000000 || items < (1u << 19)));
        CHECK(std::ranges::find(objects, none, &Object::owner) == objects.end());
        CHECK(list.read<Object>() == objects);
    }
}

TEST_CASE("blocks double until they are long enough, in every kind of heap", "[array_list][long]")
{
    struct Case {
        ArrayListOptions options;
        std::size_t least, most; // objects in a block
    };
    const Case cases[] = {{{.objects_per_block = 64, .most_objects_per_block = 512}, 64, 512},
                          {{}, 256, 1 << 30}, // from 4 KiB on
                          {{.objects_per_block = 256}, 256, 256}};
    for (const kma::HeapKind kind : kma::heap_kinds) {
        const Subject subject{kind};
        const kma::Heap heap = subject.heap(64 << 20);
        for (const Case &one : cases) {
            INFO(kma::name_of(kind) << ", blocks from " << one.least << " to " << one.most);
            const ArrayList list(heap, sizeof(Object), one.options);
            grow(subject.program(file), ways[1], 64, heap, list, random_numbers(2560, 5));
            const kma::Snapshot snapshot = heap.snapshot();
            const kma::ArrayListView view(snapshot, list.ref());
            std::size_t blocks = 0;
            for (std::size_t at = 0, length = 0; at < view.size(); at += length, blocks++) {
                length = view.run<Object>(cl_uint(at)).size(); // up to the size only
                CHECK(length == std::min({one.least << blocks, one.most, view.size() - at}));
            }
            CHECK(blocks > 4);
            list.destroy();
        }
    }
}

TEST_CASE("a heap as large as blocks_for says has memory for a list", "[array_list]")
{
    const Numbers asks = random_numbers(64 * 160, 5);
    const cl_uint objects = std::accumulate(asks.begin(), asks.end(), 0u);
    const ArrayListOptions options[] = {{},
                                        {.objects_per_block = 512},
                                        {.align = 128, .room = 40000},
                                        {.objects_per_block = 64, .most_objects_per_block = 512}};
    for (const kma::HeapKind kind : kma::heap_kinds)
        for (const ArrayListOptions &one : options) {
            INFO(kma::name_of(kind) << ", blocks of " << one.objects_per_block << " and more");
            const kma::HeapOptions of_heap{.kind = kind};
            const auto demands = ArrayList::blocks_for(objects, sizeof(Object), one);
            const kma::Heap heap(device(), kma::Heap::bytes_for(of_heap, demands), of_heap);
            const ArrayList list(heap, sizeof(Object), one);
            const kma::Program kernels = Subject{kind}.program(file);
            CHECK(std::ranges::count(grow(kernels, ways[1], 64, heap, list, asks), none) == 0);
            CHECK(list.size() == objects);
        }
}

TEST_CASE("without memory a group gets nothing, and the list is as it was", "[array_list][long]")
{
    for (const kma::HeapKind kind : kma::heap_kinds) {
        INFO(kma::name_of(kind));
        const Subject subject{kind};
        const kma::Program kernels = subject.program(file);
        const kma::Heap heap = subject.heap(256 << 10);
        const ArrayList list(heap, sizeof(Object), {.objects_per_block = 64});
        const Numbers asks = random_numbers(64 * 300, 5);
        for (const cl_uint way : {1u, 2u, 0u, 0u}) {
            const cl_uint before = list.size();
            const Numbers first = grow(kernels, ways[way], 64, heap, list, asks);
            CHECK(std::ranges::count(first, none) > 0);
            const cl_uint size = list.size();
            CHECK(size <= list.room());
            for (auto at = first.begin(); way == 1 && at != first.end(); at += 64)
                CHECK(std::count(at, at + 64, none) % 64 == 0); // all of a group or none
            if (way == 2)
                continue;
            cl_uint sum = before;
            for (std::size_t me = 0; me < asks.size(); me++)
                sum += first[me] != none ? asks[me] : 0;
            CHECK(sum == size);
            const Objects objects = expected(first, asks, size), there = list.read<Object>();
            CHECK(std::equal(objects.begin() + before, objects.end(), there.begin() + before));
        }
        CHECK(heap.error_count(kma::ErrorCode::out_of_memory) > 0);
        CHECK(heap.check().empty());
        list.clear();
        if (kind != kma::HeapKind::bump) // its memory serves again
            CHECK(grow(kernels, ways[1], 64, heap, list, Numbers(64, 3))[0] != none);
    }
}

TEST_CASE("with debug an array list has nothing beyond its end", "[array_list][long]")
{
    const Subject checked{.debug = 1};
    const kma::Heap checked_heap = checked.heap(4 << 20);
    const Array<cl_uint> out(1, 7);
    launch(checked.program(file), "beyond", {1, 1}, checked_heap,
           ArrayList(checked_heap, sizeof(Object)).ref(), out);
    CHECK(out.read()[0] == 1);
}

TEST_CASE("what an array list refuses", "[array_list]")
{
    kma::Heap heap(device(), 4 << 20);
    const auto refuses = [&](cl_uint bytes, const ArrayListOptions &options, const char *why) {
        CHECK_THROWS_WITH(ArrayList(heap, bytes, options), contains(why));
    };
    refuses(0, {}, "give the size of one object");
    refuses(4, {.align = 24}, "a power of two");
    refuses(4, {.room = (1u << 30) + 1}, "make several lists");
    refuses(4, {.most_objects_per_block = (1u << 30) + 1}, "make several lists");
    refuses(1 << 20, {.room = 8}, "make the heap larger");
    CHECK_THROWS_AS(ArrayList::blocks_for((std::uint64_t{1} << 30) + 1, 4), kma::Error);
    CHECK_THROWS_AS(ArrayList::blocks_for(1, 0), kma::Error);
    CHECK_THROWS_AS(ArrayList::blocks_for(65537, 4, {.objects_per_block = 1}), kma::Error);
    CHECK_NOTHROW(ArrayList::blocks_for(65536, 4, {.objects_per_block = 1}));
    CHECK(heap.stats().blocks == 0); // what could not be made left nothing
    CHECK_THROWS_AS(ArrayList::at(heap, 0), kma::Error);
    const ArrayList list(heap, sizeof(Object), {.room = 100});
    CHECK(list.room() >= 100);
    CHECK(ArrayList::at(heap, list.ref()).room() == list.room());
    CHECK_THROWS_AS(list.read<cl_uint>(), kma::Error);
    CHECK_THROWS_AS(list.read<Object>(0, 1), kma::Error);
    const kma::Snapshot snapshot = heap.snapshot();
    CHECK_THROWS_AS(kma::ArrayListView(snapshot, list.ref()).at<Object>(0), kma::Error);
    CHECK_THROWS_AS(kma::ArrayListView(snapshot, 0), kma::Error);
    heap.map(list.ref(), 32).as<cl_uint>()[7] = 0xffffffff; // a damaged size
    const kma::Snapshot damaged = heap.snapshot();
    for (const cl_uint index : {1u << 16, 1u << 28, 0xfffffffeu})
        CHECK_THROWS_AS(kma::ArrayListView(damaged, list.ref()).at<Object>(index), kma::Error);
}

TEST_CASE("an array list goes on in a heap that grew", "[array_list]")
{
    kma::Heap heap(device(), 1 << 20, {.max_bytes = 4 << 20});
    const ArrayList list(heap, sizeof(Object));
    const kma::Program kernels = program(file);
    const Numbers asks = random_numbers(640, 5);
    grow(kernels, ways[1], 64, heap, list, asks);
    const Objects before = list.read<Object>();
    heap.grow(2 << 20);
    CHECK(list.read<Object>() == before);
    const Numbers more = grow(kernels, ways[1], 64, heap, list, asks);
    Objects both = expected(more, asks, list.size());
    REQUIRE(both.size() == 2 * before.size());
    std::ranges::copy(before, both.begin());
    CHECK(list.read<Object>() == both);
}

TEST_CASE("a handle stays with its heap, which may move, and ends with it")
{
    std::optional<kma::Heap> heap(std::in_place, device(), 1 << 20);
    const ArrayList list(*heap, sizeof(Object));
    kma::Heap moved = std::move(*heap);
    heap.reset();
    CHECK(list.size() == 0);
    moved = kma::Heap(device(), 1 << 20);
    CHECK_THROWS_AS(list.size(), kma::Error);
}
