"""docs/mutants.md: who found which mutant, and why the rest is no fault. Written and read again, so that the
search can begin with the finder that found a mutant last time."""
import pathlib
import re

HEAD = """# Mutants

Seeded bugs, one at a time, and the test that found each: the proof that the tests of `tests/host` see. The
generator weakens every order, makes every compare-and-swap a store and every other read-modify-write two steps, makes
every condition true and false, drops every operand of `&&` and `||` and every bound of `min`, `max` and `clamp`, and
deletes every fence; what no pattern makes was written by hand. `-> relaxed` means with that order, `-> true` with that
condition. How it works, and how to add one: [tests/host/README.md](../tests/host/README.md).

This page is written by `tests/host/mutants/run.py --write`; mutants of code that changed since have no row. A number is
the schedule of Relacy, or the iteration on threads, in which the finder saw it, from seed 1.
"""


def read(path):
    """By name: who found it and in which iteration; of what nobody found something else."""
    names = {}
    section = ""
    for line in path.read_text().splitlines():
        if line.startswith("### "):
            section = line[4:].strip("` ")
        cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) > 2 and cells[0].startswith("`"):
            name = cells[0].strip("`")
            names[name if section == "By hand" else f"{section} {name}"] = (cells[1], int(cells[2]) if cells[2].isdigit() else 0)
    return names


def write(path, mutants, equivalent):
    found = [mutant for mutant in mutants if mutant["found"]]
    excused = [mutant for mutant in mutants if not mutant["found"]]
    undetectable = [mutant for mutant in excused if equivalent[mutant["name"]][0] == "undetectable"]
    parts = [HEAD, f"Of {len(mutants)} mutants {len(found)} are found, {len(excused) - len(undetectable)} are no fault, and "
                   f"{len(undetectable)} are beyond what a test on the host can see.\n\n## Found\n"]
    parts += table(found, "| mutant | found by | at | it said |\n|---|---|---|---|\n",
                   lambda mutant: "{} | {} | {}".format(mutant["found"][0], mutant["found"][2], escaped(mutant["found"][1])))
    parts.append("## No fault, or beyond the tests\n")
    parts += table(excused, "| mutant | found by | why |\n|---|---|---|\n",
                   lambda mutant: "{} | {}".format("nobody can" if equivalent[mutant["name"]][0] == "undetectable"
                                                   else "no fault", escaped(equivalent[mutant["name"]][1])))
    path.write_text("\n".join(parts))


def table(mutants, head, rest):
    by_section = {}
    for mutant in mutants:
        section = "By hand" if mutant["hand"] else f"`{mutant['name'].split(' ')[0]}`"
        name = mutant["name"] if mutant["hand"] else mutant["name"].split(" ", 1)[1]
        by_section.setdefault(section, []).append(f"| `{escaped(name)}` | {rest(mutant)} |\n")
    for section, rows in by_section.items():
        yield f"### {section}\n\n{head}{''.join(rows)}"


def escaped(text):
    return text.replace("|", r"\|")
