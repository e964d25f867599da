// Expands includes: turns user and kma sources into one translation unit.
#include "kma/source.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "kma/error.hpp"
#include "device/name_lines.hpp"
#include "support/say.hpp"

namespace kma {
namespace {

// The depth of includes at which a file is taken to include itself without end.
constexpr int max_depth = 64;

// Whether a block comment is open after `line`, given whether one is open before it.
bool in_comment_after(std::string_view line, bool in_comment)
{
    char quote = 0; // the quote that ends the current literal; 0 outside of literals
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

void skip_blanks(std::string_view &line)
{
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
}

// The text after `# NAME` in a line with this directive.
std::optional<std::string_view> after_directive(std::string_view line, std::string_view name)
{
    for (const std::string_view word : {std::string_view("#"), name}) {
        skip_blanks(line);
        if (!line.starts_with(word))
            return {};
        line.remove_prefix(word.size());
    }
    skip_blanks(line);
    return line;
}

// NAME of a line `#include "NAME"` or `#include <kma/…>`.
std::optional<std::string> included_name(std::string_view text)
{
    const auto rest = after_directive(text, "include");
    if (!rest)
        return {};
    std::string_view line = *rest;
    // other names in angle brackets are left to the compiler
    const bool angled = line.starts_with("<kma/");
    if (!line.starts_with(angled ? '<' : '"'))
        return {};
    line.remove_prefix(1);
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

bool is_of_a_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The macro defined at the start of a text; empty for a function-like macro, which does not change
// variables.
std::string_view macro_at_start(std::string_view text)
{
    const auto size =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_of_a_name) - text.begin());
    return text.substr(size).starts_with('(') ? std::string_view() : text.substr(0, size);
}

// The text after each -D of the compiler options.
std::vector<std::string_view> definitions(std::string_view options)
{
    std::vector<std::string_view> found;
    for (std::size_t at = 0; (at = options.find("-D", at)) != std::string_view::npos; at += 2) {
        std::string_view rest = options.substr(at + 2);
        skip_blanks(rest);
        if (at == 0 || options[at - 1] == ' ' || options[at - 1] == '\t')
            found.push_back(rest);
    }
    return found;
}

// The kind of heap that this file implements.
std::optional<HeapKind> kind_of(const Source &source)
{
    for (const HeapKind kind : heap_kinds)
        if (source.name == std::string("kma/heap/") + name_of(kind) + ".cl")
            return kind;
    return {};
}

// The kinds that KMA_HEAP may name where kma/kma.cl is included. Conditions are not evaluated:
// several kinds are possible if one decides.
class HeapChoice {
public:
    // Notes a definition, the text after #define or -D. `always`: it is not under a condition.
    void define(std::string_view definition, bool always)
    {
        constexpr std::string_view name = "KMA_HEAP";
        if (macro_at_start(definition) != name)
            return;
        definition.remove_prefix(std::min(name.size() + 1, definition.size())); // a blank, or =
        skip_blanks(definition);
        const std::string_view value = macro_at_start(definition);
        const auto kind =
            std::ranges::find(heap_kinds, value, [](HeapKind each) { return name_of(each); });
        if (kind == std::end(heap_kinds))
            return add_all();
        if (always)
            kinds_.clear();
        kinds_.insert(*kind);
    }

    void add_all() { kinds_.insert(std::begin(heap_kinds), std::end(heap_kinds)); }

    bool may_be(HeapKind kind) const { return kinds_.contains(kind); }
    bool is_certain() const { return kinds_.size() == 1; }

private:
    std::set<HeapKind> kinds_{default_heap_kind};
};

// Whether kma's `text` uses `name`, without capitals, as a name of its own: not as an OpenCL
// function that it calls, nor as a macro that it defines for the user's text.
bool has_own_name(std::string_view text, std::string_view name)
{
    constexpr std::string_view define = "#define ";
    if (name.empty() || name.starts_with("kma_") || name.starts_with("cl_") ||
        std::ranges::any_of(name, [](char c) { return c >= 'A' && c <= 'Z'; }))
        return false;
    bool has = false;
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos;
         at += name.size()) {
        // npos + 1 is 0
        const std::string_view line = text.substr(0, at).substr(text.rfind('\n', at) + 1);
        const std::string_view behind = text.substr(at + name.size());
        if ((!line.empty() && is_of_a_name(line.back())) ||
            (!behind.empty() && is_of_a_name(behind.front())) || line.ends_with(define) ||
            line.find("//") != std::string_view::npos)
            continue;
        if (behind.starts_with('('))
            return false;
        has = true;
    }
    return has;
}

// The text without a UTF-8 byte order mark, which OpenCL compilers accept only at the very start.
std::string_view without_mark(std::string_view text)
{
    constexpr std::string_view mark = "\xef\xbb\xbf";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

// By how much a line changes the nesting depth of #if … #endif.
int nesting(std::string_view line)
{
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with('#'))
        return 0;
    line.remove_prefix(1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return line.starts_with("if") ? 1 : line.starts_with("endif") ? -1 : 0;
}

// Whether an include guard encloses a file: its first directive is #ifndef, and the matching #endif
// is its last.
bool has_guard(std::string_view text)
{
    bool in_comment = false;
    bool first = true;
    bool closed = false;
    int depth = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
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
    Expander(const std::vector<Source> &headers, std::string_view options) : headers_(headers)
    {
        for (const std::string_view definition : definitions(options))
            define(definition, true);
    }

    // Appends a source, expanded. `always`: it is not under a condition.
    void add(const Source &source, bool always, int depth)
    {
        if (is_in_kma_ || !source.name.starts_with("kma/"))
            return write(source, always, depth);
        const std::size_t begin = text_.size();
        is_in_kma_ = true;
        write(source, always, depth);
        is_in_kma_ = false;
        hide_macros(begin);
    }

    std::string take() { return std::move(text_); }

private:
    void write(const Source &source, bool always, int depth)
    {
        if (depth > max_depth)
            throw Error("\"" + source.name +
                        "\" includes itself without end: give it an include guard (#ifndef as its "
                        "first directive)");
        const std::string_view text = without_mark(source.text);
        const bool guarded = has_guard(text);
        open_.push_back(&source);
        begin(source.name, 1);
        bool in_comment = false;
        int number = 0;
        int conditions = guarded ? -1 : 0; // the guard itself does not count
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            const std::string_view line = text.substr(at, end - at);
            at = end + 1;
            number++;
            const Source *included = in_comment ? nullptr : resolve(line, source.name, number);
            const auto kind =
                included && source.name == "kma/kma.cl" ? kind_of(*included) : std::nullopt;
            if (kind && !heap_.may_be(*kind)) {
                leave_out(*kind);
            } else if (included) {
                include(*included, always && (conditions == 0 || (kind && heap_.is_certain())),
                        depth);
                begin(source.name, number + 1);
            } else {
                if (!in_comment) {
                    conditions += nesting(line);
                    if (!is_in_kma_)
                        note(line, always && conditions == 0);
                }
                text_.append(line);
                text_ += '\n';
            }
            in_comment = in_comment_after(line, in_comment);
        }
        open_.pop_back();
    }

    // Notes the macros that a line of the user's text defines. The line is no known #include.
    void note(std::string_view line, bool always)
    {
        if (const auto macro = after_directive(line, "define"))
            define(*macro, always);
        else if (after_directive(line, "include"))
            heap_.add_all(); // an unknown file, which may define KMA_HEAP
    }

    void define(std::string_view definition, bool always)
    {
        macros_.emplace(macro_at_start(definition));
        heap_.define(definition, always);
    }

    // Writes an #error for the case that KMA_HEAP names this kind after all.
    void leave_out(HeapKind kind)
    {
        const char *name = name_of(kind);
        text_ += say("#error \"KMA_HEAP is ", name,
                     ", but this text was made without that heap: give kma::expand the same "
                     "options, or kma emit --heap ",
                     name, "\"\n");
    }

    // Undefines the user's macros that would change kma's text from `begin` on.
    void hide_macros(std::size_t begin)
    {
        if (begin == text_.size())
            return;
        ours_.append(text_, begin);
        std::string before, after;
        for (const std::string &name : macros_) {
            if (!has_own_name(ours_, name))
                continue;
            before += "#pragma push_macro(\"" + name + "\")\n#undef " + name + "\n";
            after += "#pragma pop_macro(\"" + name + "\")\n";
        }
        text_.insert(begin, before);
        text_ += after;
    }

    // Includes a file. Omits a guarded one if an earlier copy was unconditional or is still open.
    void include(const Source &source, bool always, int depth)
    {
        if (has_guard(without_mark(source.text))) {
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
    std::set<std::string, std::less<>> macros_; // the user's macros so far
    HeapChoice heap_;                           // the kinds that macros_ allow
    std::string ours_; // kma's texts so far, which use one another's definitions
    bool is_in_kma_ = false;
    std::set<const Source *> seen_;
    std::vector<const Source *> open_; // the files being expanded, outermost first
    std::string text_;
};

// "NAME:LINE" of line `number` (from 1) of an expanded text, from the #line directives before it.
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
    if (!file.is_open() || file.bad()) // bad(): a folder
        throw Error("cannot read the OpenCL source " + path.string() +
                    ": is there such a file, and may this program read it?");
    return {path.string(), text};
}

std::string expand(const std::vector<Source> &units, const std::vector<Source> &headers,
                   const std::string &options)
{
    Expander expander(headers, options);
    for (const Source &unit : units)
        expander.add(unit, true, 0);
    return expander.take();
}

std::string name_lines(const std::string &log, const std::string &text)
{
    // The text's names in logs of compilers that ignore #line: NVIDIA's and Oclgrind's.
    static constexpr std::string_view names[] = {"<kernel>:", "<stdin>:", "input.cl:"};
    std::string named;
    for (std::size_t at = 0; at < log.size();) {
        const std::string_view rest = std::string_view(log).substr(at);
        const auto name = std::ranges::find_if(
            names, [&](std::string_view one) { return rest.starts_with(one); });
        const std::size_t digits =
            name == std::end(names)
                ? 0
                : std::min(rest.find_first_not_of("0123456789", name->size()), rest.size()) -
                      name->size();
        if (digits == 0) {
            named += log[at++];
        } else {
            named += origin(text, std::stoul(std::string(rest.substr(name->size(), digits))));
            at += name->size() + digits;
        }
    }
    return named;
}

} // namespace kma
