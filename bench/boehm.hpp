// The Boehm-Demers-Weiser collector (libgc), for comparison on CPUs: loaded at run time if
// installed.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

struct Boehm {
    std::string version;              ///< such as "8.2.2"
    void *(*make)(std::size_t bytes); ///< allocates zeroed memory, freed when unreachable
    void *(*root)(std::size_t bytes); ///< allocates zeroed memory that is a root
    void (*collect)();                ///< collects with the requested number of threads
    void (*pause)();                  ///< prevents collections until as many resume()
    void (*resume)();
};

/// The collector with `threads` marking threads, for the calling thread only. Null if it cannot be
/// loaded; `missing` says why.
const Boehm *boehm(unsigned threads, std::string &missing);

} // namespace bench
