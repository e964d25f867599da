// The handle that containers share.
#include "kma/heap_resident.hpp"

#include "containers/container_kernels.hpp"
#include "heap/common/driver.hpp"
#include "kma/error.hpp"

namespace kma {

HeapResident::HeapResident(const Heap &heap, const std::string &name, const std::string &file,
                           Ref ref)
    : heap_(heap.driver_), program_(heap.program({{name, "#include \"kma/" + file + "\"\n"}})),
      ref_(ref)
{
}

Heap HeapResident::heap() const
{
    if (std::shared_ptr<HeapDriver> heap = heap_.lock())
        return Heap(std::move(heap));
    throw Error("the heap of this container has ended; keep the Heap for as long as its containers "
                "are used");
}

cl::Kernel HeapResident::kernel(const char *name) const
{
    cl::Kernel made = program_.kernel(name);
    heap().set_arg(made, 0);
    if (ref_ != 0)
        made.setArg(1, ref_);
    return made;
}

void HeapResident::run(const cl::Kernel &kernel, std::size_t work_items) const
{
    container_kernels::run(heap().device(), kernel, work_items);
}

cl::Buffer HeapResident::output(std::size_t bytes) const
{
    return cl::Buffer(heap().device().context(), CL_MEM_READ_WRITE, bytes);
}

void HeapResident::fetch(const cl::Buffer &buffer, void *to, std::size_t bytes) const
{
    heap().device().queue().enqueueReadBuffer(buffer, CL_TRUE, 0, bytes, to);
}

bool HeapResident::adopt(const cl::Buffer &made)
{
    ref_ = result<Ref>(made);
    return ref_ != 0;
}

} // namespace kma
