// Builds a suite's table in three steps:
// 1. suite_lines() drops what only JSON and CSV have, and puts the heaps' figures of one line side
//    by side.
// 2. shared_words() finds the parameters that all lines share. They go into the title, the others
//    into the rows' names.
// 3. suite_table() formats the figures, each with its ratio to the row's best.
#include "bench_table.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <sstream>

#include "heaps.hpp"
#include "table.hpp"

namespace tool {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t page_width = 100;
constexpr std::size_t most_findings = 5; // lines of one kind below a table

// Metrics that no table shows: parts of another metric, and figures for the pictures.
const std::map<std::string, Words> hidden_metrics = {
    {"uniform", {"malloc_cold", "address_range", "used"}},
    {"mixed", {"malloc_cold", "address_range"}},
    {"fill",
     {"used", "last_round", "again_served_at_first_null", "again_served", "again_round",
      "again_last_round"}},
    {"sparse", {"used"}},
    {"adjacency",
     {"insert", "grow", "grow_total", "delete", "shrink", "shrink_total", "used_half"}},
    {"compile", {"build", "first_launch"}},
    {"defragment", {"fills", "plan", "sort", "aim", "move", "settle", "forward"}},
    {"collect", {"mark", "sweep"}},
    {"compact", {"census", "move", "rewrite", "free"}},
};

// How a parameter is written in a row's name: `before`, its value, `after`.
enum class Form { count, bytes, plain };
struct Wording {
    const char *name, *before, *after;
    Form form;
};
constexpr Wording wordings[] = {
    {"work_items", "", " items", Form::count},
    {"vertices", "", " vertices", Form::count},
    {"edges", "", " edges", Form::count},
    {"objects", "", " objects", Form::count},
    {"pairs", "", " pairs", Form::count},
    {"batches", "", " batches", Form::count},
    {"each", "", " each", Form::count},
    {"bytes", "", "", Form::bytes},
    {"heap_bytes", "heap ", "", Form::bytes},
    {"holes", "holes ", "", Form::bytes},
    {"KiB", "", " KiB", Form::plain},
    {"variance", "variance ", "", Form::plain},
    {"p_alloc", "p_alloc ", "", Form::plain},
    {"load", "load ", "", Form::plain},
    {"share", "share ", "", Form::plain},
    {"share_per_mille", "", " per mille empty", Form::plain},
    {"deleted", "", " % deleted", Form::plain},
    {"debug", "KMA_DEBUG ", "", Form::plain},
    {"references", "references ", "", Form::plain},
    {"sources", "sources ", "", Form::plain},
    {"by", "by ", "", Form::plain},
};

std::string with_commas(std::string digits)
{
    for (std::size_t at = digits.size(); at > 3; at -= 3)
        digits.insert(at - 3, ",");
    return digits;
}

// "1 Ki" for 1024, "1,000" for 1000.
std::string count_text(std::uint64_t count)
{
    for (const auto &[unit, shift] : {std::pair{" Gi", 30}, {" Mi", 20}, {" Ki", 10}})
        if (count != 0 && count % (std::uint64_t{1} << shift) == 0)
            return with_commas(std::to_string(count >> shift)) + unit;
    return with_commas(std::to_string(count));
}

std::string bytes_text(std::uint64_t bytes)
{
    const std::string text = count_text(bytes);
    return text + (text.ends_with('i') ? "B" : " B");
}

// Whether rows do not name the parameter: what follows from another one; the number of a kernel in
// a series, of which the last look is shown; 0 work-items, which stands for the default.
bool is_hidden(const bench::Parameter &one, const std::string &suite)
{
    const auto *const number = std::get_if<std::uint64_t>(&one.value);
    return one.name == "p_free" || (number && one.name == "kernel") ||
           (one.name == "work_items" &&
            ((number && *number == 0) || suite == "steady" || suite == "large"));
}

// The parameter in words, such as "16 B".
std::string parameter_text(const bench::Parameter &one)
{
    const auto *const number = std::get_if<std::uint64_t>(&one.value);
    const auto *const known = std::ranges::find(
        wordings, one.name, [](const Wording &wording) { return std::string(wording.name); });
    const Wording wording = known != std::end(wordings) ? *known : Wording{"", "", "", Form::plain};
    std::string value;
    if (const auto *const word = std::get_if<std::string>(&one.value))
        value = wording.form == Form::bytes ? *word + " B" : *word;
    else if (!number)
        value = figure_text(std::get<double>(one.value));
    else
        value = wording.form == Form::bytes   ? bytes_text(*number)
                : wording.form == Form::count ? count_text(*number)
                                              : with_commas(std::to_string(*number));
    const std::string text = wording.before + value + wording.after;
    return text == "1 items" ? "1 item" : text;
}

Words words_of(const bench::Parameters &parameters, const std::string &suite)
{
    Words words;
    for (const bench::Parameter &one : parameters)
        if (!is_hidden(one, suite))
            words.push_back(parameter_text(one));
    return words;
}

std::string metric_text(const std::string &metric)
{
    std::string text = metric == "null" ? "NULL" : metric;
    std::ranges::replace(text, '_', ' ');
    return text;
}

// A row of the table: a metric with its parameters.
struct Line {
    std::string metric, unit;
    Words words;
    std::map<std::string, const bench::Row *> rows; // by heap
};

struct SuiteLines {
    std::vector<Line> lines;
    Words heaps; // in the order in which they were measured
};

bool is_hidden(const bench::Row &row)
{
    const auto hidden = hidden_metrics.find(row.suite);
    return row.metric == "empty_kernel" ||
           (hidden != hidden_metrics.end() &&
            std::ranges::find(hidden->second, row.metric) != hidden->second.end());
}

// Of several looks at the same line the last one counts. A line that earlier heaps lack stands
// behind the one that this heap had before it.
SuiteLines suite_lines(const bench::Report &report, const std::string &suite)
{
    SuiteLines all;
    std::map<std::string, std::size_t> next; // by heap
    for (const bench::Row &row : report.rows) {
        if (row.suite != suite || is_hidden(row))
            continue;
        const Words words = words_of(row.parameters, suite);
        auto line = std::ranges::find_if(all.lines, [&](const Line &one) {
            return one.metric == row.metric && one.unit == row.unit && one.words == words;
        });
        if (line == all.lines.end()) {
            const std::size_t at = next.emplace(row.heap, all.lines.size()).first->second;
            line = all.lines.insert(all.lines.begin() + static_cast<std::ptrdiff_t>(at),
                                    {row.metric, row.unit, words, {}});
        }
        line->rows[row.heap] = &row;
        next[row.heap] = static_cast<std::size_t>(line - all.lines.begin()) + 1;
        if (std::ranges::find(all.heaps, row.heap) == all.heaps.end())
            all.heaps.push_back(row.heap);
    }
    return all;
}

Words shared_words(const std::vector<Line> &lines)
{
    Words shared;
    if (!lines.empty())
        std::ranges::copy_if(lines[0].words, std::back_inserter(shared), [&](const auto &word) {
            return std::ranges::all_of(lines, [&](const Line &line) {
                return std::ranges::find(line.words, word) != line.words.end();
            });
        });
    return shared;
}

// The words that are not in the title; all of them if none is left.
std::string own_words(const Words &words, const Words &shared)
{
    Words own;
    std::ranges::copy_if(words, std::back_inserter(own), [&](const auto &word) {
        return std::ranges::find(shared, word) == shared.end();
    });
    return joined(own.empty() ? words : own, ", ");
}

// Whether one heap's figure over another's says how much better it is.
bool has_ratios(const std::string &unit)
{
    const Words lower_is_better = {"ns", "us", "ms", "KB", "MiB"};
    return std::ranges::find(lower_is_better, unit) != lower_is_better.end();
}

// The unit of most lines, which stands in the table's head: that of times and sizes, if there are
// any.
std::string main_unit(const std::vector<Line> &lines)
{
    const auto weight = [&](const Line &of) {
        return std::pair(has_ratios(of.unit), std::ranges::count(lines, of.unit, &Line::unit));
    };
    return std::ranges::max_element(lines, {}, weight)->unit;
}

// Whether the heap serves freed memory again; true for allocators that are no heap of kma.
bool reclaims(const std::string &heap)
{
    return std::ranges::none_of(conformance::heap_types(), [&](const conformance::HeapType &type) {
        return type.name() == heap &&
               !conformance::Subject{&type, {}, 0}.can(conformance::Ability::reuse);
    });
}

// The least right figure of the heaps that reclaim memory, or of all; 0 where ratios say nothing.
double best_of(const Line &line)
{
    if (line.rows.size() < 2 || !has_ratios(line.unit))
        return 0;
    const bool any =
        std::ranges::any_of(line.rows, [](const auto &one) { return reclaims(one.first); });
    double best = 0;
    for (const auto &[heap, row] : line.rows)
        if (row->verified.value_or(true) && row->figure.median > 0 && (!any || reclaims(heap)) &&
            (best == 0 || row->figure.median < best))
            best = row->figure.median;
    return best;
}

std::string ratio_text(double ratio)
{
    std::ostringstream text;
    text << std::fixed;
    text.precision(ratio < 9.95 ? 1 : 0);
    text << ratio;
    return ratio < 999.5 ? text.str() : with_commas(text.str());
}

// The figures of one heap, one for each line: "figure ratio", both right-aligned.
Words column_of(const std::vector<Line> &lines, const std::string &heap)
{
    Words figures, ratios;
    std::size_t figure_width = 0, ratio_width = 0;
    for (const Line &line : lines) {
        const auto row = line.rows.find(heap);
        const double best = best_of(line);
        figures.emplace_back();
        ratios.emplace_back();
        if (row == line.rows.end())
            continue;
        figures.back() = figure_text(row->second->figure.median);
        if (!row->second->verified.value_or(true))
            ratios.back() = "WRONG";
        else if (best != 0)
            ratios.back() = ratio_text(row->second->figure.median / best);
        figure_width = std::max(figure_width, figures.back().size());
        ratio_width = std::max(ratio_width, ratios.back().size());
    }
    Words cells;
    for (std::size_t i = 0; i < figures.size(); i++)
        cells.push_back(std::string(figure_width - figures[i].size(), ' ') + figures[i] +
                        (ratio_width != 0 ? " " : "") +
                        std::string(ratio_width - ratios[i].size(), ' ') + ratios[i]);
    return cells;
}

// The lines of a heap's name in the table's head: long names are broken at commas.
Words name_lines(const std::string &heap)
{
    Words lines;
    std::size_t begin = 0;
    for (std::size_t at; (at = heap.find(", ", begin)) != std::string::npos; begin = at + 2)
        lines.push_back(heap.substr(begin, at + 1 - begin));
    lines.push_back(heap.substr(begin));
    return lines;
}

std::string suite_table(const SuiteLines &all, const std::string &suite)
{
    const std::string unit = main_unit(all.lines);
    const Words shared = shared_words(all.lines);
    const bool one_metric =
        all.lines.size() > 1 && std::ranges::all_of(all.lines, [&](const Line &line) {
            return line.metric == all.lines[0].metric;
        });
    std::size_t height = 1;
    for (const std::string &heap : all.heaps)
        height = std::max(height, name_lines(heap).size());
    std::vector<Words> cells(height, {""});
    cells.back() = {unit};
    for (const Line &line : all.lines) {
        Words name;
        if (!one_metric)
            name.push_back(metric_text(line.metric) +
                           (line.unit == unit || line.unit.empty() ? "" : " (" + line.unit + ")"));
        if (line.words != shared)
            name.push_back(own_words(line.words, shared));
        cells.push_back({joined(name, ", ")});
    }
    for (const std::string &heap : all.heaps) {
        const Words head = name_lines(heap), column = column_of(all.lines, heap);
        for (std::size_t i = 0; i < height; i++)
            cells[i].push_back(i + head.size() < height ? "" : head[i + head.size() - height]);
        for (std::size_t i = 0; i < column.size(); i++)
            cells[height + i].push_back(column[i]);
    }
    Words title = shared;
    if (one_metric)
        title.insert(title.begin(), metric_text(all.lines[0].metric));
    return suite + (title.empty() ? "" : ": ") + joined(title, ", ") + "\n" + table(cells, 1);
}

// The text in lines of the page's width; all but the first are indented.
std::string wrapped(const std::string &text)
{
    std::istringstream words(text);
    std::string all, line;
    for (std::string word; words >> word;) {
        if (!line.empty() && line.size() + 1 + word.size() > page_width) {
            all += line + '\n';
            line = "     ";
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return all + line + '\n';
}

// A wrong figure's or a NULL's place: heap, metric, parameters.
std::string place_of(const bench::Row &row, const Words &shared)
{
    const std::string words = own_words(words_of(row.parameters, row.suite), shared);
    return row.heap + ", " + metric_text(row.metric) + (words.empty() ? "" : ", ") + words;
}

// The first findings, each behind `kind`, and the number of others.
std::string findings_text(const std::string &kind, const Words &findings)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(findings.size(), most_findings); i++)
        text += wrapped(kind + ": " + findings[i]);
    if (findings.size() > most_findings)
        text += kind + ": and " + std::to_string(findings.size() - most_findings) + " more\n";
    return text;
}

void add_once(Words &words, const std::string &word)
{
    if (!word.empty() && std::ranges::find(words, word) == words.end())
        words.push_back(word);
}

// Notes with the same sentence are one.
std::string notes_text(const bench::Report &report, const std::string &suite, const Words &shared)
{
    struct Merged {
        std::string sentence;
        Words subjects, lines;
    };
    std::vector<Merged> notes;
    for (const bench::Note &note : report.notes) {
        if (note.suite != suite)
            continue;
        const std::string sentence =
            note.too_large ? "left out: blocks of more than half of the heap" : note.sentence;
        auto merged = std::ranges::find(notes, sentence, &Merged::sentence);
        if (merged == notes.end())
            merged = notes.insert(merged, {sentence, {}, {}});
        add_once(merged->subjects, note.subject);
        add_once(merged->lines, own_words(words_of(note.line, suite), shared));
    }
    Words measured; // by all suites; each has an empty kernel of each heap
    for (const bench::Row &row : report.rows)
        if (row.metric == "empty_kernel")
            add_once(measured, row.heap);
    std::string text;
    for (const Merged &note : notes) {
        const bool all = measured.size() > 1 && note.subjects == measured;
        const std::string lines = joined(note.lines, "; "), heaps = joined(note.subjects, ", ");
        text += wrapped("note: " + (all ? "all heaps" : heaps) + (heaps.empty() ? "" : ": ") +
                        lines + (lines.empty() ? "" : " ") + note.sentence);
    }
    return text;
}

} // namespace

std::string figure_text(double value)
{
    int digits = 2; // behind the point
    for (double rest = std::abs(value); rest >= 10 && digits > 0; rest /= 10)
        digits--;
    for (double rest = std::abs(value); rest != 0 && rest < 1 && digits < 8; rest *= 10)
        digits++;
    std::ostringstream out;
    out << std::fixed;
    out.precision(digits);
    out << value;
    std::string text = out.str();
    if (digits == 0)
        return value < 0 ? text : with_commas(text);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.'))
        text.pop_back();
    return text.starts_with("0.") ? text.substr(1) : text;
}

bool runs_full(const std::string &suite)
{
    return suite == "fill" || suite == "steady" || suite == "large";
}

std::string suite_text(const bench::Report &report, const std::string &suite)
{
    if (std::ranges::find(report.rows, suite, &bench::Row::suite) == report.rows.end())
        return "";
    const SuiteLines all = suite_lines(report, suite);
    const Words shared = shared_words(all.lines);
    Words wrong, nulls;
    for (const bench::Row &row : report.rows) {
        if (row.suite == suite && !row.verified.value_or(true))
            wrong.push_back(place_of(row, shared) + ": contents or blocks are not as they must be");
        if (row.suite == suite && row.nulls != 0 && !runs_full(suite))
            nulls.push_back(place_of(row, shared) + ": " + with_commas(std::to_string(row.nulls)));
    }
    return (all.lines.empty() ? suite + '\n' : suite_table(all, suite)) +
           findings_text("FAILED", wrong) + findings_text("NULLs", nulls) +
           notes_text(report, suite, shared) + '\n';
}

std::string general_notes(const bench::Report &report)
{
    return notes_text(report, "all suites", {});
}

} // namespace tool
