// The graph sample's nodes and links in a search tree and lists over a bump heap: all threads insert the same few keys,
// push links between them, and walk through the tree meanwhile.
//
// Checked: a node or link that is reached is ordered after its writing; a walk meets all nodes that were there before,
// in order; at the end every key is in the tree once, in order, and every link is in its source's list, once; and all
// nodes can be taken out.
#pragma once

#define KMA_HEAP bump
#include "tree.cl"

template <uint threads> class scenario {
public:
    void before()
    {
        heap_ = shim::objects.construct<kma_heap>(memory_);
        kma_bump_init(heap_, sizeof(memory_), 0, 0, 1);
        tree_ = shim::objects.construct<kma_search_tree>(tree_memory_);
        kma_tree_init(tree_);
        variant_ = shim::random(shim::chosen.bound != 0 ? 1 : 1u << 20);
        shown_ = shim::objects.construct<kma_atomic_ref>(shown_memory_);
        kma_ref_init(shown_, KMA_NULL);
        keeps_ = is_search() ? 2 : shim::random(3);
    }

    void thread(uint me)
    {
        graph_node *spare = nullptr;
        for (uint round = 0; round < rounds(); round++) {
            if (sits_out(me, round))
                continue;
            const bool keeps_second = keeps_ == 2 ? round % 2 == 0 : keeps_ != 0;
            graph_node *const source = graph_ensure(heap_, tree_, source_key(me, round), keeps_ != 0, &spare);
            graph_node *const sink = graph_ensure(heap_, tree_, sink_key(me, round), keeps_second, &spare);
            shim::check(keeps_ != 0 || !spare, "a node is kept that should have been freed");
            graph_link *const link = KMA_NEW(heap_, graph_link);
            shim::check(source && sink && link, "the heap is too small for this test");
            graph_push_link(heap_, source, link, sink);
            shim::check(links_to(source, sink_key(me, round)) >= 1, "a thread does not find its own link");
        }
        spare_[me] = spare != nullptr;
        if (is_search())
            return;
        if (me == 0) { // a node without a tree: what is found by the ref was written before
            graph_node *const node = KMA_NEW(heap_, graph_node);
            graph_node_init(node, keys);
            kma_ref_store_release(shown_, kma_ref_of(heap_, node));
        } else if (const kma_ref ref = kma_ref_load_acquire(shown_)) {
            shim::check(static_cast<graph_node *>(kma_deref(heap_, ref))->node.key == keys, "what was shown is not there");
        }
        walk(me, keys);
    }

    void after()
    {
        uint nodes = 0;
        for (uint key = 0; key < keys; key++)
            nodes += check_links(key);
        shim::check(count() == nodes && walk(0, keys) == nodes, "a key is in the tree twice, or missed by a walk");
        for (uint key = 0; key < keys; key++)
            check_after(key);
        check_memory(nodes);
        check_alone();
        check_taking(walk(0, keys + 1));
        shim::objects.destroy_all();
    }

private:
    static constexpr uint keys = 4;
    static constexpr uint any_key = keys;
    static constexpr uint max_rounds = 8;

    static uint rounds() { return shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 2 : max_rounds; }
    // A quarter of the rounds, by chance, so that lanes diverge. In a search none, but with two context switches or
    // more all schedules of three threads would be too many.
    bool sits_out(uint me, uint round) const
    {
        if (shim::chosen.bound > 1)
            return me > 1;
        return variant_ != 0 && kma_mix32((variant_ * 64 + me) * 64 + round) % 4 == 0;
    }
    static uint source_key(uint me, uint round) { return (me + round) / 2 % keys; }
    static uint sink_key(uint me, uint round) { return (2 * me + round + 1) % keys; }

    // All schedules are tried then, so there are to be few.
    static bool is_search() { return shim::chosen.bound != 0; }

    // Calls `act(me, round)` for each round in which a thread did something.
    template <class Act> void for_each_round(const Act &act) const
    {
        for (uint me = 0; me < threads; me++)
            for (uint round = 0; round < rounds(); round++)
                if (!sits_out(me, round))
                    act(me, round);
    }

    // The links of a key's node are those that were pushed; whether there must be such a node.
    bool check_links(uint key)
    {
        graph_node *const node = graph_get(heap_, tree_, key);
        bool used = false;
        uint wanted[keys] = {}, all_wanted = 0;
        for_each_round([&](uint me, uint round) {
            const bool is_source = source_key(me, round) == key;
            used |= is_source || sink_key(me, round) == key;
            wanted[sink_key(me, round)] += is_source;
            all_wanted += is_source;
        });
        shim::check((node != nullptr) == used, "a key is missing, or is there for no reason");
        for (uint sink = 0; node && sink < keys; sink++)
            shim::check(links_to(node, sink) == wanted[sink], "a link is missing or too many");
        shim::check(!node || links_to(node, any_key) == all_wanted, "a link leads somewhere else");
        return used;
    }

    // If all losers keep their nodes, each node that was made is in the tree, a spare, or the one that was shown.
    void check_memory(uint nodes)
    {
        const ulong taken = kma_bump_load_head(&heap_->head, KMA_RELAXED) - heap_->header.begin;
        for (const bool spare : spare_)
            nodes += spare;
        uint links = 0;
        for_each_round([&](uint, uint) { links++; });
        const ulong expected =
            (nodes + !is_search()) * kma_whole_units(sizeof(graph_node)) + links * kma_whole_units(sizeof(graph_link));
        shim::check(keeps_ == 1 ? taken == expected : taken >= expected, "a node was made for nothing, or lost");
    }

    // Alone: a key that is there needs no node; one that is not takes the spare, or gets NULL of a full heap.
    void check_alone()
    {
        const ulong head = kma_bump_load_head(&heap_->head, KMA_RELAXED);
        graph_node *const spare = KMA_NEW(heap_, graph_node);
        shim::check(spare, "the heap is too small for this test");
        graph_node *left = nullptr;
        graph_node *const there = graph_ensure(heap_, tree_, 0, true, &left);
        shim::check(graph_ensure(heap_, tree_, 0, true, &left) == there && !left, "a node that is there was not found");
        left = spare;
        shim::check(graph_ensure(heap_, tree_, keys + 1, true, &left) == spare && !left, "a spare was not used");
        shim::check(graph_get(heap_, tree_, keys + 1) == spare, "a node is not found");
        const uint limit = std::exchange(heap_->header.limit, static_cast<uint>(head));
        shim::check(!graph_ensure(heap_, tree_, keys + 2, true, &left), "a node of a full heap");
        heap_->header.limit = limit;
    }

    // From node to node, in order, past all nodes of this thread's own links: how many there are.
    uint walk(uint me, uint limit)
    {
        bool met[keys + 2] = {};
        uint nodes = 0;
        const kma_tree_node *last = nullptr;
        for (kma_tree_node *at = kma_tree_first(heap_, tree_); at; at = kma_tree_after(heap_, tree_, at->key)) {
            shim::check(++nodes <= limit, "a walk goes in a circle");
            shim::check(!last || kma_mix32(last->key) < kma_mix32(at->key), "a walk is out of order");
            met[at->key] = true;
            last = at;
        }
        for (uint round = 0; round < rounds(); round++)
            shim::check(sits_out(me, round) || (met[source_key(me, round)] && met[sink_key(me, round)]),
                        "a walk misses a node that was there before");
        return nodes;
    }

    // What comes behind a key that may not be there.
    void check_after(uint key)
    {
        const graph_node *right = nullptr;
        for (uint other = 0; other < keys; other++)
            if (graph_node *const node = graph_get(heap_, tree_, other))
                if (kma_mix32(key) < kma_mix32(other) && (!right || kma_mix32(other) < kma_mix32(right->node.key)))
                    right = node;
        shim::check(reinterpret_cast<const graph_node *>(kma_tree_after(heap_, tree_, key)) == right, "not the next node");
    }

    // Alone: all nodes can be taken out, in order, and the tree stays right meanwhile.
    void check_taking(uint nodes)
    {
        for (; nodes != 0; nodes--) {
            kma_tree_node *const first = kma_tree_first(heap_, tree_);
            const kma_tree_node *const second = first ? kma_tree_after(heap_, tree_, first->key) : nullptr;
            shim::check(first && kma_tree_take_first(heap_, tree_) == first, "not the first node was taken");
            shim::check(kma_tree_first(heap_, tree_) == second && count() == nodes - 1, "a node was lost with the first one");
        }
        shim::check(!kma_tree_take_first(heap_, tree_), "a node of an empty tree");
    }

    uint links_to(graph_node *source, uint key)
    {
        uint found = 0, steps = 0;
        for (graph_link *link = graph_first_link(heap_, source); link; link = graph_next_link(heap_, link)) {
            graph_node *const sink = static_cast<graph_node *>(kma_deref(heap_, link->sink));
            found += key == any_key || sink->node.key == key;
            shim::check(++steps <= threads * rounds(), "a list of links has a cycle");
        }
        return found;
    }

    // Nodes in order, as the tree's words say.
    uint count()
    {
        const graph_node *last = nullptr;
        uint nodes = 0;
        check_order(kma_ref_load_acquire(&tree_->root), last, nodes);
        return nodes;
    }

    void check_order(kma_ref ref, const graph_node *&last, uint &nodes)
    {
        if (ref == KMA_NULL)
            return;
        graph_node *const node = static_cast<graph_node *>(kma_deref(heap_, ref));
        shim::check(++nodes <= keys + 1, "the tree has a cycle or a key twice");
        check_order(kma_ref_load_acquire(&node->node.left), last, nodes);
        shim::check(!last || kma_mix32(last->node.key) < kma_mix32(node->node.key), "the tree is out of order");
        last = node;
        check_order(kma_ref_load_acquire(&node->node.right), last, nodes);
    }

    static constexpr size_t room = threads * max_rounds * (2 * sizeof(graph_node) + sizeof(graph_link) + 64);
    alignas(16) uchar memory_[sizeof(kma_heap) + 16 + room];
    alignas(16) uchar tree_memory_[sizeof(kma_search_tree)];
    alignas(16) uchar shown_memory_[sizeof(kma_atomic_ref)];
    kma_heap *heap_;
    kma_search_tree *tree_;
    kma_atomic_ref *shown_;
    bool spare_[threads] = {};
    uint keeps_ = 0; // 0: nobody keeps a node that lost a race, 1: all do, 2: some
    uint variant_ = 0;
};
