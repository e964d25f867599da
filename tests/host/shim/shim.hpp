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

#include "memory.hpp" // last: it may include memory_fenced.cl
