#!/usr/bin/env python3
"""Follows refs of blocks above 4 and 16 GiB, as the page and the sample for Python do, with numpy
2's arithmetic.

usage: refs.py DOCUMENT SAMPLE
"""
import os
import pathlib
import re
import sys

os.environ["NPY_PROMOTION_STATE"] = "weak"  # as numpy 2, if this is 1.24 or later of 1
import numpy as np  # noqa: E402, which reads the variable


class Words:
    """A heap's words: 0 and 77 at the place that is asked for, which is noted in bytes."""

    def __init__(self, kind=np.uint32):
        self.kind = kind

    def view(self, kind):
        return Words(kind)

    def __getitem__(self, part):
        Words.at = int(part.start) * np.dtype(self.kind).itemsize
        return np.array([0, 77], np.uint32).view(self.kind)


texts = [pathlib.Path(path).read_text(encoding="utf-8") for path in sys.argv[1:]]
blocks = re.findall(r"^```python\n(.*?)^```", texts[0], re.M | re.S)
walk = re.search(r"^ref, values = .*?(?=^\S*print)", texts[1], re.M | re.S).group()
for code in next(block for block in blocks if "16 * ref" in block), walk:
    for ref in 1000, 1 << 28, (1 << 30) + 5, 0xfffffff0:
        first = np.array([ref], np.uint32)
        scope = {"np": np, "first": first, "words": Words(), "ref": first[0], "values": [77]}
        exec(code, scope)
        if Words.at != 16 * ref or scope["values"] != [77]:
            sys.exit(f"refs.py: looks at byte {Words.at} for ref {ref}, whose block begins at "
                     f"{16 * ref}, and finds {scope['values']}:\n{code}")
