// Every structure on real threads in one program, for the sanitizers: compiling one is slow, so there is one for each.
//
// AddressSanitizer and UndefinedBehaviorSanitizer see accesses beyond a heap's memory and misaligned blocks, since
// blocks are really written. ThreadSanitizer sees what no order of the device files orders: payload, and the fields
// that are KMA_PLAIN, are plain memory here. It knows no fences, so it is for the forms with orders alone.
#include "options.hpp"
#include "shim/shim.hpp"

#include "driver_threads.hpp"

#include "host_heaps.hpp"
#include "heap/scenario_heap.hpp"

// Each of these files has its scenario under the same name.
#define scenario arena_scenario
#include "containers/scenario_arena.hpp"
#undef scenario
#define scenario array_list_scenario
#include "containers/scenario_array_list.hpp"
#undef scenario
#define scenario bitmap_scenario
#include "lockfree/scenario_bitmap.hpp"
#undef scenario
#define scenario list_scenario
#include "containers/scenario_list.hpp"
#undef scenario
#define scenario queue_scenario
#include "lockfree/scenario_queue.hpp"
#undef scenario
#define scenario tree_scenario
#include "containers/scenario_tree.hpp"
#undef scenario
#define scenario world_scenario
#include "objects/scenario_world.hpp"
#undef scenario

#if KMA_SANITIZED_THREADS
extern "C" void __tsan_on_report(void *)
{
    shim::report_defect("a data race, see above", "ThreadSanitizer", 0);
}
#else
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace {

template <uint threads, class Kind> class heap_scenario : public heap_threads<Kind, threads, Kind::shapes> {
};

template <class Scenario> void run(const char *name)
{
    if (shim::chosen.only.empty() || shim::chosen.only == name) {
        std::printf("%s: ", name);
        std::fflush(stdout);
        shim::iterate<Scenario>();
    }
}

template <class... Kinds> void run_heaps()
{
    (run<heap_scenario<shim::scenario_threads, Kinds>>(Kinds::name), ...);
}

} // namespace

int main(int argc, char **argv)
{
    shim::parse_options(argc, argv);
#if !KMA_SANITIZED_THREADS
    __sanitizer_set_death_callback([] { shim::report_defect("what the sanitizer says above", "AddressSanitizer", 0); });
#endif
    run<queue_scenario<shim::scenario_threads>>("queue");
    run<bitmap_scenario<shim::scenario_threads>>("bitmap");
    run<tree_scenario<shim::scenario_threads>>("tree");
    run<list_scenario<shim::scenario_threads>>("list");
    run<arena_scenario<shim::scenario_threads>>("arena");
    run<array_list_scenario<shim::scenario_threads>>("array_list");
    run<world_scenario<shim::scenario_threads>>("world");
    run_heaps<KMA_HOST_HEAPS>();
    return shim::verdict(false);
}
