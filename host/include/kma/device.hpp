// Where kernels run: one OpenCL device with a context and a command queue.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kma/opencl.hpp"

namespace kma {

class ProgramCache;
class SelftestGate;

/// A device, its context, and the in-order queue for kma's own work. Copies share all three, the
/// cache of built programs, and the selftest's result. Thread-safe as OpenCL is.
///
/// The first Heap or World on a Device or its copies runs the selftest (kma/selftest.hpp),
/// once for all of them. If the device fails, that constructor and all later ones throw Error,
/// which names the failed check. The environment variable KMA_SELFTEST=off skips the selftest.
class Device {
public:
    /// Selects one of the devices of list(), with a new context and queue.
    ///
    /// `wanted` is "SUBSTRING" or "SUBSTRING:n": the n-th device, counted from 0 (default 0), with
    /// SUBSTRING in its platform or device name, case ignored. If `wanted` is empty, the
    /// environment variable KMA_DEVICE is used; if that is empty too, the first GPU, or else the
    /// first device.
    ///
    /// Throws Error if no device matches (the message lists the devices) or there is none. Both
    /// messages include left_out().
    static Device select(std::string_view wanted = {});

    /// All devices that kma can run on, platform by platform. Empty if there are none.
    static std::vector<cl::Device> list();

    /// All devices, also those that kma cannot run on, except devices for which the driver returns
    /// an error.
    static std::vector<cl::Device> list_all();

    /// The platforms and devices that list_all() omits, each with the reason, such as "Some
    /// platform: it has no device".
    static std::vector<std::string> left_out();

    /// Why kma cannot run on a device, such as "it has no OpenCL C compiler"; empty if it can.
    static std::string obstacle(const cl::Device &device);

    /// Uses the caller's queue, its context and its device. Throws Error if the device cannot run
    /// kma.
    explicit Device(cl::CommandQueue queue);

    /// The device's context, for the user's buffers.
    const cl::Context &context() const noexcept { return context_; }
    /// The OpenCL device.
    const cl::Device &device() const noexcept { return device_; }
    /// The in-order queue for all of kma's work, and for the user's kernels on heaps.
    const cl::CommandQueue &queue() const noexcept { return queue_; }

    /// "PLATFORM / DEVICE", the text that select() searches.
    std::string name() const;

    /// The -cl-std option with the most features that kma uses, such as "-cl-std=CL3.0". The
    /// environment variable KMA_CL_STD (such as CL1.2) overrides it.
    std::string language_option() const;

    /// Whether the device announces an extension, such as "cl_khr_int64_base_atomics".
    bool has_extension(std::string_view name) const;

    /// Macros for facts that the device's compiler does not define: on NVIDIA " -DKMA_NV_ARCH=90"
    /// for compute capability 9.0, on CPUs " -DKMA_IS_CPU=1"; empty elsewhere.
    std::string target_options() const;

    /// CL_DEVICE_MAX_MEM_ALLOC_SIZE: bytes that the driver guarantees for one buffer. Some drivers
    /// serve larger ones: NVIDIA's up to the device's memory.
    std::uint64_t max_buffer_bytes() const;

    /// Whether the device has coarse-grained shared virtual memory.
    bool has_svm() const;

private:
    friend struct DeviceInternals;

    cl::Context context_;
    cl::Device device_;
    cl::CommandQueue queue_;
    std::shared_ptr<ProgramCache> cache_;
    std::shared_ptr<SelftestGate> selftest_gate_;
};

} // namespace kma
