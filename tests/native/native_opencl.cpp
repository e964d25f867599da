// The part of OpenCL 1.2 that the host library calls, and no more.
#include "native_opencl.hpp"

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

struct _cl_platform_id {
    const char *name;
};
struct _cl_device_id {
    const char *name;
    cl_bool has_compiler;
};
struct _cl_context {
    std::vector<cl_device_id> devices;
};
struct _cl_command_queue {
    cl_context context;
    cl_device_id device;
    cl_command_queue_properties properties;
};
struct _cl_mem {
    void *memory;
    std::size_t bytes;
    unsigned references;
};
struct _cl_program {
    cl_context context;
    std::vector<cl_device_id> built_for;
    const native::Flavour *flavour;
};
struct _cl_kernel {
    cl_program program;
    const native::Kernel *kernel;
    std::vector<native::Argument> arguments;
};

namespace native {

unsigned long operations = 0;

namespace {

_cl_platform_id platform = {"Native"};
_cl_device_id devices[] = {{device_name, CL_TRUE}, {no_compiler_name, CL_FALSE}};

cl_int give(const void *value, std::size_t bytes, std::size_t room, void *to, std::size_t *size)
{
    if (to && room < bytes)
        return CL_INVALID_VALUE;
    if (to && bytes != 0)
        std::memcpy(to, value, bytes);
    if (size)
        *size = bytes;
    return CL_SUCCESS;
}

template <class T> cl_int give_value(T value, std::size_t room, void *to, std::size_t *size)
{
    return give(&value, sizeof value, room, to, size);
}

cl_int give_text(std::string_view text, std::size_t room, void *to, std::size_t *size)
{
    const std::string whole(text);
    return give(whole.c_str(), whole.size() + 1, room, to, size);
}

template <class T> cl_int give_list(const std::vector<T> &list, std::size_t room, void *to, std::size_t *size)
{
    return give(list.data(), list.size() * sizeof(T), room, to, size);
}

// Contexts, queues and programs stay to the end, where a leak checker finds them.
template <class T> T *kept(T *object)
{
    static std::vector<T *> &all = *new std::vector<T *>;
    all.push_back(object);
    return object;
}

template <class T> T *made(T *object, cl_int *status, cl_int result = CL_SUCCESS)
{
    if (status)
        *status = result;
    return object;
}

// The number behind "-DNAME=" among the options, else `otherwise`.
int option(std::string_view options, std::string_view name, int otherwise)
{
    const std::string text = "-D" + std::string(name) + "=";
    const std::size_t at = options.rfind(text);
    return at == std::string_view::npos ? otherwise : std::atoi(std::string(options.substr(at + text.size())).c_str());
}

} // namespace

std::vector<Flavour> &flavours()
{
    static std::vector<Flavour> all;
    return all;
}

} // namespace native

using namespace native;

// What has nothing to do: objects stay to the end, and a kernel has run when its launch returns.
#define NATIVE_NOTHING(name, object)                                                                                   \
    cl_int name(object)                                                                                                \
    {                                                                                                                  \
        return CL_SUCCESS;                                                                                             \
    }

extern "C" {

NATIVE_NOTHING(clRetainDevice, cl_device_id)
NATIVE_NOTHING(clReleaseDevice, cl_device_id)
NATIVE_NOTHING(clRetainContext, cl_context)
NATIVE_NOTHING(clReleaseContext, cl_context)
NATIVE_NOTHING(clRetainCommandQueue, cl_command_queue)
NATIVE_NOTHING(clReleaseCommandQueue, cl_command_queue)
NATIVE_NOTHING(clRetainProgram, cl_program)
NATIVE_NOTHING(clReleaseProgram, cl_program)
NATIVE_NOTHING(clFlush, cl_command_queue)
NATIVE_NOTHING(clFinish, cl_command_queue)

cl_int clGetPlatformIDs(cl_uint entries, cl_platform_id *to, cl_uint *count)
{
    if (to && entries != 0)
        to[0] = &platform;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id of, cl_platform_info what, size_t room, void *to, size_t *size)
{
    const char *const text = what == CL_PLATFORM_NAME || what == CL_PLATFORM_VENDOR ? of->name
                             : what == CL_PLATFORM_VERSION                          ? "OpenCL 1.2 native"
                             : what == CL_PLATFORM_EXTENSIONS                       ? ""
                                                                                    : nullptr;
    return text ? give_text(text, room, to, size) : CL_INVALID_VALUE;
}

cl_int clGetDeviceIDs(cl_platform_id, cl_device_type, cl_uint entries, cl_device_id *to, cl_uint *count)
{
    for (cl_uint i = 0; to && i < std::min<cl_uint>(entries, std::size(devices)); i++)
        to[i] = &devices[i];
    if (count)
        *count = std::size(devices);
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id of, cl_device_info what, size_t room, void *to, size_t *size)
{
    const char *const text = what == CL_DEVICE_NAME               ? of->name
                             : what == CL_DEVICE_VERSION          ? "OpenCL 1.2 native"
                             : what == CL_DEVICE_OPENCL_C_VERSION ? "OpenCL C 1.2 native"
                             : what == CL_DEVICE_EXTENSIONS       ? ""
                                                                  : nullptr;
    return text                                   ? give_text(text, room, to, size)
           : what == CL_DEVICE_PLATFORM           ? give_value(&platform, room, to, size)
           : what == CL_DEVICE_TYPE               ? give_value<cl_device_type>(CL_DEVICE_TYPE_CPU, room, to, size)
           : what == CL_DEVICE_COMPILER_AVAILABLE ? give_value(of->has_compiler, room, to, size)
           : what == CL_DEVICE_ADDRESS_BITS       ? give_value<cl_uint>(64, room, to, size)
           : what == CL_DEVICE_MAX_COMPUTE_UNITS  ? give_value<cl_uint>(1, room, to, size)
           : what == CL_DEVICE_MAX_MEM_ALLOC_SIZE ? give_value<cl_ulong>(promised_buffer, room, to, size)
           : what == CL_DEVICE_AVAILABLE || what == CL_DEVICE_ENDIAN_LITTLE
               ? give_value<cl_bool>(CL_TRUE, room, to, size)
               : CL_INVALID_VALUE;
}

cl_context clCreateContext(const cl_context_properties *, cl_uint count, const cl_device_id *of,
                           void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *status)
{
    return made(kept(new _cl_context{{of, of + count}}), status);
}

cl_int clGetContextInfo(cl_context of, cl_context_info what, size_t room, void *to, size_t *size)
{
    return what == CL_CONTEXT_NUM_DEVICES ? give_value(static_cast<cl_uint>(of->devices.size()), room, to, size)
           : what == CL_CONTEXT_DEVICES   ? give_list(of->devices, room, to, size)
                                          : CL_INVALID_VALUE;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int *status)
{
    return made(kept(new _cl_command_queue{context, device, properties}), status);
}

cl_int clGetCommandQueueInfo(cl_command_queue of, cl_command_queue_info what, size_t room, void *to, size_t *size)
{
    return what == CL_QUEUE_CONTEXT      ? give_value(of->context, room, to, size)
           : what == CL_QUEUE_DEVICE     ? give_value(of->device, room, to, size)
           : what == CL_QUEUE_PROPERTIES ? give_value(of->properties, room, to, size)
                                         : CL_INVALID_VALUE;
}

// No byte more than asked for, so that a sanitizer sees accesses beyond.
cl_mem clCreateBuffer(cl_context, cl_mem_flags flags, size_t bytes, void *from, cl_int *status)
{
    if (bytes == 0 || bytes > largest_buffer)
        return made<_cl_mem>(nullptr, status, CL_INVALID_BUFFER_SIZE);
    void *memory = nullptr;
    if (posix_memalign(&memory, 128, bytes) != 0)
        return made<_cl_mem>(nullptr, status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    if (flags & CL_MEM_COPY_HOST_PTR)
        std::memcpy(memory, from, bytes);
    return made(new _cl_mem{memory, bytes, 1}, status);
}

cl_int clRetainMemObject(cl_mem of)
{
    of->references++;
    return CL_SUCCESS;
}

cl_int clReleaseMemObject(cl_mem of)
{
    if (--of->references == 0) {
        std::free(of->memory);
        delete of;
    }
    return CL_SUCCESS;
}

cl_int clGetMemObjectInfo(cl_mem of, cl_mem_info what, size_t room, void *to, size_t *size)
{
    return what == CL_MEM_SIZE ? give_value(of->bytes, room, to, size) : CL_INVALID_VALUE;
}

// Where these bytes of a buffer are; null if it does not have them all.
static void *place_in(cl_mem of, size_t offset, size_t bytes)
{
    return offset <= of->bytes && bytes <= of->bytes - offset ? static_cast<std::byte *>(of->memory) + offset : nullptr;
}

static cl_int copy(void *to, const void *from, size_t bytes)
{
    if (!to || !from)
        return CL_INVALID_VALUE;
    std::memcpy(to, from, bytes);
    return CL_SUCCESS;
}

cl_int clEnqueueReadBuffer(cl_command_queue, cl_mem from, cl_bool, size_t offset, size_t bytes, void *to, cl_uint,
                           const cl_event *, cl_event *)
{
    return copy(to, place_in(from, offset, bytes), bytes);
}

cl_int clEnqueueCopyBuffer(cl_command_queue, cl_mem from, cl_mem to, size_t offset, size_t at, size_t bytes, cl_uint,
                           const cl_event *, cl_event *)
{
    return copy(place_in(to, at, bytes), place_in(from, offset, bytes), bytes);
}

cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem to, cl_bool, size_t offset, size_t bytes, const void *from,
                            cl_uint, const cl_event *, cl_event *)
{
    return copy(place_in(to, offset, bytes), from, bytes);
}

void *clEnqueueMapBuffer(cl_command_queue, cl_mem of, cl_bool, cl_map_flags, size_t offset, size_t bytes, cl_uint,
                         const cl_event *, cl_event *, cl_int *status)
{
    void *const place = place_in(of, offset, bytes);
    return made(place, status, place ? CL_SUCCESS : CL_INVALID_VALUE);
}

cl_int clEnqueueUnmapMemObject(cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *)
{
    return CL_SUCCESS;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint, const char **, const size_t *, cl_int *status)
{
    return made(kept(new _cl_program{context, {}, nullptr}), status);
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *of, const char *options,
                      void(CL_CALLBACK *)(cl_program, void *), void *)
{
    const bool atomic64 = option(options, "KMA_HAS_ATOMIC64", 1) != 0;
    const int debug = option(options, "KMA_DEBUG", 0);
    for (const Flavour &flavour : flavours())
        if (flavour.atomic64 == atomic64 && flavour.debug == debug)
            program->flavour = &flavour;
    if (!program->flavour)
        return CL_INVALID_BUILD_OPTIONS; // a flavour that this program was not linked with
    program->built_for.assign(of, of + count);
    return CL_SUCCESS;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id of, cl_program_build_info what, size_t room, void *to,
                             size_t *size)
{
    const bool built = std::ranges::find(program->built_for, of) != program->built_for.end();
    return what == CL_PROGRAM_BUILD_STATUS
               ? give_value<cl_build_status>(built ? CL_BUILD_SUCCESS : CL_BUILD_NONE, room, to, size)
           : what == CL_PROGRAM_BUILD_LOG ? give_text("", room, to, size)
                                          : CL_INVALID_VALUE;
}

cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void *to, size_t *size)
{
    if (what == CL_PROGRAM_DEVICES)
        return give_list(program->context->devices, room, to, size);
    if (what != CL_PROGRAM_KERNEL_NAMES)
        return CL_INVALID_VALUE;
    std::string names;
    for (const Kernel &kernel : program->flavour->kernels)
        names += (names.empty() ? "" : ";") + kernel.name;
    return give_text(names, room, to, size);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *status)
{
    for (const Kernel &kernel : program->flavour->kernels)
        if (kernel.name == name)
            return made(new _cl_kernel{program, &kernel, std::vector<Argument>(kernel.value_bytes.size())}, status);
    return made<_cl_kernel>(nullptr, status, CL_INVALID_KERNEL_NAME);
}

cl_int clReleaseKernel(cl_kernel of)
{
    delete of; // nobody retains kernels
    return CL_SUCCESS;
}

cl_int clGetKernelInfo(cl_kernel of, cl_kernel_info what, size_t room, void *to, size_t *size)
{
    return what == CL_KERNEL_FUNCTION_NAME ? give_text(of->kernel->name, room, to, size)
           : what == CL_KERNEL_NUM_ARGS    ? give_value(static_cast<cl_uint>(of->arguments.size()), room, to, size)
           : what == CL_KERNEL_CONTEXT     ? give_value(of->program->context, room, to, size)
           : what == CL_KERNEL_PROGRAM     ? give_value(of->program, room, to, size)
                                           : CL_INVALID_VALUE;
}

cl_int clGetKernelArgInfo(cl_kernel, cl_uint, cl_kernel_arg_info, size_t, void *, size_t *)
{
    return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
}

cl_int clSetKernelArg(cl_kernel of, cl_uint index, size_t bytes, const void *value)
{
    if (index >= of->arguments.size())
        return CL_INVALID_ARG_INDEX;
    const std::size_t value_bytes = of->kernel->value_bytes[index];
    if (bytes != (value_bytes != 0 ? value_bytes : sizeof(cl_mem)))
        return CL_INVALID_ARG_SIZE;
    Argument &argument = of->arguments[index];
    argument.is_set = true;
    if (value_bytes != 0)
        std::memcpy(argument.value, value, bytes);
    else
        argument.memory = (*static_cast<const cl_mem *>(value))->memory;
    return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint, const size_t *,
                              const size_t *work_items, const size_t *group, cl_uint, const cl_event *, cl_event *)
{
    if (queue->context != kernel->program->context)
        return CL_INVALID_CONTEXT;
    if (std::ranges::find(kernel->program->built_for, queue->device) == kernel->program->built_for.end())
        return CL_INVALID_PROGRAM_EXECUTABLE;
    if (!std::ranges::all_of(kernel->arguments, &Argument::is_set))
        return CL_INVALID_KERNEL_ARGS;
    operations = 0;
    kernel->kernel->run(kernel->arguments, work_items[0], group ? group[0] : 1);
    return CL_SUCCESS;
}

} // extern "C"
