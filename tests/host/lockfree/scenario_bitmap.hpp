// The set of small integers: threads take any or a certain one, stamp it, and put it in again.
//
// Checked: an item has one owner at a time, and its payload is ordered between owners; a set that surely holds
// something is not found empty by a thread that can know it; the thread that puts an item in sees each thread that
// failed to take it before; at rest the bits are the items that nobody holds, and the count counts them.
#pragma once

#include "kma/lockfree/bitmap.cl"

template <uint threads> class scenario {
public:
    void before()
    {
        static constexpr uint capacities[] = {3, 34, 66};
        capacity_ = capacities[shim::random(std::size(capacities))];
        crowd_ = shim::random(2) != 0;
        set_ = shim::objects.construct<kma_bitmap>(memory_);
        for (uint word = 0; word < words(); word++)
            shim::objects.construct<kma_atomic_u32>(bits() + word);
        kma_bitmap_init(set_, bits(), words(), 0, 1);
        for (uint item = 0; item < items; item++)
            payload_[item] = 0;
        kma_store_u32(&note_, 0, KMA_RELAXED);
        kma_bitmap_put(set_, bits(), number(items - 1));
        shim::plan_nap(threads);
    }

    // Either all take whatever there is; or only thread 0 does, and the others not the last item: then it is always in
    // when thread 0 looks, which knows that.
    void thread(uint me)
    {
        const uint rounds = shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 3 : 40;
        if (me == 1)
            for (uint item = 0; item + 1 < items; item++)
                kma_bitmap_put(set_, bits(), number(item));
        for (uint round = 0; round < rounds; round++) {
            const uint wanted = (me + round) % (items - 1);
            if (crowd_ ? (me + round) % 2 == 0 : me == 0)
                own_any(me);
            else if (kma_bitmap_take(set_, bits(), number(wanted)))
                own(me, wanted);
        }
        handshake(me);
    }

    void after()
    {
        shim::check(crowd_ || handshake_taken_ || handshake_seen_,
                    "a thread that puts in does not see an earlier failure to take");
        uint left = items + (crowd_ || handshake_taken_ ? 0 : 1);
        shim::check(kma_load_u32(&set_->count, KMA_RELAXED) == left, "the count is wrong");
        bool seen[most] = {};
        for (; left != 0; left--) {
            const uint got = kma_bitmap_take_any(set_, bits(), words());
            shim::check(got != KMA_BITMAP_NONE, "a lone caller does not find what is in");
            shim::check(got < most && !seen[got], "an item twice");
            seen[got] = true;
        }
        for (uint item = 0; item < items; item++)
            shim::check(seen[number(item)], "an item is lost");
        shim::check(kma_bitmap_take_any(set_, bits(), words()) == KMA_BITMAP_NONE, "more than was put in");
        shim::check(!kma_bitmap_take(set_, bits(), number(0)), "an item that is not in");
        shim::objects.destroy_all();
    }

private:
    static constexpr uint items = 3;
    static constexpr uint most = 67;

    // The first, the second and the last but one; the last is for the handshake.
    uint number(uint item) const { return item + 1 == items ? max(capacity_ - 2, items - 1) : item; }
    uint words() const { return kma_bitmap_words(capacity_ + 1); }
    kma_atomic_u32 *bits() { return reinterpret_cast<kma_atomic_u32 *>(bit_memory_); }

    void own_any(uint me)
    {
        const uint got = kma_bitmap_take_any(set_, bits(), words());
        if (got == KMA_BITMAP_NONE)
            return shim::check(crowd_, "empty, though there was an item");
        for (uint item = 0; item < items; item++)
            if (number(item) == got)
                return own(me, item);
        shim::check(false, "an item that was never put in");
    }

    void own(uint me, uint item)
    {
        const uint stamp = payload_[item] + threads + me; // a read and a write that nothing but the set orders
        payload_[item] = stamp;
        shim::linger();
        shim::check(payload_[item] == stamp, "an item has two owners");
        kma_bitmap_put(set_, bits(), number(item));
    }

    // What superblock/credit.cl needs. Thread 1 leaves a note and then tries to take an item; thread 0, which holds it,
    // puts it in and then looks for the note. Thread 1 gets it, or thread 0 sees the note.
    void handshake(uint me)
    {
        if (crowd_)
            return;
        if (me == 1) {
            kma_fetch_add_u32(&note_, 1, KMA_RELAXED);
            handshake_taken_ = kma_bitmap_take(set_, bits(), capacity_);
        } else if (me == 0) {
            kma_bitmap_put(set_, bits(), capacity_);
            handshake_seen_ = kma_load_u32(&note_, KMA_RELAXED) != 0;
        }
    }

    uint capacity_ = 0;
    bool crowd_ = false;
    alignas(16) uchar memory_[sizeof(kma_bitmap)];
    alignas(16) uchar bit_memory_[3 * sizeof(kma_atomic_u32)];
    kma_bitmap *set_;
    kma_atomic_u32 note_;
    KMA_PLAIN(uint) payload_[items];
    bool handshake_taken_ = false, handshake_seen_ = false;
};
