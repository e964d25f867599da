// The host shim: include this, then any file of cl/, and the file compiles as C++20 unchanged.
//
// Chosen with -D:
//   KMA_SHIM_RELACY   1: Relacy's memory model on fibers; 0: std::atomic on threads, with yields injected
//   KMA_SHIM_FENCED   1: relaxed operations and the fences of memory_fenced.cl; 0: operations with orders
//   KMA_HAS_ATOMIC64  as on a device
#pragma once

#if KMA_SHIM_RELACY
#include "backend_relacy.hpp"
#else
#include "backend_threads.hpp"
#endif

#include "lanes.hpp"
#include "objects.hpp"

#include "opencl.hpp"

// Each work-item a work-group of its own, but for lanes that one thread plays: these are one.
#define CLK_LOCAL_MEM_FENCE 0
#define CLK_GLOBAL_MEM_FENCE 0

inline size_t get_local_id(uint dimension)
{
    const shim::place &me = shim::self();
    return dimension == 0 && me.company ? me.company->lane() : 0;
}

inline size_t get_local_size(uint dimension)
{
    const shim::place &me = shim::self();
    return dimension == 0 && me.company ? me.company->size() : 1;
}

inline size_t get_group_id(uint dimension)
{
    return get_global_id(dimension) / get_local_size(dimension);
}

inline size_t get_num_groups(uint dimension)
{
    return get_global_size(dimension) / get_local_size(dimension);
}
inline void barrier(int, shim::location site = shim::location::current())
{
    if (shim::lockstep *company = shim::self().company)
        company->meet_all(site);
}

inline uint atomic_add(uint *word, uint value)
{
    return std::exchange(*word, *word + value);
}

inline uint atomic_max(uint *word, uint value)
{
    return std::exchange(*word, max(*word, value));
}

#include "memory.hpp" // last: it may include memory_fenced.cl
