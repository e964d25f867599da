#!/usr/bin/env python3
"""Takes the code out of the documents, checks what can be checked at once, and writes the rest as
files for the build.

usage: extract.py ROOT OUT PROGRAM,… DOCUMENT…      (documents as paths from ROOT)

PROGRAM: what the build makes. OUT/blocks.cmake calls a function of CMakeLists.txt for each thing to
build or run; in OUT/NAME run the programs of the document NAME.md. What is done with a block:

  cpp      with main: a program, built and run. Else statements, compiled with the names in FRAGMENT.
  c        the same.
  opencl   a whole file, compiled by clang and by the device's compiler. Without an #include it gets
           kma/kma.cl's.
  python   parsed; run if it imports pyopencl.
  cmake    with project(): configured, with kma found in all three ways. Else parsed.
  sh       parsed, and the commands must exist; run if it says so.
  json     parsed. text: nothing, but what programs print is compared with the block behind them.
"""
import ast
import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from document import DocumentError, blocks_of  # noqa: E402
from shell import check_commands  # noqa: E402

# The names that statements may use, by language.
FRAGMENT = {
    "cpp": ("#include <kma/kma.hpp>\n", ", ".join(
        f"[[maybe_unused]] {name}" for name in (
            "kma::Device &device", "kma::Heap &heap", "kma::Program &program", "cl::Kernel &kernel",
            "cl::CommandQueue &queue", "cl::Buffer &buffer", "kma::World &world"))),
    "c": ("#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n",
          "cl_context context, cl_device_id device, cl_command_queue queue, cl_program program, "
          "cl_kernel kernel, cl_mem heap, cl_mem buffer"),
}


def write(path, text):
    """Writes a file unless it has that text already: nothing is built again for nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def with_lines(block):
    """The block's text such that compilers name the document's lines."""
    return "".join(f'#line {line} "{block.document}"\n{text}' for line, text in block.pieces)


def has(block, pattern):
    return re.search(pattern, block.text, re.MULTILINE) is not None


class Extraction:
    """The folder of one document."""

    def __init__(self, root, out, programs, document):
        self.root, self.document, self.programs = root, document, programs
        self.name = pathlib.Path(document).stem
        self.folder = out / self.name
        self.calls = ""  # of CMake functions
        self.blocks = blocks_of(document, (root / document).read_text(encoding="utf-8"))

    def fail(self, block, message):
        raise DocumentError(self.document, block.line, message)

    def call(self, function, block, *arguments):
        """Has CMake do something with a block."""
        listed = " ".join(f"[==[{argument}]==]" for argument in arguments)
        self.calls += f"kma_docs_{function}({self.name} {block.line} {listed})\n"

    def write(self, block, suffix, text):
        path = self.folder / f"line_{block.line}{suffix}"
        write(path, text)
        return path

    def expected(self, block):
        return "-" if block.output is None else self.write(block, ".expected", block.output)

    def parses(self, block, command, text=""):
        result = subprocess.run(command, input=text, stderr=subprocess.PIPE, text=True)
        if result.returncode != 0:
            self.fail(block, f"cannot parse this: {result.stderr}")

    def extract(self):
        for block in self.blocks:
            if block.file:
                write(self.folder / block.file, block.text)
        for block in self.blocks:
            if block.quotes:
                self.quoted(block)
            elif block.language != "text":
                getattr(self, block.language)(block)
        for language in FRAGMENT:
            self.fragments(language)
        return self.calls

    def quoted(self, block):
        path = self.root / block.quotes
        if not path.is_file():
            self.fail(block, f"there is no {block.quotes} to quote")
        text = path.read_text(encoding="utf-8")
        if block.text not in text:
            self.fail(block, f"{block.quotes} has no such lines")
        write(self.folder / path.name, text)

    def cpp(self, block):
        if has(block, r"^int main\("):  # else fragments() has it
            path = self.write(block, f".{block.language}", with_lines(block))
            self.call("program", block, path, self.expected(block))

    c = cpp

    def fragments(self, language):
        """All statements of a language: a function each, in one file, below what they include."""
        includes, parameters = FRAGMENT[language]
        blocks = [block for block in self.blocks if block.language == language
                  and not block.quotes and not has(block, r"^int main\(")]
        functions = ""
        for block in blocks:
            body = with_lines(block)
            includes += "".join(re.findall(r"^#include .*\n", body, re.MULTILINE))
            body = re.sub(r"^#include .*$", "", body, flags=re.MULTILINE)
            head = f"void line_{block.line}({parameters})"
            functions += f"{head};\n{head}\n{{{{\n{body}}}}}\n"
        if blocks:
            path = self.folder / f"fragments.{language}"
            write(path, includes + functions)
            self.call("fragments", blocks[0], path)

    def opencl(self, block):
        include = "" if "#include" in block.text else '#include "kma/kma.cl"\n'
        self.call("opencl", block, self.write(block, ".cl", include + with_lines(block)))

    def python(self, block):
        try:
            ast.parse("\n" * (block.line - 1) + block.text, self.document)
        except SyntaxError as error:
            raise DocumentError(self.document, error.lineno, error.msg) from None
        if has(block, r"^import pyopencl"):
            path = self.write(block, ".py", block.text)
            self.call("script", block, path, self.expected(block), "python3")

    def cmake(self, block):
        if not has(block, r"^project\("):
            path = self.write(block, ".cmake", f"if(FALSE)\n{block.text}endif()\n")
            self.parses(block, ["cmake", "-P", path])
            return
        consumer = self.folder / f"line_{block.line}_consumer"
        for other in self.blocks:
            if other.file:
                write(consumer / other.file, other.text)
        write(consumer / "CMakeLists.txt", block.text)
        if not (consumer / "kma").is_symlink():
            (consumer / "kma").symlink_to(self.root)
        self.call("cmake", block, consumer)

    def sh(self, block):
        self.parses(block, ["bash", "-n"], block.text)
        files = [os.path.basename(other.file or other.quotes) for other in self.blocks
                 if other.file or other.quotes]
        problem = check_commands(block.text, self.root, self.programs, files)
        if problem:
            self.fail(block, problem)
        if block.run:
            path = self.write(block, ".sh", "set -euo pipefail\n" + block.text)
            self.call("script", block, path, self.expected(block), "bash")

    def json(self, block):
        try:
            json.loads(block.text)
        except ValueError as error:
            self.fail(block, f"no JSON: {error}")


def main(root, out, programs, *documents):
    root, out = pathlib.Path(root).resolve(), pathlib.Path(out).resolve()
    calls = [Extraction(root, out, programs.split(","), one).extract() for one in documents]
    if sum(one.count("\n") for one in calls) < 20:
        sys.exit(f"hardly any code in {documents}")
    write(out / "blocks.cmake", "".join(calls))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except DocumentError as error:
        sys.exit(str(error))
