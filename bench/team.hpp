// Threads that share a piece of work, like the compute units of a CPU device.
#pragma once

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace bench {

class Team {
public:
    explicit Team(unsigned threads);
    Team(const Team &) = delete;
    Team &operator=(const Team &) = delete;
    ~Team();

    /// Each thread calls `work(begin, end)` for its part of [0, n). Returns the milliseconds of the
    /// whole.
    double run(std::size_t n, const std::function<void(std::size_t, std::size_t)> &work);

private:
    // A thread's loop. Reads the number of threads only after all were made, which is before the
    // first run.
    void live(std::size_t index);

    // all threads and the caller, at the start and end of each piece of work
    std::barrier<> barrier_;
    const std::function<void(std::size_t, std::size_t)> *work_ = nullptr; // null: the threads end
    std::size_t n_ = 0;
    std::vector<std::thread> threads_;
};

} // namespace bench
