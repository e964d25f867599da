#!/usr/bin/env python3
"""Documents with one mistake each: the extraction, a compiler, or the check of links must name its line.

usage: wrong_documents.py FOLDER ROOT CXX CLANG
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FINE = """# A title

See [the title](#a-title).

```cpp
kernel.setArg(0, buffer);
```

```opencl
kernel void fill(global kma_heap *heap)
{
    (void)kma_malloc(heap, 16);
}
```

```sh
echo "$HOME" | wc -c && ./made
```

<!-- file: made.c -->
```c
int main(void)
{
    return 0;
}
```
"""
# What is replaced by what, and what must be said.
EXTRACTION = [
    ("```cpp", "```c++", 'wrong.md:5: a block of "c++"'),
    ("```cpp", "```", 'wrong.md:5: a block of ""'),
    ("```cpp", "<!-- continue -->\n```cpp", "wrong.md:5: no such comment"),
    ("```cpp", "<!-- continues -->\n```cpp", "wrong.md:7: no cpp block"),
    ("```cpp", "<!-- from: no/file.cpp -->\n```cpp", "wrong.md:7: there is no no/file.cpp"),
    ("```cpp", "<!-- from: LICENSE -->\n```cpp", "wrong.md:7: LICENSE has no such lines"),
    ("| wc -c", "| wcc -c", "wrong.md:17: there is no command wcc"),
    ("./made", "./made_not", "wrong.md:17: there is no command ./made_not"),
    ('echo "', "echo ", "wrong.md:17: cannot parse this: bash"),
    ("    return 0;\n}\n```\n", "", "wrong.md:21: this block does not end"),
    ("```sh", "```python\na = (\n```\n\n```sh", "wrong.md:17: '(' was never closed"),
    ("```sh", "```json\n[1,]\n```\n\n```sh", "wrong.md:17: no JSON"),
    ("```sh", "```cmake\nset(a\n```\n\n```sh", "wrong.md:17: cannot parse this: CMake"),
]
LINKS = [
    ("(#a-title)", "(#another-title)", "wrong.md:3: the link to #another-title leads nowhere"),
    ("(#a-title)", "(nowhere.md)", "wrong.md:3: the link to nowhere.md leads nowhere"),
]
COMPILERS = [
    ("setArg", "setArgument", "wrong.md:6"),
    ("kma_malloc", "kma_mallok", "wrong.md:12"),
]


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode, result.stdout


class Trial:
    def __init__(self, folder, root, cxx, clang):
        self.folder, self.root, self.cxx, self.clang = folder, root, cxx, clang
        self.failures = []

    def write(self, old, new):
        assert old in FINE
        with open(os.path.join(self.folder, "wrong.md"), "w", encoding="utf-8") as file:
            file.write(FINE.replace(old, new, 1))

    def extract(self):
        return run(sys.executable, os.path.join(HERE, "extract.py"), self.folder, os.path.join(self.folder, "out"), "kma",
                   "wrong.md")

    def links(self):
        return run(sys.executable, os.path.join(HERE, "links.py"), self.folder, "wrong.md")

    def compile(self):
        """The C++ statements and the OpenCL C of the document, as the build compiles them."""
        status, output = self.extract()
        made = os.path.join(self.folder, "out", "wrong")
        includes = [f"-I{self.root}/host/include", f"-I{self.root}/cl"]
        commands = [(self.cxx, "-std=c++20", "-fsyntax-only", *includes, os.path.join(made, "fragments.cpp"))]
        commands += [(self.clang, "-x", "cl", "-fsyntax-only", "--target=x86_64-linux-gnu", *includes, os.path.join(made, name))
                     for name in sorted(os.listdir(made)) if name.endswith(".cl")]
        for command in commands:
            one_status, one_output = run(*command)
            status, output = status or one_status, output + one_output
        return status, output

    def expect(self, action, old, new, message):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        shutil.copy(os.path.join(self.root, "LICENSE"), self.folder)
        self.write(old, new)
        status, output = action()
        # The scripts also refuse documents with hardly anything in them, as this one.
        if message is None and "wrong.md:" in output:
            self.failures.append(f"the document without a mistake: {output}")
        elif message is not None and (status == 0 or message not in output):
            self.failures.append(f"with {new!r} for {old!r}: exit code {status}, no \"{message}\" in: {output}")


def main(folder, root, cxx, clang):
    trial = Trial(folder, root, cxx, clang)
    for action, mistakes in ((trial.extract, EXTRACTION), (trial.links, LINKS), (trial.compile, COMPILERS)):
        trial.expect(action, "A title", "A title", None)
        for mistake in mistakes:
            trial.expect(action, *mistake)
    if trial.failures:
        sys.exit("\n".join(trial.failures))
    print(f"{len(EXTRACTION) + len(LINKS) + len(COMPILERS)} mistakes, each found where it is")


if __name__ == "__main__":
    main(*sys.argv[1:])
