// The same simulation on the host, one agent after the other.
#include <algorithm>
#include <optional>

#include "common/mix32.hpp"
#include "land.hpp"

namespace sugarscape {
namespace {

enum Purpose : std::uint32_t {
    first_agent,
    first_age,
    first_vision,
    first_metabolism,
    first_endowment,
    first_life,
    where_to,
    which_to_take,
    which_to_court,
    which_to_accept,
    where_born,
    which_sex,
    whose_genes
};

// An agent's request for a cell.
struct Request {
    /// order among the cell's requests: the nearer first, then by side
    std::uint32_t rank;
    std::uint32_t from;        ///< the requesting agent's cell
    std::optional<Cell> child; ///< set if the request is for a child, not for the agent itself
};

class Reference {
public:
    explicit Reference(const Rules &rules);
    void step(std::uint32_t number);
    const Grid &grid() const { return grid_; }

private:
    void populate(std::uint32_t cell);
    void grow();
    void mate();
    void have_child(std::uint32_t mothers, std::uint32_t fathers, std::uint32_t side);
    void look_around(std::uint32_t cell);
    void grant();
    void live();

    std::uint32_t draw(Purpose purpose, std::uint32_t cell) const
    {
        return samples::mix32(samples::mix32(rules_.seed + step_ * 16 + purpose) ^ cell);
    }
    std::uint8_t gene(Purpose purpose, std::uint32_t cell, std::uint32_t least,
                      std::uint32_t more) const
    {
        return static_cast<std::uint8_t>(least + draw(purpose, cell) % (more + 1));
    }
    std::uint32_t at(std::uint32_t cell, std::uint32_t side, std::uint32_t distance) const;
    bool is_fertile(std::uint32_t cell, Sex sex) const;
    template <class Is> std::vector<std::uint32_t> sides(std::uint32_t cell, Is is) const;

    Rules rules_;
    Grid grid_;
    std::vector<std::uint8_t> capacity_;
    std::vector<std::vector<Request>> requests_; // for each cell
    std::vector<bool> is_parent_, is_new_;       // of the cell's agent, in this step
    std::uint32_t step_ = 0;
};

Reference::Reference(const Rules &rules)
    : rules_(rules), grid_(rules.cells()), capacity_(rules.capacities())
{
    for (std::uint32_t cell = 0; cell < rules.cells(); cell++)
        populate(cell);
}

void Reference::populate(std::uint32_t cell)
{
    Cell &here = grid_[cell];
    here.sugar = capacity_[cell];
    const std::uint32_t lot = draw(first_agent, cell) % 256;
    if (lot >= rules_.male_share + rules_.female_share)
        return;
    here.sex = lot < rules_.male_share ? Sex::male : Sex::female;
    here.age = static_cast<std::uint8_t>(draw(first_age, cell) % rules_.life);
    here.vision = gene(first_vision, cell, 1, rules_.vision - 1);
    here.metabolism = gene(first_metabolism, cell, rules_.metabolism, rules_.metabolism_more);
    here.endowment = gene(first_endowment, cell, rules_.endowment, rules_.endowment_more);
    here.life = gene(first_life, cell, rules_.life, rules_.life_more);
    here.wealth = here.endowment;
}

// Returns a cell at a distance; sides are 0 north, 1 east, 2 south, 3 west.
std::uint32_t Reference::at(std::uint32_t cell, std::uint32_t side, std::uint32_t distance) const
{
    const std::uint32_t w = rules_.width, h = rules_.height;
    std::uint32_t x = cell % w, y = cell / w;
    y += side == 0 ? h - distance : side == 2 ? distance : 0;
    x += side == 3 ? w - distance : side == 1 ? distance : 0;
    return y % h * w + x % w;
}

bool Reference::is_fertile(std::uint32_t cell, Sex sex) const
{
    const Cell &one = grid_[cell];
    return one.sex == sex && one.age >= rules_.fertile_from && one.age < rules_.fertile_until &&
           one.wealth >= one.endowment;
}

// Returns the sides on which `is` holds for the neighbouring cell.
template <class Is> std::vector<std::uint32_t> Reference::sides(std::uint32_t cell, Is is) const
{
    std::vector<std::uint32_t> those;
    for (std::uint32_t side = 0; side < 4; side++)
        if (is(at(cell, side, 1)))
            those.push_back(side);
    return those;
}

void Reference::step(std::uint32_t number)
{
    step_ = number + 1;
    requests_.assign(grid_.size(), {});
    is_parent_.assign(grid_.size(), false);
    is_new_.assign(grid_.size(), false);
    grow();
    mate();
    for (std::uint32_t cell = 0; cell < grid_.size(); cell++)
        if (grid_[cell].sex != Sex::none && !is_parent_[cell])
            look_around(cell);
    grant();
    live();
}

void Reference::grow()
{
    std::vector<std::uint32_t> sugar(grid_.size());
    for (std::uint32_t cell = 0; cell < grid_.size(); cell++) {
        const std::uint32_t given = grid_[cell].sugar / 64;
        sugar[cell] += grid_[cell].sugar - 8 * given;
        for (std::uint32_t side = 0; side < 4; side++) {
            sugar[at(cell, side, 1)] += given;
            sugar[at(at(cell, side, 1), (side + 1) % 4, 1)] += given; // around the corner
        }
    }
    for (std::uint32_t cell = 0; cell < grid_.size(); cell++) {
        if (sugar[cell] < capacity_[cell])
            sugar[cell] = std::min<std::uint32_t>(sugar[cell] + capacity_[cell] / rules_.regrowth,
                                                  capacity_[cell]);
        grid_[cell].sugar = static_cast<std::uint16_t>(std::min(sugar[cell], 8191u));
    }
}

// Males choose females, then females choose males. Payments of this step do not affect the choices.
void Reference::mate()
{
    // for each female the sides of the males that court it
    std::vector<std::vector<std::uint32_t>> suitors(grid_.size());
    for (std::uint32_t cell = 0; cell < grid_.size(); cell++) {
        const auto females =
            sides(cell, [this](std::uint32_t there) { return is_fertile(there, Sex::female); });
        if (!is_fertile(cell, Sex::male) || females.empty())
            continue;
        const std::uint32_t side = females[draw(which_to_court, cell) % females.size()];
        suitors[at(cell, side, 1)].push_back((side + 2) % 4);
    }
    for (std::uint32_t cell = 0; cell < grid_.size(); cell++) {
        const auto free =
            sides(cell, [this](std::uint32_t there) { return grid_[there].sex == Sex::none; });
        auto &courting = suitors[cell];
        if (courting.empty() || free.empty())
            continue;
        std::sort(courting.begin(), courting.end());
        have_child(cell, at(cell, courting[draw(which_to_accept, cell) % courting.size()], 1),
                   free[draw(where_born, cell) % free.size()]);
    }
}

// Requests a cell for the pair's child, on that side of the mother.
void Reference::have_child(std::uint32_t mothers, std::uint32_t fathers, std::uint32_t side)
{
    Cell &mother = grid_[mothers], &father = grid_[fathers], child;
    const std::uint32_t lot = draw(whose_genes, mothers), there = at(mothers, side, 1);
    child.sex = draw(which_sex, there) % 2 != 0 ? Sex::female : Sex::male;
    child.vision = ((lot & 1) != 0 ? mother : father).vision;
    child.metabolism = ((lot & 2) != 0 ? mother : father).metabolism;
    child.life = ((lot & 4) != 0 ? mother : father).life;
    child.endowment = static_cast<std::uint8_t>(mother.endowment / 2 + father.endowment / 2);
    child.wealth = child.endowment;
    mother.wealth += father.endowment / 2;
    father.wealth -= father.endowment / 2;
    is_parent_[mothers] = is_parent_[fathers] = true;
    requests_[there].push_back({(side + 2) % 4, mothers, child});
}

// Requests the best free cell: nearer cells first, and sides in an order that a draw rotates.
void Reference::look_around(std::uint32_t cell)
{
    const std::uint32_t lot = draw(where_to, cell);
    std::uint32_t most = grid_[cell].sugar;
    std::optional<Request> best;
    std::uint32_t target = 0;
    for (std::uint32_t distance = 1; distance <= grid_[cell].vision; distance++)
        for (std::uint32_t turn = 0; turn < 4; turn++) {
            const std::uint32_t side = (3 - turn - lot) % 4, there = at(cell, side, distance);
            if (grid_[there].sex != Sex::none || grid_[there].sugar <= most)
                continue;
            most = grid_[there].sugar;
            best = Request{(distance - 1) * 4 + (side + 2) % 4, cell, std::nullopt};
            target = there;
        }
    if (best)
        requests_[target].push_back(*best);
}

void Reference::grant()
{
    for (std::uint32_t cell = 0; cell < grid_.size(); cell++) {
        auto &those = requests_[cell];
        if (those.empty())
            continue;
        std::sort(those.begin(), those.end(),
                  [](const Request &one, const Request &other) { return one.rank < other.rank; });
        const Request &taken = those[draw(which_to_take, cell) % those.size()];
        Cell &from = grid_[taken.from];
        const std::uint16_t sugar = grid_[cell].sugar;
        grid_[cell] = taken.child ? *taken.child : from;
        grid_[cell].sugar = sugar;
        is_new_[cell] = taken.child.has_value();
        if (taken.child)
            from.wealth -= taken.child->endowment;
        else
            from = {.sugar = from.sugar};
    }
}

void Reference::live()
{
    for (std::uint32_t cell = 0; cell < grid_.size(); cell++) {
        Cell &here = grid_[cell];
        if (here.sex == Sex::none || is_new_[cell])
            continue;
        const std::uint32_t wealth = here.wealth + here.sugar;
        if (wealth <= here.metabolism || here.age >= here.life) {
            here = {};
            continue;
        }
        here.sugar = 0;
        here.wealth = wealth - here.metabolism;
        here.age++;
    }
}

} // namespace

Grid reference(const Rules &rules, std::uint32_t steps)
{
    Reference land(rules);
    for (std::uint32_t step = 0; step < steps; step++)
        land.step(step);
    return land.grid();
}

} // namespace sugarscape
