// Device code that writes a heap's header and error log.
#ifndef KMA_HEAP_COMMON_ERROR_LOG_CL
#define KMA_HEAP_COMMON_ERROR_LOG_CL

#include "kma/platform/lanes.cl"
#include "kma/platform/memory.cl"
#include "kma/platform/place.cl"
#include "kma/heap/common/header.cl"

// Adds `events` to a count and returns the count before. Stops near 2^31: a count that wraps would
// overwrite the first records, and a program that spins on a full heap gets there within a second.
static inline uint kma_count_errors(global kma_atomic_u32 *count, uint events)
{
    const uint before = kma_load_u32(count, KMA_RELAXED);
    return before < 0x80000000u ? kma_fetch_add_u32(count, events, KMA_RELAXED) : before;
}

// Writes the n-th record of its code; does nothing if the log keeps fewer.
static inline KMA_OUTLINE void kma_write_record(global kma_heap_header *heap, uint code, uint n,
                                                uint ref, ulong size, ulong work_item, uint site)
{
    if (n >= KMA_ERROR_KEPT)
        return;
    global kma_error_record *record = &heap->errors.first[code * KMA_ERROR_KEPT + n];
    record->size = size;
    record->work_item = work_item;
    record->ref = ref;
    record->site = site;
    record->written = 1;
}

// Logs one error, of `work_item`. Any lane; lanes that report together share one atomic, since a
// heap that is full must answer a million requests quickly. Relaxed: the host reads the log after
// the kernel, and each record belongs to one work-item.
static inline void kma_report_of(global kma_heap_header *heap, uint code, uint ref, ulong size,
                                 ulong work_item, uint site)
{
    global kma_atomic_u32 *count = &heap->errors.count[code];
    uint n = 0;
#if KMA_IS_CPU && KMA_LANES == KMA_LANES_SUBGROUP // Intel's CPUs: see objects/blocks.cl
    n = kma_count_errors(count, 1);
#else
    const kma_lanes together = kma_lanes_alike(kma_lanes_active(), (ulong)count);
    if (kma_lane_in(together)) {
        if (kma_lane_leads(together))
            n = kma_count_errors(count, kma_lanes_count(together));
        n = kma_lanes_first(together, n) + kma_lane_rank(together);
    } else {
        n = kma_count_errors(count, 1);
    }
#endif
    kma_write_record(heap, code, n, ref, size, work_item, site);
}

// Logs one error of the calling work-item.
static inline void kma_report(global kma_heap_header *heap, uint code, uint ref, ulong size)
{
    kma_report_of(heap, code, ref, size, kma_linear_global_id(), 0);
}

// Returns the ref to log for a pointer that is no block: that of the unit it points into. Returns 0
// outside the heap's buffer, where the 32 bits of a ref would name another address.
static inline uint kma_wrong_ref(const global kma_heap_header *heap, const global void *ptr)
{
    const ulong offset = (ulong)ptr - (ulong)heap; // huge for a pointer below the heap
    return offset < heap->bytes ? (uint)(offset / KMA_UNIT) : 0;
}

// Clears one work-item's share of the log.
static inline void kma_error_log_init(global kma_error_log *log, size_t me, size_t work_items)
{
    for (size_t i = me; i < KMA_ERROR_CODES * KMA_ERROR_KEPT; i += work_items) {
        log->first[i].size = 0;
        log->first[i].work_item = 0;
        log->first[i].ref = 0;
        log->first[i].written = 0;
        log->first[i].site = 0;
    }
    for (size_t i = me; i < KMA_ERROR_CODES; i += work_items)
        kma_store_u32(&log->count[i], 0, KMA_RELAXED);
}

// Writes the header of a heap that this program initialises.
static inline void kma_heap_header_init(global kma_heap_header *header, uint kind, ulong bytes,
                                        ulong max_bytes, uint begin, uint limit, uint guard)
{
    header->magic = KMA_HEAP_MAGIC;
    header->layout = KMA_HEAP_LAYOUT;
    header->kind = kind;
    header->debug = KMA_DEBUG;
    header->atomic64 = KMA_HAS_ATOMIC64;
    header->bytes = bytes;
    header->max_bytes = max_bytes;
    header->begin = begin;
    header->limit = limit;
    header->guard = guard;
    header->collector = 0;
}

// True if the buffer begins like a heap of that kind.
static inline bool kma_heap_exists(const global kma_heap_header *header, uint kind)
{
    return header->magic == KMA_HEAP_MAGIC && header->layout == KMA_HEAP_LAYOUT &&
           header->kind == kind;
}

// True if the buffer is a heap of that kind which this program can use: same KMA_DEBUG and, for a
// superblock heap, same width of atomics. Any other heap gets a BAD_HEAP record. A buffer that is
// no heap gets none: it may be too small for a log.
static inline bool kma_heap_is(global void *heap, uint kind)
{
    global kma_heap_header *header = (global kma_heap_header *)heap;
    const bool is_heap =
        header && header->magic == KMA_HEAP_MAGIC && header->layout == KMA_HEAP_LAYOUT;
    const bool is_mine = is_heap && header->kind == kind && header->debug == KMA_DEBUG &&
                         (kind != KMA_KIND_SUPERBLOCK || header->atomic64 == KMA_HAS_ATOMIC64);
    if (is_heap && !is_mine)
        kma_report(header, KMA_ERROR_BAD_HEAP, 0, header->debug);
    return is_mine;
}

#endif
