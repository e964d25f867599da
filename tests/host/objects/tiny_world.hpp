// A world of a few blocks for scenarios: its memory, what must hold of it at rest, and what a lone caller must get
// then.
//
// Classes have few objects in a block, as a scenario chooses: blocks fill, end and begin for another class all the
// time. Each slot has a field of 32 bits, the same for all classes, so that two owners of a place meet, of whatever
// class.
#pragma once

#ifndef KMA_BIT_TREE_SHIFT
#define KMA_BIT_TREE_SHIFT 1u // a few blocks have several levels
#endif
#ifndef KMA_TINY_CLASSES
#define KMA_TINY_CLASSES 3u
#define KMA_TINY_SLOTS   3u // objects of one block, at most
#endif

#include "shim/shim.hpp"

namespace tiny {

constexpr uint classes = KMA_TINY_CLASSES, most_slots = KMA_TINY_SLOTS;
inline uint class_slots[classes];
inline uint looks = 8;

// A class that there is not has no slots.
inline uint slots_of(uint T, shim::location where = shim::location::current())
{
    shim::check(T < classes, "a block of no class is taken for one of a class", where);
    return class_slots[T];
}

} // namespace tiny

#define KMA_WORLD_CLASSES         KMA_TINY_CLASSES
#define KMA_WORLD_SLOTS(T)        tiny::slots_of(T)
#define KMA_WORLD_OBJECT_BYTES(T) (4u << (T))
#define KMA_WORLD_BLOCK_BYTES     ((uint{sizeof(KMA_PLAIN(uint)) * tiny::most_slots} + 127u) / 128u * 128u)
#define KMA_WORLD_HINTS           2u
#define KMA_OBJECTS_LOOKS         tiny::looks
#define KMA_OBJECTS_HIERARCHY     KMA_HAS_ATOMIC64 // the other way, too

#include "kma/objects/world.cl"
#include "lockfree/check_tree.hpp"

// Lanes that one thread plays share what a kernel has in local memory.
#include "kma/platform/group.cl"
#undef local
#define local static
#include "kma/objects/world_kernels.cl"
#undef local
#define local

namespace tiny {

// An object that a thread has.
struct object {
    uint self = 0; // 0: none
    uint T = 0;
    uint stamp = 0;
};

// No std::vector, since Relacy has operator new for itself while it runs.
template <uint most> struct object_list {
    object objects[most];
    uint count = 0;

    void push(const object &one)
    {
        shim::check(count < most, "more objects than there are slots");
        objects[count++] = one;
    }
    // The others stay in their order.
    object pop(uint which)
    {
        const object one = objects[which];
        std::copy(objects + which + 1, objects + count--, objects + which);
        return one;
    }
};

// Calls a kernel as each of `groups` work-groups, the last first, of a lone work-item each or of `lanes` in lockstep.
template <class Kernel> void launch(uint groups, const Kernel &body, uint lanes = 1)
{
    const std::size_t me = shim::self().id, before = std::exchange(shim::work_items, groups * lanes);
    for (uint group = groups; group-- != 0;) {
        shim::self().id = group * lanes;
        if (lanes == 1)
            body();
        else
            shim::lockstep::run(lanes, group * lanes, [&](uint) { body(); });
    }
    shim::self().id = me;
    shim::work_items = before;
}

template <uint most_blocks> class world {
public:
    static constexpr uint most_objects = most_blocks * most_slots;
    using list = object_list<most_objects>;

    // `slots` of each class.
    void make(uint blocks, const uint (&slots)[classes])
    {
        std::copy(slots, slots + classes, class_slots);
        blocks_ = blocks;
        shim::check(blocks <= most_blocks, "the world is too large for this test");
        const kma_world_plan plan = kma_world_plan_of(classes, KMA_WORLD_BLOCK_BYTES, blocks);
        w = shim::objects.construct<kma_world>(memory_.take(plan.end));
        uchar *const base = reinterpret_cast<uchar *>(w);
        construct<kma_world_class>(base + sizeof(kma_world), classes);
        uchar *const hints = base + sizeof(kma_world) + classes * sizeof(kma_world_class);
        construct<kma_atomic_u32>(hints, classes * KMA_WORLD_HINTS);
        construct<kma_world_block>(base + plan.states, blocks);
        for (uint tree = 0; tree <= classes; tree++)
            construct<kma_atomic_u32>(base + plan.trees + sizeof(kma_atomic_u32) * plan.tree_words * tree,
                                      kma_bit_tree_words(blocks));
        launch(2, [&] { kma_world_init_kernel(w, plan.end, blocks); });
        for (uint block = 0; block < blocks; block++)
            for (uint slot = 0; slot < most_slots; slot++)
                *shim::objects.construct<KMA_PLAIN(uint)>(field(kma_world_ref(block, slot))) = 0;
        for (uint &each : expected)
            each = 0;
        turns_ = 0;
    }

    kma_world *w = nullptr;
    uint expected[KMA_ERROR_CODES] = {}; // errors so far

    uint blocks() const { return blocks_; }
    KMA_PLAIN(uint) &payload(uint self) { return *static_cast<KMA_PLAIN(uint) *>(field(self)); }
    uint type(uint block) { return kma_load_u32(&kma_world_block_at(w, block)->type, KMA_RELAXED); }
    kma_slots state(uint block) { return kma_slots_load(&kma_world_block_at(w, block)->state, KMA_RELAXED); }
    bool is_free(uint block) { return kma_bit_tree_has(kma_world_free(w), block); }
    bool is_active(uint T, uint block) { return kma_bit_tree_has(kma_world_active(w, T), block); }

    // Objects of class T that there is room for.
    uint room(uint T)
    {
        uint room = 0;
        for (uint block = 0; block < blocks_; block++)
            room += type(block) == 0       ? slots_of(T)
                    : type(block) == T + 1 ? kma_slots_count(static_cast<kma_slots>(~state(block)))
                                           : 0;
        return room;
    }

    // What blocks.cl promises at rest, where `living` are all objects that there are; and what it has told of errors. A
    // thread that was stopped within a tree has left it so that words may not be told of.
    template <class List>
    void check_at_rest(const List &living, bool told = true, shim::location where = shim::location::current())
    {
        for (uint block = 0; block < blocks_; block++)
            check_block(block, living, where);
        for (uint tree = 0; told && tree <= classes; tree++) {
            kma_atomic_u32 *const words = kma_world_free(w) + static_cast<size_t>(tree) * w->tree_words;
            check_bit_tree(words, blocks_, where);
            for (uint block = blocks_; block % KMA_BIT_TREE_FANOUT != 0; block++)
                shim::check(!kma_bit_tree_has(words, block), "a block that there is not", where);
        }
        shim::check(kma_load_u32(&w->searching, KMA_RELAXED) <= expected[KMA_ERROR_OUT_OF_MEMORY],
                    "a search that found something counts still", where);
        for (uint code = 0; code < KMA_ERROR_CODES; code++)
            shim::check(kma_load_u32(&w->head.errors.count[code], KMA_RELAXED) == expected[code],
                        "the error log does not count what happened", where);
    }

    // A lone caller gets as many objects of T as there is room for, which `taken` notes.
    template <class List> void check_takes_all(uint T, List &taken, shim::location where = shim::location::current())
    {
        const uint room = this->room(T);
        uint got = 0;
        while (const uint self = kma_world_new(w, T)) {
            shim::check(kma_world_block_of(self) < blocks_ && kma_world_slot_of(self) < slots_of(T), "in no slot", where);
            shim::check(kma_world_type(w, self) == T + 1, "an object of another class", where);
            taken.push({self, T, 0});
            shim::self().operations = 0; // which are limited
            shim::check(++got <= room, "a lone caller gets more objects than there is room for", where);
        }
        expected[KMA_ERROR_OUT_OF_MEMORY]++;
        shim::check(got == room, "a lone caller does not get all there is room for", where);
    }

    // Lists some classes, as bits.
    void enumerate(uint which, uint groups = 1, uint lanes = 1)
    {
        turns_ ^= which;
        launch(groups, [&] { kma_world_list_kernel(w, which, turns_); }, lanes);
    }

    // An enumeration finds each free slot of a class's blocks once, as long as there are places.
    void check_open(uint T, shim::location where)
    {
        uint free = 0, listed = kma_load_u32(&kma_world_class_at(w, T)->open[turns_ >> T & 1], KMA_RELAXED);
        for (uint block = 0; block < blocks_; block++)
            free += type(block) == T + 1 ? kma_slots_count(static_cast<kma_slots>(~state(block))) : 0;
        shim::check(listed == free, "another number of free slots is listed", where);
        kma_slots met[most_blocks] = {};
        for (uint i = 0; i < std::min(listed, kma_world_open_most(blocks_)); i++) {
            const uint self = kma_world_open(w, T)[i], block = kma_world_block_of(self);
            const kma_slots slot = kma_slots_bit(kma_world_slot_of(self));
            shim::check(block < blocks_ && type(block) == T + 1 && ((state(block) | met[block]) & slot) == 0,
                        "a slot is listed that is not free, or twice", where);
            met[block] |= slot;
        }
    }

    // An enumeration finds what is there, each object once: by numbers and by a walk.
    template <class List>
    void check_enumeration(const List &living, uint groups, uint lanes = 1,
                           shim::location where = shim::location::current())
    {
        enumerate((1u << classes) - 1, groups, lanes);
        for (uint T = 0; T < classes; T++) {
            check_open(T, where);
            uint of_class = 0, found = 0;
            for (uint i = 0; i < living.count; i++)
                of_class += living.objects[i].T == T;
            for (uint i = 0; i < kma_world_listed(w, T) * slots_of(T); i++)
                found += is_one_of(living, T, kma_world_listed_object(w, T, slots_of(T), i), where);
            shim::check(found == of_class, "an enumeration misses an object", where);
        }
        shim::check(kma_load_u32(&w->searching, KMA_RELAXED) == 0, "a search counts still", where);
        for (uint first = 0; first < classes; first++)
            for (uint last = first; last < classes; last++) {
                uint met = 0, of_classes = 0;
                for (uint i = 0; i < living.count; i++)
                    of_classes += living.objects[i].T >= first && living.objects[i].T <= last;
                KMA_WORLD_FOR_EACH(w, first, last, self)
                    met += is_one_of(living, kma_world_type(w, self) - 1, self, where);
                shim::check(met == of_classes, "a loop over all objects does not meet all", where);
                uint in_runs = 0, before = 0;
                KMA_WORLD_FOR_EACH_RUN(w, first, last, run)
                {
                    for (uint k = 0; k < run.count; k++)
                        in_runs += is_one_of(living, kma_world_type(w, run.first + k) - 1, run.first + k, where);
                    shim::check(run.first != before, "neighbours are in two runs", where);
                    before = run.first + run.count;
                }
                shim::check(in_runs == of_classes, "runs do not have all objects", where);
            }
    }

private:
    template <class T> static void construct(void *place, uint count)
    {
        for (uint i = 0; i < count; i++)
            shim::objects.construct<T>(static_cast<T *>(place) + i);
    }

    void *field(uint self) { return kma_world_field(w, self, 0, sizeof(KMA_PLAIN(uint))); }

    template <class List> static bool is_one_of(const List &living, uint T, uint self, shim::location where)
    {
        if (self == 0)
            return false;
        uint same = 0;
        for (uint i = 0; i < living.count; i++)
            same += living.objects[i].self == self && living.objects[i].T == T;
        shim::check(same == 1, "an enumeration tells of what is no object", where);
        return true;
    }

    template <class List> void check_block(uint block, const List &living, shim::location where)
    {
        const uint its = type(block);
        shim::check(its <= classes, "a block of no class", where);
        shim::check((its == 0) == is_free(block), "a block has a class and is free, or neither", where);
        shim::check(its != 0 || state(block) == KMA_SLOTS_ALL, "a free block has room", where);
        kma_slots objects = 0;
        for (uint i = 0; i < living.count; i++)
            if (kma_world_block_of(living.objects[i].self) == block) {
                shim::check(its == living.objects[i].T + 1, "an object's block is of another class", where);
                objects |= kma_slots_bit(kma_world_slot_of(living.objects[i].self));
            }
        if (its == 0)
            return;
        shim::check(objects != 0, "a block without an object has a class", where);
        shim::check(state(block) == (objects | kma_slots_pad(slots_of(its - 1))), "a slot or object is lost", where);
        shim::check(state(block) == KMA_SLOTS_ALL || is_active(its - 1, block), "a block without a hint", where);
    }

    static constexpr size_t most_bytes =
        KMA_WORLD_BEGIN(classes) + most_blocks * (KMA_WORLD_BLOCK_BYTES + sizeof(kma_world_block)) + 256 +
        (classes + 1) * (2 * most_blocks * sizeof(kma_atomic_u32) + 256) + classes * (20 * most_blocks + 256);

    shim::heap_memory<most_bytes> memory_;
    uint blocks_ = 0;
    uint turns_ = 0; // of the last enumeration of each class, as bits
};

} // namespace tiny
