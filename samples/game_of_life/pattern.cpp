// The first live cells: a random soup, a pattern from a file, or guns.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "common/mix32.hpp"
#include "common/text_file.hpp"
#include "life.hpp"

namespace game_of_life {
namespace {

struct Place {
    std::uint32_t x, y;
};
using Pattern = std::vector<Place>; ///< of live cells

// Reads a pattern in either of the common formats. RLE: a header "x = 3, y = 3, rule = B3/S23",
// then runs such as bob$2bo$3o!, where b is dead, o alive, $ the end of a row. Plaintext: rows of .
// and O; lines that begin with ! are comments.
class Reader {
public:
    Reader(const Rules &rules, std::string name) : rules_(rules), name_(std::move(name)) {}

    Pattern read(std::string_view text)
    {
        while (!text.empty() && !is_over_) {
            line_++;
            const std::string_view line = samples::take_line(text);
            if (line.starts_with('#') || (!is_rle_ && line.starts_with('!')))
                continue;
            if (line.starts_with('x'))
                head(line);
            else if (is_rle_)
                runs(line);
            else
                row(line);
        }
        if (pattern_.empty())
            throw kma::Error(name_ + ": no cell lives in this pattern; RLE (x = …, then b, o and "
                                     "$) and plaintext (. and O) are read");
        return std::move(pattern_);
    }

private:
    std::string here() const { return name_ + ":" + std::to_string(line_) + ": "; }

    void head(std::string_view line)
    {
        is_rle_ = true;
        const std::size_t at = line.find("rule");
        if (at == std::string_view::npos)
            return;
        std::string rule(line.substr(at + 4));
        std::erase_if(rule, [](char c) { return c == ' ' || c == '\t' || c == '='; });
        std::transform(rule.begin(), rule.end(), rule.begin(), [](char c) {
            return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        });
        if (rule != "B3/S23" && rule != "23/3")
            throw kma::Error(here() + "the pattern's rule is " + samples::quoted(rule) +
                             ", and this is Conway's game, B3/S23; take another pattern");
    }
    void runs(std::string_view line)
    {
        for (const char c : line)
            switch (c) {
            case ' ':
            case '\t':
                break;
            case 'b':
                at_.x = std::min(at_.x + run(), far);
                break;
            case 'o':
                for (std::uint32_t n = run(); n != 0; n--)
                    live();
                break;
            case '$':
                at_ = {0, std::min(at_.y + run(), far)};
                break;
            case '!':
                is_over_ = true;
                return;
            default:
                if (c < '0' || c > '9')
                    refuse(c, "b, o, $, ! and numbers");
                run_ = std::min(10 * run_.value_or(0) + static_cast<std::uint32_t>(c - '0'), far);
            }
    }
    std::uint32_t run() { return std::exchange(run_, std::nullopt).value_or(1); }
    void row(std::string_view line)
    {
        for (const char c : line) {
            if (c == 'O' || c == '*')
                live();
            else if (c == '.')
                at_.x++;
            else
                refuse(c, ". and O; a file in RLE has a line \"x = …\" in front");
        }
        at_ = {0, at_.y + 1};
    }
    void live()
    {
        if (at_.x >= rules_.width || at_.y >= rules_.height)
            throw kma::Error(here() + "the pattern is larger than " + std::to_string(rules_.width) +
                             " x " + std::to_string(rules_.height) +
                             " cells; give more by --width and --height");
        pattern_.push_back(at_);
        at_.x++;
    }
    [[noreturn]] void refuse(char c, const char *those) const
    {
        throw kma::Error(here() + samples::quoted(std::string_view(&c, 1)) +
                         " is no part of a pattern, which has " + those);
    }

    static constexpr std::uint32_t far = 1u << 16; // outside of any grid

    const Rules &rules_;
    std::string name_;
    std::uint64_t line_ = 0;
    bool is_rle_ = false, is_over_ = false;
    std::optional<std::uint32_t> run_; // RLE's run length, if one was read
    Place at_{0, 0};
    Pattern pattern_;
};

// Returns the smallest box at 0, 0 that contains the pattern.
Place size_of(const Pattern &pattern)
{
    Place size{0, 0};
    for (const Place &cell : pattern)
        size = {std::max(size.x, cell.x + 1), std::max(size.y, cell.y + 1)};
    return size;
}

Cells soup(const Rules &rules)
{
    Cells cells;
    for (std::uint32_t cell = 0; cell < rules.cells(); cell++)
        if (samples::mix32(samples::mix32(rules.seed) ^ cell) % 256 < rules.soup_share)
            cells.push_back(cell);
    return cells;
}

Cells in_the_middle(const Rules &rules, const Pattern &pattern)
{
    const Place size = size_of(pattern);
    Cells cells;
    for (const Place &cell : pattern)
        cells.push_back((cell.y + (rules.height - size.y) / 2) * rules.width + cell.x +
                        (rules.width - size.x) / 2);
    return cells;
}

// Gosper's gun, four gliders in flight, and an eater at the end of their path; the whole repeats
// every 30 steps. On average it has 70 live cells, 271 agents with the candidates, and 50 births
// and deaths per step.
constexpr const char *gun =
    "x = 51, y = "
    "37\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4bobo$10bo5bo7bo$"
    "11bo3bo$12b2o$23bo$24b2o$23b2o6$30bobo$31b2o$31bo5$38bo$39b2o$38b2o7$47b2o$47bobo$49bo$49b2o!";
constexpr Place gun_size{51, 37};
constexpr Place lot_size{56, 42}; // guns this far apart do not touch

// Places guns at random lots, each in one of four mirror images.
Cells guns(const Rules &rules)
{
    const Place lots{rules.width / lot_size.x, rules.height / lot_size.y};
    if (rules.guns > lots.x * lots.y)
        throw kma::Error("--guns " + std::to_string(rules.guns) + " is too much for " +
                         std::to_string(rules.width) + " x " + std::to_string(rules.height) +
                         " cells: " + std::to_string(lots.x * lots.y) +
                         " is the most; give fewer, or more cells");
    std::vector<std::uint32_t> order(lots.x * lots.y);
    std::iota(order.begin(), order.end(), 0u);
    Cells cells;
    const Pattern pattern = Reader(rules, "the gun").read(gun);
    for (std::uint32_t i = 0; i < rules.guns; i++) {
        const std::uint32_t draw = samples::mix32(samples::mix32(rules.seed) ^ i);
        std::swap(order[i], order[i + draw % (order.size() - i)]);
        const Place lot{order[i] % lots.x * lot_size.x, order[i] / lots.x * lot_size.y};
        for (const Place &cell : pattern) {
            const std::uint32_t x = draw >> 31 != 0 ? gun_size.x - 1 - cell.x : cell.x,
                                y = (draw >> 30 & 1) != 0 ? gun_size.y - 1 - cell.y : cell.y;
            cells.push_back((lot.y + y) * rules.width + lot.x + x);
        }
    }
    return cells;
}

} // namespace

Cells first_cells(const Rules &rules)
{
    if (rules.pattern == "soup")
        return soup(rules);
    if (rules.pattern == "guns")
        return guns(rules);
    return in_the_middle(
        rules, Reader(rules, rules.pattern).read(samples::read_text(rules.pattern, "a pattern")));
}

} // namespace game_of_life
