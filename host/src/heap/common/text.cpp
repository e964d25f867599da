// A heap's statistics, leaks and error log as text.
#include "kma/heap.hpp"

#include "heap/common/error_log.hpp"
#include "support/say.hpp"

namespace kma {

static_assert(error_codes == KMA_ERROR_CODES);
static_assert(static_cast<unsigned>(ErrorCode::out_of_memory) == KMA_ERROR_OUT_OF_MEMORY);
static_assert(static_cast<unsigned>(ErrorCode::too_large) == KMA_ERROR_TOO_LARGE);
static_assert(static_cast<unsigned>(ErrorCode::bad_alignment) == KMA_ERROR_BAD_ALIGNMENT);
static_assert(static_cast<unsigned>(ErrorCode::invalid_free) == KMA_ERROR_INVALID_FREE);
static_assert(static_cast<unsigned>(ErrorCode::double_free) == KMA_ERROR_DOUBLE_FREE);
static_assert(static_cast<unsigned>(ErrorCode::bad_heap) == KMA_ERROR_BAD_HEAP);
static_assert(static_cast<unsigned>(ErrorCode::damaged) == KMA_ERROR_DAMAGED);
static_assert(static_cast<unsigned>(ErrorCode::overrun) == KMA_ERROR_OVERRUN);
static_assert(static_cast<unsigned>(ErrorCode::write_after_free) == KMA_ERROR_WRITE_AFTER_FREE);

const char *explain(ErrorCode code) noexcept
{
    switch (code) {
    case ErrorCode::out_of_memory:
        return "out of memory: malloc returned NULL; make the heap larger, or give memory back "
               "(the bump heap takes it only by reset())";
    case ErrorCode::too_large:
        return "request too large: it exceeds what this heap can ever serve (bump and slab: the "
               "whole heap, superblock: one superblock, scatter: one region), or what a container "
               "gives at a time; make that larger, or check the size's computation";
    case ErrorCode::bad_alignment:
        return "bad alignment: it must be a power of two, at most 4,096 (superblock, scatter and "
               "slab heap) or 2^31 (bump heap), and divide the heap's own address, which has 128 "
               "bytes on PoCL";
    case ErrorCode::invalid_free:
        return "invalid free: the pointer is not the start of a block of this heap; free what this "
               "heap's malloc returned";
    case ErrorCode::double_free:
        return "double free: the block was freed before; let one work-item free it, once";
    case ErrorCode::damaged:
        return "damaged heap: its own data contradict each other, so a kernel wrote outside its "
               "blocks; Heap::check() says where";
    case ErrorCode::overrun:
        return "block overrun: a kernel wrote in front of a block or behind its end; mend the "
               "index, or take a larger block; Heap::check() finds those of blocks not freed yet";
    case ErrorCode::write_after_free:
        return "write after free: a kernel wrote into a block after it was freed; free it after "
               "its last use";
    case ErrorCode::bad_heap:
        return "wrong heap: heap and program differ in kind, KMA_DEBUG or KMA_HAS_ATOMIC64; build "
               "the program by Heap::program; or a typed object was asked for of a heap without a "
               "collector: make a kma::Collector first";
    }
    return "unknown error code: the heap's error log is damaged";
}

std::string to_text(const HeapStats &stats)
{
    std::string text = say(name_of(stats.kind), " heap",
                           stats.debug != 0 ? say(" with KMA_DEBUG ", stats.debug) : "", ":\n");
#define KMA_HEAP_STATS_LINE(name, meaning) text += say("  ", stats.name, " ", meaning, "\n");
    KMA_HEAP_STATS(KMA_HEAP_STATS_LINE)
#undef KMA_HEAP_STATS_LINE
    for (std::size_t code = 0; code < error_codes; code++)
        if (stats.errors[code] != 0)
            text +=
                say("  ", stats.errors[code], " x ", explain(static_cast<ErrorCode>(code)), "\n");
    return text;
}

std::string to_text(const LeakReport &report)
{
    if (report.blocks == 0)
        return "no block is handed out\n";
    std::string text = say("blocks handed out: ", report.blocks, ", ", report.bytes, " bytes\n");
    for (const LeakReport::Size &size : report.sizes)
        text += say("  ", size.count, " of ", size.block_bytes, " bytes\n");
    for (const LeakReport::Place &place : report.places)
        text += say("  ", place.count, " taken at ", place.where, ", ", place.bytes, " bytes\n");
    if (report.first.empty())
        return text;
    text += say("the first ", report.first.size(), ":\n");
    for (const LeakReport::Block &block : report.first) {
        text += say("  ref ", block.ref, ", ", block.bytes, " bytes");
        if (block.work_item)
            text += say(", taken by work-item ", *block.work_item);
        if (!block.where.empty())
            text += say(" at ", block.where);
        text += "\n";
    }
    return text;
}

std::string Heap::error_text() const
{
    const HeapStats now = stats();
    return kma::error_text(
        now.errors, errors(), {explain, ", ref ", ", size ", ""},
        say(now.used, " of ", now.capacity, " bytes are handed out; the first of each kind:\n"));
}

} // namespace kma
