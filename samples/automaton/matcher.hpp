// The automaton on the device: its heap, its work queue and the kernels of automaton.cl.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/device_options.hpp"
#include "verify.hpp"

namespace automaton {

/// Returns a heap size that suffices for any order of the work-items.
std::uint64_t sufficient_heap_bytes(const kma::HeapOptions &heap, std::uint64_t inputs,
                                    const Automaton &automaton);

struct Run {
    Findings found;
    double milliseconds; ///< of all kernels, by the device's own clock
    kma::HeapStats heap;
    std::string heap_faults; ///< the heap's error log, without out-of-memory errors
};

/// Runs all inputs through the automaton. Throws kma::Error if the heap or the device lacks memory.
Run match(const kma::Device &device, const samples::DeviceOptions &options, const Inputs &inputs,
          const Automaton &automaton);

} // namespace automaton
