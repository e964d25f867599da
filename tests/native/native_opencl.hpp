// An OpenCL whose kernels are the heaps' own, compiled by the C++ compiler, so that a sanitizer sees all accesses of
// host library and kernels. One work-item after the other, those with higher numbers first, in the calling thread.
// Linking kma_native_opencl puts it in libOpenCL's place. Programs may have any text; their kernels are those of
// native_kernels.cpp, in the flavour that the build options name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace native {

/// An argument of a kernel: a buffer's memory, or a value of up to eight bytes.
struct Argument {
    bool is_set = false;
    void *memory = nullptr;
    alignas(8) std::byte value[8] = {};
};

/// A kernel as C++.
struct Kernel {
    std::string name;
    std::vector<std::size_t> value_bytes; ///< of each parameter, 0 for a pointer
    void (*run)(const std::vector<Argument> &arguments, std::size_t work_items, std::size_t group);
};

/// The kernels of one flavour of the device files; made by each native_kernels.cpp.
struct Flavour {
    bool atomic64;
    int debug;
    std::vector<Kernel> kernels;
};

/// Those that programs can have; each native_kernels.cpp adds one.
std::vector<Flavour> &flavours();

/// The names of the devices, platform not included.
inline constexpr const char *device_name = "all that is needed";
inline constexpr const char *no_compiler_name = "without a compiler";

/// Bytes of the largest buffer that either promises, and of the largest that it makes, as NVIDIA's driver does.
inline constexpr std::size_t promised_buffer = std::size_t{1} << 20;
inline constexpr std::size_t largest_buffer = 4 * promised_buffer;

/// Atomic operations that one launch may take, far more than any needs: beyond that it counts as endless and aborts.
inline constexpr unsigned long most_operations = 100'000'000;
extern unsigned long operations; ///< of the launch under way

} // namespace native
