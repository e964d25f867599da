// kma/containers/arena.cl: blocks have memory of their own until the arena is cleared, and then the heap has it again.
#include <algorithm>
#include <random>

#include "catch.hpp"
#include "subject.hpp"

using namespace test;

namespace {

constexpr std::size_t work_items = 1024, in_group = 64; // PoCL compiles a kernel for each size of groups
constexpr cl_uint rounds = 4;
constexpr cl_uint sits_out = 0xffffffff; // SITS_OUT of arena.cl
constexpr cl_uint large_bytes = 70000;   // more than a quarter of the chunks

struct Taken {
    cl_uint block; // number
    kma::Ref ref;
    cl_uint bytes;
};

// Mostly small, some for nothing, some that are not asked for, some large.
std::vector<cl_uint> sizes_of(cl_uint most)
{
    std::mt19937 random(11);
    std::vector<cl_uint> bytes(work_items * rounds);
    for (cl_uint &one : bytes)
        one = random() % 10 == 0 ? sits_out : random() % 12 == 0 ? 0 : random() % 400 == 0 ? large_bytes : 1 + random() % most;
    return bytes;
}

struct Arenas {
    const Subject &subject;
    std::size_t heap_bytes = 16 << 20;
    kma::ArenaOptions options{};
    std::vector<cl_uint> bytes = sizes_of(120);
    kma::Program kernels = subject.program("arena.cl");
    kma::Heap heap{device(), heap_bytes, subject.heap_options()};

    kma::Arena make() const { return kma::Arena(device(), heap, options); }

    // All blocks of one launch, in memory's order; those that were refused have ref 0.
    std::vector<Taken> take(const std::vector<kma::Arena> &arenas) const
    {
        std::vector<kma::Ref> refs;
        for (const kma::Arena &arena : arenas)
            refs.push_back(arena.ref());
        const Array<kma::Ref> of(refs), taken(bytes.size(), 0);
        const Array<cl_uint> wanted(bytes);
        launch(kernels, "take_blocks", {work_items, in_group}, heap, of, static_cast<cl_uint>(refs.size()), rounds, wanted, taken);
        const std::vector<kma::Ref> got = taken.read();
        std::vector<Taken> all;
        for (cl_uint i = 0; i < got.size(); i++)
            if (bytes[i] == 0 || bytes[i] == sits_out)
                CHECK(got[i] == 0);
            else
                all.push_back({i, got[i], bytes[i]});
        std::sort(all.begin(), all.end(), [](const Taken &a, const Taken &b) { return a.ref < b.ref; });
        return all;
    }

    // That no two overlap, and each has its owner's words. (A ref counts 16 bytes, so all are aligned.)
    void check(const std::vector<Taken> &all) const
    {
        const kma::Snapshot snapshot = heap.snapshot();
        std::uint64_t end = 0, wrong = 0;
        for (const Taken &one : all) {
            if (one.ref == 0)
                continue;
            wrong += std::uint64_t{one.ref} * 16 < end;
            end = std::uint64_t{one.ref} * 16 + one.bytes;
            const std::span<const std::byte> is = snapshot.bytes(one.ref, one.bytes);
            for (cl_uint word = 0; word < one.bytes / 4; word++)
                wrong += reinterpret_cast<const cl_uint *>(is.data())[word] != one.block * 65599 + word;
        }
        CHECK(wrong == 0);
        CHECK(heap.check().empty());
    }

    void check_blocks(std::uint64_t blocks) const
    {
        if (subject.kind != kma::HeapKind::bump)
            CHECK(heap.stats().blocks == blocks);
    }
};

std::uint64_t refused(const std::vector<Taken> &all)
{
    return static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), [](const Taken &one) { return one.ref == 0; }));
}

std::uint64_t sum(const std::vector<Taken> &all)
{
    std::uint64_t bytes = 0;
    for (const Taken &one : all)
        bytes += one.ref != 0 ? one.bytes : 0;
    return bytes;
}

std::uint64_t count_large(const std::vector<Taken> &all)
{
    return static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), [](const Taken &one) { return one.bytes == large_bytes; }));
}

const Subject usual{kma::default_heap_kind, "", 0};

} // namespace

TEST_CASE("an arena's blocks have memory of their own, and go all at once, on every kind of heap", "[arena]")
{
    for (const Subject &subject : few_subjects()) {
        INFO(kma::name_of(subject.kind) << " " << subject.options << " debug " << subject.debug);
        const Arenas all{subject};
        const kma::Arena arena = all.make();
        CHECK(arena.bytes(all.heap) == 0);
        std::uint64_t before = 0;
        for (int turn = 0; turn < 2; turn++) {
            const std::vector<Taken> taken = all.take({arena});
            CHECK(refused(taken) == 0);
            all.check(taken);
            const std::uint64_t large = count_large(taken);
            CHECK(large > 2);
            // Some blocks of the heap for thousands of the arena's, and little more memory than they want.
            if (subject.kind != kma::HeapKind::bump)
                CHECK(all.heap.stats().blocks < large + 40);
            CHECK(arena.bytes(all.heap) > sum(taken));
            CHECK(arena.bytes(all.heap) < 3 * sum(taken));
            arena.clear(all.heap);
            CHECK(arena.bytes(all.heap) == 0);
            all.check_blocks(1);
            before = all.heap.stats().blocks;
        }
        CHECK(all.heap.error_text() == "");
        arena.destroy(all.heap);
        if (subject.kind != kma::HeapKind::bump)
            CHECK(all.heap.stats().blocks == before - 1);
    }
}

TEST_CASE("lanes that mean different arenas get blocks of their own", "[arena]")
{
    const Arenas all{usual};
    const std::vector<kma::Arena> arenas = {all.make(), all.make(), all.make()};
    const std::vector<Taken> taken = all.take(arenas);
    CHECK(refused(taken) == 0);
    all.check(taken);
    for (std::size_t turn = 0; turn < arenas.size(); turn++) {
        std::vector<Taken> its;
        std::copy_if(taken.begin(), taken.end(), std::back_inserter(its),
                     [&](const Taken &one) { return one.block / rounds % arenas.size() == turn; });
        CHECK(arenas[turn].bytes(all.heap) > sum(its));
        arenas[turn].destroy(all.heap);
        std::vector<Taken> others;
        std::copy_if(taken.begin(), taken.end(), std::back_inserter(others),
                     [&](const Taken &one) { return one.block / rounds % arenas.size() > turn; });
        all.check(others);
    }
    all.check_blocks(0);
}

TEST_CASE("an arena's blocks are aligned as they were asked for", "[arena]")
{
    const Arenas all{usual};
    const kma::Arena arena = all.make();
    std::vector<cl_uint> align(256);
    for (cl_uint i = 0; i < align.size(); i++)
        align[i] = 1u << i % 8; // up to 128, which every heap's address has
    const Array<cl_uint> aligns(align);
    const Array<kma::Ref> refs(align.size(), 0);
    launch(all.kernels, "take_aligned", {align.size(), in_group}, all.heap, arena.ref(), aligns, 48u, refs);
    std::vector<kma::Ref> got = refs.read();
    for (std::size_t i = 0; i < align.size(); i++) {
        CHECK(got[i] != 0);
        CHECK(std::uint64_t{got[i]} * 16 % align[i] == 0);
    }
    std::sort(got.begin(), got.end());
    CHECK(std::adjacent_find(got.begin(), got.end(), [](kma::Ref a, kma::Ref b) { return b - a < 3; }) == got.end());
    CHECK(all.heap.error_text() == "");

    const Array<cl_uint> bad(in_group, 24);
    launch(all.kernels, "take_aligned", {in_group, in_group}, all.heap, arena.ref(), bad, 48u, refs);
    CHECK(refs.read()[0] == 0);
    CHECK(all.heap.error_text() != "");
    launch(all.kernels, "take_aligned", {in_group, in_group}, all.heap, arena.ref(), bad, 0u, refs);
    CHECK(refs.read()[0] == 0);
    arena.destroy(all.heap);
    all.check_blocks(0);
}

TEST_CASE("without memory an arena refuses, and when it is cleared it serves again", "[arena]")
{
    const Arenas small{usual, 256 << 10, {}, std::vector<cl_uint>(work_items * rounds, 100)};
    const kma::Arena arena = small.make();
    std::uint64_t served = 0;
    for (int turn = 0; turn < 2; turn++) {
        const std::vector<Taken> taken = small.take({arena});
        CHECK(refused(taken) > 0);
        CHECK(sum(taken) > (256 << 10) / 2);
        small.check(taken);
        CHECK(small.heap.error_text().find("out of memory") != std::string::npos);
        CHECK((turn == 0 || sum(taken) > served / 2));
        served = sum(taken);
        arena.clear(small.heap);
        small.check_blocks(1);
    }
}

TEST_CASE("an arena with room takes no more than that", "[arena]")
{
    for (const Subject &subject : few_subjects()) {
        INFO(kma::name_of(subject.kind));
        const Arenas all{subject, 16 << 20, {.room = work_items * rounds * 16}, std::vector<cl_uint>(work_items * rounds, 13)};
        const kma::Arena arena = all.make();
        const std::uint64_t bytes = arena.bytes(all.heap);
        CHECK(bytes >= work_items * rounds * 16);
        const std::vector<Taken> taken = all.take({arena});
        CHECK(refused(taken) == 0);
        all.check(taken);
        CHECK(arena.bytes(all.heap) == bytes);
        arena.destroy(all.heap);
        all.check_blocks(0);
    }
}

TEST_CASE("a work-item has arenas of its own", "[arena]")
{
    const kma::Heap heap(device(), 16 << 20);
    const Array<cl_uint> bad(1, 0);
    launch(usual.program("arena.cl"), "own_arenas", {work_items, in_group}, heap, bad);
    CHECK(bad.read()[0] == 0);
    CHECK(heap.stats().blocks == 0);
    CHECK(heap.check().empty());
    CHECK(heap.error_text() == "");
}

TEST_CASE("chunks are as long as an arena's options say", "[arena]")
{
    const Arenas all{usual, 16 << 20, {.least_chunk_bytes = 1000, .most_chunk_bytes = 4000}, std::vector<cl_uint>(work_items * rounds, 16)};
    const kma::Arena arena = all.make();
    all.check(all.take({arena}));
    const std::uint64_t chunks = all.heap.stats().blocks - 1; // and the arena
    const std::uint64_t bytes = arena.bytes(all.heap);
    CHECK(chunks > 16);
    CHECK(bytes <= 4096 * chunks); // for a crowd the first is no longer than the others
    CHECK(bytes >= 4096 * (chunks - 2));
    CHECK_THROWS_AS(kma::Arena(device(), all.heap, {.least_chunk_bytes = (1 << 24) + 1}), kma::Error);
    const kma::Heap small(device(), 4096, {.kind = kma::HeapKind::bump});
    CHECK_THROWS_AS(kma::Arena(device(), small, {.room = 4096}), kma::Error);
    const auto make_until_full = [&] {
        for (;;)
            kma::Arena(device(), small);
    };
    CHECK_THROWS_AS(make_until_full(), kma::Error);
}
