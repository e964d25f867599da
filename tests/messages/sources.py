#!/usr/bin/env python3
"""Compares docs/messages.md, the catalogue of messages, with the sources that write them. Fails if
- a message of the sources has no row in its chapter, or a row has no source;
- a row has no second cell, or stands twice in its chapter;
- no test provokes the rows under a heading: no *.cpp here names it;
- a throw is written in a form that this scan cannot read.

The scan knows literals, comments and brackets. An expression's string literals are the message's
words; anything else in it is a variable part, "…".

usage: sources.py ROOT
"""
import re
import sys
from pathlib import Path

LITERAL = r'"(?:\\.|[^"\\])*"'
CHARACTER = r"'(?:\\.|[^'\\])'"
FOREIGN = ["Compilers in their own words", "OpenCL's own errors"]  # chapters that kma does not write

root = Path(sys.argv[1])
found = []  # (chapter, message, where it is written)
problems = []


def files(where):
    """(name, text) of the files that a pattern matches, or of all code in a folder, without comments."""
    is_folder = (root / where).is_dir()
    for path in sorted(root.glob(where + "/**/*.*" if is_folder else where)):
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if is_folder and path.suffix in (".cpp", ".hpp", ".cl"):
            text = re.sub(rf"({LITERAL}|{CHARACTER})|//[^\n]*|/\*.*?\*/",
                          lambda match: match[1] or "\n" * match[0].count("\n"), text, flags=re.S)
        if not is_folder or path.suffix in (".cpp", ".hpp", ".cl"):
            yield str(path.relative_to(root)), text


def add(chapter, message, name, before=""):
    """`before`: the file's text in front of the message, if lines are to be counted."""
    line = f":{before.count(chr(10)) + 1}" if before else ""
    found.append((chapter, re.sub("…+", "…", message), name + line))


def split(text, at, separator):
    """The parts of what begins at `at`, up to the bracket or semicolon that ends it, and that end."""
    parts, depth = [""], 0
    for token in re.compile(rf"{LITERAL}|{CHARACTER}|.", re.S).finditer(text, at):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if depth < 0 or (depth == 0 and token[0] == ";"):
            return parts, token.start()
        if depth == 0 and token[0] == separator:
            parts.append("")
        else:
            parts[-1] += token[0]
    return parts, len(text)


def literal(text):
    """The text of adjacent literals. Where a line ends does not matter."""
    words = "".join(word[1:-1] for word in re.findall(LITERAL, text))
    return re.sub(r"\\(.)", lambda escape: "…" if escape[1] == "n" else escape[1], words)


def spoken(*expressions):
    """What expressions say: say(…), a sum, or literals."""
    message = ""
    for expression in map(str.strip, expressions):
        call = re.match(r"(?:say|std::string)\(", expression)
        parts, end = split(expression, call.end(), ",") if call else ([], 0)
        if not call or end + 1 < len(expression):
            parts = split(expression, 0, "+")[0]
        if parts != [expression]:
            message += spoken(*parts)
        else:
            message += literal(expression) if re.fullmatch(rf"(\s*{LITERAL})*", expression) else "…"
    return message


def throws(folder, chapter):
    for name, text in files(folder):
        for throw in re.finditer(r"\bthrow\b(?!;| cl::Error\(|\(\))", text):  # those pass on OpenCL's own
            ours = re.compile(r"throw (?:kma::)?(?:Build)?Error\(").match(text, throw.start())
            if ours:
                add(chapter, spoken(*split(text, ours.end(), ",")[0]), name, text[:ours.start()])
            else:
                problems.append(f"{name}: a throw that this scan cannot read: {text[throw.start():][:60]}")


def calls(folder, function, chapter, before="", skip=0):
    """Calls of a function that makes a message of its arguments, the first `skip` excepted."""
    for name, text in files(folder):
        for call in re.finditer(rf"[.>_ \n(]{function}\(", text):
            arguments = split(text, call.end(), ",")[0]
            if "const " not in arguments[0] and len(arguments) > skip:  # not its declaration
                add(chapter, before + spoken(*arguments[skip:]), name, text[:call.end()])


def returns(head, chapter, before="", behind=""):
    """Texts that a function returns. The throw beside it that has them is not another message."""
    for name, text in files("host/src"):
        for body in re.finditer(rf"{re.escape(head)}[^;{{]*\{{.*?\n}}", text, re.S):
            found[:] = [one for one in found if not (one[1] == before + "…" + behind and one[2].startswith(name))]
            for word in re.compile(r"\breturn\b").finditer(text, *body.span()):
                says = spoken(*split(text, word.end(), ",")[0])
                if says not in ("", "…"):
                    add(chapter, before + says + behind, name, text[:word.start()])


def lines(chapter, where, pattern, variable="(?!)", before=""):
    """The pattern's first group, "…" for what `variable` matches in it."""
    for name, text in files(where):
        text = re.sub(r'"\s*\n\s*"|\\\n\s*', "", text)  # broken lines are one
        for match in re.finditer(pattern, text):
            add(chapter, before + re.sub(variable, "…", match[1]), name)


def scan():
    host, check, world, compilers = "The host library", "Heap::check()", "World::check()", "Compilers"
    throws("host/src", host)
    calls("host/src", "refuse", host, before="cannot load a heap from …: ")
    returns("std::string obstacle(", host, "kma cannot run on …: ", "; choose another device")
    returns("std::string refusal_of(", host)
    returns("const char *explain(", "Kernels")
    returns("const char *explain_object(", "Kernels")
    for chapter, folder in (check, "host/src/heap"), (check, "host/src/device"), (world, "host/src/objects"):
        calls(folder, r"findings_?\.add", chapter, skip=1)
    for chapter in check, world:
        lines(chapter, "host/src/heap/common/findings.hpp", r'say\("(there are .*)\)\);', '", .*?, "|", .*$')

    lines(compilers, "cl", r'#error\s+"(.*)"')
    lines(compilers, "host/include", r'#error\s+"(.*)"')
    lines(compilers, "host/src/device/emit.cpp", r'#error \\"(.*)\\"')
    lines(compilers, "host/src/device/source.cpp", r'#error \\"((?s:.*?))\\"', r'"?,\s*name,\s*"?')
    lines(compilers, "host/src/objects/schema_text.cpp", '#error "(.*)"', r"\$\w+\$")
    lines(compilers, "cl", r"\b(the_bump_heap_has_\w+)")
    lines(compilers, "cl", r"\b(for_kma_\w+_include_\w+)", "bump|superblock|scatter|slab")
    lines(compilers, "cl", r"\b(kma_assert_##name)", "##name")

    for folder, chapter in ("samples", "The samples"), ("bench", "The kma tool"), ("tools", "The kma tool"):
        throws(folder, chapter)
    lines("In C and Python", "samples/c/list.c", r'\bfail\("(.*?)"', before="list: ")
    lines("In C and Python", "samples/c/list.c", r'"(list: (?!%s\\n).*?)\\n"', "%[sd]")
    lines("In C and Python", "samples/python/list.py", r'sys\.exit\("(.*?)"')

    for folder in "", "bench/**/", "cmake/**/", "host/**/", "samples/**/", "tools/**/", "tests/**/":
        for name in "CMakeLists.txt", "*.cmake":
            # Most of what the tests stop with is for their authors.
            words = ".*: install .*" if folder == "tests/**/" else ".*"
            lines("CMake and quickstart", folder + name, rf'FATAL_ERROR\s*"({words})"', r"\$\{\w+\}")
    lines("CMake and quickstart", "quickstart", r'echo "(.*)" >&2', r"\$[\w*]+")


def compare():
    listed, written = set(), {(chapter, message) for chapter, message, _ in found}
    tests = "".join(path.read_text(encoding="utf-8") for path in (root / "tests/messages").glob("*.cpp"))
    chapter = section = ""
    for number, line in enumerate((root / "docs/messages.md").read_text(encoding="utf-8").splitlines(), 1):
        heading = re.match("(##+) (.*)", line)
        if heading:
            section = heading[2]
            chapter = section if heading[1] == "##" else chapter
        if not line.startswith("| `"):
            continue
        row = re.fullmatch(r"\| `(.+?)` \| (.*\S) *\|", line)
        message = row[1] if row else ""
        for is_wrong, what in (
                (not row, "is no row | `message` | what to do |"),
                ((chapter, message) in listed, "stands twice"),
                (chapter not in FOREIGN and (chapter, message) not in written, "no source has it"),
                (f'"{chapter}"' not in tests and f'"{section}"' not in tests, f'no test names "{section}"')):
            if is_wrong:
                problems.append(f"docs/messages.md:{number}: {what}: {message or line}")
        listed.add((chapter, message))
    for chapter, message, where in found:
        if message == "…":
            problems.append(f"{where}: a message without words of its own")
        elif (chapter, message) not in listed:
            problems.append(f'{where}: docs/messages.md has no row in "{chapter}" for: {message}')
    print(f"{len(found)} messages in the sources, {len(listed)} rows")


scan()
compare()
sys.exit("\n".join(problems) if problems else 0)
