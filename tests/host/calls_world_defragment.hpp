// Defragmentation of an object store, by any number of work-groups of up to 64 work-items: all that
// referred to an object does so afterwards, and blocks are as the plan says.
#pragma once

#include "calls_world_kernels.hpp"
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
#include "kma/kernels/reference_kernels.cl"
#undef local
#define local

namespace calls {

// A world whose objects refer to one another by chance, with all that its defragmentation notes.
class defragment_subject {
public:
    defragment_subject(uint blocks, uint seed, uint percent) : it(blocks), blocks_(blocks)
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
            const uint to = kma_mix32(seed * 7 + i) % (it.living.count + 1);
            targets_.push_back(to);
            it.world.payload(self(i)) = to == it.living.count ? 0 : self(to);
            root_.push_back(self(i));
        }
        it.check();
        list_.resize(blocks);
        firsts_.resize(blocks);
        moved_.resize((blocks + 31) / 32);
    }

    void run(uint first, uint last, kma_defragment_order order, uint groups, uint lanes)
    {
        for (uint T = first; T <= last; T++) {
            const uint before = blocks_of(T);
            const auto each = [&](const auto &body) { tiny::launch(groups, body, lanes); };
            fills_.resize(tiles(lanes) * KMA_DEFRAGMENT_FILLS);
            sums_.resize(tiles(lanes));
            each([&] { kma_world_fills_kernel(it.w, T, fills_.data()); });
            check_fills(T, lanes);
            tiny::launch(
                1,
                [&] {
                    kma_world_plan_kernel(it.w, T, fills_.data(), sums_.data(), &done_, order.worse,
                                          order.share, order.objects);
                },
                lanes);
            each([&] {
                kma_world_sort_kernel(it.w, T, &done_, sums_.data(), list_.data(), firsts_.data(),
                                      moved_.data());
            });
            each([&] { kma_world_aim_kernel(it.w, &done_, firsts_.data()); });
            tiny::launch(
                groups,
                [&] { kma_world_move_kernel(it.w, T, &done_, list_.data(), firsts_.data()); },
                KMA_SLOTS_BITS);
            each([&] { kma_world_settle_kernel(it.w, T, &done_, list_.data(), firsts_.data()); });
            shim::check(blocks_of(T) == before - done_.plan.sources, "sources are not free");
        }
        tiny::launch(
            groups,
            [&] { kma_world_forward_kernel(it.w, &done_, moved_.data(), first, last, ~0ul); },
            lanes);
        tiny::launch(
            groups,
            [&] {
                kma_world_forward_root_kernel(it.w, &done_, moved_.data(), root_.data(), 0,
                                              static_cast<uint>(root_.size()));
            },
            lanes);
        check();
    }

    // References that nothing forwards any more lead nowhere, and the check tells of each.
    void check_dangling()
    {
        kma_dangling_log log{}, later{}, of_root{};
        tiny::launch(
            2, [&] { kma_world_dangling_kernel(it.w, &log); }, 3);
        tiny::launch(
            2,
            [&] {
                kma_world_dangling_root_kernel(it.w, &log, root_.data(), 0,
                                               static_cast<uint>(root_.size()), 0,
                                               tiny::classes - 1);
            },
            3);
        shim::check(kma_load_u32(&log.count, KMA_RELAXED) == 0,
                    "a reference to an object leads nowhere");
        if (root_.empty())
            return;
        const uint gone = root_[0], T = kma_world_type(it.w, gone) - 1;
        kma_world_delete(it.w, T, gone);
        uint holders = 0;
        for (uint i = 1; i < targets_.size(); i++)
            holders += targets_[i] == 0;
        tiny::launch(
            1, [&] { kma_world_dangling_kernel(it.w, &later); }, 5);
        shim::check(kma_load_u32(&later.count, KMA_RELAXED) == holders,
                    "a reference to no object is not told");
        for (uint i = 0; i < std::min(holders, KMA_DANGLING_KEPT); i++)
            shim::check(later.first[i].reference == gone && later.first[i].column == 0 &&
                            later.first[i].element == 0 &&
                            static_cast<uint>(it.world.payload(later.first[i].holder)) == gone,
                        "what is told of a reference to no object");
        tiny::launch(
            1,
            [&] {
                kma_world_dangling_root_kernel(it.w, &of_root, root_.data(), 0,
                                               static_cast<uint>(root_.size()), 0,
                                               tiny::classes - 1);
            },
            5);
        const kma_dangling &told = of_root.first[0];
        shim::check(kma_load_u32(&of_root.count, KMA_RELAXED) == 1 && told.element == 0 &&
                        told.reference == gone && told.holder == 0,
                    "a root's reference to no object is not told");
    }

    world_subject it;
    kma_defragmentation done_{};

private:
    uint tiles(uint lanes) const
    {
        return (blocks_ + lanes * KMA_DEFRAGMENT_RUN - 1) / (lanes * KMA_DEFRAGMENT_RUN);
    }
    uint self(uint i) const { return it.living.objects[i].self; }

    // All objects that there are.
    void collect()
    {
        it.living.count = 0;
        for (uint block = 0; block < blocks_; block++)
            for (uint slot = 0, T = it.world.type(block) - 1;
                 T < tiny::classes && slot < tiny::slots_of(T); slot++)
                if ((it.world.state(block) & kma_slots_bit(slot)) != 0)
                    it.living.push({kma_world_ref(block, slot), T, 0});
        for (uint &expected : it.world.expected)
            expected = 0;
        it.world.expected[KMA_ERROR_OUT_OF_MEMORY] =
            kma_load_u32(&it.w->head.errors.count[KMA_ERROR_OUT_OF_MEMORY], KMA_RELAXED);
    }

    uint blocks_of(uint T)
    {
        uint count = 0;
        for (uint block = 0; block < blocks_; block++)
            count += it.world.type(block) == T + 1;
        return count;
    }

    void check_fills(uint T, uint lanes)
    {
        std::vector<uint> right(fills_.size());
        for (uint block = 0; block < blocks_; block++)
            if (it.world.type(block) == T + 1)
                right[block / (lanes * KMA_DEFRAGMENT_RUN) * KMA_DEFRAGMENT_FILLS +
                      kma_slots_count(it.world.state(block) &
                                      kma_slots_below(tiny::slots_of(T)))]++;
        shim::check(fills_ == right, "how many blocks have so many objects");
    }

    // Object number i is where the root says, of its class, and refers to what it did.
    void check()
    {
        const std::vector<tiny::object> before(it.living.objects,
                                               it.living.objects + it.living.count);
        it.living.count = 0;
        for (uint i = 0; i < before.size(); i++) {
            shim::check(kma_world_type(it.w, root_[i]) == before[i].T + 1,
                        "an object's class is another");
            it.living.push({root_[i], before[i].T, 0});
        }
        it.check(); // each of them is there, once, and no others
        for (uint i = 0; i < before.size(); i++) {
            const uint right = targets_[i] == before.size() ? 0 : root_[targets_[i]];
            shim::check(static_cast<uint>(it.world.payload(root_[i])) == right,
                        "a reference is not what it was");
        }
    }

    uint blocks_;
    std::vector<uint> targets_; // of each object: the number of the one that it refers to
    std::vector<uint> root_;    // of each object: where it is
    std::vector<kma_block_sums> sums_;
    std::vector<uint> fills_, list_, firsts_, moved_;
};

inline void check_world_defragment()
{
    constexpr uint any = ~0u;
    for (const uint blocks : {1u, 2u, 9u, 32u, 33u, 48u})
        for (const uint percent : {0u, 30u, 60u, 90u, 100u})
            for (const uint lanes : {1u, 5u, 64u}) {
                defragment_subject subject(blocks, blocks * 100 + percent + lanes, percent);
                subject.run(0, tiny::classes - 1, {0, 0, any}, lanes == 5 ? 3 : 1, lanes);
                for (uint T = 0; T < tiny::classes; T++) {
                    uint objects = 0, its = 0;
                    for (uint block = 0; block < blocks; block++)
                        its += subject.it.world.type(block) == T + 1;
                    for (uint i = 0; i < subject.it.living.count; i++)
                        objects += subject.it.living.objects[i].T == T;
                    shim::check(its == (objects + tiny::slots_of(T) - 1) / tiny::slots_of(T),
                                "a class has more blocks than it needs");
                }
                subject.check_dangling();
            }
    for (uint seed = 0; seed < 60; seed++) { // one class alone, to a share, or some objects only
        defragment_subject subject(40, seed, 10 + seed);
        const uint T = seed % tiny::classes, share = seed % 7 * 100000;
        const kma_defragment_order order = {seed % 5 == 0 ? 400000u : 0u, share,
                                            seed % 3 == 0 ? seed : any};
        subject.run(T, T, order, 1 + seed % 3, 1 + seed);
        shim::check(subject.done_.objects <= order.objects, "more objects move than may");
        shim::check(subject.done_.before > order.worse || subject.done_.blocks == 0,
                    "a class that is not worse is defragmented");
        if (order.objects == any && subject.done_.before > order.worse &&
            tiny::slots_of(T) == KMA_SLOTS_BITS)
            shim::check(subject.done_.after <= std::max(share, 999999u / 2),
                        "a class is as empty as it was");
    }
}

} // namespace calls
