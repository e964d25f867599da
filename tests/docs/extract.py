#!/usr/bin/env python3
"""Takes the code out of the documents, checks what can be checked at once, and writes the rest as files for the build.

usage: extract.py ROOT OUT PROGRAM,… DOCUMENT…      (documents as paths from ROOT; PROGRAM: what the build makes)

OUT/blocks.cmake calls a function of tests/docs/CMakeLists.txt for each thing to build or run; OUT/NAME is the folder
in which the programs of the document NAME.md run. What is done with a block:

  cpp      with main: a program, built and run. Else statements, compiled with the names in FRAGMENT below.
  c        the same.
  opencl   a whole file, compiled by clang and by the device's compiler. Without an #include it gets kma/kma.cl's.
  python   parsed; run if it imports pyopencl.
  cmake    with project(): configured, with kma found in all three ways. Else parsed.
  sh       parsed, and the commands must exist; run if it says so.
  json     parsed. text: nothing, but what programs print is compared with the block behind them.
"""
import ast
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from document import DocumentError, blocks_of  # noqa: E402
from shell import check_commands  # noqa: E402

# The names that statements may use, by language.
FRAGMENT = {
    "cpp": ("#include <kma/kma.hpp>\n",
            "[[maybe_unused]] kma::Device &device, [[maybe_unused]] kma::Heap &heap, "
            "[[maybe_unused]] kma::Program &program, [[maybe_unused]] cl::Kernel &kernel, "
            "[[maybe_unused]] cl::CommandQueue &queue, [[maybe_unused]] cl::Buffer &buffer, [[maybe_unused]] kma::World &world"),
    "c": ("#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n",
          "cl_context context, cl_device_id device, cl_command_queue queue, cl_program program, cl_kernel kernel, "
          "cl_mem heap, cl_mem buffer"),
}


def write(path, text):
    """Writes a file unless it has that text already, so that nothing is built again for nothing."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def with_lines(block):
    """The block's text such that compilers name the document's lines."""
    return "".join(f'#line {line} "{block.document}"\n{text}' for line, text in block.pieces)


class Extraction:
    """The folder of one document."""

    def __init__(self, root, out, programs, document):
        self.root = root
        self.name = os.path.splitext(os.path.basename(document))[0]
        self.folder = os.path.join(out, self.name)
        self.document = document
        self.programs = programs
        self.calls = []  # of CMake functions
        with open(os.path.join(root, document), encoding="utf-8") as file:
            self.blocks = blocks_of(document, file.read())

    def fail(self, block, message):
        raise DocumentError(self.document, block.line, message)

    def call(self, function, block, *arguments):
        """Has CMake do something with a block."""
        listed = " ".join(f"[==[{argument}]==]" for argument in arguments)
        self.calls.append(f"{function}({self.name} {block.line} {listed})\n")

    def path(self, block, suffix):
        return os.path.join(self.folder, f"line_{block.line}{suffix}")

    def expected(self, block):
        if block.output is None:
            return "-"
        write(self.path(block, ".expected"), block.output)
        return self.path(block, ".expected")

    def extract(self):
        for block in self.blocks:
            if block.file:
                write(os.path.join(self.folder, block.file), block.text)
        for block in self.blocks:
            if block.quotes:
                self.quoted(block)
            elif block.language != "text":
                getattr(self, block.language)(block)
        for language in FRAGMENT:
            self.fragments(language)

    def quoted(self, block):
        path = os.path.join(self.root, block.quotes)
        if not os.path.isfile(path):
            self.fail(block, f"there is no {block.quotes} to quote")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if block.text not in text:
            self.fail(block, f"{block.quotes} has no such lines")
        write(os.path.join(self.folder, os.path.basename(path)), text)

    @staticmethod
    def is_program(block):
        return re.search(r"^int main\(", block.text, re.MULTILINE) is not None

    def compiled(self, block):
        if not self.is_program(block):
            return  # one file for all of them: fragments()
        path = self.path(block, f".{block.language}")
        write(path, with_lines(block))
        self.call(f"kma_docs_{block.language}", block, path, self.expected(block))

    cpp = compiled
    c = compiled

    def fragments(self, language):
        """All statements of a language: a function each, in one file; what they include stands above."""
        includes, parameters = FRAGMENT[language]
        functions, first = "", None
        for block in self.blocks:
            if block.language != language or block.quotes or self.is_program(block):
                continue
            first = first or block
            body = with_lines(block)
            includes += "".join(re.findall(r"^#include .*\n", body, re.MULTILINE))
            body = re.sub(r"^#include .*$", "", body, flags=re.MULTILINE)
            functions += f"void line_{block.line}({parameters});\nvoid line_{block.line}({parameters})\n{{{{\n{body}}}}}\n"
        if first:
            path = os.path.join(self.folder, f"fragments.{language}")
            write(path, includes + functions)
            self.call(f"kma_docs_{language}_fragments", first, path)

    def opencl(self, block):
        path = self.path(block, ".cl")
        include = "" if "#include" in block.text else '#include "kma/kma.cl"\n'
        write(path, include + with_lines(block))
        self.call("kma_docs_opencl", block, path)

    def python(self, block):
        try:
            ast.parse("\n" * (block.line - 1) + block.text, self.document)
        except SyntaxError as error:
            raise DocumentError(self.document, error.lineno, error.msg) from None
        if re.search(r"^import pyopencl", block.text, re.MULTILINE):
            write(self.path(block, ".py"), block.text)
            self.call("kma_docs_python", block, self.path(block, ".py"), self.expected(block))

    def cmake(self, block):
        if re.search(r"^project\(", block.text, re.MULTILINE):
            consumer = self.path(block, "_consumer")
            for other in self.blocks:
                if other.file:
                    write(os.path.join(consumer, other.file), other.text)
            if not os.path.islink(os.path.join(consumer, "kma")):
                os.symlink(self.root, os.path.join(consumer, "kma"))
            write(os.path.join(consumer, "CMakeLists.txt"), block.text)
            self.call("kma_docs_cmake", block, consumer)
            return
        path = self.path(block, ".cmake")
        write(path, f"if(FALSE)\n{block.text}endif()\n")
        result = subprocess.run(["cmake", "-P", path], stderr=subprocess.PIPE, text=True)
        if result.returncode != 0:
            self.fail(block, f"CMake cannot parse this: {result.stderr}")

    def sh(self, block):
        result = subprocess.run(["bash", "-n"], input=block.text, stderr=subprocess.PIPE, text=True)
        if result.returncode != 0:
            self.fail(block, f"bash cannot parse this: {result.stderr}")
        files = [os.path.basename(other.file or other.quotes) for other in self.blocks if other.file or other.quotes]
        problem = check_commands(block.text, self.root, self.programs, files)
        if problem:
            self.fail(block, problem)
        if block.run:
            write(self.path(block, ".sh"), "set -euo pipefail\n" + block.text)
            self.call("kma_docs_sh", block, self.path(block, ".sh"), self.expected(block))

    def json(self, block):
        try:
            json.loads(block.text)
        except ValueError as error:
            self.fail(block, f"no JSON: {error}")


def main(root, out, programs, documents):
    calls = ""
    for document in documents:
        extraction = Extraction(root, out, programs.split(","), document)
        extraction.extract()
        calls += "".join(extraction.calls)
    write(os.path.join(out, "blocks.cmake"), calls)


if __name__ == "__main__":
    try:
        main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3], sys.argv[4:])
    except DocumentError as error:
        sys.exit(str(error))
