// Hands a scenario to Relacy's engine, which is compiled once for all of them.
#pragma once

#include "relacy_engine.hpp"
#include "shim/shim.hpp"

namespace shim {

// One object at a time, made anew for each execution.
template <class Scenario> alignas(Scenario) inline unsigned char scenario_memory[sizeof(Scenario)];

template <class Scenario> Scenario &current()
{
    return *std::launder(reinterpret_cast<Scenario *>(scenario_memory<Scenario>));
}

template <class Scenario>
constexpr scenario_steps steps_of = {
    [] { ::new (static_cast<void *>(scenario_memory<Scenario>)) Scenario; },
    [] { current<Scenario>().before(); },
    [](uint id) { current<Scenario>().thread(id); },
    [] { current<Scenario>().after(); },
    [] { current<Scenario>().~Scenario(); },
    []() -> std::uint64_t {
        if constexpr (requires { Scenario::executions(); })
            return Scenario::executions();
        return 0;
    },
    [] {
        if constexpr (requires { Scenario::report(); })
            Scenario::report();
    },
};

template <template <uint threads> class Scenario> int run()
{
    return run_under_relacy(steps_of<Scenario<narrow_threads>>, steps_of<Scenario<wide_threads>>);
}

} // namespace shim
