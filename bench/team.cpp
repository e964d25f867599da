#include "team.hpp"

#include <chrono>

namespace bench {

Team::Team(unsigned threads) : barrier_(threads + 1)
{
    for (std::size_t i = 0; i < threads; i++)
        threads_.emplace_back([this, i] { live(i); });
}

Team::~Team()
{
    work_ = nullptr;
    barrier_.arrive_and_wait();
    for (std::thread &thread : threads_)
        thread.join();
}

double Team::run(std::size_t n, const std::function<void(std::size_t, std::size_t)> &work)
{
    using clock = std::chrono::steady_clock;
    n_ = n;
    work_ = &work;
    const clock::time_point begin = clock::now();
    barrier_.arrive_and_wait();
    barrier_.arrive_and_wait();
    return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

void Team::live(std::size_t index)
{
    for (;;) {
        barrier_.arrive_and_wait();
        if (!work_)
            return;
        const std::size_t threads = threads_.size();
        (*work_)(n_ * index / threads, n_ * (index + 1) / threads);
        barrier_.arrive_and_wait();
    }
}

} // namespace bench
