// The host's driver of the scatter heap (cl/kma/heap/scatter.cl).
#include <algorithm>
#include <map>

#include "heap/common/driver.hpp"
#include "heap/scatter/check.hpp"
#include "heap/scatter/plan.hpp"

namespace kma {
namespace {

using layout::kma_scatter_plan;

class ScatterHeap final : public HeapDriver {
public:
    ScatterHeap(Parts parts, Expected expected, const kma_scatter_plan &plan)
        : HeapDriver(std::move(parts), expected), plan_(plan)
    {
    }

    static std::unique_ptr<HeapDriver> make(const Device &device, std::uint64_t bytes,
                                            const HeapOptions &options);

    void init() override
    {
        const cl_ulong bytes = memory().bytes();
        if (options().max_bytes == 0)
            run("init", init_work_items(), bytes, cl_uint{plan_.shift}, cl_uint{plan_.super_shift});
        else
            run("init_growing", init_work_items(), bytes,
                static_cast<cl_ulong>(options().max_bytes), cl_uint{plan_.shift},
                cl_uint{plan_.super_shift});
    }
    void reset() override
    {
        require_sound(); // the kernel follows the plan in the heap
        run("reset", init_work_items());
    }
    bool depends_on_width() const override { return false; }

    std::vector<ByteRange> used() const override
    {
        return pages_where([](std::uint32_t word) { return (word & KMA_SCATTER_FREE) == 0; });
    }
    std::vector<ByteRange> metadata() const override;

    // The metadata keep their offsets.
    std::uint32_t grown(std::uint64_t bytes) override
    {
        plan_ = layout::kma_scatter_plan_within(plan_, bytes);
        return plan_.limit;
    }

    // With guards, freed blocks in free pages are copied too: their guards detect double frees.
    std::vector<ByteRange> touched() const override
    {
        return has_guards() ? pages_where([](std::uint32_t word) {
            return layout::kma_scatter_split(word) != KMA_SCATTER_UNUSED;
        })
                            : used();
    }
    bool has_guards() const override { return options().debug >= 2; }
    void for_each_block(const std::function<void(const HeapPart &)> &visit) const override;

private:
    // More work-items are not faster on any device.
    static constexpr std::uint64_t most_work_items = 262144;

    std::vector<ByteRange> pages_where(const std::function<bool(std::uint32_t word)> &is) const;

    // Almost all writes are those of the bitmaps: about 32 words for each work-item.
    std::uint64_t init_work_items() const
    {
        return std::clamp<std::uint64_t>(std::uint64_t{plan_.room} * words_per_page() / 32, 64,
                                         most_work_items);
    }

    std::uint64_t page_bytes() const { return std::uint64_t{KMA_UNIT} << plan_.shift; }
    std::uint64_t words_per_page() const { return (std::uint64_t{1} << plan_.shift) / 32; }
    std::uint64_t start_of(std::uint32_t page) const { return begin() + page * page_bytes(); }

    // Reads `count` words at offset `unit`.
    std::vector<std::uint32_t> words(std::uint32_t unit, std::uint64_t count) const
    {
        std::vector<std::uint32_t> values(count);
        memory().read(device().queue(), std::uint64_t{unit} * KMA_UNIT, count * sizeof values[0],
                      values.data());
        return values;
    }

    std::vector<std::uint32_t> table() const { return words(plan_.table, plan_.room); }
    std::vector<std::uint32_t> bitmap_of(std::uint32_t page) const;

    void check_constants(Findings &findings) const override;
    void check_structures(Findings &findings) const override;
    LeakReport leaks_by_books(std::size_t most) const override;

    /// Visits each allocated block with its first page, first unit and number of units.
    void walk(const std::function<void(std::uint32_t page, std::uint32_t first,
                                       std::uint32_t units)> &visit) const;

    kma_scatter_plan plan_;
};

std::unique_ptr<HeapDriver> ScatterHeap::make(const Device &device, std::uint64_t bytes,
                                              const HeapOptions &options)
{
    const HeapOptions completed = scatter_plan::completed(options);
    check_growth(bytes, options.max_bytes);
    const kma_scatter_plan plan = scatter_plan::plan(completed, bytes);
    check_largest(bytes);
    Program kernels = build(device, completed);
    auto memory = std::make_unique<HeapMemory>(device, bytes, options.storage);
    return std::make_unique<ScatterHeap>(
        Parts{device, completed, std::move(kernels), std::move(memory)},
        Expected{plan.begin, plan.limit, 0, plan.guard}, plan);
}

std::vector<ByteRange>
ScatterHeap::pages_where(const std::function<bool(std::uint32_t word)> &is) const
{
    const auto words = table();
    std::vector<ByteRange> ranges;
    for (std::uint32_t page = 0; page < plan_.pages; page++)
        if (is(words[page]))
            append(ranges, {start_of(page), page_bytes()});
    return ranges;
}

std::vector<ByteRange> ScatterHeap::metadata() const
{
    // Omits the bitmaps of free pages, which are 0: in an empty heap they are nearly all of the
    // metadata.
    const std::uint64_t bitmaps = std::uint64_t{plan_.bitmaps} * KMA_UNIT;
    const std::uint64_t bytes = words_per_page() * 4;
    std::vector<ByteRange> ranges;
    append(ranges, {0, bitmaps});
    for (const ByteRange &range : used())
        append(ranges, {bitmaps + (range.offset - begin()) / page_bytes() * bytes,
                        range.bytes / page_bytes() * bytes});
    return ranges;
}

void ScatterHeap::check_constants(Findings &findings) const
{
    HeapDriver::check_constants(findings);
    kma_scatter_plan is;
    memory().read(device().queue(), offsetof(layout::kma_scatter, plan), sizeof is, &is);
    const auto expect = [&](const char *field, std::uint32_t value, std::uint32_t right) {
        if (value != right)
            findings.add("fields of the plan", "the plan's ", field, " is ", value, ", should be ",
                         right);
    };
    expect("number of pages", is.pages, plan_.pages);
    expect("room for pages", is.room, plan_.room);
    expect("shift, log2 of a page's units of 16 bytes,", is.shift, plan_.shift);
    expect("log2 of a region's pages", is.super_shift, plan_.super_shift);
    expect("number of places", is.places, plan_.places);
    expect("number of regions", is.supers, plan_.supers);
    expect("number of words of a tree over the pages", is.tree_words, plan_.tree_words);
    expect("place of the cursors, in units of 16 bytes,", is.cursors, plan_.cursors);
    expect("place of the fill levels, in units of 16 bytes,", is.full, plan_.full);
    expect("place of the usage table, in units of 16 bytes,", is.table, plan_.table);
    expect("place of the trees, in units of 16 bytes,", is.trees, plan_.trees);
    expect("place of the guards' metadata, in units of 16 bytes,", is.guard, plan_.guard);
    expect("place of the bitmaps, in units of 16 bytes,", is.bitmaps, plan_.bitmaps);
    expect("begin of the pages, in units of 16 bytes,", is.begin, plan_.begin);
    expect("end of the pages, in units of 16 bytes,", is.limit, plan_.limit);
    layout::kma_scatter_size sizes[KMA_SCATTER_SIZES];
    memory().read(device().queue(), offsetof(layout::kma_scatter, sizes), sizeof sizes, sizes);
    for (std::uint32_t c = 0; c < KMA_SCATTER_SIZES; c++) {
        const auto right = layout::kma_scatter_size_of(
            std::min(c, layout::kma_scatter_classes(plan_.shift) - 1), plan_.shift);
        expect("units of a chunk", sizes[c].units, right.units);
        expect("chunks of a page", sizes[c].spots, right.spots);
        expect("reciprocal of the units", sizes[c].by_units, right.by_units);
        expect("reciprocal of the chunks", sizes[c].by_spots, right.by_spots);
    }
}

void ScatterHeap::check_structures(Findings &findings) const
{
    HeapDriver::check_structures(findings);
    ScatterBooks books;
    books.table = table();
    books.trees = words(plan_.trees, std::uint64_t{plan_.tree_words} *
                                         (layout::kma_scatter_classes(plan_.shift) + 1));
    books.full = words(plan_.full, layout::kma_scatter_supers(plan_.room, plan_.super_shift));
    books.bitmaps = words(plan_.bitmaps, plan_.room * words_per_page());
    check_scatter(plan_, books, findings);
}

std::vector<std::uint32_t> ScatterHeap::bitmap_of(std::uint32_t page) const
{
    std::vector<std::uint32_t> bits(words_per_page());
    memory().read(device().queue(),
                  std::uint64_t{plan_.bitmaps} * KMA_UNIT + page * words_per_page() * 4,
                  bits.size() * sizeof bits[0], bits.data());
    return bits;
}

void ScatterHeap::walk(const std::function<void(std::uint32_t page, std::uint32_t first,
                                                std::uint32_t units)> &visit) const
{
    const auto words = table();
    for (std::uint32_t page = 0; page < plan_.pages; page++) {
        const std::uint32_t split = layout::kma_scatter_split(words[page]);
        const auto first = static_cast<std::uint32_t>(start_of(page) / KMA_UNIT);
        if ((words[page] & KMA_SCATTER_FREE) != 0)
            continue;
        if (split == KMA_SCATTER_HEAD) {
            // A damaged length must not lead beyond the heap.
            if (const std::uint32_t length = std::min(bitmap_of(page)[0], plan_.pages - page);
                length != 0)
                visit(page, first, length << plan_.shift);
        // else REST, or damage, which check() reports
        } else if (split < layout::kma_scatter_classes(plan_.shift)) {
            const std::uint32_t units = layout::kma_scatter_units(split, plan_.shift);
            const auto bits = bitmap_of(page);
            for (std::uint32_t spot = 0; spot < layout::kma_scatter_spots(split, plan_.shift);
                 spot++)
                if ((bits[spot / 32] >> (spot % 32) & 1u) != 0)
                    visit(page, first + spot * units, units);
        }
    }
}

// Reads the memory of a page or run once for all of its blocks.
void ScatterHeap::for_each_block(const std::function<void(const HeapPart &)> &visit) const
{
    std::vector<std::byte> bytes;
    std::uint32_t in_hand = plan_.pages;
    walk([&](std::uint32_t page, std::uint32_t first, std::uint32_t units) {
        if (page != in_hand) {
            in_hand = page;
            bytes.resize(std::max<std::uint64_t>(std::uint64_t{units} * KMA_UNIT, page_bytes()));
            memory().read(device().queue(), start_of(page), bytes.size(), bytes.data());
        }
        const HeapPart part{static_cast<std::uint32_t>(start_of(page) / KMA_UNIT), bytes};
        visit(part.from(first, first + units));
    });
}

LeakReport ScatterHeap::leaks_by_books(std::size_t most) const
{
    LeakReport report;
    std::map<std::uint64_t, std::uint64_t> counts;
    walk([&](std::uint32_t, std::uint32_t first, std::uint32_t units) {
        const std::uint64_t bytes = std::uint64_t{units} * KMA_UNIT;
        counts[bytes]++;
        if (report.first.size() < most)
            report.first.push_back({static_cast<Ref>(first), bytes, {}, {}});
    });
    for (const auto &[bytes, count] : counts) {
        report.blocks += count;
        report.bytes += bytes * count;
        report.sizes.push_back({bytes, count});
    }
    return report;
}

} // namespace

const HeapKindEntry scatter_heap_kind = {HeapKind::scatter, ScatterHeap::make,
                                         scatter_plan::bytes_for_payload,
                                         scatter_plan::bytes_for_blocks};

} // namespace kma
