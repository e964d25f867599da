// Runs a scenario on real threads, again and again with other seeds.
#pragma once

#include "options.hpp"
#include "shim/shim.hpp"

#include <array>
#include <thread>

namespace shim {

constexpr uint scenario_threads = 8;

inline lane_group groups[scenario_threads / group_lanes];

// Thread `id` of a scenario: at width 4, four threads in a row are lanes of one group.
inline place place_of(uint id)
{
    if (chosen.width == 1)
        return {nullptr, 0, id};
    return {&groups[id / group_lanes], id % group_lanes, id};
}

template <class Scenario> void run_once()
{
    random_state = iteration * (scenario_threads + 1);
    self() = place();
    for (lane_group &group : groups)
        group.reset();
    objects.forget_all();
    Scenario scenario;
    scenario.before();
    std::array<std::thread, scenario_threads> threads;
    for (uint id = 0; id < scenario_threads; id++)
        threads[id] = std::thread([&scenario, id] {
            random_state = iteration * (scenario_threads + 1) + 1 + id;
            self() = place_of(id);
            scenario.thread(id);
        });
    for (std::thread &thread : threads)
        thread.join();
    scenario.after();
}

template <class Scenario> void iterate()
{
    work_items = scenario_threads;
    const std::uint64_t iterations = chosen.iterations != 0 ? chosen.iterations : 1000;
    // Yielding is slow on a machine that others keep busy, so a time limit takes iterations off, not the test.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(chosen.seconds);
    for (iteration = chosen.seed; iteration < chosen.seed + iterations; iteration++) {
        if (chosen.seconds != 0 && std::chrono::steady_clock::now() > end)
            break;
        start_watchdog();
        run_once<Scenario>();
    }
    std::printf("%llu iterations from seed %llu: no defect\n", static_cast<unsigned long long>(iteration - chosen.seed),
                static_cast<unsigned long long>(chosen.seed));
}

template <template <uint threads> class Scenario> int run()
{
    catch_crashes();
    iterate<Scenario<scenario_threads>>();
    return verdict(false);
}

} // namespace shim
