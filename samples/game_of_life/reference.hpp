// The same game on the host, for comparison.
#pragma once

#include "life.hpp"

namespace game_of_life {

class Reference {
public:
    explicit Reference(const Rules &rules)
        : rules_(rules), live_(first_cells(rules)), neighbours_(rules.cells()),
          lives_(rules.cells())
    {
    }
    void step();
    Board board() const { return board_of(rules_, live_, before_); }

private:
    Rules rules_;
    Cells live_, before_;
    std::vector<std::uint8_t> neighbours_, lives_; // of each cell; all 0 between steps
};

} // namespace game_of_life
