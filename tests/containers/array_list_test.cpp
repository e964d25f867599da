// kma/containers/array_list.cl and kma::ArrayList: every object has its index and its memory, whoever asks, in groups of any size.
#include <algorithm>
#include <cstdio>
#include <map>

#include "catch.hpp"
#include "subject.hpp"

using namespace test;
using kma::ArrayList;
using kma::ArrayListOptions;

namespace {

constexpr cl_uint none = 0xffffffff;
constexpr const char *ways[] = {"grow", "grow_local", "grow_max"};
constexpr std::size_t group_sizes_to_try[] = {1, 3, 64, 200, 256, 1024};

struct Object {
    cl_uint owner, round, k;
    auto operator<=>(const Object &) const = default;
};

cl_uint wanted(cl_uint me, cl_uint round, cl_uint most)
{
    return mix32(me * 16 + round) % (most + 1);
}

std::vector<std::size_t> sizes_here()
{
    const std::size_t most = device().device().getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
    std::vector<std::size_t> sizes;
    for (const std::size_t size : group_sizes_to_try)
        if (size <= most)
            sizes.push_back(size);
    return sizes;
}

// What the list must hold if `first` are the indices that work-items got, `n` tells how many objects each, `step` apart.
template <class Count>
std::vector<Object> expected(const std::vector<cl_uint> &first, cl_uint rounds, std::size_t size, std::size_t step, Count n)
{
    std::vector<Object> objects(size, Object{none, none, none});
    for (std::size_t me = 0; me < first.size() / rounds; me++)
        for (cl_uint round = 0; round < rounds; round++) {
            const cl_uint index = first[me * rounds + round], count = n(static_cast<cl_uint>(me), round);
            if (index == none)
                continue;
            for (cl_uint k = 0; k < count; k++) {
                const std::size_t at = index + k * step;
                if (at >= size || objects[at].owner != none)
                    FAIL("object " << at << " of " << size << " is work-item " << me << "'s, and another's, or there is none");
                objects[at] = {static_cast<cl_uint>(me), round, k};
            }
        }
    return objects;
}

void check_growth(const Subject &subject, const kma::Program &kernels, cl_uint way, std::size_t group)
{
    INFO(kma::name_of(subject.kind) << " " << subject.options << " debug " << subject.debug << ", way " << way << ", groups of " << group);
    constexpr cl_uint rounds = 3, most = 5;
    const std::size_t work_items = group * (group < 64 ? 64 : 4);
    const cl_uint items = static_cast<cl_uint>(work_items - 1); // the last one asks for nothing
    const kma::Heap heap(device(), 16 << 20, subject.heap_options());
    const ArrayList list(device(), heap, sizeof(Object), {.align = 4, .objects_per_block = 16, .most_objects_per_block = 128});
    const Array<cl_uint> first(work_items * rounds, 77);
    launch(kernels, ways[way], {work_items, group}, heap, list.ref(), rounds, most, items, first);

    const auto asked = [&](cl_uint me, cl_uint round) { return me < items ? wanted(me, round, most) : 0; };
    const auto group_most = [&](cl_uint me, cl_uint round) {
        cl_uint all = 0;
        for (std::size_t other = me / group * group; other < (me / group + 1) * group; other++)
            all = std::max(all, asked(static_cast<cl_uint>(other), round));
        return all;
    };
    const std::vector<cl_uint> indices = first.read();
    std::size_t sum = 0;
    for (cl_uint me = 0; me < work_items; me++)
        for (cl_uint round = 0; round < rounds; round++) {
            const cl_uint n = way == 2 ? group_most(me, round) : asked(me, round);
            sum += n;
            CHECK((n == 0 || indices[me * rounds + round] != none)); // there is room for all
        }
    REQUIRE(list.size(heap) == sum);
    CHECK(list.room(heap) >= sum);
    const std::vector<Object> objects =
        way == 2 ? expected(indices, rounds, sum, group, group_most) : expected(indices, rounds, sum, 1, asked);
    CHECK(list.read<Object>(heap) == objects);
    if (way == 1) // a group's indices are one piece, and go on from one work-item to the next within 32
        for (std::size_t begin = 0; begin < work_items; begin += group)
            for (cl_uint round = 0; round < rounds; round++) {
                cl_uint low = none, high = 0, count = 0;
                for (std::size_t me = begin; me < begin + group; me++) {
                    const cl_uint index = indices[me * rounds + round], n = asked(static_cast<cl_uint>(me), round);
                    if (n == 0)
                        continue;
                    low = std::min(low, index);
                    high = std::max(high, index + n);
                    count += n;
                }
                CHECK((count == 0 || high - low == count));
            }

    const kma::Snapshot snapshot = heap.snapshot();
    const kma::ArrayListView view(snapshot, list.ref());
    REQUIRE(view.size() == sum);
    std::vector<Object> seen;
    while (seen.size() < sum) {
        const std::span<const Object> run = view.run<Object>(static_cast<cl_uint>(seen.size()));
        REQUIRE(!run.empty());
        seen.insert(seen.end(), run.begin(), run.end());
    }
    CHECK(seen == objects);

    list.clear(heap);
    CHECK(list.size(heap) == 0);
    CHECK(list.room(heap) == 0);
    list.destroy(heap);
    CHECK(heap.check().empty());
    CHECK(heap.error_text() == "");
    if (subject.kind != kma::HeapKind::bump)
        CHECK(heap.stats().blocks == 0);
}

} // namespace

TEST_CASE("a work-group's sums and maxima are right", "[group]")
{
    std::printf("lanes that meet: %u\n", path().lanes_met);
    for (const Flavour &flavour : flavours())
        for (const std::size_t group : sizes_here()) {
            INFO(flavour.name << ", groups of " << group);
            const std::size_t work_items = 4 * group;
            const Array<cl_uint> before(work_items * 3, 0), total(work_items * 3, 0), most(work_items * 3, 0);
            launch(program("array_list.cl", flavour.options), "sums", {work_items, group}, before, total, most);
            const auto befores = before.read(), totals = total.read(), mosts = most.read();
            for (std::size_t begin = 0; begin < work_items; begin += group)
                for (cl_uint round = 0; round < 3; round++) {
                    cl_uint sum = 0, largest = 0;
                    std::map<cl_uint, cl_uint> order; // by where each begins
                    for (std::size_t me = begin; me < begin + group; me++) {
                        const cl_uint mine = wanted(static_cast<cl_uint>(me), round, 50);
                        sum += mine;
                        largest = std::max(largest, mine);
                        if (mine != 0)
                            CHECK(order.emplace(befores[me * 3 + round], mine).second);
                    }
                    cl_uint at = 0;
                    for (const auto &[start, length] : order) {
                        CHECK(start == at);
                        at += length;
                    }
                    for (std::size_t me = begin; me < begin + group; me++) {
                        CHECK(totals[me * 3 + round] == sum);
                        CHECK(mosts[me * 3 + round] == largest);
                    }
                }
        }
}

TEST_CASE("an array list grows by work-items, by groups, and by the groups' maximum", "[array_list]")
{
    const std::vector<Subject> all = subjects();
    for (const Subject &subject : all) {
        const kma::Program kernels = subject.program("array_list.cl");
        const bool is_full = scaled(1) > 1 && subject.is_usual() && subject.kind == kma::default_heap_kind;
        for (const std::size_t group : sizes_here()) { // of which some compilers make a program each
            const bool is_large = group > 512 && device().has_extension("cl_nv_compiler_options");
            const kma::Program its = is_large ? subject.program("array_list.cl", " -cl-nv-maxrregcount=64") : kernels; // all that so many may have
            for (const cl_uint way : {0u, 1u, 2u})
                if (is_full || (group == 200 && (way == 1 || &subject == &all[0])) ||
                    (&subject == &all[0] && way == 1 && (group == 1 || group == 1024)))
                    check_growth(subject, its, way, group);
        }
    }
}

TEST_CASE("lanes apart, and lanes that mean different lists, get objects of their own", "[array_list]")
{
    const kma::Heap heap(device(), 4 << 20);
    const ArrayList list(device(), heap, sizeof(Object)), other(device(), heap, sizeof(Object));
    const Array<cl_uint> first(3000, 7);
    launch(program("array_list.cl"), "grow_apart", {3000, 200}, heap, list.ref(), other.ref(), first);
    std::vector<cl_uint> here = first.read(), there = here;
    for (std::size_t me = 0; me < here.size(); me++) {
        const cl_uint n = me % 2 == 1 ? 1 : me % 4 == 0 ? 2 : 0;
        CHECK((here[me] == none) == (n == 0));
        (me % 3 == 0 ? here : there)[me] = none;
    }
    const auto count = [](cl_uint me, cl_uint) { return me % 2 == 1 ? 1u : 2u; };
    CHECK(list.read<Object>(heap) == expected(here, 1, list.size(heap), 1, count));
    CHECK(other.read<Object>(heap) == expected(there, 1, other.size(heap), 1, count));
}

TEST_CASE("a million objects by value and index", "[array_list]")
{
    const std::size_t work_items = scaled(std::size_t{1} << 18, 1024) / 256 * 256;
    const auto asked = [](cl_uint me, cl_uint round) { return wanted(me, round, 4); };
    for (const ArrayListOptions &options : {ArrayListOptions{.objects_per_block = 1024}, ArrayListOptions{}}) { // equal blocks, and not
        const kma::Heap heap(device(), 64 << 20);
        const ArrayList list(device(), heap, sizeof(Object), options);
        const Array<cl_uint> first(work_items * 2, 7);
        launch(program("array_list.cl"), "grow_local", {work_items, 256}, heap, list.ref(), 2u, 4u, static_cast<cl_uint>(work_items), first);
        const std::vector<Object> objects = expected(first.read(), 2, list.size(heap), 1, asked);
        CHECK((scaled(1) < 1 || objects.size() > 1000000 || work_items < (1u << 18)));
        CHECK(std::ranges::find(objects, none, &Object::owner) == objects.end());
        CHECK(list.read<Object>(heap) == objects);
    }
}

TEST_CASE("blocks double until they are long enough, in every kind of heap", "[array_list]")
{
    for (const kma::HeapKind kind : kma::heap_kinds) {
        INFO(kma::name_of(kind));
        const Subject subject{kind, "", 0};
        const kma::Heap heap(device(), 64 << 20, subject.heap_options());
        const auto lengths = [&](const ArrayListOptions &options) {
            const ArrayList list(device(), heap, sizeof(Object), options);
            const Array<cl_uint> first(2560, 7);
            launch(subject.program("array_list.cl"), "grow_local", {2560, 64}, heap, list.ref(), 1u, 5u, 2560u, first);
            const kma::Snapshot snapshot = heap.snapshot();
            const kma::ArrayListView view(snapshot, list.ref());
            std::vector<std::size_t> found;
            for (std::size_t at = 0; at < view.size(); at += found.back())
                found.push_back(view.run<Object>(static_cast<cl_uint>(at)).size());
            list.destroy(heap);
            REQUIRE(found.size() > 4);
            found.pop_back(); // up to the size only
            return found;
        };
        const std::vector<std::size_t> some = lengths({.objects_per_block = 64, .most_objects_per_block = 512});
        for (std::size_t block = 0; block < some.size(); block++)
            CHECK(some[block] == std::min<std::size_t>(std::size_t{64} << block, 512));
        const std::vector<std::size_t> usual = lengths({}); // from 4 KiB on
        for (std::size_t block = 0; block < usual.size(); block++)
            CHECK(usual[block] == std::size_t{256} << block);
        for (const std::size_t length : lengths({.objects_per_block = 256}))
            CHECK(length == 256);
    }
}

TEST_CASE("a heap as large as blocks_for says has memory for a list", "[array_list]")
{
    constexpr cl_uint work_items = 64 * 160;
    cl_uint objects = 0;
    for (cl_uint me = 0; me < work_items; me++)
        objects += wanted(me, 0, 5);
    for (const kma::HeapKind kind : kma::heap_kinds)
        for (const ArrayListOptions &options :
             {ArrayListOptions{}, ArrayListOptions{.objects_per_block = 512}, ArrayListOptions{.align = 128, .room = 40000}, ArrayListOptions{.objects_per_block = 64, .most_objects_per_block = 512}}) {
            INFO(kma::name_of(kind) << ", blocks of " << options.objects_per_block << " and more");
            const Subject subject{kind, "", 0};
            const kma::HeapOptions heap_options = subject.heap_options();
            const kma::Heap heap(device(), kma::Heap::bytes_for(heap_options, ArrayList::blocks_for(objects, sizeof(Object), options)),
                                 heap_options);
            const ArrayList list(device(), heap, sizeof(Object), options);
            const Array<cl_uint> first(work_items, 7);
            launch(subject.program("array_list.cl"), "grow_local", {work_items, 64}, heap, list.ref(), 1u, 5u, work_items, first);
            CHECK(std::ranges::count(first.read(), none) == 0);
            CHECK(list.size(heap) == objects);
        }
}

TEST_CASE("without memory a group gets nothing, and the list is as it was", "[array_list]")
{
    for (const kma::HeapKind kind : kma::heap_kinds) {
        INFO(kma::name_of(kind));
        const Subject subject{kind, "", 0};
        const kma::Program kernels = subject.program("array_list.cl");
        const kma::Heap heap(device(), 256 << 10, subject.heap_options());
        const ArrayList list(device(), heap, sizeof(Object), {.objects_per_block = 64});
        for (const cl_uint way : {1u, 2u, 0u, 0u}) {
            const std::size_t work_items = 64 * 300;
            const Array<cl_uint> first(work_items, 7);
            const cl_uint before = list.size(heap);
            launch(kernels, ways[way], {work_items, 64}, heap, list.ref(), 1u, 5u, static_cast<cl_uint>(work_items), first);
            const std::vector<cl_uint> indices = first.read();
            const auto asked = [&](cl_uint me, cl_uint) { return wanted(me, 0, 5); };
            CHECK(std::ranges::count(indices, none) > 0);
            const cl_uint size = list.size(heap);
            CHECK(size <= list.room(heap));
            if (way == 1) // all of a group or none
                for (std::size_t begin = 0; begin < work_items; begin += 64)
                    CHECK(std::ranges::count(indices.begin() + begin, indices.begin() + begin + 64, none) % 64 == 0);
            if (way != 2) {
                std::size_t sum = before;
                for (cl_uint me = 0; me < work_items; me++)
                    sum += indices[me] != none ? asked(me, 0) : 0;
                CHECK(sum == size);
                const std::vector<Object> objects = expected(indices, 1, size, 1, asked);
                const std::vector<Object> there = list.read<Object>(heap);
                CHECK(std::equal(objects.begin() + before, objects.end(), there.begin() + before));
            }
        }
        CHECK(heap.error_count(kma::ErrorCode::out_of_memory) > 0);
        CHECK(heap.check().empty());
        list.clear(heap);
        if (kind != kma::HeapKind::bump) {
            const Array<cl_uint> first(64, 7);
            launch(kernels, "grow_local", {64, 64}, heap, list.ref(), 1u, 5u, 64u, first);
            CHECK(first.read()[0] != none); // its memory serves again
        }
    }
}

TEST_CASE("kernels make lists of their own, and delete them", "[array_list]")
{
    const kma::Heap heap(device(), 16 << 20);
    const Array<cl_uint> refs(500, 7);
    const kma::Program kernels = program("array_list.cl");
    launch(kernels, "lists", {500, 100}, heap, refs, 10u, 1u);
    CHECK(refs.read() == std::vector<cl_uint>(500, 0));
    CHECK(heap.stats().blocks == 0);
    launch(kernels, "lists", {500, 100}, heap, refs, 10u, 0u);
    cl_uint me = 0;
    for (const cl_uint ref : refs.read()) {
        REQUIRE(ref != 0);
        if (me % 50 == 0) {
            const ArrayList list = ArrayList::at(device(), heap, ref);
            std::vector<cl_uint> numbers;
            for (cl_uint i = 0; i < 10; i++)
                numbers.push_back(me * 1000 + i);
            CHECK(list.read<cl_uint>(heap) == numbers);
        }
        me++;
    }
    CHECK(heap.check().empty());
}

TEST_CASE("what an array list refuses", "[array_list]")
{
    const Subject checked{kma::default_heap_kind, "", 1};
    const kma::Heap checked_heap(device(), 4 << 20, checked.heap_options());
    const Array<cl_uint> out(1, 7);
    launch(checked.program("array_list.cl"), "beyond", {1, 1}, checked_heap, ArrayList(device(), checked_heap, sizeof(Object)).ref(), out);
    CHECK(out.read()[0] == 1);

    kma::Heap heap(device(), 4 << 20);
    const ArrayList roomy(device(), heap, sizeof(Object), {.room = 100});
    CHECK(roomy.room(heap) >= 100);
    for (const std::string way : ways)
        for (const cl_uint n : {0u, 65537u})
            for (const cl_uint others : {0u, 65537u, 3u}) {
                INFO(way << " " << n << ", " << others);
                const Array<cl_uint> first(64, 7);
                launch(program("array_list.cl"), "refused_" + way, {64, 64}, heap, roomy.ref(), n, others, first);
                std::vector<cl_uint> got = first.read();
                const bool for_all = way == "grow_max"; // which gives all as many, or nobody
                const bool served = others == 3 && !(for_all && n != 0);
                if (n != 0 || others != 3 || way == "grow") // else it has the index that it would have
                    CHECK(got[17] == none);
                got.erase(got.begin() + 17);
                CHECK(std::ranges::count(got, none) == (served ? 0 : 63));
                CHECK(roomy.size(heap) == (!served ? 0u : for_all ? 64u * 3 : 63u * 3));
                const unsigned records = (n == 65537 ? 1u : 0u) + (others == 65537 ? 63u : 0u);
                CHECK(heap.error_count(kma::ErrorCode::too_large) == (for_all ? std::min(records, 1u) : records));
                CHECK(heap.error_count(kma::ErrorCode::out_of_memory) == 0);
                if (n == 65537)
                    CHECK(heap.errors()[0].size == 65537 * sizeof(Object));
                heap.clear_errors();
                roomy.clear(heap);
            }
    roomy.destroy(heap);
    const auto message = [&](cl_uint bytes, const ArrayListOptions &options) {
        try {
            ArrayList(device(), heap, bytes, options);
        } catch (const kma::Error &error) {
            return std::string(error.what());
        }
        return std::string("(no error)");
    };
    CHECK_THAT(message(0, {}), contains("give the size of one object"));
    CHECK_THAT(message(4, {.align = 24}), contains("a power of two"));
    CHECK_THAT(message(4, {.room = (1u << 30) + 1}), contains("make several lists"));
    CHECK_THAT(message(4, {.most_objects_per_block = (1u << 30) + 1}), contains("make several lists"));
    CHECK_THAT(message(1 << 20, {.room = 8}), contains("make the heap larger"));
    CHECK_THROWS_AS(ArrayList::blocks_for((std::uint64_t{1} << 30) + 1, 4), kma::Error);
    CHECK_THROWS_AS(ArrayList::blocks_for(1, 0), kma::Error);
    CHECK_THROWS_AS(ArrayList::blocks_for(65537, 4, {.objects_per_block = 1}), kma::Error);
    CHECK_NOTHROW(ArrayList::blocks_for(65536, 4, {.objects_per_block = 1}));
    CHECK(heap.stats().blocks == 0); // what could not be made left nothing
    CHECK_THROWS_AS(ArrayList::at(device(), heap, 0), kma::Error);
    const ArrayList list(device(), heap, sizeof(Object));
    CHECK_THROWS_AS(list.read<cl_uint>(heap), kma::Error);
    CHECK_THROWS_AS(list.read<Object>(heap, 0, 1), kma::Error);
    const kma::Snapshot snapshot = heap.snapshot();
    CHECK_THROWS_AS(kma::ArrayListView(snapshot, list.ref()).at<Object>(0), kma::Error);
    CHECK_THROWS_AS(kma::ArrayListView(snapshot, 0), kma::Error);
    heap.map(list.ref(), 32).as<cl_uint>()[7] = 0xffffffff; // a damaged size
    const kma::Snapshot damaged = heap.snapshot();
    for (const cl_uint index : {1u << 16, 1u << 28, 0xfffffffeu})
        CHECK_THROWS_AS(kma::ArrayListView(damaged, list.ref()).at<Object>(index), kma::Error);
}

TEST_CASE("an array list goes on in a heap that grew, and in one that was saved", "[array_list]")
{
    kma::HeapOptions options;
    options.max_bytes = 4 << 20;
    kma::Heap heap(device(), 1 << 20, options);
    const ArrayList list(device(), heap, sizeof(Object));
    const kma::Program kernels = program("array_list.cl");
    const auto grow = [&](const kma::Heap &on) {
        const Array<cl_uint> first(640, 7);
        launch(kernels, "grow_local", {640, 64}, on, list.ref(), 1u, 5u, 640u, first);
        return first.read();
    };
    const auto asked = [](cl_uint me, cl_uint) { return wanted(me, 0, 5); };
    grow(heap);
    const std::vector<Object> before = list.read<Object>(heap);
    heap.grow(2 << 20);
    CHECK(list.read<Object>(heap) == before);
    const std::vector<cl_uint> more = grow(heap);
    const std::vector<Object> both = list.read<Object>(heap), second = expected(more, 1, both.size(), 1, asked);
    REQUIRE(both.size() == 2 * before.size());
    CHECK(std::equal(before.begin(), before.end(), both.begin()));
    CHECK(std::equal(second.begin() + before.size(), second.end(), both.begin() + before.size()));
}
