#!/usr/bin/env python3
"""What no compiler tells about kma's device code: lint.py FOLDER [SAMPLES] prints each breach of a rule as file:line: rule: what.

FOLDER is the one that has kma/, that is, cl; SAMPLES has samples of programs, each in a folder of its own. RULES names the rules;
lint_test.py has a text for each that it must find, and one that it must not.
"""
import functools
import pathlib
import re
import sys
from collections import namedtuple

File = namedtuple("File", "path text code")  # code: text with comments and strings blanked, lines kept
Finding = namedtuple("Finding", "path line rule what")

LAYERS = ["platform", "lockfree", "heap", "containers", "objects", "collect", "kernels"]
# The kernels of a module lie beside it, and stand behind all modules. What they share is among them.
KERNELS = re.compile(r"(?:/|_)kernels\.cl$|^kma/selftest/|/stats_(?:sum|quarantine)\.cl$")

# Types, qualifiers and functions of some version of OpenCL C, or key words of C++, which the host tests compile the files
# as. Which of them a compiler refuses depends on the version it is asked for.
RESERVED = set("""
queue_t clk_event_t event_t ndrange_t reserve_id_t pipe sampler_t image1d_t image2d_t image3d_t quad half any all select
generic uniform read_only write_only read_write ptrdiff_t intptr_t uintptr_t shuffle shuffle2 barrier alignas alignof and and_eq asm auto bitand bitor catch char8_t char16_t char32_t class compl concept consteval constexpr
constinit const_cast co_await co_return co_yield decltype delete dynamic_cast explicit export friend mutable namespace new
noexcept not not_eq nullptr operator or or_eq protected public register reinterpret_cast requires static_assert
static_cast template this thread_local throw try typeid typename using virtual wchar_t xor xor_eq
""".split())
DECLARED = re.compile(r"\b(?:u?int|u?long|u?char|u?short|bool|float|size_t|void|kma_\w+|const|\*)\s*\*?\s*(\w+)\s*(?=[=;,)\[(])")


def blank(match):
    """The match without its text, with its lines."""
    return re.sub(r"[^\n]", " ", match.group())


def read(path, text):
    code = re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", blank, text, flags=re.DOTALL)
    return File(path, text, code)


def below_samples(file):
    return file.path.startswith("samples/")


def is_kernels(file):
    return bool(KERNELS.search(file.path))


def layer(file):
    """Where the file stands in the order; kma.cl stands behind the heaps, and samples behind all."""
    if below_samples(file):
        return len(LAYERS)
    if is_kernels(file):
        return LAYERS.index("kernels")
    folder = file.path.split("/")[1]
    return LAYERS.index(folder) if folder in LAYERS else LAYERS.index("heap") + 0.5


def at(file, position, rule, what):
    return Finding(file.path, file.code.count("\n", 0, position) + 1, rule, what)


def each(file, rule, pattern, what, flags=re.MULTILINE):
    for match in re.finditer(pattern, file.code, flags):
        yield at(file, match.start(), rule, what.format(*match.groups()))


def below(file, *folders):
    return file.path.startswith(tuple(f"kma/{folder}/" for folder in folders))


# Fields of these types are shared. `partial` is the one that holds others.
ATOMIC = re.compile(r"\b(?:kma_atomic_\w+|kma_\w+_atomic)\s+(\w+)\s*(?:\[[^\]]*\])?\s*;")
FIELD = re.compile(r"\b(?:u?int|ulong|uchar|bool|kma_\w+|KMA_PLAIN\(\w+\))\s+(\w+)\s*(?:\[[^\]]*\])?\s*;")
STRUCT = re.compile(r"typedef struct \w*\s*\{(.*?)\}", re.DOTALL)


@functools.cache
def shared_fields(files):
    """Names that are atomic in every struct that has such a field; of others the name does not tell."""
    atomic, plain = set(), set()
    for file in files:
        for struct in STRUCT.finditer(file.code):
            here = set(ATOMIC.findall(struct[1]))
            atomic |= here
            plain |= set(FIELD.findall(struct[1])) - here
    return atomic - plain


# What a field is of: the end of the text in front of it, and whether the address is taken.
OWNER = re.compile(r"(&?\s*)(?:\w+\([^()]*\)|\w+|\))?(?:(?:->|\.)\w+|\[[^\]]*\])*$")


PLAIN_WORD = re.compile(r"typedef struct (?!kma_atomic)\w*\s*\{[^{}]*\b(?:uint|ulong) word;[^{}]*\}\s*(\w+);")


def plain_words(file, files):
    """What must not stand in front of `.word`: variables of types whose field `word` is a plain one."""
    types = "|".join(match[1] for other in files for match in PLAIN_WORD.finditer(other.code))
    names = {match[1] for match in re.finditer(rf"\b(?:{types})\b\s*\*?\s*(\w+)", file.code)} if types else set()
    return "".join(rf"(?<!\b{name})" for name in sorted(names))


def plain_access(file, files):
    if below(file, "platform"):
        return
    if not re.search(r"\b(?:uint|ulong) word\b[^;,()]*;", file.code):  # else it may be that struct's
        own = plain_words(file, files)
        yield from each(file, "plain_access", rf"{own}(?:->|\.)word\b(?!\[)", "the word of an atomic, without kma_load and so on")
    names = "|".join(sorted(shared_fields(files))) or "(?!)"
    for match in re.finditer(rf"(?:->|\.)({names})\b", file.code):
        before = file.code[max(0, match.start() - 200):match.start()]
        of = OWNER.search(before)
        if "&" not in of[1] and not before[:of.start()].endswith("sizeof("):
            yield at(file, match.start(), "plain_access", f"{match[1]} is shared: pass its address to kma_load and so on")


def cast_atomic(file, files):
    if not below(file, "platform"):
        yield from each(file, "cast_atomic", r"\((?:volatile\s+|const\s+)*global\s+(?:volatile\s+)?(?:u?int|u?long)\s*\*\s*\)\s*&",
                        "the address of a shared word as that of a plain one")


def volatile(file, files):
    if not below(file, "platform"):
        yield from each(file, "volatile", r"\bvolatile\b", "only platform/ knows what is volatile; take a kma_atomic_u32")


def orders(file, files):
    yield from each(file, "orders", r"\b(memory_order_seq_cst|memory_order_consume|memory_scope_all_svm_devices|memory_scope_all_devices)\b",
                    "{0} is more than a path has")
    if file.path != "kma/platform/memory_c11.cl":
        yield from each(file, "orders", r"\b(atomic_\w+_explicit|atomic_init|atomic_flag_\w+)\b", "{0} outside memory_c11.cl")
    if not below(file, "platform"):
        yield from each(file, "orders", r"\b((?:atomic|atom)_\w+|mem_fence|read_mem_fence|write_mem_fence)\s*\(",
                        "{0} outside platform/: take kma_fetch_add_u32 and so on")


def reserved(file, files):
    for match in DECLARED.finditer(file.code):
        if match[1] in RESERVED:
            yield at(file, match.start(1), "reserved", f"{match[1]} is taken in some version of OpenCL C or in C++")
        if re.search("[A-Z]", match[1]) and not match[1].startswith(("kma_", "KMA_")) and not below_samples(file):
            yield at(file, match.start(1), "reserved", f"{match[1]} may be a macro of a user's: those have a capital letter (platform/target.cl)")
    yield from each(file, "reserved", r"\btypedef\b[^;{]*\b(queue_t|event_t|clk_event_t|ndrange_t)\s*;", "{0} is taken")


FUNCTION = re.compile(r"^(?=\S)((?:[\w*]+[ \t]+)*[\w*]*[ \t*]+)(\w+)\(([^;{}]*)\)\s*\{", re.MULTILINE)
SPEECH = {"if", "for", "while", "switch", "return", "do", "else"}


def functions(file):
    for match in FUNCTION.finditer(file.code):
        if match[2] not in SPEECH and not match[2].isupper():  # what macros make has no name yet
            end = file.code.find("\n}", match.end())
            yield match, file.code[match.end():end]


def recursion(file, files):
    calls = {}
    for other in files:
        for match, body in functions(other):
            calls.setdefault(match[2], set()).update(re.findall(r"\b(\w+)\s*\(", body))
    for match, _ in functions(file):
        seen, ahead = set(), set(calls[match[2]])
        while ahead:
            name = ahead.pop()
            if name in calls and name not in seen:
                seen.add(name)
                ahead |= calls[name]
        if match[2] in seen:
            yield at(file, match.start(2), "recursion", f"{match[2]} calls itself")


def no_such_c(file, files):
    yield from each(file, "no_such_c", r"\(\s*\*\s*\w+\s*\)\s*\(", "a pointer to a function")
    yield from each(file, "no_such_c", r",\s*\.\.\.\s*\)\s*\{", "a function of any number of arguments")
    yield from each(file, "no_such_c", r"^\s+(?:u?int|u?long|u?char|float)\s+\w+\[[a-z]\w*\]\s*[;=]",
                    "an array whose length is a variable") if not below(file, "platform") else ()
    yield from each(file, "no_such_c", r"\b(double\d*)\b", "{0} is not on every device")


def linkage(file, files):
    yield from each(file, "linkage", r"^(?:static|constant|global|const)\s+(?!inline)[^()\n]*[=;]", "a variable of the program")
    if is_kernels(file):
        return
    for match, _ in functions(file):
        if not re.search(r"\bstatic inline\b", match[1]) and not (below_samples(file) and match[1].startswith("kernel ")):
            yield at(file, match.start(2), "linkage", f"{match[2]} is not static inline: two files that include it clash")


def atomic64(file, files):
    """64-bit atomics under #if KMA_HAS_ATOMIC64 only."""
    if file.path in ("kma/platform/memory_fenced.cl",) or is_kernels(file):
        return
    guarded = []
    for number, line in enumerate(file.code.split("\n"), 1):
        if re.match(r"\s*#\s*if", line):
            guarded.append("KMA_HAS_ATOMIC64" in line and "!" not in line)
        elif re.match(r"\s*#\s*(else|elif)", line) and guarded:
            guarded[-1] = False
        elif re.match(r"\s*#\s*endif", line) and guarded:
            guarded.pop()
        elif re.search(r"\b(kma_atomic_u64|kma_\w+_u64)\b", line) and not any(guarded):
            yield Finding(file.path, number, "atomic64", "a 64-bit atomic without #if KMA_HAS_ATOMIC64")


# What has the same code with and without 64-bit atomics: the tests take one of the two (HeapType::has_widths).
ONE_WIDTH = ("kma/heap/scatter", "kma/heap/slab", "kma/lockfree/bit_tree")


def one_width(file, files):
    if file.path.startswith(ONE_WIDTH):
        yield from each(file, "one_width", r"\b(KMA_HAS_ATOMIC64|kma_atomic_u64|kma_\w+_u64)\b",
                        "{0}: this file is tested with one width of atomics only, see tests/heap/conformance/heaps.hpp")


def includes(file, files):
    for match in re.finditer(r"^\s*#\s*include\s*(\S+)", file.text, re.MULTILINE):
        name = match[1]
        if name.startswith("<"):
            yield at(file, match.start(1), "includes", f"{name}: kernels have no such files; write \"kma/…\"")
        elif name.startswith('"kma/') and layer(File(name.strip('"'), "", "")) > layer(file):
            yield at(file, match.start(1), "includes", f"{name} stands after this file in the order of layers")


# Counts to a number, or steps through what there is: the head has a comparison that the loop's own step brings nearer.
COUNTED = re.compile(r"for \([^;]*;[^;]+(?:<|<=|>|>=|!=|==)[^;]+;[^;]*(?:\+\+|--|\+=|-=|>>=|<<=|/=|\*=|&= \w+ - 1)")


def loops(file, files):
    lines, code = file.text.split("\n"), file.code.split("\n")
    for number, line in enumerate(code, 1):
        is_macro = line.rstrip().endswith("\\")
        for further in code[number:number + 2]:  # a head of several lines
            if re.match(r"\s*(?:\}\s*)?(?:for|while)\b", line) and line.count("(") > line.count(")"):
                line += " " + further.strip()
        head = re.match(r"\s*(?:\}\s*)?((?:for|while)\s*\(.*)", line) or re.match(r"\s*(do)\s*\{", line)
        if head and not COUNTED.match(head[1]) and "//" not in lines[number - 1] + lines[number - 2] and not is_macro:
            yield Finding(file.path, number, "loops", "no bound in the loop's head: say in a comment on this line, or the one "
                          "before, what ends it or whose step explains each retry")


RULES = [plain_access, cast_atomic, volatile, orders, reserved, recursion, no_such_c, linkage, atomic64, one_width, includes, loops]


def lint(files):
    return [finding for file in files for rule in RULES for finding in rule(file, files) or ()]


def main():
    root = pathlib.Path(sys.argv[1])
    files = tuple(read(path.relative_to(root).as_posix(), path.read_text()) for path in sorted(root.glob("kma/**/*.cl")))
    if len(files) < 10:
        print(f"only {len(files)} device files under {root}/kma")
        return 1
    for root in map(pathlib.Path, sys.argv[2:]):
        samples = tuple(read("samples/" + path.relative_to(root).as_posix(), path.read_text()) for path in sorted(root.glob("*/*.cl")))
        if not samples:
            print(f"no device files in the folders under {root}")
            return 1
        files += samples
    findings = lint(files)
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.what}")
    print(f"{len(files)} files, {len(RULES)} rules, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
