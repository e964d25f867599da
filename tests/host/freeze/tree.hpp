// The graph sample's tree: a thread that stops while it inserts or links costs what it was about to insert, and its
// group.
#pragma once

#include "freeze/subject.hpp"
#include "host_heaps.hpp" // first: kma.cl includes a heap, too, but as large as it is for users

#ifndef KMA_HEAP
#define KMA_HEAP bump
#endif
#include "tree.cl"

namespace freeze {

template <uint threads> class tree_subject : public subject {
public:
    static constexpr const char *structure = "tree";
    static constexpr const char *operations[] = {"insert", "insert lost", "get", "link"};
    static constexpr const char *states[] = {"empty", "1 node", "all nodes but one"};
    static constexpr bool applies(uint operation, uint state) { return operation != link || state != 0; }
    using subject::subject;

    void prepare(crowd, uint, uint) override
    {
        heap_ = shim::objects.construct<kma_heap>(memory_);
        kma_bump_init(heap_, sizeof(memory_), 0, 0, 1);
        tree_ = shim::objects.construct<kma_search_tree>(tree_memory_);
        kma_tree_init(tree_);
        for (uint key = 0; key < (state_ == 2 ? keys - 1 : state_); key++)
            insert(key);
    }

    // Of threads that insert the same key, one finds another's node there in the end: as "insert lost", with a key that
    // is in the tree already.
    void operate(uint) override
    {
        if (operation_ == get) {
            graph_get(heap_, tree_, keys - 1);
        } else if (operation_ == link) {
            push_link(0);
        } else {
            graph_node *const node = operation_ == insert_lost ? KMA_NEW(heap_, graph_node) : nullptr;
            if (node) {
                graph_node_init(node, 0);
                kma_tree_add(heap_, tree_, &node->node);
            } else {
                insert(keys - 1);
            }
        }
    }

    void go_on(uint me) override
    {
        for (uint key = 0; key < keys; key++) {
            bounded([&] { return insert(key); });
            bounded([&] { return push_link(key); });
        }
        has_gone_on_[me] = true;
    }

    void check_without(crowd, uint) override
    {
        uint least = 0;
        for (const bool each : has_gone_on_)
            least += each;
        for (uint key = 0; key < keys; key++) {
            graph_node *const node = bounded([&] { return graph_get(heap_, tree_, key); });
            shim::check(node, "a key is missing while a thread is stopped");
            shim::check(bounded([&] { return links_of(node); }) >= least, "a link is missing while a thread is stopped");
        }
    }

    void check_at_rest() override
    {
        uint links = 0;
        for (uint key = 0; key < keys; key++)
            links += links_of(graph_get(heap_, tree_, key));
        shim::check(links == made_.load(std::memory_order_relaxed), "a link is lost, or there twice");
        uint nodes = 0;
        for (kma_tree_node *at = kma_tree_first(heap_, tree_); at && nodes <= keys; nodes++)
            at = kma_tree_after(heap_, tree_, at->key);
        shim::check(nodes == keys, "a key is not in the tree once");
    }

private:
    enum : uint { insert_new, insert_lost, get, link };
    static constexpr uint keys = 3;

    graph_node *insert(uint key)
    {
        graph_node *spare = nullptr;
        graph_node *const node = graph_ensure(heap_, tree_, key, false, &spare);
        shim::check(node && node->node.key == key, "the wrong node, or none");
        return node;
    }

    bool push_link(uint key)
    {
        graph_link *const link = KMA_NEW(heap_, graph_link);
        graph_node *const node = graph_get(heap_, tree_, key);
        shim::check(link && node, "no room, or a key that was there is not");
        made_.fetch_add(1, std::memory_order_relaxed);
        graph_push_link(heap_, node, link, node);
        return true;
    }

    uint links_of(graph_node *node)
    {
        uint found = 0;
        for (graph_link *link = graph_first_link(heap_, node); link; link = graph_next_link(heap_, link))
            found++;
        return found;
    }

    static constexpr size_t room = (threads + 1) * (keys + 2) * (sizeof(graph_node) + sizeof(graph_link) + 64);
    alignas(16) uchar memory_[sizeof(kma_heap) + 16 + room];
    alignas(16) uchar tree_memory_[sizeof(kma_search_tree)];
    kma_heap *heap_ = nullptr;
    kma_search_tree *tree_ = nullptr;
    std::atomic<uint> made_{0}; // links; orders nothing
    bool has_gone_on_[threads] = {};
};

} // namespace freeze
