// What platform/lanes.cl asks of a path: lanes that are threads of their own and meet, or miss each other, by chance.
//
// kma_lanes_active gathers: the first lane at a call site opens a gathering, waits a random while, often short, and
// closes it; the lanes that came to the same site meanwhile are in the set. So every set that independent thread
// scheduling allows can occur. Shuffle and ballot are rendezvous of exactly the lanes of the set, as the .sync
// instructions are. Under Relacy all state here is plain C++, which orders no memory, as shuffles on a GPU order none,
// and ThreadSanitizer is not shown it; the meetings of kma_lanes_sync alone order memory, by a word of each set that
// every lane releases before and acquires after.
#pragma once

#include "lockstep.hpp"
#include "objects.hpp"

#define KMA_LANES 0 // KMA_LANES_SUPPLIED
#if KMA_HAS_ATOMIC64
#define KMA_LANES_APART // the other forms have lanes that go on alone
#endif
#define KMA_IS_CPU 0 // what CPUs leave out is under test, too
#define KMA_LANES_ALL (shim::all_lanes())
#define KMA_SHORT_PATHS 1

namespace shim {

constexpr uint group_lanes = 4;
// Holes, both halves of the 64-bit set, and the last lane; a scenario may number its lanes otherwise before they begin.
inline uint lane_numbers[group_lanes] = {2, 31, 32, 63};

// Inside, bit s of a set is slot s; outside, bit lane_numbers[s].
inline ulong outside(uint slots)
{
    ulong lanes = 0;
    for (uint slot = 0; slot < group_lanes; slot++)
        if (slots >> slot & 1)
            lanes |= ulong{1} << lane_numbers[slot];
    return lanes;
}

inline uint inside(ulong lanes)
{
    uint slots = 0;
    for (uint slot = 0; slot < group_lanes; slot++)
        if (lanes >> lane_numbers[slot] & 1)
            slots |= 1u << slot;
    return slots;
}

class lane_group {
public:
    struct values {
        uint of[group_lanes];
    };

    // Forgets lanes that a failed execution left behind, and words that the end of each destroys.
    void reset()
    {
        for (synchronizer &each : synchronizers_)
            each.made = each.ready = nullptr;
        for (uint slot = 0; slot < group_lanes; slot++) {
            gatherings_[slot].open = false;
            gathered_[slot] = 0;
            waits_in_[slot] = 0;
        }
        for (meeting &each : meetings_)
            each.arrived = each.leaving = 0;
    }

    // The slots that are at `site` together with `slot`.
    KMA_SHIM_UNSEEN uint gather(uint slot, location site)
    {
        lock_.acquire();
        uint together = 0;
        for (gathering &each : gatherings_)
            if (each.open && each.site == site) {
                each.members |= 1u << slot;
                gathered_[slot] = 0;
                while (gathered_[slot] == 0)
                    let_others_run();
                together = gathered_[slot];
                break;
            }
        if (together == 0)
            together = open_gathering(slot, site);
        lock_.release();
        return together;
    }

    // Returns when all slots of `set` have called it, with what each has brought.
    KMA_SHIM_UNSEEN values meet(uint set, uint slot, uint value, location site)
    {
        const uint me = 1u << slot;
        check((set & me) != 0, "a lane uses a set that it is not in", site);
        meeting &here = meetings_[set];
        lock_.acquire();
        while (here.leaving != 0) // of the meeting before
            let_others_run();
        if (here.arrived == 0)
            here.site = site;
        check(here.site == site, "the lanes of a set have diverged", site);
        check((here.arrived & me) == 0, "a lane is in two places", site);
        here.brought.of[slot] = value;
        here.arrived |= me;
        if (here.arrived == set)
            here.leaving = set;
        waits_in_[slot] = set;
        while ((here.leaving & me) == 0)
            let_others_run();
        waits_in_[slot] = 0;
        const values result = here.brought;
        here.leaving &= ~me;
        if (here.leaving == 0)
            here.arrived = 0;
        lock_.release();
        return result;
    }

    // A meeting after which each lane knows what all had done before.
    void sync(uint set, uint slot, location site)
    {
        word<uint> &orders = synchronizer_of(set, site);
        orders.fetch_add(1, KMA_RELEASE, site);
        meet(set, slot, 0, site);
        orders.fetch_add(1, KMA_ACQUIRE, site);
    }

    // The slots that cannot go on while `stopped` does not: it, those that wait in a meeting for it, and for these.
    uint held_by(uint stopped) const
    {
        uint held = 1u << stopped;
        for (uint before = 0; before != held;) {
            before = held;
            for (uint slot = 0; slot < group_lanes; slot++) {
                const meeting &here = meetings_[waits_in_[slot]];
                if (waits_in_[slot] != 0 && here.leaving == 0 && (waits_in_[slot] & ~here.arrived & held) != 0)
                    held |= 1u << slot;
            }
        }
        return held;
    }

private:
    struct gathering {
        bool open = false;
        location site;
        uint members = 0;
    };

    struct meeting {
        uint arrived = 0;
        uint leaving = 0;
        location site;
        values brought{};
    };

    // Relacy's words are made in an execution: here by the first lane that asks, since few scenarios do.
    struct synchronizer {
        word<uint> *made = nullptr;
        word<uint> *ready = nullptr;
        alignas(word<uint>) uchar memory[sizeof(word<uint>)];
    };

    KMA_SHIM_UNSEEN word<uint> &synchronizer_of(uint set, location site)
    {
        synchronizer &mine = synchronizers_[set];
        if constexpr (!is_model_checker) {
            return *std::launder(reinterpret_cast<word<uint> *>(mine.memory)); // whatever number it counts from
        } else if (!mine.made) {
            mine.made = objects.construct<word<uint>>(mine.memory);
            mine.made->begin_at(0, site);
            mine.ready = mine.made;
        }
        while (!mine.ready)
            pause();
        return *mine.ready;
    }

    KMA_SHIM_UNSEEN void let_others_run()
    {
        lock_.release();
        pause();
        lock_.acquire();
    }

    KMA_SHIM_UNSEEN uint open_gathering(uint slot, location site)
    {
        gathering &mine = gatherings_[slot];
        mine.site = site;
        mine.members = 1u << slot;
        mine.open = true;
        for (uint patience = random(1u << random(6)); patience != 0 && mine.members != (1u << group_lanes) - 1;
             patience--)
            let_others_run();
        mine.open = false;
        for (uint other = 0; other < group_lanes; other++)
            if (mine.members >> other & 1)
                gathered_[other] = mine.members;
        return mine.members;
    }

    lock lock_;
    gathering gatherings_[group_lanes];     // by the slot that opened it
    uint gathered_[group_lanes] = {};       // what each slot waits for; 0 while it waits
    uint waits_in_[group_lanes] = {};       // the set whose meeting a slot has come to and not left
    meeting meetings_[1u << group_lanes]{}; // by set
    synchronizer synchronizers_[1u << group_lanes];
};

} // namespace shim

inline uint kma_lane_id(void)
{
    const shim::place &me = shim::self();
    return me.company ? me.company->lane() : me.group ? shim::lane_numbers[me.slot] : 0;
}

namespace shim {
// All that the caller's group has: a work-item without one is a group of one.
inline ulong all_lanes()
{
    const place &me = self();
    return me.company ? me.company->all() : me.group ? outside((1u << group_lanes) - 1) : 1;
}
} // namespace shim

inline uint kma_lane_of_all(void)
{
    const shim::place &me = shim::self();
    return me.company ? me.company->lane() : me.group ? me.slot : 0;
}

inline ulong kma_lanes_active(shim::location site = shim::location::current())
{
    const shim::place me = shim::self();
    if (me.company)
        return me.company->gather(site);
    return me.group ? shim::outside(me.group->gather(me.slot, site)) : 1;
}

inline uint kma_lanes_shuffle(ulong group, uint value, uint lane, shim::location site = shim::location::current())
{
    const shim::place me = shim::self();
    shim::check(lane < 64 && (group >> lane & 1) != 0, "shuffle from a lane outside the set", site);
    if (me.company)
        return me.company->meet(group, value, lane, site).value;
    if (!me.group)
        return value;
    const shim::lane_group::values brought = me.group->meet(shim::inside(group), me.slot, value, site);
    return brought.of[std::countr_zero(shim::inside(ulong{1} << lane))];
}

inline ulong kma_lanes_ballot(ulong group, bool mine, shim::location site = shim::location::current())
{
    const shim::place me = shim::self();
    if (me.company)
        return me.company->meet(group, mine, kma_lane_id(), site).set;
    if (!me.group)
        return mine ? 1 : 0;
    const shim::lane_group::values brought = me.group->meet(shim::inside(group), me.slot, mine, site);
    uint ones = 0;
    for (uint slot = 0; slot < shim::group_lanes; slot++)
        if (shim::inside(group) >> slot & 1 && brought.of[slot])
            ones |= 1u << slot;
    return shim::outside(ones);
}

inline void kma_lanes_sync(ulong group, shim::location site = shim::location::current())
{
    const shim::place me = shim::self();
    if (me.company)
        me.company->meet(group, 0, kma_lane_id(), site);
    else if (me.group)
        me.group->sync(shim::inside(group), me.slot, site);
}
