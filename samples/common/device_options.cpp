// Heap and program for the chosen heap kind.
#include "common/device_options.hpp"

namespace samples {

kma::HeapOptions heap_options(const DeviceOptions &options)
{
    kma::HeapOptions heap;
    heap.kind = options.heap.kind;
    heap.debug = options.debug;
    return heap;
}

kma::Program build_program(const kma::Device &device, const DeviceOptions &options,
                           const std::vector<kma::Source> &sources)
{
    kma::ProgramOptions build;
    build.heap = options.heap.kind;
    build.debug = options.debug;
    return {device, sources, build};
}

} // namespace samples
