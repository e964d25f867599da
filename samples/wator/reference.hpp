// The same simulation on the host, one cell after the other, for comparison.
#pragma once

#include "ocean.hpp"

namespace wator {

class Reference {
public:
    explicit Reference(const Rules &rules);
    void step(std::uint32_t number);
    const Grid &grid() const noexcept { return grid_; }

private:
    void phase(Kind kind, std::uint32_t number);

    Rules rules_;
    Grid grid_;
};

} // namespace wator
