// The host's driver of the superblock heap (cl/kma/heap/superblock.cl).
#include <algorithm>
#include <bit>
#include <limits>

#include "heap/common/driver.hpp"
#include "heap/superblock/check.hpp"
#include "heap/superblock/plan.hpp"

namespace kma {
namespace {

using layout::kma_superblock_plan;

class SuperblockHeap final : public HeapDriver {
public:
    SuperblockHeap(Parts parts, Expected expected, const kma_superblock_plan &plan)
        : HeapDriver(std::move(parts), expected), plan_(plan)
    {
    }

    static std::unique_ptr<HeapDriver> make(const Device &device, std::uint64_t bytes,
                                            const HeapOptions &options);

    void init() override
    {
        const cl_ulong bytes = memory().bytes();
        if (options().max_bytes == 0)
            run("init", init_work_items(), bytes, cl_uint{plan_.shift});
        else
            run("init_growing", init_work_items(), bytes,
                static_cast<cl_ulong>(options().max_bytes), cl_uint{plan_.shift});
    }
    void reset() override
    {
        require_sound(); // the kernel follows the plan in the heap
        run("reset", init_work_items());
    }
    bool depends_on_width() const override { return true; }

    std::vector<ByteRange> used() const override
    {
        return superblocks_where(KMA_SUPERBLOCK_FREE, 0, true);
    }
    std::vector<ByteRange> metadata() const override;
    bool has_guards() const override { return options().debug >= 2; }
    void for_each_block(const std::function<void(const HeapPart &)> &visit) const override;
    std::uint32_t grown(std::uint64_t bytes) override;

    // With guards, freed blocks in free superblocks are copied too: their guards detect double
    // frees.
    std::vector<ByteRange> touched() const override
    {
        return has_guards() ? superblocks_where(KMA_SUPERBLOCK_UNUSED, KMA_SUPERBLOCK_UNUSED, false)
                            : used();
    }

private:
    std::vector<ByteRange> superblocks_where(std::uint32_t mask, std::uint32_t content,
                                             bool is) const;

    // More work-items are not faster on any device.
    static constexpr std::uint64_t most_work_items = 262144;

    // Almost all writes are those of the bitmaps: about 64 words for each work-item.
    std::uint64_t init_work_items() const
    {
        const std::uint64_t words = std::uint64_t{plan_.room} * plan_.bitmap_words;
        return std::clamp<std::uint64_t>(words / 64, 64, most_work_items);
    }

    std::uint64_t superblock_bytes() const { return std::uint64_t{KMA_UNIT} << plan_.shift; }
    std::uint64_t start_of(std::uint32_t sb) const { return begin() + sb * superblock_bytes(); }
    std::uint64_t bitmap_bytes() const { return std::uint64_t{plan_.bitmap_words} * 4; }
    std::uint64_t bitmap_of(std::uint32_t sb) const
    {
        return std::uint64_t{plan_.bitmaps} * KMA_UNIT + sb * bitmap_bytes();
    }

    // Reads `count` values of type T at offset `unit`.
    template <class T> std::vector<T> words(std::uint32_t unit, std::uint64_t count) const
    {
        std::vector<T> values(count);
        memory().read(device().queue(), std::uint64_t{unit} * KMA_UNIT, count * sizeof(T),
                      values.data());
        return values;
    }

    // Runs a census kernel and returns its results.
    template <class T> std::vector<T> census(const std::string &what, std::uint64_t count) const
    {
        const cl::Buffer out(device().context(), CL_MEM_READ_WRITE, count * sizeof(T));
        run(what, std::min(count, most_work_items), out);
        std::vector<T> values(count);
        device().queue().enqueueReadBuffer(out, CL_TRUE, 0, count * sizeof(T), values.data());
        return values;
    }

    void check_constants(Findings &findings) const override;
    void check_structures(Findings &findings) const override;
    LeakReport leaks_by_books(std::size_t most) const override;
    void list_blocks(std::uint32_t sb, std::uint32_t size_class, std::size_t most,
                     LeakReport &report) const;

    std::vector<std::uint32_t> slots_taken(std::uint32_t sb, std::uint32_t size_class) const;

    kma_superblock_plan plan_;
};

// Whether the kernels use 64-bit atomics, which only their compiler knows.
bool has_atomic64(const Device &device, const Program &kernels)
{
    const cl::Buffer out(device.context(), CL_MEM_READ_WRITE, sizeof(cl_uint));
    cl::Kernel kernel = kernels.kernel("kma_superblock_width_kernel");
    kernel.setArg(0, out);
    device.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
    cl_uint atomic64 = 0;
    device.queue().enqueueReadBuffer(out, CL_TRUE, 0, sizeof atomic64, &atomic64);
    return atomic64 != 0;
}

std::unique_ptr<HeapDriver> SuperblockHeap::make(const Device &device, std::uint64_t bytes,
                                                 const HeapOptions &options)
{
    HeapOptions completed = options;
    completed.superblock.bytes = superblock_plan::superblock_bytes(options, bytes);
    check_growth(bytes, options.max_bytes);
    const kma_superblock_plan plan =
        superblock_plan::plan(options, bytes, completed.superblock.bytes);
    check_largest(bytes);
    Program kernels = build(device, completed);
    const bool atomic64 = has_atomic64(device, kernels);
    if (!atomic64)
        superblock_plan::check_for_32_bits(completed, bytes, completed.superblock.bytes);
    auto memory = std::make_unique<HeapMemory>(device, bytes, options.storage);
    return std::make_unique<SuperblockHeap>(
        Parts{device, completed, std::move(kernels), std::move(memory)},
        Expected{plan.begin, plan.limit, atomic64, plan.guard}, plan);
}

// The memory of all superblocks with (content & mask) equal to `content`, or not equal.
std::vector<ByteRange> SuperblockHeap::superblocks_where(std::uint32_t mask, std::uint32_t content,
                                                         bool is) const
{
    const auto states = words<layout::kma_superblock_state>(plan_.states, plan_.superblocks);
    std::vector<ByteRange> ranges;
    for (std::uint32_t sb = 0; sb < plan_.superblocks; sb++)
        if (((states[sb].content.word & mask) == content) == is)
            append(ranges, {start_of(sb), superblock_bytes()});
    return ranges;
}

// The metadata keep their offsets: only two fields of the plan change.
std::uint32_t SuperblockHeap::grown(std::uint64_t bytes)
{
    plan_ = layout::kma_superblock_plan_within(plan_, bytes);
    return plan_.limit;
}

std::vector<ByteRange> SuperblockHeap::metadata() const
{
    // Omits the bitmaps of free superblocks, which are 0: in an empty heap they are 1/128 of its
    // bytes.
    std::vector<ByteRange> ranges;
    append(ranges, {0, bitmap_of(0)});
    for (const ByteRange &range : used()) {
        const auto first =
            static_cast<std::uint32_t>((range.offset - begin()) / superblock_bytes());
        append(ranges, {bitmap_of(first), range.bytes / superblock_bytes() * bitmap_bytes()});
    }
    return ranges;
}

void SuperblockHeap::check_constants(Findings &findings) const
{
    HeapDriver::check_constants(findings);
    kma_superblock_plan is;
    memory().read(device().queue(), offsetof(layout::kma_superblock, plan), sizeof is, &is);
    const auto expect = [&](const char *field, std::uint32_t value, std::uint32_t right) {
        if (value != right)
            findings.add("fields of the plan", "the plan's ", field, " is ", value, ", should be ",
                         right);
    };
    expect("number of superblocks", is.superblocks, plan_.superblocks);
    expect("room for superblocks", is.room, plan_.room);
    expect("shift, log2 of a superblock's units of 16 bytes,", is.shift, plan_.shift);
    expect("number of size classes", is.size_classes, plan_.size_classes);
    expect("words of a partial set", is.set_words, plan_.set_words);
    expect("words of a bitmap", is.bitmap_words, plan_.bitmap_words);
    expect("place of the states, in units of 16 bytes,", is.states, plan_.states);
    expect("place of the partial sets, in units of 16 bytes,", is.sets, plan_.sets);
    expect("place of the free queue, in units of 16 bytes,", is.queue, plan_.queue);
    expect("place of the guards' metadata, in units of 16 bytes,", is.guard, plan_.guard);
    expect("place of the bitmaps, in units of 16 bytes,", is.bitmaps, plan_.bitmaps);
    expect("begin of the superblocks, in units of 16 bytes,", is.begin, plan_.begin);
    expect("end of the superblocks, in units of 16 bytes,", is.limit, plan_.limit);
}

void SuperblockHeap::check_structures(Findings &findings) const
{
    HeapDriver::check_structures(findings);
    SuperblockCensus all;
    all.atomic64 = atomic64();
    std::uint32_t moves;
    memory().read(device().queue(), offsetof(layout::kma_superblock, moves), sizeof moves, &moves);
    all.in_hand = KMA_SUPERBLOCK_IN_HAND(moves);
    all.superblocks = census<layout::kma_superblock_census>("census", plan_.room);
    all.classes = census<layout::kma_superblock_class_census>("classes", plan_.size_classes);
    all.queue = census<layout::kma_queue_census>("queue", std::uint64_t{plan_.room} + 2);
    all.sets =
        words<std::uint32_t>(plan_.sets, std::uint64_t{plan_.size_classes} * plan_.set_words);
    check_superblocks(plan_, all, findings);
}

// Visits the blocks with set bits.
void SuperblockHeap::for_each_block(const std::function<void(const HeapPart &)> &visit) const
{
    const auto states = words<layout::kma_superblock_state>(plan_.states, plan_.superblocks);
    std::vector<std::byte> bytes(superblock_bytes());
    for (std::uint32_t sb = 0; sb < plan_.superblocks; sb++) {
        const std::uint32_t size_class = states[sb].content.word;
        if (size_class >= plan_.size_classes)
            continue; // free, or damaged, which check() reports
        const std::uint32_t units = layout::kma_class_units(size_class);
        const auto first = static_cast<std::uint32_t>(start_of(sb) / KMA_UNIT);
        const HeapPart superblock{first, bytes};
        const std::vector<std::uint32_t> taken = slots_taken(sb, size_class);
        if (!taken.empty())
            memory().read(device().queue(), start_of(sb), bytes.size(), bytes.data());
        for (const std::uint32_t slot : taken)
            visit(superblock.from(first + slot * units, first + (slot + 1) * units));
    }
}

// The slots of a superblock with set bits.
std::vector<std::uint32_t> SuperblockHeap::slots_taken(std::uint32_t sb,
                                                       std::uint32_t size_class) const
{
    const std::uint32_t slots = (1u << plan_.shift) / layout::kma_class_units(size_class);
    std::vector<std::uint32_t> bitmap(layout::kma_bitmap_words(slots));
    memory().read(device().queue(), bitmap_of(sb), bitmap.size() * sizeof bitmap[0], bitmap.data());
    std::vector<std::uint32_t> taken;
    for (std::uint32_t slot = 0; slot < slots; slot++)
        if ((bitmap[slot / 32] >> (slot % 32)) & 1u)
            taken.push_back(slot);
    return taken;
}

LeakReport SuperblockHeap::leaks_by_books(std::size_t most) const
{
    LeakReport report;
    std::vector<std::uint64_t> counts(plan_.size_classes);
    const auto superblocks = census<layout::kma_superblock_census>("census", plan_.room);
    for (std::uint32_t sb = 0; sb < plan_.superblocks; sb++) {
        const layout::kma_superblock_census &is = superblocks[sb];
        if (is.content >= plan_.size_classes || is.taken == 0)
            continue; // free, or damaged, which check() reports
        counts[is.content] += is.taken;
        if (report.first.size() < most)
            list_blocks(sb, is.content, most, report);
    }
    for (std::uint32_t c = 0; c < plan_.size_classes; c++) {
        if (counts[c] == 0)
            continue;
        const std::uint64_t block_bytes = std::uint64_t{layout::kma_class_units(c)} * KMA_UNIT;
        report.blocks += counts[c];
        report.bytes += counts[c] * block_bytes;
        report.sizes.push_back({block_bytes, counts[c]});
    }
    return report;
}

// Appends the allocated blocks of a superblock to report.first, up to `most` in all.
void SuperblockHeap::list_blocks(std::uint32_t sb, std::uint32_t size_class, std::size_t most,
                                 LeakReport &report) const
{
    const std::uint32_t units = layout::kma_class_units(size_class);
    for (const std::uint32_t slot : slots_taken(sb, size_class))
        if (report.first.size() < most)
            report.first.push_back({static_cast<Ref>(start_of(sb) / KMA_UNIT + slot * units),
                                    std::uint64_t{units} * KMA_UNIT,
                                    {},
                                    {}});
}

} // namespace

const HeapKindEntry superblock_heap_kind = {HeapKind::superblock, SuperblockHeap::make,
                                            superblock_plan::bytes_for_payload,
                                            superblock_plan::bytes_for_blocks};

} // namespace kma
