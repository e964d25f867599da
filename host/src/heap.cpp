// The heap's facade: what the kinds have in common in their users' eyes. The kinds themselves are drivers.
#include "kma/heap.hpp"

#include "heap_driver.hpp"
#include "heap_file.hpp"
#include "heap_memory.hpp"
#include "kma/error.hpp"
#include "mapped_range.hpp"
#include "say.hpp"

namespace kma {
namespace {

// The name of the parameter's type; empty if there is none, or the program was built without -cl-kernel-arg-info.
std::string parameter_type(const cl::Kernel &kernel, cl_uint index)
{
    try {
        return kernel.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(index);
    } catch (const cl::Error &) {
        return {};
    }
}

// A kernel for another kind of heap would take this heap's metadata for what they are not.
void refuse_other_kind(const cl::Kernel &kernel, cl_uint index, HeapKind kind)
{
    const std::string type = parameter_type(kernel, index);
    for (const HeapKind other : heap_kinds)
        if (other != kind && type.starts_with(say("kma_", name_of(other))))
            throw Error(say("argument number ", index, " of kernel \"", kernel.getInfo<CL_KERNEL_FUNCTION_NAME>(),
                            "\" is a ", name_of(other), " heap, and this heap's kind is ", name_of(kind),
                            ": give ProgramOptions::heap and HeapOptions::kind the same value"));
}

} // namespace

Heap::Heap(const Device &device, std::uint64_t bytes, const HeapOptions &options)
    : driver_(make_heap(device, bytes, options))
{
}

Heap::Heap(std::unique_ptr<HeapDriver> driver) : driver_(std::move(driver)) {}
Heap::Heap(Heap &&) noexcept = default;
Heap &Heap::operator=(Heap &&) noexcept = default;
Heap::~Heap() = default;

std::uint64_t Heap::bytes_for(const HeapOptions &options, std::uint64_t payload)
{
    return entry_of(options.kind).bytes_for_payload(options, payload);
}

std::uint64_t Heap::bytes_for(HeapKind kind, std::uint64_t payload)
{
    return bytes_for(HeapOptions{.kind = kind}, payload);
}

std::uint64_t Heap::bytes_for(const HeapOptions &options, const std::vector<BlockDemand> &blocks)
{
    return entry_of(options.kind).bytes_for_blocks(options, blocks);
}

void Heap::save(const std::filesystem::path &path) const
{
    save_heap(*driver_, path);
}

Heap Heap::load(const Device &device, const std::filesystem::path &path, Storage storage,
                const std::string &build_options)
{
    return Heap(load_heap(device, path, storage, build_options));
}

void Heap::set_arg(cl::Kernel &kernel, cl_uint index) const
{
    refuse_other_kind(kernel, index, options().kind);
    if (kernel.getInfo<CL_KERNEL_CONTEXT>() != driver_->device().context())
        throw Error(
            say("kernel \"", kernel.getInfo<CL_KERNEL_FUNCTION_NAME>(),
                "\" and the heap have different OpenCL contexts; make heap and program with the same Device, or "
                "copies of it"));
    try {
        driver_->memory().set_arg(kernel, index);
    } catch (const cl::Error &error) {
        const std::string name = kernel.getInfo<CL_KERNEL_FUNCTION_NAME>();
        if (error.err() == CL_INVALID_ARG_INDEX)
            throw Error(say("kernel \"", name, "\" has no argument number ", index, ": it has ",
                            kernel.getInfo<CL_KERNEL_NUM_ARGS>(), ", counted from 0"));
        if (error.err() == CL_INVALID_ARG_SIZE || error.err() == CL_INVALID_ARG_VALUE ||
            error.err() == CL_INVALID_MEM_OBJECT)
            throw Error(say("argument number ", index, " of kernel \"", name,
                            "\" cannot take a heap: declare it as global kma_heap *"));
        throw;
    }
}

const cl::Buffer &Heap::buffer() const
{
    if (options().storage != Storage::buffer)
        throw Error("this heap lives in shared virtual memory and has no buffer; use svm() or set_arg()");
    return driver_->memory().buffer();
}

void *Heap::svm() const
{
    if (options().storage != Storage::svm)
        throw Error("this heap lives in a buffer and has no shared address; create it with Storage::svm");
    return driver_->memory().svm();
}

const HeapOptions &Heap::options() const noexcept
{
    return driver_->options();
}

HeapStats Heap::stats() const
{
    return driver_->stats();
}

std::vector<std::string> Heap::check() const
{
    return driver_->check();
}

LeakReport Heap::leaks(std::size_t most) const
{
    return driver_->leaks(most);
}

std::vector<ErrorRecord> Heap::errors() const
{
    return driver_->errors();
}

void Heap::reset()
{
    driver_->reset();
}

void Heap::clear_errors()
{
    driver_->clear_errors();
}

Snapshot Heap::snapshot() const
{
    driver_->require_sound();
    std::vector<Snapshot::Extent> extents;
    for (const ByteRange &range : driver_->used()) {
        extents.push_back({range.offset, std::vector<std::byte>(range.bytes)});
        driver_->memory().read(driver_->device().queue(), range.offset, range.bytes, extents.back().bytes.data());
    }
    return Snapshot(std::move(extents));
}

MappedRange Heap::map(Ref ref, std::uint64_t bytes) const
{
    const HeapMemory &memory = driver_->memory();
    const std::uint64_t offset = ref * ref_unit;
    if (bytes == 0 || offset < driver_->begin() || offset > memory.bytes() || bytes > memory.bytes() - offset)
        throw Error(say("ref ", ref, " with ", bytes, " bytes is not within the heap's blocks, bytes ",
                        driver_->begin(), " to ", memory.bytes(),
                        "; map what kma_ref_of returned, 1 byte of it at least"));
    const cl::CommandQueue &queue = driver_->device().queue();
    void *mapped = memory.map(queue, offset, bytes);
    return MappedRange({static_cast<std::byte *>(mapped), bytes},
                       std::make_unique<MappedRange::Unmap>(memory, queue, mapped));
}

} // namespace kma
