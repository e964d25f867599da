// Heap::check() of the slab heap. cl/kma/heap/slab/lines.cl and pages.cl describe the invariants.
#include "heap/slab/check.hpp"

#include <array>

namespace kma {

using namespace layout;

namespace {

std::uint32_t lowest(std::uint32_t bits) { return kma_highest_bit(bits & (0u - bits)); }

// The slots of the line word of a page or slab, with their offsets and sizes.
struct Slots {
    std::uint32_t first = 0;                  // first line
    std::uint32_t lines = 0;                  // lines of the slab or run; 0 for a page's line
    std::uint32_t all = 0, taken = 0;         // occupancy bits
    std::array<std::uint32_t, 16> unit{};     // offsets of the slots from the heap's start
    std::array<std::uint32_t, 16> units{};    // sizes of the slots
};

// Decodes line words. A damaged word yields lines outside of the heap, or no slots.
class Decoder {
public:
    Decoder(const kma_slab_plan &plan, const SlabMetadata &metadata)
        : plan_(plan), words_(metadata.words)
    {
    }

    std::uint32_t lines() const { return plan_.frames << KMA_SLAB_FRAME_SHIFT; }
    std::uint32_t word(std::uint32_t line) const { return line < words_.size() ? words_[line] : 0; }
    // Whether the line is the first of a page.
    bool is_page(std::uint32_t line) const
    {
        return (word(line) & KMA_SLAB_FORM) == KMA_SLAB_PAGE && line % KMA_SLAB_FRAME_LINES == 0 &&
               kma_slab_page_class(word(line)) < KMA_SLAB_PAGE_CLASSES;
    }
    bool is_run(std::uint32_t line) const
    {
        return (word(line) & KMA_SLAB_FORM) == 0 && (word(line) & KMA_SLAB_RUN) != 0;
    }
    bool is_slab(std::uint32_t line) const
    {
        return kma_slab_is_equal(word(line)) || kma_slab_is_mixed(word(line));
    }
    // Whether the word is that of the first line of a living page, slab or run, or of any line of a
    // page.
    bool is_living(std::uint32_t line) const
    {
        return (word(line) & KMA_SLAB_FORM) == KMA_SLAB_PAGE || is_slab(line) || is_run(line);
    }
    // Whether the word is that of a page's line, ignoring the occupancy bits and `listed`.
    bool is_page_word(std::uint32_t line, std::uint32_t size_class) const
    {
        const std::uint32_t right = kma_slab_page_word(size_class, line % KMA_SLAB_FRAME_LINES);
        const std::uint32_t may =
            page(line, size_class).all == 0 ? 0 : page(line, size_class).all | KMA_SLAB_LISTED;
        return (word(line) & ~may) == right;
    }

    // The slots of a line in a page of a class.
    Slots page(std::uint32_t line, std::uint32_t size_class) const
    {
        Slots slots;
        const std::uint32_t units = kma_slab_units(size_class);
        const std::uint32_t shift = kma_slab_page_shift(units), index = line % KMA_SLAB_FRAME_LINES;
        slots.first = line;
        if (index >= 1u << shift)
            return slots;
        slots.all = kma_slab_page_slots(kma_slab_page_word(size_class, index));
        slots.taken = word(line) & KMA_SLAB_OCCUPANCY;
        for (std::uint32_t bit = 0; bit < slots.unit.size(); bit++) {
            slots.unit[bit] =
                ((line - index) << KMA_SLAB_LINE_SHIFT) + ((bit << shift) + index) * units;
            slots.units[bit] = units;
        }
        return slots;
    }

    // The slots of the slab or run that begins at a line.
    Slots slab(std::uint32_t line) const
    {
        Slots slots;
        slots.first = line;
        if (is_run(line)) {
            slots.lines = word(line) & KMA_SLAB_RUN_LINES;
            slots.all = slots.taken = 1;
            slots.unit[0] = line << KMA_SLAB_LINE_SHIFT;
            slots.units[0] = slots.lines << KMA_SLAB_LINE_SHIFT;
            return slots;
        }
        slots.lines = kma_slab_lines_of(word(line));
        if (!kma_slab_is_mixed(word(line)) &&
            kma_slab_equal_shift(word(line)) > KMA_SLAB_TEAM_SHIFT)
            return slots;
        slots.all = kma_slab_slots(word(line));
        slots.taken = word(line) & KMA_SLAB_OCCUPANCY;
        std::uint32_t offset = 0;
        for (std::uint32_t slot = 0; slot < KMA_SLAB_TEAM; slot++) {
            slots.units[slot] = kma_slab_is_mixed(word(line))
                                    ? mixed_units(line, slot)
                                    : kma_slab_units(kma_slab_equal_class(word(line)));
            slots.unit[slot] = (line << KMA_SLAB_LINE_SHIFT) + offset;
            offset += slots.units[slot];
        }
        return slots;
    }

    // Whether the slab's slots and planes are within its lines, and the lines within the heap.
    bool is_sound(const Slots &slab) const
    {
        if (slab.lines == 0 || slab.lines > lines() - slab.first || slab.all == 0 ||
            (slab.taken & ~slab.all) != 0)
            return false;
        if (is_run(slab.first))
            return true;
        const std::uint32_t first = word(slab.first), last = kma_highest_bit(slab.all);
        const bool is_mixed = kma_slab_is_mixed(first);
        const std::uint32_t size_class = kma_slab_equal_class(first),
                            planes = is_mixed ? first >> 17 & 7 : 0;
        const std::uint32_t form =
            is_mixed ? first & ~spare
                     : kma_slab_equal_word(size_class, kma_slab_equal_shift(first));
        return (is_mixed || size_class < KMA_SLAB_CLASSES) &&
               ((first ^ form) & ~KMA_SLAB_OCCUPANCY) == 0 && planes < slab.lines &&
               slab.unit[last] + slab.units[last] <= (slab.first + slab.lines)
                                                         << KMA_SLAB_LINE_SHIFT;
    }

private:
    static constexpr std::uint32_t spare = 0x00010000; // unused bit of a mixed slab's word

    std::uint32_t mixed_units(std::uint32_t line, std::uint32_t slot) const
    {
        std::uint32_t less = 0;
        for (std::uint32_t p = 0; p < (word(line) >> 17 & 7); p++)
            less |= (word(line + 1 + p) >> slot & 1) << p;
        return (less + 1) * ((word(line) & KMA_SLAB_COARSE) != 0 ? 4 : 1);
    }

    const kma_slab_plan &plan_;
    const std::vector<std::uint32_t> &words_;
};

class SlabChecker {
public:
    SlabChecker(const kma_slab_plan &plan, const SlabMetadata &metadata, Findings &findings)
        : plan_(plan), metadata_(metadata), findings_(findings), decoder_(plan, metadata),
          claimed_(plan.frames), has_slot_(std::size_t{KMA_SLAB_CLASSES} * plan.frames)
    {
    }

    void run()
    {
        for (std::uint32_t line = 0; line < decoder_.lines();) {
            if ((decoder_.word(line) & KMA_SLAB_FORM) == KMA_SLAB_PAGE)
                line += page(line);
            else
                line += decoder_.is_slab(line) || decoder_.is_run(line) ? slab(line) : 1;
        }
        used();
        current();
        for (std::uint32_t tree = 0; tree < KMA_SLAB_TREES; tree++)
            words_of(tree);
        for (std::uint32_t frame = 0; frame < plan_.frames; frame++) {
            listed_slots(frame);
            listed_lines(frame);
        }
        for (std::uint32_t group = 0; group < groups(); group++)
            listed_frames(group);
    }

private:
    void claim(std::uint32_t line, std::uint32_t lines)
    {
        for (std::uint32_t i = 0; i < lines; i++)
            claimed_[(line + i) / KMA_SLAB_FRAME_LINES] |= 1u << (line + i) % KMA_SLAB_FRAME_LINES;
    }

    void free_slots(const Slots &slots)
    {
        for (std::uint32_t left = slots.all & ~slots.taken; left != 0; left &= left - 1)
            has_slot_[std::size_t{kma_slab_class_of(slots.units[lowest(left)])} * plan_.frames +
                      slots.first / KMA_SLAB_FRAME_LINES] = true;
    }

    // Checks the page that should begin at this line. Returns the number of lines to the next page,
    // slab or run.
    std::uint32_t page(std::uint32_t line)
    {
        const std::uint32_t size_class = kma_slab_page_class(decoder_.word(line));
        if (!decoder_.is_page(line)) {
            findings_.add("pages", "line ", line, " has the word ", decoder_.word(line),
                          " of a page that is none");
            return 1;
        }
        const std::uint32_t frame = line / KMA_SLAB_FRAME_LINES;
        const bool is_listed = has(tree(KMA_SLAB_EMPTY_TREE), frame);
        std::uint32_t taken = 0;
        for (std::uint32_t i = 0; i < KMA_SLAB_FRAME_LINES; i++) {
            taken |= decoder_.word(line + i) & KMA_SLAB_OCCUPANCY;
            if ((decoder_.word(line + i) & KMA_SLAB_LISTED) != 0 && !is_listed)
                findings_.add("the tree of empty pages", "line ", line + i, " tells that frame ",
                              frame, " is in the tree of empty pages, and it is not");
            if (decoder_.is_page_word(line + i, size_class))
                free_slots(decoder_.page(line + i, size_class));
            else
                findings_.add("words of pages", "the word of line ", line + i, " is ",
                              decoder_.word(line + i), ", should be ",
                              kma_slab_page_word(size_class, i),
                              " and bits of slots that are taken");
        }
        if (taken == 0 && !is_listed)
            findings_.add("the tree of empty pages", "the page in frame ", frame, 
                          " has no block, and is not in the tree of empty pages");
        claim(line, KMA_SLAB_FRAME_LINES);
        return KMA_SLAB_FRAME_LINES;
    }

    std::uint32_t slab(std::uint32_t line)
    {
        const Slots slots = decoder_.slab(line);
        if (!decoder_.is_sound(slots)) {
            findings_.add("forms of slabs", "the slab at line ", line, " has ", slots.lines,
                          " lines and a word that no slab has");
            return 1;
        }
        claim(line, slots.lines);
        free_slots(slots);
        ways_back(line, slots);
        // an earlier page, slab or run must have left a dead word
        for (std::uint32_t i = 1; i < slots.lines; i++)
            if (decoder_.is_living(line + i))
                findings_.add("lines of two slabs", "line ", line + i, " is of the slab at line ",
                              line, ", and its word is that of another slab or page");
        return slots.lines;
    }

    // Checks that the words of later lines lead back to the slab's first line, as frees need.
    void ways_back(std::uint32_t line, const Slots &slots)
    {
        for (std::uint32_t left = slots.all; left != 0; left &= left - 1) {
            const std::uint32_t at = slots.unit[lowest(left)] >> KMA_SLAB_LINE_SHIFT;
            const std::uint32_t word = decoder_.word(at);
            if (at != line &&
                ((word & KMA_SLAB_FORM) != KMA_SLAB_REST || (word >> 20 & 255) != at - line))
                findings_.add("ways back", "the word of line ", at, " is ", word,
                              ", and should tell that its slab begins ", at - line,
                              " lines before");
        }
    }

    void used()
    {
        for (std::uint32_t frame = 0; frame < plan_.room; frame++) {
            const std::uint32_t right = frame < plan_.frames ? claimed_[frame] : KMA_SLAB_FULL;
            if (metadata_.used[frame] != right)
                findings_.add("used words", "the used word of frame ", frame, " is ",
                              metadata_.used[frame], ", should be ", right,
                              " by the slabs and pages that are there");
        }
    }

    // Checks the current lines: hints, which kernels follow without a bounds check.
    void current()
    {
        for (std::size_t i = 0; i < metadata_.current.size(); i++)
            if (const std::uint32_t line = metadata_.current[i];
                line != KMA_SLAB_NONE && line >= decoder_.lines())
                findings_.add("current lines", "the current line of size class ", i / plan_.shards,
                              " in shard ", i % plan_.shards, " is ", line, ", and the heap has ",
                              decoder_.lines(), " lines");
    }

    const std::uint32_t *tree(std::uint32_t number) const
    {
        return &metadata_.trees[std::size_t{number} * plan_.tree_words];
    }

    // What the frames in a tree have, for messages.
    static std::string tree_name(std::uint32_t number)
    {
        return number < KMA_SLAB_CLASSES     ? say("free slots of size class ", number)
               : number <= KMA_SLAB_WHOLE_TREE ? say(number - KMA_SLAB_CLASSES + 1, " free lines")
               : number < KMA_SLAB_EMPTY_TREE  ? say(number - KMA_SLAB_WHOLE_TREE, " whole frames")
                                               : "empty pages";
    }

    static bool has(const std::uint32_t *words, std::uint32_t bit)
    {
        return (words[bit >> KMA_BIT_TREE_SHIFT] >> (bit & (KMA_BIT_TREE_FANOUT - 1)) & 1u) != 0;
    }

    void listed_slots(std::uint32_t frame)
    {
        for (std::uint32_t size_class = 0; size_class < KMA_SLAB_CLASSES; size_class++)
            if (has_slot_[std::size_t{size_class} * plan_.frames + frame] &&
                !has(tree(size_class), frame))
                findings_.add("the trees of classes", "frame ", frame,
                              " has a free slot of size class ", size_class,
                              ", and is not in its tree");
    }

    void listed_lines(std::uint32_t frame)
    {
        const std::uint32_t run = longest_run(~metadata_.used[frame]);
        bool is_listed = run == 0;
        for (std::uint32_t lines = run; !is_listed && lines <= KMA_SLAB_FRAME_LINES; lines++)
            is_listed = has(tree(KMA_SLAB_RUN_TREE(lines)), frame);
        if (!is_listed)
            findings_.add("the trees of free lines", "frame ", frame, " has ", run,
                          " free lines side by side, and is in no tree that tells");
    }

    std::uint32_t groups() const
    {
        return (plan_.room + KMA_SLAB_GROUP_FRAMES - 1) / KMA_SLAB_GROUP_FRAMES;
    }

    // Checks the tree of whole frames for a group.
    void listed_frames(std::uint32_t group)
    {
        const std::uint32_t run = longest_run(tree(KMA_SLAB_WHOLE_TREE)[group]);
        bool is_listed = run == 0;
        for (std::uint32_t frames = run; !is_listed && frames <= KMA_SLAB_GROUP_FRAMES; frames++)
            is_listed = has(tree(KMA_SLAB_GROUP_TREE(frames)), group);
        if (!is_listed)
            findings_.add("the trees of whole frames", "group ", group, " has ", run,
                          " whole frames side by side, and is in no tree that tells");
    }

    static std::uint32_t longest_run(std::uint32_t bits)
    {
        std::uint32_t run = 0;
        for (; bits != 0; bits &= bits >> 1)
            run++;
        return run;
    }

    // Checks the words of a tree. Each word that is not 0 must have its bit set in the word above.
    // No bit may be set beyond the last frame or group, or beyond the last word of the level below:
    // it would lead kernels out of the heap.
    void words_of(std::uint32_t number)
    {
        const std::uint32_t *words = tree(number);
        const bool is_of_groups = number > KMA_SLAB_WHOLE_TREE && number < KMA_SLAB_EMPTY_TREE;
        for (std::uint32_t group = groups(); is_of_groups && group < plan_.room; group++)
            if (has(words, group))
                findings_.add("bits beyond the trees", "the tree of ", tree_name(number),
                              " has group ", group, " of ", groups());
        std::uint32_t bits = plan_.room; // bits of this level
        for (std::uint32_t level = 0;; level++) {
            const std::uint32_t nodes = kma_bit_tree_nodes(plan_.room, level);
            const std::uint32_t in_last = bits - (nodes - 1) * KMA_BIT_TREE_FANOUT;
            if (in_last < KMA_BIT_TREE_FANOUT && words[nodes - 1] >> in_last != 0)
                findings_.add("bits beyond the trees", "word ", nodes - 1, " of level ", level,
                              " of the tree of ", tree_name(number), " has bits beyond its ",
                              in_last);
            if (nodes == 1)
                return;
            for (std::uint32_t node = 0; node < nodes; node++)
                if (words[node] != 0 && !has(words + nodes, node))
                    findings_.add("words of the trees", "word ", node, " of level ", level,
                                  " of the tree of ", tree_name(number),
                                  " is not empty, and the word above it does not tell");
            words += nodes;
            bits = nodes;
        }
    }

    const kma_slab_plan &plan_;
    const SlabMetadata &metadata_;
    Findings &findings_;
    Decoder decoder_;
    std::vector<std::uint32_t> claimed_; // lines of slabs and pages, the expected values of `used`
    std::vector<bool> has_slot_;         // for each class and frame
};

} // namespace

void for_each_slab_block(const kma_slab_plan &plan, const SlabMetadata &metadata,
                         const std::function<void(std::uint32_t unit, std::uint32_t units)> &visit)
{
    const Decoder decoder(plan, metadata);
    for (std::uint32_t line = 0; line < decoder.lines();) {
        if (decoder.is_page(line)) {
            const std::uint32_t size_class = kma_slab_page_class(decoder.word(line));
            const std::uint32_t units = kma_slab_units(size_class),
                                shift = kma_slab_page_shift(units);
            for (std::uint32_t slot = 0; (slot + 1) * units <= KMA_SLAB_FRAME_UNITS; slot++) {
                const std::uint32_t at = line + slot % (1u << shift);
                if (decoder.is_page_word(at, size_class) &&
                    (decoder.word(at) >> (slot >> shift) & 1u) != 0)
                    visit(line * KMA_SLAB_LINE_UNITS + slot * units, units);
            }
            line += KMA_SLAB_FRAME_LINES;
            continue;
        }
        const Slots slots =
            decoder.is_slab(line) || decoder.is_run(line) ? decoder.slab(line) : Slots{};
        const bool is_sound = slots.lines != 0 && decoder.is_sound(slots);
        for (std::uint32_t left = is_sound ? slots.taken : 0; left != 0; left &= left - 1)
            visit(slots.unit[lowest(left)], slots.units[lowest(left)]);
        line += is_sound ? slots.lines : 1;
    }
}

void check_slab(const kma_slab_plan &plan, const SlabMetadata &metadata, Findings &findings)
{
    SlabChecker(plan, metadata, findings).run();
}

} // namespace kma
