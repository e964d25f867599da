"""What the generator of mutants must know of a device file: its functions, conditions, calls and operands. No parser of
C: it finds its way by brackets, which is enough for the style of cl/, and the compiler checks what comes out of it."""
import re

OPENING = "([{"
CLOSING = ")]}"


class Source:
    """A file's text, and the same with comments, strings, directives and static assertions blanked, place by place.
    With `keep_macros` the bodies of macros stay."""

    def __init__(self, text, keep_macros=False):
        self.text = text
        self.code = _without_directives(_without_comments(text), keep_macros)
        self.partners = dict(_brackets(self.code))  # of each bracket: the place of its other one
        self.functions = list(_functions(self.code))

    def matching(self, at):
        """The place of the bracket that closes the one at `at`."""
        if at not in self.partners:
            raise ValueError(f"no bracket closes the one at {self.text[at:at + 40]!r}")
        return self.partners[at]

    def trimmed(self, start, end):
        words = self.code[start:end]
        return start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())

    def words(self, start, end):
        """The text between two places on one line, to name a place by."""
        text = " ".join(self.text[start:end].replace("\\\n", " ").split())
        return text.replace("( ", "(")  # whether the line is broken there is no part of a name

    def left_operand(self, at, stops):
        """The operand that ends in front of `at` and reaches to any of `stops`, or to the bracket around."""
        i = at
        while i > 0 and self.code[i - 1] not in OPENING and not self._stops_before(i, stops):
            i = self.partners.get(i - 1, i - 1) if self.code[i - 1] in CLOSING else i - 1
        return self.trimmed(i, at)

    def right_operand(self, at, stops):
        i = at
        while i < len(self.code) and self.code[i] not in CLOSING and not self._stops_at(i, stops):
            i = self.partners.get(i, i) + 1
        return self.trimmed(at, i)

    def call_around(self, at):
        """The call whose arguments the place is among: (start, end)."""
        i, _ = self.left_operand(at, [])
        i = self.code.rindex("(", 0, i)
        name = re.search(r"\w+$", self.code[:i])
        return (name.start() if name else i), self.matching(i) + 1

    def _stops_before(self, end, stops):
        return any(self.code.endswith(stop, 0, end) and
                   (not stop.isalpha() or re.search(rf"\b{stop}$", self.code[:end])) and
                   (stop != "=" or self._assigns(end - 1)) for stop in stops)

    def _stops_at(self, i, stops):
        return any(self.code.startswith(stop, i) and not stop.isalpha() for stop in stops) and (
            self.code[i] != "=" or self._assigns(i))

    def _assigns(self, at):
        return self.code[at + 1] != "=" and self.code[at - 1] not in "=!<>"


def _brackets(code):
    opened = []
    for i, c in enumerate(code):
        if c in OPENING:
            opened.append(i)
        elif c in CLOSING and opened:
            yield opened[-1], i
            yield i, opened.pop()


def _blank(text):
    return "".join("\n" if c == "\n" else " " for c in text)


def _without_comments(text):
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda found: _blank(found.group()), text, flags=re.S)


def _without_directives(text, keep_macros):
    """Blanks directives and what only a debug flavour compiles: the host's scenarios have none."""
    out = []
    debug_only = []  # for each #if we are in: whether this branch is for a debug flavour, and whether the next is
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        directive = [lines[i]]
        while directive[-1].endswith("\\") and i + 1 < len(lines):
            i += 1
            directive.append(lines[i])
        i += 1
        first = directive[0].strip()
        if first.startswith("#if"):
            debug_only.append((_asks_for_debug(first), _asks_for_no_debug(first)))
        elif first.startswith(("#else", "#elif")):
            debug_only[-1] = (debug_only[-1][1] or _asks_for_debug(first), debug_only[-1][1])
        elif first.startswith("#endif"):
            debug_only.pop()
        keeps = keep_macros and first.startswith("#define")
        drops = (first.startswith("#") and not keeps) or any(here for here, _ in debug_only)
        out.extend(_blank(line) if drops else line for line in directive)
    return re.sub(r"KMA_STATIC_ASSERT\(.*?;", lambda found: _blank(found.group()), "\n".join(out), flags=re.S)


def _asks_for_debug(directive):
    return bool(re.match(r"#(el)?if\s+KMA_DEBUG\b(?!\s*(==\s*0|<))", directive))


def _asks_for_no_debug(directive):
    return bool(re.match(r"#if\s+(!KMA_DEBUG|KMA_DEBUG\s*(==\s*0|<))", directive))


def _functions(code):
    """(name, start, end) of each function's body, in order."""
    depth = 0
    begins = 0  # of what stands in front of a brace at the outermost level
    for i, c in enumerate(code):
        if c == "{":
            if depth == 0:
                head = re.search(r"static inline[^(]*?([\w#]+(?:\(_\w+\))?)\s*\(", code[begins:i])
                name, body = (head.group(1).replace("KMA_OF_KIND(", "kma_KIND").rstrip(")") if head else None), i
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0:
                if name:
                    yield name, body, i
                begins = i + 1
        elif c == ";" and depth == 0:
            begins = i + 1
