// What both back ends and the device files share: OpenCL C's types, memory.cl's orders, and the caller's place.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = std::uint64_t;
static_assert(sizeof(uint) == 4 && std::is_same_v<ulong, unsigned long>, "glibc's own ulong must be the same type");

// As memory_fenced.cl tests them.
using kma_order = uint;
#define KMA_RELAXED 0u
#define KMA_ACQUIRE 1u
#define KMA_RELEASE 2u
#define KMA_ACQ_REL 3u

namespace shim {

// std::source_location, which clang 14 lacks. As a default argument it is the caller's place, in a .cl file.
struct location {
    const char *file = "";
    const char *function = "";
    unsigned line = 0;

    static constexpr location current(const char *file = __builtin_FILE(), const char *function = __builtin_FUNCTION(),
                                      unsigned line = __builtin_LINE())
    {
        return {file, function, line};
    }

    friend bool operator==(const location &a, const location &b)
    {
        return a.line == b.line && std::string_view(a.file) == b.file;
    }
};

class lane_group;
class lockstep;

// One work-item of a one-dimensional range. The back end keeps one for each thread.
struct place {
    lane_group *group = nullptr; // the lanes it may meet; none: it is always alone
    uint slot = 0;               // which of them it is
    std::size_t id = 0;
    uint operations = 0; // atomic ones, since the thread began
    lockstep *company = nullptr; // instead, lanes that one thread plays (lockstep.hpp)
};

inline std::size_t work_items = 1;

} // namespace shim
