// Heap::check() of the slab heap's slabs, lines, heads, chunks and trees. What the invariants are for stands in
// cl/kma/heap/slab_lines.cl, slab_holes.cl and slab_heads.cl.
#include "slab_check.hpp"

#include <string>

namespace kma {

using namespace layout;

kma_sl_form SlabBooks::form(std::uint32_t line) const
{
    const auto word = [&](std::size_t at) { return at < words.size() ? words[at] : 0; };
    const bool has_header = (mark(line) & KMA_SL_MARK_FORM) == KMA_SL_MARK_HEADER;
    kma_sl_form form = kma_sl_form_with(mark(line), has_header ? word(std::size_t{line} + 1) : 0);
    for (std::uint32_t p = 0; p < KMA_SL_PLANES; p++)
        form.planes[p] = p < form.count ? word(std::size_t{line} + (has_header ? 2 : 1) + p) & ~KMA_SL_DATA : 0;
    return kma_sl_form_whole(form);
}

std::vector<std::uint32_t> SlabBooks::heads_own() const
{
    std::vector<std::uint32_t> slots(words.size());
    for (const std::uint32_t head : heads)
        if (kma_sl_head_has_slab(head) && kma_sl_head_line(head) < slots.size())
            slots[kma_sl_head_line(head)] |= kma_sl_head_own(head);
    return slots;
}

namespace {

bool begins(const SlabBooks &books, std::uint32_t line)
{
    return (books.mark(line) & KMA_SL_MARK_FORM) != 0;
}

// How many words behind a slab's first are its header and planes.
std::uint32_t data_words(const kma_sl_form &form)
{
    const bool has_header = (form.mark & KMA_SL_MARK_FORM) == KMA_SL_MARK_HEADER;
    return has_header ? 1 + form.count : form.count;
}

// Whether the form is one that a slab at that line can have: its data and its slots are within its lines.
bool is_sound(const kma_sl_plan &plan, const kma_sl_form &form, std::uint32_t line)
{
    const std::uint32_t lines = plan.chunks << KMA_SL_LINE_SHIFT;
    if (form.lines > lines - line || data_words(form) >= form.lines || form.slots == 0)
        return false;
    if (form.units != 0)
        return true; // there are as many lines as its slots need
    const bool has_last = (form.slots & KMA_SL_DATA) != 0;
    return kma_sl_offset(&form, KMA_SL_SLOTS - 1) + (has_last ? 1 : 0) <= form.lines * KMA_SL_LINE;
}

class SlabChecker {
public:
    SlabChecker(const kma_sl_plan &plan, const SlabBooks &books, Findings &findings)
        : plan_(plan), books_(books), findings_(findings), own_(books.heads_own()), claimed_(books.used.size()),
          holes_(std::size_t{KMA_SL_CLASSES} * books.used.size())
    {
    }

    void run()
    {
        const std::uint32_t lines = plan_.chunks << KMA_SL_LINE_SHIFT;
        for (std::uint32_t line = 0; line < lines;)
            line += begins(books_, line) ? slab(line) : nothing(line);
        for (std::uint32_t line = lines; line < plan_.room << KMA_SL_LINE_SHIFT; line++)
            if (books_.mark(line) != 0)
                findings_.add("marks of lines to come", "the mark of line ", line, ", which is still to come, is ",
                              books_.mark(line), ", should be 0");
        used();
        heads();
        rooms();
        for (std::uint32_t size_class = 0; size_class < KMA_SL_CLASSES; size_class++)
            chunks_with_holes(size_class);
        for (std::size_t chunk = 0; chunk < books_.pins.size(); chunk++)
            if (books_.pins[chunk] != 0)
                findings_.add("pins", "chunk ", chunk, " is pinned ", books_.pins[chunk],
                              " times, and nobody is there");
        if (books_.seekers != 0)
            findings_.add("seekers", books_.seekers, " work-items go through the heap, and nobody is there");
    }

private:
    std::uint32_t nothing(std::uint32_t line)
    {
        if (books_.mark(line) != 0)
            findings_.add("marks", "the mark of line ", line, " is ", books_.mark(line), ", and no slab begins there");
        return 1;
    }

    // The slab that begins at a line; returns how many lines on the next may begin.
    std::uint32_t slab(std::uint32_t line)
    {
        const kma_sl_form form = books_.form(line);
        if (!is_sound(plan_, form, line)) {
            findings_.add("forms of slabs", "the slab at line ", line, " has ", form.lines,
                          " lines and a header that no slab has");
            return 1;
        }
        const std::uint32_t owners = books_.words[line];
        if ((books_.mark(line) & KMA_SL_MARK_CLOSED) != 0)
            findings_.add("closed slabs", "the slab at line ", line, " is closed, and nobody has buried it");
        if (owners == 0)
            findings_.add("empty slabs", "the slab at line ", line, " has no owners");
        if ((owners & ~form.slots) != 0)
            findings_.add("owners of slabs", "the slab at line ", line, " has owners of slots that it has not");
        data(line, form);
        for (std::uint32_t i = 1; i < form.lines; i++)
            if (books_.mark(line + i) != 0)
                findings_.add("marks inside slabs", "the mark of line ", line + i, " is ", books_.mark(line + i),
                              ", and the slab at line ", line, " has ", form.lines, " lines");
        for (std::uint32_t i = 0; i < form.lines; i++)
            claimed_[(line + i) / KMA_SL_LINE] |= 1u << (line + i) % KMA_SL_LINE;
        if (own_[line] == 0)
            holes(line, form, form.slots & ~owners);
        return form.lines;
    }

    void data(std::uint32_t line, const kma_sl_form &form)
    {
        for (std::uint32_t i = 1; i <= data_words(form); i++)
            if ((books_.words[line + i] & KMA_SL_DATA) == 0)
                findings_.add("data of slabs", "the word of line ", line + i, " is ", books_.words[line + i],
                              ", and should have bit 31 set: it is of the slab at line ", line);
        if (form.slots == 1u)
            return; // a run, which is found by its start only
        for (std::uint32_t at = kma_sl_first_back(line); at < line + form.lines; at += KMA_SL_MARKS)
            if (books_.words[at] != (KMA_SL_DATA | (at - line)))
                findings_.add("ways back", "the word of line ", at, " is ", books_.words[at], ", should be ",
                              KMA_SL_DATA | (at - line), ": the slab begins ", at - line, " lines before");
    }

    void holes(std::uint32_t line, const kma_sl_form &form, std::uint32_t slots)
    {
        if (slots != 0 && (books_.mark(line) & KMA_SL_MARK_HOLEY) == 0)
            findings_.add("holes", "the slab at line ", line, " has free slots, and is not marked so");
        for (; slots != 0; slots &= slots - 1) {
            const std::uint32_t slot = kma_highest_bit(slots & (0u - slots));
            const std::uint32_t size_class = kma_sl_class_within(kma_sl_room(&form, slot));
            holes_[size_class * books_.used.size() + line / KMA_SL_LINE] = true;
        }
    }

    void used()
    {
        for (std::uint32_t chunk = 0; chunk < plan_.room; chunk++) {
            const std::uint32_t right = chunk < plan_.chunks ? claimed_[chunk] : 0xffffffffu;
            if (books_.used[chunk] != right)
                findings_.add("words of lines", "the word of chunk ", chunk, "'s lines is ", books_.used[chunk],
                              ", should be ", right, " by the slabs that are there");
        }
    }

    void heads()
    {
        std::vector<std::uint32_t> seen(books_.words.size()); // slots that heads own
        std::array<std::uint32_t, KMA_SL_CLASSES> count{};
        for (std::size_t i = 0; i < books_.heads.size(); i++) {
            const std::uint32_t head = books_.heads[i];
            const std::uint32_t size_class = kma_sl_head_class(plan_.places, static_cast<std::uint32_t>(i));
            if (head == KMA_SL_HEAD_BUSY)
                findings_.add("heads", "the head of size class ", size_class,
                              " is being given a slab, and nobody is there");
            if (!kma_sl_head_has_slab(head))
                continue;
            count[size_class]++;
            const std::uint32_t line = kma_sl_head_line(head), own = kma_sl_head_own(head);
            if (line >= plan_.chunks << KMA_SL_LINE_SHIFT || !begins(books_, line)) {
                findings_.add("heads", "the head of size class ", size_class, " says line ", line,
                              ", and no slab begins there");
                continue;
            }
            head_of(size_class, line, own);
            if ((seen[line] & own) != 0)
                findings_.add("slots of two heads", "a slot of the slab at line ", line, " is two heads'");
            seen[line] |= own;
        }
        for (std::uint32_t size_class = 0; size_class < KMA_SL_CLASSES; size_class++)
            if (books_.headed[size_class] != count[size_class])
                findings_.add("number of slabs at heads", "the heap counts ", books_.headed[size_class],
                              " heads of size class ", size_class, " with a slab, and there are ", count[size_class]);
    }

    void head_of(std::uint32_t size_class, std::uint32_t line, std::uint32_t own)
    {
        // How many slots it has is not the head's to say: a slab that a group of lanes left has as many as they were. But one
        // of them is the head's.
        const kma_sl_form form = books_.form(line);
        if (form.units != kma_sl_units(size_class) || (form.slots & own) == 0)
            findings_.add("heads", "the head of size class ", size_class, " has the slab at line ", line,
                          ", which is of another size");
        else if ((books_.words[line] & own) == 0)
            findings_.add("heads", "the head of size class ", size_class, " has the slab at line ", line,
                          ", and not its own slot of it");
    }

    const std::uint32_t *tree(std::uint32_t size_class) const
    {
        return &books_.trees[std::size_t{size_class} * plan_.tree_words];
    }

    static bool has(const std::uint32_t *words, std::uint32_t bit)
    {
        return (words[bit >> KMA_BIT_TREE_SHIFT] >> (bit & (KMA_BIT_TREE_FANOUT - 1)) & 1u) != 0;
    }

    // Those beyond the last chunk are nobody's to set: kernels never look there.
    void rooms()
    {
        for (std::uint32_t chunk = 0; chunk < 32 * books_.rooms.size(); chunk++) {
            const bool may_have = has(books_.rooms.data(), chunk);
            if (chunk >= plan_.chunks && may_have)
                findings_.add("chunks with room", "chunk ", chunk, " is none, and is said to have a free line");
            if (chunk < plan_.chunks && !may_have && books_.used[chunk] != 0xffffffff)
                findings_.add("chunks with room", "chunk ", chunk, " has a free line, and is said to have none");
        }
    }

    void chunks_with_holes(std::uint32_t size_class)
    {
        for (std::uint32_t chunk = 0; chunk < plan_.chunks; chunk++)
            if (holes_[size_class * books_.used.size() + chunk] && !has(tree(size_class), chunk))
                findings_.add("the trees of holes", "chunk ", chunk, " has a hole of size class ", size_class,
                              ", and is not in its tree");
        words_of(size_class, "holes of size class " + std::to_string(size_class));
    }

    // The bit of each word that is not empty must be set in the word above; and no bit beyond the last chunk, or the
    // last word of the level below, which would lead kernels out of the heap.
    void words_of(std::uint32_t size_class, const std::string &whose)
    {
        const std::uint32_t *words = tree(size_class);
        std::uint32_t bits = plan_.room; // in this level
        for (std::uint32_t level = 0;; level++) {
            const std::uint32_t nodes = kma_bit_tree_nodes(plan_.room, level);
            const std::uint32_t in_last = bits - (nodes - 1) * KMA_BIT_TREE_FANOUT;
            if (in_last < KMA_BIT_TREE_FANOUT && words[nodes - 1] >> in_last != 0)
                findings_.add("bits beyond the trees", "word ", nodes - 1, " of level ", level, " of the tree of ",
                              whose, " has bits beyond its ", in_last);
            if (nodes == 1)
                return;
            for (std::uint32_t node = 0; node < nodes; node++)
                if (words[node] != 0 && !has(words + nodes, node))
                    findings_.add("words of the trees over the chunks", "word ", node, " of level ", level,
                                  " of the tree of ", whose, " is not empty, and the word above it does not tell");
            words += nodes;
            bits = nodes;
        }
    }

    const kma_sl_plan &plan_;
    const SlabBooks &books_;
    Findings &findings_;
    std::vector<std::uint32_t> own_;     // slots that heads own, of lines
    std::vector<std::uint32_t> claimed_; // lines of slabs, as `used` should have them
    std::vector<bool> holes_;            // of each class, one for each chunk
};

} // namespace

void for_each_slab_block(const kma_sl_plan &plan, const SlabBooks &books,
                         const std::function<void(std::uint32_t line, std::uint32_t unit, std::uint32_t units)> &visit)
{
    const std::uint32_t lines = plan.chunks << KMA_SL_LINE_SHIFT;
    const std::vector<std::uint32_t> own = books.heads_own();
    for (std::uint32_t line = 0; line < lines;) {
        const kma_sl_form form = books.form(line);
        if (!begins(books, line) || !is_sound(plan, form, line)) {
            line++;
            continue;
        }
        for (std::uint32_t left = books.words[line] & form.slots & ~own[line]; left != 0; left &= left - 1) {
            const std::uint32_t slot = kma_highest_bit(left & (0u - left));
            visit(line, line * KMA_SL_LINE + kma_sl_offset(&form, slot), kma_sl_room(&form, slot));
        }
        line += form.lines;
    }
}

void check_slab(const kma_sl_plan &plan, const SlabBooks &books, Findings &findings)
{
    SlabChecker(plan, books, findings).run();
}

} // namespace kma
