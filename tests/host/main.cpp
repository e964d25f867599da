// The source of every test executable here but the sanitizers': a scenario (-D KMA_SCENARIO) on a back end of the shim.
#include "options.hpp"
#include "shim/shim.hpp"

#if KMA_SHIM_RELACY
#include "driver_relacy.hpp"
#else
#include "driver_threads.hpp"
#endif

#include KMA_SCENARIO

int main(int argc, char **argv)
{
#ifdef KMA_MUTANT_STALE // mutate.cmake did not find the text that it was to replace
    std::printf("stale mutant: %s\n", KMA_MUTANT_STALE);
    (void)argc, (void)argv;
    return 1;
#else
    shim::parse_options(argc, argv);
    return shim::run<scenario>();
#endif
}
