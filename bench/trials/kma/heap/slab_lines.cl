// The lines of a slab heap: who has which, and how free ones are found.
//
// A line belongs to whoever set its bit in `used`, until he clears it. Lines that somebody wants side by side are claimed
// word by word in ascending order; who meets one that is taken gives back what he got in that attempt.
//
// Where to claim says a cursor: each place adds the lines that it wants to its own, and what that counted before is a
// number of lines in the heap, wherever others are. So on a heap that is free there, nobody meets anybody. There are three
// bands of cursors, which begin far from one another: for few lines, for many, and for slabs that lanes alone share, which
// live long and would be in the way of the others.
//
//   cursor c of n, k lines drawn before:  share k / size * n + c of its band, line k % size of it
//
// Behind the cursors two trees (lockfree/bit_tree.cl) tell of chunks, the 32 lines of a word:
//
//   some    its word is not full    =>  it is in, or somebody is about to put it in
//   whole   its word is 0           =>  likewise
//
// The reverse need not hold: who draws lines takes nothing out. Who meets a chunk where it does not belong takes it out.
//
// Those who might miss each other: who gives lines back clears their bits, then looks whether the chunk is in, and if not
// puts it in; who takes a chunk out looks at its word once more, and if it belongs there puts it back. Both touch the word
// by a read-modify-write that acquires and releases, or has fences that do before and behind it. If the one's was before the other's, that sees the free lines; else
// the first sees that the chunk is out.
#ifndef KMA_HEAP_SLAB_LINES_CL
#define KMA_HEAP_SLAB_LINES_CL

#include "kma/platform/bits.cl"
#include "kma/platform/memory.cl"
#include "kma/platform/place.cl"
#include "kma/lockfree/bit_tree.cl"
#include "kma/heap/slab_layout.cl"

// How often a place draws again from its cursor, and chunks with some free lines that are looked at, before the search
// goes through the heap.
#ifndef KMA_SL_DRAWS
#define KMA_SL_DRAWS 6u
#endif
#ifndef KMA_SL_LOOKS
#define KMA_SL_LOOKS 16u
#endif

// Who may go through the whole heap at the same time: the others get nothing, so that many who find no room are told so
// soon. More than one, so that somebody who is stopped in there for ever does not take it from all.
#define KMA_SL_SEEKERS 64u

// A heap, and its plan as it was read before the first atomic: an acquire may empty the cache.
typedef struct kma_sl_heap {
    global kma_slab *heap;
    kma_sl_plan plan;
} kma_sl_heap;

static inline kma_sl_heap kma_sl_open(global kma_slab *heap)
{
    kma_sl_heap sl;
    sl.heap = heap;
    sl.plan = heap->plan;
    return sl;
}

// The words that begin at a unit of the heap.
static inline global kma_atomic_u32 *kma_sl_at(global kma_slab *heap, uint unit)
{
    return (global kma_atomic_u32 *)((global uchar *)heap + (size_t)unit * KMA_UNIT);
}

static inline global kma_atomic_u32 *kma_sl_used(const kma_sl_heap *sl, uint chunk)
{
    return kma_sl_at(sl->heap, sl->plan.used) + chunk;
}

static inline global kma_atomic_u32 *kma_sl_tree(const kma_sl_heap *sl, uint number)
{
    return kma_sl_at(sl->heap, sl->plan.trees) + (size_t)sl->plan.tree_words * number;
}

static inline bool kma_sl_tree_is_empty(const kma_sl_heap *sl, uint number)
{
    return kma_load_u32(kma_sl_tree(sl, number) + sl->plan.tree_words - 1, KMA_RELAXED) == 0; // its root
}

static inline uint kma_sl_lines(const kma_sl_heap *sl)
{
    return sl->plan.chunks << KMA_SL_LINE_SHIFT;
}

// Of the lines [first, first + count), those of a chunk that has some, as bits of its word.
static inline uint kma_sl_mask(uint first, uint count, uint chunk)
{
    const uint begin = max(first, chunk * KMA_SL_LINE) - chunk * KMA_SL_LINE;
    const uint end = min(first + count, chunk * KMA_SL_LINE + KMA_SL_LINE) - chunk * KMA_SL_LINE;
    return 0xffffffffu >> (KMA_SL_LINE - end) & 0xffffffffu << begin;
}

// ------ the trees -------------------------------------------------------------------------------------------------

static inline bool kma_sl_belongs(uint tree, uint word)
{
    return tree == KMA_SL_TREE_SOME ? word != 0xffffffffu : word == 0;
}

static inline KMA_COLD void kma_sl_tree_put(global kma_slab *heap, uint tree, uint chunk)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    kma_bit_tree_put(kma_sl_tree(&sl, tree), sl.plan.room, chunk);
}

static inline KMA_COLD bool kma_sl_tree_take(global kma_slab *heap, uint tree, uint chunk)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    return kma_bit_tree_take(kma_sl_tree(&sl, tree), sl.plan.room, chunk);
}

// The first chunk of a tree at or behind `from`; with `around`, else the first one. KMA_BIT_TREE_NONE if there is none.
static inline KMA_COLD uint kma_sl_tree_next(global kma_slab *heap, uint tree, uint from, bool around)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    uint chunk = KMA_BIT_TREE_NONE;
    if (!kma_sl_tree_is_empty(&sl, tree))
        chunk = kma_bit_tree_next(kma_sl_tree(&sl, tree), sl.plan.room, from);
    if (chunk == KMA_BIT_TREE_NONE && around)
        chunk = kma_bit_tree_find(kma_sl_tree(&sl, tree), sl.plan.room, 0);
    return chunk;
}

// Takes a chunk out of the tree of those with some free lines, or all, if it does not belong there.
static inline KMA_COLD void kma_sl_unlist(global kma_slab *heap, uint tree, uint chunk)
{
    const kma_sl_heap sl = kma_sl_open(heap);
    if (kma_sl_tree_take(heap, tree, chunk) &&
        kma_sl_belongs(tree, kma_fetch_or_u32(kma_sl_used(&sl, chunk), 0, KMA_ACQ_REL)))
        kma_sl_tree_put(heap, tree, chunk);
}

// ------ taking and giving back --------------------------------------------------------------------------------------

// Lines of one chunk were given back, `before` being its word until then: puts it into the trees where it belongs now.
static inline void kma_sl_list_chunk(global kma_slab *heap, uint chunk, uint before, uint mask)
{
    kma_fence(KMA_ACQUIRE); // see above: who took the chunk out comes before the look whether it is in
    for (uint tree = KMA_SL_TREE_SOME; tree <= KMA_SL_TREE_WHOLE; tree++) {
        const kma_sl_heap sl = kma_sl_open(heap);
        const bool belongs = tree == KMA_SL_TREE_SOME ? before == 0xffffffffu : (before & ~mask) == 0;
        if (belongs && !kma_bit_tree_has(kma_sl_tree(&sl, tree), chunk))
            kma_sl_tree_put(heap, tree, chunk);
    }
}

// The same, for paths that are often taken.
static inline KMA_COLD void kma_sl_list_chunk_apart(global kma_slab *heap, uint chunk, uint before, uint mask)
{
    kma_sl_list_chunk(heap, chunk, before, mask);
}

// Clears bits of lines, behind the caller's release fence: who gets them next comes after all that was done with them.
static inline void kma_sl_give_in(const kma_sl_heap *sl, uint chunk, uint mask)
{
    const uint before = kma_fetch_and_u32(kma_sl_used(sl, chunk), ~mask, KMA_RELAXED);
    if (before == 0xffffffffu || (before & ~mask) == 0)
        kma_sl_list_chunk(sl->heap, chunk, before, mask);
}

// Gives back lines side by side, behind the caller's release fence. Of up to four chunks at once.
static inline void kma_sl_give(const kma_sl_heap *sl, uint first, uint lines)
{
    const uint last = (first + lines - 1) >> KMA_SL_LINE_SHIFT;
    for (uint chunk = first >> KMA_SL_LINE_SHIFT; chunk <= last; chunk += 4) {
        uint before[4];
        for (uint i = 0; i < 4; i++) { // none waits for the one before
            before[i] = 1u;
            if (chunk + i <= last)
                before[i] = kma_fetch_and_u32(kma_sl_used(sl, chunk + i), ~kma_sl_mask(first, lines, chunk + i),
                                              KMA_RELAXED);
        }
        for (uint i = 0; i < 4; i++)
            if (chunk + i <= last &&
                (before[i] == 0xffffffffu || (before[i] & ~kma_sl_mask(first, lines, chunk + i)) == 0))
                kma_sl_list_chunk_apart(sl->heap, chunk + i, before[i], kma_sl_mask(first, lines, chunk + i));
    }
}

static inline KMA_COLD void kma_sl_give_lines(global kma_slab *heap, uint first, uint lines)
{
    kma_fence(KMA_RELEASE);
    for (uint line = first; line < first + lines; line = (line / KMA_SL_LINE + 1) * KMA_SL_LINE) { // on by a chunk
        const kma_sl_heap sl = kma_sl_open(heap);
        kma_sl_give_in(&sl, line >> KMA_SL_LINE_SHIFT, kma_sl_mask(first, lines, line >> KMA_SL_LINE_SHIFT));
    }
}

// Sets bits of one chunk; returns those of them that were set already. Acquires what was done with the lines before.
static inline uint kma_sl_set_in(const kma_sl_heap *sl, uint chunk, uint mask)
{
    return kma_fetch_or_u32(kma_sl_used(sl, chunk), mask, KMA_ACQUIRE) & mask;
}

// Takes lines side by side, chunk by chunk, until one has some that are taken: how many lines it got.
static inline KMA_COLD uint kma_sl_claim(global kma_slab *heap, uint first, uint count)
{
    global kma_atomic_u32 *const used = kma_sl_at(heap, heap->plan.used);
    for (uint line = first; line < first + count;) { // on by a chunk, or once more only if others changed its word
        const uint chunk = line >> KMA_SL_LINE_SHIFT;
        const uint mask = kma_sl_mask(first, count, chunk);
        const uint word = kma_load_u32(&used[chunk], KMA_RELAXED);
        if ((word & mask) != 0)
            return line - first;
        if (kma_cas_u32(&used[chunk], word, word | mask, KMA_ACQUIRE) == word)
            line = (chunk + 1) << KMA_SL_LINE_SHIFT;
    }
    return count;
}

// Lines side by side, all or none.
static inline bool kma_sl_take_lines(global kma_slab *heap, uint first, uint count)
{
    const uint got = kma_sl_claim(heap, first, count);
    if (got != 0 && got != count)
        kma_sl_give_lines(heap, first, got);
    return got == count;
}

// ------ the cursors -------------------------------------------------------------------------------------------------

// Of the calling place.
static inline uint kma_sl_cursor_of(const kma_sl_heap *sl)
{
    return kma_place() % sl->plan.cursors;
}

static inline global kma_atomic_u32 *kma_sl_cursor(global kma_slab *heap, uint band, uint cursor)
{
    return &heap->cursors[(band * KMA_SL_CURSORS + cursor) * KMA_SL_CURSOR_STRIDE];
}

// The band for lanes together that want so many lines.
static inline uint kma_sl_band_for(uint count)
{
    return count <= 1u << (KMA_SL_FEW_SHIFT - 2) ? KMA_SL_BAND_FEW : KMA_SL_BAND_MANY;
}

static inline uint kma_sl_share_shift(uint band)
{
    return band == KMA_SL_BAND_MANY ? KMA_SL_MANY_SHIFT : KMA_SL_FEW_SHIFT;
}

// Share number `number` of a band, of `shares`: where it lies, in shares; and the other way round.
static inline uint kma_sl_place_of_share(uint band, uint number, uint shares)
{
    const uint middle = shares / 2;
    return band == KMA_SL_BAND_FEW    ? number
           : band == KMA_SL_BAND_MANY ? (number < shares - middle ? number + middle : number + middle - shares)
                                      : shares - 1 - number;
}

// The first of `count` lines that nobody else draws before the cursor has gone round; KMA_SL_NONE if they would not be
// side by side, which is so only at the end of a share, or if a share is too short. They may be taken.
static inline uint kma_sl_draw(const kma_sl_heap *sl, uint band, uint count)
{
    const uint shift = kma_sl_share_shift(band);
    const uint rounds = band == KMA_SL_BAND_MANY ? sl->plan.many_rounds : sl->plan.few_rounds;
    if (rounds == 0 || count > 1u << shift)
        return KMA_SL_NONE;
    const uint cursor = kma_sl_cursor_of(sl);
    const uint drawn = kma_fetch_add_u32(kma_sl_cursor(sl->heap, band, cursor), count, KMA_RELAXED);
    const uint within = drawn & ((1u << shift) - 1);
    uint turn = drawn >> shift;
    if (turn >= rounds)
        turn %= rounds;
    const uint share = kma_sl_place_of_share(band, turn * sl->plan.cursors + cursor, rounds * sl->plan.cursors);
    return within + count > 1u << shift ? KMA_SL_NONE : (share << shift) + within;
}

// The cursor came to lines that are taken: it goes on behind this chunk, at the next one that is whole, unless another has
// moved it meanwhile.
static inline KMA_COLD void kma_sl_skip(global kma_slab *heap, uint band, uint line)
{
    const uint chunk = kma_sl_tree_next(heap, KMA_SL_TREE_WHOLE, (line >> KMA_SL_LINE_SHIFT) + 1, true);
    if (chunk == KMA_BIT_TREE_NONE)
        return;
    const kma_sl_heap sl = kma_sl_open(heap);
    const uint shift = kma_sl_share_shift(band);
    const uint shares = (band == KMA_SL_BAND_MANY ? sl.plan.many_rounds : sl.plan.few_rounds) * sl.plan.cursors;
    const uint cursor = kma_sl_cursor_of(&sl);
    const uint seen = kma_load_u32(kma_sl_cursor(heap, band, cursor), KMA_RELAXED);
    const uint next = chunk << KMA_SL_LINE_SHIFT;
    const uint share = min(next >> shift, shares - 1);
    const uint middle = shares / 2;
    const uint number = band == KMA_SL_BAND_FEW    ? share
                        : band == KMA_SL_BAND_MANY ? (share >= middle ? share - middle : share + shares - middle)
                                                   : shares - 1 - share;
    const uint whose = number % sl.plan.cursors;
    const uint to = (number / sl.plan.cursors + (whose > cursor ? 1 : 0)) << shift |
                    (whose == cursor ? next & ((1u << shift) - 1) : 0);
    kma_cas_u32(kma_sl_cursor(heap, band, cursor), seen, to, KMA_RELAXED);
    if (kma_load_u32(kma_sl_used(&sl, chunk), KMA_RELAXED) != 0)
        kma_sl_unlist(heap, KMA_SL_TREE_WHOLE, chunk);
}

// ------ searching ---------------------------------------------------------------------------------------------------

// The first bit of `count` clear ones side by side in a word, 1 … 32; KMA_SL_NONE if there are none.
static inline uint kma_sl_gap(uint word, uint count)
{
    uint starts = ~word; // bits from which on `reach` are clear
    for (uint reach = 1; reach < count && starts != 0;) { // five steps
        const uint step = min(reach, count - reach);
        starts &= starts >> step;
        reach += step;
    }
    return starts != 0 ? kma_sl_first_bit(starts) : KMA_SL_NONE;
}

// A search for lines, or for a block. In memory, and handed from function to function: what these would keep in registers
// while they call one another, NVIDIA's compiler adds up, and every kernel that might call them has so many.
typedef struct kma_sl_search {
    global kma_slab *heap;
    volatile uint count;   // lines
    volatile uint align;   // divides the first one's number
    volatile uint line;    // what was found; KMA_SL_NONE: nothing
    volatile uint tree;
    volatile uint from;
    volatile uint to;
    volatile uint at;
    volatile uint left;
    volatile bool lost;    // others were quicker somewhere
    volatile uint units;   // of a block
    volatile uint class_align; // its alignment, in units
    volatile uint own_class;   // its class
    volatile uint size_class;  // the one that is looked at
    volatile uint step;
    volatile uint chunk;
    volatile uint undo;    // slots that are to be given back, of the slab at `line`
    volatile uint block;   // a ref
} kma_sl_search;

static inline uint kma_sl_used_now(const kma_sl_search *search, uint chunk)
{
    return kma_load_u32(kma_sl_at(search->heap, search->heap->plan.used) + chunk, KMA_RELAXED);
}

// Lines that a cursor tells of.
static inline void kma_sl_search_drawn(kma_sl_search *search)
{
    for (search->left = KMA_SL_DRAWS; search->left != 0 && search->line == KMA_SL_NONE; search->left--) {
        const kma_sl_heap sl = kma_sl_open(search->heap);
        if (kma_sl_tree_is_empty(&sl, KMA_SL_TREE_SOME))
            return;
        search->at = kma_sl_draw(&sl, KMA_SL_BAND_ALONE, search->count);
        if (search->at == KMA_SL_NONE)
            continue;
        if (kma_sl_take_lines(search->heap, search->at, search->count))
            search->line = search->at;
        else
            kma_sl_skip(search->heap, KMA_SL_BAND_ALONE, search->at);
    }
}

// Up to 32 lines of one chunk that a tree tells of, near the caller's place: of those first all of whose lines are free.
static inline void kma_sl_search_near(kma_sl_search *search)
{
    search->tree = KMA_SL_TREE_WHOLE;
    search->from = kma_mix32(kma_place()) % search->heap->plan.chunks;
    for (search->left = 2 * KMA_SL_LOOKS; search->left != 0; search->left--) {
        search->chunk = kma_sl_tree_next(search->heap, search->tree, search->from, true);
        if (search->chunk == KMA_BIT_TREE_NONE || search->left == KMA_SL_LOOKS) {
            if (search->tree == KMA_SL_TREE_SOME)
                return;
            search->tree = KMA_SL_TREE_SOME;
            continue;
        }
        const uint word = kma_sl_used_now(search, search->chunk);
        const uint bit = kma_sl_gap(word, search->count);
        search->from = search->chunk + (bit == KMA_SL_NONE ? 1 : 0); // who is beaten tries there again
        search->at = (search->chunk << KMA_SL_LINE_SHIFT) + bit;
        if (bit != KMA_SL_NONE && kma_sl_take_lines(search->heap, search->at, search->count)) {
            search->line = search->at;
            return;
        }
        if (!kma_sl_belongs(search->tree, word))
            kma_sl_unlist(search->heap, search->tree, search->chunk);
    }
}

// The first lines side by side in the chunks from `from` on, in front of `to`.
static inline void kma_sl_search_between(kma_sl_search *search)
{
    uint first = search->from << KMA_SL_LINE_SHIFT; // free lines begin there, up to `at`
    search->at = first;
    while (search->at < search->to << KMA_SL_LINE_SHIFT) { // on to the end of a chunk, or of equal bits
        const uint chunk = search->at >> KMA_SL_LINE_SHIFT;
        if (search->at % KMA_SL_LINE == 0 && search->at == first) { // past chunks without a free line
            const uint next = kma_sl_tree_next(search->heap, KMA_SL_TREE_SOME, chunk, false);
            if (next == KMA_BIT_TREE_NONE)
                return;
            if (next != chunk) {
                first = search->at = next << KMA_SL_LINE_SHIFT;
                continue;
            }
        }
        const uint word = kma_sl_used_now(search, search->at >> KMA_SL_LINE_SHIFT);
        const uint end = ((search->at >> KMA_SL_LINE_SHIFT) + 1) << KMA_SL_LINE_SHIFT;
        const uint ahead = word >> (search->at % KMA_SL_LINE);
        if ((ahead & 1u) != 0) {
            const uint behind = min(ahead != 0xffffffffu ? search->at + kma_sl_first_bit(~ahead) : end, end);
            first = search->at = (behind + search->align - 1) / search->align * search->align;
            if (word == 0xffffffffu)
                kma_sl_unlist(search->heap, KMA_SL_TREE_SOME, (end >> KMA_SL_LINE_SHIFT) - 1);
            continue;
        }
        search->at = ahead != 0 ? search->at + kma_sl_first_bit(ahead) : end;
        if (search->at < first + search->count)
            continue;
        if (kma_sl_take_lines(search->heap, first, search->count)) {
            search->line = first;
            return;
        }
        search->lost = true;
        first = search->at = (first + search->align) / search->align * search->align;
    }
}

// By a walk through the heap. A lone caller finds lines if there are any.
static inline void kma_sl_search_all(kma_sl_search *search)
{
    if (kma_fetch_add_u32(&search->heap->seekers, 1, KMA_RELAXED) < KMA_SL_SEEKERS) {
        const uint start = kma_load_u32(&search->heap->next_run, KMA_RELAXED) % search->heap->plan.chunks;
        search->lost = false;
        for (search->left = 8; search->left != 0 && search->line == KMA_SL_NONE; search->left--) { // a walk has two parts
            const bool is_rest = search->left % 2 != 0; // those that reach over its start, too
            if (!is_rest && search->left != 8 && !search->lost)
                break;
            search->lost = search->lost && is_rest;
            search->from = is_rest ? 0 : start;
            search->to = is_rest ? min(search->heap->plan.chunks, start + (search->count >> KMA_SL_LINE_SHIFT) + 2)
                                 : search->heap->plan.chunks;
            kma_sl_search_between(search);
        }
        if (search->line != KMA_SL_NONE)
            kma_store_u32(&search->heap->next_run, (search->line + search->count) >> KMA_SL_LINE_SHIFT, KMA_RELAXED);
    }
    kma_fetch_add_u32(&search->heap->seekers, ~0u, KMA_RELAXED);
}

// `count` lines side by side for the caller alone, whose number `align` divides; KMA_SL_NONE at out of memory.
static inline void kma_sl_search_lines(kma_sl_search *search)
{
    search->line = KMA_SL_NONE;
    if (search->align == 1)
        kma_sl_search_drawn(search);
    if (search->line == KMA_SL_NONE && search->align == 1 && search->count <= KMA_SL_LINE)
        kma_sl_search_near(search);
    if (search->line != KMA_SL_NONE)
        return;
    const kma_sl_heap sl = kma_sl_open(search->heap);
    if (search->count <= kma_sl_lines(&sl) && !kma_sl_tree_is_empty(&sl, KMA_SL_TREE_SOME))
        kma_sl_search_all(search);
}

#endif
