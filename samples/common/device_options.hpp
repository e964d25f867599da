// The command line's options for device and heap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/heaps.hpp"

namespace samples {

struct DeviceOptions {
    std::string device;
    HeapChoice heap = heap_choices[0];
    std::optional<std::uint64_t> heap_bytes; ///< none: as many as always suffice
    int debug = 0;
    std::optional<std::uint32_t> work_group; ///< none: chosen for the device
};

/// Returns the heap options that the command line selects.
kma::HeapOptions heap_options(const DeviceOptions &options);

} // namespace samples
