// Includes replaced by texts: how user and kma sources become one translation unit.
#include "kma/source.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "kma/error.hpp"
#include "name_lines.hpp"

namespace kma {
namespace {

// More nested includes than any sane program has: an include that includes itself outside its guard's reach.
constexpr int max_depth = 64;

// Whether a block comment is open at the end of `line`, given whether one is at its start.
bool in_comment_after(std::string_view line, bool in_comment)
{
    char quote = 0; // the one that ends the literal we are in
    for (std::size_t i = 0; i < line.size(); i++) {
        const std::string_view two = line.substr(i, 2);
        if (in_comment) {
            if (two == "*/") {
                in_comment = false;
                i++;
            }
        } else if (quote != 0) {
            if (line[i] == '\\')
                i++;
            else if (line[i] == quote)
                quote = 0;
        } else if (two == "//") {
            break;
        } else if (two == "/*") {
            in_comment = true;
            i++;
        } else if (line[i] == '"' || line[i] == '\'') {
            quote = line[i];
        }
    }
    return in_comment;
}

// NAME of a line `#include "NAME"` or `#include <kma/…>`.
std::optional<std::string> included_name(std::string_view line)
{
    const auto skip_blanks = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
    const auto skip = [&](std::string_view word) {
        if (!line.starts_with(word))
            return false;
        line.remove_prefix(word.size());
        return true;
    };
    skip_blanks();
    if (!skip("#"))
        return {};
    skip_blanks();
    if (!skip("include"))
        return {};
    skip_blanks();
    const bool angled = line.starts_with("<kma/"); // others in angle brackets are the compiler's
    if (angled ? !skip("<") : !skip("\""))
        return {};
    const std::size_t end = line.find(angled ? '>' : '"');
    if (end == std::string_view::npos)
        return {};
    return std::string(line.substr(0, end));
}

const Source *find(const std::vector<Source> &in, const std::string &name)
{
    for (const Source &source : in)
        if (source.name == name)
            return &source;
    return nullptr;
}

// How a line changes the nesting of #if … #endif.
int nesting(std::string_view line)
{
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with('#'))
        return 0;
    line.remove_prefix(1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return line.starts_with("if") ? 1 : line.starts_with("endif") ? -1 : 0;
}

// Whether an include guard is around all of a file: its first directive is #ifndef, and the #endif of that its last.
bool has_guard(const std::string &text)
{
    bool in_comment = false;
    bool first = true;
    bool closed = false;
    int depth = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = std::string_view(text).substr(at, end - at);
        at = end + 1;
        const bool was_in_comment = std::exchange(in_comment, in_comment_after(line, in_comment));
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        if (was_in_comment || !line.starts_with('#'))
            continue;
        if (closed || (first && !line.starts_with("#ifndef")))
            return false;
        first = false;
        depth += nesting(line);
        closed = depth == 0;
    }
    return closed;
}

class Expander {
public:
    explicit Expander(const std::vector<Source> &headers) : headers_(headers) {}

    // `always`: the compiler will see this text whatever its macros are.
    void add(const Source &source, bool always, int depth)
    {
        if (depth > max_depth)
            throw Error("\"" + source.name +
                        "\" includes itself without end: give it an include guard (#ifndef as its "
                        "first directive)");
        const bool guarded = has_guard(source.text);
        open_.push_back(&source);
        begin(source.name, 1);
        bool in_comment = false;
        int number = 0;
        int conditions = guarded ? -1 : 0; // the guard itself is none
        for (std::size_t at = 0; at < source.text.size();) {
            const std::size_t end = std::min(source.text.find('\n', at), source.text.size());
            const std::string_view line = std::string_view(source.text).substr(at, end - at);
            at = end + 1;
            number++;
            const Source *included = in_comment ? nullptr : resolve(line, source.name, number);
            if (included) {
                include(*included, always && conditions == 0, depth);
                begin(source.name, number + 1);
            } else {
                if (!in_comment)
                    conditions += nesting(line);
                text_.append(line);
                text_ += '\n';
            }
            in_comment = in_comment_after(line, in_comment);
        }
        open_.pop_back();
    }

    std::string take() { return std::move(text_); }

private:
    // A second copy of a file with a guard says nothing, if the compiler saw the first, or is in the middle of it.
    void include(const Source &source, bool always, int depth)
    {
        if (has_guard(source.text)) {
            if (seen_.contains(&source) || std::ranges::find(open_, &source) != open_.end())
                return;
            if (always)
                seen_.insert(&source);
        }
        add(source, always, depth + 1);
    }

    void begin(const std::string &name, int line)
    {
        std::string quoted;
        for (const char c : name) {
            if (c == '"' || c == '\\')
                quoted += '\\';
            quoted += c;
        }
        text_ += "#line " + std::to_string(line) + " \"" + quoted + "\"\n";
    }

    const Source *resolve(std::string_view line, const std::string &from, int number) const
    {
        const auto name = included_name(line);
        if (!name)
            return nullptr;
        if (const Source *header = find(headers_, *name))
            return header;
        const Source *ours = find(sources(), *name);
        if (!ours && name->starts_with("kma/"))
            throw Error(from + ":" + std::to_string(number) + ": kma has no file \"" + *name +
                        "\"; \"kma/kma.cl\" has all that a heap's user needs");
        return ours;
    }

    const std::vector<Source> &headers_;
    std::set<const Source *> seen_;
    std::vector<const Source *> open_; // the files we are inside of
    std::string text_;
};

// "NAME:LINE" of line `number` (from 1) of an expanded text, by the #line directives before it.
std::string origin(const std::string &text, std::size_t number)
{
    std::istringstream lines(text);
    std::string name = "<text>";
    std::size_t line_there = 0;
    std::string line;
    for (std::size_t i = 1; i <= number && std::getline(lines, line); i++) {
        line_there++;
        if (line.starts_with("#line ")) {
            const std::size_t quote = line.find('"');
            line_there = std::stoul(line.substr(sizeof("#line ") - 1)) - 1;
            name = line.substr(quote + 1, line.size() - quote - 2);
        }
    }
    return name + ":" + std::to_string(line_there);
}

} // namespace

Source Source::from_file(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    std::string text;
    char chunk[1 << 14];
    while (file.read(chunk, sizeof chunk), file.gcount() > 0)
        text.append(chunk, static_cast<std::size_t>(file.gcount()));
    if (!file.is_open() || file.bad()) // bad: a folder, say
        throw Error("cannot read the OpenCL source " + path.string() +
                    ": is there such a file, and may this program read it?");
    return {path.string(), text};
}

std::string expand(const std::vector<Source> &units, const std::vector<Source> &headers)
{
    Expander expander(headers);
    for (const Source &unit : units)
        expander.add(unit, true, 0);
    return expander.take();
}

std::string name_lines(const std::string &log, const std::string &text)
{
    // The compilers that ignore #line call the text by these names: NVIDIA's, Oclgrind's.
    static const std::regex raw("(<kernel>|<stdin>|input\\.cl):([0-9]+)");
    std::string named;
    auto rest = log.cbegin();
    for (std::sregex_iterator match(log.begin(), log.end(), raw), end; match != end; ++match) {
        named.append(rest, log.begin() + match->position());
        named += origin(text, std::stoul(match->str(2)));
        rest = log.begin() + match->position() + match->length();
    }
    return named.append(rest, log.cend());
}

} // namespace kma
