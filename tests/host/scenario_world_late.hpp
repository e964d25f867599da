// The object store's one block, or two, and one who is late: he deletes, or looks for room, and is stopped in the middle, while others
// end the block, begin it for another class, fill it, and leave it with a word that he may take for another.
//
// The others do what a script says: `a` and `b` create objects of two classes, `-` deletes the oldest of one's own, `=` the newest. Checked:
// what world_crew.hpp says.
#pragma once

#include "world_crew.hpp"

template <uint threads> class scenario {
public:
    void before()
    {
        const bool is_search = shim::chosen.bound != 0;
        static constexpr uint slots[][tiny::classes] = {{1, 2, 3}, {2, 3, 1}, {1, 3, 2}, {2, 2, 1}, {3, 2, 1}, {2, 1, 3}};
        const uint variant = shim::random(is_search ? 4 * searched : 1u << 20);
        number_ = variant;
        const uint shape = variant % (is_search ? 4 : std::size(slots));
        crew_.store.make(is_search ? 1 : 1 + variant / 8 % 2, slots[shape]);
        tiny::looks = 2;
        for (uint me = 0; me < threads; me++)
            scripts_[me] = is_search ? scripts[me == 0 ? 0 : me == 1 ? 1 + variant / 4 : searched + 1] : random_script(variant / 16, me);
        if (!is_search && variant / 16 % 2 == 1)
            crew_.put_wrong_hints(variant);
        crew_.create(0, 0); // class a has an object: the late one's
        if (shape == 3)
            crew_.create(0, 0);
        if (!is_search && variant / 32 % 4 != 0)
            shim::plan_nap_of(0, 0, shim::random(threads > shim::group_lanes ? 24 : 12), 1u << (4 + shim::random(5)));
    }

    void thread(uint me)
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

    void after()
    {
        crew_.check_rest(number_);
        shim::objects.destroy_all();
    }

private:
    static constexpr uint most_held = 4;
    static constexpr uint most_steps = 8;
    struct script {
        char step[most_steps] = {};
    };
    // The late one; the others'; and one who only passes by.
    static constexpr uint searched = 5;
    static constexpr script scripts[] = {{"--b"}, {"a-bb-"}, {"a-bbb--"}, {"a-bbb-"}, {"a-b-a"}, {"b-ab="}, {"b"}};

    // Lanes often do the same.
    static script random_script(uint number, uint me)
    {
        const uint who = number % 4 < 2 ? me / shim::group_lanes : me;
        script one;
        for (uint i = 0; i < most_steps - 1; i++)
            one.step[i] = (me == 0 && number % 8 < 6 ? "-=ab--=a" : "aabb-==b")[kma_mix32(number * 977 + who * 31 + i) % 8];
        if (me == 0)
            one.step[0] = '-';
        return one;
    }

    tiny::crew<threads, 2, most_held> crew_;
    script scripts_[threads];
    uint number_ = 0;
};
