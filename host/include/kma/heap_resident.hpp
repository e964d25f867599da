// The base class of the containers, which live in a heap and are identified by a ref.
#pragma once

#include <memory>

#include "kma/heap.hpp"
#include "kma/program.hpp"

namespace kma {

/// A handle to a container in a heap: the container's ref, its kernels, and the heap. Copies refer
/// to the same container. Destroying a handle frees nothing: the container's destroy() does, as do
/// the heap's reset and end. The heap may be moved and may grow meanwhile. Calls wait for the
/// device's queue; no kernel may use the container meanwhile. Each throws Error if the heap has
/// ended.
class HeapResident {
public:
    /// What kernels take as `kma_ref`.
    Ref ref() const noexcept { return ref_; }

    /// Makes the container argument number `index` of `kernel`, a kma_ref.
    void set_arg(cl::Kernel &kernel, cl_uint index) const { kernel.setArg(index, ref_); }

protected:
    /// `file` of cl/kma has the container's kernels; `name` appears in the compiler's log.
    HeapResident(const Heap &heap, const std::string &name, const std::string &file, Ref ref = 0);

    /// The heap as an object of its own. Throws Error if it has ended.
    Heap heap() const;

    /// A kernel whose first argument is the heap and whose second is the ref, once there is one.
    cl::Kernel kernel(const char *name) const;

    /// Runs a kernel whose arguments are set, and waits for it.
    void run(const cl::Kernel &kernel, std::size_t work_items = 1) const;

    /// A buffer for a kernel's result.
    cl::Buffer output(std::size_t bytes) const;

    /// Reads what a kernel wrote to the start of a buffer.
    template <class T> T result(const cl::Buffer &buffer) const
    {
        T value{};
        fetch(buffer, &value, sizeof(value));
        return value;
    }
    /// Copies `bytes` from the start of a buffer.
    void fetch(const cl::Buffer &buffer, void *to, std::size_t bytes) const;

    /// Takes over the ref that a making kernel left in a buffer; whether that is one.
    bool adopt(const cl::Buffer &made);

private:
    std::weak_ptr<HeapDriver> heap_;
    Program program_;
    Ref ref_;
};

} // namespace kma
