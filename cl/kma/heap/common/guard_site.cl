// With KMA_DEBUG 3: where in the program a block was taken. Each heap wraps its allocation
// functions in macros of the same names, which tag the returned block with the caller's file and
// line (KMA_TAGGED).
#ifndef KMA_HEAP_COMMON_GUARD_SITE_CL
#define KMA_HEAP_COMMON_GUARD_SITE_CL

#include "kma/platform/memory.cl"
#include "kma/heap/common/guard_layout.cl"
#include "kma/heap/common/ref.cl"

#define KMA_TAGGED(block) kma_guard_tagged(block, __FILE__, __LINE__)

// Writes a file's name; a name that is too long keeps its end.
static inline void kma_guard_write_name(global uchar *to, constant char *name, uint length)
{
    const uint from = length < KMA_GUARD_NAME ? 0 : length - (KMA_GUARD_NAME - 1);
    for (uint i = from; i < length; i++)
        to[i - from] = (uchar)name[i];
    to[length - from] = 0;
}

// Returns the number of a source file, from 1 on; 0 if KMA_GUARD_FILES others came first. Any lane.
// Files are identified by a hash of their names; the host reads the names when no kernel runs.
static inline KMA_OUTLINE uint kma_guard_file_number(global kma_guard *guard, constant char *name)
{
    uint length = 0;
    uint hash = 0;
    for (; name[length] != 0; length++)
        hash = hash * 31 + (uchar)name[length];
    hash |= 1; // 0 marks an unused entry
    for (uint i = 0; i < KMA_GUARD_FILES; i++) {
        global kma_guard_file *file = &guard->files[(hash + i) % KMA_GUARD_FILES];
        uint found = kma_load_u32(&file->hash, KMA_RELAXED);
        if (found == 0) {
            found = kma_cas_u32(&file->hash, 0, hash, KMA_RELAXED);
            if (found == 0) {
                kma_guard_write_name(file->name, name, length);
                found = hash;
            }
        }
        if (found == hash)
            return (hash + i) % KMA_GUARD_FILES + 1;
    }
    return 0;
}

// Records where the block at `ptr` was taken; returns `ptr`, which may be NULL. The block is new
// and the caller's own. Its state holds its ref, which leads to its heap.
static inline global void *kma_guard_tagged(global void *ptr, constant char *file, uint line)
{
    if (!ptr)
        return ptr;
    global kma_guard_block *block =
        (global kma_guard_block *)((global uchar *)ptr - KMA_GUARD_FRONT * KMA_UNIT);
    const kma_ref ref = kma_load_u32(&block->state, KMA_RELAXED) ^ KMA_BLOCK_LIVE;
    global kma_heap_header *heap =
        (global kma_heap_header *)((global uchar *)ptr - (size_t)ref * KMA_UNIT);
    global kma_guard *guard = (global kma_guard *)kma_deref_in(heap, heap->guard);
    block->site = (kma_guard_file_number(guard, file) << KMA_GUARD_LINE_BITS) |
                  min(line, (1u << KMA_GUARD_LINE_BITS) - 1u);
    return ptr;
}

#endif
