#!/usr/bin/env python3
"""Follows refs of blocks above 4 and 16 GiB, as the page and the sample for Python do, with numpy 2's arithmetic.

usage: refs.py DOCUMENT SAMPLE
"""
import os
import re
import sys

os.environ["NPY_PROMOTION_STATE"] = "weak"  # as numpy 2, if this is 1.24 or later of 1
import numpy as np  # noqa: E402, which reads the variable


class Words:
    """A heap's words of which only the place that is asked for matters: two words there, 0 and 77."""

    at = None  # in bytes

    def __init__(self, kind=np.uint32):
        self.kind = kind

    def view(self, kind):
        return Words(kind)

    def __getitem__(self, part):
        Words.at = int(part.start) * np.dtype(self.kind).itemsize
        return np.array([0, 77], np.uint32).view(self.kind)


def expect(what, at, ref):
    if at != 16 * ref:
        sys.exit(f"refs.py: {what} looks at byte {at} for ref {ref}, whose block begins at {16 * ref}")


def main(document, sample):
    blocks = re.findall(r"^```python\n(.*?)^```", open(document, encoding="utf-8").read(), re.M | re.S)
    block = next(text for text in blocks if "16 * ref" in text)
    walk = re.search(r"^ref, values = .*?(?=^\S*print)", open(sample, encoding="utf-8").read(), re.M | re.S).group()
    for ref in 1000, 1 << 28, (1 << 30) + 5, 0xfffffff0:
        first = np.array([ref], np.uint32)
        words = Words()
        exec(block, {"np": np, "first": first, "words": words, "ref": first[0]})
        expect(document, Words.at, ref)
        scope = {"np": np, "first": first, "words": words}
        exec(walk, scope)
        expect(sample, Words.at, ref)
        if scope["values"] != [77]:
            sys.exit(f"refs.py: {sample} found {scope['values']}")


main(*sys.argv[1:])
