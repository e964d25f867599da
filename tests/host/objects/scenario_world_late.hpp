// A late thread in an object store of one block, or two: it deletes, or looks for room, and is stopped before some
// atomic operation, for long. Others see all that it did, end the block, begin it for another class, fill it, and leave
// it with a word that looks like that of an empty one. Then it goes on, and has seen nothing of that. Relacy only.
//
// Each thread does what a script says: `a` and `b` create objects of two classes, `-` deletes its oldest, `=` its
// newest, `!` lets the late one go on. Checked: what world_crew.hpp says.
#pragma once

#include "objects/world_crew.hpp"

template <uint threads> class scenario {
public:
    // In every other execution it is stopped about where it matters most: where it has seen its block empty, and
    // another thread makes the word look so again; or where it takes a wrong hint away, and lanes begin the block for
    // that class.
    void before()
    {
        variant_ = shim::random(1u << 20);
        kind_ = kinds(std::max(variant_ % 4, 1u));
        static constexpr uint slots[][tiny::classes] = {{2, 3, 1}, {2, 2, 1}, {1, 2, 3}, {3, 1, 2}};
        const uint blocks = kind_ == anything ? 1 + variant_ / 4 % 2 : kind_ == ends ? 1 : 2;
        crew_.store.make(blocks, slots[variant_ / 8 % (kind_ == anything ? 4 : 2)]);
        tiny::looks = kind_ == mends ? 1 : 2; // one wrong hint stays
        for (uint me = 0; me < threads; me++)
            scripts_[me] = script_of(me);
        if (kind_ == mends || variant_ / 256 % 4 == 0)
            crew_.put_wrong_hints(variant_);
        for (uint early = kind_ == mends ? 2 : variant_ / 1024 % 4 == 0; early < 2; early++)
            crew_.create(late, 0); // which it may delete
        const uint near = kind_ == ends ? 11 : 4; // atomic operations before the one that ends a block, or mends a hint
        stop_ = kind_ == anything ? 1 + shim::random(32) : near + shim::random(3);
    }

    void thread(uint me)
    {
        if (me == late) {
            shim::freeze_me_at(stop_);
            act(me);
            shim::thaw(); // it may not have come so far
            is_through_ = true;
            return;
        }
        while (!is_through_ && !(kind_ == ends && me != 0 ? is_let_go_ : shim::is_frozen()))
            shim::pause();
        shim::settle_with_others();
        act(me);
        if (++finished_ == (variant_ / 4096 % 4 == 0 ? 1 : threads - 1))
            let_go();
    }

    void after()
    {
        crew_.check_rest(variant_);
        shim::objects.destroy_all();
    }

private:
    // No lane of its group ever comes, so nobody waits for it.
    static constexpr uint late = threads - 1;
    static constexpr uint most_held = 4;
    static constexpr uint most_steps = 12;
    struct script {
        char step[most_steps] = {};
    };
    enum kinds : uint { anything = 1, ends, mends };
    static constexpr script ending[] = {{"a-bbb--!"}, {"a-bbb--!b"}, {"a-bbb--!-"}, {"a-bbb--!b-"}};
    static constexpr script beside[] = {{"b"}, {""}, {"bb-"}, {"a"}};
    static constexpr script mending[] = {{"a-!"}, {"a"}, {"a"}, {""}};
    static constexpr script scripts[] = {{"a-bbb--"}, {"a-bbb-b"}, {"a-bb-b"}, {"a-b-a=="}, {"b-ab="}, {"aab=-"}, {""}, {""}};
    static constexpr script late_scripts[] = {{"-="}, {"-=b"}, {"a=="}, {"b-a-"}};

    void let_go()
    {
        shim::thaw();
        is_let_go_ = true;
    }

    void act(uint me)
    {
        for (const char each : scripts_[me].step) {
            const uint held = crew_.held[me].count;
            if (each == '!') {
                let_go();
            } else if (each == 'a' || each == 'b') {
                if (held < most_held)
                    crew_.create(me, each - 'a');
            } else if (each != 0 && held != 0) {
                crew_.remove(me, each == '-' ? 0 : held - 1);
            }
        }
    }

    // Lanes often do the same. A few do anything.
    script script_of(uint me) const
    {
        const uint choice = variant_ / 16 % 4;
        if (me == late)
            return kind_ == ends ? late_scripts[0] : kind_ == mends ? script{"a"} : late_scripts[choice];
        if (kind_ == ends)
            return me == 0 ? ending[choice] : beside[variant_ / 64 % 4];
        if (kind_ == mends)
            return mending[(variant_ >> (4 + 2 * me)) % 4];
        const uint n = kma_mix32(variant_ * 977 + (choice < 2 ? me / shim::group_lanes : me));
        script one = scripts[n % std::size(scripts)];
        for (uint i = 0; n / 8 % 4 == 0 && i < 8; i++)
            one.step[i] = "aabb-==b"[kma_mix32(n + i) % 8];
        return one;
    }

    tiny::crew<threads, 2, most_held> crew_;
    script scripts_[threads];
    uint variant_ = 0, stop_ = 0, finished_ = 0;
    kinds kind_ = anything;
    bool is_let_go_ = false, is_through_ = false; // the late one
};
