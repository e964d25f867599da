// A game with its objects in a kma::World.
#pragma once

#include <string>
#include <vector>

#include "common/launch.hpp"
#include "simulation/simulation.hpp"

namespace samples {

/// The base of games in a world. A derived class adds schema, kernels and steps, and launches
/// kernels of its own by run().
class WorldGame : public Game {
public:
    /// Builds the source named `file` of `sources`; it may include the others. `bytes`: a size that
    /// suffices; the setting may override it.
    WorldGame(const kma::Device &device, const kma::Schema &schema,
              const std::vector<kma::Source> &sources, const std::string &file, std::uint64_t bytes,
              const std::string &defines, const Setting &setting);

    Times times() override { return clock_.read(device_); }
    std::uint64_t refused() override { return world_.error_count(kma::ErrorCode::out_of_memory); }
    double fragmentation() override { return world_.stats().fragmentation(); }
    std::vector<std::string> faults() override;
    std::vector<std::string> changing_kernels() override { return changing_; }
    /// Returns the bytes of the world and of buffers().
    std::uint64_t bytes() override;

protected:
    kma::World &world() { return world_; }
    const kma::Device &device() const { return device_; }
    /// Returns the game's own buffers, for bytes().
    virtual std::vector<cl::Buffer> buffers() { return {}; }
    /// Launches one of the program's own kernels.
    template <class... Arguments>
    void run(const std::string &kernel, std::uint64_t items, const kma::DoAllOptions &options,
             const Arguments &...arguments)
    {
        note(kernel, options);
        world_.run(kernel, items, options, arguments...);
    }
    /// For a do-all or kernel that creates and deletes no objects, and loops over no class.
    static kma::DoAllOptions quiet()
    {
        return {std::vector<std::string>{}, std::vector<std::string>{}};
    }
    /// For one that creates or deletes objects of these classes, and loops over none.
    static kma::DoAllOptions changing(std::vector<std::string> classes)
    {
        return {std::move(classes), std::vector<std::string>{}};
    }
    /// For one that loops over these classes, and creates and deletes none.
    static kma::DoAllOptions looping(std::vector<std::string> classes)
    {
        return {std::vector<std::string>{}, std::move(classes)};
    }
    /// The number of work-items for a grid-stride loop: about as many as the device runs at a time.
    static constexpr std::uint32_t strided = 1u << 18;

private:
    void note(const std::string &kernel, const kma::DoAllOptions &options);

    kma::Device device_;
    KernelClock clock_;
    std::vector<std::string> changing_;
    kma::World world_;
    bool has_references_; ///< check the references to moved objects at the end
};

} // namespace samples
