// Runs a scenario under Relacy: random schedules, or all schedules up to a number of context switches.
#include "shim/backend_relacy.hpp"

#include "shim/lanes.hpp"
#include "shim/objects.hpp"

#include "options.hpp"
#include "relacy_engine.hpp"

namespace shim {
namespace {

static_assert(wide_threads == group_lanes + 1);

constexpr uint longest_execution = 200000; // scheduling points; more is a livelock

lane_group groups[2];
scenario_steps steps;

template <uint threads> struct suite : rl::test_suite<suite<threads>, threads> {
    suite() { steps.construct(); }
    ~suite() { steps.destroy(); }

    void before()
    {
        // The search ignores Relacy's own iteration count.
        if (chosen.bound != 0 && iteration == chosen.seed + chosen.iterations - 1)
            rl::ctx().rl_until("enough", RL_INFO);
        iteration++;
        if (iteration % 64 == 0)
            start_watchdog();
        for (lane_group &group : groups)
            group.reset();
        objects.forget_all();
        steps.before();
    }

    void thread(uint id)
    {
        place &mine = self();
        mine.id = id;
        if (threads == wide_threads) {
            mine.group = &groups[id / group_lanes];
            mine.slot = id % group_lanes;
        }
        steps.thread(id);
        mine = place(); // what follows on this fiber, `after` perhaps, runs alone
    }

    void after()
    {
        steps.after();
        objects.destroy_all(); // the shim has some of its own
    }
};

template <uint threads>
rl::test_result_e explore(rl::test_params &params, rl::ostringstream &state, std::uint64_t first)
{
    iteration = first - 1;
    for (place &each : places)
        each = place();
    if (chosen.bound != 0)
        return rl::run_test<suite<threads>, rl::context_bound_scheduler<threads>>(params, state, false);
    return rl::run_test<suite<threads>, rl::random_scheduler<threads>>(params, state, false);
}

// What a failed execution was, found by running it once more with a history.
template <uint threads> void explain(rl::test_params params, const rl::ostringstream &state, std::uint64_t failed)
{
    rl::ostringstream text; // written while Relacy holds operator new, read after
    rl::ostringstream ignored;
    params.initial_state = state.str();
    params.collect_history = true;
    params.output_stream = &text;
    explore<threads>(params, ignored, failed);
    const rl::string history = text.str();
    const rl::string first_line = history.substr(0, history.find('\n'));
    std::printf("%s\n", chosen.history ? history.c_str() : first_line.c_str());
}

template <uint threads> int run(const scenario_steps &scenario)
{
    steps = scenario;
    work_items = threads;
    const std::uint64_t all = steps.executions();
    const bool runs_all = all != 0 && chosen.iterations == 0 && chosen.seed == 1;
    if (chosen.iterations == 0)
        chosen.iterations = all != 0 ? all : 1000;
    rl::test_params params;
    std::ostream nothing(nullptr);
    rl::ostringstream state;
    params.output_stream = params.progress_stream = &nothing;
    params.search_type = chosen.bound != 0 ? rl::sched_bound : rl::sched_random;
    params.context_bound = chosen.bound;
    params.execution_depth_limit = longest_execution;
    params.iteration_count = chosen.seed + chosen.iterations - 1;
    if (chosen.bound == 0)
        params.initial_state = std::to_string(chosen.seed).c_str();

    const rl::test_result_e result = explore<threads>(params, state, chosen.seed);
    if (result == rl::test_result_success || result == rl::test_result_until_condition_hit) {
        std::printf("%llu schedules: no defect%s\n", static_cast<unsigned long long>(iteration - chosen.seed + 1),
                    chosen.bound != 0 && result == rl::test_result_success ? "; the search is complete" : "");
        if (runs_all)
            steps.report();
        return verdict(false);
    }
    const auto failed = static_cast<unsigned long long>(params.stop_iteration);
    explain<threads>(params, state, failed);
    if (chosen.bound == 0)
        std::printf("iteration %llu; again: --seed %llu --iterations 1 --history\n", failed, failed);
    else
        std::printf("iteration %llu; again: the same command, which always takes the same way, and --history\n",
                    failed);
    return verdict(true);
}

} // namespace

int run_under_relacy(const scenario_steps &narrow, const scenario_steps &wide)
{
    catch_crashes();
    return chosen.width == 1 ? run<narrow_threads>(narrow) : run<wide_threads>(wide);
}

} // namespace shim
