// A fuzzer's bytes as damage.
#pragma once

#include <cstring>

#include "damage.hpp"

namespace damage {

class FuzzInput {
public:
    FuzzInput(const std::uint8_t *data, std::size_t size) : rest_(data, size)
    {
        static std::vector<Patient> all = patients();
        patient_ = &all[byte() % all.size()];
    }

    Patient &patient() const { return *patient_; }

    /// The next number; bytes that are missing are 0.
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

    /// What is left, as patches.
    std::vector<Patch> patches()
    {
        std::vector<Patch> all;
        while (!rest_.empty() && all.size() < 64) {
            const bool sets = byte() % 2 != 0;
            const std::uint32_t where = word();
            all.push_back({where, word(), sets});
        }
        return all;
    }

private:
    std::span<const std::uint8_t> rest_;
    Patient *patient_ = nullptr;
};

} // namespace damage
