// Loads libgc at run time.
#include "boehm.hpp"

#include <dlfcn.h>

namespace bench {
namespace {

template <class F> bool find(void *library, const char *name, F *&function)
{
    function = reinterpret_cast<F *>(dlsym(library, name));
    return function != nullptr;
}

} // namespace

const Boehm *boehm(unsigned threads, std::string &missing)
{
    static Boehm found;
    if (!found.version.empty())
        return &found;
    void *const library = dlopen("libgc.so.1", RTLD_NOW | RTLD_LOCAL); // never closed
    if (!library) {
        missing = "the Boehm collector's column is missing: install libgc1";
        return nullptr;
    }
    void (*init)() = nullptr;
    void (*set_markers)(unsigned) = nullptr;
    unsigned (*version)() = nullptr;
    if (!find(library, "GC_init", init) || !find(library, "GC_set_markers_count", set_markers) ||
        !find(library, "GC_get_version", version) || !find(library, "GC_malloc", found.make) ||
        !find(library, "GC_malloc_uncollectable", found.root) ||
        !find(library, "GC_gcollect", found.collect) || !find(library, "GC_disable", found.pause) ||
        !find(library, "GC_enable", found.resume)) {
        missing = "the Boehm collector's column is missing: libgc.so.1 is older than 8.2";
        return nullptr;
    }
    set_markers(threads);
    init();
    const unsigned number = version();
    found.version = std::to_string(number >> 16) + "." + std::to_string(number >> 8 & 255) + "." +
                    std::to_string(number & 255);
    return &found;
}

} // namespace bench
