// Loads mimalloc at run time with local names: linked, it would replace malloc, and both columns
// would measure it.
#include "host_allocator.hpp"

#include <cstdlib>

#include <dlfcn.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

namespace bench {
namespace {

template <class F> F *function(void *library, const char *name)
{
    return reinterpret_cast<F *>(dlsym(library, name));
}

std::string version_text(int version) // 209: 2.0.9; from 3.0 on with more digits
{
    return std::to_string(version / 100) + "." + std::to_string(version / 10 % 10) + "." +
           std::to_string(version % 10);
}

} // namespace

HostAllocators host_allocators()
{
    HostAllocators found;
#ifdef __GLIBC__
    found.all.push_back({std::string("glibc ") + gnu_get_libc_version(), std::malloc, std::free});
#else
    found.all.push_back({"malloc", std::malloc, std::free});
#endif
#ifdef KMA_BENCH_MIMALLOC
    // never closed
    void *const library = dlopen(KMA_BENCH_MIMALLOC, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        found.missing = std::string("mimalloc's column is missing: ") + dlerror();
        return found;
    }
    const auto version = function<int()>(library, "mi_version");
    const auto take = function<void *(std::size_t)>(library, "mi_malloc");
    const auto give = function<void(void *)>(library, "mi_free");
    if (version && take && give)
        found.all.push_back({"mimalloc " + version_text(version()), take, give});
    else
        found.missing = "mimalloc's column is missing: " KMA_BENCH_MIMALLOC " has no mi_malloc";
#else
    found.missing =
        "mimalloc's column is missing: install libmimalloc-dev and configure and build kma again";
#endif
    return found;
}

} // namespace bench
