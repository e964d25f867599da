// Back end 2: real threads on std::atomic. Every atomic operation may first yield, spin or sleep, so that threads meet
// in the middle of each other's operations even on two cores.
#pragma once

#include "types.hpp"

#include <chrono>
#include <sched.h>
#include <thread>

#include "../options.hpp"

namespace shim {

constexpr bool is_model_checker = false;

inline thread_local place this_place;
inline thread_local std::uint64_t random_state = 1;

// Far more than retries can explain, of which each needs another thread's progress.
constexpr uint most_operations = 20000;

inline place &self()
{
    return this_place;
}

// The caller's next call: atomic operations are limited for each.
inline void begin_call()
{
    self().operations = 0;
}

// splitmix64's stream: any start will do.
inline uint random(uint limit)
{
    std::uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<uint>((z >> 32) % limit);
}

inline void check(bool condition, const char *what, location where = location::current())
{
    if (!condition)
        report_defect(what, where.file, where.line);
}

inline void pause()
{
    std::this_thread::yield();
}

inline bool is_lone = false; // set by scenarios while no other thread is there

// Mostly nothing; sometimes the other threads run a few operations, rarely many of them.
inline void linger()
{
    if (++self().operations > most_operations)
        report_defect("livelock", __FILE__, __LINE__);
    if (is_lone)
        return;
    const uint choice = random(128);
    if (choice == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(random(50)));
    else if (choice < 20)
        std::this_thread::yield();
    else if (choice < 40)
        for (uint left = random(200); left != 0; left--)
            std::atomic_signal_fence(std::memory_order_seq_cst);
}

inline void plan_nap(uint) {} // threads do that anyway
inline void plan_nap_of(uint, uint, uint) {}

// What ThreadSanitizer is not to see, since it takes every lock for an order of memory, which lane operations must not
// be. Without that tool it means nothing.
#define KMA_SHIM_UNSEEN __attribute__((no_sanitize("thread"), noinline))

class lock {
public:
    KMA_SHIM_UNSEEN void acquire()
    {
        while (__atomic_exchange_n(&taken_, true, __ATOMIC_ACQUIRE))
            sched_yield();
    }
    KMA_SHIM_UNSEEN void release() { __atomic_store_n(&taken_, false, __ATOMIC_RELEASE); }

private:
    bool taken_ = false;
};

inline std::memory_order to_std(kma_order order)
{
    constexpr std::memory_order orders[4] = {std::memory_order_relaxed, std::memory_order_acquire,
                                             std::memory_order_release, std::memory_order_acq_rel};
    return orders[chosen.relaxed ? 0 : order];
}

// ThreadSanitizer knows no fences: for it all that a thread stores behind a release fence releases. That is what the
// fence is for, though not only for what came before it, as this has it; Relacy has it exactly.
inline thread_local bool is_behind_release = false;
#if defined(__SANITIZE_THREAD__) || (defined(KMA_SANITIZED_THREADS) && KMA_SANITIZED_THREADS)
constexpr bool has_no_fences = true;
#else
constexpr bool has_no_fences = false;
#endif

inline std::memory_order to_std_store(kma_order order)
{
    return to_std(has_no_fences && is_behind_release ? order | KMA_RELEASE : order);
}

template <class T> class word {
public:
    T load(kma_order order, location where) const
    {
        check((order & KMA_RELEASE) == 0, "a load cannot release", where);
        linger();
        return value_.load(to_std(order));
    }

    void store(T value, kma_order order, location where)
    {
        check((order & KMA_ACQUIRE) == 0, "a store cannot acquire", where);
        linger();
        value_.store(value, to_std_store(order));
    }

    T cas(T expected, T desired, kma_order order, location)
    {
        linger();
        value_.compare_exchange_strong(expected, desired, to_std_store(order), to_std(order & KMA_ACQUIRE));
        return expected;
    }

#define KMA_SHIM_RMW(operation)                                                                                        \
    T operation(T value, kma_order order, location)                                                                    \
    {                                                                                                                  \
        linger();                                                                                                      \
        return value_.operation(value, to_std_store(order));                                                           \
    }
    KMA_SHIM_RMW(exchange)
    KMA_SHIM_RMW(fetch_add)
    KMA_SHIM_RMW(fetch_or)
    KMA_SHIM_RMW(fetch_and)

    // For checks at rest: nobody is to be overtaken there.
    T peek(location) const { return value_.load(std::memory_order_relaxed); }

    void begin_at(T value, location) { value_.store(value, std::memory_order_relaxed); }

private:
    std::atomic<T> value_;
};

template <class T> using plain = T;

inline void fence(kma_order order, location)
{
    linger();
    is_behind_release = is_behind_release || (order & KMA_RELEASE) != 0;
    if constexpr (!has_no_fences)
        std::atomic_thread_fence(to_std(order));
}

} // namespace shim
