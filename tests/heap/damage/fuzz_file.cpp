// libFuzzer: the input damages a heap's file. Its first byte says whose, the next four how much shorter the file is,
// the rest are patches of nine bytes.
#include "fuzz_patches.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    damage::FuzzInput input(data, size);
    const auto cut = static_cast<std::int32_t>(input.word());
    input.patient().damage_file(input.patches(), cut);
    return 0;
}
