// The set of small integers: a thread that is stopped costs the item that it puts in or takes out.
#pragma once

#include "freeze/subject.hpp"
#include "kma/lockfree/bitmap.cl"

namespace freeze {

template <uint threads> class bitmap_subject : public subject {
public:
    static constexpr const char *structure = "bitmap";
    static constexpr bool has_lanes = false;
    static constexpr uint operations = 3, states = 4;
    static constexpr bool applies(uint operation, uint state) { return operation != put || state < 2; }
    static const char *operation_name(uint operation)
    {
        static constexpr const char *names[operations] = {"put", "take", "take_any"};
        return names[operation];
    }
    static const char *state_name(uint state)
    {
        static constexpr const char *names[states] = {"empty", "all but one item", "one item", "all items"};
        return names[state];
    }

    bitmap_subject(uint operation, uint state) : operation_(operation), state_(state) {}

    void prepare(crowd, uint victim, uint heir) override
    {
        set_ = shim::objects.construct<kma_bitmap>(memory_);
        for (uint word = 0; word < words; word++)
            shim::objects.construct<kma_atomic_u32>(bits() + word);
        kma_bitmap_init(set_, bits(), words, 0, 1);
        for (uint item = 0; item < items; item++) {
            payload_[item] = 0;
            const bool inside = item == his ? state_ >= 2 : state_ % 2 == 1;
            if (inside)
                kma_bitmap_put(set_, bits(), numbers[item]);
            else
                owner_of_[item] = item == his && operation_ == put ? victim : heir;
        }
    }

    void operate(uint me) override
    {
        if (operation_ == put)
            put_all(me);
        else if (operation_ == take)
            note(me, kma_bitmap_take(set_, bits(), numbers[his]) ? numbers[his] : KMA_BITMAP_NONE);
        else
            note(me, kma_bitmap_take_any(set_, bits(), words));
    }

    void go_on(uint me) override
    {
        put_all(me);
        for (uint pair = 0; pair < pairs; pair++) {
            uint attempts = 0;
            while (!bounded([&] { return note(me, kma_bitmap_take_any(set_, bits(), words)); }))
                shim::check(++attempts < most_attempts, "no item to be had while a thread is stopped");
            put_all(me);
        }
    }

    void check_without(crowd held, uint me) override
    {
        uint taken = 0;
        while (bounded([&] { return note(me, kma_bitmap_take_any(set_, bits(), words)); }))
            taken++;
        shim::check(taken + popcount(held) >= items, "a thread that was stopped cost more than one item");
        put_all(me);
    }

    void check_at_rest() override
    {
        for (uint item = 0; item < items; item++)
            shim::check(kma_bitmap_take(set_, bits(), numbers[item]), "an item is lost");
        shim::check(kma_load_u32(&set_->count, KMA_RELAXED) == 0, "the count is wrong");
    }

private:
    enum : uint { put, take, take_any };
    static constexpr uint items = 5, words = 3, his = 2;
    static constexpr uint numbers[items] = {0, 31, 33, 64, 65};
    static constexpr uint nobody = ~0u;

    kma_atomic_u32 *bits() { return reinterpret_cast<kma_atomic_u32 *>(bit_memory_); }

    void put_all(uint me)
    {
        for (uint item = 0; item < items; item++)
            if (owner_of_[item] == me) {
                payload_[item] = payload_[item] + 1;
                owner_of_[item] = nobody;
                bounded([&] { return kma_bitmap_put(set_, bits(), numbers[item]), true; });
            }
    }

    bool note(uint me, uint number)
    {
        if (number == KMA_BITMAP_NONE)
            return false;
        for (uint item = 0; item < items; item++)
            if (numbers[item] == number) {
                payload_[item] = payload_[item] + 1;
                owner_of_[item] = me;
                return true;
            }
        shim::check(false, "an item that was never put in");
        return false;
    }

    const uint operation_, state_;
    alignas(16) uchar memory_[sizeof(kma_bitmap)];
    alignas(16) uchar bit_memory_[words * sizeof(kma_atomic_u32)];
    kma_bitmap *set_ = nullptr;
    KMA_PLAIN(uint) payload_[items];
    uint owner_of_[items] = {nobody, nobody, nobody, nobody, nobody};
};

} // namespace freeze
