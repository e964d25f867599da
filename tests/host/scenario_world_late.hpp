// One who is late in an object store of one block, or two: he deletes, or looks for room, and is stopped before some atomic operation, for
// long; others see all that he did, end the block, begin it for another class, fill it, and leave it with a word that he may take for that
// of an empty one. Then he goes on, and has seen nothing of that. Relacy only.
//
// Each does what a script says: `a` and `b` create objects of two classes, `-` deletes the oldest of one's own, `=` the newest. Checked:
// what world_crew.hpp says.
#pragma once

#include "world_crew.hpp"

template <uint threads> class scenario {
public:
    // In every other execution he is stopped about where he has seen his block empty, and another does what makes its word as that again.
    void before()
    {
        variant_ = shim::random(1u << 20);
        const bool is_likely = variant_ % 2 == 1;
        static constexpr uint slots[][tiny::classes] = {{2, 3, 1}, {2, 2, 1}, {1, 2, 3}, {3, 1, 2}};
        crew_.store.make(is_likely ? 1 : 1 + variant_ / 2 % 2, slots[variant_ / 4 % (is_likely ? 2 : 4)]);
        tiny::looks = 2;
        for (uint me = 0; me < threads; me++)
            scripts_[me] = !is_likely ? script_of(me) : scripts[me == 0 ? 0 : 5 + variant_ / 8 % 3];
        scripts_[late] = {late_scripts[variant_ / 32 % 4 * !is_likely]};
        if (variant_ / 128 % 4 == 0)
            crew_.put_wrong_hints(variant_);
        for (uint early = variant_ / 512 % 4 == 0; early < 2; early++)
            crew_.create(late, 0); // which he may delete
        stop_ = is_likely ? ends - 1 + shim::random(3) : 1 + shim::random(2 * ends);
    }

    void thread(uint me)
    {
        if (me == late) {
            shim::freeze_me_at(stop_);
            act(me);
            shim::thaw(); // he may not have come so far
            is_through_ = true;
            return;
        }
        while (!is_through_ && !shim::is_frozen())
            shim::pause();
        shim::settle_with_others();
        act(me);
        if (++finished_ == (variant_ / 2048 % 4 == 0 ? 1 : threads - 1))
            shim::thaw();
    }

    void after()
    {
        crew_.check_rest(variant_);
        shim::objects.destroy_all();
    }

private:
    // No lane of his group ever comes, so nobody waits for him.
    static constexpr uint late = threads - 1;
    static constexpr uint ends = threads > shim::group_lanes ? 16 : 12; // the atomic operation by which a block ends whose two objects he deletes
    static constexpr uint most_held = 4;
    static constexpr uint most_steps = 8;
    struct script {
        char step[most_steps] = {};
    };
    static constexpr script late_scripts[] = {{"-="}, {"-=b"}, {"a=="}, {"b-a-"}};
    static constexpr script scripts[] = {{"a-bbb--"}, {"a-bbb-b"}, {"a-bb-b"}, {"a-b-a=="}, {"b-ab="}, {"aab=-"}, {""}, {""}};

    void act(uint me)
    {
        for (const char each : scripts_[me].step) {
            const uint held = crew_.held[me].count;
            if (each == 'a' || each == 'b') {
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
        const uint who = variant_ % 8 < 4 ? me / shim::group_lanes : me, n = kma_mix32(variant_ * 977 + who);
        script one = scripts[n % std::size(scripts)];
        for (uint i = 0; n / 8 % 4 == 0 && i < most_steps - 1; i++)
            one.step[i] = "aabb-==b"[kma_mix32(n + i) % 8];
        return one;
    }

    tiny::crew<threads, 2, most_held> crew_;
    script scripts_[threads];
    uint variant_ = 0, stop_ = 0, finished_ = 0;
    bool is_through_ = false; // the late one
};
