#!/usr/bin/env python3
"""Fails if a link of the documents leads nowhere, or if a document cannot be found from docs/README.md.

usage: links.py ROOT DOCUMENT…      (documents as paths from ROOT)
"""
import os
import sys

sys.dont_write_bytecode = True
from document import anchors_of, links_of  # noqa: E402


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def problem_of(root, document, target):
    """What is wrong with a link, None if nothing is."""
    if target.startswith(("https://", "http://", "mailto:")):
        return None
    path, _, anchor = target.partition("#")
    file = os.path.normpath(os.path.join(root, os.path.dirname(document), path)) if path else os.path.join(root, document)
    if not os.path.exists(file):
        return f"there is no {path}"
    if anchor and anchor not in anchors_of(read(file)):
        return f"{path or document} has no heading for #{anchor}"
    return None


def main(root, documents):
    problems, checked, listed = [], 0, set()
    for document in documents:
        for line, target in links_of(read(os.path.join(root, document))):
            checked += 1
            problem = problem_of(root, document, target)
            if problem:
                problems.append(f"{document}:{line}: the link to {target} leads nowhere: {problem}")
            if document == "docs/README.md":
                listed.add(os.path.normpath(os.path.join("docs", target.partition("#")[0])))
    for document in documents:
        if document.startswith("docs/") and document != "docs/README.md" and document not in listed:
            problems.append(f"docs/README.md: no link to {document}")
    print(f"{checked} links in {len(documents)} documents")
    sys.exit("\n".join(problems) if problems else 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
