// The graph sample's tree over a bump heap: all threads insert the same few keys and push links between them.
//
// Checked: a node or link that is reached is ordered after its writing; at the end every key is in the tree once, in
// order, and every link is in its source's list, once.
#pragma once

#define KMA_HEAP bump
#include "tree.cl"

template <uint threads> class scenario {
public:
    void before()
    {
        heap_ = shim::objects.construct<kma_heap>(memory_);
        kma_bump_init(heap_, sizeof(memory_), 0, 1);
        root_ = shim::objects.construct<kma_atomic_ref>(root_memory_);
        kma_ref_init(root_, KMA_NULL);
        variant_ = shim::random(shim::chosen.bound != 0 ? 1 : 1u << 20);
    }

    void thread(uint me)
    {
        graph_node *spare = nullptr;
        for (uint round = 0; round < rounds(); round++) {
            if (sits_out(me, round))
                continue;
            graph_node *const source = graph_ensure(heap_, root_, source_key(me, round), true, &spare);
            graph_node *const sink = graph_ensure(heap_, root_, sink_key(me, round), round % 2 == 0, &spare);
            graph_link *const link = KMA_NEW(heap_, graph_link);
            shim::check(source && sink && link, "the heap is too small for this test");
            graph_push_link(heap_, source, link, sink);
            shim::check(links_to(source, sink_key(me, round)) >= 1, "a thread does not find its own link");
        }
    }

    void after()
    {
        const graph_node *last = nullptr;
        uint nodes = 0;
        check_order(kma_ref_load_acquire(root_), last, nodes);
        uint wanted_nodes = 0;
        for (uint key = 0; key < keys; key++) {
            graph_node *const node = graph_get(heap_, root_, key);
            bool used = false;
            uint all_wanted = 0;
            for (uint sink = 0; sink < keys; sink++) {
                uint wanted = 0;
                for (uint id = 0; id < threads; id++)
                    for (uint round = 0; round < rounds(); round++) {
                        if (sits_out(id, round))
                            continue;
                        wanted += source_key(id, round) == key && sink_key(id, round) == sink;
                        used |= source_key(id, round) == key || sink_key(id, round) == key;
                    }
                shim::check(wanted == 0 || (node && links_to(node, sink) == wanted), "a link is missing or too many");
                all_wanted += wanted;
            }
            shim::check((node != nullptr) == used, "a key is missing, or is there for no reason");
            shim::check(!node || links_to(node, any_key) == all_wanted, "a link leads somewhere else");
            wanted_nodes += used;
        }
        shim::check(nodes == wanted_nodes, "a key is in the tree twice");
        shim::objects.destroy_all();
    }

private:
    static constexpr uint keys = 4;
    static constexpr uint any_key = keys;
    static constexpr uint max_rounds = 8;

    static uint rounds() { return shim::chosen.rounds ? shim::chosen.rounds : shim::is_model_checker ? 2 : max_rounds; }
    // A quarter of the rounds, by chance, so that lanes diverge. In a search nobody does, but with two context switches
    // or more all schedules of three threads would be too many.
    bool sits_out(uint me, uint round) const
    {
        if (shim::chosen.bound > 1)
            return me > 1;
        return variant_ != 0 && kma_mix32((variant_ * 64 + me) * 64 + round) % 4 == 0;
    }
    static uint source_key(uint me, uint round) { return (me + round) / 2 % keys; }
    static uint sink_key(uint me, uint round) { return (2 * me + round + 1) % keys; }

    uint links_to(graph_node *source, uint key)
    {
        uint found = 0;
        uint steps = 0;
        kma_ref at = kma_ref_load_acquire(&source->links);
        while (at != KMA_NULL) {
            graph_link *const link = static_cast<graph_link *>(kma_deref(heap_, at));
            graph_node *const sink = static_cast<graph_node *>(kma_deref(heap_, link->sink));
            found += key == any_key || sink->key == key;
            at = kma_ref_load_acquire(&link->next);
            shim::check(++steps <= threads * rounds(), "a list of links has a cycle");
        }
        return found;
    }

    void check_order(kma_ref ref, const graph_node *&last, uint &nodes)
    {
        if (ref == KMA_NULL)
            return;
        graph_node *const node = static_cast<graph_node *>(kma_deref(heap_, ref));
        shim::check(++nodes <= keys, "the tree has a cycle or a key twice");
        check_order(kma_ref_load_acquire(&node->left), last, nodes);
        shim::check(!last || kma_mix32(last->key) < kma_mix32(node->key), "the tree is out of order");
        last = node;
        check_order(kma_ref_load_acquire(&node->right), last, nodes);
    }

    static constexpr size_t room = threads * max_rounds * (2 * sizeof(graph_node) + sizeof(graph_link) + 64);
    alignas(16) uchar memory_[sizeof(kma_heap) + 16 + room];
    alignas(16) uchar root_memory_[sizeof(kma_atomic_ref)];
    kma_heap *heap_;
    kma_atomic_ref *root_;
    uint variant_ = 0;
};
