// What a thread can be stopped in: a structure, one operation on it, and the state that the operation begins in.
//
// A subject also has, besides what is declared here,
//   structure, operations, states   its name, and those of the operations and states
//   applies(operation, state)       whether the two go together
#pragma once

#include "shim/shim.hpp"

namespace freeze {

// Far more than retries can explain while one thread is stopped.
constexpr uint most_atomics = 600;  // of one operation, unless a heap says how many it may have
constexpr uint most_attempts = 300; // for one pair of operations that must succeed
constexpr uint pairs = 2;           // each thread's quota

inline uint longest = 0; // operation of those that were not stopped, in atomic operations

// An operation of a thread that is not the one to be stopped: it must end soon, wherever another is stopped.
template <class Operation> auto bounded(const Operation &operation, uint most = most_atomics)
{
    struct meter {
        uint before = shim::self().operations;
        ~meter() { longest = max(longest, shim::self().operations - before); }
    } here;
    auto result = operation();
    shim::check(shim::self().operations - here.before <= most,
                "an operation does not end soon while another thread is stopped");
    return result;
}

// An operation that must succeed, if it is tried often enough.
template <class Operation> void must_succeed(const Operation &operation)
{
    for (uint attempts = 0; !bounded(operation);)
        shim::check(++attempts < most_attempts, "nothing to be had while a thread is stopped");
}

// A set of threads.
using crowd = uint;

class subject {
public:
    subject(uint operation, uint state) : operation_(operation), state_(state) {}
    virtual ~subject() = default;
    // Alone: makes the structure and leads it to the state. `operators` will do the operation, `victim` among them;
    // `heir`, which is never stopped nor held, gets what else there is to own.
    virtual void prepare(crowd operators, uint victim, uint heir) = 0;
    // The operation, once.
    virtual void operate(uint me) = 0;
    // A thread's quota: pairs of operations, each of which must succeed, however often it is tried.
    virtual void go_on(uint me) = 0;
    // By a thread that is alone but for those that are held for good: the others have done all they had to do. What is
    // lost is what the contract allows.
    virtual void check_without(crowd held, uint me) = 0;
    // Alone, when all have ended after all: nothing is lost.
    virtual void check_at_rest() = 0;

protected:
    const uint operation_, state_;
};

} // namespace freeze
