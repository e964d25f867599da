// The object store: a thread that is stopped costs the objects that it has or asks for, with the blocks they are in,
// and one block that it has in hand: one that it begins or ends, or whose hint it has taken out and not looked at yet.
#pragma once

#include "freeze/subject.hpp"
#include "objects/tiny_world.hpp"

namespace freeze {

template <uint threads> class world_subject : public subject {
public:
    static constexpr const char *structure = "object store";
    static constexpr const char *operations[] = {"new", "delete", "delete last", "new of another"};
    static constexpr const char *states[] = {"blocks with room", "wrong hints", "full blocks", "full blocks, wrong hints"};
    static constexpr bool applies(uint operation, uint state) { return operation != end || state < 2; }
    using subject::subject;

    // A thread that deletes has an object, alone in a block or beside others, which are the heir's. Of the class there
    // is also a block with room, or a full one.
    void prepare(crowd operators, uint, uint heir) override
    {
        static constexpr uint slots[tiny::classes] = {1, 2, 3};
        tiny::looks = 8;
        store_.make(blocks, slots);
        for (uint id = 0; id < threads && operation_ == end; id++)
            if ((operators >> id & 1) != 0)
                create(id, single);
        for (uint i = 0; i < (state_ >= 2 ? 6 : 5); i++)
            create(heir, triple);
        for (uint id = 0, from = 0; id < threads && operation_ == remove; id++)
            if ((operators >> id & 1) != 0 && id != heir && held_[heir].count > from)
                held_[id].push(held_[heir].pop(from++));
        for (uint block = 0; block < blocks && state_ % 2 == 1; block++)
            for (uint T = 0; T < tiny::classes; T++)
                kma_bit_tree_put(kma_world_active(store_.w, T), blocks, block);
    }

    void operate(uint me) override
    {
        if (operation_ == create_same || operation_ == create_other)
            create(me, operation_ == create_same ? triple : pair);
        else if (held_[me].count != 0)
            remove_one(me);
    }

    void go_on(uint me) override
    {
        remove_all(me);
        for (uint turn = 0; turn < pairs; turn++) {
            must_succeed([&] { return create(me, (me + turn) % tiny::classes); });
            remove_all(me);
        }
    }

    void check_without(crowd held, uint me) override
    {
        const uint lost = popcount(held) + (threads > shim::group_lanes ? 1 : 0);
        for (uint T = 0; T < tiny::classes; T++) {
            while (bounded([&] { return create(me, T); }))
                ;
            shim::check(held_[me].count + lost * tiny::slots_of(T) >= blocks * tiny::slots_of(T),
                        "a thread that was stopped cost more than it may");
            remove_all(me);
        }
    }

    void check_at_rest() override
    {
        for (uint id = 0; id < threads; id++)
            remove_all(id);
        store_.expected[KMA_ERROR_OUT_OF_MEMORY] = refused_;
        store_.check_at_rest(held_[0]);
        for (uint T = 0; T < tiny::classes; T++) {
            store_.check_takes_all(T, held_[0]);
            remove_all(0);
        }
        store_.check_at_rest(held_[0]);
    }

private:
    enum : uint { create_same, remove, end, create_other };
    enum : uint { single, pair, triple }; // classes
    static constexpr uint blocks = threads + 4;
    using store = tiny::world<blocks>;

    bool create(uint me, uint T)
    {
        const uint self = kma_world_new(store_.w, T);
        if (self == 0) {
            refused_++;
            return false;
        }
        const uint stamp = store_.payload(self) / 16 * 16 + 16 + me;
        store_.payload(self) = stamp;
        held_[me].push({self, T, stamp});
        return true;
    }

    bool remove_one(uint me)
    {
        const tiny::object one = held_[me].pop(held_[me].count - 1);
        shim::check(one.stamp == 0 || one.stamp / 16 == store_.payload(one.self) / 16, "an object has two owners");
        kma_world_delete(store_.w, one.T, one.self);
        return true;
    }

    void remove_all(uint me)
    {
        while (held_[me].count != 0)
            bounded([&] { return remove_one(me); });
    }

    store store_;
    typename store::list held_[threads];
    uint refused_ = 0;
};

} // namespace freeze
