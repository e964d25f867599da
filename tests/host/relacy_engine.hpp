// What a scenario under Relacy consists of. Relacy is a tower of templates over the test; behind these function
// pointers it is built for two numbers of threads once, not once for every scenario, form and mutant.
#pragma once

#include "shim/types.hpp"

namespace shim {

// At width 4 one group and a lane of another, whose other lanes never come.
constexpr uint narrow_threads = 3;
constexpr uint wide_threads = 5;

struct scenario_steps {
    void (*construct)();
    void (*before)();
    void (*thread)(uint id);
    void (*after)();
    void (*destroy)();
    std::uint64_t (*executions)(); // how many there are to be; 0: as many as one likes
    void (*report)();              // after all of them
};

// As the command line chose; the exit status.
int run_under_relacy(const scenario_steps &narrow, const scenario_steps &wide);

} // namespace shim
