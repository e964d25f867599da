// kma/containers/arena.cl: blocks have memory of their own until the arena is cleared, and then the
// heap has it again.
#include <algorithm>
#include <cstdio>
#include <random>

#include "subject.hpp"

using namespace test;

namespace {

constexpr std::size_t work_items = 1024,
                      in_group = 64; // PoCL compiles a kernel for each group size
constexpr cl_uint rounds = 4;
constexpr cl_uint sits_out = 0xffffffff; // SITS_OUT of arena.cl
constexpr cl_uint large_bytes = 70000;   // more than a quarter of the chunks

struct Taken {
    cl_uint block; // number
    kma::Ref ref;
    cl_uint bytes;
    std::uint64_t begin() const { return std::uint64_t{ref} * 16; }
};
using Blocks = std::vector<Taken>;
using Sizes = std::vector<cl_uint>;

Sizes equal_sizes(cl_uint bytes)
{
    return Sizes(work_items * rounds, bytes);
}

// Mostly small, some for nothing, some that are not asked for, some large.
Sizes random_sizes()
{
    std::mt19937 random(11);
    Sizes bytes = equal_sizes(0);
    for (cl_uint &one : bytes)
        one = random() % 10 == 0    ? sits_out
              : random() % 12 == 0  ? 0
              : random() % 400 == 0 ? large_bytes
                                    : 1 + random() % 120;
    return bytes;
}

struct Arenas {
    Subject subject = {};
    Sizes bytes = random_sizes();
    std::size_t heap_bytes = 16 << 20;
    kma::Program kernels = subject.program("arena.cl");
    kma::Heap heap = subject.heap(heap_bytes);

    // All blocks that one launch asks for, in memory's order; those that were refused have ref 0.
    Blocks take(const std::vector<kma::Arena> &arenas) const
    {
        std::vector<kma::Ref> refs;
        for (const kma::Arena &arena : arenas)
            refs.push_back(arena.ref());
        const Array<kma::Ref> taken(bytes.size(), 0);
        launch(kernels, "take_blocks", {work_items, in_group}, heap, Array(refs),
               cl_uint(refs.size()), rounds, Array(bytes), taken);
        const std::vector<kma::Ref> got = taken.read();
        Blocks all;
        for (cl_uint i = 0; i < got.size(); i++)
            if (bytes[i] == 0 || bytes[i] == sits_out)
                CHECK(got[i] == 0);
            else
                all.push_back({i, got[i], bytes[i]});
        std::ranges::sort(all, {}, &Taken::ref);
        check(all);
        return all;
    }

    // Checks that no two overlap, and that each has its work-item's words. All are aligned, as a
    // ref counts 16 bytes.
    void check(const Blocks &all) const
    {
        const kma::Snapshot snapshot = heap.snapshot();
        std::uint64_t end = 0, wrong = 0;
        for (const Taken &one : all) {
            if (one.ref == 0)
                continue;
            wrong += one.begin() < end;
            end = one.begin() + one.bytes;
            const auto *words =
                reinterpret_cast<const cl_uint *>(snapshot.bytes(one.ref, one.bytes).data());
            for (cl_uint word = 0; word < one.bytes / 4; word++)
                wrong += words[word] != one.block * 65599 + word;
        }
        CHECK(wrong == 0);
        CHECK(heap.check().empty());
    }
};

std::uint64_t refused(const Blocks &all)
{
    return std::uint64_t(std::ranges::count(all, 0u, &Taken::ref));
}

std::uint64_t sum(const Blocks &all)
{
    std::uint64_t bytes = 0;
    for (const Taken &one : all)
        bytes += one.ref != 0 ? one.bytes : 0;
    return bytes;
}

} // namespace

TEST_CASE("an arena's blocks have memory of their own, and go all at once, on every kind of heap",
          "[arena][long]")
{
    for (const Subject &subject : few_subjects()) {
        INFO(subject.name());
        const Arenas all{subject};
        const kma::Arena arena(all.heap);
        CHECK(arena.bytes() == 0);
        for (int turn = 0; turn < 2; turn++) {
            const Blocks taken = all.take({arena});
            CHECK(refused(taken) == 0);
            const auto large = std::uint64_t(std::ranges::count(taken, large_bytes, &Taken::bytes));
            CHECK(large > 2);
            // A few blocks of the heap for thousands of the arena's, and little more memory.
            if (subject.kind != kma::HeapKind::bump)
                CHECK(all.heap.stats().blocks < large + 40);
            CHECK(arena.bytes() > sum(taken));
            CHECK(arena.bytes() < 3 * sum(taken));
            arena.clear();
            CHECK(arena.bytes() == 0);
            subject.check(all.heap, 1);
        }
        arena.destroy();
        subject.check(all.heap, 0);
    }
}

TEST_CASE("lanes that mean different arenas get blocks of their own", "[arena]")
{
    std::printf("lanes that meet: %u\n", path().lanes_met);
    const Arenas all;
    const std::vector<kma::Arena> arenas = {kma::Arena(all.heap), kma::Arena(all.heap),
                                            kma::Arena(all.heap)};
    Blocks left = all.take(arenas);
    CHECK(refused(left) == 0);
    for (std::size_t turn = 0; turn < arenas.size(); turn++) {
        const auto others = std::partition(left.begin(), left.end(), [&](const Taken &one) {
            return one.block / rounds % arenas.size() == turn;
        });
        CHECK(arenas[turn].bytes() > sum({left.begin(), others}));
        arenas[turn].destroy();
        left.erase(left.begin(), others);
        std::ranges::sort(left, {}, &Taken::ref);
        all.check(left);
    }
    all.subject.check(all.heap, 0);
}

TEST_CASE("without memory an arena refuses, and when it is cleared it serves again", "[arena]")
{
    const Arenas small{{}, equal_sizes(100), 256 << 10};
    const kma::Arena arena(small.heap);
    std::uint64_t served = 0;
    for (int turn = 0; turn < 2; turn++) {
        const Blocks taken = small.take({arena});
        CHECK(refused(taken) > 0);
        CHECK(sum(taken) > (256 << 10) / 2);
        CHECK_THAT(small.heap.error_text(), contains("out of memory"));
        CHECK((turn == 0 || sum(taken) > served / 2));
        served = sum(taken);
        arena.clear();
        small.subject.check_blocks(small.heap, 1);
    }
}

TEST_CASE("chunks are as long as an arena's options say", "[arena]")
{
    const Arenas all{{}, equal_sizes(16)};
    const kma::Arena roomy(all.heap, {.room = work_items * rounds * 16});
    const std::uint64_t ahead = roomy.bytes();
    CHECK(ahead >= work_items * rounds * 16);
    all.take({roomy});
    CHECK(roomy.bytes() == ahead);
    roomy.destroy();
    const kma::Arena arena(all.heap, {.least_chunk_bytes = 1000, .most_chunk_bytes = 4000});
    all.take({arena});
    const std::uint64_t chunks = all.heap.stats().blocks - 1; // and the arena
    const std::uint64_t bytes = arena.bytes();
    CHECK(chunks > 16);
    CHECK(bytes <= 4096 * chunks); // for a crowd the first is no longer than the others
    CHECK(bytes >= 4096 * (chunks - 2));
    CHECK_THROWS_AS(kma::Arena(all.heap, {.least_chunk_bytes = (1 << 24) + 1}), kma::Error);
    const kma::Heap small(device(), 4096, {.kind = kma::HeapKind::bump});
    CHECK_THROWS_AS(kma::Arena(small, {.room = 4096}), kma::Error);
    const auto make_until_full = [&] {
        for (;;)
            kma::Arena{small};
    };
    CHECK_THROWS_AS(make_until_full(), kma::Error);
}
