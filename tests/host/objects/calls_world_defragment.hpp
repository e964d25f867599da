// Defragmentation of an object store, by any number of work-groups of up to 64 work-items: all that referred to an
// object does so afterwards, and blocks are as the plan says.
#pragma once

#include "objects/calls_world_kernels.hpp"
#include "kma/objects/defragment.cl"

// The field of each object is a reference to one of any class.
static inline void kma_world_visit(kma_world *w, kma_visit visit, uint, uint self)
{
    kma_visit_field(w, visit, self, 0, 0, 1, 0, 0, tiny::classes - 1);
}

static inline void kma_world_copy(kma_world *w, uint, uint from, uint to)
{
    KMA_WORLD_UNIT(uint, w, to, 0) = KMA_WORLD_UNIT(uint, w, from, 0);
}

#define KMA_WORLD_HAS_VISITORS 1
#undef local
#define local static
#include "kma/objects/reference_kernels.cl"
#undef local
#define local

namespace calls {

// A world whose objects refer to one another by chance, with all that its defragmentation notes.
class defragment_subject {
public:
    defragment_subject(uint blocks, uint seed, uint percent, bool has_wild = false) : it(blocks), blocks_(blocks)
    {
        for (uint i = 0; i < blocks; i++)
            for (uint T = kma_mix32(seed + i) % tiny::classes, n = 0; n < tiny::slots_of(T); n++)
                kma_world_new(it.w, T);
        collect();
        for (uint i = it.living.count; i-- != 0;)
            if (kma_mix32(seed * 31 + i) % 100 < percent)
                it.remove(i);
        // Each refers to another, or to none, and the root to all.
        for (uint i = 0; i < it.living.count; i++) {
            targets_.push_back(kma_mix32(seed * 7 + i) % (it.living.count + 1));
            root_.push_back(it.living.objects[i].self);
            wild_.push_back(has_wild && i % 4 == 1 ? wild(seed + i) : 0);
        }
        for (uint i = 0; i < it.living.count; i++)
            it.world.payload(root_[i]) = right_of(i);
        it.check();
        list_.resize(blocks);
        firsts_.resize(blocks);
        moved_.resize((blocks + 31) / 32);
    }

    void run(uint first, uint last, kma_defragment_order order, uint groups, uint lanes)
    {
        const auto launch = [groups](uint width, const auto &body, auto... arguments) {
            tiny::launch(groups, [&] { body(arguments...); }, width);
        };
        kma_defragmentation *const done = &done_;
        for (uint T = first; T <= last; T++) {
            const uint before = blocks_of(T);
            std::vector<bool> was_stale; // bits of active[T] that nothing has met
            for (uint block = 0; block < blocks_; block++)
                was_stale.push_back(it.world.is_active(T, block) && !has_room(T, block));
            fills_.resize(tiles(lanes) * KMA_DEFRAGMENT_FILLS);
            sums_.resize(tiles(lanes));
            launch(lanes, kma_world_fills_kernel, it.w, T, fills_.data());
            check_fills(T, lanes);
            const auto plan = [&] {
                kma_world_plan_kernel(it.w, T, fills_.data(), sums_.data(), done, order.worse, order.share, order.objects);
            };
            tiny::launch(1, plan, lanes);
            launch(lanes, kma_world_sort_kernel, it.w, T, done, sums_.data(), list_.data(), firsts_.data(), moved_.data());
            launch(lanes, kma_world_aim_kernel, it.w, done, firsts_.data());
            launch(KMA_SLOTS_BITS, kma_world_move_kernel, it.w, T, done, list_.data(), firsts_.data());
            launch(lanes, kma_world_settle_kernel, it.w, T, done, list_.data(), firsts_.data());
            shim::check(blocks_of(T) == before - done_.plan.sources, "sources are not free");
            for (uint block = 0; done_.plan.sources != 0 && block < blocks_; block++)
                shim::check(was_stale[block] || it.world.is_active(T, block) == has_room(T, block),
                            "the tree of blocks with room");
        }
        launch(lanes, kma_world_forward_kernel, it.w, done, moved_.data(), first, last, ~0ul);
        launch(lanes, kma_world_forward_root_kernel, it.w, done, moved_.data(), root_.data(), 0u, roots());
        check();
    }

    // References that nothing forwards any more lead nowhere, and the check tells of each.
    void check_dangling()
    {
        kma_dangling_log log{}, of_root{};
        tiny::launch(2, [&] { kma_world_dangling_kernel(it.w, &log); }, 3);
        const auto check_root = [&](kma_dangling_log *to, uint groups, uint lanes, uint first, uint last) {
            tiny::launch(
                groups, [&] { kma_world_dangling_root_kernel(it.w, to, root_.data(), 0, roots(), first, last); }, lanes);
            return kma_load_u32(&to->count, KMA_RELAXED);
        };
        shim::check(check_root(&log, 2, 3, 0, tiny::classes - 1) == 0, "a reference to an object leads nowhere");
        for (uint T = 0; T < tiny::classes; T++) { // as a root of one class
            kma_dangling_log others{};
            shim::check(check_root(&others, 2, 3, T, T) == root_.size() - objects_of(T), "a reference of another class");
        }
        if (root_.empty())
            return;
        const uint gone = root_[0];
        kma_world_delete(it.w, kma_world_type(it.w, gone) - 1, gone);
        check_told(gone, static_cast<uint>(std::count(targets_.begin() + 1, targets_.end(), 0u)));
        shim::check(check_root(&of_root, 1, 5, 0, tiny::classes - 1) == 1, "a root's reference to no object is not told");
        const kma_dangling &told = of_root.first[0];
        shim::check(told.element == 0 && told.reference == gone && told.holder == 0, "what is told of a root's reference");
        for (uint i = 1; i < root_.size(); i++) // more than are kept
            it.world.payload(root_[i]) = gone;
        check_told(gone, roots() - 1);
    }

    bool has_room(uint T, uint block)
    {
        return it.world.type(block) == T + 1 && it.world.state(block) != KMA_SLOTS_ALL;
    }
    uint blocks_of(uint T)
    {
        uint count = 0;
        for (uint block = 0; block < blocks_; block++)
            count += it.world.type(block) == T + 1;
        return count;
    }
    uint objects_of(uint T) const
    {
        const auto *const first = it.living.objects;
        return static_cast<uint>(std::ranges::count(first, first + it.living.count, T, &tiny::object::T));
    }

    world_subject it;
    kma_defragmentation done_{};

private:
    uint tiles(uint lanes) const { return (blocks_ + lanes * KMA_DEFRAGMENT_RUN - 1) / (lanes * KMA_DEFRAGMENT_RUN); }
    uint roots() const { return static_cast<uint>(root_.size()); }
    // What object i refers to.
    uint right_of(uint i) const { return wild_[i] != 0 ? wild_[i] : targets_[i] == roots() ? 0 : root_[targets_[i]]; }

    // What a stray write leaves: no block has that number, or no slot.
    uint wild(uint n) const
    {
        if (n % 3 == 0)
            return ~0u - n;
        if (n % 3 == 1 || KMA_SLOTS_BITS > KMA_WORLD_SLOT_MASK)
            return kma_world_ref(blocks_ + n % 9, n % tiny::most_slots);
        return kma_world_ref(n % blocks_, KMA_SLOTS_BITS + n % tiny::most_slots);
    }

    // All objects that there are.
    void collect()
    {
        it.living.count = 0;
        for (uint block = 0; block < blocks_; block++)
            for (uint slot = 0, T = it.world.type(block) - 1; T < tiny::classes && slot < tiny::slots_of(T); slot++)
                if ((it.world.state(block) & kma_slots_bit(slot)) != 0)
                    it.living.push({kma_world_ref(block, slot), T, 0});
        for (uint code = 0; code < KMA_ERROR_CODES; code++)
            it.world.expected[code] = kma_load_u32(&it.w->head.errors.count[code], KMA_RELAXED);
    }

    void check_fills(uint T, uint lanes)
    {
        std::vector<uint> right(fills_.size());
        for (uint block = 0; block < blocks_; block++) {
            const uint objects = kma_slots_count(it.world.state(block) & kma_slots_below(tiny::slots_of(T)));
            if (it.world.type(block) == T + 1)
                right[block / (lanes * KMA_DEFRAGMENT_RUN) * KMA_DEFRAGMENT_FILLS + objects]++;
        }
        shim::check(fills_ == right, "how many blocks have so many objects");
    }

    // So many objects refer to `gone`, which is no object.
    void check_told(uint gone, uint holders)
    {
        struct {
            kma_dangling_log log;
            kma_dangling behind[8];
        } told{};
        tiny::launch(1, [&] { kma_world_dangling_kernel(it.w, &told.log); }, 5);
        shim::check(kma_load_u32(&told.log.count, KMA_RELAXED) == holders, "a reference to no object is not told");
        for (uint i = 0; i < std::min(holders, KMA_DANGLING_KEPT); i++) {
            const kma_dangling &each = told.log.first[i];
            shim::check(each.reference == gone && each.column == 0 && each.element == 0 &&
                            static_cast<uint>(it.world.payload(each.holder)) == gone,
                        "what is told of a reference to no object");
        }
        for (const kma_dangling &none : told.behind)
            shim::check(none.reference == 0, "more is told than there is room for");
    }

    // Object number i is where the root says, of its class, and refers to what it did.
    void check()
    {
        for (uint i = 0; i < it.living.count; i++) {
            it.living.objects[i].self = root_[i];
            shim::check(kma_world_type(it.w, root_[i]) == it.living.objects[i].T + 1, "an object's class is another");
            shim::check(static_cast<uint>(it.world.payload(root_[i])) == right_of(i), "a reference is not what it was");
        }
        it.check(); // each of them is there, once, and no others
    }

    uint blocks_;
    std::vector<uint> targets_; // of each object: the number of the one that it refers to
    std::vector<uint> root_;    // of each object: where it is
    std::vector<uint> wild_;    // of each object: the reference to nothing that it has; 0: none
    std::vector<kma_block_sums> sums_;
    std::vector<uint> fills_, list_, firsts_, moved_;
};

// Blocks that remain of so many with so many objects.
inline uint kept(uint blocks, uint objects, uint slots, uint share)
{
    if (share == KMA_DEFRAGMENT_SHARE)
        return blocks;
    const uint least = (objects + slots - 1) / slots;
    const ulong enough = ulong{objects} * KMA_DEFRAGMENT_SHARE / (ulong{slots} * (KMA_DEFRAGMENT_SHARE - share));
    return std::min(blocks, std::max(least, static_cast<uint>(enough)));
}

inline void check_world_defragment()
{
    constexpr uint any = ~0u;
    for (const uint blocks : {1u, 2u, 9u, 32u, 33u, 48u})
        for (const uint percent : {0u, 30u, 60u, 90u, 100u})
            for (const uint lanes : {1u, 5u, 64u}) {
                defragment_subject subject(blocks, blocks * 100 + percent + lanes, percent);
                subject.run(0, tiny::classes - 1, {0, 0, any}, lanes == 5 ? 3 : 1, lanes);
                for (uint T = 0; T < tiny::classes; T++)
                    shim::check(subject.blocks_of(T) == kept(any, subject.objects_of(T), tiny::slots_of(T), 0),
                                "a class has more blocks than it needs");
                subject.check_dangling();
            }
    for (uint seed = 0; seed < 60; seed++) { // one class alone, to a share, or some objects only
        defragment_subject subject(40, seed, 10 + seed, seed % 2 == 1);
        const uint T = seed % tiny::classes, share = seed % 13 == 12 ? KMA_DEFRAGMENT_SHARE : seed % 7 * 100000;
        const kma_defragment_order order = {seed % 5 == 0 ? 400000u : 0u, share, seed % 3 == 0 ? seed : any};
        const uint before = subject.blocks_of(T), objects = subject.objects_of(T);
        subject.run(T, T, order, 1 + seed % 3, 1 + seed);
        const kma_defragmentation &done = subject.done_;
        shim::check(done.objects <= order.objects, "more objects move than may");
        shim::check(done.before > order.worse || done.blocks == 0, "a class that is not worse is defragmented");
        if (order.objects == any && done.before > order.worse)
            shim::check(subject.blocks_of(T) == kept(before, objects, tiny::slots_of(T), share), "another share of blocks");
    }
}

} // namespace calls
