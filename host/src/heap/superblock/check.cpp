// Heap::check() of the superblock heap: each superblock, and each structure that refers to
// superblocks.
#include "heap/superblock/check.hpp"

#include <bit>
#include <string>

namespace kma {
namespace {

constexpr std::uint32_t none = KMA_SUPERBLOCK_NONE;

// The largest possible count of draws. Without 64-bit atomics it is KMA_SUPERBLOCK_DRY. With them,
// failed draws count too, and the count is set back from KMA_SUPERBLOCK_OVERDRAWN on; at most 2^29
// draws can have been in progress then.
constexpr std::uint32_t most_drawn(std::uint32_t slots, bool atomic64)
{
    return atomic64 ? 0xe0000000 : slots + 2;
}

class SuperblockChecker {
public:
    SuperblockChecker(const layout::kma_superblock_plan &plan, const SuperblockCensus &census,
                      Findings &findings)
        : plan_(plan), census_(census), findings_(findings), in_own_set_(plan.superblocks),
          in_queue_(plan.room)
    {
    }

    void all()
    {
        if (census_.in_hand != 0)
            findings_.add("counts of superblocks in hand", "the heap counts ", census_.in_hand,
                          " superblocks in hand, about to be offered or given back, should be 0 "
                          "when no kernel runs");
        for (std::uint32_t c = 0; c < plan_.size_classes; c++) {
            check_class(c);
            check_set(c);
        }
        walk_queue();
        check_carriers();
        for (std::uint32_t sb = 0; sb < plan_.superblocks; sb++)
            check_superblock(sb);
        for (std::uint32_t sb = plan_.superblocks; sb < plan_.room; sb++)
            check_future(sb);
    }

private:
    void check_class(std::uint32_t c);
    void check_set(std::uint32_t c);
    void walk_queue();
    bool check_link(std::uint32_t from, std::uint32_t node, std::uint64_t length);
    void check_carriers();
    void check_superblock(std::uint32_t sb);
    void check_future(std::uint32_t sb);
    void check_free(std::uint32_t sb);
    void check_owned(std::uint32_t sb, std::uint32_t c);
    void check_keeper(std::uint32_t sb, std::uint32_t c, bool offered);

    std::uint32_t content(std::uint32_t sb) const { return census_.superblocks[sb].content; }
    bool is_free(std::uint32_t sb) const { return (content(sb) & KMA_SUPERBLOCK_FREE) != 0; }
    std::uint32_t slots(std::uint32_t c) const
    {
        return (1u << plan_.shift) / layout::kma_class_units(c);
    }

    static std::string name(std::uint32_t c)
    {
        return say("the class of ", std::uint64_t{layout::kma_class_units(c)} * KMA_UNIT,
                   "-byte blocks");
    }

    std::string holds(std::uint32_t sb) const
    {
        if (is_free(sb))
            return "is free";
        return content(sb) < plan_.size_classes ? "is of " + name(content(sb)) : "is of no class";
    }

    const layout::kma_superblock_plan &plan_;
    const SuperblockCensus &census_;
    Findings &findings_;
    std::vector<bool> in_own_set_;
    std::vector<bool> in_queue_;
    std::vector<bool> in_list_; // whether each node is in the list
};

void SuperblockChecker::check_class(std::uint32_t c)
{
    const layout::kma_superblock_class_census &is = census_.classes[c];
    if (is.slots != slots(c))
        findings_.add("classes with wrong slots", name(c), " has ", is.slots,
                      " blocks to a superblock, should be ", slots(c));
    if (is.superblock == none) {
        if (is.drawn < slots(c))
            findings_.add("offers of no superblock", name(c), " offers ", slots(c) - is.drawn,
                          " blocks of no superblock");
    } else if (is.superblock >= plan_.superblocks) {
        findings_.add("offers of no superblock", name(c), " offers blocks of superblock ",
                      is.superblock, ", but there are ", plan_.superblocks);
    } else if (content(is.superblock) != c) {
        findings_.add("offers of another class's superblock", name(c), " has superblock ",
                      is.superblock, " on offer, which ", holds(is.superblock));
    }
    if (is.helpers != 0)
        findings_.add("classes with helpers", name(c), " counts ", is.helpers,
                      " helpers at its offer, should be 0 when no kernel runs");
    if (const std::uint32_t most = most_drawn(slots(c), census_.atomic64); is.drawn > most)
        findings_.add("offers that are drawn too often", name(c), " has counted ", is.drawn,
                      " draws from its offer, and stops at ", most);
}

void SuperblockChecker::check_set(std::uint32_t c)
{
    std::uint64_t members = 0;
    for (std::uint32_t word = 0; word < plan_.set_words; word++) {
        std::uint32_t bits = census_.sets[std::size_t{c} * plan_.set_words + word];
        members += static_cast<unsigned>(std::popcount(bits));
        for (; bits != 0; bits &= bits - 1) {
            const std::uint32_t sb = word * 32 + static_cast<std::uint32_t>(std::countr_zero(bits));
            if (sb >= plan_.superblocks)
                findings_.add("members of partial sets that are no superblocks",
                              "the partial set of ", name(c), " holds superblock ", sb,
                              ", but there are ", plan_.superblocks);
            else if (content(sb) != c)
                findings_.add("superblocks in another class's partial set", "the partial set of ",
                              name(c), " holds superblock ", sb, ", which ", holds(sb));
            else
                in_own_set_[sb] = true;
        }
    }
    if (members != census_.classes[c].partial)
        findings_.add("partial sets with wrong counts", "the partial set of ", name(c), " counts ",
                      census_.classes[c].partial, " superblocks, and holds ", members);
}

// Checks the list from head to tail: a dummy node, then one node for each free superblock.
void SuperblockChecker::walk_queue()
{
    const std::uint32_t nodes = plan_.room + 1;
    const layout::kma_queue_census &ends = census_.queue[nodes];
    if (ends.carrier != plan_.room)
        findings_.add("queue capacities", "the free queue's capacity is ", ends.carrier,
                      ", should be ", plan_.room);
    in_list_.assign(nodes, false);
    std::uint32_t last = none;
    std::uint64_t length = 0;
    for (std::uint32_t node = ends.next; last == none || node != none;
         node = census_.queue[node].next) {
        if (!check_link(last, node, length))
            return;
        in_list_[node] = true;
        const std::uint32_t sb = census_.queue[node].item;
        if (last == none) {
            // The dummy's item is not in use.
        } else if (sb >= plan_.superblocks) {
            findings_.add("items of the free queue", "node ", node,
                          " of the free queue holds superblock ", sb, ", but there are ",
                          plan_.superblocks);
        } else if (in_queue_[sb]) {
            findings_.add("superblocks twice in the free queue", "superblock ", sb,
                          " is in the free queue twice");
        } else {
            in_queue_[sb] = true;
        }
        last = node;
        length++;
    }
    if (last != ends.item)
        findings_.add("queue tails", "the free queue's tail is node ", ends.item,
                      ", but its last is node ", last);
}

// Whether the list can continue from `from` (or its head) with `node`.
bool SuperblockChecker::check_link(std::uint32_t from, std::uint32_t node, std::uint64_t length)
{
    const auto end = [from] { return from == none ? std::string("head") : say("node ", from); };
    if (node > plan_.room)
        findings_.add("links of the free queue", "the free queue's ", end(), " leads to node ",
                      node, ", but there are ", plan_.room + 1);
    else if (in_list_[node])
        findings_.add("links of the free queue", "the free queue is a circle after ", length,
                      " nodes: its ", end(), " leads back to node ", node);
    else
        return true;
    return false;
}

// Checks that every node is in the list, or owned by exactly one superblock outside of it.
void SuperblockChecker::check_carriers()
{
    std::vector<std::uint32_t> owner(plan_.room + 1, none);
    for (std::uint32_t sb = 0; sb < plan_.room; sb++) {
        if (in_queue_[sb])
            continue;
        const std::uint32_t node = census_.queue[sb].carrier;
        if (node > plan_.room)
            findings_.add("carriers", "superblock ", sb, " has queue node ", node,
                          ", but there are ", plan_.room + 1);
        else if (in_list_[node])
            findings_.add("carriers", "superblock ", sb, ", outside the free queue, has node ",
                          node, ", which is in the queue");
        else if (owner[node] != none)
            findings_.add("carriers", "superblocks ", owner[node], " and ", sb,
                          " have the same queue node ", node);
        else
            owner[node] = sb;
    }
    for (std::uint32_t node = 0; node <= plan_.room; node++)
        if (!in_list_[node] && owner[node] == none)
            findings_.add("lost queue nodes", "queue node ", node,
                          " is neither in the free queue nor any superblock's");
}

void SuperblockChecker::check_superblock(std::uint32_t sb)
{
    const layout::kma_superblock_census &is = census_.superblocks[sb];
    const std::uint32_t c = is.content & ~KMA_SUPERBLOCK_FREE;
    if (is.content != KMA_SUPERBLOCK_UNUSED && c >= plan_.size_classes)
        findings_.add("contents", "superblock ", sb, " holds blocks of class ", c,
                      ", but there are ", plan_.size_classes, " classes");
    else if (is_free(sb))
        check_free(sb);
    else
        check_owned(sb, c);
}

// Checks a superblock that growth may add: it is in its initial state, and its node is linked with
// the next one's.
void SuperblockChecker::check_future(std::uint32_t sb)
{
    const layout::kma_superblock_census &is = census_.superblocks[sb];
    if (is.content != KMA_SUPERBLOCK_UNUSED || is.credit != KMA_SUPERBLOCK_KEPT ||
        is.taken + is.stray != 0)
        findings_.add("superblocks in use before the heap has grown to them", "superblock ", sb,
                      ", of which there are ", plan_.superblocks,
                      " until the heap grows, has content ", is.content, ", credit ", is.credit,
                      " and ", is.taken + is.stray, " bits of its bitmap set, should be ",
                      KMA_SUPERBLOCK_UNUSED, ", ", KMA_SUPERBLOCK_KEPT, " and 0");
    const layout::kma_queue_census &node = census_.queue[sb + 1];
    // the last node's link is never followed
    const std::uint32_t next = sb + 1 == plan_.room ? node.next : sb + 2;
    if (node.item != sb || node.next != next || census_.queue[sb].carrier != sb + 1)
        findings_.add("queue nodes of superblocks to come", "superblock ", sb,
                      ", of which there are ", plan_.superblocks,
                      " until the heap grows, has queue node ", census_.queue[sb].carrier,
                      ", and node ", sb + 1, " item ", node.item, " and next node ", node.next,
                      ", should be ", sb + 1, ", ", sb, " and ", next);
}

void SuperblockChecker::check_free(std::uint32_t sb)
{
    const layout::kma_superblock_census &is = census_.superblocks[sb];
    if (!in_queue_[sb])
        findings_.add("free superblocks outside the free queue", "superblock ", sb,
                      " is free, but not in the free queue");
    if (is.taken + is.stray != 0)
        findings_.add("free superblocks with blocks", "superblock ", sb, " is free, but ",
                      is.taken + is.stray, " bits of its bitmap are set");
    if (is.credit != KMA_SUPERBLOCK_KEPT)
        findings_.add("credits of free superblocks", "superblock ", sb,
                      " is free and so has no credit, but it says ",
                      is.credit & ~KMA_SUPERBLOCK_KEPT,
                      (is.credit & KMA_SUPERBLOCK_KEPT) ? "" : " and that nobody keeps it");
}

void SuperblockChecker::check_owned(std::uint32_t sb, std::uint32_t c)
{
    const layout::kma_superblock_census &is = census_.superblocks[sb];
    const layout::kma_superblock_class_census &cls = census_.classes[c];
    const bool offered = cls.superblock == sb;
    const std::uint32_t on_offer = offered && cls.drawn < slots(c) ? slots(c) - cls.drawn : 0;
    const std::uint32_t credit = is.credit & ~KMA_SUPERBLOCK_KEPT;
    if (in_queue_[sb])
        findings_.add("superblocks in the free queue", "superblock ", sb,
                      " is in the free queue, but ", holds(sb));
    if (std::uint64_t{is.taken} + on_offer + credit != slots(c))
        findings_.add("superblocks with a wrong number of blocks", "superblock ", sb, ", of ",
                      name(c), ", has ", slots(c), " blocks, but ", is.taken, " are taken, ",
                      on_offer, " on offer and ", credit, " on credit");
    if (is.stray != 0)
        findings_.add("bitmaps with stray bits", "superblock ", sb, ", of ", name(c), ", has ",
                      is.stray, " bits set behind the last of its ", slots(c), " blocks");
    check_keeper(sb, c, offered);
}

// Checks that a superblock is in exactly one of the states OFFERED, PARTIAL and FULL, and that its
// credit word agrees.
void SuperblockChecker::check_keeper(std::uint32_t sb, std::uint32_t c, bool offered)
{
    const std::uint32_t credit = census_.superblocks[sb].credit & ~KMA_SUPERBLOCK_KEPT;
    const bool kept = (census_.superblocks[sb].credit & KMA_SUPERBLOCK_KEPT) != 0;
    const bool partial = in_own_set_[sb];
    if (offered && partial)
        findings_.add("superblocks kept twice", "superblock ", sb, ", of ", name(c),
                      ", is both on offer and in the partial set");
    if (kept != (offered || partial) && !in_queue_[sb])
        findings_.add("superblocks that are kept and not kept", "superblock ", sb, ", of ", name(c),
                      ", is ",
                      offered   ? "on offer"
                      : partial ? "in the partial set"
                                : "neither free, on offer nor in the partial set",
                      ", but its credit says that ", kept ? "somebody" : "nobody", " keeps it");
    if (!offered && !partial && !kept && credit != 0)
        findings_.add("full superblocks with credit", "superblock ", sb, ", of ", name(c), ", has ",
                      credit, " blocks on credit, but is neither on offer nor in the partial set");
    if (partial && credit == 0)
        findings_.add("partial superblocks without free blocks", "superblock ", sb, ", of ",
                      name(c), ", is in the partial set, but has 0 blocks on credit");
    if (partial && credit == slots(c))
        findings_.add("partial superblocks without taken blocks", "superblock ", sb, ", of ",
                      name(c), ", is in the partial set, but all its ", credit,
                      " blocks are free: it should be back in the free queue");
}

} // namespace

void check_superblocks(const layout::kma_superblock_plan &plan, const SuperblockCensus &census,
                       Findings &findings)
{
    SuperblockChecker(plan, census, findings).all();
}

} // namespace kma
