// Back end 1: Relacy's model of C11 memory. Threads are fibers that take turns at every atomic operation, relaxed loads
// may return old values, and a plain variable reports accesses that nothing orders.
#pragma once

#include "types.hpp"

#include "../options.hpp"

#include <relacy/relacy.hpp>

// Relacy takes these words for itself; the device files and the tests mean the language's own.
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst
#undef VAR
#undef VAR_T
#undef TLS_T

namespace shim {

constexpr bool is_model_checker = true;

inline place places[16]; // all fibers run on one thread, so thread_local would be shared

inline place &self()
{
    return places[rl::is_ctx() && rl::ctx().threadx_ ? rl::thread_index() : 0];
}

inline rl::debug_info info_of(location where)
{
    return rl::debug_info(where.function, where.file, where.line);
}

// Ends the execution as a defect.
inline void check(bool condition, const char *what, location where = location::current())
{
    if (!condition)
        rl::ctx().fail_test(what, rl::test_result_user_assert_failed, info_of(where));
}

// A number below `limit`, the scheduler's choice: a replayed schedule gets the same.
inline uint random(uint limit)
{
    return rl::rand(limit);
}

// Lets another fiber run. Under the random scheduler this is no rl::yield, which would also forbid the caller to read
// old values again; the search needs the yield, as it would keep running a waiting fiber else.
inline void pause()
{
    if (rl::ctx().is_random_sched())
        rl::ctx().sched();
    else
        rl::ctx().yield(1, RL_INFO);
}

inline bool is_lone = false; // of interest to threads only
inline void begin_call() {}

// Where a test wants to be overtaken: every atomic operation is such a place already.
inline void linger() {}

// A random schedule gives all fibers the same pace. In half of the executions of a scenario that asks for it, one of
// them sleeps for once, before some atomic operation, long enough for the others to do much.
struct nap_plan {
    const place *sleeper = nullptr;
    uint operations = 0; // before it
    uint length = 0;
};
inline nap_plan nap;

// One that a scenario chooses.
inline void plan_nap_of(uint thread, uint operations, uint length)
{
    nap = {&places[thread], operations, length};
}

inline void plan_nap(uint threads)
{
    nap = {};
    if (chosen.bound == 0 && random(2) == 0)
        nap = {&places[random(threads)], random(1u << (3 + random(5))), 1u << (3 + random(6))};
}

// What the caller did is before what any other thread does that calls this later.
inline void settle_with_others()
{
    rl::atomic_thread_fence(rl::mo_seq_cst, RL_INFO);
}

// A thread that stops for good at some atomic operation, as a work-item may that the device never runs again. The
// thread that has seen what the others do without it thaws it, so that the execution ends.
struct freeze_plan {
    const place *victim = nullptr;
    uint operations = 0; // of `victim`, until then
    bool reached = false;
};
inline freeze_plan freeze;

// The caller stops before the `nth` atomic operation from now, counted from 1.
inline void freeze_me_at(uint nth)
{
    freeze = {&self(), self().operations + nth};
}

inline bool is_frozen()
{
    return freeze.victim && freeze.reached;
}

// The caller got so far that it will not stop any more; or another thread wakes the one that has.
inline void thaw()
{
    freeze = {};
}

inline void maybe_freeze()
{
    if (freeze.victim != &self() || freeze.operations != self().operations)
        return;
    settle_with_others();
    freeze.reached = true;
    while (freeze.victim)
        pause();
}

inline void maybe_nap()
{
    self().operations++;
    maybe_freeze();
    if (nap.sleeper != &self() || nap.operations-- != 0)
        return;
    nap.sleeper = nullptr;
    for (uint left = nap.length; left != 0; left--)
        rl::ctx().sched();
}

#define KMA_SHIM_UNSEEN // for ThreadSanitizer only; see backend_threads.hpp

// One fiber runs at a time, and a real lock would order memory, which lane operations must not.
struct lock {
    void acquire() {}
    void release() {}
};

constexpr rl::memory_order to_model(kma_order order)
{
    constexpr rl::memory_order orders[4] = {rl::mo_relaxed, rl::mo_acquire, rl::mo_release, rl::mo_acq_rel};
    return orders[order];
}

template <class T> class word {
public:
    T load(kma_order order, location where) const
    {
        check((order & KMA_RELEASE) == 0, "a load cannot release", where);
        maybe_nap();
        return value_.load(to_model(order), info_of(where));
    }

    void store(T value, kma_order order, location where)
    {
        check((order & KMA_ACQUIRE) == 0, "a store cannot acquire", where);
        maybe_nap();
        value_.store(value, to_model(order), info_of(where));
    }

    // A failed one acquires if `order` does.
    T cas(T expected, T desired, kma_order order, location where)
    {
        maybe_nap();
        value_.compare_exchange_strong(expected, desired, to_model(order), info_of(where));
        return expected;
    }

#define KMA_SHIM_RMW(operation)                                                                                        \
    T operation(T value, kma_order order, location where)                                                              \
    {                                                                                                                  \
        maybe_nap();                                                                                                   \
        return value_.operation(value, to_model(order), info_of(where));                                               \
    }
    KMA_SHIM_RMW(exchange)
    KMA_SHIM_RMW(fetch_add)
    KMA_SHIM_RMW(fetch_or)
    KMA_SHIM_RMW(fetch_and)

    // For checks at rest: of no interest to others.
    T peek(location where) const { return value_.load(rl::mo_relaxed, info_of(where)); }

    // For the shim's own words: nobody stops or sleeps here.
    void begin_at(T value, location where) { value_.store(value, rl::mo_relaxed, info_of(where)); }

private:
    rl::atomic<T> value_;
};

// A field that may only be touched by accesses that something orders; reading it before any write is a defect too.
template <class T> class plain {
public:
    operator T() const { return value_(RL_INFO).load(); }

    plain &operator=(T value)
    {
        value_(RL_INFO).store(value);
        return *this;
    }

private:
    rl::var<T> value_;
};

inline void fence(kma_order order, location where)
{
    rl::atomic_thread_fence(to_model(order), info_of(where));
}

} // namespace shim
