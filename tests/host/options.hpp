// What every test executable of this folder understands on its command line, and how it says what it found.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sys/time.h>
#include <utility>

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
    std::fprintf(stderr,
                 "usage: %s [--iterations N] [--seed S] [--width 1|4] [--rounds R] [--expect-failure]\n"
                 "       Relacy only: [--scheduler random|bound] [--bound K] [--history]; threads only: [--seconds T]\n"
                 "       seeded in the shim, threads only: [--relaxed] [--short-memory]; sanitized only: [--scenario NAME]\n",
                 program);
    std::exit(2);
}

inline void parse_options(int argc, char **argv)
{
    std::uint64_t width = 1, seconds = 0, rounds = 0, bound = 1;
    std::string_view scheduler = "random";
    const std::pair<std::string_view, bool *> flags[] = {{"--expect-failure", &chosen.expect_failure},
                                                         {"--relaxed", &chosen.relaxed},
                                                         {"--short-memory", &chosen.short_memory},
                                                         {"--history", &chosen.history}};
    const std::pair<std::string_view, std::string_view *> words[] = {{"--scenario", &chosen.only},
                                                                     {"--scheduler", &scheduler}};
    const std::pair<std::string_view, std::uint64_t *> numbers[] = {
        {"--iterations", &chosen.iterations}, {"--seed", &chosen.seed}, {"--width", &width},
        {"--rounds", &rounds},                {"--seconds", &seconds},  {"--bound", &bound}};
    for (int i = 1; i < argc; i++) {
        const auto find = [&](const auto &table) { return std::ranges::find(table, argv[i], [](auto &row) { return row.first; }); };
        if (const auto flag = find(flags); flag != std::end(flags)) {
            *flag->second = true;
            continue;
        }
        const auto word = find(words);
        const auto number = find(numbers);
        if (++i == argc || (word == std::end(words) && number == std::end(numbers)))
            usage(argv[0]);
        if (word != std::end(words))
            *word->second = argv[i];
        else
            *number->second = std::strtoull(argv[i], nullptr, 0);
    }
    if (chosen.seed == 0 || (width != 1 && width != 4) || (scheduler != "bound" && scheduler != "random"))
        usage(argv[0]);
    chosen.bound = scheduler == "bound" ? static_cast<unsigned>(bound) : 0;
    chosen.width = static_cast<unsigned>(width);
    chosen.seconds = static_cast<unsigned>(seconds);
    chosen.rounds = static_cast<unsigned>(rounds);
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
