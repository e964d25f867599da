// Threads that do a piece of work together, as the compute units of a CPU device do.
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

    /// `work(begin, end)` by each thread for its part of 0 to n - 1; returns the milliseconds that
    /// it took together.
    double run(std::size_t n, const std::function<void(std::size_t, std::size_t)> &work);

private:
    // Counts the threads only once all have been made, which is before the first run.
    void live(std::size_t index);

    std::barrier<> barrier_; // all threads and the caller, at begin and end of each piece
    const std::function<void(std::size_t, std::size_t)> *work_ = nullptr; // none: it is over
    std::size_t n_ = 0;
    std::vector<std::thread> threads_;
};

} // namespace bench
