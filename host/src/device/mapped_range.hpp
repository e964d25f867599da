// What a mapped range must do in the end.
#pragma once

#include "heap/common/memory.hpp"
#include "kma/mapped_range.hpp"

namespace kma {

struct MappedRange::Unmap {
    // `memory` outlives the range by contract: a Heap must not be destroyed while one of its ranges
    // is mapped.
    const HeapMemory &memory;
    cl::CommandQueue queue;
    void *mapped;

    ~Unmap();
};

} // namespace kma
