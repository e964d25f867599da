// What every test executable of this folder understands on its command line, and how it says what it found.
#pragma once

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sys/time.h>

namespace shim {

struct options {
    std::uint64_t iterations = 0; // 0: all, if the scenario counts them, else 1000
    std::uint64_t seed = 1;       // the number of the first iteration; each iteration's choices follow from its number
    unsigned bound = 0;           // context switches in Relacy's exhaustive search; 0: random schedules instead
    unsigned width = 1;           // lanes in a group, 1 or 4
    unsigned seconds = 0;         // threads only: begin no iteration later than that; 0: no limit
    unsigned rounds = 0;          // of each thread; 0: what the scenario finds right
    bool expect_failure = false;
    bool relaxed = false;      // threads only, a seeded bug: every order is relaxed
    bool short_memory = false; // threads only, a seeded bug: a heap is told of a unit more than there is
    std::string_view only;     // of a program that has several scenarios
    bool history = false;      // Relacy prints what led to the defect
};

inline options chosen;
inline std::uint64_t iteration = 0; // now running

[[noreturn]] inline void usage(const char *program)
{
    std::fprintf(
        stderr,
        "usage: %s [--iterations N] [--seed S] [--width 1|4] [--rounds R] [--expect-failure]\n"
        "       Relacy only: [--scheduler random|bound] [--bound K] [--history]; threads only: [--seconds T]\n"
        "       seeded in the shim, threads only: [--relaxed] [--short-memory]; sanitized only: [--scenario NAME]\n",
        program);
    std::exit(2);
}

inline void parse_options(int argc, char **argv)
{
    bool searches = false;
    unsigned bound = 1;
    for (int i = 1; i < argc; i++) {
        const std::string_view name = argv[i];
        if (name == "--expect-failure") {
            chosen.expect_failure = true;
            continue;
        }
        if (name == "--relaxed") {
            chosen.relaxed = true;
            continue;
        }
        if (name == "--short-memory") {
            chosen.short_memory = true;
            continue;
        }
        if (name == "--history") {
            chosen.history = true;
            continue;
        }
        if (++i == argc)
            usage(argv[0]);
        if (name == "--scenario") {
            chosen.only = argv[i];
            continue;
        }
        const std::uint64_t value = std::strtoull(argv[i], nullptr, 0);
        if (name == "--iterations" && value != 0)
            chosen.iterations = value;
        else if (name == "--seed")
            chosen.seed = value;
        else if (name == "--width" && (value == 1 || value == 4))
            chosen.width = static_cast<unsigned>(value);
        else if (name == "--rounds")
            chosen.rounds = static_cast<unsigned>(value);
        else if (name == "--seconds")
            chosen.seconds = static_cast<unsigned>(value);
        else if (name == "--bound")
            bound = static_cast<unsigned>(value);
        else if (name == "--scheduler" &&
                 (argv[i] == std::string_view("bound") || argv[i] == std::string_view("random")))
            searches = argv[i][0] == 'b';
        else
            usage(argv[0]);
    }
    chosen.bound = searches ? bound : 0;
    if (chosen.seed == 0)
        usage(argv[0]);
}

// The exit status that tells CTest whether it went as expected.
inline int verdict(bool defect_found)
{
    std::printf("%s\n", defect_found == chosen.expect_failure ? "as expected" : "NOT as expected");
    std::fflush(stdout);
    return defect_found == chosen.expect_failure ? 0 : 1;
}

// Other threads may be anywhere, so the process ends here.
[[noreturn]] inline void report_defect(const char *what, const char *file, unsigned line)
{
    std::printf("defect: %s (%s:%u)\niteration %llu; again: --seed %llu --iterations 1\n", what, file, line,
                static_cast<unsigned long long>(iteration), static_cast<unsigned long long>(iteration));
    std::_Exit(verdict(true));
}

// Processor seconds, which a busy machine does not stretch, until an iteration counts as one that never ends.
inline void start_watchdog()
{
    const itimerval limit = {{0, 0}, {2, 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
}

// A broken structure may also crash or never end; that is a defect found, too.
inline void catch_crashes()
{
    const auto handler = [](int signal) {
        report_defect(signal == SIGPROF ? "an iteration does not end" : "crash", "signal",
                      static_cast<unsigned>(signal));
    };
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPROF})
        std::signal(signal, handler);
    start_watchdog();
}

} // namespace shim
