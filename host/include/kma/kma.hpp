// malloc for OpenCL kernels: the host side in one include.
#pragma once

#include "kma/device.hpp"
#include "kma/error.hpp"
#include "kma/heap.hpp"
#include "kma/heap_errors.hpp"
#include "kma/heap_kind.hpp"
#include "kma/heap_options.hpp"
#include "kma/heap_stats.hpp"
#include "kma/indexed_queue.hpp"
#include "kma/leak_report.hpp"
#include "kma/mapped_range.hpp"
#include "kma/opencl.hpp"
#include "kma/program.hpp"
#include "kma/selftest.hpp"
#include "kma/snapshot.hpp"
#include "kma/source.hpp"
