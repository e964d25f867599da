// An OpenCL driver for the loader. "Broken platform" answers with an error when it is asked for its devices. With
// KMA_BROKEN_DEVICES in the environment there is a second platform, "Broken devices": one of its devices answers
// nothing but its platform, of the other no context can be made.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

// The loader finds the driver's functions by the first word.
struct _cl_platform_id {
    const cl_icd_dispatch *functions;
    const char *name;
};
struct _cl_device_id {
    const cl_icd_dispatch *functions;
};

namespace {

cl_icd_dispatch functions;
_cl_platform_id platforms[] = {{&functions, "Broken platform"}, {&functions, "Broken devices"}};
_cl_device_id devices[] = {{&functions}, {&functions}};

cl_int answer(std::string_view value, size_t room, void *to, size_t *size) // a literal: a NUL follows
{
    if (to)
        std::memcpy(to, value.data(), std::min(room, value.size() + 1));
    if (size)
        *size = value.size() + 1;
    return CL_SUCCESS;
}

cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what, size_t room, void *to, size_t *size)
{
    const char *const text = what == CL_PLATFORM_NAME             ? platform->name
                             : what == CL_PLATFORM_EXTENSIONS     ? "cl_khr_icd"
                             : what == CL_PLATFORM_ICD_SUFFIX_KHR ? "broken"
                                                                  : "OpenCL 1.1";
    return answer(text, room, to, size);
}

cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type, cl_uint room, cl_device_id *to, cl_uint *count)
{
    if (platform == &platforms[0])
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; to && i < std::min(room, 2u); i++)
        to[i] = &devices[i];
    if (count)
        *count = 2;
    return CL_SUCCESS;
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t room, void *to, size_t *size)
{
    if (what == CL_DEVICE_PLATFORM) {
        const cl_platform_id platform = &platforms[1];
        std::memcpy(to, &platform, sizeof(platform));
        return CL_SUCCESS;
    }
    if (device == &devices[0])
        return CL_DEVICE_NOT_AVAILABLE;
    if (!to || room > sizeof(cl_ulong))
        return answer("OpenCL 1.1", room, to, size);
    const cl_ulong number = what == CL_DEVICE_ADDRESS_BITS ? 64 : 1;
    std::memcpy(to, &number, room);
    return CL_SUCCESS;
}

cl_context CL_API_CALL context(const cl_context_properties *, cl_uint, const cl_device_id *,
                               void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *error)
{
    if (error)
        *error = CL_OUT_OF_RESOURCES;
    return nullptr;
}

cl_int CL_API_CALL platform_ids(cl_uint room, cl_platform_id *to, cl_uint *count)
{
    functions.clGetPlatformInfo = platform_info;
    functions.clGetDeviceIDs = device_ids;
    functions.clGetDeviceInfo = device_info;
    functions.clCreateContext = context;
    const cl_uint there = std::getenv("KMA_BROKEN_DEVICES") ? 2 : 1;
    for (cl_uint i = 0; to && i < std::min(room, there); i++)
        to[i] = &platforms[i];
    if (count)
        *count = there;
    return CL_SUCCESS;
}

} // namespace

extern "C" void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    const std::string_view wanted = name;
    return wanted == "clIcdGetPlatformIDsKHR" ? reinterpret_cast<void *>(platform_ids)
           : wanted == "clGetPlatformInfo"    ? reinterpret_cast<void *>(platform_info)
                                              : nullptr;
}
