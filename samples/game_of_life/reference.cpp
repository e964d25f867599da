// The game of life from a list of live cells, written from the rules, not from the kernels: in each
// step every live cell adds to its neighbours' counts.
#include "reference.hpp"

#include <utility>

namespace game_of_life {

void Reference::step()
{
    const auto width = static_cast<std::int64_t>(rules_.width),
               height = static_cast<std::int64_t>(rules_.height);
    Cells counted;
    for (const std::uint32_t cell : live_) {
        lives_[cell] = 1;
        for (std::int64_t y = cell / width - 1; y <= cell / width + 1; y++)
            for (std::int64_t x = cell % width - 1; x <= cell % width + 1; x++) {
                const auto other = static_cast<std::uint32_t>(y * width + x);
                if (x >= 0 && x < width && y >= 0 && y < height && other != cell &&
                    neighbours_[other]++ == 0)
                    counted.push_back(other);
            }
    }
    before_ = std::exchange(live_, {});
    for (const std::uint32_t cell : counted) {
        if (neighbours_[cell] == 3 || (neighbours_[cell] == 2 && lives_[cell] != 0))
            live_.push_back(cell);
        neighbours_[cell] = 0;
    }
    for (const std::uint32_t cell : before_)
        lives_[cell] = 0;
}

} // namespace game_of_life
