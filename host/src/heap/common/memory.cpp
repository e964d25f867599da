// Memory as a cl_mem buffer or as SVM.
#include "heap/common/memory.hpp"

#include <cstring>

#include "kma/error.hpp"

namespace kma {
namespace {

void check(cl_int status, const char *call)
{
    if (status != CL_SUCCESS)
        throw cl::Error(status, call);
}

} // namespace

void HeapMemory::require_svm(bool has_svm, const std::string &device)
{
    if (!has_svm)
        throw Error(device + " has no coarse-grained shared virtual memory; use Storage::buffer");
}

HeapMemory::HeapMemory(const Device &device, std::uint64_t bytes, Storage storage)
    : context_(device.context()), bytes_(bytes)
{
    if (storage == Storage::buffer) {
        buffer_ = cl::Buffer(context_, CL_MEM_READ_WRITE, bytes);
        return;
    }
    require_svm(device.has_svm(), device.name());
    // 0: aligned for the largest type, 128 bytes
    svm_ = clSVMAlloc(context_(), CL_MEM_READ_WRITE, bytes, 0);
    if (!svm_)
        throw Error("there are no " + std::to_string(bytes) +
                    " bytes of shared virtual memory on " + device.name() +
                    "; make the heap smaller, or use Storage::buffer");
}

HeapMemory::~HeapMemory()
{
    if (svm_)
        clSVMFree(context_(), svm_);
}

void HeapMemory::set_arg(cl::Kernel &kernel, cl_uint index) const
{
    if (svm_)
        check(clSetKernelArgSVMPointer(kernel(), index, svm_), "clSetKernelArgSVMPointer");
    else
        check(kernel.setArg(index, buffer_), "clSetKernelArg");
}

void *HeapMemory::map(const cl::CommandQueue &queue, std::uint64_t offset,
                      std::uint64_t bytes) const
{
    if (!svm_)
        return queue.enqueueMapBuffer(buffer_, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, offset, bytes);
    void *start = static_cast<std::byte *>(svm_) + offset;
    check(clEnqueueSVMMap(queue(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, start, bytes, 0, nullptr,
                          nullptr),
          "clEnqueueSVMMap");
    return start;
}

void HeapMemory::unmap(const cl::CommandQueue &queue, void *mapped) const
{
    if (svm_)
        check(clEnqueueSVMUnmap(queue(), mapped, 0, nullptr, nullptr), "clEnqueueSVMUnmap");
    else
        queue.enqueueUnmapMemObject(buffer_, mapped);
    queue.finish();
}

void HeapMemory::read(const cl::CommandQueue &queue, std::uint64_t offset, std::uint64_t bytes,
                      void *to) const
{
    if (!svm_) {
        queue.enqueueReadBuffer(buffer_, CL_TRUE, offset, bytes, to);
        return;
    }
    void *mapped = map(queue, offset, bytes);
    std::memcpy(to, mapped, bytes);
    unmap(queue, mapped);
}

void HeapMemory::write(const cl::CommandQueue &queue, std::uint64_t offset, std::uint64_t bytes,
                       const void *from) const
{
    if (!svm_) {
        queue.enqueueWriteBuffer(buffer_, CL_TRUE, offset, bytes, from);
        return;
    }
    void *mapped = map(queue, offset, bytes);
    std::memcpy(mapped, from, bytes);
    unmap(queue, mapped);
}

void HeapMemory::copy(const cl::CommandQueue &queue, std::uint64_t offset, std::uint64_t bytes,
                      const HeapMemory &to) const
{
    if (!svm_) {
        queue.enqueueCopyBuffer(buffer_, to.buffer_, offset, offset, bytes);
        return;
    }
    const auto *from = static_cast<const std::byte *>(svm_) + offset;
    check(clEnqueueSVMMemcpy(queue(), CL_FALSE, static_cast<std::byte *>(to.svm_) + offset, from,
                             bytes, 0, nullptr, nullptr),
          "clEnqueueSVMMemcpy");
}

} // namespace kma
