// libFuzzer: the input damages a heap, or with KMA_FUZZ_FILE its file. Its first byte is the heap's number, of a file
// the next four say how much shorter it is; the rest are patches of nine bytes. Bytes that are missing are 0.
#include "damage.hpp"

namespace {

class Input {
public:
    Input(const std::uint8_t *data, std::size_t size) : rest_(data, size) {}

    std::uint8_t byte()
    {
        const std::uint8_t value = rest_.empty() ? 0 : rest_.front();
        rest_ = rest_.subspan(rest_.empty() ? 0 : 1);
        return value;
    }
    std::uint32_t word()
    {
        std::uint32_t value = 0;
        for (int i = 0; i < 4; i++)
            value = value << 8 | byte();
        return value;
    }
    std::vector<damage::Patch> patches()
    {
        std::vector<damage::Patch> all;
        while (!rest_.empty() && all.size() < 64) {
            const bool sets = byte() % 2 != 0;
            const std::uint32_t where = word();
            all.push_back({where, word(), sets});
        }
        return all;
    }

private:
    std::span<const std::uint8_t> rest_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    static std::vector<damage::Patient> all = damage::patients();
    Input input(data, size);
    damage::Patient &patient = all[input.byte() % all.size()];
#ifdef KMA_FUZZ_FILE
    const auto cut = static_cast<std::int32_t>(input.word());
    patient.damage_file(input.patches(), cut);
#else
    patient.damage_heap(input.patches());
#endif
    return 0;
}
