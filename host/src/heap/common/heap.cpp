// The public class Heap, which forwards to the kind's driver.
#include "kma/heap.hpp"

#include "heap/common/driver.hpp"
#include "heap/common/file.hpp"
#include "heap/common/memory.hpp"
#include "kma/error.hpp"
#include "device/mapped_range.hpp"
#include "support/say.hpp"

namespace kma {
namespace {

// The name of the parameter's type; empty if there is no such parameter, or the program was built
// without -cl-kernel-arg-info.
std::string parameter_type(const cl::Kernel &kernel, cl_uint index)
{
    try {
        return kernel.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(index);
    } catch (const cl::Error &) {
        return {};
    }
}

// The KMA_DEBUG that a kernel was built with, from the name of its parameter's type; -1 if that is
// no heap of this kind.
int debug_of(const std::string &type, HeapKind kind)
{
    const std::string name = say("kma_", name_of(kind));
    for (int debug = 0; debug <= 3; debug++)
        if (const std::string flavour = debug == 0 ? name : say(name, "_debug", debug);
            type == flavour || type.starts_with(flavour + "*") || type.starts_with(flavour + " *"))
            return debug;
    return -1;
}

// Throws Error if the kernel is for another kind or KMA_DEBUG: it would misread this heap's
// metadata.
void refuse_other_kind(const cl::Kernel &kernel, cl_uint index, const HeapOptions &options)
{
    const HeapKind kind = options.kind;
    const std::string type = parameter_type(kernel, index);
    if (const int debug = debug_of(type, kind); debug >= 0 && debug != options.debug)
        throw Error(say("kernel \"", kernel.getInfo<CL_KERNEL_FUNCTION_NAME>(),
                        "\" was built with KMA_DEBUG ", debug, ", and this heap has ",
                        options.debug,
                        ": build its program by Heap::program"));
    for (const HeapKind other : heap_kinds)
        if (other != kind && type.starts_with(say("kma_", name_of(other))))
            throw Error(say("argument number ", index, " of kernel \"",
                            kernel.getInfo<CL_KERNEL_FUNCTION_NAME>(), "\" is a ", name_of(other),
                            " heap, and this heap's kind is ", name_of(kind),
                            ": build its program by Heap::program"));
}

// Whether the parameter is a global pointer; true if the compiler does not report it. Drivers may
// accept a heap for other parameters.
bool takes_heaps(const cl::Kernel &kernel, cl_uint index)
{
    const std::string type = parameter_type(kernel, index);
    if (!type.empty() && type.find('*') == std::string::npos)
        return false;
    // unchanged if not reported
    cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_GLOBAL;
    clGetKernelArgInfo(kernel(), index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space,
                       nullptr);
    return space == CL_KERNEL_ARG_ADDRESS_GLOBAL;
}

// Throws Error if the kernel's program was not built for the heap's device, one of several in the
// context.
void refuse_other_device(const cl::Kernel &kernel, const Device &device)
{
    cl_build_status status = CL_BUILD_NONE;
    try {
        status = kernel.getInfo<CL_KERNEL_PROGRAM>().getBuildInfo<CL_PROGRAM_BUILD_STATUS>(
            device.device());
    } catch (const cl::Error &error) {
        if (error.err() != CL_INVALID_DEVICE)
            throw;
    }
    if (status != CL_BUILD_SUCCESS)
        throw Error(say("kernel \"", kernel.getInfo<CL_KERNEL_FUNCTION_NAME>(),
                        "\" is not built for ", device.name(),
                        ", where the heap is; build its program with the heap's Device"));
}

} // namespace

Heap::Heap(const Device &device, std::uint64_t bytes, const HeapOptions &options)
    : driver_(make_heap(device, bytes, options))
{
}

Heap::Heap(std::shared_ptr<HeapDriver> driver) : driver_(std::move(driver)) {}
Heap::Heap(Heap &&) noexcept = default;
Heap &Heap::operator=(Heap &&) noexcept = default;
Heap::~Heap() = default;

HeapDriver &Heap::driver() const
{
    if (!driver_)
        throw Error("this Heap object has no heap: it was moved to another one; use that");
    return *driver_;
}

const Device &Heap::device() const
{
    return driver().device();
}

Program Heap::program(const std::vector<Source> &units, ProgramOptions options) const
{
    options.heap = this->options().kind;
    options.debug = this->options().debug;
    options.options = say(this->options().build_options, " ", options.options);
    return Program(device(), units, options);
}

std::uint64_t Heap::bytes_for(const HeapOptions &options, std::uint64_t payload)
{
    return entry_of(options).bytes_for_payload(options, payload);
}

std::uint64_t Heap::bytes_for(HeapKind kind, std::uint64_t payload)
{
    return bytes_for(HeapOptions{.kind = kind}, payload);
}

std::uint64_t Heap::bytes_for(const HeapOptions &options, const std::vector<BlockDemand> &blocks)
{
    return entry_of(options).bytes_for_blocks(options, blocks);
}

void Heap::save(const std::filesystem::path &path) const
{
    save_heap(driver(), path);
}

Heap Heap::load(const Device &device, const std::filesystem::path &path, Storage storage,
                const std::string &build_options)
{
    return Heap(load_heap(device, path, storage, build_options));
}

void Heap::set_arg(cl::Kernel &kernel, cl_uint index) const
{
    refuse_other_kind(kernel, index, options());
    if (kernel.getInfo<CL_KERNEL_CONTEXT>() != driver().device().context())
        throw Error(say("kernel \"", kernel.getInfo<CL_KERNEL_FUNCTION_NAME>(),
                        "\" and the heap have different OpenCL contexts; make heap and program "
                        "with the same Device, or copies of it"));
    refuse_other_device(kernel, driver().device());
    const auto no_heap_here = [&] {
        throw Error(say("argument number ", index, " of kernel \"",
                        kernel.getInfo<CL_KERNEL_FUNCTION_NAME>(),
                        "\" cannot take a heap: declare it as global kma_heap *"));
    };
    if (!takes_heaps(kernel, index))
        no_heap_here();
    try {
        driver().memory().set_arg(kernel, index);
    } catch (const cl::Error &error) {
        if (error.err() == CL_INVALID_ARG_INDEX)
            throw Error(say("kernel \"", kernel.getInfo<CL_KERNEL_FUNCTION_NAME>(),
                            "\" has no argument number ", index, ": it has ",
                            kernel.getInfo<CL_KERNEL_NUM_ARGS>(), ", counted from 0"));
        if (error.err() == CL_INVALID_ARG_SIZE || error.err() == CL_INVALID_ARG_VALUE ||
            error.err() == CL_INVALID_MEM_OBJECT || error.err() == CL_INVALID_SAMPLER)
            no_heap_here();
        throw;
    }
}

const cl::Buffer &Heap::buffer() const
{
    if (options().storage != Storage::buffer)
        throw Error(
            "this heap lives in shared virtual memory and has no buffer; use svm() or set_arg()");
    return driver().memory().buffer();
}

void *Heap::svm() const
{
    if (options().storage != Storage::svm)
        throw Error(
            "this heap lives in a buffer and has no shared address; create it with Storage::svm");
    return driver().memory().svm();
}

const HeapOptions &Heap::options() const
{
    return driver().options();
}

HeapStats Heap::stats() const
{
    return driver().stats();
}

std::vector<std::string> Heap::check() const
{
    return driver().check();
}

LeakReport Heap::leaks(std::size_t most) const
{
    return driver().leaks(most);
}

std::vector<ErrorRecord> Heap::errors() const
{
    return driver().errors();
}

void Heap::grow(std::uint64_t bytes)
{
    driver().grow(bytes);
}

std::uint64_t Heap::bytes() const
{
    return driver().memory().bytes();
}

std::uint64_t Heap::error_count(ErrorCode code) const
{
    return driver().error_count(code);
}

void Heap::reset()
{
    driver().reset();
}

void Heap::clear_errors()
{
    driver().clear_errors();
}

Snapshot Heap::snapshot() const
{
    driver().require_sound();
    std::vector<Snapshot::Extent> extents;
    for (const ByteRange &range : driver().used()) {
        extents.push_back({range.offset, std::vector<std::byte>(range.bytes)});
        driver().memory().read(driver().device().queue(), range.offset, range.bytes,
                               extents.back().bytes.data());
    }
    return Snapshot(std::move(extents));
}

MappedRange Heap::map(Ref ref, std::uint64_t bytes) const
{
    const HeapMemory &memory = driver().memory();
    const std::uint64_t offset = ref * ref_unit;
    if (bytes == 0 || offset < driver().begin() || offset > memory.bytes() ||
        bytes > memory.bytes() - offset)
        throw Error(say("ref ", ref, " with ", bytes,
                        " bytes is not within the heap's blocks, bytes ", driver().begin(), " to ",
                        memory.bytes(), "; map what kma_ref_of returned, 1 byte of it at least"));
    const cl::CommandQueue &queue = driver().device().queue();
    void *mapped = memory.map(queue, offset, bytes);
    return MappedRange(
        {static_cast<std::byte *>(mapped), bytes},
        std::unique_ptr<MappedRange::Unmap>(new MappedRange::Unmap{memory, queue, mapped}));
}

} // namespace kma
