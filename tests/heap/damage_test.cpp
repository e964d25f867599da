// Heaps that are damaged at random: no bit that matters goes unnoticed, and nothing that reads a heap crashes or goes on
// for ever. tests/heap/damage does so far more often, without a device; here the device's own kernels look at it.
#include <random>

#include "catch.hpp"
#include "heap/common/layout.hpp"
#include "heap_support.hpp"

using kma::HeapKind;
using test::atomic_widths;
using test::superblocks;
using test::Town;

namespace {

// Words of which every bit matters. Of words with tags, the index as far as it goes with 32-bit atomics; of 64-bit
// offers, what is drawn.
struct Place {
    std::string what;
    cl_uint a, bits;
};

std::vector<Place> places()
{
    constexpr cl_uint damaged_class = 3, index = 16;
    std::vector<Place> all = {{"set", damaged_class, 32},        {"set count", damaged_class, 32}, {"slots", damaged_class, 32},
                              {"offer word", damaged_class, 32}, {"head word", 0, index},          {"tail word", 0, index},
                              {"item", 6, 32},                   {"queue capacity", 0, 32},        {"moves", 0, 16},
                              {"helpers", damaged_class, 32},    {"next word", 6, index},          {"next word", 16, index}};
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
    for (const std::string &width : atomic_widths) {
        const Town town(superblocks(4096, width));
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

TEST_CASE("what reads a heap ends in one that is damaged at random, and reset mends it", "[check]")
{
    std::mt19937 random(1);
    std::vector<kma::HeapOptions> all = {test::slabs()};
    for (const std::string &width : atomic_widths) {
        all.push_back(superblocks(4096, width));
        all.push_back({.kind = HeapKind::bump, .build_options = width});
    }
    for (const kma::HeapOptions &options : all) {
        const bool is_slab = options.kind == HeapKind::slab, is_bump = options.kind == HeapKind::bump;
        const std::uint64_t bytes = kma::Heap::bytes_for(is_slab ? options : superblocks(4096), is_slab ? 1 << 17 : 1 << 16);
        kma::Heap heap(test::device(), bytes, options);
        test::Kernels(heap).churn(100, 1, 300);
        const std::vector<cl_uint> image = test::image_of(heap);
        const std::size_t metadata = image.size() - heap.stats().capacity / 4;
        const std::size_t constants = (is_slab ? offsetof(kma::layout::kma_slab, cursors) : 2528) / 4; // header and plan
        int found = 0;
        for (int round = 0; round < 300; round++) {
            CAPTURE(kma::name_of(options.kind), options.build_options, round);
            std::vector<cl_uint> damaged = image;
            const bool of_bits = is_bump || round % 2 != 0; // anywhere; else words behind the constants
            if (of_bits)
                for (unsigned bits = round % 4 == 1 ? 1 : 1 + random() % 16; bits != 0; bits--)
                    damaged[random() % metadata] ^= 1u << random() % 32;
            else
                for (std::size_t n = 1 + random() % 20; n != 0; n--) // small numbers lead somewhere
                    damaged[constants + random() % (metadata - constants)] =
                        random() % 2 ? static_cast<cl_uint>(random()) : random() % 40;
            test::write_words(heap, damaged);
            std::vector<std::string> findings;
            CHECK_NOTHROW(findings = heap.check());
            found += findings.empty() ? 0 : 1;
            if (message_of<kma::Error>([&] { heap.stats(); }) != "no error") { // then all that reads the heap says so
                CHECK(of_bits);
                CHECK_THROWS_AS(heap.snapshot(), kma::Error);
                CHECK_THROWS_AS(heap.errors(), kma::Error);
                continue;
            }
            CHECK_NOTHROW(heap.errors());
            CHECK_NOTHROW(heap.snapshot());
            if (!is_bump)
                CHECK_NOTHROW(heap.leaks());
            heap.reset();
            heap.clear_errors();
            CHECK(heap.check() == std::vector<std::string>());
        }
        CHECK(found > (is_bump ? 60 : 100));
    }
}
