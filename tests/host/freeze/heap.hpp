// A heap of any kind: a group that is stopped costs what its lanes have and ask for, and at most what the kind says
// beside that (see least() in heap/KIND/heap.hpp).
#pragma once

#include "freeze/subject.hpp"
#include "heap/tiny_heap.hpp"

namespace freeze {

template <class Kind, uint threads> class heap_subject : public subject {
public:
    static constexpr const char *structure = Kind::name;
    static constexpr const char *operations[] = {"malloc small", "malloc large", "free oldest",
                                                 "free newest",  "realloc",      "aligned_alloc"};
    static constexpr const char *states[] = {
        "none taken", "1 taken", "2 taken", "3 taken", "4 taken", "5 taken", "6 taken", "7 taken", "8 taken", "9 taken",
        "all but 2 taken", "all but 1 taken", "all taken", "all taken, others freed", "all taken, every other one freed",
        "all taken, all freed", "all taken by the other size", "the same, all freed", "much room"};

    static constexpr bool applies(uint operation, uint state)
    {
        const bool frees = operation == free_oldest || operation == free_newest;
        if (frees && !Kind::reuses)
            return false; // it does nothing
        if (state > most_taken && !Kind::reuses && state != roomy)
            return false; // whatever is freed, the state is that before
        const bool has_block = state != 0 && state != all_freed && state != other_size_freed && state != roomy;
        return has_block || (!frees && operation != grow);
    }

    using subject::subject;

    void prepare(crowd operators, uint victim, uint heir) override
    {
        victim_ = victim;
        Kind::vary(shim::random(4));
        shape_ = Kind::frozen(threads);
        if (state_ == roomy)
            shape_.count = Kind::roomy(threads);
        heap_.init(shape_);
        block_list all = taken_at_start();
        // The victim has the block in question; the others that do the same have one each, if there are so many.
        if (all.count != 0)
            held_[victim].push(all.pop(operation_ == free_newest ? all.count - 1 : 0));
        for (uint id = 0; id < threads && state_ != others_freed; id++)
            if (id != victim && (operators >> id & 1) != 0 && all.count != 0)
                held_[id].push(all.pop(all.count - 1));
        while (all.count != 0)
            if (state_ == others_freed || (state_ == holes && all.count % 2 != 0))
                heap_.free(all.pop(all.count - 1));
            else
                held_[heir].push(all.pop(all.count - 1));
    }

    void operate(uint me) override
    {
        if (operation_ == small || operation_ == large || operation_ == aligned)
            take(me, shape_.kinds[operation_ == small ? 0 : 1], operation_ == aligned ? 2 : 1);
        else if (held_[me].count != 0)
            operation_ == grow ? resize(me) : give(me);
    }

    // A thread that has blocks begins with frees, so that there is something to be had.
    void go_on(uint me) override
    {
        give_all(me);
        for (uint pair = 0; pair < pairs; pair++) {
            uint attempts = shim::random(2);
            while (!bounded([&] { return take(me, shape_.kinds[++attempts % 2], 1); }, most())) {
                if (!Kind::reuses && (state_ != roomy || is_emptied_))
                    return;
                // A thread that was held while another took all there is may still see the heap so.
                shim::check(attempts < most_attempts && (state_ != roomy || is_emptied_),
                            "no block to be had while a thread is stopped");
            }
            give_all(me);
        }
    }

    void check_without(crowd held, uint me) override
    {
        is_emptied_ = true;
        block_list blocks, asked, refused;
        for (uint id = 0; id < threads; id++) {
            if (refused_[id] != 0 && threads > shim::group_lanes &&
                id / shim::group_lanes == victim_ / shim::group_lanes)
                refused.push({0, refused_[id], 0});
            if ((held >> id & 1) == 0)
                continue;
            for (const block &each : held_[id])
                blocks.push(each);
            if (asked_[id] != 0)
                asked.push({0, asked_[id], 0});
        }
        for (uint kind = 0; kind < 2; kind++) {
            const uint units = shape_.kinds[kind];
            const uint expected = heap_.in.least(units, {}, blocks, asked, refused);
            shim::check(expected != 0 || !Kind::reuses || hides_much(), "this heap is too small to show anything");
            while (bounded([&] { return take(me, units, 1); }, most()))
                ;
            shim::check(held_[me].count >= expected, "a thread that was stopped cost more than it may");
            give_all(me);
        }
    }

    void check_at_rest() override
    {
        for (uint id = 0; id < threads; id++)
            while (held_[id].count != 0)
                give(id);
        for (uint kind = 0; kind < 2; kind++)
            heap_.check_lone_caller(shape_.kinds[kind], held_[0]);
    }

private:
    enum : uint { small, large, free_oldest, free_newest, grow, aligned };
    static constexpr uint capacity =
        (Kind::frozen(threads).count << Kind::frozen(threads).shift) / Kind::frozen(threads).kinds[0];
    static constexpr uint few = 9, most_taken = few + 3;
    static_assert(capacity >= most_taken);
    enum : uint {
        others_freed = most_taken + 1,
        holes,
        all_freed,
        other_size,
        other_size_freed,
        roomy,
    };
    static_assert(std::size(states) == roomy + 1);

    static constexpr uint fill_of(uint state) { return state <= few ? state : capacity - (most_taken - state); }

    static constexpr uint most()
    {
        if constexpr (requires { Kind::most_atomics(threads); })
            return Kind::most_atomics(threads);
        else
            return most_atomics;
    }

    // Whether stopped lanes hide what a kind can tell of, which may be most of a tiny heap.
    bool hides_much() const
    {
        if constexpr (requires { heap_.in.hidden(); })
            return heap_.in.hidden() != 0;
        else
            return false;
    }

    block_list taken_at_start()
    {
        block_list all;
        if (state_ == roomy)
            return all;
        const uint units = shape_.kinds[state_ == other_size || state_ == other_size_freed ? 1 : 0];
        for (uint left = state_ <= most_taken ? fill_of(state_) : most_units; left != 0; left--) {
            const block one = heap_.alloc(units, next_stamp());
            if (one.units == 0)
                break;
            all.push(one);
        }
        if (state_ == all_freed || state_ == other_size_freed)
            while (all.count != 0)
                heap_.free(all.pop(all.count - 1));
        return all;
    }

    uint next_stamp() { return ++stamps_ & 0xffff; }

    bool take(uint me, uint units, uint align)
    {
        asked_[me] = units + align - 1;
        const block got = heap_.alloc(units, next_stamp(), units % align == 0 ? align : 1);
        asked_[me] = 0;
        if (got.units != 0)
            held_[me].push(got);
        else
            refused_[me] = max(refused_[me], units);
        return got.units != 0;
    }

    // A block is its owner's until the free has returned.
    bool give(uint me)
    {
        heap_.free(held_[me].blocks[held_[me].count - 1]);
        held_[me].count--;
        return true;
    }

    void give_all(uint me)
    {
        while (held_[me].count != 0)
            bounded([&] { return give(me); }, most());
    }

    bool resize(uint me)
    {
        block &mine = held_[me].blocks[0];
        asked_[me] = shape_.kinds[1];
        const block moved = heap_.resize(mine, shape_.kinds[1], next_stamp());
        asked_[me] = 0;
        if (moved.units != 0)
            mine = moved;
        else
            refused_[me] = max(refused_[me], shape_.kinds[1]);
        return moved.units != 0;
    }

    heap_shape shape_{};
    tiny_heap<Kind> heap_;
    block_list held_[threads];
    uint asked_[threads] = {};   // units of a malloc that has not returned
    uint refused_[threads] = {}; // the most units that it did not get, perhaps together with the stopped one
    uint victim_ = 0;
    uint stamps_ = 0;
    bool is_emptied_ = false; // by check_without; for good where nothing is reused
};

} // namespace freeze
