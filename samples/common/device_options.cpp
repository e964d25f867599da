// The heap for the chosen heap kind.
#include "common/device_options.hpp"

namespace samples {

kma::HeapOptions heap_options(const DeviceOptions &options)
{
    kma::HeapOptions heap;
    heap.kind = options.heap.kind;
    heap.debug = options.debug;
    return heap;
}

} // namespace samples
