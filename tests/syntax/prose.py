#!/usr/bin/env python3
"""Language and width of what people read: prose.py ROOT prints each breach as file:line: rule: what.

Read are the sources of the library, the tool, the benchmark and the samples, and every document. A message is a part of
its source. lint_test.py has a text for each rule that it must find, and one that it must not.
"""
import pathlib
import re
import sys

FOLDERS = ("cl", "host", "tools", "bench", "samples", "cmake", "docs")
SOURCES = (".cl", ".cpp", ".hpp", ".c", ".py", ".cmake", ".txt", ".md")
COLUMNS = 100

# A work-item is no person: name the actor (the caller, the claiming lane, another lane).
PERSON = re.compile(r"\b(who|whom|whoever|he|him|his)\b", re.IGNORECASE)
QUOTED = re.compile(r"`[^`]*`")


def persons(path, lines):
    for number, line in lines:
        for match in PERSON.finditer(QUOTED.sub("", line)):
            yield number, f"{match[1]}: name the actor, such as the caller or another lane"


# Lines that cannot be broken: a row of a table, the preprocessor's messages, a link or a path alone.
WHOLE = re.compile(r"\s*(\||!\[|#\s*error\b|\S+$)")


def columns(path, lines):
    for number, line in lines:
        if len(line) > COLUMNS and not WHOLE.match(line):
            yield number, f"{len(line)} columns, more than {COLUMNS}"


RULES = [persons, columns]


def lint(path, text):
    """(line, rule, what) of each breach."""
    lines = list(enumerate(text.split("\n"), 1))
    return [(number, rule.__name__, what) for rule in RULES for number, what in rule(path, lines)]


def files(root):
    yield from sorted(root.glob("*.md"))
    for folder in FOLDERS:
        yield from (path for path in sorted((root / folder).rglob("*")) if path.suffix in SOURCES)


def main():
    root = pathlib.Path(sys.argv[1])
    paths = list(files(root))
    if len(paths) < 100:
        print(f"only {len(paths)} files under {root}")
        return 1
    findings = [(path.relative_to(root), *finding) for path in paths for finding in lint(str(path), path.read_text())]
    for path, number, rule, what in findings:
        print(f"{path}:{number}: {rule}: {what}")
    print(f"{len(paths)} files, {len(RULES)} rules, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
