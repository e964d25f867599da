// Nobody waits: a thread is stopped for good before its n-th atomic operation, for every n of every operation of every
// structure, from states that a lone prelude has led to. The others finish what they have to do, in few steps, and what
// is lost is what the contract allows. The subjects in freeze/ say what that is.
//
// At width 4 the unit is the group that kma_lanes_active returned: lanes that have yet to meet the stopped one in it
// are held with it, and all others, those of the same hardware group too, must go on. Which of the lanes take part in
// the operation, and which of them is to stop, is chance.
//
// The executions are numbered, so each can be repeated: `seeds` in a row for each n, for each case. In every other one
// the stopped thread's group goes first, so that it stops in the very state of the prelude; at width 1 that shows how
// many atomic operations there are. A case ends with the first n that nobody reaches.
#pragma once

#include "freeze/heap.hpp"
#include "freeze/tree.hpp"
#include "freeze/world.hpp"
#include "host_heaps.hpp" // every kind of the list in tests/CMakeLists.txt

namespace freeze {

template <uint threads> constexpr uint seeds = threads == shim::narrow_threads ? 16 : 8;
constexpr uint most_stops = 400; // atomic operations of one operation, at most
constexpr uint most_cases = 512;
constexpr std::size_t most_bytes = 1 << 20; // of a subject

struct freeze_case {
    const char *structure, *operation, *state;
    subject *(*make)(void *memory, uint operation, uint state);
    uint operation_number, state_number;
    // What came of it:
    uint alone = 0;          // stops while its group went first, in a row from the first
    uint reached = 0;        // the last n at which it stopped in any execution
    uint stopped = 0;        // executions in which it did
    uint stopped_at_all = 0; // of these, with the n under test
};

template <uint threads> class catalogue {
public:
    freeze_case cases[most_cases];
    uint count = 0;

    constexpr catalogue()
    {
        add<tree_subject<threads>>();
        add<world_subject<threads>>();
        add_heaps<KMA_HOST_FROZEN_HEAPS>();
    }

private:
    template <class... Kinds> constexpr void add_heaps() { (add<heap_subject<Kinds, threads>>(), ...); }

    template <class Subject> constexpr void add()
    {
        static_assert(sizeof(Subject) <= most_bytes);
        for (uint operation = 0; operation < std::size(Subject::operations); operation++)
            for (uint state = 0; state < std::size(Subject::states); state++)
                if (Subject::applies(operation, state))
                    cases[count++] = {Subject::structure, Subject::operations[operation], Subject::states[state],
                                      [](void *memory, uint o, uint s) -> subject * { return ::new (memory) Subject(o, s); },
                                      operation, state};
    }
};

} // namespace freeze

template <uint threads> class scenario {
public:
    static std::uint64_t executions() { return std::uint64_t{all.count} * freeze::most_stops * freeze::seeds<threads>; }
    static void report();

    void before()
    {
        const std::uint64_t number = shim::iteration - 1;
        stop_ = static_cast<uint>(number / freeze::seeds<threads> % freeze::most_stops) + 1;
        mine_ = &all.cases[number / freeze::seeds<threads> / freeze::most_stops % all.count];
        const uint seed = number % freeze::seeds<threads>;
        if (seed == 0 && stop_ > 1)
            is_over = mine_->stopped_at_all == 0 && shim::chosen.seed == 1;
        else if (seed == 0)
            is_over = false;
        if (seed == 0)
            mine_->stopped_at_all = 0;
        if (is_over)
            return;
        goes_first_ = seed % 2 == 0;
        victim_ = is_wide ? shim::random(threads) : 0;
        heir_ = !is_wide ? 1 : victim_ < shim::group_lanes ? shim::group_lanes : 0;
        operators_ = 1u << victim_;
        if (is_wide && victim_ < shim::group_lanes)
            operators_ |= shim::random(1u << shim::group_lanes);
        if (shim::chosen.history)
            std::printf("%s, %s, %s: thread %u stops before atomic operation %u\n", mine_->structure, mine_->operation,
                        mine_->state, victim_, stop_);
        subject_ = mine_->make(memory, mine_->operation_number, mine_->state_number);
        subject_->prepare(operators_, victim_, heir_);
    }

    void thread(uint me)
    {
        if (!subject_)
            return;
        if (operators_ >> me & 1)
            operate(me);
        else if (goes_first_)
            while (!is_done_ && !shim::is_frozen())
                shim::pause();
        shim::settle_with_others();
        subject_->go_on(me);
        shim::settle_with_others();
        finished_ |= 1u << me;
        if (me != heir_)
            return;
        while (freeze::crowd{finished_ | held()} != (1u << threads) - 1)
            shim::pause();
        shim::settle_with_others();
        if (shim::is_frozen())
            subject_->check_without(held(), me);
        shim::settle_with_others(); // a thread that goes on now sees what was given back
        shim::thaw();
    }

    void after()
    {
        if (!subject_)
            return;
        subject_->check_at_rest();
        subject_->~subject();
        shim::objects.destroy_all();
    }

private:
    static constexpr bool is_wide = threads == shim::group_lanes + 1;

    void operate(uint me)
    {
        if (me != victim_)
            return subject_->operate(me);
        group_ = shim::self().group;
        slot_ = shim::self().slot;
        shim::freeze_me_at(stop_);
        subject_->operate(me);
        // It may have stopped, and gone on when the others were done.
        if (was_stopped()) {
            mine_->reached = max(mine_->reached, stop_);
            mine_->stopped++;
            mine_->stopped_at_all++;
            mine_->alone += goes_first_ && mine_->alone + 1 == stop_;
        }
        shim::thaw();
        is_done_ = true;
    }

    // The thread that thawed it did so before it went on.
    static bool was_stopped() { return shim::freeze.victim == nullptr; }

    freeze::crowd held() const
    {
        if (!shim::is_frozen())
            return 0;
        return group_ ? group_->held_by(slot_) << (victim_ - slot_) : 1u << victim_;
    }

    static inline freeze::catalogue<threads> all;
    static inline bool is_over = false;
    alignas(64) static inline uchar memory[freeze::most_bytes];

    freeze::freeze_case *mine_ = nullptr;
    freeze::subject *subject_ = nullptr;
    freeze::crowd operators_ = 0, finished_ = 0;
    uint stop_ = 0, victim_ = 0, heir_ = 0;
    shim::lane_group *group_ = nullptr; // the victim's
    uint slot_ = 0;
    bool goes_first_ = false, is_done_ = false;
};

// The table, and that the test was not blind.
template <uint threads> void scenario<threads>::report()
{
    std::printf("%-16s %-14s %-32s %8s %8s %9s\n", "structure", "operation", "state", "atomics", "at most", "stopped");
    for (uint n = 0; n < all.count; n++) {
        const freeze::freeze_case &each = all.cases[n];
        std::printf("%-16s %-14s %-32s %8u %8u %9u\n", each.structure, each.operation, each.state,
                    each.alone, each.reached, each.stopped);
        if (each.alone == 0)
            shim::report_defect("nobody was stopped in this operation: the test sees nothing", __FILE__, __LINE__);
        if (each.reached == freeze::most_stops)
            shim::report_defect("this operation has more atomic operations than were tried", __FILE__, __LINE__);
    }
    std::printf("longest operation beside a stopped thread: %u atomics\n", freeze::longest);
}
