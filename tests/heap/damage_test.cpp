// Heap::check() of damaged heaps: no bit that matters goes unnoticed, and no damage makes it crash or go on for ever.
#include <random>

#include "catch.hpp"
#include "heap_support.hpp"

using test::Town;

namespace {

constexpr cl_uint damaged_class = 3; // a class

// Words whose every bit matters.
struct Place {
    std::string what;
    cl_uint a;
    cl_uint bits;
};

std::vector<Place> places()
{
    // Of words with tags, the index as far as it goes with 32-bit atomics; of 64-bit offers, what is drawn.
    constexpr cl_uint index = 16;
    std::vector<Place> all = {{"set", damaged_class, 32},        {"set count", damaged_class, 32},  {"slots", damaged_class, 32},
                              {"offer word", damaged_class, 32}, {"head word", 0, index},   {"tail word", 0, index},
                              {"item", 6, 32},           {"queue capacity", 0, 32}, {"moves", 0, 16},
                              {"helpers", damaged_class, 32},    {"next word", 6, index},   {"next word", 16, index}};
    for (const cl_uint sb : {0, 1, 2, 5})
        all.insert(all.end(), {{"credit", sb, 32}, {"content", sb, 32}, {"bitmap", sb, 256}});
    for (cl_uint sb = 0; sb < 4; sb++)
        all.push_back({"carrier", sb, 32});
    for (cl_uint word = 0; word < 12; word++)
        all.push_back({"header", word, 32});
    for (cl_uint word = 0; word < 13; word++)
        all.push_back({"plan", word, 32});
    return all;
}

} // namespace

TEST_CASE("check notices every single bit that matters", "[check]")
{
    for (const std::string &width : test::widths) {
        Town town(test::superblocks(4096, width));
        for (const Place &place : places())
            for (cl_uint bit = 0; bit < place.bits; bit++) {
                town.kernels.flip(place.what, place.a, bit);
                if (town.heap.check().empty())
                    FAIL_CHECK("nothing about bit " << bit << " of " << place.what << " " << place.a << ", " << width);
                town.kernels.flip(place.what, place.a, bit);
            }
        CHECK(town.heap.check().empty());
    }
}

TEST_CASE("check, statistics and leaks end in a heap that is damaged at random", "[check]")
{
    std::mt19937 random(1);
    for (const std::string &width : test::widths)
        for (int round = 0; round < 100; round++) {
            Town town(test::superblocks(4096, width));
            const kma::HeapStats stats = town.heap.stats();
            const std::uint64_t words = (stats.bytes - stats.capacity) / 4, constant = 2528 / 4; // header and plan
            CAPTURE(width, round);
            for (int n = 0; n < 20; n++) {
                // Small numbers lead somewhere.
                const cl_uint value = random() % 2 ? static_cast<cl_uint>(random()) : random() % 40;
                const std::uint64_t word = constant + random() % (words - constant);
                test::device().queue().enqueueWriteBuffer(town.heap.buffer(), CL_TRUE, word * 4, 4, &value);
            }
            CHECK_NOTHROW(town.heap.check());
            CHECK_NOTHROW(town.heap.stats());
            CHECK_NOTHROW(town.heap.leaks());
            CHECK_NOTHROW(town.heap.snapshot());
        }
}

// tests/heap/damage does so far more often, without a device; here the device's own kernels look at the damage.
TEST_CASE("bits turned round at random are found or borne, and reset mends them", "[check]")
{
    std::mt19937 random(2);
    std::vector<kma::HeapOptions> all;
    for (const std::string &width : test::widths) {
        all.push_back(test::superblocks(4096, width));
        all.push_back({.kind = kma::HeapKind::bump, .build_options = width});
    }
    for (const kma::HeapOptions &options : all) {
        kma::Heap heap(test::device(), kma::Heap::bytes_for(test::superblocks(4096), 16 * 4096), options);
        test::Kernels(heap).churn(100, 1, 300);
        std::vector<cl_uint> image(heap.stats().bytes / 4);
        const cl::CommandQueue &queue = test::device().queue();
        queue.enqueueReadBuffer(heap.buffer(), CL_TRUE, 0, image.size() * 4, image.data());
        const std::size_t metadata = image.size() - heap.stats().capacity / 4;
        int found = 0;
        for (int round = 0; round < 120; round++) {
            CAPTURE(kma::name_of(options.kind), options.build_options, round);
            std::vector<cl_uint> damaged = image;
            for (unsigned bits = round % 2 ? 1 : 1 + random() % 16; bits != 0; bits--)
                damaged[random() % metadata] ^= 1u << random() % 32;
            queue.enqueueWriteBuffer(heap.buffer(), CL_TRUE, 0, damaged.size() * 4, damaged.data());
            std::vector<std::string> findings;
            CHECK_NOTHROW(findings = heap.check());
            found += findings.empty() ? 0 : 1;
            bool readable = true;
            try {
                heap.stats();
            } catch (const kma::Error &) { // the constants: then all that reads the heap says so
                readable = false;
                CHECK_THROWS_AS(heap.snapshot(), kma::Error);
                CHECK_THROWS_AS(heap.errors(), kma::Error);
            }
            if (!readable)
                continue;
            CHECK_NOTHROW(heap.errors());
            CHECK_NOTHROW(heap.snapshot());
            if (options.kind == kma::HeapKind::superblock)
                CHECK_NOTHROW(heap.leaks());
            heap.reset();
            heap.clear_errors();
            CHECK(heap.check() == std::vector<std::string>());
        }
        CHECK(found > 24);
    }
}
