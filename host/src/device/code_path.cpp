// Runs a kernel that reports what cl/kma/platform/target.cl selected for the device.
#include "kma/code_path.hpp"

#include <array>

namespace kma {

CodePath code_path(const Device &device, const ProgramOptions &options)
{
    const Program program(
        device, {{"(code path)", "#include \"kma/platform/code_path_kernels.cl\"\n"}}, options);
    std::array<cl_uint, 4> told{};
    const cl::Buffer out(device.context(), CL_MEM_WRITE_ONLY, sizeof told);
    cl::Kernel kernel = program.kernel("kma_code_path_kernel");
    kernel.setArg(0, out);
    device.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64), cl::NDRange(64));
    device.queue().enqueueReadBuffer(out, CL_TRUE, 0, sizeof told, told.data());
    return {static_cast<MemoryPath>(told[0]), static_cast<LanesPath>(told[1]), told[2] != 0,
            told[3]};
}

const char *describe(MemoryPath path) noexcept
{
    switch (path) {
    case MemoryPath::cl12:
        return "OpenCL C 1.2: volatile words and fences";
    case MemoryPath::c11:
        return "C11 atomics at device scope";
    case MemoryPath::nv:
        return "PTX with orders at gpu scope";
    }
    return "unknown";
}

const char *describe(LanesPath path) noexcept
{
    switch (path) {
    case LanesPath::single:
        return "each work-item for itself";
    case LanesPath::subgroup:
        return "OpenCL sub-groups";
    case LanesPath::nv:
        return "PTX warps";
    case LanesPath::amdgcn:
        return "AMD wavefronts";
    }
    return "unknown";
}

} // namespace kma
