// The host's driver of the bump heap (cl/kma/heap/bump.cl).
#include <algorithm>

#include "heap/common/driver.hpp"
#include "kma/error.hpp"
#include "support/saturating.hpp"

namespace kma {
namespace {

// Work-items of the init kernel: each initialises one record of the error log.
constexpr std::uint64_t work_items = 64;

std::uint64_t begin_units(const HeapOptions &options)
{
    return layout::kma_bump_begin(static_cast<std::uint32_t>(options.debug));
}

std::uint32_t limit_units(const HeapOptions &options, std::uint64_t bytes)
{
    return layout::kma_bump_limit(static_cast<std::uint32_t>(options.debug), bytes);
}

// Units that KMA_DEBUG adds to each block.
std::uint64_t units_around(const HeapOptions &options)
{
    const auto debug = static_cast<std::uint32_t>(options.debug);
    return layout::kma_bump_front(debug) + layout::kma_bump_back(debug);
}

std::uint64_t round_up(std::uint64_t bytes)
{
    return add_up(bytes, KMA_UNIT - 1) / KMA_UNIT * KMA_UNIT;
}

std::uint64_t bytes_for_payload(const HeapOptions &options, std::uint64_t payload)
{
    return add_up(begin_units(options) * KMA_UNIT, round_up(payload));
}

std::uint64_t bytes_for_blocks(const HeapOptions &options, const std::vector<BlockDemand> &blocks)
{
    std::uint64_t payload = 0;
    for (const BlockDemand &demand : blocks)
        if (demand.size != 0)
            payload =
                add_up(payload, multiply(demand.count, add_up(round_up(demand.size),
                                                              units_around(options) * KMA_UNIT)));
    return bytes_for_payload(options, payload);
}

class BumpHeap final : public HeapDriver {
public:
    BumpHeap(Parts parts, Expected expected) : HeapDriver(std::move(parts), expected) {}

    static std::unique_ptr<HeapDriver> make(const Device &device, std::uint64_t bytes,
                                            const HeapOptions &options)
    {
        const std::uint64_t least = (begin_units(options) + units_around(options) + 1) * KMA_UNIT;
        if (bytes < least)
            throw Error(say("a heap of ", bytes,
                            " bytes is too small: its metadata and one block need ", least,
                            "; Heap::bytes_for says what your blocks need"));
        check_growth(bytes, options.max_bytes);
        check_largest(bytes);
        return std::make_unique<BumpHeap>(
            Parts{device, options, build(device, options),
                  std::make_unique<HeapMemory>(device, bytes, options.storage)},
            Expected{static_cast<std::uint32_t>(begin_units(options)), limit_units(options, bytes),
                     0, layout::kma_bump_guard(static_cast<std::uint32_t>(options.debug))});
    }

    void init() override
    {
        const cl_ulong bytes = memory().bytes();
        if (options().max_bytes == 0)
            run("init", work_items, bytes);
        else
            run("init_growing", work_items, bytes, static_cast<cl_ulong>(options().max_bytes));
    }
    void reset() override { run("reset", work_items); }
    // without 64-bit atomics the head's upper half is 0
    bool depends_on_width() const override { return false; }

    std::vector<ByteRange> used() const override
    {
        std::vector<ByteRange> ranges;
        append(ranges, {begin(), head() * KMA_UNIT - begin()});
        return ranges;
    }

    std::vector<ByteRange> metadata() const override { return {{0, begin()}}; }

private:
    bool has_guards() const override { return options().debug >= 1; }
    bool reuses_memory() const override { return false; }
    std::uint32_t grown(std::uint64_t bytes) override { return limit_units(options(), bytes); }

    LeakReport leaks_by_books(std::size_t) const override
    {
        throw Error("the bump heap does not know which of its blocks live, since it takes none "
                    "back before a reset; give heap and program KMA_DEBUG, or run the program on "
                    "HeapKind::slab, to see its leaks");
    }

    // Blocks follow one another with gaps for alignment only. A larger gap was a block with an
    // overwritten guard.
    void for_each_block(const std::function<void(const HeapPart &)> &visit) const override
    {
        std::vector<std::byte> bytes(head() * KMA_UNIT - begin());
        if (bytes.empty())
            return;
        memory().read(device().queue(), begin(), bytes.size(), bytes.data());
        HeapPart rest{static_cast<std::uint32_t>(begin() / KMA_UNIT), bytes};
        while (const auto block = find_guard(rest, options().debug)) {
            visit_unless_fresh(rest.from(rest.first, block->raw), visit);
            visit(rest.from(block->raw, block->end));
            rest = rest.from(block->end, rest.end());
        }
        visit_unless_fresh(rest, visit);
    }

    void visit_unless_fresh(const HeapPart &part,
                            const std::function<void(const HeapPart &)> &visit) const
    {
        if (options().debug >= 2 && !is_fresh(part))
            visit(part);
    }

    std::uint64_t head() const
    {
        std::uint64_t head;
        memory().read(device().queue(), offsetof(layout::kma_bump, head), sizeof head, &head);
        return head;
    }

    void check_constants(Findings &findings) const override
    {
        HeapDriver::check_constants(findings);
        // The head changes, but all functions that read blocks rely on it.
        if (const std::uint64_t at = head();
            at < begin() / KMA_UNIT || at > memory().bytes() / KMA_UNIT)
            findings.add("heads", "the head is at ", at,
                         ", outside the heap's blocks, which begin at ", begin() / KMA_UNIT,
                         " and end at ", memory().bytes() / KMA_UNIT, ", in units of 16 bytes");
    }
};

} // namespace

const HeapKindEntry bump_heap_kind = {HeapKind::bump, BumpHeap::make, bytes_for_payload,
                                      bytes_for_blocks};

} // namespace kma
