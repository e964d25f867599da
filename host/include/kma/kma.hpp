// malloc for OpenCL kernels: the host side in one include.
#pragma once

#include "kma/device.hpp"
#include "kma/error.hpp"
#include "kma/heap.hpp"
#include "kma/indexed_queue.hpp"
#include "kma/program.hpp"
#include "kma/snapshot.hpp"
#include "kma/source.hpp"
