// The automaton on the device: its heap, its work queue and the kernels of automaton.cl.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/device_options.hpp"
#include "verify.hpp"

namespace automaton {

/// A heap of so many bytes suffices, however the work-items race.
std::uint64_t sufficient_heap_bytes(const kma::HeapOptions &heap, std::uint64_t inputs,
                                    const Automaton &automaton);

struct Run {
    Findings found;
    double milliseconds; ///< of all kernels, from the device's own clock
    kma::HeapStats heap;
    std::string heap_faults; ///< what the heap reports, but for memory that was lacking
};

/// Runs all inputs through the automaton. Throws kma::Error if the heap, or the device, has no
/// memory for that.
Run match(const kma::Device &device, const samples::DeviceOptions &options, const Inputs &inputs,
          const Automaton &automaton);

} // namespace automaton
