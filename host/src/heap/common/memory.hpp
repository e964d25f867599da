// A heap's memory, as a buffer or as SVM, behind one interface.
#pragma once

#include <cstdint>
#include <string>

#include "kma/device.hpp"
#include "kma/heap_options.hpp"

namespace kma {

class HeapMemory {
public:
    HeapMemory(const Device &device, std::uint64_t bytes, Storage storage);
    ~HeapMemory();

    /// Throws Error, with the device's name, if it has no SVM.
    static void require_svm(bool has_svm, const std::string &device);

    HeapMemory(const HeapMemory &) = delete;
    HeapMemory &operator=(const HeapMemory &) = delete;

    std::uint64_t bytes() const noexcept { return bytes_; }
    const cl::Buffer &buffer() const noexcept { return buffer_; } ///< null for SVM
    void *svm() const noexcept { return svm_; }                   ///< null for a buffer

    void set_arg(cl::Kernel &kernel, cl_uint index) const;

    /// Copies a range to the host, and waits for it.
    void read(const cl::CommandQueue &queue, std::uint64_t offset, std::uint64_t bytes,
              void *to) const;

    /// Copies a range from the host, and waits for it.
    void write(const cl::CommandQueue &queue, std::uint64_t offset, std::uint64_t bytes,
               const void *from) const;

    /// Enqueues a copy of a range to the same offset in `to`, memory of the same kind.
    void copy(const cl::CommandQueue &queue, std::uint64_t offset, std::uint64_t bytes,
              const HeapMemory &to) const;

    /// Maps a range for reading and writing, and waits for it.
    void *map(const cl::CommandQueue &queue, std::uint64_t offset, std::uint64_t bytes) const;
    void unmap(const cl::CommandQueue &queue, void *mapped) const;

private:
    cl::Context context_;
    std::uint64_t bytes_;
    cl::Buffer buffer_;
    void *svm_ = nullptr;
};

} // namespace kma
