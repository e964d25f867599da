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

/// A device, its context, and the in-order queue that kma's own work goes through. Copies share all
/// three, the cache of built programs, and what the selftest found. Thread-safe as OpenCL is.
///
/// The first Heap or IndexedQueue on a Device or its copies runs the selftest (kma/selftest.hpp),
/// once for all of them. If the device fails, this one and all later ones throw Error with the
/// check that failed. The environment variable KMA_SELFTEST=off leaves it out.
class Device {
public:
    /// Selects one of the devices that list() names, with a context and queue of its own.
    ///
    /// `wanted` is "SUBSTRING" or "SUBSTRING:n": of the devices whose platform or device name
    /// contains SUBSTRING, case ignored, the n-th counted from 0 (default 0). An empty `wanted`
    /// stands for the environment variable KMA_DEVICE, and if that is empty too, for the first GPU,
    /// or else the first device.
    ///
    /// Throws Error if nothing matches (the message lists what there is) or there is no device at
    /// all. Both messages name what left_out() has.
    static Device select(std::string_view wanted = {});

    /// All devices that kma can run on, platform by platform. Empty if there are none.
    static std::vector<cl::Device> list();

    /// The same with those that kma cannot run on, but for those whose driver answers with an
    /// error.
    static std::vector<cl::Device> list_all();

    /// What list_all() leaves out, each with the reason, such as "Some platform: it has no device".
    static std::vector<std::string> left_out();

    /// What keeps a device from running kma, such as "it has no OpenCL C compiler"; empty if
    /// nothing does.
    static std::string obstacle(const cl::Device &device);

    /// Uses the caller's queue, its context and its device. Throws Error if the device cannot run
    /// kma.
    explicit Device(cl::CommandQueue queue);

    /// The device's context, for your own buffers.
    const cl::Context &context() const noexcept { return context_; }
    /// OpenCL's own object.
    const cl::Device &device() const noexcept { return device_; }
    /// The in-order queue that all of kma's work goes through; use it for your kernels on heaps.
    const cl::CommandQueue &queue() const noexcept { return queue_; }
    /// The programs built so far; for kma::Program.
    ProgramCache &cache() const noexcept { return *cache_; }
    /// Whether the selftest has run and passed; for heaps and queues.
    SelftestGate &selftest_gate() const noexcept { return *selftest_gate_; }

    /// "PLATFORM / DEVICE"; what `wanted` of select() is looked for in.
    std::string name() const;

    /// The option that makes the compiler offer most of what kma can use, such as "-cl-std=CL3.0".
    /// The environment variable KMA_CL_STD (such as CL1.2) overrides it.
    std::string language_option() const;

    /// Whether the device announces an extension, such as "cl_khr_int64_base_atomics".
    bool has_extension(std::string_view name) const;

    /// Options that tell the device code what its compiler does not: on NVIDIA " -DKMA_NV_ARCH=90"
    /// for compute capability 9.0, on CPUs " -DKMA_IS_CPU=1"; empty elsewhere.
    std::string target_options() const;

    /// Bytes that the driver promises for one buffer. Some serve larger ones: NVIDIA's up to the
    /// device's memory.
    std::uint64_t max_buffer_bytes() const;

    /// Whether coarse-grained shared virtual memory exists.
    bool has_svm() const;

private:
    cl::Context context_;
    cl::Device device_;
    cl::CommandQueue queue_;
    std::shared_ptr<ProgramCache> cache_;
    std::shared_ptr<SelftestGate> selftest_gate_;
};

} // namespace kma
