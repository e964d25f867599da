"""Reads the project's Markdown: fenced blocks with the comments that direct their tests, headings
and links.

A comment in the line above a block's fence:

  <!-- continues -->     belongs to the block of the same language before it: the two are one text
  <!-- file: NAME -->    is also written to that file, where the document's programs run
  <!-- from: PATH -->    quotes lines of that file of the project, whose own tests compile it; the
                         file is also put where the document's programs run
  <!-- run -->           (sh) is run, in the folder where the document's programs run

A text block right behind a program, or a block that is run, is what it prints.
"""
import re
from dataclasses import dataclass, field

LANGUAGES = ("cpp", "opencl", "c", "python", "cmake", "sh", "json", "text")


class DocumentError(Exception):
    """What is wrong in a document, with its place as compilers write it."""

    def __init__(self, document, line, message):
        super().__init__(f"{document}:{line}: {message}")


@dataclass
class Block:
    document: str  # path from the project's root
    line: int  # of the block's first line of code
    language: str
    pieces: list = field(default_factory=list)  # (line, text): several if others continue it
    file: str = None
    quotes: str = None
    run: bool = False
    continues: bool = False
    output: str = None  # what it must print

    @property
    def text(self):
        return "".join(text for _, text in self.pieces)

    def direct(self, text):
        """Applies the comment above the fence."""
        match = COMMENT.match(text)
        if not match and text.startswith("<!--"):
            raise DocumentError(self.document, self.line - 2, f"no such comment for a block: {text}; "
                                "tests/docs/document.py has them")
        if match:
            self.run, self.continues = match[1] == "run", match[1] == "continues"
            setattr(self, "file" if match[2] == "file" else "quotes", match[3])


FENCE = re.compile(r"^( *)```(.*)$")
COMMENT = re.compile(r"^<!-- *(?:(continues|run)|(file|from): *(\S+)) *-->$")


def _add(blocks, block, is_next):
    """Files a complete block: on its own, as the end of another, or as what another prints."""
    if block.language == "text" and is_next and blocks:
        blocks[-1].output = block.text
    if not block.continues:
        blocks.append(block)
        return
    before = [other for other in blocks if other.language == block.language]
    if not before:
        raise DocumentError(block.document, block.line,
                            f"no {block.language} block that this one could continue")
    before[-1].pieces += block.pieces


def blocks_of(document, text):
    """All fenced blocks of a document; those that are continued as one."""
    blocks, block, indent, above = [], None, "", ""
    is_next = False  # only empty lines since the last block
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if block and fence and not fence[2].strip():
            _add(blocks, block, is_next)
            block, is_next, above = None, True, ""
        elif block:
            block.pieces[0] = (block.line,
                               block.pieces[0][1] + line.removeprefix(indent) + "\n")
        elif fence:
            indent, language = fence[1], fence[2].strip()
            if language not in LANGUAGES:
                raise DocumentError(document, number, f"a block of \"{language}\": blocks are marked "
                                    "as one of " + ", ".join(LANGUAGES))
            block = Block(document, number + 1, language, [(number + 1, "")])
            block.direct(above)
        else:
            above = line.strip()
            is_next = is_next and not above
    if block:
        raise DocumentError(document, block.line - 1, "this block does not end")
    return blocks


def prose_of(text):
    """The lines outside of blocks, as (line, text)."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line


def anchors_of(text):
    """The anchors that GitHub gives a document's headings."""
    anchors = {}
    for _, line in prose_of(text):
        if re.match(r"#{1,6} ", line):
            heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip())
            anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            count = anchors[anchor] = anchors.get(anchor, -1) + 1
            if count:
                anchors[f"{anchor}-{count}"] = 0
    return set(anchors)


def links_of(text):
    """The targets of a document's links, as (line, target)."""
    for number, line in prose_of(text):
        for match in re.finditer(r"\]\(([^()\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            yield number, match[1]
