// Compiles in two steps. 1. An expression becomes nodes with empty moves between them, by
// Thompson's construction: at most two nodes per operator. 2. Nodes that wait for a character
// become states; the states that their empty moves lead to become their followers.
#include "regex.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "common/text_file.hpp"
#include "kma/error.hpp"

namespace automaton {
namespace {

struct Node {
    std::optional<Characters> characters; // none: only empty moves
    std::vector<std::size_t> moves;       // targets: empty moves, or moves after the character
    bool accepts = false;
};

// Part of an expression, from one node to another.
struct Part {
    std::size_t begin, end;
};

class Parser {
public:
    Parser(std::string_view text, std::vector<Node> &nodes) : text_(text), nodes_(nodes) {}

    Part parse()
    {
        // std::regex, which verifies the matches, recurses for each character
        constexpr std::size_t longest = 4096;
        if (text_.size() > longest)
            fail("it has more than 4096");
        const Part whole = alternatives(0);
        if (!is_at_end())
            fail("this ) has no ( before it");
        return whole;
    }

private:
    bool is_at_end() const { return at_ == text_.size(); }
    bool is_next(char c) const { return !is_at_end() && text_[at_] == c; }
    bool is_next_one_of(std::string_view set) const
    {
        return !is_at_end() && set.find(text_[at_]) != set.npos;
    }

    [[noreturn]] void fail(const std::string &why) const
    {
        throw kma::Error("regular expression " + samples::quoted(text_) + ", character " +
                         std::to_string(at_ + 1) + ": " + why);
    }

    std::size_t node(std::optional<Characters> characters = std::nullopt)
    {
        nodes_.push_back({characters, {}, false});
        return nodes_.size() - 1;
    }

    void move(std::size_t from, std::size_t to) { nodes_[from].moves.push_back(to); }

    Part alternatives(unsigned depth)
    {
        constexpr unsigned deepest = 200;
        if (depth > deepest)
            fail("more than 200 parentheses in each other");
        Part all = sequence(depth);
        while (is_next('|')) {
            at_++;
            const Part other = sequence(depth), both = {node(), node()};
            for (const Part &one : {all, other}) {
                move(both.begin, one.begin);
                move(one.end, both.end);
            }
            all = both;
        }
        return all;
    }

    Part sequence(unsigned depth)
    {
        const std::size_t begin = node();
        Part all = {begin, begin};
        while (!is_at_end() && !is_next_one_of("|)")) {
            const Part next = repeated(depth);
            move(all.end, next.begin);
            all.end = next.end;
        }
        return all;
    }

    Part repeated(unsigned depth)
    {
        const Part once = atom(depth);
        if (!is_next_one_of("*+?"))
            return once;
        const char how = text_[at_++];
        const Part all = {node(), node()};
        move(all.begin, once.begin);
        move(once.end, all.end);
        if (how != '?')
            move(once.end, once.begin);
        if (how != '+')
            move(all.begin, all.end);
        return all;
    }

    Part atom(unsigned depth)
    {
        if (is_next('(')) {
            at_++;
            const Part inner = alternatives(depth + 1);
            if (!is_next(')'))
                fail("a ) is missing");
            at_++;
            return inner;
        }
        const Part one = {node(characters()), node()};
        move(one.begin, one.end);
        return one;
    }

    Characters characters()
    {
        if (is_next('['))
            return set();
        if (is_next('.')) {
            at_++;
            return ~(of('\r') | of('\n'));
        }
        if (is_next_one_of("*+?"))
            fail("there is nothing to repeat");
        if (is_next_one_of("]{}^$"))
            fail("this has no meaning here; write \\ before the character");
        return of(character());
    }

    static Characters of(char c) { return Characters().set(static_cast<unsigned char>(c)); }

    // Takes one character, which may follow a backslash.
    char character()
    {
        const bool is_escaped = is_next('\\');
        at_ += is_escaped ? 1 : 0;
        if (is_at_end())
            fail("the expression ends too early");
        const auto c = static_cast<unsigned char>(text_[at_]);
        if (c < 0x20 || c > 0x7e)
            fail("not a printable character of ASCII");
        if (is_escaped && std::isalnum(c))
            fail("behind \\ there are only characters that are neither letters nor digits");
        at_++;
        return static_cast<char>(c);
    }

    Characters set()
    {
        at_++;
        const bool others = is_next('^');
        at_ += others ? 1 : 0;
        if (is_next(']'))
            fail("an empty set of characters");
        Characters all = range(true);
        while (!is_next(']'))
            all |= range(false);
        at_++;
        return others ? ~all : all;
    }

    // Takes one character of a set, or a range of them.
    Characters range(bool is_first)
    {
        if (is_next('['))
            fail("[ in a set of characters is written \\[");
        const bool is_dash = is_next('-');
        if (is_dash && !is_first && text_.substr(at_, 2) != "-]")
            fail("- stands first or last in a set, or is written \\-");
        const char first = character();
        if (is_dash || !is_next('-') || text_.substr(at_, 2) == "-]")
            return of(first);
        at_++;
        if (is_next_one_of("[-"))
            fail("a range of characters has no such end; write \\ before it");
        const char last = character();
        if (last < first)
            fail("the range of characters ends before it begins");
        Characters all;
        for (int c = first; c <= last; c++)
            all.set(static_cast<std::size_t>(c));
        return all;
    }

    std::string_view text_;
    std::vector<Node> &nodes_;
    std::size_t at_ = 0;
};

// Returns the states that empty moves from `begin` lead to, ascending. `states` maps each node to
// its state, 0 if it is none.
std::vector<std::uint32_t> reached(const std::vector<Node> &nodes,
                                   const std::vector<std::uint32_t> &states,
                                   const std::vector<std::size_t> &begin)
{
    std::vector<bool> seen(nodes.size());
    std::vector<std::size_t> todo = begin;
    std::vector<std::uint32_t> found;
    while (!todo.empty()) {
        const std::size_t at = todo.back();
        todo.pop_back();
        if (seen[at])
            continue;
        seen[at] = true;
        if (states[at] != 0)
            found.push_back(states[at]);
        else
            todo.insert(todo.end(), nodes[at].moves.begin(), nodes[at].moves.end());
    }
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace

Automaton compile(const std::vector<std::string> &expressions)
{
    std::vector<Node> nodes;
    std::vector<std::size_t> begins, ends;
    for (const std::string &expression : expressions) {
        const Part whole = Parser(expression, nodes).parse();
        nodes.push_back({std::nullopt, {}, true});
        nodes[whole.end].moves.push_back(nodes.size() - 1);
        begins.push_back(whole.begin);
        ends.push_back(nodes.size() - 1);
    }

    std::vector<std::uint32_t> states(nodes.size());
    std::uint32_t count = 1; // 0 is the start
    for (std::size_t i = 0; i < nodes.size(); i++)
        if (nodes[i].characters || nodes[i].accepts)
            states[i] = count++;
    Automaton automaton;
    automaton.states.resize(count);
    automaton.states[0].followers = reached(nodes, states, begins);
    for (std::size_t i = 0; i < nodes.size(); i++)
        if (states[i] != 0)
            automaton.states[states[i]] = {nodes[i].characters.value_or(Characters()),
                                           reached(nodes, states, nodes[i].moves),
                                           nodes[i].accepts};
    for (const std::size_t end : ends)
        automaton.accepting.push_back(states[end]);
    return automaton;
}

Trace simulate(const Automaton &automaton, std::string_view input)
{
    Trace trace;
    std::vector<std::uint32_t> now = automaton.states[0].followers;
    for (std::size_t read = 0;; read++) {
        const bool is_at_end = read == input.size();
        std::erase_if(
            now, [&](std::uint32_t state) { return automaton.states[state].accepts != is_at_end; });
        if (is_at_end || now.empty())
            break;
        trace.items.push_back(static_cast<std::uint32_t>(now.size()));
        std::vector<bool> next(automaton.states.size());
        for (const std::uint32_t state : now)
            if (automaton.states[state].characters[static_cast<unsigned char>(input[read])])
                for (const std::uint32_t follower : automaton.states[state].followers)
                    next[follower] = true;
        now.clear();
        for (std::uint32_t state = 0; state < next.size(); state++)
            if (next[state])
                now.push_back(state);
    }
    for (const std::uint32_t state : automaton.accepting)
        trace.matches.push_back(std::binary_search(now.begin(), now.end(), state));
    return trace;
}

} // namespace automaton
