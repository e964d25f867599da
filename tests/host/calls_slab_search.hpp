// Where the slab heap looks for lines: cursors, gaps and walks, each asked directly in heaps whose words are set here.
#pragma once

#include "calls.hpp"
#include "heap_slab.hpp"

namespace calls {

// ------ a heap of many chunks, of which there are only the metadata -------------------------------------------------

struct search_heap {
    kma_slab *heap;
    kma_sl_heap sl;

    explicit search_heap(uint chunks)
    {
        alignas(4096) static uchar memory[640 * 1024];
        ulong end;
        const kma_sl_plan plan = kma_sl_plan_of(chunks, KMA_SL_CURSORS, 0, &end);
        shim::check(size_t{plan.begin} * KMA_UNIT <= sizeof(memory), "too many chunks for this test");
        heap = reinterpret_cast<kma_slab *>(memory);
        shim::self().operations = 0;
        std::memset(static_cast<void *>(heap), 0xa5, size_t{plan.begin} * KMA_UNIT);
        for (uint me = 0; me < 100; me++) { // each has few operations
            shim::self().operations = 0;
            kma_slab_init(heap, end * KMA_UNIT, 0, KMA_SL_CURSORS, false, me, 100);
        }
        shim::self().operations = 0;
        shim::self().id = 0;
        sl = kma_sl_open(heap);
        shim::check(sl.plan.chunks == chunks && sl.plan.cursors == 2 && sl.plan.places == 2, "another plan");
    }

    static void fresh() { shim::self().operations = 0; }
    uint used(uint chunk) const { return kma_sl_used(&sl, chunk)->peek(shim::location::current()); }
    bool has_room_bit(uint chunk) const
    {
        return (kma_load_u32(kma_sl_rooms(&sl, chunk), KMA_RELAXED) >> chunk % 32 & 1u) != 0;
    }
    void put(uint chunk, uint word) const
    {
        fresh();
        kma_store_u32(kma_sl_used(&sl, chunk), word, KMA_RELAXED);
        if (word == ~0u)
            kma_fetch_and_u32(kma_sl_rooms(&sl, chunk), ~(1u << chunk % 32), KMA_RELAXED);
        else
            kma_fetch_or_u32(kma_sl_rooms(&sl, chunk), 1u << chunk % 32, KMA_RELAXED);
    }
    void put_all(uint word) const
    {
        for (uint chunk = 0; chunk < sl.plan.chunks; chunk++)
            put(chunk, word);
    }
    bool is_free(uint line) const { return (used(line / 32) >> line % 32 & 1u) == 0; }
    bool are_free(uint first, uint count) const
    {
        for (uint line = first; line < first + count; line++)
            if (line >= sl.plan.chunks * 32 || !is_free(line))
                return false;
        return true;
    }
    // The first lines in [from, to) that are free, from a multiple of `align` on.
    uint first_free(uint from, uint to, uint count, uint align) const
    {
        for (uint first = (from + align - 1) / align * align; first + count <= to; first += align)
            if (are_free(first, count))
                return first;
        return KMA_SL_NONE;
    }
    uint looked() const { return kma_load_u32(kma_sl_looked(&sl), KMA_RELAXED); }
    void look_at(uint chunk) const { kma_store_u32(kma_sl_looked(&sl), chunk, KMA_RELAXED); }
    uint look(uint count) const
    {
        fresh();
        return kma_sl_look(heap, count, KMA_SL_LOOKS);
    }
};

// ------ cursors -----------------------------------------------------------------------------------------------------

inline void check_search_draws()
{
    for (uint count = 1; count <= 32; count++) // few: of which a share has room for four times as many
        shim::check(kma_sl_band_for(count) == (count * 4 <= 8 ? KMA_SL_BAND_FEW : KMA_SL_BAND_MANY), "the band");
    shim::check(kma_sl_share_shift(KMA_SL_BAND_FEW) == 3 && kma_sl_share_shift(KMA_SL_BAND_MANY) == 5,
                "lines of a share");
    const search_heap in(8);
    shim::check(kma_sl_band_rounds(&in.sl, KMA_SL_BAND_FEW) == 16 && kma_sl_band_rounds(&in.sl, KMA_SL_BAND_MANY) == 4,
                "shares of a cursor");
    for (const uint cursor : {0u, 1u}) {
        shim::self().id = cursor;
        // Each second share of eight lines; the third one would reach into a share of the other cursor.
        for (const uint right : {0u, 3u, KMA_SL_NONE, 17u, 20u, KMA_SL_NONE, 34u, 37u})
            shim::check(kma_sl_draw(&in.sl, KMA_SL_BAND_FEW, 3) == right + (right == KMA_SL_NONE ? 0 : cursor * 8),
                        "lines of a cursor");
        shim::check(kma_sl_draw(&in.sl, KMA_SL_BAND_FEW, 9) == KMA_SL_NONE, "more lines than a share has");
        // From the middle on: each second chunk, and then from the first one on.
        for (const uint right : {128u, 192u, 0u, 64u, 128u})
            shim::check(kma_sl_draw(&in.sl, KMA_SL_BAND_MANY, 32) == right + cursor * 32, "a share as a whole");
        shim::check(kma_sl_draw(&in.sl, KMA_SL_BAND_MANY, 33) == KMA_SL_NONE, "more lines than a share has");
    }
    shim::self().id = 0;
}

// A chunk counts as free only as a whole.
inline void check_search_ahead()
{
    shim::check(kma_sl_share_chunks(3) == 1 && kma_sl_share_chunks(5) == 1 && kma_sl_share_chunks(8) == 8 &&
                    kma_sl_share_chunks(11) == 64,
                "chunks of a share");
    const search_heap in(200);
    static constexpr uint distances[] = {0, 21, 42, 63};
    shim::check(kma_sl_free_ahead(&in.sl, 100, 64) == 4 && kma_sl_free_ahead(&in.sl, 199, 1) == 4, "all is free ahead");
    in.put(101, ~0u); // none that is looked at
    in.put(164, ~0u);
    shim::check(kma_sl_free_ahead(&in.sl, 100, 64) == 4, "all that is looked at is free");
    for (uint n = 4; n-- != 0;) { // the nearest one counts
        in.put(100 + distances[n], 1u << n);
        shim::check(kma_sl_free_ahead(&in.sl, 100, 64) == n, "free chunks ahead");
    }
    shim::check(kma_sl_free_ahead(&in.sl, 101, 1) == 0, "one chunk");
}

// Where a cursor goes that led to lines of others. Of 200 chunks, of the few lines each chunk has two shares of both cursors, of the
// many each second chunk is a share of cursor 0, from the middle on.
class search_course {
public:
    search_course(uint band, uint cursor) : band_(band), cursor_(cursor), word_(kma_sl_cursor(in_.heap, band, cursor))
    {
        shim::self().id = cursor;
    }
    ~search_course() { shim::self().id = 0; }

    uint share() const { return band_ == KMA_SL_BAND_FEW ? 8 : 32; }
    uint chunk_of(uint number) const // of a share of the cursor's
    {
        return kma_sl_counted_line(&in_.sl, band_, cursor_, number * share()) / 32;
    }
    void use(uint number) { in_.put(chunk_of(number), 1u); }
    void free(uint number) { in_.put(chunk_of(number), 0); }

    // The cursor is in share `seen`, came there from share `home`, and led the caller to a line of share `met`.
    void check(uint seen, uint home, uint met, uint right, uint right_home)
    {
        search_heap::fresh();
        put(word_, seen * share() + 3);
        put(word_ + 1, home * share());
        kma_sl_move_cursor(in_.heap, band_, chunk_of(met) * 32 + (band_ == KMA_SL_BAND_FEW ? met % 2 * 16 + cursor_ * 8 : 0) + 2);
        shim::check(now(word_) == right * share() + (right == seen ? 3 : 0), "where a cursor is moved to");
        shim::check(now(word_ + 1) == right_home * share(), "where a cursor began");
    }

private:
    const search_heap in_{200};
    uint band_, cursor_;
    kma_atomic_u32 *word_;
};

inline void check_search_moves()
{
    for (const uint band : {KMA_SL_BAND_FEW, KMA_SL_BAND_MANY})
        for (const uint cursor : {0u, 1u}) {
            search_course in(band, cursor);
            const uint round = band == KMA_SL_BAND_FEW ? 400 : 100; // shares
            for (uint number = 0; number < round; number++)
                in.use(number);
            in.check(20, 10, 20, 20, 10); // nothing is free
            in.free(30); // beyond those that are looked at, as two shares of few lines are in a chunk
            in.check(20, 10, 20, 20, 10);
            in.free(28);
            in.check(20, 10, 20, 28, 28);
            in.free(26); // the first one
            in.check(20, 10, 20, 26, 26);
            in.check(20, 10, 12, 26, 26); // who was led to others long ago, but nobody moved it since
            in.check(20, 10, 8, 20, 10);  // somebody did, forwards
            in.check(20, 10, 22, 20, 10); // or home
            in.check(20 + 3 * round, 10 + 3 * round, 20, 26 + 3 * round, 26 + 3 * round); // going round for the third time
            in.free(10);
            in.check(20, 10, 20, 10, 10); // home
            in.free(20);
            const uint next = band == KMA_SL_BAND_FEW ? 21 : 26; // of few lines in the same chunk
            in.check(20, 20, 20, next, next); // not home, which is where he met others
            const uint last = round - 1; // round the end
            in.free(3);
            const uint first = round + (band == KMA_SL_BAND_FEW ? 2 : 3);
            in.check(last, last - 2, last, first, first);
            in.check(round + 1, round - 3, 0, first, first); // where he met others is behind the end, too
        }
}

// ------ gaps --------------------------------------------------------------------------------------------------------

inline void check_search_take_gap()
{
    const search_heap in(4);
    for (uint seed = 0; seed < 600; seed++) {
        const uint random = kma_mix32(seed);
        const uint word =
            seed % 8 == 0 ? ~0u << random % 32 : (random | kma_mix32(seed ^ 0x99)) & ~(0x3fu << seed % 27);
        const uint count = 1 + seed % 32;
        in.put(2, word);
        const uint first = in.first_free(64, 96, count, 1), right = first == KMA_SL_NONE ? 0 : count;
        shim::check(kma_sl_take_gap(&in.sl, 2, count) == first, "lines of a gap");
        for (uint line = 64; line < 96; line++)
            shim::check(in.is_free(line) == ((word >> line % 32 & 1u) == 0 && line - first >= right),
                        "other lines than were taken");
        shim::check(in.has_room_bit(2) == (word != ~0u), "a chunk with room");
    }
    in.put(2, ~0u);
    kma_fetch_or_u32(kma_sl_rooms(&in.sl, 2), 4u, KMA_RELAXED);
    shim::check(kma_sl_take_gap(&in.sl, 2, 1) == KMA_SL_NONE, "a line of a full chunk");
    shim::check(!in.has_room_bit(2) && in.has_room_bit(1) && in.has_room_bit(3),
                "who meets a full chunk clears its bit");
}

// Three looks near where the place looked last, two anywhere, and a last one.
inline void check_search_looks()
{
    static constexpr uint tiny = ~(1u << 5); // one free line
    static constexpr uint gap = 0x0000ffffu;
    static constexpr uint ids = 32; // each second is of place 0
    const search_heap in(300);
    in.look_at(100); // all is free: one chunk after the other
    for (uint n = 0; n < 20; n++) {
        shim::check(in.look(4) == 3200 + n * 4, "lines where the place looked last");
        shim::check(in.looked() == 100 + n / 8, "where the place looked");
    }
    kma_sl_set_scarce(in.heap, 4);
    shim::check(in.look(4) == KMA_SL_NONE && in.look(3) != KMA_SL_NONE, "a look for what is scarce");
    kma_sl_set_scarce(in.heap, 0);

    in.put_all(tiny);
    in.put(102, gap);
    in.look_at(100);
    shim::check(in.look(4) == 102 * 32 + 16 && in.looked() == 102, "the next chunks come first");
    in.put(1, gap);
    in.look_at(299);
    shim::check(in.look(4) == 32 + 16 && in.looked() == 1, "behind the last chunk comes the first one");

    // Nothing near: two looks in chunks that are partly used, which leave the place where it was.
    uint far = 0;
    for (uint id = 0; id < ids; id += 2) {
        shim::self().id = id;
        in.put_all(gap);
        for (const uint chunk : {100u, 101u, 102u})
            in.put(chunk, tiny);
        in.look_at(100);
        const uint first = in.look(4);
        shim::check(first != KMA_SL_NONE && first % 32 == 16 && in.looked() == 103, "a look far away");
        far += first / 32 < 90 || first / 32 > 113;
    }
    shim::check(far > ids / 4, "all look at the same place");

    // Nothing that is partly used: the last look takes what is wholly free, and the place goes on from there.
    uint served = 0;
    for (uint id = 0; id < ids; id += 2) {
        shim::self().id = id;
        in.put_all(0);
        for (const uint chunk : {100u, 101u, 102u})
            in.put(chunk, tiny);
        in.look_at(100);
        const uint first = in.look(4);
        served += first != KMA_SL_NONE;
        shim::check(first == KMA_SL_NONE || in.looked() == first / 32, "the place goes on from the last look");
    }
    shim::check(served > ids / 4, "a last look finds nothing, though all is free");

    // In vain: where the last look ended, even if the place began there. Most looks anywhere are in front of chunk 289.
    uint back = 0;
    for (uint id = 0; id < ids; id += 2) {
        shim::self().id = id;
        in.put_all(~0u);
        in.put(289, tiny);
        in.put(295, tiny);
        in.look_at(290);
        shim::check(in.look(4) == KMA_SL_NONE, "lines that there are not");
        back += in.looked() == 290;
    }
    shim::check(back > ids / 4, "the place goes on from elsewhere than the last look");
    shim::self().id = 0;
}

// A look passes over so many full chunks, and the next one goes on there.
inline void check_search_far_looks()
{
    const search_heap in(2000);
    in.put_all(~0u);
    for (uint id = 0; id < 32; id += 2) {
        shim::self().id = id;
        in.put(KMA_SL_FAR, 0);
        in.look_at(0);
        shim::check(in.look(4) == KMA_SL_FAR * 32 && in.looked() == KMA_SL_FAR,
                    "the first chunk behind a look");
    }
    shim::self().id = 0;
}

// ------ the whole heap ----------------------------------------------------------------------------------------------

// Chunks that are full, free, or with holes of different lengths.
inline void put_search_state(const search_heap &in, uint seed)
{
    for (uint chunk = 0; chunk < in.sl.plan.chunks; chunk++) {
        const uint random = kma_mix32(seed * 16 + chunk);
        const uint hole = (~0u >> random / 256 % 32) << random / 8192 % 32;
        static constexpr uint kinds = 8;
        in.put(chunk, random % kinds < 2    ? ~0u
                      : random % kinds == 2 ? 0
                      : random % kinds < 6  ? ~hole
                                            : kma_mix32(random));
        if (random % 64 < 8) // a bit that is left, as nobody has met the full chunk
            kma_fetch_or_u32(kma_sl_rooms(&in.sl, chunk), 1u << chunk, KMA_RELAXED);
    }
}

inline void check_search_walks()
{
    const search_heap in(6);
    for (uint seed = 0; seed < 1500; seed++) {
        const uint random = kma_mix32(seed ^ 0x5a5a);
        const uint from = random % 6, to = from + 1 + random / 8 % (6 - from), align = 1u << random / 64 % 4;
        const uint count = random / 1024 % 2 != 0 ? 1 + random / 2048 % 70 : 1 + random / 2048 % 12;
        put_search_state(in, seed);
        const uint right = in.first_free(from * 32, to * 32, count, align);
        search_heap::fresh();
        shim::check(kma_sl_walk(in.heap, from, to, count, align) == right, "the first lines of a walk");
        if (right == KMA_SL_NONE)
            continue;
        kma_sl_give_lines(in.heap, right, count);
        shim::check(in.first_free(from * 32, to * 32, count, align) == right, "lines that were not free");
    }
    in.put_all(0);
    in.put(1, ~0u);
    kma_fetch_or_u32(kma_sl_rooms(&in.sl, 1), 2u, KMA_RELAXED);
    shim::check(kma_sl_walk(in.heap, 1, 6, 3, 1) == 64, "lines behind a full chunk");
    shim::check(!in.has_room_bit(1) && in.has_room_bit(0) && in.has_room_bit(2),
                "who meets a full chunk clears its bit");
}

inline void check_search_next_run()
{
    const search_heap in(3);
    kma_store_u32(kma_sl_used(&in.sl, 3), 0, KMA_RELAXED); // of no chunk, though it looks free
    for (uint first = 0; first <= 84; first += 7)
        shim::check(kma_sl_next_run(in.heap, 7) == first && !in.is_free(first + 6) && in.is_free(first + 7),
                    "runs side by side");
    for (uint n = 0; n < 3; n++) // there would be another at the heap's end; the first ones are taken
        shim::check(kma_sl_next_run(in.heap, 7) == KMA_SL_NONE, "a run of lines that are taken, or not there");
    const uint next = kma_load_u32(&in.heap->next_run, KMA_RELAXED);
    shim::check(kma_sl_next_run(in.heap, 97) == KMA_SL_NONE, "a run longer than the heap");
    shim::check(kma_load_u32(&in.heap->next_run, KMA_RELAXED) == next, "a run that cannot be moves those to come");
    in.put_all(0);
    kma_store_u32(&in.heap->next_run, 50, KMA_RELAXED);
    shim::check(kma_sl_next_run(in.heap, 96) == 0, "a run as long as the heap");
}

// From the chunk on where runs are looked for, and then in front of it.
inline void check_search_seeks()
{
    const search_heap in(6);
    for (uint seed = 0; seed < 1500; seed++) {
        const uint random = kma_mix32(seed ^ 0x777);
        const uint align = random % 2 != 0 ? 1 : 1u << random / 4 % 4;
        const uint count = random / 16 % 2 != 0 ? 1 + random / 32 % 100 : 1 + random / 32 % 12;
        const uint next = random / 4096 % 400;
        static constexpr uint before[] = {0, 1, 2, 5, 40, 101};
        const uint scarce = before[seed % std::size(before)];
        put_search_state(in, seed + 5000);
        kma_store_u32(kma_sl_used(&in.sl, 6), 0, KMA_RELAXED); // of no chunk, though it looks free
        kma_store_u32(&in.heap->next_run, next, KMA_RELAXED);
        kma_sl_set_scarce(in.heap, scarce);
        uint right = in.first_free(next / 32 % 6 * 32, 192, count, align);
        if (right == KMA_SL_NONE)
            right = in.first_free(0, 192, count, align);
        search_heap::fresh();
        shim::check(kma_sl_seek(in.heap, count, align) == right, "the lines that a search finds");
        const bool is_found = right != KMA_SL_NONE;
        shim::check(kma_load_u32(&in.heap->next_run, KMA_RELAXED) == (is_found ? right + count : next),
                    "where the next search begins");
        const uint least = scarce == 0 || count < scarce ? count : scarce; // of all that was looked for in vain
        shim::check(kma_load_u32(&in.heap->scarce, KMA_RELAXED) == (is_found     ? 0
                                                                    : align == 1 ? least
                                                                                 : scarce),
                    "what is scarce");
    }
    in.put_all(0);
    shim::check(kma_sl_seek(in.heap, 193, 1) == KMA_SL_NONE && kma_sl_seek(in.heap, 192, 1) == 0, "all lines, or more");
}

// ------ long runs ---------------------------------------------------------------------------------------------------

// Of `chunks`: runs of up to `most` lines with gaps between them, some chunks as if of small blocks, and chunks without a bit
// that are full, as runs leave them.
inline void put_long_state(const search_heap &in, uint seed, uint most)
{
    uint state = seed * 0x9e3779b9u;
    const auto draw = [&state](uint limit) { return (state = kma_mix32(state + 0x9e3779b9u)) % limit; };
    const uint chunks = in.sl.plan.chunks;
    in.put_all(0);
    const uint share = 1 + draw(6);
    for (uint line = draw(2) * draw(most); line < chunks * 32;) {
        const uint end = std::min(line + 1 + draw(most), chunks * 32);
        for (uint at = line; at < end; at++) {
            const uint bits = kma_sl_mask(at, end - at, at / 32);
            in.put(at / 32, in.used(at / 32) | bits);
            at |= 31;
        }
        line = end + (draw(6) < share ? draw(most) : draw(3));
    }
    for (uint n = draw(4); n != 0; n--)
        in.put(draw(chunks), kma_mix32(draw(1000)));
    for (uint n = draw(4); n != 0; n--) // that nobody has met
        kma_fetch_or_u32(kma_sl_rooms(&in.sl, draw(chunks) / 32 * 32), 1u << draw(std::min(chunks, 32u)), KMA_RELAXED);
}

// The first lines that are free, wherever they begin and end in their chunks.
inline void check_search_far_walks()
{
    for (const uint chunks : {4u, 70u}) {
        const search_heap in(chunks);
        for (uint seed = 0; seed < 600; seed++) {
            const uint random = kma_mix32(seed ^ 0x1234 ^ chunks << 20);
            const uint all = in.sl.plan.chunks;
            const uint from = random % 4 != 0 ? 0 : random / 4 % all;
            const uint to = random / 256 % 4 != 0 ? all : from + random / 1024 % (all - from + 1);
            const uint align = random % 3 != 0 ? 1 : 1u << random / 4 % 4;
            const uint count = 63 + kma_mix32(random) % (chunks == 4 ? 66 : seed % 2 ? 200 : 1400);
            put_long_state(in, seed, 1 + kma_mix32(seed) % (chunks == 4 ? 60 : seed % 2 ? 300 : 1200));
            const uint right = in.first_free(from * 32, to * 32, count, align);
            search_heap::fresh();
            shim::check(kma_sl_walk_far(in.heap, from, to, count, align, 1, true) == right, "the first lines of a long run");
            if (right == KMA_SL_NONE)
                continue;
            kma_sl_give_lines(in.heap, right, count);
            shim::check(in.first_free(from * 32, to * 32, count, align) == right, "lines that were not free");
        }
    }
}

// Whom others beat, or who hopes for chunks that have no room: where he goes on, and what he leaves.
inline void check_search_claims()
{
    const search_heap in(70);
    for (uint seed = 0; seed < 400; seed++) {
        const uint random = kma_mix32(seed ^ 0x4321);
        const uint first = random % 1000, count = 1 + kma_mix32(random) % 1200, end = first + count;
        const uint taken = first - first % 2 + kma_mix32(random ^ 1) % (count + 40);
        in.put_all(0);
        if (seed % 8 != 0)
            in.put(taken / 32, in.used(taken / 32) | 1u << taken % 32);
        if (seed % 8 == 1) // full, and no search need have met it
            in.put(first / 32 + 1, ~0u);
        const bool is_free = in.are_free(first, count);
        uint before[70];
        for (uint chunk = 0; chunk < 70; chunk++)
            before[chunk] = in.used(chunk);
        search_heap::fresh();
        const uint met = kma_sl_claim(in.heap, first, count);
        shim::check((met == KMA_SL_NONE) == is_free, "whether lines were taken");
        shim::check(is_free || (met >= first / 32 && met <= (end - 1) / 32 &&
                                (before[met] & kma_sl_mask(first, count, met)) != 0),
                    "the chunk in which others have lines");
        for (uint chunk = 0; chunk < 70; chunk++) {
            const bool touches = chunk >= first / 32 && chunk <= (end - 1) / 32;
            const bool is_whole = chunk > first / 32 && chunk < (end - 1) / 32;
            shim::check(in.used(chunk) == (before[chunk] | (is_free && touches ? kma_sl_mask(first, count, chunk) : 0)),
                        "lines that were claimed, or given back");
            shim::check(in.has_room_bit(chunk) == (before[chunk] != ~0u && !(is_free && is_whole)),
                        "what is hidden, or shown again");
        }
        if (is_free) {
            kma_sl_give_lines(in.heap, first, count);
            for (uint chunk = 0; chunk < 70; chunk++)
                shim::check(in.used(chunk) == before[chunk] && (in.has_room_bit(chunk) || before[chunk] == ~0u),
                            "lines that were given back");
        }
    }
}

// By rooms alone, and by words.
inline void check_search_hopes()
{
    const search_heap in(200);
    for (uint seed = 0; seed < 500; seed++) {
        const uint random = kma_mix32(seed ^ 0x2468);
        const uint from = random % 5 != 0 ? random % 60 : 0, to = random / 64 % 3 != 0 ? 200 : from + 1 + random / 256 % (200 - from);
        const uint count = 1 + kma_mix32(random) % (seed % 2 ? 8 : 80);
        bool full[200];
        for (uint chunk = 0; chunk < 200; chunk++) {
            full[chunk] = kma_mix32(seed * 256 + chunk) % (2 + seed % 30) == 0;
            in.put(chunk, full[chunk] ? ~0u : 0);
        }
        uint right = to, length = 0, next = from;
        for (uint chunk = from; chunk < to && right == to; chunk++)
            if ((length = full[chunk] ? 0 : length + 1) == count)
                right = chunk + 1 - count;
        search_heap::fresh();
        shim::check(kma_sl_next_hope(in.heap, from, to, count) == right, "the first chunks that may be free");
        const uint look = std::min((from / 32 + KMA_SL_FAR_SIGHT) * 32, to);
        while (next < look && !full[next])
            next++;
        shim::check(kma_sl_next_full(in.heap, from, to) == next, "the next chunk without room");
    }
    in.put_all(0);
    for (uint chunk = 20; chunk < 28; chunk++)
        in.put(chunk, chunk == 22 ? 0xfffffffeu : chunk == 26 ? 0 : ~0u);
    kma_fetch_or_u32(kma_sl_rooms(&in.sl, 0), ~0u, KMA_RELAXED);
    search_heap::fresh();
    shim::check(kma_sl_see(in.heap, 20, 24) == 0 && kma_sl_see(in.heap, 24, 27) == 4, "the chunks that are free");
    for (uint chunk = 18; chunk < 30; chunk++)
        shim::check(in.has_room_bit(chunk) == (in.used(chunk) != ~0u || chunk == 27), "which chunks that are full show room");
}

// Draws, and the places in front of them and behind them.
inline void check_search_long()
{
    const search_heap in(70);
    const auto set_next = [&in](uint line) { kma_store_u32(&in.heap->next_long, line, KMA_RELAXED); };
    const auto next = [&in] { return kma_load_u32(&in.heap->next_long, KMA_RELAXED); };
    const auto seek = [&in](uint count, uint align) {
        search_heap::fresh();
        return kma_sl_seek_long(in.heap, count, align);
    };
    for (uint seed = 0; seed < 600; seed++) { // wherever draws lead, a lone caller gets lines if there are some
        const uint random = kma_mix32(seed ^ 0x1357);
        const uint count = 63 + random % (seed % 2 ? 150 : 1200), align = random / 4096 % 3 != 0 ? 1 : 8;
        put_long_state(in, seed + 777, 1 + kma_mix32(random) % (seed % 2 ? 200 : 900));
        set_next(kma_mix32(random ^ 7));
        const uint right = in.first_free(0, 2240, count, align);
        uint before[70];
        for (uint chunk = 0; chunk < 70; chunk++)
            before[chunk] = in.used(chunk);
        const uint first = seek(count, align);
        shim::check((first == KMA_SL_NONE) == (right == KMA_SL_NONE), "a lone caller and a place for a long run");
        for (uint line = 0; line < 2240; line++) {
            const bool is_its = first != KMA_SL_NONE && line >= first && line < first + count;
            shim::check(in.is_free(line) == ((before[line / 32] >> line % 32 & 1u) == 0 && !is_its),
                        "the lines of a long run");
        }
        shim::check(first == KMA_SL_NONE || first % align == 0, "where a long run begins");
        shim::check(kma_load_u32(&in.heap->scarce, KMA_RELAXED) == (first == KMA_SL_NONE && align == 1 ? count : 0),
                    "what is scarce");
        kma_sl_set_scarce(in.heap, 0);
    }
    in.put_all(0);
    set_next(1000);
    shim::check(seek(100, 1) == 0 && next() == 1000, "not the first place in front of the draws");
    in.put_all(0);
    for (uint chunk = 0; chunk < 31; chunk++)
        in.put(chunk, 1u << 9);
    shim::check(seek(100, 1) == 1000 && next() == 1100, "not what is drawn");
    shim::check(kma_sl_draw_long(in.heap, 70) == 1100 && next() == 1170, "not the next draw");
    in.put(37, 1u);
    shim::check(kma_sl_draw_long(in.heap, 70) == KMA_SL_NONE && next() == 1240, "lines of others were drawn");
    set_next(1150); // these are taken, too: the first place behind them
    in.put(38, 1u << 31);
    shim::check(seek(100, 1) == 39 * 32 && next() == 39 * 32 + 100, "not the first place behind the draws");
    shim::check(kma_sl_draw_long(in.heap, 2241) == KMA_SL_NONE && seek(2241, 1) == KMA_SL_NONE, "more lines than there are");
    in.put_all(0);
    set_next(0);
    shim::check(seek(2240, 1) == 0, "a run as long as the heap");
}

// Who found a place moves those who draw behind it, if they are between where he began and its end.
inline void check_search_long_moves()
{
    const search_heap in(10);
    for (const uint from : {0u, 64u, 300u})
        for (const uint end : {1u, 70u, 299u, 300u, 310u, 320u})
            for (const uint next : {0u, 1u, 63u, 64u, 69u, 70u, 298u, 299u, 300u, 309u, 319u, 320u, 325u, 640u}) {
                kma_store_u32(&in.heap->next_long, next, KMA_RELAXED);
                kma_sl_move_long(in.heap, from, end);
                const bool is_between = (next + 640 - from) % 320 < (end + 640 - from) % 320;
                shim::check(kma_load_u32(&in.heap->next_long, KMA_RELAXED) == (is_between ? end : next),
                            "where long runs are drawn next");
            }
}

inline void check_slab_search()
{
    const uint together = std::exchange(shim::place_items, 1u);
    check_search_draws();
    check_search_ahead();
    check_search_moves();
    check_search_take_gap();
    check_search_looks();
    check_search_far_looks();
    check_search_walks();
    check_search_next_run();
    check_search_seeks();
    check_search_far_walks();
    check_search_claims();
    check_search_hopes();
    check_search_long();
    check_search_long_moves();
    shim::place_items = together;
    shim::self().operations = 0;
}

} // namespace calls
