// Lanes that a lone caller plays: each runs to where it meets others, in a context of its own, then the next one does,
// and when none can go on, the lanes at the same place meet. So a group may be as large as on a device, and the same
// lanes come together each time. Nobody overtakes anybody; threads only.
#pragma once

#include "types.hpp"

#include <ucontext.h>

namespace shim {

class lockstep {
public:
    static constexpr uint most = 64;

    // Lanes 0 to `count` - 1 of one group, the first of which is work-item `id`, each call `body` with their number.
    template <class Body> static void run(uint count, std::size_t id, const Body &body)
    {
        lockstep &group = it();
        group.count_ = count;
        group.body_ = [](const void *what, uint lane) { (*static_cast<const Body *>(what))(lane); };
        group.what_ = &body;
        const place alone = self();
        self().company = &group;
        group.play(id);
        self() = alone;
    }

    uint lane() const { return now_; }
    uint size() const { return count_; }
    // Devices that know the set of all lanes have 32 at most: a larger group never has just these.
    ulong all() const { return ~ulong{0} >> (most - std::min(count_, most / 2)); }

    // The lanes that are at `site` when nobody can go on.
    ulong gather(location site) { return wait({waits::to_gather, site, 0, 0, 0}).set; }

    // With what all lanes of `set` bring: the lanes whose value is not 0, and the value of lane `from`.
    struct brought {
        ulong set;
        uint value;
    };
    brought meet(ulong set, uint value, uint from, location site)
    {
        check((set >> now_ & 1) != 0, "a lane uses a set that it is not in", site);
        return wait({waits::to_meet, site, set, value, from});
    }

    // All lanes.
    void meet_all(location site) { meet(~ulong{0} >> (most - count_), 0, now_, site); }

private:
    enum class waits : uint { not_at_all, to_gather, to_meet, for_nothing_more };
    struct lane_state {
        waits what;
        location site;
        ulong set;
        uint value, from;
    };

    void play(std::size_t id)
    {
        first_id_ = id;
        for (now_ = 0; now_ < count_; now_++)
            begin_lane();
        now_ = 0;
        begin_turn();
        swapcontext(&caller_, &contexts_[0]);
        for (uint lane = 0; lane < count_; lane++)
            check(lanes_[lane].what == waits::for_nothing_more, "the lanes of a set have diverged", lanes_[lane].site);
    }

    void begin_lane()
    {
        lanes_[now_] = {};
        ucontext_t &mine = contexts_[now_];
        getcontext(&mine);
        mine.uc_stack.ss_sp = stacks_[now_];
        mine.uc_stack.ss_size = sizeof(stacks_[now_]);
        makecontext(&mine, &run_lane, 0);
    }

    static lockstep &it()
    {
        static lockstep group;
        return group;
    }

    static void run_lane()
    {
        lockstep &group = it();
        group.body_(group.what_, group.now_);
        group.wait({waits::for_nothing_more, {}, 0, 0, 0});
    }

    brought wait(const lane_state &for_what)
    {
        const uint me = now_;
        lanes_[me] = for_what;
        now_ = next_lane();
        if (now_ == count_)
            swapcontext(&contexts_[me], &caller_);
        begin_turn();
        if (now_ != me)
            swapcontext(&contexts_[me], &contexts_[now_]);
        return results_[me];
    }

    void begin_turn()
    {
        self().id = first_id_ + now_;
        self().operations = 0; // which are limited
    }

    // The next lane that can go on, once all that can meet have met; `count_` if there is none.
    uint next_lane()
    {
        do
            for (uint n = 1; n <= count_; n++)
                if (const uint lane = (now_ + n) % count_; lanes_[lane].what == waits::not_at_all)
                    return lane;
        while (let_meet() || let_gather());
        return count_;
    }

    bool is_met(ulong set) const
    {
        for (uint lane = 0; lane < count_; lane++)
            if ((set >> lane & 1) != 0 && (lanes_[lane].what != waits::to_meet || lanes_[lane].set != set))
                return false;
        return true;
    }

    // All sets whose lanes are there.
    bool let_meet()
    {
        bool any = false;
        for (uint first = 0; first < count_; first++) {
            const lane_state here = lanes_[first];
            if (here.what != waits::to_meet || !is_met(here.set))
                continue;
            any = true;
            ulong ones = 0;
            for (uint lane = 0; lane < count_; lane++)
                if ((here.set >> lane & 1) != 0) {
                    check(lanes_[lane].site == here.site, "the lanes of a set have diverged", here.site);
                    ones |= lanes_[lane].value != 0 ? ulong{1} << lane : 0;
                    results_[lane].value = lanes_[lanes_[lane].from].value;
                }
            release(here.set, ones);
        }
        return any;
    }

    // Those at the place of the first lane that gathers.
    bool let_gather()
    {
        uint first = 0;
        while (first < count_ && lanes_[first].what != waits::to_gather)
            first++;
        ulong together = 0;
        for (uint lane = first; lane < count_; lane++)
            if (lanes_[lane].what == waits::to_gather && lanes_[lane].site == lanes_[first].site)
                together |= ulong{1} << lane;
        release(together, together);
        return together != 0;
    }

    void release(ulong lanes, ulong result)
    {
        for (uint lane = 0; lane < count_; lane++)
            if ((lanes >> lane & 1) != 0) {
                results_[lane].set = result;
                lanes_[lane].what = waits::not_at_all;
            }
    }

    uint count_ = 0;
    uint now_ = 0;
    std::size_t first_id_ = 0;
    void (*body_)(const void *, uint) = nullptr;
    const void *what_ = nullptr;
    lane_state lanes_[most];
    brought results_[most];
    ucontext_t caller_;
    ucontext_t contexts_[most];
    alignas(64) uchar stacks_[most][std::size_t{128} * 1024];
};

} // namespace shim
