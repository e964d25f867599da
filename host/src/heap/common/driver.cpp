// Shared code of all kinds' drivers: the list of kinds, kernel launches, headers.
#include "heap/common/driver.hpp"

#include <string_view>

#include "heap/common/debug_flavour.hpp"
#include "kma/error.hpp"
#include "device/internals.hpp"
#include "heap/common/error_log.hpp"

namespace kma {
namespace {

// Refused requests in the error log, as a hint: a write through an unchecked NULL may reach the
// heap's first bytes, and leaves the error log after them intact.
std::string refusals_in(const layout::kma_error_log &log)
{
    const std::uint32_t count = log.count[KMA_ERROR_OUT_OF_MEMORY].word;
    const bool is_whole =
        count != 0 && log.first[KMA_ERROR_OUT_OF_MEMORY * KMA_ERROR_KEPT].written == 1;
    return is_whole ? say(" (its error log has out of memory, ", count, " times)") : "";
}

// The index of the record in the error log.
std::size_t number_of(ErrorCode code)
{
    return static_cast<std::size_t>(code);
}

const HeapKindEntry *const kinds[] = {&bump_heap_kind, &superblock_heap_kind, &scatter_heap_kind,
                                      &slab_heap_kind};

// Work-items of a group of heap kernels.
constexpr std::size_t work_group = 64;

constexpr std::uint64_t refs_reach = (std::uint64_t{1} << 36) - 2 * KMA_UNIT;

// Above this number of ranges, one copy of all memory is faster.
constexpr std::size_t most_copies = 256;

} // namespace

static_assert(static_cast<unsigned>(HeapKind::bump) == KMA_KIND_BUMP);
static_assert(static_cast<unsigned>(HeapKind::superblock) == KMA_KIND_SUPERBLOCK);
static_assert(static_cast<unsigned>(HeapKind::scatter) == KMA_KIND_SCATTER);
static_assert(static_cast<unsigned>(HeapKind::slab) == KMA_KIND_SLAB);

void append(std::vector<ByteRange> &ranges, ByteRange range)
{
    if (range.bytes == 0)
        return;
    if (!ranges.empty() && ranges.back().offset + ranges.back().bytes == range.offset)
        ranges.back().bytes += range.bytes;
    else
        ranges.push_back(range);
}

const HeapKindEntry &entry_of(HeapKind kind)
{
    for (const HeapKindEntry *entry : kinds)
        if (entry->kind == kind)
            return *entry;
    throw Error(
        say("there is no heap kind number ", static_cast<std::uint32_t>(kind),
            "; use HeapKind::bump, HeapKind::superblock, HeapKind::scatter or HeapKind::slab"));
}

const HeapKindEntry &entry_of(const HeapOptions &options)
{
    check_debug("HeapOptions", options.debug);
    return entry_of(options.kind);
}

std::uint64_t largest_request(const HeapOptions &options) noexcept
{
    return options.kind == HeapKind::superblock ? options.superblock.bytes
           : options.kind == HeapKind::scatter  ? options.scatter.region_bytes
                                                : 0;
}

void check_largest(std::uint64_t bytes)
{
    if (bytes > refs_reach)
        throw Error(say("a heap of ", bytes, " bytes is too large: references reach ", refs_reach,
                        " bytes; take several heaps, or a smaller one"));
}

void check_growth(std::uint64_t bytes, std::uint64_t max_bytes)
{
    if (max_bytes != 0 && max_bytes < bytes)
        throw Error(say("HeapOptions::max_bytes = ", max_bytes, " is less than the ", bytes,
                        " bytes that the heap begins with: give the most that it may grow to, or 0 "
                        "if it need not grow"));
    if (max_bytes > refs_reach)
        throw Error(say("HeapOptions::max_bytes = ", max_bytes, " is too large: references reach ",
                        refs_reach, " bytes; give no more than that"));
}

void refuse_if_full(cl_int status, std::uint64_t bytes, std::uint64_t promised,
                    const std::string &device)
{
    if (status == CL_INVALID_BUFFER_SIZE)
        throw Error(say("a heap of ", bytes, " bytes is too large for ", device,
                        ": its driver refuses such a buffer, and promises ", promised,
                        " bytes in one; take several heaps, or a smaller one"));
    if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY)
        throw Error(say("there is no memory for a heap of ", bytes, " bytes on ", device,
                        "; make it smaller, or end what else uses that memory"));
}

std::unique_ptr<HeapDriver> make_heap(const Device &device, std::uint64_t bytes,
                                      const HeapOptions &options)
{
    try {
        std::unique_ptr<HeapDriver> heap = entry_of(options).make(device, bytes, options);
        heap->init(); // many drivers allocate the memory when a kernel first uses it
        return heap;
    } catch (const cl::Error &error) {
        refuse_if_full(error.err(), bytes, device.max_buffer_bytes(), device.name());
        throw;
    }
}

void HeapDriver::grow(std::uint64_t bytes)
{
    const std::uint64_t now = memory().bytes();
    if (bytes < now)
        throw Error(
            say("a heap of ", now, " bytes cannot be made one of ", bytes,
                ": heaps only grow; what Heap::stats() calls bytes is the least to ask for"));
    if (bytes == now)
        return;
    if (options().max_bytes == 0)
        throw Error(
            say("a heap of ", now, " bytes that does not grow cannot be made one of ", bytes,
                ": create it with HeapOptions::max_bytes, the most that it shall ever have"));
    if (bytes > options().max_bytes)
        throw Error(say("a heap of ", now, " bytes cannot be made one of ", bytes,
                        ": it was created with max_bytes = ", options().max_bytes,
                        "; ask for no more, or create it with a larger number"));
    require_sound();
    try {
        auto larger = std::make_unique<HeapMemory>(device(), bytes, options().storage);
        for (const ByteRange &range : moves_with_growth())
            memory().copy(device().queue(), range.offset, range.bytes, *larger);
        cl::Kernel kernel = this->kernel("grow");
        larger->set_arg(kernel, 0);
        kernel.setArg(1, static_cast<cl_ulong>(bytes));
        launch(kernel, 1);
        parts_.memory = std::move(larger);
    } catch (const cl::Error &error) {
        refuse_if_full(error.err(), bytes, device().max_buffer_bytes(), device().name());
        throw;
    }
    expected_.limit = grown(bytes);
}

std::vector<ByteRange> HeapDriver::moves_with_growth() const
{
    std::vector<ByteRange> ranges{{0, begin()}};
    for (const ByteRange &range : touched())
        append(ranges, range);
    if (ranges.size() > most_copies)
        ranges = {{0, memory().bytes()}};
    return ranges;
}

Program HeapDriver::build(const Device &device, const HeapOptions &options)
{
    DeviceInternals::selftest_gate(device).require_passed(device);
    ProgramOptions program_options;
    program_options.debug = options.debug;
    program_options.options = options.build_options;
    const std::string kernels =
        say("#include \"kma/heap/", name_of(options.kind), "/kernels.cl\"\n");
    return Program(device, {{"(kernels of the heap)", kernels}}, program_options);
}

cl::Kernel HeapDriver::kernel(const std::string &what) const
{
    cl::Kernel made =
        parts_.kernels.kernel(say("kma_", name_of(options().kind), "_", what, "_kernel"));
    memory().set_arg(made, 0);
    return made;
}

void HeapDriver::launch(const cl::Kernel &kernel, std::uint64_t work_items) const
{
    const std::uint64_t groups = (work_items + work_group - 1) / work_group;
    device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(groups * work_group),
                                          cl::NDRange(work_group));
    device().queue().finish();
}

layout::kma_heap_header HeapDriver::header() const
{
    layout::kma_heap_header header;
    memory().read(device().queue(), 0, sizeof header, &header);
    return header;
}

void HeapDriver::check_constants(Findings &findings) const
{
    const layout::kma_heap_header is = header();
    const auto expect = [&](const char *field, std::uint64_t value, std::uint64_t right) {
        if (value != right)
            findings.add("fields of the header", "the header's ", field, " is ", value,
                         ", should be ", right);
    };
    expect("magic number", is.magic, KMA_HEAP_MAGIC);
    expect("layout", is.layout, KMA_HEAP_LAYOUT);
    expect("kind", is.kind, static_cast<std::uint32_t>(options().kind));
    expect("debug", is.debug, static_cast<std::uint32_t>(options().debug));
    expect("size in bytes", is.bytes, memory().bytes());
    expect("largest size in bytes", is.max_bytes, max_bytes());
    expect("begin of the blocks, in units of 16 bytes,", is.begin, expected_.begin);
    expect("limit of the blocks, in units of 16 bytes,", is.limit, expected_.limit);
    expect("place of the guards' metadata, in units of 16 bytes,", is.guard, expected_.guard);
    const bool is_block = is.collector >= expected_.begin && is.collector < expected_.limit;
    expect("ref of a collector", is.collector, is_block ? is.collector : 0);
    if (depends_on_width())
        expect("atomic64", is.atomic64, expected_.atomic64);
}

// Each code has a record for each of its errors, up to the number of records kept.
void HeapDriver::check_structures(Findings &findings) const
{
    const layout::kma_heap_header is = header();
    for (std::uint32_t code = 0; code < KMA_ERROR_CODES; code++) {
        const std::uint32_t count = is.errors.count[code].word;
        const std::string_view what = explain(static_cast<ErrorCode>(code));
        for (std::uint32_t n = 0; n < KMA_ERROR_KEPT; n++) {
            const std::uint32_t written = is.errors.first[code * KMA_ERROR_KEPT + n].written;
            const std::uint32_t right = n < count ? 1 : 0;
            if (written != right)
                findings.add("marks in the error log", "the error log's mark for record ", n,
                             " of \"", what.substr(0, what.find(':')), "\" is ", written,
                             ", should be ", right, " after ", count, " such errors");
        }
    }
}

void HeapDriver::require_sound() const
{
    Findings findings;
    check_constants(findings);
    if (!findings.empty())
        throw Error(say("the heap's metadata are damaged: a kernel wrote through a NULL of "
                        "kma_malloc, or outside its blocks, or initialised the heap anew with "
                        "other options",
                        refusals_in(header().errors),
                        "; Heap::check() has all of it, such as: ", findings.first()));
}

void HeapDriver::check_metadata(Findings &findings) const
{
    check_constants(findings);
    if (findings.empty())
        check_structures(findings);
}

std::vector<std::string> HeapDriver::check_books() const
{
    Findings findings;
    check_metadata(findings);
    if (!findings.empty() || !has_guards())
        return findings.take();
    const auto walk = [&](const std::function<void(const HeapPart &)> &visit) {
        if (reuses_memory())
            return for_each_block(visit);
        for (const ByteRange &range : used()) {
            std::vector<std::byte> bytes(range.bytes);
            memory().read(device().queue(), range.offset, range.bytes, bytes.data());
            visit({static_cast<std::uint32_t>(range.offset / KMA_UNIT), bytes});
        }
    };
    const layout::kma_guard names = options().debug >= 2 ? guard() : layout::kma_guard{};
    check_followed(walk, options().debug, reuses_memory(), options().debug >= 2 ? &names : nullptr,
                   findings);
    return findings.take();
}

std::vector<std::string> HeapDriver::check() const
{
    Findings findings;
    check_metadata(findings);
    if (findings.empty() && options().debug >= 2)
        check_guards([&](const auto &visit) { for_each_block(visit); }, options().debug,
                     reuses_memory(), guard(), findings);
    return findings.take();
}

layout::kma_guard HeapDriver::guard() const
{
    layout::kma_guard guard;
    memory().read(device().queue(), std::uint64_t{expected_.guard} * KMA_UNIT, sizeof guard,
                  &guard);
    return guard;
}

LeakReport HeapDriver::leaks(std::size_t most) const
{
    require_sound();
    if (!has_guards())
        return leaks_by_books(most);
    const auto walk = [&](const auto &visit) { for_each_block(visit); };
    if (options().debug < 2)
        return guarded_leaks(walk, options().debug, nullptr, most);
    const layout::kma_guard names = guard();
    return guarded_leaks(walk, options().debug, &names, most);
}

HeapStats HeapDriver::stats() const
{
    require_sound();
    const cl::Buffer out(device().context(), CL_MEM_READ_WRITE, sizeof(layout::kma_heap_stats));
    run("stats", work_group, out); // the kernel runs in one group
    layout::kma_heap_stats counted;
    device().queue().enqueueReadBuffer(out, CL_TRUE, 0, sizeof counted, &counted);
    HeapStats stats;
    stats.kind = options().kind;
    stats.debug = options().debug;
#define KMA_HEAP_STATS_COPY(name, meaning) stats.name = counted.name;
    KMA_HEAP_STATS(KMA_HEAP_STATS_COPY)
#undef KMA_HEAP_STATS_COPY
    for (std::size_t code = 0; code < error_codes; code++)
        stats.errors[code] = counted.errors[code];
    return stats;
}

std::vector<ErrorRecord> HeapDriver::errors() const
{
    require_sound();
    const layout::kma_heap_header from = header();
    return records_of(from.errors, [&](std::uint32_t site) {
        return site != 0 && from.guard != 0 ? site_text(guard(), site) : "";
    });
}

std::uint32_t HeapDriver::error_count(ErrorCode code) const
{
    std::uint32_t count;
    memory().read(device().queue(),
                  offsetof(layout::kma_heap_header, errors.count) + sizeof count * number_of(code),
                  sizeof count, &count);
    return count;
}

void HeapDriver::forget_errors(ErrorCode code, std::uint32_t kept)
{
    const std::uint64_t count =
        offsetof(layout::kma_heap_header, errors.count) + sizeof kept * number_of(code);
    memory().write(device().queue(), count, sizeof kept, &kept);
    const std::vector<layout::kma_error_record> none(KMA_ERROR_KEPT -
                                                     std::min(kept, KMA_ERROR_KEPT));
    const std::size_t first = number_of(code) * KMA_ERROR_KEPT + KMA_ERROR_KEPT - none.size();
    if (!none.empty())
        memory().write(device().queue(),
                       offsetof(layout::kma_heap_header, errors.first) + first * sizeof none[0],
                       none.size() * sizeof none[0], none.data());
}

void HeapDriver::clear_errors()
{
    run("clear_errors", work_group);
}

} // namespace kma
