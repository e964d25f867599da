// Arena: a region allocator over chunks of a heap of any kind. Blocks are not freed one by one;
// clearing the arena frees all of them. Made for data structures that end as a whole, such as a
// tree that is rebuilt each step (Spliet, thesis 3.3). A heap may have any number of arenas.
//
//   #include "kma/containers/arena.cl"
//
//   kernel void build(global kma_heap *heap, kma_ref nodes)
//   {
//       global kma_arena *arena = kma_arena_at(heap, nodes);
//       global node *n = (global node *)kma_arena_alloc(heap, arena, sizeof(node));
//       …
//   }
//
//   void *kma_arena_alloc        (heap, arena, bytes)         memory until the arena is cleared
//   void *kma_arena_aligned_alloc(heap, arena, align, bytes)  the same, at a multiple of `align`
//   ulong kma_arena_bytes        (heap, arena)                bytes of its chunks in the heap
//   bool  kma_arena_room         (heap, arena, bytes)         reserves memory in one piece
//   void  kma_arena_clear        (heap, arena)                frees all its memory
//   void  kma_arena_delete       (heap, arena)                frees its memory and the arena
//   kma_ref kma_arena_new        (heap, least, most)          makes an empty arena in the heap
//
// In memory, with chunks in two lists (list.cl), newest first, each chunk one block of the heap:
//
//   arena: chunks -> chunk -> chunk -> …
//          large  -> chunk -> chunk -> …    one block each
//
//   chunk: block | block | … | free units | header      the list's ref leads to the header
//
// Allocation. Blocks are cut from the newest of `chunks` by one add of n units to `taken`. `taken`
// starts at KMA_ARENA_FULL minus the units for blocks, and the header is at the chunk's end: the
// sum alone locates the block, without a load of the chunk's length.
//  1. Sum at most KMA_ARENA_FULL: the caller owns the n units.
//  2. Sum above: the chunk is full for ever, and the caller sets `taken` to KMA_ARENA_FULL, which
//     keeps it from wrapping. The add is not undone: after another lane's store of KMA_ARENA_FULL a
//     subtraction would give out units that have an owner.
//  3. A lane that got nothing needs the next chunk. One lane at a time has the turn to allocate it
//     (`bringing`, lockfree/turn.cl). The others poll for it, and allocate their own chunk when
//     their patience ends: no lane depends on the progress of another.
//
// Chunk lengths. The next chunk is twice as long as the last, or long enough for `lacking`, the
// units that all waiting lanes request, whichever is more; at most `most`. If the heap has no such
// block: twice the last, then the shortest that fits, then the request alone. A lane without the
// turn counts its own request only, since others may allocate at the same time. Requests above a
// quarter of `most`, or 64 KiB, have a chunk of their own in `large`.
//
// Waste. The end of a full chunk is lost. It is shorter than the request that did not fit: less
// than a quarter of `most`. The free units of a chunk that kma_arena_room replaces are lost, too.
//
// Two lanes with new chunks: the compare-and-swap that pushes a chunk on top of the one the lane
// has looked into fails for the later lane. If the other's chunk suffices, the later lane frees its
// own. (A bump heap loses it.)
//
// A lane that is stopped for ever costs the chunk that it has not pushed yet. Its request stays in
// `lacking`, and later chunks are longer by that.
//
// Memory orders.
//  - A release pushes a chunk, an acquire finds it: the lane that cuts a block sees the header, and
//    the heap's memory after all earlier uses of it.
//  - The first look (kma_load_older_u32) may find an older chunk, which suffices or is full; if it
//    is full, the lane looks again with an acquire. On NVIDIA the first look does not acquire:
//    settled.cl says why that suffices for `taken` and for the caller's stores. Reading a chunk's
//    length needs the acquire.
//  - `taken` orders nothing.
//  - Taking the turn acquires the chunk of the lane that had it before; it is looked into first.
#ifndef KMA_CONTAINERS_ARENA_CL
#define KMA_CONTAINERS_ARENA_CL

#include "kma/kma.cl"
#include "kma/containers/arena_layout.cl"
#include "kma/containers/list.cl"
#include "kma/heap/common/blocks.cl"
#include "kma/heap/common/error_log.cl"
#include "kma/lockfree/turn.cl"
#include "kma/platform/settled.cl"

// Most units of one add. 786,432 work-items may add this number at the same time before `taken` or
// `lacking` wraps.
#ifndef KMA_ARENA_MOST_TAKEN
#define KMA_ARENA_MOST_TAKEN 4096u
#endif
// `taken` of a full chunk, and the most units of a chunk. 3 * KMA_ARENA_FULL may be added on top.
#define KMA_ARENA_FULL (1u << 30)

// Memory as a T. The tests' host shim constructs a C++ object there instead.
#ifndef KMA_OBJECT_AT
#define KMA_OBJECT_AT(T, memory) ((global T *)(memory))
#endif

typedef struct kma_arena {
    kma_list chunks; // blocks are cut from the newest
    kma_list large;  // chunks of one block each
    kma_atomic_u32 bringing; // turns to allocate a chunk (lockfree/turn.cl)
    kma_atomic_u32 lacking;  // units that all waiting lanes request
    KMA_PLAIN(uint) least;   // units of the shortest chunk
    KMA_PLAIN(uint) most;    // units of the longest, except from kma_arena_room
} kma_arena;

typedef struct kma_arena_chunk {
    kma_list_node node;     // first
    // KMA_ARENA_FULL minus the free units; for moments more than KMA_ARENA_FULL
    kma_atomic_u32 taken;
    KMA_PLAIN(uint) units;  // of the whole chunk, header included
    KMA_PLAIN(uint) unused; // pads to 16 bytes
} kma_arena_chunk;

#define KMA_ARENA_HEADER (((uint)sizeof(kma_arena_chunk) + KMA_UNIT - 1) / KMA_UNIT) // units

// Returns the arena of a ref from kma_arena_new.
static inline global kma_arena *kma_arena_at(global kma_heap *heap, kma_ref ref)
{
    return (global kma_arena *)kma_deref(heap, ref);
}

// Resets the counts of lanes that wait for a chunk, also of lanes that were stopped for ever.
static inline void kma_arena_forget(global kma_arena *arena)
{
    kma_store_u32(&arena->bringing, 0, KMA_RELAXED);
    kma_store_u32(&arena->lacking, 0, KMA_RELAXED);
}

// Makes an empty arena without a chunk, and returns its ref. Returns KMA_NULL, with an error
// record, if there is no memory. The first chunk has `least` bytes, the longest max(least, most),
// both rounded up to a power of two from 256 bytes to 16 MiB. Any lane. The caller publishes the
// ref by a release.
static inline kma_ref kma_arena_new(global kma_heap *heap, uint least, uint most)
{
    global kma_arena *arena = KMA_NEW(heap, kma_arena);
    if (!arena)
        return KMA_NULL;
    kma_list_init(&arena->chunks);
    kma_list_init(&arena->large);
    kma_arena_forget(arena);
    arena->least = kma_arena_chunk_bytes(least) / KMA_UNIT;
    arena->most = kma_arena_chunk_bytes(max(least, most)) / KMA_UNIT;
    return kma_ref_of(heap, arena);
}

// Most units that one add takes of a chunk.
static inline uint kma_arena_limit(global kma_arena *arena)
{
    return min(arena->most / 4, KMA_ARENA_MOST_TAKEN);
}

// Makes `units` of memory a chunk. The first `taken` units of it belong to the caller.
static inline global kma_arena_chunk *kma_arena_open(global void *memory, uint units, uint taken)
{
    const uint blocks = units - KMA_ARENA_HEADER;
    global kma_arena_chunk *chunk =
        KMA_OBJECT_AT(kma_arena_chunk, (global uchar *)memory + (size_t)blocks * KMA_UNIT);
    chunk->units = units;
    kma_store_u32(&chunk->taken, KMA_ARENA_FULL - blocks + taken, KMA_RELAXED);
    return chunk;
}

// Returns the start of a chunk's memory, which kma_arena_open got.
static inline global void *kma_arena_start(global kma_arena_chunk *chunk)
{
    return (global uchar *)chunk - (size_t)(chunk->units - KMA_ARENA_HEADER) * KMA_UNIT;
}

// Takes `n` units, at least 1, of a chunk; `chunk` may be NULL. Returns KMA_NULL if too few are
// free. A chunk that is too short is left as it is. Requests that fit into the shortest regular
// chunk need not read the length: shorter chunks, made for one request, are full from the start.
static inline kma_ref kma_arena_cut(global kma_heap *heap, global kma_arena *arena,
                                    global kma_arena_chunk *chunk, uint n)
{
    if (!chunk || (n + KMA_ARENA_HEADER > arena->least && n + KMA_ARENA_HEADER > chunk->units))
        return KMA_NULL;
    const uint at = kma_fetch_add_u32(&chunk->taken, n, KMA_RELAXED);
    if (at + n <= KMA_ARENA_FULL)
        return kma_ref_of(heap, chunk) - (KMA_ARENA_FULL - at);
    kma_store_u32(&chunk->taken, KMA_ARENA_FULL, KMA_RELAXED);
    return KMA_NULL;
}

static inline global kma_arena_chunk *kma_arena_newest(global kma_heap *heap,
                                                       global kma_arena *arena)
{
    return (global kma_arena_chunk *)kma_list_first(heap, &arena->chunks);
}

// Returns the newest chunk or an older one, for a request of `n` units. The cheap load suffices if
// kma_arena_cut reads `taken` alone. Longer requests read the chunk's length and need the acquire.
static inline global kma_arena_chunk *kma_arena_newest_so_far(global kma_heap *heap,
                                                              global kma_arena *arena, uint n)
{
    if (n + KMA_ARENA_HEADER > arena->least)
        return kma_arena_newest(heap, arena);
    return (global kma_arena_chunk *)kma_deref(heap, kma_load_older_u32(&arena->chunks.first));
}

// Returns the units of the shortest regular chunk with `n` units besides its header, at most
// `most`.
static inline uint kma_arena_length(global kma_arena *arena, uint n)
{
    const uint most = arena->most;
    uint units = arena->least;
    while (units < most && units - KMA_ARENA_HEADER < n) // at most 16 times
        units *= 2;
    return units;
}

// Allocates the chunk that follows `before` (NULL: the first), for the caller's `n` units and
// `wanted` of all waiting lanes. Returns NULL if there is no memory; *units is the length. Tries at
// most four lengths: for `wanted`, twice the last, the shortest that fits, `n` alone. One call of
// malloc in a loop, since some compilers inline each call.
static inline global void *kma_arena_reserve(global kma_heap *heap, global kma_arena *arena,
                                             global kma_arena_chunk *before, uint n, uint wanted,
                                             uint *units)
{
    const uint least = kma_arena_length(arena, n);
    const uint doubled = max(before ? min(before->units * 2, (uint)arena->most) : 0, least);
    *units = max(doubled, kma_arena_length(arena, wanted));
    global void *memory = (global void *)0;
    for (bool again = true; again;) { // shorter each time
        memory = kma_malloc(heap, (size_t)*units * KMA_UNIT);
        const uint shorter = *units > doubled ? doubled
                             : *units > least ? least
                                              : n + KMA_ARENA_HEADER;
        again = !memory && shorter < *units;
        *units = again ? shorter : *units;
    }
    return memory;
}

// Takes `n` units of a new chunk, which it pushes on top of `full`, the chunk that the caller
// looked into, or of a chunk that another lane has pushed since. A chunk pushed on another one than
// `full` would hide free units. Returns KMA_NULL if there is no memory.
static inline KMA_COLD kma_ref kma_arena_bring(global kma_heap *heap, global kma_arena *arena,
                                               global kma_arena_chunk *full, uint n, uint wanted)
{
    uint units;
    global void *memory = kma_arena_reserve(heap, arena, full, n, wanted, &units);
    global kma_arena_chunk *mine =
        memory ? kma_arena_open(memory, units, n) : (global kma_arena_chunk *)0;
    kma_ref theirs = KMA_NULL;
    // Ends: repeated only for each chunk of another lane that has too few free units.
    for (bool again = true; again;) {
        if (mine &&
            kma_list_push_on(heap, &arena->chunks, (global kma_list_node *)full, &mine->node))
            return kma_ref_of(heap, memory);
        full = kma_arena_newest(heap, arena);
        theirs = kma_arena_cut(heap, arena, full, n);
        again = mine && theirs == KMA_NULL;
    }
    kma_free(heap, memory);
    return theirs;
}

// Takes `n` units after `full`, the newest chunk or NULL, had too few: of another lane's chunk, or
// of a new one. `patience`: looks since the last new chunk before the caller allocates without the
// turn. Returns KMA_NULL if there is no memory.
static inline KMA_COLD kma_ref kma_arena_take_more(global kma_heap *heap, global kma_arena *arena,
                                                   global kma_arena_chunk *full, uint n,
                                                   uint patience)
{
    bool is_my_turn = false;
    kma_ref ref = KMA_NULL;
    kma_fetch_add_u32(&arena->lacking, n, KMA_RELAXED);
    // Ends: the count restarts only after another lane's push, and the number of chunks is bounded.
    for (uint looks = 0; looks < patience && !is_my_turn && ref == KMA_NULL; looks++) {
        kma_turn_pause(looks);
        is_my_turn = kma_turn_take(&arena->bringing);
        global kma_arena_chunk *newest = kma_arena_newest(heap, arena);
        if (newest != full) {
            ref = kma_arena_cut(heap, arena, newest, n);
            full = newest;
            looks = 0;
        }
    }
    if (ref == KMA_NULL) {
        // Without the turn it allocates for itself alone: the patience of many lanes may end at
        // once.
        const uint wanted = is_my_turn ? kma_load_u32(&arena->lacking, KMA_RELAXED) : n;
        if (!is_my_turn)
            kma_turn_join(&arena->bringing);
        is_my_turn = true;
        ref = kma_arena_bring(heap, arena, full, n, wanted);
    }
    kma_fetch_add_u32(&arena->lacking, 0u - n, KMA_RELAXED);
    if (is_my_turn)
        kma_turn_end(&arena->bringing);
    return ref;
}

// Takes `n` units, at least 1 and at most kma_arena_limit. Returns KMA_NULL if there is no memory.
static inline kma_ref kma_arena_take(global kma_heap *heap, global kma_arena *arena, uint n)
{
    global kma_arena_chunk *newest = kma_arena_newest_so_far(heap, arena, n);
    const kma_ref ref = kma_arena_cut(heap, arena, newest, n);
    return ref != KMA_NULL ? ref : kma_arena_take_more(heap, arena, newest, n, KMA_TURN_PATIENCE);
}

// Returns the looks of each of `lanes` lanes that look one after the other: enough for one chunk to
// arrive (60 µs on GPUs), fewer than for a lone lane. They are spent only if a lane was stopped:
// otherwise the first lane's chunk serves the others.
static inline uint kma_arena_part_of_patience(uint lanes)
{
    return 1 + KMA_TURN_PATIENCE / min(lanes, 4u);
}

// kma_arena_take for each lane of a group alone: together they request too much, or use several
// arenas. The lanes that found the chunk full go on one after the other: in lockstep, a lane could
// not allocate while its neighbours poll.
static inline kma_ref kma_arena_take_each(global kma_heap *heap, global kma_arena *arena,
                                          kma_lanes group, uint n)
{
    global kma_arena_chunk *newest = kma_arena_newest_so_far(heap, arena, n);
    kma_ref ref = kma_arena_cut(heap, arena, newest, n);
    const uint lanes = kma_lanes_count(group), mine = kma_lane_rank(group);
    for (uint turn = 0; turn < lanes; turn++)
        if (turn == mine && ref == KMA_NULL)
            ref = kma_arena_take_more(heap, arena, newest, n, kma_arena_part_of_patience(lanes));
    return ref;
}

// kma_arena_take for converged lanes of any arenas, with different `n`, which may be 0 (any ref is
// returned then). One add for all lanes of the leader's arena if the sum is within kma_arena_limit;
// if that fails, each lane alone.
static inline kma_ref kma_arena_take_together(global kma_heap *heap, global kma_arena *arena,
                                              uint n)
{
    const kma_lanes active = kma_lanes_active();
    const kma_lanes group = kma_lanes_alike(active, (ulong)arena);
    kma_ref ref = KMA_NULL;
    bool is_served = n == 0; // true, too, if nothing more can be tried
    if (kma_lane_in(group)) { // the other lanes use another arena
        const kma_scan sums = kma_lanes_scan(group, n);
        const bool fits = sums.total != 0 && sums.total <= kma_arena_limit(arena);
        is_served = is_served || sums.total == n; // no other lane requests anything
        if (fits && kma_lane_leads(group))
            ref = kma_arena_take(heap, arena, sums.total);
        ref = kma_lanes_first(group, ref);
        kma_lanes_sync(group); // the group acquires what the leader acquired
        ref += ref != KMA_NULL ? sums.before : 0;
    }
    return ref != KMA_NULL || is_served ? ref : kma_arena_take_each(heap, arena, active, n);
}

// Allocates a block with a chunk of its own. The heap checks `align`.
static inline KMA_COLD global void *
kma_arena_alloc_large(global kma_heap *heap, global kma_arena *arena, size_t align, size_t bytes)
{
    const size_t more = (size_t)KMA_ARENA_HEADER * KMA_UNIT + KMA_UNIT - 1;
    // on overflow a size that no heap can serve
    const size_t both =
        bytes <= ~(size_t)0 - more ? (bytes + more) / KMA_UNIT * KMA_UNIT : ~(size_t)0;
    global void *memory = kma_aligned_alloc(heap, align, both);
    if (!memory)
        return (global void *)0;
    const uint units = (uint)(both / KMA_UNIT);
    kma_list_push(heap, &arena->large,
                  &kma_arena_open(memory, units, units - KMA_ARENA_HEADER)->node);
    return memory;
}

// Allocates `bytes` at a multiple of `align`, a power of two (below 16: of 16), until the arena is
// cleared; contents undefined. Uses up to align - 16 bytes more. Returns NULL for 0 bytes; NULL,
// with an error record, if there is no memory. Any lane; converged lanes share one load and one
// add.
static inline global void *kma_arena_aligned_alloc(global kma_heap *heap, global kma_arena *arena,
                                                   size_t align, size_t bytes)
{
    const size_t around = align > KMA_UNIT ? align - KMA_UNIT : 0;
    const size_t limit = (size_t)kma_arena_limit(arena) * KMA_UNIT;
    const bool is_small =
        around <= limit && bytes <= limit - around && kma_can_align(heap, align, ~(size_t)0);
    const uint units = is_small ? (uint)((bytes + around + KMA_UNIT - 1) / KMA_UNIT) : 0;
    const kma_ref ref = kma_arena_take_together(heap, arena, bytes != 0 ? units : 0);
    if (bytes == 0)
        return (global void *)0;
    if (!is_small)
        return kma_arena_alloc_large(heap, arena, align, bytes);
    const uint align_units = (uint)around / KMA_UNIT + 1;
    // KMA_NULL stays KMA_NULL
    return kma_deref(heap, (ref + align_units - 1) & ~(align_units - 1));
}

// kma_arena_aligned_alloc at a multiple of 16.
static inline global void *kma_arena_alloc(global kma_heap *heap, global kma_arena *arena,
                                           size_t bytes)
{
    return kma_arena_aligned_alloc(heap, arena, KMA_UNIT, bytes);
}

// Makes sure that the newest chunk has `bytes` free, with a new chunk if necessary, which replaces
// it. Returns false if there is no memory or `bytes` exceeds 16 GiB, with an error record.
// Concurrent allocations use up the same memory. Any lane.
static inline bool kma_arena_room(global kma_heap *heap, global kma_arena *arena, ulong bytes)
{
    if (bytes > (ulong)KMA_ARENA_FULL * KMA_UNIT) {
        kma_report(&heap->header, KMA_ERROR_TOO_LARGE, KMA_NULL, bytes);
        return false;
    }
    const uint wanted = (uint)((bytes + KMA_UNIT - 1) / KMA_UNIT);
    const uint units = max(wanted + KMA_ARENA_HEADER, (uint)arena->least);
    global void *memory = (global void *)0;
    global kma_arena_chunk *mine = (global kma_arena_chunk *)0;
    // Ends: repeated once with memory, and for each chunk that another lane pushed meanwhile.
    for (bool is_there = false; !is_there;) {
        global kma_arena_chunk *newest = kma_arena_newest(heap, arena);
        const uint taken = newest ? kma_load_u32(&newest->taken, KMA_RELAXED) : KMA_ARENA_FULL + 1;
        if (taken <= KMA_ARENA_FULL && KMA_ARENA_FULL - taken >= wanted) {
            kma_free(heap, memory); // NULL, or no longer needed
            is_there = true;
        } else if (mine) {
            is_there =
                kma_list_push_on(heap, &arena->chunks, (global kma_list_node *)newest, &mine->node);
        } else {
            memory = kma_malloc(heap, (size_t)units * KMA_UNIT);
            if (!memory)
                return false;
            mine = kma_arena_open(memory, units, 0);
        }
    }
    return true;
}

// ------ the whole arena --------------------------------------------------------------------------

static inline ulong kma_arena_list_bytes(global kma_heap *heap, global kma_list *list)
{
    ulong units = 0;
    // ends at the list's end
    for (global kma_list_node *at = kma_list_first(heap, list); at; at = kma_list_next(heap, at))
        units += ((global kma_arena_chunk *)at)->units;
    return units * KMA_UNIT;
}

// Returns the bytes that the arena's chunks occupy in the heap, more than was requested. Any lane.
// One step for each chunk.
static inline ulong kma_arena_bytes(global kma_heap *heap, global kma_arena *arena)
{
    return kma_arena_list_bytes(heap, &arena->chunks) + kma_arena_list_bytes(heap, &arena->large);
}

static inline void kma_arena_free_list(global kma_heap *heap, global kma_list *list)
{
    global kma_list_node *at = kma_list_take_all(heap, list);
    while (at) { // one chunk less each time
        global kma_list_node *next = kma_list_next(heap, at);
        kma_free(heap, kma_arena_start((global kma_arena_chunk *)at));
        at = next;
    }
}

// Frees all chunks and leaves the arena empty. One work-item, while no other uses the arena:
// between two kernels, or after a barrier if one work-group owns it.
static inline void kma_arena_clear(global kma_heap *heap, global kma_arena *arena)
{
    kma_arena_free_list(heap, &arena->chunks);
    kma_arena_free_list(heap, &arena->large);
    kma_arena_forget(arena);
}

// Frees all chunks and the arena. One work-item, while no other uses the arena.
static inline void kma_arena_delete(global kma_heap *heap, global kma_arena *arena)
{
    kma_arena_clear(heap, arena);
    kma_free(heap, arena);
}

#endif
