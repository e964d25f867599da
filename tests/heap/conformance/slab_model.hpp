// The rules of slab heaps for a lone caller, and bounds for callers together, on the host.
#pragma once

#include <map>

#include "model.hpp"

namespace conformance {

/// Lines of 256 bytes, 32 to a frame, and slabs in them: a frame of slots of one class, its page; fewer lines with 16
/// slots, 8 above 512 bytes, or one; or a block above 8 KiB, for which frames
/// are whole: side by side in a group of 32 up to 256 KiB.
class SlabModel : public Model {
public:
    /// `lanes`: the most that come together.
    SlabModel(const Room &room, int debug, unsigned lanes)
        : room_(room), debug_(debug), lanes_(lanes), frames_(room.capacity / frame_bytes)
    {
    }

    /// The least that a request takes: its class up to 8 KiB, then whole lines.
    static std::uint64_t block_bytes(std::uint64_t bytes, int debug);

    /// With guards freed blocks stay in a quarantine for a time: what the model does not know is then left open.
    Verdict fits(std::uint64_t bytes) const override;
    std::optional<std::string> take(kma::Ref ref, std::uint64_t bytes) override;
    void give(kma::Ref ref) override;
    Range count_when_full(std::uint64_t bytes) const override;
    std::uint64_t beside(std::uint64_t bytes) const override;
    Range used() const override;

private:
    static constexpr std::uint64_t unit = 16, line_units = 16, frame_lines = 32, frame_units = 512, group_frames = 32;
    static constexpr std::uint64_t frame_bytes = frame_units * unit;
    static constexpr std::uint64_t most_of_page = 64; // units

    struct Slab {
        std::uint64_t first, lines, units, slots; // first line, and so on
        std::set<std::uint64_t> taken;            // slots
        bool has_room() const { return taken.size() < slots; }
    };

    static std::uint64_t class_of(std::uint64_t units);
    static std::uint64_t units_of(std::uint64_t bytes, int debug);
    static std::uint64_t lines_of(std::uint64_t units) { return (units + line_units - 1) / line_units; }
    static std::uint64_t frames_of(std::uint64_t lines) { return (lines + frame_lines - 1) / frame_lines; }
    static Slab page_of(std::uint64_t units) { return {0, frame_lines, units, frame_units / units, {}}; }
    static Slab slab_of(std::uint64_t units);
    bool has_pages() const { return frames_ >= 64; }
    std::vector<Slab> forms(std::uint64_t units) const;
    bool has_slot(std::uint64_t least, std::uint64_t most) const;
    bool has_lines(std::uint64_t count) const;
    bool are_free(std::uint64_t first, std::uint64_t count) const;
    std::optional<std::string> take_slot(Slab &slab, std::uint64_t offset, std::uint64_t units,
                                         const std::string &block);
    std::optional<std::string> take_new(std::uint64_t offset, std::uint64_t units, const std::string &block);
    std::optional<std::string> take_guarded(std::uint64_t offset, std::uint64_t units, const std::string &block);
    Verdict fits_guarded(std::uint64_t units) const;

    Room room_;
    int debug_;
    unsigned lanes_;
    std::uint64_t frames_;
    std::vector<Slab> slabs_;                        // with blocks
    std::map<std::uint64_t, std::uint64_t> guarded_; // offset and units of each living block of a heap with guards
};

} // namespace conformance
