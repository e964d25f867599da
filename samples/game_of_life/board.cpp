// What each cell contains.
#include <algorithm>

#include "common/defines.hpp"
#include "life.hpp"

namespace game_of_life {

std::string Rules::defines() const
{
    using samples::define;
    return define("WIDTH", width) + define("HEIGHT", height);
}

Board board_of(const Rules &rules, const Cells &live, const Cells &before)
{
    Board board(rules.cells());
    for (const Cells *cells : {&before, &live})
        for (const std::uint32_t cell : *cells) {
            const std::uint32_t x = cell % rules.width, y = cell / rules.width;
            for (std::uint32_t v = y - std::min(y, 1u); v <= std::min(y + 1, rules.height - 1); v++)
                for (std::uint32_t u = x - std::min(x, 1u); u <= std::min(x + 1, rules.width - 1);
                     u++)
                    board[std::size_t{v} * rules.width + u] = Kind::candidate;
        }
    for (const std::uint32_t cell : live)
        board[cell] = Kind::alive;
    return board;
}

samples::Numbers population_of(const Board &board)
{
    const auto count = [&board](Kind kind) {
        return static_cast<std::uint64_t>(std::count(board.begin(), board.end(), kind));
    };
    return {{"alive", count(Kind::alive)}, {"candidates", count(Kind::candidate)}};
}

} // namespace game_of_life
