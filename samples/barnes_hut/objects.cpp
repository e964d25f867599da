// The tree with the object store: schema and steps.
#include <algorithm>

#include "simulation/world_game.hpp"
#include "space.hpp"

namespace barnes_hut {

const std::vector<kma::Source> &kernels();

namespace {

// Reads bodies and cells from their snapshots, and follows the tree from the root.
class Reader {
public:
    Reader(const kma::World &world, cl_uint root)
        : root_(root), bodies_(world.snapshot("Body", {"number", "centre", "velocity", "also"})),
          cells_(world.snapshot("Cell", {"centre", "bodies", "children"})),
          number_(bodies_.column<cl_uint>("number")), also_(bodies_.column<cl_uint>("also")),
          counted_(cells_.column<cl_uint>("bodies")), children_(cells_.column<cl_uint>("children")),
          cell_centre_(cells_.column<cl_float4>("centre"))
    {
    }
    State state()
    {
        const auto centre = bodies_.column<cl_float4>("centre"),
                   // a float3 has the size of a float4
                   velocity = bodies_.column<cl_float4>("velocity");
        for (std::size_t i = 0; i < bodies_.size(); i++)
            state_.bodies.push_back(
                {number_[i], centre[i].s[3], vector(centre[i]), vector(velocity[i])});
        visit(root_, 0, {});
        state_.lost = static_cast<std::uint32_t>(cells_.size() -
                                                 std::min(cells_.size(), state_.cells.size()));
        sort(state_);
        return state_;
    }

private:
    static Vector vector(const cl_float4 &value) { return {value.s[0], value.s[1], value.s[2]}; }
    void visit(cl_uint reference, std::uint32_t level, std::array<std::uint32_t, 3> corner)
    {
        const std::size_t row = cells_.row(reference);
        if (row == cells_.size() || level == 32)
            return; // a dangling reference: the comparison reports the missing cell
        Cell cell = {
            level, corner, counted_[row], {}, cell_centre_[row].s[3], vector(cell_centre_[row])};
        for (std::uint32_t octant = 0; octant < 8; octant++) {
            const cl_uint child = children_[8 * row + octant];
            const std::size_t body = bodies_.row(child);
            if (body != bodies_.size())
                follow_chain(body, cell.own);
            else if (child != 0)
                visit(child, level + 1,
                      {2 * corner[0] + octant % 2, 2 * corner[1] + octant / 2 % 2,
                       2 * corner[2] + octant / 4});
        }
        state_.cells.push_back(cell);
    }
    void follow_chain(std::size_t body, std::vector<std::uint32_t> &into) const
    {
        // ends after all bodies at the latest, even in a damaged, circular chain
        for (; body != bodies_.size() && into.size() <= bodies_.size();
             body = bodies_.row(also_[body]))
            into.push_back(number_[body]);
    }

    cl_uint root_;
    kma::WorldSnapshot bodies_, cells_;
    std::vector<cl_uint> number_, also_, counted_, children_;
    std::vector<cl_float4> cell_centre_;
    State state_;
};

class Objects : public samples::WorldGame, public samples::StateOf<State> {
public:
    Objects(const kma::Device &device, const Space &space, const samples::Setting &setting)
        : WorldGame(device, schema(), kernels(), "barnes_hut.cl", enough(device, space, setting),
                    space.defines(), setting),
          is_rebuilt_(setting.version == "rebuilt")
    {
        if (setting.defragment_when < 1)
            // cells must not move: this class keeps a reference to the root
            world().defragment_when(setting.defragment_when, {"Body"});
        world().parallel_new("Cell", 1, "root_init");
        // even the smallest world has memory for it
        root_ = world().snapshot("Cell", {}).references().at(0);
        world().parallel_new("Body", space.bodies, "body_init", root_);
        plant();
    }
    void step(std::uint32_t) override
    {
        world().parallel_do("Body", "body_attract", root_);
        if (is_rebuilt_) {
            world().parallel_do("Body", "body_move_out", root_);
            world().parallel_do("Cell", "cell_fell");
        } else {
            world().parallel_do("Body", "body_move");
        }
        plant();
    }
    samples::Numbers numbers() override
    {
        return {{"bodies", world().count("Body")}, {"cells", world().count("Cell")}};
    }
    State state() override { return Reader(world(), root_).state(); }

private:
    // Inserts all bodies that are outside of the tree, and completes the tree.
    void plant()
    {
        world().parallel_do("Body", "body_insert", root_);
        world().parallel_do("Cell", "cell_prune");
        world().parallel_do("Cell", "cell_thread");
        world().parallel_do("Body", "body_sum_up");
    }
    static kma::Schema schema()
    {
        kma::Schema schema;
        schema.add_abstract("Node", {"float4 centre", "float reach", "Node next", "Cell parent"});
        schema.add("Body", {"float3 velocity", "uint number", "Cell entry", "Body also"}, "Node");
        schema.add("Cell",
                   {"atomic Node children[8]", "kma_atomic_u32 bodies", "kma_atomic_u32 reported",
                    "Node first", "uchar level", "uchar octant"},
                   "Node");
        schema.block_bytes(64 * 74); // a block has 64 cells, and 64 bodies
        schema.parallel_new("Cell", "root_init");
        schema.parallel_new("Body", "body_init");
        schema.do_all("Body", "body_attract", quiet());
        schema.do_all("Body", "body_move", quiet());
        schema.do_all("Body", "body_move_out", quiet());
        schema.do_all("Cell", "cell_fell", changing({"Cell"}));
        schema.do_all("Body", "body_insert", changing({"Cell"}));
        schema.do_all("Cell", "cell_prune", quiet());
        schema.do_all("Cell", "cell_thread", changing({"Cell"}));
        schema.do_all("Body", "body_sum_up", quiet());
        return schema;
    }
    // Random bodies have about half as many cells as bodies. The rest is for fragmentation: each
    // step's new cells share blocks with older ones.
    static std::uint64_t enough(const kma::Device &device, const Space &space,
                                const samples::Setting &setting)
    {
        return kma::World::bytes_for(
            device, schema(),
            {{"Body", space.bodies}, {"Cell", space.bodies}, {"Body", strided}, {"Cell", strided}},
            setting.build_options);
    }

    bool is_rebuilt_;
    cl_uint root_ = 0;
};

} // namespace

std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Space &space,
                                            const samples::Setting &setting)
{
    return std::make_unique<Objects>(device, space, setting);
}

} // namespace barnes_hut
