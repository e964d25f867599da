// Heaps: creation, reset, and what the host reads of them.
#include "kma/heap.hpp"

#include <algorithm>
#include <bit>

#include "heap_memory.hpp"
#include "kma/error.hpp"
#include "kma/program.hpp"
#include "layout.hpp"

namespace kma {
namespace {

// Enough to fill the error log in one step each.
constexpr std::size_t init_work_items = 64;

constexpr std::uint64_t metadata_bytes = (sizeof(layout::kma_bump) + KMA_UNIT - 1) / KMA_UNIT * KMA_UNIT;
constexpr std::uint64_t max_bytes = (std::uint64_t{1} << 36) - 2 * KMA_UNIT;

void run(const Device &device, const Program &program, const std::string &name, const auto &set_args,
         std::size_t init_work_items = 64)
{
    cl::Kernel kernel = program.kernel(name);
    set_args(kernel);
    device.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(init_work_items), cl::NDRange(64));
    device.queue().finish();
}

// The kernels of a heap kind, in its flavour.
Program kernels(const Device &device, const HeapOptions &options)
{
    ProgramOptions program_options;
    program_options.debug = options.debug;
    program_options.options = options.build_options;
    return Program(device, {{"(kernels of the heap)", std::string("#include \"kma/kernels/") + name_of(options.kind) + "_kernels.cl\"\n"}}, program_options);
}

void check_size(const Device &device, std::uint64_t bytes, const HeapOptions &options)
{
    const std::string asked = "a heap of " + std::to_string(bytes) + " bytes";
    const std::uint64_t least = Heap::bytes_for(options.kind, KMA_UNIT * (options.debug ? 2 : 1));
    if (bytes < least)
        throw Error(asked + " is too small: its metadata and one block need " + std::to_string(least));
    if (bytes > max_bytes)
        throw Error(asked + " is too large: references reach " + std::to_string(max_bytes) + " bytes");
    if (bytes > device.max_buffer_bytes())
        throw Error(asked + " is too large for " + device.name() + ": its largest buffer is " +
                    std::to_string(device.max_buffer_bytes()));
}

layout::kma_bump read_metadata(const Device &device, const auto &memory)
{
    layout::kma_bump heap;
    memory.read(device.queue(), 0, sizeof(heap), &heap);
    const auto &header = heap.header;
    if (header.magic != KMA_HEAP_MAGIC || header.layout != KMA_HEAP_LAYOUT || header.bytes != memory.bytes())
        throw Error("the heap's metadata are damaged: a kernel wrote outside its blocks, or the heap was never initialised");
    return heap;
}

} // namespace

struct MappedRange::Unmap {
    // `memory` outlives the range by contract: a Heap must not be destroyed while one of its ranges is mapped.
    const HeapMemory &memory;
    cl::CommandQueue queue;
    void *mapped;

    ~Unmap()
    {
        try {
            memory.unmap(queue, mapped);
        } catch (const cl::Error &) {
            // A destructor must not throw, and there is nothing left that the range could do.
        }
    }
};

MappedRange::MappedRange(std::span<std::byte> bytes, std::unique_ptr<Unmap> unmap)
    : bytes_(bytes), unmap_(std::move(unmap))
{
}
MappedRange::MappedRange(MappedRange &&) noexcept = default;
MappedRange &MappedRange::operator=(MappedRange &&) noexcept = default;
MappedRange::~MappedRange() = default;

Heap::Heap(const Device &device, std::uint64_t bytes, const HeapOptions &options) : device_(device), options_(options)
{
    check_size(device, bytes, options);
    memory_ = std::make_unique<HeapMemory>(device, bytes, options.storage);
    if (!options_.superblock_bytes)
        options_.superblock_bytes = std::bit_floor(std::clamp<std::uint64_t>(bytes / 128, 4096, 2 << 20));
    const std::string name = std::string("kma_") + name_of(options_.kind) + "_init_kernel";
    run(device_, kernels(device_, options_), name, [&](cl::Kernel &kernel) {
        set_arg(kernel, 0);
        kernel.setArg(1, static_cast<cl_ulong>(bytes));
        if (options_.kind == HeapKind::superblock)
            kernel.setArg(2, static_cast<cl_uint>(std::bit_width(options_.superblock_bytes / 16) - 1));
    }, options_.kind == HeapKind::superblock ? 4096 : 64);
}

Heap::Heap(Heap &&) noexcept = default;
Heap &Heap::operator=(Heap &&) noexcept = default;
Heap::~Heap() = default;

std::uint64_t Heap::bytes_for(HeapKind, std::uint64_t payload)
{
    return metadata_bytes + (payload + KMA_UNIT - 1) / KMA_UNIT * KMA_UNIT;
}

void Heap::set_arg(cl::Kernel &kernel, cl_uint index) const
{
    try {
        memory_->set_arg(kernel, index);
    } catch (const cl::Error &error) {
        const std::string name = kernel.getInfo<CL_KERNEL_FUNCTION_NAME>();
        if (error.err() == CL_INVALID_ARG_INDEX)
            throw Error("kernel \"" + name + "\" has no argument number " + std::to_string(index) + " (counted from 0)");
        if (error.err() == CL_INVALID_ARG_SIZE || error.err() == CL_INVALID_ARG_VALUE ||
            error.err() == CL_INVALID_MEM_OBJECT)
            throw Error("argument number " + std::to_string(index) + " of kernel \"" + name +
                        "\" cannot take a heap: declare it as global kma_heap *");
        throw;
    }
}

const cl::Buffer &Heap::buffer() const
{
    if (options_.storage != Storage::buffer)
        throw Error("this heap lives in shared virtual memory and has no buffer; use svm() or set_arg()");
    return memory_->buffer();
}

void *Heap::svm() const
{
    if (options_.storage != Storage::svm)
        throw Error("this heap lives in a buffer and has no shared address; create it with Storage::svm");
    return memory_->svm();
}

HeapStats Heap::stats() const
{
    const layout::kma_bump heap = read_metadata(device_, *memory_);
    HeapStats stats;
    stats.kind = static_cast<HeapKind>(heap.header.kind);
    stats.debug = static_cast<int>(heap.header.debug);
    cl::Buffer out(device_.context(), CL_MEM_READ_WRITE, sizeof(layout::kma_heap_stats));
    const std::string name = std::string("kma_") + name_of(options_.kind) + "_stats_kernel";
    run(device_, kernels(device_, options_), name, [&](cl::Kernel &kernel) { set_arg(kernel, 0); kernel.setArg(1, out); }, 64);
    layout::kma_heap_stats s;
    device_.queue().enqueueReadBuffer(out, CL_TRUE, 0, sizeof s, &s);
    stats.bytes = heap.header.bytes;
    stats.capacity = s.capacity;
    stats.used = s.used;
    stats.blocks = s.blocks;
    for (std::size_t code = 0; code < error_codes; code++)
        stats.errors[code] = heap.header.errors.count[code].word;
    return stats;
}

std::vector<ErrorRecord> Heap::errors() const
{
    const layout::kma_bump heap = read_metadata(device_, *memory_);
    std::vector<ErrorRecord> records;
    for (std::uint32_t i = 0; i < KMA_ERROR_CODES * KMA_ERROR_KEPT; i++) {
        const layout::kma_error_record &record = heap.header.errors.first[i];
        if (record.written)
            records.push_back({static_cast<ErrorCode>(i / KMA_ERROR_KEPT), record.work_item, record.size, record.ref});
    }
    return records;
}

void Heap::reset()
{
    const std::string name = std::string("kma_") + name_of(options_.kind) + "_reset_kernel";
    run(device_, kernels(device_, options_), name, [&](cl::Kernel &kernel) { set_arg(kernel, 0); }, options_.kind == HeapKind::superblock ? 4096 : 64);
}

void Heap::clear_errors()
{
    run(device_, kernels(device_, options_), std::string("kma_") + name_of(options_.kind) + "_clear_errors_kernel", [&](cl::Kernel &kernel) { set_arg(kernel, 0); });
}

Snapshot Heap::snapshot() const
{
    const layout::kma_bump heap = read_metadata(device_, *memory_);
    const std::uint64_t end = options_.kind == HeapKind::bump ? heap.head.word : heap.header.limit;
    std::vector<std::byte> bytes(end * KMA_UNIT);
    memory_->read(device_.queue(), 0, bytes.size(), bytes.data());
    return Snapshot(std::move(bytes), std::uint64_t{heap.header.begin} * KMA_UNIT);
}

MappedRange Heap::map(Ref ref, std::uint64_t bytes) const
{
    const std::uint64_t offset = ref * ref_unit;
    if (ref == 0 || bytes == 0 || offset < metadata_bytes || offset > memory_->bytes() || bytes > memory_->bytes() - offset)
        throw Error("ref " + std::to_string(ref) + " with " + std::to_string(bytes) +
                    " bytes is not within the heap's blocks; map what kma_ref_of returned");
    void *mapped = memory_->map(device_.queue(), offset, bytes);
    return MappedRange({static_cast<std::byte *>(mapped), bytes},
                       std::make_unique<MappedRange::Unmap>(*memory_, device_.queue(), mapped));
}

} // namespace kma
