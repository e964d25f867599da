// kma/platform/bits.cl against C++'s own bit functions.
#include <algorithm>
#include <bit>

#include "catch.hpp"
#include "support.hpp"

using namespace test;

TEST_CASE("bit functions agree with the host's", "[bits]")
{
    std::vector<cl_ulong> values;
    for (unsigned i = 0; i < 64; i++) // in the order and its reverse, products pass 2^64 and stay below
        for (const cl_ulong value : {1ull << i, (1ull << i) | 1ull << 63, ~0ull << i, ~0ull >> i, (1ull << i) | 1ull})
            values.push_back(value);
    while (values.size() < 512) // 0 is outside most functions' domain
        values.push_back((cl_ulong{mix32(static_cast<cl_uint>(values.size()))} << 32) + values.size());
    const std::size_t count = values.size();
    for (const Flavour &flavour : flavours()) {
        INFO(flavour.name);
        const kma::Program kernels = program("platform/bits.cl", flavour.options);
        const Array<cl_ulong> below(count, 0), products(count, 0);
        const Array<cl_uint> lowest(count, 0), highest(count, 0), power(count, 0), mixed(count, 0), zero(1, 7);
        launch(kernels, "bits", {count, 64}, Array(values), lowest, highest, below, power, mixed, products, cl_ulong{0},
               zero);
        const auto lowest_bits = lowest.read(), highest_bits = highest.read(), powers = power.read(),
                   mixes = mixed.read();
        const auto belows = below.read(), product = products.read();
        for (std::size_t i = 0; i < count; i++) {
            INFO("value " << values[i]);
            CHECK(lowest_bits[i] == static_cast<cl_uint>(std::countr_zero(values[i])));
            CHECK(highest_bits[i] == static_cast<cl_uint>(63 - std::countl_zero(values[i])));
            CHECK(belows[i] == (cl_ulong{1} << i % 64) - 1);
            CHECK(powers[i] == (std::has_single_bit(values[i]) ? 1u : 0u));
            CHECK(mixes[i] == mix32(static_cast<cl_uint>(values[i])));
            const cl_ulong other = values[count - 1 - i];
            CHECK(product[i] == (values[i] > ~cl_ulong{0} / other ? ~cl_ulong{0} : values[i] * other));
        }
        CHECK(zero.read()[0] == 0);
    }
}

TEST_CASE("kma_mix32 gives different numbers for different numbers", "[bits]")
{
    const std::size_t count = 64 * scaled(4096);
    for (const cl_uint first : {0u, 0x80000000u, static_cast<cl_uint>(0 - count)}) {
        const Array<cl_uint> out(count, 0);
        launch(program("platform/bits.cl"), "mix_range", {count, 64}, first, out);
        std::vector<cl_uint> mixed = out.read();
        std::ranges::sort(mixed);
        CHECK(std::ranges::adjacent_find(mixed) == mixed.end());
    }
}
