// The bit tree: threads take out items that they found, a certain one, or all of a word, stamp them, and put them in
// again.
//
// Few items are about in words of two bits, so that words become empty and other than empty all the time, on three or
// four levels. Checked: an item has one owner at a time, and its payload is ordered between owners; at rest the items
// are those that nobody holds, each word that is not empty is told of by the word above, and a lone caller finds what
// is in. Then, alone: what each function returns, that an empty set is known by its root, and that what a thread
// hides that was stopped for ever in kma_bit_tree_lower comes back with others.
#pragma once

#ifndef KMA_BIT_TREE_SHIFT
#define KMA_BIT_TREE_SHIFT 1u
#endif
#include "kma/lockfree/bit_tree.cl"

template <uint threads> class scenario {
public:
    void before()
    {
        static constexpr uint sizes[] = {5, 8, 16};
        items_ = sizes[shim::random(std::size(sizes))];
        for (uint word = 0; word < kma_bit_tree_words(items_); word++)
            shim::objects.construct<kma_atomic_u32>(tree() + word);
        in_at_start_ = shim::random(items_ + 1);
        for (uint me = 0; me < 2; me++) // its share of each level
            kma_bit_tree_init(tree(), items_, in_at_start_, me, 2);
        check_words(true);
        for (uint item = 0; item < items_; item++) {
            payload_[item] = 0;
            shim::check(kma_bit_tree_has(tree(), item) == (item < in_at_start_), "the first items are others");
            if (item < in_at_start_)
                kma_bit_tree_take(tree(), items_, item);
        }
        check_words(true);
        for (uint &number : numbers_)
            number = shim::random(items_);
        shim::plan_nap(threads);
    }

    // Thread n begins with item n, unless one before it has it, and puts it in first.
    void thread(uint me)
    {
        const uint rounds = shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 3 : 40;
        if (me < abouts && is_first(me))
            put_back(me, 1u << (numbers_[me] & 1), numbers_[me] / 2);
        for (uint round = 0; round < rounds; round++) {
            const uint near = numbers_[(me + round) % abouts];
            const uint kind = (me + 2 * round + in_at_start_) % 4;
            const uint mask = kind == 3 ? 3u : 0;
            const uint found = kind == 0   ? kma_bit_tree_find(tree(), items_, near)
                               : kind == 1 ? kma_bit_tree_next(tree(), items_, near / 2)
                                           : near;
            if (found == KMA_BIT_TREE_NONE)
                continue;
            shim::check(is_about(found), "an item that was never put in");
            if (mask != 0)
                put_back(me, kma_bit_tree_take_all(tree(), items_, found / 2, mask), found / 2);
            else if (kma_bit_tree_take(tree(), items_, found))
                put_back(me, 1u << (found & 1), found / 2);
        }
    }

    void after()
    {
        check_words(false);
        for (uint item = 0; item < items_; item++)
            shim::check(kma_bit_tree_has(tree(), item) == is_about(item), "an item is lost, or one more is in");
        check_looks();
        for (uint item = kma_bit_tree_find(tree(), items_, numbers_[0]); item != KMA_BIT_TREE_NONE;
             item = kma_bit_tree_find(tree(), items_, item)) {
            shim::check(kma_bit_tree_take(tree(), items_, item), "a lone caller finds what is not in");
            shim::check(!kma_bit_tree_take(tree(), items_, item), "taken twice");
        }
        for (uint item = 0; item < items_; item++)
            shim::check(!kma_bit_tree_has(tree(), item), "a lone caller does not find what is in");
        check_words(true);
        check_masks();
        check_stale();
        check_mended();
        shim::objects.destroy_all();
    }

private:
    static constexpr uint abouts = 3; // items that are about, or fewer
    static constexpr uint most = 16;
    static_assert(KMA_BIT_TREE_FANOUT == 2);

    kma_atomic_u32 *tree() { return reinterpret_cast<kma_atomic_u32 *>(memory_); }
    uint word(uint level, uint node)
    {
        return kma_load_u32(tree() + kma_bit_tree_base(items_, level) + node, KMA_RELAXED);
    }
    bool is_about(uint item) const { return item == numbers_[0] || item == numbers_[1] || item == numbers_[2]; }
    bool is_first(uint me) const
    {
        return me == 0 || (numbers_[me] != numbers_[0] && (me == 1 || numbers_[me] != numbers_[1]));
    }

    // Puts in items of a word that the caller has, each stamped.
    void put_back(uint me, uint mask, uint node)
    {
        if (mask == 0)
            return;
        uint stamps[2] = {};
        for (uint bit = 0; bit < 2; bit++)
            if (mask >> bit & 1) {
                stamps[bit] = payload_[2 * node + bit] + threads + me; // a read and a write that only the tree orders
                payload_[2 * node + bit] = stamps[bit];
            }
        shim::linger();
        for (uint bit = 0; bit < 2; bit++)
            if (mask >> bit & 1)
                shim::check(payload_[2 * node + bit] == stamps[bit], "an item has two owners");
        shim::check(kma_bit_tree_put_all(tree(), items_, node, mask) == mask, "an item was in that its owner puts in");
    }

    // Every word that is not empty is told of, and, if `exact`, no empty one is.
    void check_words(bool exact)
    {
        for (uint level = 0; level < kma_bit_tree_top(items_); level++)
            for (uint node = 0; node < kma_bit_tree_nodes(items_, level); node++) {
                const bool told = (word(level + 1, node / 2) >> (node & 1) & 1) != 0;
                shim::check(told || word(level, node) == 0, "a word does not tell of what is below it");
                shim::check(!exact || !told || word(level, node) != 0,
                            "a lone caller leaves a word that tells too much");
            }
        shim::check(kma_bit_tree_nodes(items_, kma_bit_tree_top(items_)) == 1, "a tree without a root");
    }

    // What a lone caller sees from each place: the next item, and one of the same word if there is any.
    void check_looks()
    {
        for (uint from = 0; from <= items_; from++) {
            uint next = from;
            while (next < items_ && !is_about(next))
                next++;
            shim::check(kma_bit_tree_next(tree(), items_, from) == (next < items_ ? next : KMA_BIT_TREE_NONE),
                        "not the next item");
            if (from == items_)
                continue;
            const uint found = kma_bit_tree_find(tree(), items_, from);
            shim::check(found < items_ && is_about(found), "a lone caller does not find what is in");
            shim::check(found == from || !is_about(from), "an item is passed by");
            shim::check(found / 2 == from / 2 || !is_about(from ^ 1), "an item of the same word is passed by");
        }
    }

    // Of an empty tree.
    void check_masks()
    {
        for (uint node = 0; node < items_ / 2; node++) {
            shim::check(kma_bit_tree_put(tree(), items_, 2 * node + 1), "an item that is out is in");
            shim::check(!kma_bit_tree_put(tree(), items_, 2 * node + 1), "an item that is in is out");
            shim::check(kma_bit_tree_put_all(tree(), items_, node, 3) == 1, "put in are others");
            check_words(true);
        }
        for (uint node = 0; node < items_ / 2; node++) {
            shim::check(kma_bit_tree_take_all(tree(), items_, node, 1) == 1, "taken are others");
            check_words(true);
            shim::check(kma_bit_tree_take_all(tree(), items_, node, 3) == 2, "taken are others");
            shim::check(kma_bit_tree_take_all(tree(), items_, node, 3) == 0, "taken twice");
            check_words(true);
        }
        shim::check(word(kma_bit_tree_top(items_), 0) == 0 && kma_bit_tree_find(tree(), items_, 0) == KMA_BIT_TREE_NONE,
                    "a lone caller finds what is not in");
    }

    // Of an empty tree in which bits above an empty word are left: a search takes them away, and finds what is in.
    void check_stale()
    {
        for (uint level = 0; level < kma_bit_tree_top(items_); level++)
            for (uint node = 0; node < kma_bit_tree_nodes(items_, level); node++)
                for (uint item = 0; item <= items_; item += items_ / 4) {
                    const bool is_in = item < items_;
                    const uint from = node << (level + 1);
                    kma_bit_tree_raise(tree(), items_, level, node);
                    if (is_in)
                        kma_bit_tree_put(tree(), items_, item);
                    shim::check(kma_bit_tree_next(tree(), items_, 0) == (is_in ? item : KMA_BIT_TREE_NONE),
                                "not the next item");
                    shim::check(kma_bit_tree_find(tree(), items_, from) == (is_in ? item : KMA_BIT_TREE_NONE),
                                "a lone caller does not find what is in");
                    check_words(true);
                    if (is_in)
                        kma_bit_tree_take(tree(), items_, item);
                    check_words(true);
                }
    }

    // All items are in, and a bit of level 2 or 3 is gone, as a thread that is stopped before the second look leaves it. A
    // put of an item below it brings it back. (In words of two bits nobody looks at level 1.)
    void check_mended()
    {
        for (uint item = 0; item < items_; item++)
            kma_bit_tree_put(tree(), items_, item);
        for (uint item = 0; item < items_; item++) {
            const uint level = (item & 1) + 1, node = item >> (level + 1);
            if (level < kma_bit_tree_top(items_) && (item ^ 1) < items_) // else its word is empty, and raised anyway
                kma_fetch_and_u32(tree() + kma_bit_tree_base(items_, level + 1) + node / 2, ~(1u << (node & 1)),
                                  KMA_RELAXED);
            kma_bit_tree_take(tree(), items_, item);
            kma_bit_tree_put(tree(), items_, item);
            check_words(true);
        }
    }

    uint items_ = 0, in_at_start_ = 0;
    uint numbers_[abouts] = {};
    alignas(16) uchar memory_[16 * sizeof(kma_atomic_u32)];
    KMA_PLAIN(uint) payload_[most];
};
