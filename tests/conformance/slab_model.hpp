// The rules of slab heaps for a lone caller, and bounds for callers together, on the host.
#pragma once

#include <set>

#include "model.hpp"

namespace conformance {

/// Lines of 512 bytes, of slabs: lines side by side that hold blocks of one class, or one large block; or what lanes
/// took together, which a lone caller never makes.
class SlabModel : public Model {
public:
    /// `lanes`: the most that come together.
    SlabModel(const Room &room, int debug, unsigned lanes) : room_(room), debug_(debug), lanes_(lanes) {}

    /// The least that a request takes: whole units, as lanes together get them; beyond 16 KiB whole lines.
    static std::uint64_t block_bytes(std::uint64_t bytes, int debug);
    /// What it takes alone where there is room: 16 to 128 bytes by 16, then eight sizes for each power of two to 4 KiB,
    /// then whole lines.
    static std::uint64_t lone_bytes(std::uint64_t bytes, int debug);

    /// With guards freed blocks stay in a quarantine for a time, and their slabs with them: what the model does not
    /// know is then left open.
    Verdict fits(std::uint64_t bytes) const override;
    std::optional<std::string> take(kma::Ref ref, std::uint64_t bytes) override;
    void give(kma::Ref ref) override;
    void refuse() override { take_off(); }
    Range count_when_full(std::uint64_t bytes) const override;
    std::uint64_t beside(std::uint64_t bytes) const override;
    Range used() const override;

private:
    // All in units of 16 bytes, or lines.
    struct Slab {
        std::uint64_t first, lines, units, slots; // line, and so on
        static constexpr std::uint64_t none = ~std::uint64_t{0};
        std::uint64_t own; // the slot that its head has, in reserve, and that keeps it alive; or `none`
        std::set<std::uint64_t> taken;

        bool at_head() const { return own != none; }
        std::uint64_t slot_at(std::uint64_t offset) const; // `slots` if none begins there
        bool has_room() const { return taken.size() < slots; }
    };
    struct Want { // of a request
        std::uint64_t units, lines, slots;
        std::uint64_t head_lines, head_slots; // 0: it is too large for heads
    };
    static Want want(std::uint64_t bytes, int debug);

    // What slabs of blocks of that size may be: lines, and slots in them.
    struct Form {
        std::uint64_t lines, slots;
    };
    static Form head_form(std::uint64_t units);
    static Form small_form(std::uint64_t units);
    std::vector<Form> forms(std::uint64_t bytes) const;

    std::uint64_t lines() const { return room_.capacity / 512; }
    bool has_lines(std::uint64_t count, bool without_idle, bool in_one_chunk = false) const;
    bool are_free(std::uint64_t first, std::uint64_t count) const;
    bool has_slot(std::uint64_t units) const;
    bool has_sure_slot(std::uint64_t units) const;
    void end_idle();
    static void keep(Slab &slab);
    void take_off();
    std::optional<std::string> take_slot(Slab &slab, std::uint64_t offset, const std::string &block);
    std::optional<std::string> take_new(std::uint64_t offset, const Want &want, const std::string &block);
    std::optional<std::string> take_guarded(std::uint64_t offset, std::uint64_t units, const std::string &block);
    Verdict fits_guarded(std::uint64_t units) const;

    Room room_;
    int debug_;
    unsigned lanes_;
    std::vector<Slab> slabs_;
    std::map<std::uint64_t, std::uint64_t> blocks_; // offset and units of each living one
};

} // namespace conformance
