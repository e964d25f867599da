// Statistics of several rounds of the same work.
#pragma once

#include <vector>

namespace bench {

struct Statistics {
    double median = 0, min = 0, max = 0;
    /// coefficient of variation: standard deviation over mean; 0 for less than two samples
    double cv = 0;
};

/// Computes the statistics; `samples` must not be empty.
Statistics statistics(std::vector<double> samples);

/// Each sample times `factor`.
std::vector<double> scaled(std::vector<double> samples, double factor);

} // namespace bench
