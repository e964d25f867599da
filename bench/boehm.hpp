// The Boehm-Demers-Weiser collector (libgc), to compare with on CPUs: loaded when it is there, not
// linked.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

struct Boehm {
    std::string version;              ///< such as "8.2.2"
    void *(*make)(std::size_t bytes); ///< zeroed, collected when nothing leads to it
    void *(*root)(std::size_t bytes); ///< the same, never collected
    void (*collect)();                ///< all garbage, with as many threads as were asked for
    void (*pause)();                  ///< no collections until resume(), as often
    void (*resume)();
};

/// The collector with so many marking threads, for the calling thread alone. Null where there is
/// none; `missing` says why.
const Boehm *boehm(unsigned threads, std::string &missing);

} // namespace bench
