#!/usr/bin/env python3
"""Runs a program of a document and compares what it prints.

usage: expect.py FILE PROGRAM ARGUMENT…      FILE: what it must print; - for anything
"""
import difflib
import os
import subprocess
import sys


def main(file, command):
    # pyopencl's own way to name a device: a part of the platform's name.
    os.environ.setdefault("PYOPENCL_CTX", os.environ.get("KMA_DEVICE", "").partition(":")[0] or "0")
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(result.stdout, end="", flush=True)
    if result.returncode != 0:
        sys.exit(f"exit code {result.returncode}")
    if file == "-":
        return
    with open(file, encoding="utf-8") as expected:
        wanted = expected.read()
    if wanted != result.stdout:
        difference = difflib.unified_diff(wanted.splitlines(), result.stdout.splitlines(), "the document", "the program",
                                          lineterm="")
        sys.exit("\n".join(difference))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
