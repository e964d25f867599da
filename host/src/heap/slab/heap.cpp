// The host's driver of the slab heap (cl/kma/heap/slab.cl).
#include <algorithm>
#include <map>

#include "heap/common/driver.hpp"
#include "heap/slab/check.hpp"
#include "heap/slab/plan.hpp"

namespace kma {
namespace {

using layout::kma_slab_plan;

constexpr std::uint64_t line_bytes = std::uint64_t{KMA_UNIT} << KMA_SLAB_LINE_SHIFT;

class SlabHeap final : public HeapDriver {
public:
    SlabHeap(Parts parts, Expected expected, const kma_slab_plan &plan)
        : HeapDriver(std::move(parts), expected), plan_(plan)
    {
    }

    static std::unique_ptr<HeapDriver> make(const Device &device, std::uint64_t bytes,
                                            const HeapOptions &options);

    void init() override
    {
        const cl_ulong bytes = memory().bytes();
        if (options().max_bytes == 0)
            run("init", init_work_items(), bytes, cl_uint{plan_.cursors});
        else
            run("init_growing", init_work_items(), bytes,
                static_cast<cl_ulong>(options().max_bytes), cl_uint{plan_.cursors});
    }
    void reset() override
    {
        require_sound(); // the kernel follows the plan in the heap
        run("reset", init_work_items());
    }
    bool depends_on_width() const override { return false; }
    void adopt_plan() override;

    std::vector<ByteRange> used() const override
    {
        return lines_where([](bool is_used) { return is_used; });
    }
    std::vector<ByteRange> metadata() const override;

    // The metadata keep their offsets.
    std::uint32_t grown(std::uint64_t bytes) override
    {
        plan_ = layout::kma_slab_plan_within(plan_, bytes);
        return plan_.limit;
    }

    // With guards, freed blocks are copied too: their guards detect double frees.
    std::vector<ByteRange> touched() const override
    {
        return has_guards() ? lines_where([](bool) { return true; }) : used();
    }
    bool has_guards() const override { return options().debug >= 2; }
    void for_each_block(const std::function<void(const HeapPart &)> &visit) const override;

private:
    // More work-items are not faster on any device.
    static constexpr std::uint64_t most_work_items = 262144;

    std::vector<ByteRange> lines_where(const std::function<bool(bool is_used)> &is) const;

    // Almost all writes are those of the line words: about 32 for each work-item.
    std::uint64_t init_work_items() const
    {
        return std::clamp<std::uint64_t>(plan_.room, 64, most_work_items);
    }

    // Reads `count` words at offset `unit`.
    std::vector<std::uint32_t> words(std::uint32_t unit, std::uint64_t count) const
    {
        std::vector<std::uint32_t> values(count);
        memory().read(device().queue(), std::uint64_t{unit} * KMA_UNIT, count * sizeof values[0],
                      values.data());
        return values;
    }

    SlabMetadata read_metadata() const;
    kma_slab_plan plan_in_heap() const;

    void check_constants(Findings &findings) const override;
    void check_structures(Findings &findings) const override;
    LeakReport leaks_by_books(std::size_t most) const override;

    kma_slab_plan plan_;
};

std::unique_ptr<HeapDriver> SlabHeap::make(const Device &device, std::uint64_t bytes,
                                           const HeapOptions &options)
{
    check_growth(bytes, options.max_bytes);
    const std::uint32_t cursors =
        slab_plan::cursors_for(device.device().getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>());
    const kma_slab_plan plan = slab_plan::plan(options, bytes, cursors);
    check_largest(bytes);
    Program kernels = build(device, options);
    auto memory = std::make_unique<HeapMemory>(device, bytes, options.storage);
    return std::make_unique<SlabHeap>(Parts{device, options, std::move(kernels), std::move(memory)},
                                      Expected{plan.begin, plan.limit, 0, plan.guard}, plan);
}

// Only the number of cursors depends on the device.
void SlabHeap::adopt_plan()
{
    if (const std::uint32_t cursors = plan_in_heap().cursors;
        cursors != 0 && cursors <= KMA_SLAB_CURSORS)
        plan_ = slab_plan::plan(options(), memory().bytes(), cursors);
}

kma_slab_plan SlabHeap::plan_in_heap() const
{
    kma_slab_plan plan;
    memory().read(device().queue(), offsetof(layout::kma_slab, plan), sizeof plan, &plan);
    return plan;
}

std::vector<ByteRange> SlabHeap::lines_where(const std::function<bool(bool is_used)> &is) const
{
    const auto used = words(plan_.used, plan_.frames);
    std::vector<ByteRange> ranges;
    for (std::uint64_t line = 0; line < std::uint64_t{plan_.frames} * KMA_SLAB_FRAME_LINES; line++)
        if (is((used[line / KMA_SLAB_FRAME_LINES] >> line % KMA_SLAB_FRAME_LINES & 1u) != 0))
            append(ranges, {begin() + line * line_bytes, line_bytes});
    return ranges;
}

std::vector<ByteRange> SlabHeap::metadata() const
{
    // Omits the words of free lines: their values do not matter, and in an empty heap they are
    // nearly all of the metadata.
    const std::uint64_t words = std::uint64_t{plan_.words} * KMA_UNIT;
    std::vector<ByteRange> ranges;
    append(ranges, {0, words});
    for (const ByteRange &range : used())
        append(ranges,
               {words + (range.offset - begin()) / line_bytes * 4, range.bytes / line_bytes * 4});
    return ranges;
}

SlabMetadata SlabHeap::read_metadata() const
{
    SlabMetadata all;
    all.current = words(plan_.current, std::uint64_t{plan_.shards} * KMA_SLAB_PAGE_CLASSES);
    all.used = words(plan_.used, plan_.room);
    all.trees = words(plan_.trees, std::uint64_t{plan_.tree_words} * KMA_SLAB_TREES);
    all.words = words(plan_.words, std::uint64_t{plan_.room} * KMA_SLAB_FRAME_LINES);
    return all;
}

void SlabHeap::check_constants(Findings &findings) const
{
    HeapDriver::check_constants(findings);
    const kma_slab_plan is = plan_in_heap();
    const auto expect = [&](const char *field, std::uint32_t value, std::uint32_t right) {
        if (value != right)
            findings.add("fields of the plan", "the plan's ", field, " is ", value, ", should be ",
                         right);
    };
    expect("number of frames", is.frames, plan_.frames);
    expect("room for frames", is.room, plan_.room);
    expect("number of shards", is.shards, plan_.shards);
    expect("number of cursors", is.cursors, plan_.cursors);
    expect("number of a cursor's shares for few lines", is.rounds[0], plan_.rounds[0]);
    expect("number of a cursor's shares for many lines", is.rounds[1], plan_.rounds[1]);
    expect("number of words of a tree over the frames", is.tree_words, plan_.tree_words);
    expect("place of the current lines, in units of 16 bytes,", is.current, plan_.current);
    expect("place of the used words, in units of 16 bytes,", is.used, plan_.used);
    expect("place of the trees, in units of 16 bytes,", is.trees, plan_.trees);
    expect("place of the guards' metadata, in units of 16 bytes,", is.guard, plan_.guard);
    expect("place of the lines' words, in units of 16 bytes,", is.words, plan_.words);
    expect("begin of the lines, in units of 16 bytes,", is.begin, plan_.begin);
    expect("end of the lines, in units of 16 bytes,", is.limit, plan_.limit);
}

void SlabHeap::check_structures(Findings &findings) const
{
    HeapDriver::check_structures(findings);
    check_slab(plan_, read_metadata(), findings);
}

// Reads memory in pieces of 1 MiB, for all blocks that begin there.
void SlabHeap::for_each_block(const std::function<void(const HeapPart &)> &visit) const
{
    constexpr std::uint32_t window = (1u << 20) / KMA_UNIT;
    std::vector<std::byte> bytes;
    std::uint32_t first = 0; // first unit of `bytes`, counted from the heap's start
    const std::uint32_t all = plan_.frames * KMA_SLAB_FRAME_UNITS;
    for_each_slab_block(plan_, read_metadata(), [&](std::uint32_t unit, std::uint32_t units) {
        if (unit < first || (std::uint64_t{unit} + units - first) * KMA_UNIT > bytes.size()) {
            first = unit;
            bytes.resize(std::size_t{std::min(std::max(units, window), all - unit)} * KMA_UNIT);
            memory().read(device().queue(), begin() + std::uint64_t{first} * KMA_UNIT, bytes.size(),
                          bytes.data());
        }
        const HeapPart part{plan_.begin + first, bytes};
        visit(part.from(plan_.begin + unit, plan_.begin + unit + units));
    });
}

LeakReport SlabHeap::leaks_by_books(std::size_t most) const
{
    LeakReport report;
    std::map<std::uint64_t, std::uint64_t> counts;
    for_each_slab_block(plan_, read_metadata(), [&](std::uint32_t unit, std::uint32_t units) {
        const std::uint64_t bytes = std::uint64_t{units} * KMA_UNIT;
        counts[bytes]++;
        if (report.first.size() < most)
            report.first.push_back({static_cast<Ref>(plan_.begin + unit), bytes, {}, {}});
    });
    for (const auto &[bytes, count] : counts) {
        report.blocks += count;
        report.bytes += bytes * count;
        report.sizes.push_back({bytes, count});
    }
    return report;
}

} // namespace

const HeapKindEntry slab_heap_kind = {HeapKind::slab, SlabHeap::make, slab_plan::bytes_for_payload,
                                      slab_plan::bytes_for_blocks};

} // namespace kma
