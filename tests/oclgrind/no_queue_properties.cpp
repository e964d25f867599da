// Instead of OpenCL's own: on platforms before 2.0 nobody may call this. (In oclgrind 21.10 it
// never returns.)
#include <cstdio>
#include <cstdlib>

#include "kma/opencl.hpp"

extern "C" cl_command_queue CL_API_CALL
clCreateCommandQueueWithProperties(cl_context, cl_device_id, const cl_queue_properties *, cl_int *)
{
    std::fputs("clCreateCommandQueueWithProperties was called on a platform of OpenCL 1.2: call "
               "clCreateCommandQueue\n",
               stderr);
    std::abort();
}
