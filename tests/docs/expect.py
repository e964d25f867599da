#!/usr/bin/env python3
"""Runs a program of a document and compares what it prints.

usage: expect.py FILE PROGRAM ARGUMENT…      FILE: what it must print; - for anything
"""
import difflib
import os
import pathlib
import subprocess
import sys

file, *command = sys.argv[1:]
# pyopencl's own way to name a device: a part of the platform's name.
os.environ.setdefault("PYOPENCL_CTX", os.environ.get("KMA_DEVICE", "").partition(":")[0] or "0")
result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
print(result.stdout, end="", flush=True)
if result.returncode != 0:
    sys.exit(f"exit code {result.returncode}")
wanted = result.stdout if file == "-" else pathlib.Path(file).read_text(encoding="utf-8")
if wanted != result.stdout:
    sys.exit("\n".join(difflib.unified_diff(wanted.splitlines(), result.stdout.splitlines(),
                                            "the document", "the program", lineterm="")))
