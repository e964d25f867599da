#!/usr/bin/env python3
"""Fails if a link of the documents leads nowhere, or if docs/README.md does not list a document.

usage: links.py ROOT DOCUMENT…      (documents as paths from ROOT)
"""
import os
import pathlib
import sys

sys.dont_write_bytecode = True
from document import anchors_of, links_of  # noqa: E402


def problem_of(root, document, target):
    """What is wrong with a link, None if nothing is."""
    if target.startswith(("https://", "http://", "mailto:")):
        return None
    path, _, anchor = target.partition("#")
    file = (root / document).parent / path if path else root / document
    if not file.exists():
        return f"there is no {path}"
    if anchor and anchor not in anchors_of(file.read_text(encoding="utf-8")):
        return f"{path or document} has no heading for #{anchor}"
    return None


def main(root, *documents):
    root = pathlib.Path(root)
    problems, checked, listed = [], 0, {"docs/README.md"}
    for document in documents:
        for line, target in links_of((root / document).read_text(encoding="utf-8")):
            checked += 1
            problem = problem_of(root, document, target)
            if problem:
                problems.append(f"{document}:{line}: the link to {target} leads nowhere: {problem}")
            if document == "docs/README.md":
                listed.add(os.path.normpath(os.path.join("docs", target.partition("#")[0])))
    problems += [f"docs/README.md: no link to {document}" for document in documents
                 if document.startswith("docs/") and document not in listed]
    print(f"{checked} links in {len(documents)} documents")
    sys.exit("\n".join(problems) if problems else checked < 100)


main(*sys.argv[1:])
