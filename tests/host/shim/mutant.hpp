// Which of the seeded bugs is awake: in executables whose device files are the copies that mutants/generate.py made.
#pragma once

#include "types.hpp"

#include "mutants_stamp.hpp" // beside the copies

namespace shim {

inline uint mutant = 0;            // the number of the one that is awake; 0: none
inline bool lists_reached = false; // print which ones were passed
constexpr uint most_mutants = 4096;
inline std::atomic<bool> reached[most_mutants];

// What the copies ask wherever a mutant sleeps.
inline bool is(uint number)
{
    reached[number].store(true, std::memory_order_relaxed);
    return number == mutant;
}

// Takes `--mutant NUMBER` and `--reached` from a command line; the rest is as of any executable of this folder.
inline void take_mutant_options(int &argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        const std::string_view name = argv[i];
        if (name == "--reached")
            lists_reached = true;
        else if (name == "--mutant" && i + 1 < argc)
            mutant = static_cast<uint>(std::strtoul(argv[++i], nullptr, 0));
        else
            argv[kept++] = argv[i];
    }
    argc = kept;
}

inline void list_reached()
{
    if (!lists_reached)
        return;
    std::printf("mutants %s reached:", KMA_SHIM_MUTANTS_STAMP);
    for (uint number = 1; number < most_mutants; number++)
        if (reached[number])
            std::printf(" %u", number);
    std::printf("\n");
}

} // namespace shim
