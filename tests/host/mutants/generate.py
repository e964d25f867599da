"""Makes of the device files one copy in which every mutant sleeps, woken by its number (shim/mutation.hpp), and a list
of them: python3 generate.py SOURCE_DIR OUTPUT_DIR

What is generated: each order of an atomic, weakened; each compare-and-swap, made a store; each other read-modify-write,
made a load and a store; each condition, true and false; each operand of && and ||, dropped; each min, max and clamp,
made one of its arguments; each fence of memory_fenced.cl, deleted. by_hand.toml adds what no pattern finds."""
import collections
import hashlib
import itertools
import json
import pathlib
import re
import sys
import tomllib

from source import Source

HERE = pathlib.Path(__file__).parent
OPERATIONS = r"kma_(cas|exchange|fetch_add|fetch_or|fetch_and)_u(?:32|64)"
WEAKER = {
    "KMA_ACQUIRE": {"KMA_RELAXED": "relaxed"},
    "KMA_RELEASE": {"KMA_RELAXED": "relaxed"},
    "KMA_ACQ_REL": {"KMA_ACQUIRE": "acquire only", "KMA_RELEASE": "release only"},
}
FENCED = "kma/platform/memory_fenced.cl"


class Copy:
    """One device file on its way to its copy."""

    def __init__(self, file, text, numbers):
        self.file = file
        self.source = Source(text, keep_macros=file == FENCED)
        self.numbers = numbers
        self.mutants = []
        self.edits = []  # (start, end, before, after), of which any two are nested or apart

    def mutant(self, at, words, change, by_hand=None):
        """Lists a mutant; returns its number."""
        function = next((name for name, start, end in self.source.functions if start <= at < end), "")
        name = by_hand or f"{self.file.removeprefix('kma/')} {function}: {words} -> {change}"
        number = next(self.numbers)
        line = self.source.text.count("\n", 0, at) + 1
        self.mutants.append({"number": number, "name": name, "file": self.file, "line": line, "hand": bool(by_hand)})
        return number

    def wrap(self, start, end, before, after):
        self.edits.append((start, end, before, after))

    def text(self):
        """The copy. Of wraps that begin or end together the longer is the outer one."""
        events = []
        for index, (start, end, before, after) in enumerate(self.edits):
            events.append((start, 1, -end, index, before))
            events.append((end, 0, -start, -index, after))
        self.check_nesting()
        out, at = [], 0
        for place, _, _, _, inserted in sorted(events):
            out.append(self.source.text[at:place])
            out.append(inserted)
            at = place
        return "".join(out) + self.source.text[at:]

    def check_nesting(self):
        open_ends = []
        for start, end, *_ in sorted(self.edits, key=lambda edit: (edit[0], -edit[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                raise SystemExit(f"{self.file}: a mutant covers a part of another's text: {self.source.words(start, end)}")
            open_ends.append(end)


def weaken_orders(copy):
    for found in re.finditer(r"\bKMA_(?:ACQUIRE|RELEASE|ACQ_REL)\b", copy.source.code):
        words = copy.source.words(*copy.source.call_around(found.start()))
        choices = "".join(f"shim::is({copy.mutant(found.start(), words, change)}) ? {weaker} : "
                          for weaker, change in WEAKER[found.group()].items())
        copy.wrap(*found.span(), f"({choices}", ")")


def split_operations(copy, aliases):
    for found in re.finditer(rf"\b(\w+)(?=\s*\()", copy.source.code):
        operation = re.fullmatch(OPERATIONS, aliases.get(found.group(), found.group()))
        if not operation:
            continue
        words = copy.source.words(found.start(), copy.source.matching(copy.source.code.index("(", found.end())) + 1)
        change = "a store" if operation.group(1) == "cas" else "two steps"
        number = copy.mutant(found.start(), words, change)
        copy.wrap(*found.span(), f"shim::split_{operation.group(1)}<{number}>/*", "*/")


def force_conditions(copy):
    for start, end in sorted(conditions(copy.source)):
        words = copy.source.words(start, end)
        if re.search(r"\bKMA_DEBUG\b|^debug\b", words):
            continue  # of a flavour that is not compiled here
        always = copy.mutant(start, words, "true")
        never = copy.mutant(start, words, "false")
        copy.wrap(start, end, f"(shim::is({always}) || (!shim::is({never}) && (", ")))")


def conditions(source):
    for found in re.finditer(r"\b(if|while)\s*\(", source.code):
        yield source.trimmed(found.end(), source.matching(found.end() - 1))
    for found in re.finditer(r"\bfor\s*\(", source.code):
        first = source.code.index(";", found.end())
        span = source.right_operand(first + 1, [";"])
        if span[0] < span[1]:
            yield span
    for found in re.finditer(r"\?", source.code):
        yield source.left_operand(found.start(), [",", ";", "=", "?", ":", "return"])


def drop_operands(copy):
    stops = ["&&", "||", ",", ";", "=", "?", ":", "return"]
    for operator, others, before in (("&&", "true", "(shim::is({0}) || ("), ("||", "false", "(!shim::is({0}) && (")):
        spans = set()
        for found in re.finditer(re.escape(operator), copy.source.code):
            # && binds tighter, so an operand of || may contain it.
            limits = stops if operator == "&&" else [stop for stop in stops if stop != "&&"]
            spans.add(copy.source.left_operand(found.start(), limits))
            spans.add(copy.source.right_operand(found.end(), limits))
        for start, end in sorted(spans):
            number = copy.mutant(start, f"{operator} {copy.source.words(start, end)}", others)
            copy.wrap(start, end, before.format(number), "))")


def drop_bounds(copy):
    for found in re.finditer(r"\b(min|max|clamp|add_sat)(?=\()", copy.source.code):
        words = copy.source.words(found.start(), copy.source.matching(found.end()) + 1)
        if found.group() == "add_sat":
            numbers = [copy.mutant(found.start(), words, "wraps")]
        elif found.group() == "clamp":
            numbers = [copy.mutant(found.start(), words, change) for change in ("no lower bound", "no upper bound")]
        else:
            numbers = [copy.mutant(found.start(), words, f"its {which} argument") for which in ("first", "second")]
        copy.wrap(*found.span(), f"shim::unbounded_{found.group()}<{', '.join(map(str, numbers))}>/*", "*/")


def delete_fences(copy):
    """In memory_fenced.cl, where each call stands in a macro for one kind of operation. The two functions' conditions
    stand for all fences before, and all behind."""
    for found in re.finditer(r"\bkma_fence_(?:before|after)\((order)\);", copy.source.code):
        number = copy.mutant(found.start(), found.group(), "deleted")
        copy.wrap(*found.span(1), f"shim::is({number}) ? KMA_RELAXED : ", "")
    for found in re.finditer(r"\bif \((.*)\)", copy.source.code):
        number = copy.mutant(found.start(1), found.group(1), "false")
        copy.wrap(*found.span(1), f"!shim::is({number}) && (", ")")


def pattern(text):
    """Finds `text` however its lines are broken and commented."""
    tokens = re.findall(r"\w+|[^\w\s]", re.sub("//.*", "", text))
    return re.compile(r"(?:\s|//[^\n]*\n)*".join(re.escape(token) for token in tokens))


def change_by_hand(copy, entries):
    for name, (find, replace, *times) in entries.items():
        places = list(pattern(find).finditer(copy.source.text))
        if len(places) != (times or [1])[0]:
            raise SystemExit(f"by_hand.toml, {name}: {copy.file} has the text {len(places)} times: update the entry")
        number = copy.mutant(places[0].start(), "", "", by_hand=name)
        for place in places:
            if find[-1] in ";}":
                copy.wrap(*place.span(), f"if (shim::is({number})) {{ {replace} }} else {{ ", " }")
            else:
                copy.wrap(*place.span(), f"(shim::is({number}) ? ({replace}) : (", "))")


def aliases_of(texts):
    pattern = rf"^#define\s+(\w+)\s+({OPERATIONS})\s*$"
    return {found[0]: found[1] for text in texts for found in re.findall(pattern, text, flags=re.M)}


def write_if_new(path, text):
    """So that what was built of an unchanged copy need not be built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def make_unique(mutants):
    seen = collections.Counter()
    for mutant in mutants:
        name = mutant["name"]
        seen[name] += 1
        mutant["name"] += f" ({seen[name]})" if seen[name] > 1 else ""


def main(source_dir, output_dir):
    source_dir, output_dir = pathlib.Path(source_dir), pathlib.Path(output_dir)
    covered_elsewhere = tomllib.loads((HERE / "elsewhere.toml").read_text())
    by_hand = tomllib.loads((HERE / "by_hand.toml").read_text())
    folders = {folder: source_dir / folder for folder in ("cl", "samples/graph")}
    files = {str(path.relative_to(root)): path.read_text()
             for root in folders.values() for path in sorted(root.rglob("*.cl"))}
    unknown = (set(covered_elsewhere) | set(by_hand)) - set(files)
    if unknown:
        raise SystemExit(f"no such device file any more: {', '.join(sorted(unknown))}")
    aliases = aliases_of(files.values())
    numbers = itertools.count(1)
    mutants = []
    for file, text in files.items():
        copy = Copy(file, text, numbers)
        if file in covered_elsewhere:
            pass  # but a copy of its own keeps all of a device file's includes among the copies
        elif file == FENCED:
            delete_fences(copy)
        else:
            weaken_orders(copy)
            split_operations(copy, aliases)
            force_conditions(copy)
            drop_operands(copy)
            drop_bounds(copy)
        change_by_hand(copy, by_hand.get(file, {}))
        write_if_new(output_dir / "cl" / file, copy.text())
        mutants += copy.mutants
    make_unique(mutants)
    # Which numbers an executable knows: run.py asks, so that it never wakes another mutant than it says.
    stamp = hashlib.sha256(json.dumps(mutants).encode()).hexdigest()[:16]
    write_if_new(output_dir / "cl" / "mutants_stamp.hpp", f'#define KMA_SHIM_MUTANTS_STAMP "{stamp}"\n')
    write_if_new(output_dir / "mutants.json",
                 json.dumps({"stamp": stamp, "mutants": mutants}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
