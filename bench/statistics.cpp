#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bench {

Statistics statistics(std::vector<double> samples)
{
    std::ranges::sort(samples);
    const std::size_t n = samples.size();
    const double mean =
        std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(n);
    double squares = 0;
    for (const double sample : samples)
        squares += (sample - mean) * (sample - mean);
    const double deviation = n > 1 ? std::sqrt(squares / static_cast<double>(n - 1)) : 0;
    return {(samples[(n - 1) / 2] + samples[n / 2]) / 2, samples.front(), samples.back(),
            mean != 0 ? deviation / mean : 0};
}

std::vector<double> scaled(std::vector<double> samples, double factor)
{
    for (double &sample : samples)
        sample *= factor;
    return samples;
}

} // namespace bench
