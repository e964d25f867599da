// libFuzzer: the input damages a heap. Its first byte says which, the rest are patches of nine bytes.
#include "fuzz_patches.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    damage::FuzzInput input(data, size);
    input.patient().damage_heap(input.patches());
    return 0;
}
