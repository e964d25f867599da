#!/usr/bin/env python3
"""What no compiler tells about kma's device code: lint.py FOLDER [SAMPLES] prints each breach of a
rule as file:line: rule: what. (Plain access to a shared word does not
compile in OpenCL C 3.0, and an unguarded 64-bit atomic not with KMA_HAS_ATOMIC64=0.)

FOLDER is the one that has kma/, that is, cl; SAMPLES has samples of programs, each in a folder of
its own. PATTERNS and RULES are the rules; lint_test.py has a text for each that it must find, and
one that it must not.
"""
import pathlib
import re
import sys
from collections import namedtuple

File = namedtuple("File", "path text code")  # code: text without comments and strings, lines kept
Finding = namedtuple("Finding", "path line rule what")

LAYERS = ["platform", "lockfree", "heap", "containers", "objects", "collect", "kernels"]
# The kernels of a module lie beside it, and stand behind all modules, with what they share.
KERNELS = re.compile(r"(?:/|_)kernels\.cl$|^kma/selftest/|/stats_(?:sum|quarantine)\.cl$")

# Functions and types of some version of OpenCL C whose names no compiler refuses for a variable.
RESERVED = set("all any barrier event_t half ndrange_t queue_t select shuffle shuffle2 uniform".split())
DECLARED = re.compile(r"\b(?:u?int|u?long|u?char|u?short|bool|float|size_t|void|kma_\w+|const|\*)"
                      r"\s*\*?\s*(\w+)\s*(?=[=;,)\[(])")


def read(path, text):
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())

    return File(path, text, re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", blank, text,
                                   flags=re.DOTALL))


def below_samples(file):
    return file.path.startswith("samples/")


def below_platform(file):
    return file.path.startswith("kma/platform/")


def is_kernels(file):
    return bool(KERNELS.search(file.path))


def anywhere(file):
    return True


def outside_platform(file):
    return not below_platform(file)


def layer(file):
    """The file's place in the order; kma.cl stands behind the heaps, samples behind all."""
    if below_samples(file):
        return len(LAYERS)
    if is_kernels(file):
        return LAYERS.index("kernels")
    folder = file.path.split("/")[1]
    return LAYERS.index(folder) if folder in LAYERS else LAYERS.index("heap") + 0.5


def at(file, position, rule, what):
    return Finding(file.path, file.code.count("\n", 0, position) + 1, rule, what)


# A file with this path prefix is tested with one width of atomics (HeapType::has_widths in
# tests/heap/conformance/heaps.hpp): its code is the same with and without 64-bit atomics.
ONE_WIDTH = ("kma/heap/scatter", "kma/heap/slab", "kma/lockfree/bit_tree")

# A rule, where it holds, what must not be there, and why.
PATTERNS = [
    ("cast_atomic", outside_platform,
     r"\((?:volatile\s+|const\s+)*global\s+(?:volatile\s+)?(?:u?int|u?long)\s*\*\s*\)\s*&",
     "the address of a shared word as that of a plain one"),
    ("volatile", outside_platform, r"\bvolatile\b",
     "only platform/ knows what is volatile; take a kma_atomic_u32"),
    ("orders", anywhere, r"\b(memory_order_seq_cst|memory_order_consume|"
     r"memory_scope_all_svm_devices|memory_scope_all_devices)\b", "{} is more than a path has"),
    ("orders", lambda file: file.path != "kma/platform/memory_c11.cl",
     r"\b(atomic_\w+_explicit|atomic_init|atomic_flag_\w+)\b", "{} outside memory_c11.cl"),
    ("orders", outside_platform,
     r"\b((?:atomic|atom)_\w+|mem_fence|read_mem_fence|write_mem_fence)\s*\(",
     "{} outside platform/: take kma_fetch_add_u32 and so on"),
    ("no_such_c", anywhere, r"\b(double\d*)\b", "{} is not on every device"),
    ("linkage", anywhere, r"^(?:static|constant|global|const)\s+(?!inline)[^()\n]*[=;]",
     "a variable of the program"),
    ("one_width", lambda file: file.path.startswith(ONE_WIDTH),
     r"\b(KMA_HAS_ATOMIC64|kma_atomic_u64|kma_\w+_u64)\b",
     "{}: this file is tested with one width of atomics only"),
]


def patterns(file):
    for rule, holds, pattern, what in PATTERNS:
        for match in re.finditer(pattern, file.code, re.MULTILINE) if holds(file) else ():
            yield at(file, match.start(), rule, what.format(*match.groups()))


def reserved(file):
    for match in DECLARED.finditer(file.code):
        name = match[1]
        if name in RESERVED:
            yield at(file, match.start(1), "reserved",
                     f"{name} is taken in some version of OpenCL C")
        if (re.search("[A-Z]", name) and not name.startswith(("kma_", "KMA_"))
                and not below_samples(file)):
            yield at(file, match.start(1), "reserved", f"{name} may be a macro of a user's: those "
                     "have a capital letter (platform/target.cl)")


FUNCTION = re.compile(r"^(?=\S)((?:[\w*]+[ \t]+)*[\w*]*[ \t*]+)(\w+)\(([^;{}]*)\)\s*\{",
                      re.MULTILINE)
SPEECH = {"if", "for", "while", "switch", "return", "do", "else"}


def functions(file):
    for match in FUNCTION.finditer(file.code):
        if match[2] not in SPEECH and not match[2].isupper():  # what macros make has no name yet
            yield match


def recursion(file):
    for match in functions(file):
        body = file.code[match.end():file.code.find("\n}", match.end())]
        if re.search(rf"\b{match[2]}\s*\(", body):
            yield at(file, match.start(2), "recursion", f"{match[2]} calls itself")


def linkage(file):
    for match in functions(file) if not is_kernels(file) else ():
        is_kernel = below_samples(file) and match[1].startswith("kernel ")
        if not is_kernel and not re.search(r"\bstatic inline\b", match[1]):
            yield at(file, match.start(2), "linkage",
                     f"{match[2]} is not static inline: two files that include it clash")


def includes(file):
    for match in re.finditer(r"^\s*#\s*include\s*(\S+)", file.text, re.MULTILINE):
        name = match[1]
        if name.startswith("<"):
            yield at(file, match.start(1), "includes",
                     f"{name}: kernels have no such files; write \"kma/…\"")
        elif name.startswith('"kma/') and layer(File(name.strip('"'), "", "")) > layer(file):
            yield at(file, match.start(1), "includes",
                     f"{name} stands after this file in the order of layers")


# Counts to a number, or steps through what there is: the head has a comparison that the loop's own
# step brings nearer.
COUNTED = re.compile(r"for \([^;]*;[^;]+(?:<|<=|>|>=|!=|==)[^;]+;"
                     r"[^;]*(?:\+\+|--|\+=|-=|>>=|<<=|/=|\*=|&= \w+ - 1)")


def loops(file):
    lines, code = file.text.split("\n"), file.code.split("\n")
    for number, line in enumerate(code, 1):
        is_macro = line.rstrip().endswith("\\")
        for further in code[number:number + 2]:  # a head of several lines
            if (re.match(r"\s*(?:\}\s*)?(?:for|while)\b", line)
                    and line.count("(") > line.count(")")):
                line += " " + further.strip()
        head = (re.match(r"\s*(?:\}\s*)?((?:for|while)\s*\(.*)", line)
                or re.match(r"\s*(do)\s*\{", line))
        if (head and not COUNTED.match(head[1]) and not is_macro
                and "//" not in lines[number - 1] + lines[number - 2]):
            yield Finding(file.path, number, "loops", "no bound in the loop's head: say in a "
                          "comment on this line, or the one before, what ends it or whose step "
                          "explains each retry")


RULES = [patterns, reserved, recursion, linkage, includes, loops]
NAMES = {rule.__name__ for rule in RULES[1:]} | {pattern[0] for pattern in PATTERNS}


def lint(files):
    return [finding for file in files for rule in RULES for finding in rule(file)]


def read_all(root, pattern, prefix, least):
    files = tuple(read(prefix + path.relative_to(root).as_posix(), path.read_text())
                  for path in sorted(pathlib.Path(root).glob(pattern)))
    if len(files) < least:
        sys.exit(f"only {len(files)} device files under {root}")
    return files


def main(root, *samples):
    files = read_all(root, "kma/**/*.cl", "", 10)
    for folder in samples:
        files += read_all(folder, "*/*.cl", "samples/", 1)
    findings = lint(files)
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.what}")
    print(f"{len(files)} files, {len(NAMES)} rules, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
