// How a mapped range is unmapped.
#pragma once

#include "heap/common/memory.hpp"
#include "kma/mapped_range.hpp"

namespace kma {

struct MappedRange::Unmap {
    // Outlives the range: a Heap must not be destroyed while one of its ranges is mapped.
    const HeapMemory &memory;
    cl::CommandQueue queue;
    void *mapped;

    ~Unmap();
};

} // namespace kma
