// The source of every test executable here but the sanitizers': a scenario (-D KMA_SCENARIO) on a back end of the shim;
// with -D KMA_SHIM_MUTANTS on device files in which seeded bugs sleep (mutants/generate.py).
#include "options.hpp"
#ifdef KMA_SHIM_MUTANTS
#include "shim/mutant.hpp"
#endif
#include "shim/shim.hpp"
#ifdef KMA_SHIM_MUTANTS
#include "shim/mutant_operations.hpp"
#endif

#if KMA_SHIM_RELACY
#include "driver_relacy.hpp"
#else
#include "driver_threads.hpp"
#endif

#include KMA_SCENARIO

int main(int argc, char **argv)
{
#ifdef KMA_SHIM_MUTANTS
    shim::take_mutant_options(argc, argv);
    std::atexit(shim::list_reached);
#endif
    shim::parse_options(argc, argv);
    return shim::run<scenario>();
}
